/**
 * H6: the operator with the rights that the constructs render, on API servers that enforce them. Everything works with
 * these rights, and every single one is needed: each is taken away in turn, and is then missed.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MirrorOperator, type MirrorOperatorProps } from '../../constructs/operator/mirror-operator.ts';
import { RemoteAccess } from '../../constructs/gateway/remote-access.ts';
import { type ApiJson, render } from '../../constructs/mirror/render.ts';
import type { AuditEntry, TestCluster } from '../cluster/index.ts';
import { onReal } from '../cluster/on-each-backing.ts';
import { type Api, eventually, type ObjectRef } from '../cluster/workload/index.ts';
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
import type { ServiceObject } from '../support/objects.ts';
import { renderedOperator, serviceAccountUser } from '../support/rendered-operator.ts';
import { LASTING_LEASE, type TestOperator } from '../support/operator.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const DEADLINE_MS = 60_000;
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

/** A role without one of its rights. */
const without = ({ role, group, resource, verb }: Right): Role => ({
  ...role,
  rules: role.rules.flatMap((rule) => {
    if (!rule.apiGroups.includes(group) || !rule.resources.includes(resource)) return [rule];
    return [
      { ...rule, resources: rule.resources.filter((each) => each !== resource) },
      { ...rule, resources: [resource], verbs: rule.verbs.filter((each) => each !== verb) },
    ].filter(({ resources, verbs }) => resources.length > 0 && verbs.length > 0);
  }),
});

const operatorObjects = (props: Partial<MirrorOperatorProps> = {}): readonly ApiJson[] =>
  render((chart) => {
    new MirrorOperator(chart, 'operator', {
      image: 'linkspan:test',
      enableHeadlessServices: true,
      ...LASTING_LEASE,
      ...props,
    });
  });

const remoteAccess = (namespaces?: readonly string[]): readonly ApiJson[] =>
  render((chart) => {
    new RemoteAccess(chart, 'remote', { sourceCluster: 'east', namespaces });
  });

const remoteObjects = remoteAccess();

/** Both sides limited to one namespace, and to the Secret of the one Link. */
const LIMITED = { mirrorNamespaces: ['shop'], credentialsSecrets: ['cluster-credentials-west'] };
const remoteLimited = remoteAccess(['shop']);

const probe = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'probe-west', namespace: LINKS_NAMESPACE } };
const probeEndpoints = { ...probe, kind: 'Endpoints' };

/** The mirror of a Service in namespace shop. */
const mirrorOf = (name: string): ObjectRef => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: `${name}-west`, namespace: 'shop' },
});

/**
 * Whether a request that was carried out took a right. Creation by server-side apply is logged as the patch it also is.
 */
const took =
  ({ role, resource: full, group, name, verb }: Right) =>
  (entry: AuditEntry): boolean => {
    const [resource, subresource] = full.split('/');
    const isVerb = entry.verb === verb || (verb === 'create' && entry.verb === 'patch' && entry.code === 201);
    return (
      entry.code !== 403 &&
      isVerb &&
      entry.group === group &&
      entry.resource === resource &&
      entry.subresource === subresource &&
      entry.namespace === role.metadata.namespace &&
      (name === undefined || entry.uri.includes(`metadata.name%3D${name}`))
    );
  };

/** Requests of a user that were refused for want of a right; those that its own namespace's end refuses are not. */
const refused = async (cluster: TestCluster, user: string): Promise<readonly AuditEntry[]> =>
  (await cluster.audit()).filter(
    (entry) => entry.code === 403 && entry.user === user && !entry.namespace?.startsWith('leaving'),
  );

onReal('H6: the rights that the constructs render', () => {
  let clusters: TwoClusters;
  let directory: string;
  let operator: TestOperator | undefined;
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
      west: { controllers: ['serviceaccount-token-controller'] },
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

  const applyAll = async (cluster: Api, objects: readonly ApiJson[]): Promise<void> => {
    for (const object of objects) await cluster.apply(object);
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

  /** Kubernetes' token controller fills the Secret that the construct rendered. */
  const remoteToken = (): Promise<string> =>
    eventually('the token is minted', async () => {
      const secret = remoteObjects.find(({ kind }) => kind === 'Secret')!;
      const found = await clusters.west.get<{ readonly data?: { readonly token?: string } }>(secret);
      return found?.data?.token === undefined ? undefined : Buffer.from(found.data.token, 'base64').toString();
    });

  const startOperator = async (objects: readonly ApiJson[]): Promise<void> => {
    operator = clusters.operator(await renderedOperator(clusters.eastCluster, clusters.east, objects, directory));
  };

  const stopOperator = async (): Promise<void> => {
    await operator?.stop();
    operator = undefined;
  };

  const linkWest = async (): Promise<void> => {
    await clusters.east.apply(credentials('west', clusters.westCluster.kubeconfigFor(await remoteToken())));
    await clusters.east.apply(link('west', linkSpec));
  };

  const exportService = async (name: string, within = 'shop'): Promise<void> => {
    await clusters.west.apply(service(name, { labels: EXPORTED, namespace: within }));
    await clusters.west.apply(slice(name, { namespace: within }));
  };

  const isReady = async (name: string, within = 'shop'): Promise<boolean> =>
    (await clusters.addresses(name, within))?.[0] === '203.0.113.10';

  const isGone = async (name: string, within = 'shop'): Promise<boolean> =>
    (await clusters.get('Service', name, within)) === undefined;

  /** Number of Events that were recorded more than once. */
  const repeatedEvents = async (): Promise<number> => {
    const events = await clusters.east.list<{ readonly count?: number }>({
      apiVersion: 'v1',
      kind: 'Event',
      namespace: LINKS_NAMESPACE,
    });
    return events.filter(({ count = 1 }) => count > 1).length;
  };

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
        done: async () => (await repeatedEvents()) > 0,
      },
      {
        name: 'an unexport takes the mirror away',
        act: () =>
          clusters.west.patch(service(`web-${n}`), { metadata: { labels: { 'mirror.linkerd.io/exported': null } } }),
        done: async () =>
          (await isGone(`web-${n}-west`)) && (await clusters.get('Endpoints', `web-${n}-west`)) === undefined,
      },
      {
        name: 'a deleted Link takes everything away, its Lease included',
        act: () => clusters.east.delete(link('west')),
        done: async () =>
          (await isGone(`db-${n}-west`)) &&
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

  /** A life without a right: it goes on until that right is missed. */
  const liveWithout = async (
    steps: readonly Step[],
    cluster: TestCluster,
    user: string,
    right: Right,
  ): Promise<void> => {
    const [resource, subresource] = right.resource.split('/');
    const isMissed = async (): Promise<boolean> =>
      (await cluster.audit()).some(
        (entry) =>
          entry.code === 403 && entry.user === user && entry.resource === resource && entry.subresource === subresource,
      );
    await cluster.clearAudit();
    for (const { name, act, done } of steps) {
      await act().catch(async (error: unknown) => {
        if (!(await isMissed())) throw error;
      });
      await eventually(
        `${name}, or fails for want of the right`,
        async () => (await isMissed()) || (await done()),
        DEADLINE_MS,
      );
      if (await isMissed()) return;
    }
    expect.unreachable(`nothing needs ${nameOf(right)}`);
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
  const grant = async (cluster: Api, user: string, objects: readonly ApiJson[], missing?: Right): Promise<void> => {
    await applyAll(cluster, objects);
    if (missing !== undefined) await applyAll(cluster, [without(missing)]);
    await Promise.all(
      rightsOf(objects).map((right) => {
        const wanted = missing === undefined || nameOf(right) !== nameOf(missing);
        return eventually(nameOf(right), async () => (await isAllowed(cluster, user, right)) === wanted, DEADLINE_MS);
      }),
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

  describe('are enough', { timeout: TIMEOUT_MS }, () => {
    test('in the whole cluster', async () => {
      const objects = operatorObjects();
      await grant(clusters.east, OPERATOR, objects);
      await live(wholeLife(objects));
    });

    test('to write EndpointSlices', async () => {
      const objects = operatorObjects({ endpoints: 'slices' });
      await grant(clusters.east, OPERATOR, objects);
      await live(sliceLife(objects));
    });

    test('to make namespaces', async () => {
      const objects = operatorObjects({ enableNamespaceCreation: true });
      await grant(clusters.east, OPERATOR, objects);
      await live(namespaceLife(objects));
    });

    test('where they are limited to namespaces on both sides, no further, and all of them are used', async () => {
      const objects = operatorObjects(LIMITED);
      await grant(clusters.east, OPERATOR, objects);
      await limited(async () => {
        await grant(clusters.west, REMOTE, remoteLimited);
        await live(limitedLife(objects));
      });
      // What is watched is logged when it ends.
      await stopOperator();
      const [east, west] = await Promise.all([clusters.eastCluster.audit(), clusters.westCluster.audit()]);
      const unused = [
        ...rightsOf(objects).filter((right) => !east.filter(({ user }) => user === OPERATOR).some(took(right))),
        ...rightsOf(remoteLimited).filter((right) => !west.filter(({ user }) => user === REMOTE).some(took(right))),
      ];
      expect(unused.map(nameOf)).toEqual([]);
      expect([...objects, ...remoteLimited].filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([]);
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

  describe('are needed, each of them', { timeout: TIMEOUT_MS }, () => {
    const plain = operatorObjects();
    const sliced = operatorObjects({ endpoints: 'slices' });
    const creating = operatorObjects({ enableNamespaceCreation: true });
    const limitedObjects = operatorObjects(LIMITED);
    const names = (rights: readonly Right[]): ReadonlySet<string> => new Set(rights.map(nameOf));
    const beyondPlain = (objects: readonly ApiJson[]): readonly Right[] => {
      const known = names(rightsOf(plain));
      return rightsOf(objects).filter((right) => !known.has(nameOf(right)));
    };
    const cases = [
      ...rightsOf(plain).map((right) => ({ right, objects: plain, life: wholeLife })),
      ...beyondPlain(sliced).map((right) => ({ right, objects: sliced, life: sliceLife })),
      ...beyondPlain(creating).map((right) => ({ right, objects: creating, life: namespaceLife })),
      ...beyondPlain(limitedObjects).map((right) => ({ right, objects: limitedObjects, life: limitedLife })),
    ].map((each) => [nameOf(each.right), each] as const);

    test.each(cases)('%s, in the source cluster', async (_, { right, objects, life }) => {
      await grant(clusters.east, OPERATOR, objects, right);
      await liveWithout(life(objects), clusters.eastCluster, OPERATOR, right);
    });

    test.each(rightsOf(remoteLimited).map((right) => [nameOf(right), right] as const))(
      '%s, in the target cluster',
      async (_, right) => {
        await grant(clusters.east, OPERATOR, plain);
        await limited(async () => {
          await grant(clusters.west, REMOTE, remoteLimited, right);
          await liveWithout(wholeLife(plain), clusters.westCluster, REMOTE, right);
        });
      },
    );

    const remoteCases = rightsOf(remoteObjects).map((right) => [nameOf(right), right] as const);

    test.each(remoteCases)('%s, in the target cluster', async (_, right) => {
      await grant(clusters.east, OPERATOR, plain);
      await grant(clusters.west, REMOTE, remoteObjects, right);
      try {
        await liveWithout(wholeLife(plain), clusters.westCluster, REMOTE, right);
      } finally {
        await grant(clusters.west, REMOTE, remoteObjects);
      }
    });
  });
});
