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

/** @returns of the endpoints of a Link's mirrors, what its spec of now has not been applied to */
export function unapplied(link: KubeObject, endpoints: readonly KubeObject[]): readonly string[] {
  const { gatewayPort, gatewayIdentity } = link.spec as Spec;
  return endpoints.filter(readyAtGateway).flatMap((object) => {
    const { namespace, name, annotations = {} } = object.metadata;
    const ports = portsOf(object).filter((port) => PORTS.has(port) && port !== Number(gatewayPort));
    const identity = annotations['mirror.linkerd.io/remote-gateway-identity'];
    const others = IDENTITIES.has(identity) && identity !== gatewayIdentity ? [identity] : [];
    const former = [...ports, ...others];
    if (former.length === 0) return [];
    return [`${namespace}/${name} still has ${former.join(', ')}, though Link ${link.metadata.name} is synced (G1)`];
  });
}

function portsOf(object: KubeObject): readonly (number | undefined)[] {
  type Ports = readonly { readonly port?: number }[];
  const subsets = (object['subsets'] ?? []) as readonly { readonly ports?: Ports }[];
  const ports = (object['ports'] ?? []) as Ports;
  return [...subsets.flatMap(({ ports: each = [] }) => each), ...ports].map(({ port }) => port);
}
