/**
 * H6: the operator with the rights that the constructs render, on API servers that enforce them. Everything works with
 * these rights, and every single one is needed: each is taken away in turn, and is then missed.
 */
import { Command } from 'commander';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MirrorOperator, type MirrorOperatorProps } from '../../constructs/mirror-operator.ts';
import { RemoteAccess } from '../../constructs/remote-access.ts';
import { type ApiJson, render } from '../../constructs/render.ts';
import { addOperatorFlags, type FlagValue } from '../../operator/config.ts';
import type { AuditEntry, TestCluster } from '../cluster/index.ts';
import { onReal } from '../cluster/on-each-backing.ts';
import { type Api, eventually, type ObjectRef } from '../cluster/workload.ts';
import { credentials, EXPORTED, link, namespace, service, slice, statefulSlice } from '../support/builders.ts';
import { hostsOf } from '../support/exports.ts';
import { LASTING_LEASE, LINKS_NAMESPACE, type TestOperator, World } from '../support/world.ts';

const DEADLINE_MS = 60_000;
const TIMEOUT_MS = 180_000;
const OPERATOR = `system:serviceaccount:${LINKS_NAMESPACE}:linkspan-operator`;
const REMOTE = `system:serviceaccount:${LINKS_NAMESPACE}:linkerd-service-mirror-remote-access-east`;

interface Role extends ApiJson {
  readonly rules: readonly Rule[];
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** One verb on one resource, granted by one role. */
interface Right {
  readonly role: Role;
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
}

/** Something that is done to the clusters, and what becomes of it. */
interface Step {
  readonly name: string;
  readonly act: () => Promise<unknown>;
  readonly done: () => Promise<boolean>;
}

interface Deployment {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] } };
  };
}

const isRole = (object: ApiJson): object is Role => object.kind === 'Role' || object.kind === 'ClusterRole';

const rightsOf = (objects: readonly ApiJson[]): readonly Right[] =>
  objects
    .filter(isRole)
    .flatMap((role) =>
      role.rules.flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) => verbs.map((verb) => ({ role, group, resource, verb }))),
        ),
      ),
    );

const nameOf = ({ role, group, resource, verb }: Right): string =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`} (${role.kind})`;

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

const remoteObjects = render((chart) => {
  new RemoteAccess(chart, 'remote', { sourceCluster: 'east' });
});

/** Requests of a user that were refused for want of a right; those that its own namespace's end refuses are not. */
const refused = async (cluster: TestCluster, user: string): Promise<readonly AuditEntry[]> =>
  (await cluster.audit()).filter(
    (entry) => entry.code === 403 && entry.user === user && !entry.namespace?.startsWith('leaving'),
  );

onReal('H6: the rights that the constructs render', () => {
  let world: World;
  let directory: string;
  let operator: TestOperator | undefined;
  /** Names of what a test makes end in its number. */
  let turn = 0;

  beforeAll(async () => {
    // As the Deployment sets it: it spares a look at Service default/kubernetes.
    process.env['POD_IPS'] = '10.244.0.1';
    directory = await mkdtemp(join(tmpdir(), 'linkspan-rights-'));
    world = await World.start({
      backing: 'real',
      west: { controllers: ['serviceaccount-token-controller'] },
      namespaces: ['shop', 'other'],
    });
    await world.west.apply(namespace(LINKS_NAMESPACE));
    await applyAll(world.west, remoteObjects);
  }, 120_000);
  afterAll(async () => {
    delete process.env['POD_IPS'];
    await world.stop();
    await rm(directory, { recursive: true });
  });
  beforeEach(() => {
    turn += 1;
  });
  afterEach(async () => {
    await operator?.stop();
    operator = undefined;
    await world.gateway.revive();
    await removeEverything();
  });

  const applyAll = async (cluster: Api, objects: readonly ApiJson[]): Promise<void> => {
    for (const object of objects) await cluster.apply(object);
  };

  /** What Links, the operator and its rights left. */
  const removeEverything = async (): Promise<void> => {
    for (const within of [undefined, LINKS_NAMESPACE, 'shop']) {
      const kind = within === undefined ? 'ClusterRoleBinding' : 'RoleBinding';
      const metadata = { name: 'linkspan-operator', ...(within !== undefined && { namespace: within }) };
      await world.east.delete({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata });
    }
    await world.east.delete(link('west'));
    for (const object of await world.east.list({ apiVersion: 'v1', kind: 'Event', namespace: LINKS_NAMESPACE })) {
      await world.east.delete(object);
    }
    const leases = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: LINKS_NAMESPACE };
    for (const object of await world.east.list(leases)) await world.east.delete(object);
    for (const kind of ['Service', 'Endpoints']) {
      for (const object of await world.east.list({
        apiVersion: 'v1',
        kind,
        labelSelector: 'mirror.linkerd.io/cluster-name',
      })) {
        await world.east.delete(object);
      }
    }
    for (const object of await world.west.list({ apiVersion: 'v1', kind: 'Service', namespace: 'shop' })) {
      await world.west.delete(object);
    }
  };

  /** Kubernetes' token controller fills the Secret that the construct rendered. */
  const remoteToken = (): Promise<string> =>
    eventually('the token is minted', async () => {
      const secret = remoteObjects.find(({ kind }) => kind === 'Secret')!;
      const found = await world.west.get<{ readonly data?: { readonly token?: string } }>(secret);
      return found?.data?.token === undefined ? undefined : Buffer.from(found.data.token, 'base64').toString();
    });

  /** The operator as its Deployment runs it, but for where it listens. */
  const startOperator = async (objects: readonly ApiJson[]): Promise<void> => {
    const path = `/api/v1/namespaces/${LINKS_NAMESPACE}/serviceaccounts/linkspan-operator/token`;
    const answer = await world.east.request<{ readonly status: { readonly token: string } }>('POST', path, {
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
    });
    const kubeconfigFile = join(directory, 'operator.kubeconfig');
    await writeFile(kubeconfigFile, world.eastCluster.kubeconfigFor(answer.body.status.token));
    const { spec } = objects.find(({ kind }) => kind === 'Deployment') as unknown as Deployment;
    const [subcommand, ...args] = spec.template.spec.containers[0]!.args;
    expect(subcommand).toBe('operator');
    const flags = addOperatorFlags(new Command()).parse(args, { from: 'user' }).opts<Record<string, FlagValue>>();
    operator = world.operator({ kubeconfigFile, flags: { ...flags, adminAddress: '127.0.0.1:0' } });
  };

  const stopOperator = async (): Promise<void> => {
    await operator?.stop();
    operator = undefined;
  };

  const linkWest = async (): Promise<void> => {
    await world.east.apply(credentials('west', world.westCluster.kubeconfigFor(await remoteToken())));
    await world.east.apply(link('west'));
  };

  const exportService = async (name: string, within = 'shop'): Promise<void> => {
    await world.west.apply(service(name, { labels: EXPORTED, namespace: within }));
    await world.west.apply(slice(name, { namespace: within }));
  };

  const isReady = async (name: string, within = 'shop'): Promise<boolean> =>
    (await world.addresses(name, within))?.[0] === '203.0.113.10';

  const isGone = async (name: string, within = 'shop'): Promise<boolean> =>
    (await world.get('Service', name, within)) === undefined;

  /** Events that were said more than once. */
  const repeatedEvents = async (): Promise<number> => {
    const events = await world.east.list<{ readonly count?: number }>({
      apiVersion: 'v1',
      kind: 'Event',
      namespace: LINKS_NAMESPACE,
    });
    return events.filter(({ count = 1 }) => count > 1).length;
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
          await world.west.apply(service(`db-${n}`, { labels: EXPORTED, headless: true }));
          await world.west.apply(statefulSlice(`db-${n}`, [`db-${n}-0`]));
        },
        done: async () => Object.keys((await hostsOf(world, `db-${n}-west`)) ?? {}).length === 1,
      },
      {
        name: 'names that others have are left to them',
        act: async () => {
          await world.east.apply({
            ...within('Service', `mine-${n}-west`),
            spec: { ports: [{ port: 80 }] },
          } as ObjectRef);
          await world.east.apply(within('Endpoints', `odd-${n}-west`));
          await exportService(`mine-${n}`);
          await exportService(`odd-${n}`);
        },
        done: async () => {
          const conditions = await Promise.all([`mine-${n}`, `odd-${n}`].map((name) => world.mirrorCondition(name)));
          return conditions.every((condition) => condition?.reason === 'NameConflict');
        },
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
          return world.east.apply(manifest);
        },
        done: async () => (await world.get('EndpointSlice', `web-${n}-west-ipv4`)) === undefined,
      },
      {
        name: 'the death of the gateway reaches the mirrors',
        act: () => world.gateway.die(),
        done: async () => (await world.addresses(`web-${n}-west`))?.[0] === '!203.0.113.10',
      },
      {
        name: 'what was said before a restart is said again',
        act: async () => {
          await world.gateway.revive();
          await stopOperator();
          await startOperator(objects);
        },
        done: async () => (await repeatedEvents()) > 0,
      },
      {
        name: 'an unexport takes the mirror away',
        act: () =>
          world.west.patch(service(`web-${n}`), { metadata: { labels: { 'mirror.linkerd.io/exported': null } } }),
        done: async () =>
          (await isGone(`web-${n}-west`)) && (await world.get('Endpoints', `web-${n}-west`)) === undefined,
      },
      {
        name: 'a deleted Link takes everything away, its Lease included',
        act: () => world.east.delete(link('west')),
        done: async () =>
          (await isGone(`db-${n}-west`)) &&
          (await world.get('Lease', 'service-mirror-write-west', LINKS_NAMESPACE)) === undefined,
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
        done: async () => (await world.get('EndpointSlice', `web-${n}-west-ipv4`)) !== undefined,
      },
      {
        name: 'a slice that another has is left to them',
        act: async () => {
          await world.east.apply(slice('others', { name: `odd-${n}-west-ipv4`, labels: {} }));
          await exportService(`odd-${n}`);
        },
        done: async () => (await world.mirrorCondition(`odd-${n}`))?.reason === 'NameConflict',
      },
      {
        name: 'Endpoints that it wrote when it wrote Endpoints are removed',
        act: () => {
          const labels = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
          const metadata = { name: `web-${n}-west`, namespace: 'shop', labels };
          return world.east.apply({ apiVersion: 'v1', kind: 'Endpoints', metadata });
        },
        done: async () => (await world.get('Endpoints', `web-${n}-west`)) === undefined,
      },
      {
        name: 'an unexport takes the slice away',
        act: () =>
          world.west.patch(service(`web-${n}`), { metadata: { labels: { 'mirror.linkerd.io/exported': null } } }),
        done: async () =>
          (await isGone(`web-${n}-west`)) && (await world.get('EndpointSlice', `web-${n}-west-ipv4`)) === undefined,
      },
    ];
  };

  const namespaceLife = (objects: readonly ApiJson[]): readonly Step[] => {
    const n = turn;
    return [
      {
        name: 'a namespace is made for a mirror',
        act: async () => {
          await world.west.apply(namespace(`new-${n}`));
          await exportService('web', `new-${n}`);
          await linkWest();
          await startOperator(objects);
        },
        done: () => isReady('web-west', `new-${n}`),
      },
      {
        name: 'a namespace that is being deleted is looked at',
        act: async () => {
          await world.east.apply(namespace(`leaving-${n}`));
          await world.east.delete(namespace(`leaving-${n}`));
          await world.west.apply(namespace(`leaving-${n}`));
          await exportService('web', `leaving-${n}`);
        },
        done: async () => (await world.mirrorCondition('web', `leaving-${n}`))?.reason === 'Error',
      },
    ];
  };

  /** The whole of a life, with nothing refused on the way. */
  const live = async (steps: readonly Step[]): Promise<void> => {
    await Promise.all([world.eastCluster.clearAudit(), world.westCluster.clearAudit()]);
    for (const { name, act, done } of steps) {
      await act();
      await eventually(name, done, DEADLINE_MS);
    }
    expect(await refused(world.eastCluster, OPERATOR)).toEqual([]);
    expect(await refused(world.westCluster, REMOTE)).toEqual([]);
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
  const isAllowed = async (cluster: Api, user: string, { role, group, resource, verb }: Right): Promise<boolean> => {
    const [plural, subresource] = resource.split('/');
    const within = role.metadata.namespace;
    const resourceAttributes = { group, resource: plural, subresource, verb, namespace: within };
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
    for (const right of rightsOf(objects)) {
      const wanted = missing === undefined || nameOf(right) !== nameOf(missing);
      await eventually(nameOf(right), async () => (await isAllowed(cluster, user, right)) === wanted, DEADLINE_MS);
    }
  };

  describe('are enough', { timeout: TIMEOUT_MS }, () => {
    test('in the whole cluster', async () => {
      const objects = operatorObjects();
      await grant(world.east, OPERATOR, objects);
      await live(wholeLife(objects));
    });

    test('to write EndpointSlices', async () => {
      const objects = operatorObjects({ endpoints: 'slices' });
      await grant(world.east, OPERATOR, objects);
      await live(sliceLife(objects));
    });

    test('to make namespaces', async () => {
      const objects = operatorObjects({ enableNamespaceCreation: true });
      await grant(world.east, OPERATOR, objects);
      await live(namespaceLife(objects));
    });

    test('where they are limited to namespaces, and no further', async () => {
      const objects = operatorObjects({ mirrorNamespaces: ['shop'] });
      await grant(world.east, OPERATOR, objects);
      await live(wholeLife(objects));
      for (const verb of ['create', 'patch', 'delete']) {
        const role = { ...objects.find(isRole)!, metadata: { name: 'none', namespace: 'other' } };
        const right = { role, group: '', resource: 'services', verb };
        expect(await isAllowed(world.east, OPERATOR, right), nameOf(right)).toBe(false);
      }
    });
  });

  describe('are needed, each of them', { timeout: TIMEOUT_MS }, () => {
    const plain = operatorObjects();
    const sliced = operatorObjects({ endpoints: 'slices' });
    const creating = operatorObjects({ enableNamespaceCreation: true });
    const names = (rights: readonly Right[]): ReadonlySet<string> => new Set(rights.map(nameOf));
    const beyondPlain = (objects: readonly ApiJson[]): readonly Right[] => {
      const known = names(rightsOf(plain));
      return rightsOf(objects).filter((right) => !known.has(nameOf(right)));
    };
    const cases = [
      ...rightsOf(plain).map((right) => ({ right, objects: plain, life: wholeLife })),
      ...beyondPlain(sliced).map((right) => ({ right, objects: sliced, life: sliceLife })),
      ...beyondPlain(creating).map((right) => ({ right, objects: creating, life: namespaceLife })),
    ].map((each) => [nameOf(each.right), each] as const);

    test.each(cases)('%s, in the source cluster', async (_, { right, objects, life }) => {
      await grant(world.east, OPERATOR, objects, right);
      await liveWithout(life(objects), world.eastCluster, OPERATOR, right);
    });

    const remoteCases = rightsOf(remoteObjects).map((right) => [nameOf(right), right] as const);

    test.each(remoteCases)('%s, in the target cluster', async (_, right) => {
      await grant(world.east, OPERATOR, plain);
      await grant(world.west, REMOTE, remoteObjects, right);
      try {
        await liveWithout(wholeLife(plain), world.westCluster, REMOTE, right);
      } finally {
        await grant(world.west, REMOTE, remoteObjects);
      }
    });
  });
});
