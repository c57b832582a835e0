/** Faults, and the ways to put them into an installation and to take them out. */
import { mcsCrds } from '../../../../crds/index.ts';
import {
  eventually,
  installCrd,
  type KubeObject,
  objectPath,
  type ObjectRef,
} from '../../../cluster/workload/index.ts';
import {
  EXPORTED,
  LINKS_NAMESPACE,
  link,
  namespace,
  objectRef,
  secretRef,
  service,
  slice,
} from '../../../support/builders.ts';
import { requestToken } from '../../../support/tokens.ts';
import { DEPLOYMENT, type Installed } from './installed.ts';

type Undo = () => Promise<unknown>;

/** One fault. */
export interface Fault {
  readonly name: string;
  /** Puts it in; what it returns takes it out. */
  readonly inject: (site: Installed) => Promise<Undo>;
  /** What the check prints, one pattern for each finding: `id level object: reason`. */
  readonly finds: readonly RegExp[];
  /** Flags of the check. */
  readonly flags?: (site: Installed) => object;
}

export const WEST = secretRef('cluster-credentials-west');
export const COPY = secretRef('cluster-credentials-west', 'linkerd');
export const LINK = link('west');
export const LOCAL_LEASE = objectRef('coordination.k8s.io/v1', 'Lease', 'local-service-mirror-write', LINKS_NAMESPACE);
const RBAC = 'rbac.authorization.k8s.io/v1';
export const REMOTE_ROLE = objectRef(RBAC, 'ClusterRole', 'linkerd-service-mirror-remote-access-east');
export const RENEWAL_ROLE = objectRef(RBAC, 'Role', REMOTE_ROLE.metadata.name, 'linkerd-multicluster');
export const OPERATOR_ROLE = objectRef(RBAC, 'ClusterRole', 'linkspan-operator');
export const DISCOVERY_ROLE = objectRef(RBAC, 'Role', 'linkspan-operator', 'linkerd');
export const GATEWAY_SERVICE = service('linkerd-gateway', { namespace: LINKS_NAMESPACE });
export const GATEWAY_SLICE = slice('linkerd-gateway', { namespace: LINKS_NAMESPACE, labels: {} });

interface Role extends KubeObject {
  readonly rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
}

type Side = 'east' | 'west';

/** Deletes an object until it is taken back as it was. */
export const deleted =
  (side: Side, ref: ObjectRef) =>
  async (site: Installed): Promise<Undo> => {
    const before = await site[side].get(ref);
    await site[side].delete(ref);
    return () => site[side].create(fresh(before!));
  };

/** An object as it can be created anew. */
export const fresh = (object: KubeObject): ObjectRef => {
  const { name, namespace: within, labels, annotations } = object.metadata;
  const { status: _, ...rest } = object as KubeObject & { readonly status?: unknown };
  return { ...rest, metadata: { name, namespace: within, labels, annotations } } as ObjectRef;
};

/** Creates an object until it is taken back. */
export const created =
  (side: Side, object: ObjectRef) =>
  async (site: Installed): Promise<Undo> => {
    await site[side].create(object);
    return () => site[side].delete(object);
  };

/** Changes an object by a merge patch, and back by another one. */
export const patched =
  (side: Side, ref: ObjectRef, patch: object, back: object) =>
  async (site: Installed): Promise<Undo> => {
    await site[side].patch(ref, patch);
    return () => site[side].patch(ref, back);
  };

export const applied =
  (side: Side, object: ObjectRef, back: ObjectRef) =>
  async (site: Installed): Promise<Undo> => {
    await site[side].apply(object);
    return () => site[side].apply(back);
  };

/** Takes verbs on a resource from a ClusterRole. */
export const deprived =
  (side: Side, ref: ObjectRef, resource: string, verbs: readonly string[]) =>
  async (site: Installed): Promise<Undo> => {
    const { rules } = (await site[side].get<Role>(ref))!;
    const left = rules
      .map((rule) =>
        rule.resources.includes(resource)
          ? { ...rule, verbs: rule.verbs.filter((verb) => !verbs.includes(verb)) }
          : rule,
      )
      .filter((rule) => rule.verbs.length > 0);
    await site[side].patch(ref, { rules: left });
    return () => site[side].patch(ref, { rules });
  };

/** The kubeconfig of west in the Link's Secret, changed. */
export const kubeconfig =
  (change: (site: Installed, text: string) => string) =>
  async (site: Installed): Promise<Undo> => {
    const before = (await site.east.get<KubeObject & { data: { kubeconfig: string } }>(WEST))!.data;
    const text = Buffer.from(before.kubeconfig, 'base64').toString();
    await site.east.patch(WEST, { data: { kubeconfig: Buffer.from(change(site, text)).toString('base64') } });
    return () => site.east.patch(WEST, { data: before });
  };

/** A token that ends, for the account of the Link, in a Secret that nobody but people writes. */
export const endingToken = async (site: Installed): Promise<Undo> => {
  const { westCluster } = site.clusters;
  const token = await requestToken(westCluster, { namespace: LINKS_NAMESPACE, name: REMOTE_ROLE.metadata.name });
  const before = (await site.east.get<KubeObject & { data: object }>(WEST))!;
  const data = { kubeconfig: Buffer.from(westCluster.kubeconfigFor(token)).toString('base64') };
  const patch = { metadata: { managedFields: [{}] }, data };
  await site.east.patch(WEST, patch, { fieldManager: 'kubectl-patch' });
  return () => site.east.apply({ ...fresh(before), data: before.data } as ObjectRef);
};

export const spec = (changed: object, back: object) => patched('east', LINK, { spec: changed }, { spec: back });

/** An exported Service of west, and its slice. */
export const exported =
  (name: string, within = 'shop', more: object = {}) =>
  async (site: Installed): Promise<Undo> => {
    const object = service(name, { namespace: within, labels: EXPORTED, ...more });
    await site.west.apply(namespace(within));
    await site.west.apply(object);
    return () => site.west.delete(object);
  };

/** A Service of west that is to join a federated one. */
export const federating = (name: string, more: object = {}) =>
  exported(name, 'shop', { labels: { 'mirror.linkerd.io/federated': 'member' }, ...more });

export const both =
  (...all: readonly Fault['inject'][]) =>
  async (site: Installed): Promise<Undo> => {
    const undo: Undo[] = [];
    for (const each of all) undo.push(await each(site));
    return async () => {
      for (const each of undo.toReversed()) await each();
    };
  };

/** Changes the image of the operator. */
export const image = async (site: Installed, tag: string): Promise<void> => {
  const path = '/spec/template/spec/containers/0/image';
  await site.east.request('PATCH', objectPath(DEPLOYMENT), {
    body: [{ op: 'replace', path, value: `registry.example/linkspan:${tag}` }],
    contentType: 'application/json-patch+json',
  });
};

/** Stops the operator, which gives up its Leases. */
export const stopped = async (site: Installed): Promise<Undo> => {
  await site.clusters.stopOperators();
  return () => site.run();
};

/** When a holder that is dead last renewed its Lease. */
export const OLD = '2026-01-01T00:00:00.000000Z';

/** Has another hold a Lease: for an hour from now on, or for a second from a moment long ago. */
export const held =
  (name: string, holderIdentity: string, renewTime?: string) =>
  async (site: Installed): Promise<Undo> => {
    const lease: ObjectRef = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: LINKS_NAMESPACE },
    };
    const now = new Date().toISOString().replace('Z', '000Z');
    const leaseDurationSeconds = renewTime === undefined ? 3_600 : 1;
    await site.east.patch(lease, { spec: { holderIdentity, leaseDurationSeconds, renewTime: renewTime ?? now } });
    return () => site.east.patch(lease, { spec: { holderIdentity: '', leaseDurationSeconds: 1 } });
  };

/** Installs CRDs of the MCS API in the source: those of these names, or all. */
export const mcsInstalled =
  (...names: readonly string[]) =>
  async (site: Installed): Promise<Undo> => {
    const wanted = mcsCrds.filter(({ metadata: { name } }) => names.length === 0 || names.includes(name));
    for (const crd of wanted) await installCrd(site.clusters.eastCluster, crd);
    return async () => {
      for (const crd of wanted) await site.east.delete(crd);
    };
  };

/** Waits for a mirror. */
export const mirrored =
  (name: string) =>
  async ({ clusters }: Installed): Promise<Undo> => {
    await eventually(`${name} is there`, () => clusters.get('Service', name));
    return () => Promise.resolve();
  };

export const meshedPod: ObjectRef = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'meshed', namespace: LINKS_NAMESPACE, annotations: { 'linkerd.io/inject': 'enabled' } },
  spec: { containers: [{ name: 'main', image: 'registry.example/main' }] },
} as ObjectRef;

export const linkerdDeployment = (cluster: string): ObjectRef => {
  const labels = { component: 'controller', 'mirror.linkerd.io/cluster-name': cluster };
  const manifest = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `controller-${cluster}`, namespace: LINKS_NAMESPACE, labels },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'controller', image: 'controller' }] } },
    },
  };
  return manifest;
};
