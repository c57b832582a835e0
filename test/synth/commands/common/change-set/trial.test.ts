/** What a command is about to do, tried by a user who may read and nothing else, and by one who may do all. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiJson } from '../../../../../constructs/rendered/render.ts';
import { type KubeObject, SECRETS, SERVICES } from '../../../../../operator/kube/objects.ts';
import { Cluster } from '../../../../../synth/commands/common/cluster.ts';
import { CommandError } from '../../../../../synth/commands/common/command-error.ts';
import { compare } from '../../../../../synth/commands/common/change-set/compare.ts';
import {
  creationTrials,
  deletionTrials,
  patchTrials,
  tryAll,
} from '../../../../../synth/commands/common/change-set/trial.ts';
import { tokenTrial } from '../../../../../synth/commands/link/ending-token.ts';
import { borrowCluster, type TestCluster } from '../../../../cluster/index.ts';
import { READERS } from '../../../../cluster/guests.ts';
import { onEachBacking } from '../../../../cluster/on-each-backing.ts';
import { api, type Api } from '../../../../cluster/workload/index.ts';
import { namespace, objectRef } from '../../../../support/builders.ts';

const [{ name: READER, token: READERS_TOKEN }] = READERS;
const RBAC = 'rbac.authorization.k8s.io';

const object = (kind: string, name: string, within = 'shop'): ApiJson => ({
  ...objectRef('v1', kind, name, within),
  ...(kind === 'Service' && { spec: { ports: [{ port: 80, protocol: 'TCP' }] } }),
});

onEachBacking('a trial', (backing) => {
  let server: TestCluster;
  let client: Api;
  let admin: Cluster;
  let reader: Cluster;
  let directory: string;
  const role = {
    ...objectRef(`${RBAC}/v1`, 'ClusterRole', 'trial-reader'),
    rules: [{ apiGroups: [''], resources: ['services', 'secrets'], verbs: ['get', 'list'] }],
  };
  const binding = {
    ...objectRef(`${RBAC}/v1`, 'ClusterRoleBinding', 'trial-reader'),
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'trial-reader' },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: READER }],
  };

  beforeAll(async () => {
    server = await borrowCluster(backing, 'east');
    client = api(server);
    directory = await mkdtemp(join(tmpdir(), 'linkspan-trial-'));
    const file = join(directory, 'reader.yaml');
    await writeFile(file, server.kubeconfigFor(READERS_TOKEN));
    for (const each of [namespace('shop'), role, binding, object('Service', 'web'), object('ServiceAccount', 'remote')])
      await client.apply(each);
    admin = await Cluster.open({ kubeconfig: server.kubeconfigFile });
    reader = await Cluster.open({ kubeconfig: file });
  });
  afterAll(async () => {
    for (const each of [object('Service', 'web'), object('ServiceAccount', 'remote'), role, binding])
      await client.delete(each);
    await Promise.all([client.close(), admin.close(), reader.close()]);
    await rm(directory, { recursive: true });
    await server.stop();
  });

  /** What stands in the way, as the lines that the user reads have it. */
  const obstacles = async (trying: Promise<unknown>): Promise<readonly string[]> => {
    try {
      await trying;
      return [];
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return error.problems.map(({ reason }) => reason);
    }
  };

  const existing = async (cluster: Cluster) => {
    const web = await cluster.find<KubeObject>(SERVICES, { namespace: 'shop', name: 'web' });
    if (web === undefined) throw new Error('there is no Service shop/web');
    return [{ cluster, of: SERVICES, object: web }];
  };

  test('names all that may not be created, though it can be compared', async () => {
    const wants = (cluster: Cluster) => [
      { cluster, object: object('Service', 'new') },
      { cluster, object: object('Secret', 'new') },
    ];
    expect(await obstacles(tryAll(creationTrials(await compare(wants(reader)))))).toEqual([
      expect.stringMatching(/apply Service shop\/new.* cannot patch resource "services"/),
      expect.stringMatching(/apply Secret shop\/new.* cannot patch resource "secrets"/),
    ]);
    expect(await obstacles(tryAll(creationTrials(await compare(wants(admin)))))).toEqual([]);
    expect(await client.get(object('Service', 'new'))).toBeUndefined();
  });

  test('does not take what has no namespace yet for refused', async () => {
    const changes = await compare([{ cluster: admin, object: object('Service', 'new', 'to-come') }]);
    expect(changes.map(({ outcome }) => outcome)).toEqual(['created']);
    expect(await obstacles(tryAll(creationTrials(changes)))).toEqual([]);
  });

  test('names what may not be deleted or changed, and deletes and changes nothing', async () => {
    const [mayRead, mayAll] = await Promise.all([existing(reader), existing(admin)]);
    expect(await obstacles(tryAll([...deletionTrials(mayRead), ...patchTrials(mayRead)]))).toEqual([
      expect.stringMatching(/delete Service shop\/web.* cannot delete resource "services"/),
      expect.stringMatching(/patch Service shop\/web.* cannot patch resource "services"/),
    ]);
    expect(await obstacles(tryAll([...deletionTrials(mayAll), ...patchTrials(mayAll)]))).toEqual([]);
    const [now] = await existing(admin);
    expect(now?.object).toEqual(mayAll[0]?.object);
  });

  test('makes no token for who may not have one, and takes an account that is to come for none', async () => {
    const account = { namespace: 'shop', name: 'remote' };
    const later = { namespace: 'shop', name: 'to-come' };
    expect(await obstacles(tryAll([tokenTrial(reader, account, 'peer'), tokenTrial(reader, later, 'peer')]))).toEqual([
      expect.stringMatching(/cannot create resource "serviceaccounts\/token"/),
      expect.stringMatching(/cannot create resource "serviceaccounts\/token"/),
    ]);
    expect(await obstacles(tryAll([tokenTrial(admin, later, 'peer')]))).toEqual([]);
    // The Secret that it is to be bound to is made with the account.
    expect(await obstacles(tryAll([tokenTrial(admin, account, 'peer')]))).toEqual([]);
    await client.apply(object('Secret', 'peer'));
    expect(await obstacles(tryAll([tokenTrial(admin, account, 'peer')]))).toEqual([]);
    expect(await admin.list(SECRETS, { namespace: 'shop' })).toHaveLength(1);
    await client.delete(object('Secret', 'peer'));
  });
});
