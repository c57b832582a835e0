/** Services that run here and in the target, are members of federated Services in both, and have ServiceFailovers. */
import { failoverCrd } from '../../crds/index.ts';
import type { TestCluster } from '../cluster/index.ts';
import { type Api, installCrd, type ObjectRef } from '../cluster/workload/index.ts';
import { EXPORTED, service, slice } from './builders.ts';
import { concurrently } from './concurrently.ts';
import { httpRouteCrds } from './route-crds.ts';

const MEMBER = { 'mirror.linkerd.io/federated': 'member' };
/** Requests at once by which they are made. */
const AT_ONCE = 32;

/** Spec of a Link by which members are reached through its gateway. */
export const GATEWAY_FEDERATION = { federation: 'gateway', federatedServiceSelector: { matchLabels: MEMBER } };

/** Installs the CRDs of ServiceFailovers and of their routes. */
export const installFailover = async (east: TestCluster): Promise<void> => {
  for (const crd of [failoverCrd as unknown as ObjectRef, ...httpRouteCrds()]) await installCrd(east, crd);
};

/** Creates Services and their slices in both clusters; those of the target are exported, and all are members. */
export const addMembers = (east: Api, west: Api, names: readonly string[]): Promise<void> =>
  concurrently(names, AT_ONCE, async (name) => {
    const exported = { ...EXPORTED, ...MEMBER };
    await west.create(service(name, { labels: exported }));
    await west.create(slice(name, { labels: exported }));
    await east.create(service(name, { labels: MEMBER }));
    await east.create(slice(name, { labels: MEMBER }));
  });

/** A ServiceFailover whose requests go to the mirror of a Service first, and stay in this cluster otherwise. */
export const mirrorFirst = (name: string, cluster: string): ObjectRef => {
  const backends = [{ service: `${name}-${cluster}` }, { service: name }];
  const object = {
    apiVersion: 'linkspan.dev/v1alpha1',
    kind: 'ServiceFailover',
    metadata: { name, namespace: 'shop' },
    spec: { service: name, backends, holdDown: '0' },
  };
  return object;
};

/** Creates a ServiceFailover for each of these Services. */
export const addFailovers = (east: Api, cluster: string, names: readonly string[]): Promise<void> =>
  concurrently(names, AT_ONCE, (name) => east.create(mirrorFirst(name, cluster)));
