/**
 * What Linkerd's proxy does with a request that comes through a gateway, stated anew from what its real proxies do (rule M1):
 * nothing of the operator is used. Objects are as the API has them.
 */
export interface PolicyObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** A route that Linkerd's policy controller has taken. */
type Accepted = ReadonlySet<string>;

interface RouteSpec {
  readonly hostnames?: readonly string[];
}

interface PolicySpec {
  readonly targetRef: { readonly kind: string; readonly name: string };
  readonly requiredAuthenticationRefs: readonly { readonly kind: string; readonly name: string }[];
}

/** The policy of one gateway, at one moment. */
export class GatewayModel {
  /** In the order of their creation. */
  readonly #objects: readonly PolicyObject[];
  readonly #accepted: Accepted;

  constructor(objects: readonly PolicyObject[], accepted: Accepted) {
    this.#objects = objects;
    this.#accepted = accepted;
  }

  /** The answer to a request of a client for a host: 200, 403 or 404. */
  request(client: string, host: string): 200 | 403 | 404 {
    const routes = this.#of('HTTPRoute').filter(({ metadata }) => this.#accepted.has(metadata.name));
    if (routes.length === 0) return this.#authorizes('Server', 'linkerd-gateway', client) ? 200 : 403;
    let best: PolicyObject | undefined;
    let bestLength = -1;
    for (const route of routes) {
      const length = matchLength((route.spec as RouteSpec).hostnames ?? [], host);
      if (length > bestLength) [best, bestLength] = [route, length];
    }
    if (best === undefined) return 404;
    const isAuthorized =
      this.#authorizes('HTTPRoute', best.metadata.name, client) ||
      this.#authorizes('Server', 'linkerd-gateway', client);
    return isAuthorized ? 200 : 403;
  }

  /** Whether a client may open a connection that is opaque, to whatever host. */
  connection(client: string): boolean {
    return this.#authorizes('Server', 'linkerd-gateway', client);
  }

  #authorizes(kind: string, name: string, client: string): boolean {
    return this.#of('AuthorizationPolicy').some(({ spec }) => {
      const { targetRef, requiredAuthenticationRefs } = spec as unknown as PolicySpec;
      if (targetRef.kind !== kind || targetRef.name !== name) return false;
      const areNetworksThere = requiredAuthenticationRefs
        .filter((each) => each.kind === 'NetworkAuthentication')
        .every((each) => {
          const found = this.#of('NetworkAuthentication').find(({ metadata }) => metadata.name === each.name);
          return ((found?.spec?.['networks'] ?? []) as readonly unknown[]).length > 0;
        });
      if (!areNetworksThere) return false;
      return requiredAuthenticationRefs
        .filter((each) => each.kind === 'MeshTLSAuthentication')
        .every((each) => {
          const found = this.#of('MeshTLSAuthentication').find(({ metadata }) => metadata.name === each.name);
          const identities = (found?.spec?.['identities'] ?? []) as readonly string[];
          return identities.includes('*') || identities.includes(client);
        });
    });
  }

  #of(kind: string): readonly PolicyObject[] {
    return this.#objects.filter((each) => each.kind === kind);
  }
}

/** How well host names match a host: an exact one best, then the longest wildcard; a route without any matches all. */
function matchLength(names: readonly string[], host: string): number {
  if (names.length === 0) return 0;
  const lengths = names.map((name) => {
    if (name === host) return 1_000;
    return name.startsWith('*.') && host.endsWith(name.slice(1)) && host.length > name.length - 1 ? name.length : -1;
  });
  return Math.max(...lengths);
}
