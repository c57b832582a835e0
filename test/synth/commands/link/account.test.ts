/** What is known of the rights of an account, by whoever asks. */
import { expect, test } from 'vitest';
import { ApiError } from '../../../../operator/kube/errors.ts';
import type { KubeObject, Resource, Secret } from '../../../../operator/kube/objects.ts';
import type { Cluster } from '../../../../synth/commands/common/cluster.ts';
import { CommandError } from '../../../../synth/commands/common/command-error.ts';
import { CLUSTER_ROLES, ROLES } from '../../../../synth/commands/common/kinds.ts';
import {
  accountProblems,
  limitsOf,
  mayNotRenew,
  mayRenew,
  readAccount,
} from '../../../../synth/commands/link/account.ts';

const NAME = 'remote-access';
const NAMESPACE = 'linkerd-multicluster';

const role = (resource: string, namespace?: string): KubeObject =>
  ({
    metadata: { name: NAME, namespace, labels: { 'linkerd.io/extension': 'multicluster' } },
    rules: [{ resources: [resource] }],
  }) as KubeObject;

const FORBIDDEN = new CommandError(
  [{ object: 'roles', reason: 'forbidden', remedy: 'ask' }],
  undefined,
  new ApiError(403, { reason: 'Forbidden' }, 'list Roles'),
);

/** @param listed where Roles may be listed */
const read = (
  roles: readonly KubeObject[],
  clusterRole: KubeObject | undefined,
  listed: 'everywhere' | 'there' | 'nowhere',
) =>
  readAccount(
    {
      find: (of: Resource) => Promise.resolve(of === CLUSTER_ROLES ? clusterRole : undefined),
      list: (of: Resource, { namespace }: { readonly namespace?: string }) => {
        if (of !== ROLES) return Promise.resolve([]);
        if (listed === 'nowhere' || (listed === 'there' && namespace === undefined)) return Promise.reject(FORBIDDEN);
        return Promise.resolve(
          roles.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
        );
      },
    } as unknown as Cluster,
    { namespace: NAMESPACE, name: NAME },
  );

const RENEWS = role('serviceaccounts/token', NAMESPACE);
const READS = role('services');

test.each<[string, Parameters<typeof read>, boolean, boolean]>([
  ['has a Role for it', [[RENEWS], READS, 'everywhere'], true, false],
  ['has one, and only Roles of its namespace can be listed', [[RENEWS], READS, 'there'], true, false],
  ['has one that cannot be listed', [[RENEWS], READS, 'nowhere'], false, false],
  ['has rights, and none for it', [[], READS, 'everywhere'], false, true],
  ['has rights, and others that cannot be listed', [[], READS, 'there'], false, false],
  ['has rights by roles of other names alone', [[], undefined, 'everywhere'], false, false],
])('whether an account that %s may renew its token', async (_, given, may, mayNot) => {
  const account = await read(...given);
  expect([mayRenew(account), mayNotRenew(account)]).toEqual([may, mayNot]);
});

test.each<[string, Parameters<typeof read>[2], readonly string[] | undefined]>([
  ['that are known', 'everywhere', ['shop', NAMESPACE]],
  ['of which some may be in namespaces that cannot be read', 'there', undefined],
])('the namespaces of an account are those of its Roles %s', async (_, listed, limits) => {
  const account = await read([role('services', 'shop'), role('services', NAMESPACE)], undefined, listed);
  expect(limitsOf(account)).toEqual(limits);
});

test('an account that records nothing is not recorded for a source whose uid may not be read (L205)', async () => {
  const account = await read([], undefined, 'everywhere');
  const given = { metadata: { annotations: { 'linkspan.dev/token-given': 'true' } } } as unknown as Secret;
  const used = { ...account, object: { metadata: { name: NAME } } as KubeObject, peers: [given] };
  const claim = { sourceUid: undefined, sourceName: 'east', held: new Set<string>() };
  const [problem] = accountProblems({ title: () => 'the account' } as unknown as Cluster, used, claim);
  expect(problem?.remedy).toBe(
    'name this source otherwise with --source-name, or have somebody run the command who may get namespace kube-system of the source',
  );
});
