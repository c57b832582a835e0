/** Observed federations, with just what a test is about spelled out: Services `web` in namespace `shop`. */
import { decideFederation } from '../../../operator/federation/decide.ts';
import { ownedOf } from '../../../operator/federation/desired.ts';
import type { LocalParty, ObservedFederation, TargetParty } from '../../../operator/federation/observed.ts';
import { ENDPOINT_SLICES, type EndpointSlice, keyOf, type Service, SERVICES } from '../../../operator/kube/objects.ts';
import type { Action } from '../../../operator/runtime/plan.ts';
import { once } from '../runtime/once.ts';
import { planned } from '../../support/planned.ts';

/** Where clients meet the members: what there is of the federated Service. */
export type Standing = Pick<ObservedFederation, 'live' | 'slices'>;

export const NOTHING: Standing = { live: undefined, slices: [] };

/** A Service that joins; `owner` tells whose labels and annotations count. */
export const member = (owner: string, spec: Service['spec'] = {}, metadata: object = {}): Service => ({
  metadata: {
    name: 'web',
    namespace: 'shop',
    labels: { owner, 'mirror.linkerd.io/federated': 'member' },
    annotations: { 'example.com/owner': owner },
    ...metadata,
  },
  spec: { clusterIP: '10.96.0.7', ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }], ...spec },
});

export interface TargetOptions extends Partial<Omit<TargetParty, 'link'>> {
  readonly excludedLabels?: readonly string[];
  readonly createNamespaces?: boolean;
}

/** A cluster with a Link and a member; its Link is as old as its name is early. */
export const target = (cluster: string, options: TargetOptions = {}): TargetParty => {
  const { excludedLabels = [], createNamespaces = false, ...rest } = options;
  return {
    link: { cluster, clusterDomain: `${cluster}.local`, excludedLabels, excludedAnnotations: [], createNamespaces },
    seniority: { createdAt: '2026-01-01T00:00:00Z', name: cluster },
    mayHaveMember: true,
    mode: 'remote-discovery',
    isDiscoverable: true,
    isAdmitted: true,
    gateway: { port: 4143, identity: `gateway.${cluster}`, addresses: [addressOf(cluster)], alive: true },
    anyReady: true,
    knowledge: 'known',
    service: member(cluster),
    ...rest,
  };
};

export const throughGateway = (cluster: string, options: TargetOptions = {}): TargetParty =>
  target(cluster, { mode: 'gateway', ...options });

const addressOf = (cluster: string): string => `203.0.113.${cluster.charCodeAt(0) - 96}`;

export const localSlice = (ready = true): EndpointSlice => ({
  metadata: { name: 'web-abc12', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  endpoints: [
    {
      addresses: ['10.1.0.7'],
      conditions: { ready, serving: ready, terminating: null },
      nodeName: 'node-1',
      targetRef: { kind: 'Pod', name: 'web-0', namespace: 'shop', uid: 'u', resourceVersion: '9' },
    },
  ],
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
});

/** The local cluster; without options it has no member. */
export const local = (options: Partial<LocalParty> = {}): LocalParty => ({
  knowledge: 'known',
  isHeld: true,
  slices: [localSlice()],
  ...options,
});

export const federation = (
  targets: readonly TargetParty[],
  options: Partial<Omit<ObservedFederation, 'targets'>> = {},
): ObservedFederation => ({
  namespace: 'shop',
  name: 'web',
  namespaceState: 'exists',
  operators: { own: 'linkerd-multicluster', isGone: () => false },
  local: local(),
  targets,
  ...NOTHING,
  ...options,
});

/** The federated Service as Linkerd's controllers write it. */
export const linkerds = (
  remote: string | undefined,
  more: { readonly local?: true; readonly labels?: object; readonly operator?: string } = {},
): Service => ({
  metadata: {
    name: 'web-federated',
    namespace: 'shop',
    uid: 'uid-federated',
    labels: { owner: 'linkerd', 'mirror.linkerd.io/mirrored-service': 'true', ...more.labels },
    annotations: {
      ...(remote !== undefined && { 'multicluster.linkerd.io/remote-discovery': remote }),
      ...(more.local && { 'multicluster.linkerd.io/local-discovery': 'web' }),
      ...(more.operator !== undefined && { 'linkspan.dev/operator': more.operator }),
    },
  },
  spec: {
    type: 'ClusterIP',
    clusterIP: '10.96.0.99',
    ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }],
  },
});

/** One step that a reconcile takes: writes of Services, else of endpoints, else deletions. */
export function step(observed: ObservedFederation): { readonly actions: readonly Action[]; readonly after: Standing } {
  const { manifests } = decideFederation(observed);
  const owned = ownedOf(observed);
  const services = planned(
    once(manifests.services),
    owned.services.map((object) => ({ of: SERVICES, object })),
  );
  const slices = planned(
    once(manifests.endpoints),
    owned.slices.map((object) => ({ of: ENDPOINT_SLICES, object })),
  );
  const writes = [services, slices].map((all) => all.filter(({ op }) => op !== 'delete')).find((all) => all.length > 0);
  const actions = writes ?? [...services, ...slices].filter(({ op }) => op === 'delete');
  return { actions, after: applied(observed, actions) };
}

function applied({ live, slices }: Standing, actions: readonly Action[]): Standing {
  const byName = new Map(slices.map((each) => [keyOf(each), each]));
  let service = live;
  for (const { op, of, object } of actions) {
    if (of === SERVICES)
      service =
        op === 'delete'
          ? undefined
          : {
              ...(object as Service),
              spec: { ...(object as Service).spec, clusterIP: live?.spec?.clusterIP ?? '10.96.0.42' },
            };
    else if (op === 'delete') byName.delete(keyOf(object));
    else byName.set(keyOf(object), object as EndpointSlice);
  }
  return { live: service, slices: [...byName.values()] };
}

/**
 * Reconciles until nothing is left to do.
 * @returns what there is after each step, the last first
 * @throws Error if it does not come to rest
 */
export function settled(observed: ObservedFederation): readonly [Standing, ...Standing[]] {
  const history: [Standing, ...Standing[]] = [{ live: observed.live, slices: observed.slices }];
  for (let round = 0; round < 6; round += 1) {
    const { actions, after } = step({ ...observed, ...history[0] });
    if (actions.length === 0) return history;
    history.unshift(after);
  }
  throw new Error('it does not come to rest');
}
