/**
 * Services that run in the source and in both targets: members of federated Services, exported by the MCS API, and with
 * ServiceFailovers. Beside them are objects of others that are in the way.
 */
import { failoverCrd, mcsCrds } from '../../crds/index.ts';
import { type Api, installCrd, type KubeObject, type ObjectRef } from '../../test/cluster/workload/index.ts';
import type { RealCluster } from '../../test/cluster/real/real.ts';
import { HERE } from '../../test/simulation/federation-users.ts';
import { MEMBER_LABEL, MEMBER_SELECTOR, OWNER_LABEL } from '../../test/simulation/members.ts';
import { TARGETS } from '../../test/simulation/command.ts';
import { objectRef, service, slice } from '../../test/support/builders.ts';
import { serviceExport, serviceImportRef } from '../../test/support/mcs.ts';
import { httpRouteCrds } from '../../test/support/route-crds.ts';
import { type ExportedService, mirrorOf } from './model.ts';

export { HERE };
/** What such a Link has besides what all have. */
export const SHARED_LINK = { federation: 'gateway', federatedServiceSelector: MEMBER_SELECTOR };

const NAMESPACE = 'shop';
const COUNT = 24;

/** Names of the Services. */
export const SHARED: readonly string[] = Array.from({ length: COUNT }, (_, index) => `app-${index}`);
/** Service names that somebody else's objects are in the way of. */
const TAKEN = 'taken';
const HELD = 'held';

/** The cluster in which a Service stays a member, and exported, throughout; undefined if there is none. */
export const steadyIn = (name: string): string | undefined => [TARGETS[0], HERE][SHARED.indexOf(name) % 3];

/** Whether an object of ours is called so: it is that of a shared Service, and nobody else's. */
export const isDerived = (name: string): boolean =>
  /^(app-\d+-(federated|clusterset)|held-federated)([.-]|$)/.test(name);

/** Whether an object of ours is called so that stays for as long as its Service is a member, or exported, somewhere. */
export const isLasting = (name: string): boolean => {
  const [, of = '', suffix] = /^(app-\d+)(-federated|-clusterset|-federated\.west-ipv4)?$/.exec(name) ?? [];
  const cluster = steadyIn(of);
  return suffix === '-federated.west-ipv4' ? cluster === 'west' : cluster !== undefined;
};

export const mayBeImported = (name: string): boolean => SHARED.includes(name) || name === HELD;
/** Whether the route of a ServiceFailover is called so. */
export const isRoute = (name: string): boolean => SHARED.some((each) => name === `${each}-80`);

/** A shared Service of a target, as users begin with it. */
export const exportedOf = (name: string, target: string): ExportedService => ({
  ...{ name, link: target, target, exported: true, ready: true, port: 80 },
});

export const failoverRef = (name: string): ObjectRef =>
  objectRef('linkspan.dev/v1alpha1', 'ServiceFailover', name, NAMESPACE);

/** A ServiceFailover to the mirrors, and to the Service here; `turn` tells which of them goes first. */
export const failover = (name: string, turn = 0): ObjectRef => {
  const services = [...TARGETS.map((target) => mirrorOf({ name, link: target })), name];
  const backends = [...services.slice(turn), ...services.slice(0, turn)].map((each) => ({ service: each }));
  const manifest = { ...failoverRef(name), spec: { service: name, backends, holdDown: '0' } };
  return manifest;
};

/** The address of a pod: each that comes in place of another has its own. */
export const newPodIp = (): string =>
  `10.244.${Math.floor(Math.random() * 256)}.${1 + Math.floor(Math.random() * 254)}`;

/** The slice of a shared Service of the source, as Kubernetes makes it: its endpoint names its pod. */
export const localSlice = (name: string, isReady: boolean): ObjectRef & { readonly endpoints: readonly object[] } => {
  const { endpoints, ...rest } = slice(name, {
    labels: {},
    endpoints: [{ ready: isReady, ip: newPodIp() }],
  }) as ObjectRef & {
    readonly endpoints: readonly object[];
  };
  const targetRef = { kind: 'Pod', namespace: NAMESPACE, name: `${name}-0` };
  return { ...rest, endpoints: endpoints.map((each) => ({ ...each, targetRef })) };
};

/** Labels of a shared Service in one cluster; the owner tells whose labels count. */
export const memberLabels = (cluster: string): Readonly<Record<string, string>> => ({
  [OWNER_LABEL]: cluster,
  [MEMBER_LABEL]: 'member',
});

/** Installs what the source, or a target, needs. */
export async function installShared(cluster: RealCluster): Promise<void> {
  const ofSource = cluster.name === HERE ? [failoverCrd as unknown as ObjectRef, ...httpRouteCrds()] : [];
  for (const crd of [...mcsCrds, ...ofSource]) await installCrd(cluster, crd);
}

/** Puts the shared Services into a target, but for what mirrors need of them. */
export async function fillTarget(target: string, api: Api): Promise<void> {
  for (const name of SHARED) {
    await api.patch(service(name), { metadata: { labels: memberLabels(target) } });
    await api.create(serviceExport(name));
  }
  for (const name of [TAKEN, HELD]) {
    await api.create(service(name, { labels: memberLabels(target) }));
    await api.create(slice(name, { labels: {} }));
    await api.create(serviceExport(name));
  }
}

/** Puts the shared Services into the source. @returns objects of others, as they were made */
export async function fillSource(east: Api): Promise<readonly KubeObject[]> {
  const foreign: KubeObject[] = [];
  const route = {
    ...objectRef('gateway.networking.k8s.io/v1', 'HTTPRoute', `own-${TAKEN}`, NAMESPACE),
    spec: {
      parentRefs: [{ group: '', kind: 'Service', name: TAKEN, port: 80 }],
      rules: [{ backendRefs: [{ name: TAKEN, port: 80 }] }],
    },
  };
  const others = [
    service(TAKEN),
    service(`${TAKEN}-federated`),
    slice(`${TAKEN}-federated`, { labels: {} }),
    { ...serviceImportRef(TAKEN), spec: { type: 'Headless', ports: [] } },
    service(`${HELD}-clusterset`),
    route,
  ];
  for (const object of others) foreign.push(await east.create(object));
  for (const name of SHARED) {
    await east.create(service(name, { labels: memberLabels(HERE) }));
    await east.create(localSlice(name, true));
    await east.create(serviceExport(name));
    await east.create(failover(name));
  }
  await east.create(failover(TAKEN));
  return foreign;
}
