/**
 * Linkerd's policy of a gateway, as its proxies apply it (rule M1): which route a host has, and what admits a client. It is
 * read from the objects alone, whoever wrote them. Pure.
 */
import { Default, meshIdentity, PolicyApi } from '../../../crds/wire.ts';
import {
  type AccessRoute,
  type Authorization,
  isAccepted,
  isServerWide,
  type Networks,
} from '../../../operator/access/objects.ts';
import { hasItsNetworks } from '../../../operator/access/networks.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import type { MeshNames } from '../common/clients.ts';

/** A Server of Linkerd's policy. */
export interface Server extends KubeObject {
  readonly spec?: { readonly accessPolicy?: string };
}

/** A MeshTLSAuthentication. */
export interface Authentication extends KubeObject {
  readonly spec?: {
    readonly identities?: readonly string[];
    readonly identityRefs?: readonly { readonly kind?: string; readonly name?: string; readonly namespace?: string }[];
  };
}

/** All of the policy that is in the namespace of a gateway. */
export interface PolicyObjects {
  readonly server: Server | undefined;
  readonly routes: readonly AccessRoute[];
  readonly authorizations: readonly Authorization[];
  readonly authentications: readonly Authentication[];
  readonly networks: readonly Networks[];
}

/** What admits a client, and from where. */
export interface Admission {
  /** As in `AuthorizationPolicy linkerd-multicluster/linkspan-1a2b3c-0`. */
  readonly by: string;
  /** Networks that it must come from, in CIDR notation; undefined if that is anywhere. */
  readonly networks: readonly string[] | undefined;
}

/** The policy of one gateway. */
export class GatewayPolicyModel {
  readonly #objects: PolicyObjects;
  readonly #names: MeshNames;

  /** @param names of the cluster of the gateway */
  constructor(objects: PolicyObjects, names: MeshNames) {
    this.#objects = objects;
    this.#names = names;
  }

  /** The routes that Linkerd has accepted for the gateway: while there is none, hosts do not matter. */
  get routes(): readonly AccessRoute[] {
    return this.#objects.routes.filter(isAccepted);
  }

  /** The route that a request for a host takes; undefined if no route has the host. */
  routeOf(host: string): AccessRoute | undefined {
    const ranked = this.routes
      .map((route) => ({ route, rank: rankOf(route.spec?.hostnames ?? [], host) }))
      .filter(({ rank }) => rank >= 0)
      .sort((one, other) => other.rank - one.rank || byAge(one.route, other.route));
    return ranked[0]?.route;
  }

  /** What admits a client to what a route has. */
  admitsTo(route: AccessRoute, client: string): Admission | undefined {
    return this.#admittedBy(this.#policiesOf(route), client) ?? this.admitsEverywhere(client);
  }

  /** What admits a client to the whole gateway. */
  admitsEverywhere(client: string): Admission | undefined {
    const { accessPolicy = 'deny' } = this.#objects.server?.spec ?? {};
    const found = this.#admittedBy(this.#objects.authorizations.filter(isServerWide), client);
    if (found !== undefined || !ADMITTING.has(accessPolicy)) return found;
    return { by: `accessPolicy ${accessPolicy} of Server ${Default.gatewayName}`, networks: undefined };
  }

  /** The identities that a route admits beside those that the whole gateway admits. */
  identitiesOf(route: AccessRoute): readonly string[] {
    return [...new Set(this.#policiesOf(route).flatMap((each) => this.#identitiesIn(each) ?? ['*']))].sort();
  }

  #policiesOf({ metadata: { name } }: AccessRoute): readonly Authorization[] {
    return this.#objects.authorizations.filter(
      ({ spec }) => spec?.targetRef?.kind === 'HTTPRoute' && spec.targetRef.name === name,
    );
  }

  #admittedBy(policies: readonly Authorization[], client: string): Admission | undefined {
    for (const policy of policies) {
      if (!hasItsNetworks(policy, this.#objects.networks)) continue;
      const identities = this.#identitiesIn(policy);
      if (identities?.some((each) => matches(each, client)) === false) continue;
      const { namespace = '', name } = policy.metadata;
      return { by: `AuthorizationPolicy ${namespace}/${name}`, networks: this.#networksIn(policy) };
    }
    return undefined;
  }

  /** The identities that a policy requires one of; undefined if it requires none. */
  #identitiesIn({ metadata, spec }: Authorization): readonly string[] | undefined {
    const required = (spec?.requiredAuthenticationRefs ?? []).filter(({ kind }) => kind !== 'NetworkAuthentication');
    if (required.length === 0) return undefined;
    const { controlPlaneNamespace, trustDomain } = this.#names;
    const identityOf = (name = '', namespace = metadata.namespace ?? ''): string =>
      meshIdentity(name, namespace, controlPlaneNamespace, trustDomain);
    // Linkerd takes one of them: a policy with several is not valid.
    return required.flatMap(({ kind, name, namespace }) => {
      if (kind === 'ServiceAccount') return [identityOf(name, namespace)];
      const found = this.#objects.authentications.find(
        (each) => each.metadata.name === name && each.metadata.namespace === (namespace ?? metadata.namespace),
      );
      const referred = (found?.spec?.identityRefs ?? []).map((ref) =>
        ref.kind === 'Namespace' ? identityOf('*', ref.name) : identityOf(ref.name, ref.namespace),
      );
      return [...(found?.spec?.identities ?? []), ...referred];
    });
  }

  #networksIn({ metadata, spec }: Authorization): readonly string[] | undefined {
    const required = (spec?.requiredAuthenticationRefs ?? []).filter(({ kind }) => kind === 'NetworkAuthentication');
    const [first] = required;
    if (first === undefined) return undefined;
    const found = this.#objects.networks.find(
      (each) =>
        each.metadata.name === first.name && each.metadata.namespace === (first.namespace ?? metadata.namespace),
    );
    const cidrs = (found?.spec?.networks ?? []).flatMap(({ cidr }) => cidr ?? []);
    return cidrs.some((cidr) => ANYWHERE.has(cidr)) ? undefined : cidrs;
  }
}

/** Reports whether what an object is for is a gateway's Server. */
export const isForGateway = ({ spec }: { readonly spec?: unknown }): boolean => {
  const { parentRefs = [] } = (spec ?? {}) as {
    readonly parentRefs?: readonly { readonly [field: string]: unknown }[];
  };
  return parentRefs.some(
    ({ group, kind, name }) => group === PolicyApi.group && kind === 'Server' && name === Default.gatewayName,
  );
};

const ADMITTING = new Set(['all-unauthenticated', 'all-authenticated', 'audit']);
const ANYWHERE = new Set(['0.0.0.0/0', '::/0']);

/** How well host names match a host: an exact one best, then the longest wildcard, then a route for all; -1 if none does. */
const rankOf = (names: readonly string[], host: string): number => {
  if (names.length === 0) return 0;
  const ranks = names.map((name) => {
    if (name === host) return Infinity;
    return name.startsWith('*.') && host.endsWith(name.slice(1)) ? name.length : -1;
  });
  return Math.max(...ranks);
};

/** Of two routes that match as well, the older one is taken. */
const byAge = (one: KubeObject, other: KubeObject): number => {
  const key = ({ metadata }: KubeObject): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`;
  return key(one) < key(other) ? -1 : 1;
};

/** Identities are exact, `*`, or `*.` and the end of one. */
const matches = (identity: string, client: string): boolean =>
  identity === '*' || identity === client || (identity.startsWith('*.') && client.endsWith(identity.slice(1)));
