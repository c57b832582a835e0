/**
 * Rule G1, write by write: what says that a Link's change is applied says so when it is. Judged is what a Link alone
 * decides: the gateway's port and identity in the endpoints of its mirrors.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { readyAtGateway } from './dead-gateways.ts';

interface Spec {
  readonly gatewayPort: string;
  readonly gatewayIdentity: string;
}

/** Values that Links of a history have; users write others into mirrors. */
const PORTS: ReadonlySet<number | undefined> = new Set([4143, 30143, 31143]);
const IDENTITIES: ReadonlySet<string | undefined> = new Set(['gateway.one', 'gateway.two']);

/** The generation that a Link's status says is applied, if it does. */
export function appliedGeneration(link: KubeObject | undefined): number | undefined {
  const { conditions } = (link?.['status'] ?? {}) as { readonly conditions?: unknown };
  const all = (Array.isArray(conditions) ? conditions : []) as readonly {
    readonly type?: unknown;
    readonly status?: unknown;
    readonly observedGeneration?: number;
  }[];
  const synced = all.find(({ type }) => type === 'Synced');
  return synced?.status === 'True' ? synced.observedGeneration : undefined;
}

/**
 * @returns of the endpoints of a Link's mirrors, what its spec of now has not been applied to; what is refused for good is
 *   reported for its Service, and does not count
 */
export function unapplied(link: KubeObject, endpoints: readonly KubeObject[]): readonly string[] {
  const { gatewayPort, gatewayIdentity } = link.spec as Spec;
  const refused = refusedMirrors(link);
  return endpoints.filter(readyAtGateway).flatMap((object) => {
    if (refused.has(mirrorOf(object))) return [];
    const { namespace, name, annotations = {} } = object.metadata;
    const ports = portsOf(object).filter((port) => PORTS.has(port) && port !== Number(gatewayPort));
    const identity = annotations['mirror.linkerd.io/remote-gateway-identity'];
    const others = IDENTITIES.has(identity) && identity !== gatewayIdentity ? [identity] : [];
    const former = [...ports, ...others];
    if (former.length === 0) return [];
    return [`${namespace}/${name} still has ${former.join(', ')}, though Link ${link.metadata.name} is synced (G1)`];
  });
}

/** Names of the mirrors that the status of a Link reports as failed: `namespace/name`. */
function refusedMirrors(link: KubeObject): ReadonlySet<string> {
  const { mirrorServices } = (link['status'] ?? {}) as { readonly mirrorServices?: unknown };
  const all = (Array.isArray(mirrorServices) ? mirrorServices : []) as readonly {
    readonly conditions?: readonly {
      readonly status?: string;
      readonly localRef?: { readonly namespace: string; readonly name: string };
    }[];
  }[];
  const failed = all.flatMap(({ conditions = [] }) => conditions.filter(({ status }) => status === 'False'));
  return new Set(
    failed.map(({ localRef: { namespace, name } = { namespace: '', name: '' } }) => `${namespace}/${name}`),
  );
}

/** The mirror that endpoints belong to, which is that of its Service for an endpoint mirror: `namespace/name`. */
function mirrorOf({ metadata: { namespace = '', name, labels = {} } }: KubeObject): string {
  const service = labels['mirror.linkerd.io/headless-mirror-svc-name'] ?? labels['kubernetes.io/service-name'] ?? name;
  return `${namespace}/${service}`;
}

function portsOf(object: KubeObject): readonly (number | undefined)[] {
  type Ports = readonly { readonly port?: number }[];
  const subsets = (object['subsets'] ?? []) as readonly { readonly ports?: Ports }[];
  const ports = (object['ports'] ?? []) as Ports;
  return [...subsets.flatMap(({ ports: each = [] }) => each), ...ports].map(({ port }) => port);
}
