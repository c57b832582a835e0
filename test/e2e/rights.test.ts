/**
 * H6: the operator with the rights that the constructs render, on API servers that enforce them. Everything works with
 * these rights, and every single one is needed: the audit log has a request that succeeds by this right and by no other,
 * and RBAC refuses what no right allows.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MirrorOperator } from '../../constructs/operator/mirror-operator.ts';
import type { MirrorOperatorProps } from '../../constructs/operator/props.ts';
import { failoverCrd, mcsCrds } from '../../crds/index.ts';
import { RemoteAccess } from '../../constructs/gateway/remote-access.ts';
import { type ApiJson, render } from '../../constructs/rendered/render.ts';
import type { AuditEntry, TestCluster } from '../cluster/index.ts';
import { onReal } from '../cluster/on-each-backing.ts';
import { type Api, eventually, installCrd, type ObjectRef } from '../cluster/workload/index.ts';
import {
  credentials,
  EXPORTED,
  link,
  LINKS_NAMESPACE,
  namespace,
  service,
  slice,
  statefulSlice,
} from '../support/builders.ts';
import { hostsOf } from '../support/exports.ts';
import type { LinkObject, ServiceObject } from '../support/objects.ts';
import { discoveryCredentials } from '../support/full-mesh.ts';
import { renderedOperator, serviceAccountUser } from '../support/rendered-operator.ts';
import { LASTING_LEASE, type TestOperator } from '../support/operator.ts';
import { httpRouteCrds, tcpRouteCrd } from '../support/route-crds.ts';
import { applySecret, requestToken } from '../support/tokens.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const DEADLINE_MS = 60_000;
/** Of the ten minutes that an API server grants at least, this is three seconds. */
const RENEWED_AFTER = 0.005;
const TIMEOUT_MS = 180_000;
const OPERATOR = serviceAccountUser(LINKS_NAMESPACE, 'linkspan-operator');
const REMOTE = serviceAccountUser(LINKS_NAMESPACE, 'linkerd-service-mirror-remote-access-east');

interface Role extends ApiJson {
  readonly rules: readonly Rule[];
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** One verb on one resource, or on one object of it, granted by one role. */
interface Right {
  readonly role: Role;
  readonly group: string;
  readonly resource: string;
  readonly name: string | undefined;
  readonly verb: string;
}

/** Something that is done to the clusters, and what becomes of it. */
interface Step {
  readonly name: string;
  readonly act: () => Promise<unknown>;
  readonly done: () => Promise<boolean>;
}

const isRole = (object: ApiJson): object is Role => object.kind === 'Role' || object.kind === 'ClusterRole';

const rightsOf = (objects: readonly ApiJson[]): readonly Right[] =>
  objects
    .filter(isRole)
    .flatMap((role) =>
      role.rules.flatMap(({ apiGroups: [group = ''], resources, resourceNames = [undefined], verbs }) =>
        resources.flatMap((resource) =>
          resourceNames.flatMap((name) => verbs.map((verb) => ({ role, group, resource, name, verb }))),
        ),
      ),
    );

const nameOf = ({ role: { kind, metadata }, group, resource, name, verb }: Right): string => {
  const what = `${resource}${group === '' ? '' : `.${group}`}${name === undefined ? '' : ` "${name}"`}`;
  return `${verb} ${what} (${metadata.namespace === undefined ? kind : `${kind} in ${metadata.namespace}`})`;
};

const operatorObjects = (props: Partial<MirrorOperatorProps> = {}): readonly ApiJson[] =>
  render((chart) => {
    new MirrorOperator(chart, 'operator', {
      image: 'linkspan:test',
      enableHeadlessServices: true,
      failover: false,
      serviceImports: false,
      ...LASTING_LEASE,
      ...props,
    });
  });

const remoteAccess = (exportNamespaces?: readonly string[]): readonly ApiJson[] =>
  render((chart) => {
    new RemoteAccess(chart, 'remote', {
      sourceCluster: 'east',
      exportNamespaces,
      linkerdController: false,
    });
  });

const remoteObjects = remoteAccess();

/** Reports whether a right is one to the MCS API or the About API, of which an operator that imports nothing uses none. */
const isOfMcs = ({ group }: Right): boolean => ['multicluster.x-k8s.io', 'about.k8s.io'].includes(group);
const withoutMcs = (objects: readonly ApiJson[]): readonly Right[] =>
  rightsOf(objects).filter((right) => !isOfMcs(right));

/** Both sides limited to one namespace, and to the Secret of the one Link. */
const LIMITED = { mirrorNamespaces: ['shop'], credentialsSecrets: ['cluster-credentials-west'] };
const remoteLimited = remoteAccess(['shop']);

/** The Service joins the federated Service of its name. */
const MEMBER = { 'mirror.linkerd.io/federated': 'member' };

const splitRef = (n: number): ObjectRef => ({
  apiVersion: 'split.smi-spec.io/v1alpha2',
  kind: 'TrafficSplit',
  metadata: { name: `web-${n}`, namespace: 'shop' },
});

/** A CRD of which only the existence counts. */
const stubCrd = (group: string, version: string, kind: string, plural: string): ObjectRef => {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const spec = {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase() },
    versions: [{ name: version, served: true, storage: true, schema }],
  };
  const metadata = { name: `${plural}.${group}` };
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec } as ObjectRef;
};

const probe = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'probe-west', namespace: LINKS_NAMESPACE } };
const probeEndpoints = { ...probe, kind: 'Endpoints' };

/** The mirror of a Service in namespace shop. */
const mirrorOf = (name: string): ObjectRef => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: `${name}-west`, namespace: 'shop' },
});

/** Whether what a right allows, in part or as a whole, is allowed by another one too. */
const overlaps =
  (right: Right) =>
  (other: Right): boolean => {
    const isSame = <T>(a: T | undefined, b: T | undefined): boolean => a === undefined || b === undefined || a === b;
    return (
      other !== right &&
      other.group === right.group &&
      other.resource === right.resource &&
      other.verb === right.verb &&
      isSame(other.name, right.name) &&
      isSame(other.role.metadata.namespace, right.role.metadata.namespace)
    );
  };

/**
 * Whether a request that was carried out took a right. Creation by server-side apply is logged as the patch it also is.
 */
const took =
  ({ role, resource: full, group, name, verb }: Right) =>
  (entry: AuditEntry): boolean => {
    const [resource, subresource] = full.split('/');
    const within = role.metadata.namespace;
    const isVerb = entry.verb === verb || (verb === 'create' && entry.verb === 'patch' && entry.code === 201);
    return (
      entry.code !== 403 &&
      isVerb &&
      entry.group === group &&
      entry.resource === resource &&
      entry.subresource === subresource &&
      (within === undefined || entry.namespace === within) &&
      (name === undefined || entry.name === name || entry.uri.includes(`metadata.name%3D${name}`))
    );
  };

/**
 * Requests of a user that were refused for want of a right; those that its own namespace's end refuses are not, nor is the
 * look at what the cluster is called, which no Role can grant.
 */
const refused = async (cluster: TestCluster, user: string): Promise<readonly AuditEntry[]> =>
  (await cluster.audit()).filter(
    ({ code, user: by, namespace: within, resource }) =>
      code === 403 && by === user && !within?.startsWith('leaving') && resource !== 'clusterproperties',
  );

onReal('H6: the rights that the constructs render', () => {
  let clusters: TwoClusters;
  let directory: string;
  let operator: TestOperator | undefined;
  /** The token that the Link was made with. */
  let linkedWith = '';
  /** Names of what a test makes end in its number. */
  let turn = 0;
  /** Further fields of the Link's spec. */
  let linkSpec: object = {};

  beforeAll(async () => {
    // As the Deployment sets it: it spares a look at Service default/kubernetes.
    process.env['POD_IPS'] = '10.244.0.1';
    directory = await mkdtemp(join(tmpdir(), 'linkspan-rights-'));
    clusters = await TwoClusters.start({
      backing: 'real',
      namespaces: ['shop', 'other'],
    });
    await clusters.west.apply(namespace(LINKS_NAMESPACE));
    await applyAll(clusters.west, remoteObjects);
  }, 120_000);
  afterAll(async () => {
    delete process.env['POD_IPS'];
    await clusters.stop();
    await rm(directory, { recursive: true });
  });
  beforeEach(() => {
    turn += 1;
  });
  afterEach(async () => {
    await operator?.stop();
    operator = undefined;
    linkSpec = {};
    await clusters.gateway.revive();
    await removeEverything();
  });

  /** But for Linkerd's policies, since Linkerd is not here. */
  const applyAll = async (cluster: Api, objects: readonly ApiJson[]): Promise<void> => {
    for (const object of objects) if (!object.apiVersion.startsWith('policy.linkerd.io/')) await cluster.apply(object);
  };

  /** What Links, the operator and its rights left. */
  const removeEverything = async (): Promise<void> => {
    const bindings = [undefined, LINKS_NAMESPACE, 'shop'].map((within) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: within === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
      metadata: { name: 'linkspan-operator', ...(within !== undefined && { namespace: within }) },
    }));
    const labelSelector = 'mirror.linkerd.io/cluster-name';
    const left = await Promise.all([
      clusters.east.list({ apiVersion: 'v1', kind: 'Event', namespace: LINKS_NAMESPACE }),
      clusters.east.list({ apiVersion: 'v1', kind: 'Event', namespace: 'shop' }),
      clusters.east.list({ apiVersion: 'v1', kind: 'Service', labelSelector: 'mirror.linkerd.io/federated' }),
      clusters.east.list({ apiVersion: 'v1', kind: 'Service', labelSelector: 'linkspan.dev/federation' }),
      clusters.east.list({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: LINKS_NAMESPACE }),
      clusters.east.list({ apiVersion: 'v1', kind: 'Service', labelSelector }),
      clusters.east.list({ apiVersion: 'v1', kind: 'Endpoints', labelSelector }),
    ]);
    const exported = await clusters.west.list({ apiVersion: 'v1', kind: 'Service', namespace: 'shop' });
    await Promise.all([
      ...[...bindings, link('west'), probe, ...left.flat()].map((object) => clusters.east.delete(object)),
      ...exported.map((object) => clusters.west.delete(object)),
    ]);
  };

  const startOperator = async (objects: readonly ApiJson[]): Promise<void> => {
    const rendered = await renderedOperator(clusters.eastCluster, clusters.east, objects, directory);
    operator = clusters.operator({ ...rendered, tuning: { renewedAfter: RENEWED_AFTER } });
  };

  const stopOperator = async (): Promise<void> => {
    await operator?.stop();
    operator = undefined;
  };

  const linkWest = async (): Promise<void> => {
    const account = { namespace: LINKS_NAMESPACE, name: 'linkerd-service-mirror-remote-access-east' };
    linkedWith = await requestToken(clusters.westCluster, account);
    await applySecret(clusters.eastCluster, credentials('west', clusters.westCluster.kubeconfigFor(linkedWith)));
    const federated = { federation: 'gateway', federatedServiceSelector: { matchLabels: MEMBER } };
    await clusters.east.apply(link('west', { ...federated, ...linkSpec }));
  };

  const isRenewed = async (): Promise<boolean> => {
    const secret = await clusters.get<ApiJson & { readonly data: Record<string, string> }>(
      'Secret',
      'cluster-credentials-west',
      LINKS_NAMESPACE,
    );
    const kubeconfig = Buffer.from(secret?.data['kubeconfig'] ?? '', 'base64').toString();
    return kubeconfig !== '' && !kubeconfig.includes(linkedWith);
  };

  const exportService = async (name: string, within = 'shop'): Promise<void> => {
    await clusters.west.apply(service(name, { labels: EXPORTED, namespace: within }));
    await clusters.west.apply(slice(name, { namespace: within }));
  };

  const memberReason = async (name: string): Promise<string | undefined> => {
    const found = await clusters.get<LinkObject>('Link', 'west', LINKS_NAMESPACE);
    return found?.status?.federatedServices?.find(({ remoteRef }) => remoteRef.name === name)?.conditions[0]?.reason;
  };

  const isReady = async (name: string, within = 'shop'): Promise<boolean> =>
    (await clusters.addresses(name, within))?.[0] === '203.0.113.10';

  const isGone = async (name: string, within = 'shop'): Promise<boolean> =>
    (await clusters.get('Service', name, within)) === undefined;

  /** Numbers of the times that Events were recorded. */
  const eventCounts = async (within: string): Promise<readonly number[]> => {
    const events = { apiVersion: 'v1', kind: 'Event', namespace: within };
    return (await clusters.east.list<{ readonly count?: number }>(events)).map(({ count = 1 }) => count);
  };

  const isRepeated = async (within: string): Promise<boolean> => (await eventCounts(within)).some((count) => count > 1);

  const portOf = async (object: ObjectRef): Promise<number | undefined> =>
    (await clusters.east.get<ServiceObject>(object))?.spec.ports[0]?.port;

  /** As another field manager: what is then applied beside it names one port twice, which the API server refuses. */
  const putPort = async (object: ObjectRef, port: number): Promise<void> => {
    const name = (await clusters.east.get<ServiceObject>(object))?.spec.ports[0]?.name;
    await clusters.east.patch(object, { spec: { ports: [{ name, port }] } });
  };

  /** Everything that the operator does in its own cluster, each right used at least once; v1 Endpoints. */
  const wholeLife = (objects: readonly ApiJson[]): readonly Step[] => {
    const n = turn;
    const within = (kind: string, name: string) => ({
      apiVersion: 'v1',
      kind,
      metadata: { name, namespace: 'shop', labels: { whose: 'ours' } },
    });
    return [
      {
        name: 'a Service is mirrored',
        act: async () => {
          await exportService(`web-${n}`);
          await linkWest();
          await startOperator(objects);
        },
        done: () => isReady(`web-${n}-west`),
      },
      {
        name: 'a StatefulSet is mirrored pod by pod',
        act: async () => {
          await clusters.west.apply(service(`db-${n}`, { labels: EXPORTED, headless: true }));
          await clusters.west.apply(statefulSlice(`db-${n}`, [`db-${n}-0`]));
        },
        done: async () => Object.keys((await hostsOf(clusters, `db-${n}-west`)) ?? {}).length === 1,
      },
      {
        name: 'names that others have are left to them',
        act: async () => {
          await clusters.east.apply({
            ...within('Service', `mine-${n}-west`),
            spec: { ports: [{ port: 80 }] },
          } as ObjectRef);
          await clusters.east.apply(within('Endpoints', `odd-${n}-west`));
          await exportService(`mine-${n}`);
          await exportService(`odd-${n}`);
        },
        done: async () => {
          const conditions = await Promise.all([`mine-${n}`, `odd-${n}`].map((name) => clusters.mirrorCondition(name)));
          return conditions.every((condition) => condition?.reason === 'NameConflict');
        },
      },
      {
        name: 'a federated Service leads through the gateway',
        act: async () => {
          await clusters.west.apply(service(`fed-${n}`, { labels: MEMBER }));
          await clusters.west.apply(slice(`fed-${n}`, { labels: MEMBER }));
        },
        done: async () => (await clusters.get('EndpointSlice', `fed-${n}-federated.west-ipv4`)) !== undefined,
      },
      {
        name: 'a slice that another has is left to them',
        act: async () => {
          await clusters.east.apply(slice('others', { name: `odd-${n}-federated.west-ipv4`, labels: {} }));
          await clusters.west.apply(service(`odd-${n}`, { labels: { ...EXPORTED, ...MEMBER } }));
        },
        done: async () => (await memberReason(`odd-${n}`)) === 'NameConflict',
      },
      {
        name: 'a local Service that cannot join is reported',
        act: () => clusters.east.apply(service(`here-${n}`, { labels: MEMBER, headless: true })),
        done: async () => (await eventCounts('shop')).length > 0,
      },
      {
        name: 'a port that another manager put in place of ours is put right',
        act: () => putPort(mirrorOf(`web-${n}`), 8443),
        done: async () => (await portOf(mirrorOf(`web-${n}`))) !== 8443,
      },
      {
        name: 'a slice that it wrote when it wrote slices is removed',
        act: () => {
          const labels = {
            'mirror.linkerd.io/mirrored-service': 'true',
            'mirror.linkerd.io/cluster-name': 'west',
            'endpointslice.kubernetes.io/managed-by': 'linkspan.dev',
          };
          const stale = slice(`web-${n}-west`, { name: `web-${n}-west-ipv4` });
          const manifest = {
            ...stale,
            metadata: { ...stale.metadata, labels: { ...labels, 'kubernetes.io/service-name': `web-${n}-west` } },
          };
          return clusters.east.apply(manifest);
        },
        done: async () => (await clusters.get('EndpointSlice', `web-${n}-west-ipv4`)) === undefined,
      },
      {
        name: 'the death of the gateway reaches the mirrors',
        act: () => clusters.gateway.die(),
        done: async () => (await clusters.addresses(`web-${n}-west`))?.[0] === '!203.0.113.10',
      },
      {
        name: 'an Event from before a restart is recorded again',
        act: async () => {
          await clusters.gateway.revive();
          await stopOperator();
          await startOperator(objects);
        },
        done: async () => (await isRepeated(LINKS_NAMESPACE)) && (await isRepeated('shop')),
      },
      {
        name: 'an unexport takes the mirror away',
        act: () =>
          clusters.west.patch(service(`web-${n}`), { metadata: { labels: { 'mirror.linkerd.io/exported': null } } }),
        done: async () =>
          (await isGone(`web-${n}-west`)) && (await clusters.get('Endpoints', `web-${n}-west`)) === undefined,
      },
      { name: 'the token is renewed', act: () => Promise.resolve(), done: isRenewed },
      {
        name: 'a deleted Link takes everything away, its Lease included',
        act: () => clusters.east.delete(link('west')),
        done: async () =>
          (await isGone(`db-${n}-west`)) &&
          (await isGone(`fed-${n}-federated`)) &&
          (await clusters.get('Lease', 'service-mirror-write-west', LINKS_NAMESPACE)) === undefined,
      },
    ];
  };

  /** What differs with EndpointSlices in place of Endpoints. */
  const sliceLife = (objects: readonly ApiJson[]): readonly Step[] => {
    const n = turn;
    return [
      {
        name: 'a Service is mirrored with a slice',
        act: async () => {
          await exportService(`web-${n}`);
          await linkWest();
          await startOperator(objects);
        },
        done: async () => (await clusters.get('EndpointSlice', `web-${n}-west-ipv4`)) !== undefined,
      },
      {
        name: 'a slice that another has is left to them',
        act: async () => {
          await clusters.east.apply(slice('others', { name: `odd-${n}-west-ipv4`, labels: {} }));
          await exportService(`odd-${n}`);
        },
        done: async () => (await clusters.mirrorCondition(`odd-${n}`))?.reason === 'NameConflict',
      },
      {
        name: 'Endpoints that it wrote when it wrote Endpoints are removed',
        act: () => {
          const labels = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
          const metadata = { name: `web-${n}-west`, namespace: 'shop', labels };
          return clusters.east.apply({ apiVersion: 'v1', kind: 'Endpoints', metadata });
        },
        done: async () => (await clusters.get('Endpoints', `web-${n}-west`)) === undefined,
      },
      {
        name: 'an unexport takes the slice away',
        act: () =>
          clusters.west.patch(service(`web-${n}`), { metadata: { labels: { 'mirror.linkerd.io/exported': null } } }),
        done: async () =>
          (await isGone(`web-${n}-west`)) && (await clusters.get('EndpointSlice', `web-${n}-west-ipv4`)) === undefined,
      },
    ];
  };

  /** With rights that end at some namespaces, the operator's own is one of them: the probe Service is there. */
  const limitedLife = (objects: readonly ApiJson[]): readonly Step[] => {
    const [first, ...others] = wholeLife(objects) as [Step, ...Step[]];
    const isOurs = async (): Promise<boolean> =>
      (await clusters.east.get<ApiJson>(probe))?.metadata.labels?.['mirror.linkerd.io/mirrored-gateway'] === 'true';
    return [
      {
        name: 'somebody has Endpoints of the name of the probe Service',
        act: () => clusters.east.apply(probeEndpoints),
        done: async () => true,
      },
      first,
      { name: 'it is taken up when it is free', act: () => clusters.east.delete(probeEndpoints), done: isOurs },
      {
        name: 'a port of the probe Service that another manager put in place of ours is put right',
        act: () => putPort(probe, 8443),
        done: async () => (await portOf(probe)) === 4191,
      },
      {
        name: 'a slice of the probe Service that it wrote when it wrote slices is removed',
        act: () => {
          const stale = slice('probe-west', { name: 'probe-west-ipv4', namespace: LINKS_NAMESPACE });
          const labels = {
            'mirror.linkerd.io/cluster-name': 'west',
            'endpointslice.kubernetes.io/managed-by': 'linkspan.dev',
            'kubernetes.io/service-name': 'probe-west',
          };
          return clusters.east.apply({ ...stale, metadata: { ...stale.metadata, labels } } as ObjectRef);
        },
        done: async () => (await clusters.get('EndpointSlice', 'probe-west-ipv4', LINKS_NAMESPACE)) === undefined,
      },
      ...others,
      {
        name: 'the probe Service goes with the Link',
        act: async () => undefined,
        done: async () => (await clusters.east.get(probe)) === undefined,
      },
    ];
  };

  /** A member joins on a flat network, since the control plane has credentials of its cluster. */
  const flatLife = (objects: readonly ApiJson[]): readonly Step[] => [
    {
      name: 'a member joins',
      act: async () => {
        await clusters.west.apply(service(`flat-${turn}`, { labels: MEMBER }));
        await linkWest();
        await startOperator(objects);
      },
      done: async () => (await memberReason(`flat-${turn}`)) === 'Mirrored',
    },
  ];

  const namespaceLife = (objects: readonly ApiJson[]): readonly Step[] => {
    const n = turn;
    return [
      {
        name: 'a namespace is made for a mirror',
        act: async () => {
          await clusters.west.apply(namespace(`new-${n}`));
          await exportService('web', `new-${n}`);
          await linkWest();
          await startOperator(objects);
        },
        done: () => isReady('web-west', `new-${n}`),
      },
      {
        name: 'a namespace that is being deleted is looked at',
        act: async () => {
          await clusters.east.apply(namespace(`leaving-${n}`));
          await clusters.east.delete(namespace(`leaving-${n}`));
          await clusters.west.apply(namespace(`leaving-${n}`));
          await exportService('web', `leaving-${n}`);
        },
        done: async () => (await clusters.mirrorCondition('web', `leaving-${n}`))?.reason === 'MissingNamespace',
      },
    ];
  };

  /** What differs with the MCS API. */
  const importLife = (objects: readonly ApiJson[]): readonly Step[] => {
    const n = turn;
    const named = (kind: string, name: string): ObjectRef => ({
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind,
      metadata: { name, namespace: 'shop' },
    });
    const exportFrom = async (cluster: Api, name: string): Promise<void> => {
      await cluster.apply(service(name));
      await cluster.apply(slice(name, { labels: {} }));
      await cluster.apply(named('ServiceExport', name));
    };
    interface Reporting {
      readonly metadata: { readonly annotations?: object };
      readonly spec?: { readonly ports?: readonly object[] };
      readonly status?: {
        readonly clusters?: readonly { readonly cluster: string }[];
        readonly conditions?: readonly { readonly type: string; readonly reason: string }[];
      };
    }
    const get = (kind: string, name: string) => clusters.east.get<ObjectRef & Reporting>(named(kind, name));
    const importedFrom = async (name: string): Promise<string | undefined> =>
      (await get('ServiceImport', name))?.status?.clusters?.map(({ cluster }) => cluster).join();
    return [
      {
        name: 'a Service that the target exports is imported',
        act: async () => {
          await exportFrom(clusters.west, `imp-${n}`);
          await linkWest();
          await startOperator(objects);
        },
        done: async () => (await importedFrom(`imp-${n}`)) === 'west',
      },
      {
        name: 'a ServiceImport that another has is left to them',
        act: async () => {
          const spec = { type: 'ClusterSetIP', ports: [{ port: 80, protocol: 'TCP' }] };
          await clusters.east.apply({ ...named('ServiceImport', `own-${n}`), spec } as ObjectRef);
          await exportFrom(clusters.west, `own-${n}`);
          await exportFrom(clusters.west, `last-${n}`);
        },
        done: async () =>
          (await importedFrom(`last-${n}`)) === 'west' && (await importedFrom(`own-${n}`)) === undefined,
      },
      {
        name: 'annotations of others that leave no room for those of the export give way',
        act: async () => {
          await stopOperator();
          const theirs = { 'example.com/theirs': 'x'.repeat(260_000) };
          await clusters.east.patch(named('ServiceImport', `imp-${n}`), { metadata: { annotations: theirs } });
          const exportedAnnotations = { 'example.com/ours': 'x'.repeat(4_000) };
          await clusters.west.patch(named('ServiceExport', `imp-${n}`), { spec: { exportedAnnotations } });
          await startOperator(objects);
        },
        done: async () => {
          const { annotations = {} } = (await get('ServiceImport', `imp-${n}`))?.metadata ?? {};
          return 'example.com/ours' in annotations && !('example.com/theirs' in annotations);
        },
      },
      {
        name: 'a Service of this cluster is exported, and its export reports on itself',
        act: () => exportFrom(clusters.east, `imp-${n}`),
        done: async () => {
          const { conditions } = (await get('ServiceExport', `imp-${n}`))?.status ?? {};
          return (
            conditions?.some(({ type, reason }) => type === 'Valid' && reason === 'Valid') === true &&
            (await importedFrom(`imp-${n}`)) === 'local,west'
          );
        },
      },
      {
        name: 'an export that names no Service is reported',
        act: () => clusters.east.apply(named('ServiceExport', `none-${n}`)),
        done: async () => (await eventCounts('shop')).length > 0,
      },
      {
        name: 'ServiceImports go with the last export',
        act: async () => {
          for (const cluster of [clusters.east, clusters.west])
            for (const name of [`imp-${n}`, `own-${n}`, `last-${n}`, `none-${n}`])
              await cluster.delete(named('ServiceExport', name));
        },
        done: async () =>
          (await get('ServiceImport', `imp-${n}`)) === undefined &&
          (await get('ServiceImport', `last-${n}`)) === undefined &&
          (await isGone(`imp-${n}-clusterset`)),
      },
    ];
  };

  /** What differs with ServiceFailovers. */
  const failoverLife = (objects: readonly ApiJson[]): readonly Step[] => {
    const n = turn;
    const ofKinds = [
      { kind: 'HTTPRoute', version: 'v1', name: `web-${n}` },
      { kind: 'GRPCRoute', version: 'v1', name: `rpc-${n}` },
      { kind: 'TCPRoute', version: 'v1alpha2', name: `db-${n}` },
    ];
    const routeOf = ({ kind, version, name }: (typeof ofKinds)[number]): ObjectRef => ({
      apiVersion: `gateway.networking.k8s.io/${version}`,
      kind,
      metadata: { name: `${name}-80`, namespace: 'shop' },
    });
    const failoverOf = ({ kind, name }: (typeof ofKinds)[number]): ObjectRef & { readonly spec: object } => ({
      apiVersion: 'linkspan.dev/v1alpha1',
      kind: 'ServiceFailover',
      metadata: { name, namespace: 'shop' },
      spec: { service: name, backends: [{ service: name }, { service: 'spare' }], holdDown: '0', routeKind: kind },
    });
    const forEach = (act: (of: (typeof ofKinds)[number]) => Promise<unknown>): Promise<unknown> =>
      Promise.all(ofKinds.map(act));
    const areAll = async (is: (of: (typeof ofKinds)[number]) => Promise<boolean>): Promise<boolean> =>
      (await Promise.all(ofKinds.map(is))).every(Boolean);
    const activeOf = async (of: (typeof ofKinds)[number]): Promise<string | undefined> =>
      (await clusters.east.get<{ readonly status?: { readonly active?: string } }>(failoverOf(of)))?.status?.active;
    const pods = (ready: boolean) =>
      forEach(({ name }) => clusters.east.apply(slice(name, { labels: {}, endpoints: [{ ready }] })));
    return [
      {
        name: 'routes of others with the names of ours are left to them',
        act: async () => {
          await clusters.east.apply(service('spare'));
          await clusters.east.apply(slice('spare', { labels: {} }));
          await forEach(async (of) => {
            await clusters.east.apply(service(of.name));
            await clusters.east.apply({
              ...routeOf(of),
              spec: { rules: [{ backendRefs: [{ name: 'spare', port: 80 }] }] },
            } as ObjectRef);
            await clusters.east.apply(failoverOf(of));
          });
          await pods(true);
          await startOperator(objects);
        },
        done: () =>
          areAll(async (of) => {
            const found = await clusters.east.get<{
              readonly status?: { readonly conditions?: readonly { readonly reason: string }[] };
            }>(failoverOf(of));
            return found?.status?.conditions?.[0]?.reason === 'NameConflict';
          }),
      },
      {
        name: 'and made when they are free',
        act: () => forEach((of) => clusters.east.delete(routeOf(of))),
        done: () =>
          areAll(
            async (of) => (await clusters.east.get(routeOf(of))) !== undefined && (await activeOf(of)) === of.name,
          ),
      },
      {
        name: 'requests go to another backend',
        act: () => pods(false),
        done: () => areAll(async (of) => (await activeOf(of)) === 'spare'),
      },
      { name: 'and back', act: () => pods(true), done: () => areAll(async (of) => (await activeOf(of)) === of.name) },
      {
        name: 'and again, which an Event from before a restart counts',
        act: async () => {
          await stopOperator();
          await startOperator(objects);
          await pods(false);
        },
        done: () => isRepeated('shop'),
      },
      {
        name: 'a TrafficSplit of a user of linkerd-failover follows',
        act: () =>
          clusters.east.apply({
            ...splitRef(n),
            metadata: { ...splitRef(n).metadata, labels: { 'failover.linkerd.io/controlled-by': 'linkerd-failover' } },
            spec: {
              service: `web-${n}`,
              backends: [
                { service: `web-${n}`, weight: 1 },
                { service: 'spare', weight: 0 },
              ],
            },
          } as ObjectRef),
        done: async () => {
          const found = await clusters.east.get<{
            readonly spec: { readonly backends: readonly { readonly weight: number }[] };
          }>(splitRef(n));
          return found?.spec.backends.map(({ weight }) => weight).join() === '0,1';
        },
      },
      {
        name: 'routes go with their ServiceFailovers',
        act: () => forEach((of) => clusters.east.delete(failoverOf(of))),
        done: () => areAll(async (of) => (await clusters.east.get(routeOf(of))) === undefined),
      },
    ];
  };

  /** The whole of a life, with nothing refused on the way. */
  const live = async (steps: readonly Step[]): Promise<void> => {
    await Promise.all([clusters.eastCluster.clearAudit(), clusters.westCluster.clearAudit()]);
    for (const { name, act, done } of steps) {
      await act();
      await eventually(name, done, DEADLINE_MS);
    }
    expect(await refused(clusters.eastCluster, OPERATOR)).toEqual([]);
    expect(await refused(clusters.westCluster, REMOTE)).toEqual([]);
  };

  /** Names of the rights that no request took since the audit logs were cleared. */
  const unused = async (ofOperator: readonly Right[], ofRemote: readonly Right[] = []): Promise<readonly string[]> => {
    // What is watched is logged when it ends.
    await stopOperator();
    const [east, west] = await Promise.all([clusters.eastCluster.audit(), clusters.westCluster.audit()]);
    const notIn = (entries: readonly AuditEntry[], by: string) => {
      const requests = entries.filter(({ user }) => user === by);
      return (right: Right): boolean => !requests.some(took(right));
    };
    return [...ofOperator.filter(notIn(east, OPERATOR)), ...ofRemote.filter(notIn(west, REMOTE))].map(nameOf);
  };

  /** Whether a user has a right, as the API server sees it: it learns of a changed role a moment later. */
  const isAllowed = async (
    cluster: Api,
    user: string,
    right: Omit<Right, 'role'> & { readonly role: Pick<Role, 'metadata'> },
  ): Promise<boolean> => {
    const { role, group, resource, name, verb } = right;
    const [plural, subresource] = resource.split('/');
    const within = role.metadata.namespace;
    const resourceAttributes = { group, resource: plural, subresource, name, verb, namespace: within };
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, groups: ['system:serviceaccounts', 'system:authenticated'], resourceAttributes },
    };
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    const answer = await cluster.request<{ readonly status: { readonly allowed: boolean } }>('POST', path, { body });
    return answer.body.status.allowed;
  };

  /** Puts roles in place and waits until they hold. */
  const grant = async (cluster: Api, user: string, objects: readonly ApiJson[]): Promise<void> => {
    await applyAll(cluster, objects);
    await Promise.all(
      rightsOf(objects).map((right) => eventually(nameOf(right), () => isAllowed(cluster, user, right), DEADLINE_MS)),
    );
  };

  /** While the target is read by what `within` grants, in one namespace, and no more. */
  const limited = async (within: () => Promise<void>): Promise<void> => {
    linkSpec = { targetNamespaces: ['shop'] };
    const binding = remoteObjects.find(({ kind }) => kind === 'ClusterRoleBinding')!;
    await clusters.west.delete(binding);
    try {
      await within();
    } finally {
      await operator?.stop();
      for (const object of remoteLimited.filter(({ kind }) => kind === 'RoleBinding'))
        await clusters.west.delete(object);
      await grant(clusters.west, REMOTE, remoteObjects);
    }
  };

  describe('are enough, and all of them are used', { timeout: TIMEOUT_MS }, () => {
    const plain = operatorObjects();
    /** The rights beyond those of an operator in the whole cluster that writes Endpoints. */
    const beyondPlain = (objects: readonly ApiJson[]): readonly Right[] => {
      const known = new Set(rightsOf(plain).map(nameOf));
      return rightsOf(objects).filter((right) => !known.has(nameOf(right)));
    };

    test('in the whole cluster', async () => {
      await grant(clusters.east, OPERATOR, plain);
      await live(wholeLife(plain));
      expect(await unused(rightsOf(plain), withoutMcs(remoteObjects))).toEqual([]);
    });

    test('to write EndpointSlices', async () => {
      const objects = operatorObjects({ endpoints: 'slices' });
      await grant(clusters.east, OPERATOR, objects);
      await live(sliceLife(objects));
      expect(await unused(beyondPlain(objects))).toEqual([]);
    });

    test('to have members on a flat network', async () => {
      const objects = operatorObjects({ flat: true });
      await clusters.east.apply(namespace('linkerd'));
      await clusters.east.apply(discoveryCredentials('west'));
      await grant(clusters.east, OPERATOR, objects);
      linkSpec = { federation: 'flat' };
      await live(flatLife(objects));
      expect(await unused(beyondPlain(objects))).toEqual([]);
    });

    test('to have members on a flat network, where it may read one Secret of the control plane', async () => {
      const objects = operatorObjects({ ...LIMITED, flat: true });
      await grant(clusters.east, OPERATOR, objects);
      linkSpec = { federation: 'flat' };
      await live(flatLife(objects));
      expect(await unused(rightsOf(objects).filter(({ role }) => role.metadata.namespace === 'linkerd'))).toEqual([]);
    });

    test('to serve ServiceFailovers', async () => {
      const serviceProfile = stubCrd('linkerd.io', 'v1alpha2', 'ServiceProfile', 'serviceprofiles');
      const policyRoute = stubCrd('policy.linkerd.io', 'v1beta3', 'HTTPRoute', 'httproutes');
      const trafficSplit = stubCrd('split.smi-spec.io', 'v1alpha2', 'TrafficSplit', 'trafficsplits');
      const crds = [
        failoverCrd as unknown as ObjectRef,
        serviceProfile,
        policyRoute,
        trafficSplit,
        ...httpRouteCrds(),
        tcpRouteCrd(),
      ];
      for (const crd of crds) await installCrd(clusters.eastCluster, crd);
      const objects = operatorObjects({ failover: true });
      await grant(clusters.east, OPERATOR, objects);
      await live(failoverLife(objects));
      expect(await unused(beyondPlain(objects))).toEqual([]);
    });

    describe('to import by the MCS API', () => {
      beforeAll(async () => {
        for (const cluster of [clusters.eastCluster, clusters.westCluster])
          for (const crd of mcsCrds) await installCrd(cluster, crd);
      }, 60_000);

      test('in the whole cluster', async () => {
        const objects = operatorObjects({ serviceImports: true });
        await grant(clusters.east, OPERATOR, objects);
        await live(importLife(objects));
        expect(await unused(beyondPlain(objects), rightsOf(remoteObjects).filter(isOfMcs))).toEqual([]);
      });

      test('where they are limited to namespaces on both sides', async () => {
        const objects = operatorObjects({ ...LIMITED, serviceImports: true });
        await grant(clusters.east, OPERATOR, objects);
        await limited(async () => {
          await grant(clusters.west, REMOTE, remoteLimited);
          await live(importLife(objects));
        });
        const ofMcs = [objects, remoteLimited].map((each) => rightsOf(each).filter(isOfMcs));
        expect(await unused(ofMcs[0]!, ofMcs[1])).toEqual([]);
      });
    });

    test('to make namespaces', async () => {
      const objects = operatorObjects({ enableNamespaceCreation: true });
      await grant(clusters.east, OPERATOR, objects);
      await live(namespaceLife(objects));
      expect(await unused(beyondPlain(objects))).toEqual([]);
    });

    test('where they are limited to namespaces on both sides, and no further', async () => {
      const objects = operatorObjects(LIMITED);
      await grant(clusters.east, OPERATOR, objects);
      await limited(async () => {
        await grant(clusters.west, REMOTE, remoteLimited);
        await live(limitedLife(objects));
      });
      expect(await unused(rightsOf(objects), withoutMcs(remoteLimited))).toEqual([]);
      expect([...objects, ...remoteLimited].filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([]);
    });

    test.each([
      ['of the operator', plain],
      ['of the operator that imports', operatorObjects({ serviceImports: true })],
      ['of the operator that writes EndpointSlices', operatorObjects({ endpoints: 'slices' })],
      ['of the operator on a flat network', operatorObjects({ flat: true })],
      ['of the operator that makes namespaces', operatorObjects({ enableNamespaceCreation: true })],
      ['of the operator that is limited to namespaces', operatorObjects(LIMITED)],
      ['in the target', remoteObjects],
      ['in one namespace of the target', remoteLimited],
    ])('and none is granted twice: %s', (_, objects) => {
      const rights = rightsOf(objects);
      expect(rights.length).toBeGreaterThan(0);
      expect(rights.filter((right) => rights.some(overlaps(right))).map(nameOf)).toEqual([]);
    });

    test.each([
      ['to services elsewhere', 'other', 'services', undefined],
      ['to services everywhere', undefined, 'services', undefined],
      ['to namespaces', undefined, 'namespaces', undefined],
      ['to other Secrets', LINKS_NAMESPACE, 'secrets', 'cluster-credentials-north'],
      ['to Secrets elsewhere', 'shop', 'secrets', 'cluster-credentials-west'],
    ])('where they are limited, and give none %s', async (_, within, resource, name) => {
      await grant(clusters.east, OPERATOR, operatorObjects(LIMITED));
      const role = { metadata: { name: 'none', ...(within !== undefined && { namespace: within }) } };
      for (const verb of ['get', 'list', 'watch', 'create', 'patch', 'delete']) {
        expect(await isAllowed(clusters.east, OPERATOR, { role, group: '', resource, name, verb }), verb).toBe(false);
      }
    });
  });
});
