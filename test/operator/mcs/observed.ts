/** Observed imports, with just what a test is about spelled out: exports of `web` in namespace `shop`. */
import { decideImport } from '../../../operator/mcs/decide.ts';
import { isOfImport } from '../../../operator/mcs/membership.ts';
import { SERVICE_IMPORTS, type ServiceImport } from '../../../operator/mcs/objects.ts';
import type { ServiceExport } from '../../../operator/target/read/mcs-objects.ts';
import type { LocalExporter, ObservedImport, TargetExporter } from '../../../operator/mcs/observed.ts';
import { importStatus } from '../../../operator/mcs/status.ts';
import { ENDPOINT_SLICES, type EndpointSlice, keyOf, type Service, SERVICES } from '../../../operator/kube/objects.ts';
import type { Action, Desired } from '../../../operator/runtime/plan.ts';
import { once } from '../runtime/once.ts';
import { planned } from '../../support/planned.ts';

/** What clients meet: the ServiceImport and what is derived from it. */
export type Standing = Pick<ObservedImport, 'live' | 'derived' | 'podServices' | 'imported'>;

export const NOTHING: Standing = { live: undefined, derived: undefined, podServices: [], imported: [] };

export const NOW = new Date('2026-06-01T00:00:00Z');

export const serviceExport = (createdAt = '2026-01-01T00:00:00Z', spec: ServiceExport['spec'] = {}): ServiceExport => ({
  metadata: { name: 'web', namespace: 'shop', generation: 1, creationTimestamp: createdAt },
  spec,
});

export const service = (spec: object = {}, metadata: object = {}): Service => ({
  metadata: { name: 'web', namespace: 'shop', ...metadata },
  spec: {
    clusterIP: '10.96.0.7',
    ipFamilies: ['IPv4'],
    ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
    ...spec,
  },
});

export const ownSlice = (address = '10.1.0.7', hostname?: string): EndpointSlice => ({
  metadata: { name: 'web-abc12', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  endpoints: [
    {
      addresses: [address],
      conditions: { ready: true },
      ...(hostname !== undefined && { hostname }),
      targetRef: { kind: 'Pod', name: 'web-0', namespace: 'shop', uid: 'u' },
    },
  ],
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
});

/** A pod as a slice of its Service has it. */
export interface Pod {
  readonly hostname?: string;
  readonly address?: string;
  readonly ready?: boolean;
}

/** A slice of pods, which listen on port 8080. */
export const podSlice = (pods: readonly Pod[], ports: EndpointSlice['ports'] = ownSlice().ports): EndpointSlice =>
  ({
    ...ownSlice(),
    endpoints: pods.map(({ hostname, address = '10.1.0.9', ready = true }) => ({
      addresses: [address],
      conditions: { ready },
      ...(hostname !== undefined && { hostname }),
    })),
    ports,
  }) as EndpointSlice;

export type TargetOptions = Partial<Omit<TargetExporter, 'link'>>;

/** A cluster with a Link that exports the Service through its gateway. */
export const target = (cluster: string, options: TargetOptions = {}): TargetExporter => ({
  link: { cluster, clusterDomain: `${cluster}.local` },
  linkedAt: '2025-01-01T00:00:00Z',
  id: `id-${cluster}`,
  isKnown: true,
  mode: 'gateway',
  gateway: { port: 4143, identity: `gateway.${cluster}`, addresses: [addressOf(cluster)], alive: true },
  anyReady: true,
  departed: new Map(),
  isAdmitted: true,
  serviceExport: serviceExport(),
  service: service(),
  slices: [ownSlice()],
  ...options,
});

export const flat = (cluster: string, options: TargetOptions = {}): TargetExporter =>
  target(cluster, { mode: 'remote-discovery', gateway: undefined, ...options });

/** The gateway of a cluster. */
export const addressOf = (cluster: string): string => `203.0.113.${cluster.charCodeAt(0) - 96}`;

/** The cluster itself; without options it exports nothing. */
export const local = (options: Partial<LocalExporter> = {}): LocalExporter => ({
  id: 'id-here',
  isKnown: true,
  slices: [ownSlice('10.1.0.1')],
  ...options,
});

export const observed = (
  targets: readonly TargetExporter[],
  options: Partial<Omit<ObservedImport, 'targets'>> = {},
): ObservedImport => ({
  namespace: 'shop',
  name: 'web',
  namespaceState: 'exists',
  operators: { own: 'linkerd-multicluster', isGone: () => false },
  families: ['IPv4'],
  local: local(),
  targets,
  isReadable: true,
  isAddressTaken: false,
  isSettled: false,
  isForeign: () => false,
  maxPods: 100,
  ...NOTHING,
  ...options,
});

/** One step that a reconcile takes: writes of Services, else of ServiceImports, else of slices, else deletions. */
export function step(given: ObservedImport): { readonly actions: readonly Action[]; readonly after: Standing } {
  const decision = decideImport(given);
  const { services, imports, endpoints } = decision.manifests;
  const { name, live, derived, podServices, imported } = given;
  const own = (of: Desired['of'], object: ServiceImport | Service | undefined) =>
    object !== undefined && isOfImport(name, object) ? [{ of, object }] : [];
  const all = [
    planned(once(services), [...own(SERVICES, derived), ...podServices.map((object) => ({ of: SERVICES, object }))]),
    planned(once(imports), own(SERVICE_IMPORTS, live)),
    planned(
      once(endpoints),
      imported.map((object) => ({ of: ENDPOINT_SLICES, object })),
    ),
  ];
  const writes = all.map((each) => each.filter(({ op }) => op !== 'delete')).find((each) => each.length > 0);
  const actions = writes ?? all.flat().filter(({ op }) => op === 'delete');
  const after = applied(given, actions);
  if (after.live === undefined || !isOfImport(name, after.live)) return { actions, after };
  const status = importStatus(decision, after.live, NOW);
  return {
    actions,
    after: { ...after, live: { ...after.live, ...(status !== undefined && { status }) } },
  };
}

let allocated = 0;

/** An address that no other Service has had. */
const address = (family: string): string => {
  allocated += 1;
  const [high, low] = [allocated >> 8, allocated & 255];
  return family === 'IPv6' ? `fd00::${high.toString(16)}:${low.toString(16)}` : `10.97.${high}.${low}`;
};

/** The API server gives a Service an address of each of its families. */
const withAddress = (object: Service, live: Service | undefined): Service => {
  const { ipFamilies = ['IPv4'] } = object.spec ?? {};
  const clusterIPs = object.spec?.clusterIPs ?? live?.spec?.clusterIPs ?? ipFamilies.map(address);
  return { ...object, spec: { ...object.spec, clusterIP: clusterIPs[0] ?? '', clusterIPs } };
};

/** Name of the Service that is derived from the ServiceImport as a whole. */
const DERIVED = 'web-clusterset';

function applied({ live, derived, podServices, imported }: Standing, actions: readonly Action[]): Standing {
  const slices = new Map(imported.map((each) => [keyOf(each), each]));
  const services = new Map([derived ?? [], podServices].flat().map((each) => [each.metadata.name, each]));
  let after = live;
  for (const { op, of, object } of actions) {
    const { name } = object.metadata;
    if (of === SERVICES) {
      if (op === 'delete') services.delete(name);
      else services.set(name, withAddress(object, services.get(name)));
    } else if (of === SERVICE_IMPORTS) {
      const status = live?.status;
      const written = { ...object, ...(status !== undefined && { status }) } as ServiceImport;
      after = op === 'delete' ? undefined : written;
    } else if (op === 'delete') slices.delete(keyOf(object));
    else slices.set(keyOf(object), object as EndpointSlice);
  }
  return {
    live: after,
    derived: services.get(DERIVED),
    podServices: [...services.values()].filter(({ metadata }) => metadata.name !== DERIVED),
    imported: [...slices.values()],
  };
}

/**
 * Reconciles until nothing is left to do.
 * @returns what there is after each step, the last first
 * @throws Error if it does not come to rest
 */
export function settled(given: ObservedImport): readonly [Standing, ...Standing[]] {
  const { live, derived, podServices, imported } = given;
  const history: [Standing, ...Standing[]] = [{ live, derived, podServices, imported }];
  for (let round = 0; round < 8; round += 1) {
    const { actions, after } = step({ ...given, ...history[0] });
    history.unshift(after);
    if (actions.length === 0) return history;
  }
  throw new Error('it does not come to rest');
}
