import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';

import { RemoteAccess, type RemoteAccessProps } from '../../../constructs/gateway/remote-access.ts';
import { render } from '../../../constructs/rendered/render.ts';
import { errorsOf } from '../errors-of.ts';

const access = (props: Partial<RemoteAccessProps> = {}) =>
  render((chart) => {
    new RemoteAccess(chart, 'access', { sourceCluster: 'east', ...props });
  });

const NAME = 'linkerd-service-mirror-remote-access-east';
const LABELS = { 'linkerd.io/extension': 'multicluster' };
const READ = ['list', 'watch'];
const EXPORTS = [
  { apiGroups: [''], resources: ['services'], verbs: READ },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: READ },
  { apiGroups: ['multicluster.x-k8s.io'], resources: ['serviceexports'], verbs: READ },
];
const CLUSTER_ID = [
  {
    apiGroups: ['about.k8s.io'],
    resources: ['clusterproperties'],
    resourceNames: ['cluster.clusterset.k8s.io'],
    verbs: READ,
  },
];
const CONTROLLER = [
  { apiGroups: [''], resources: ['services'], verbs: ['get'] },
  { apiGroups: [''], resources: ['endpoints'], verbs: READ },
  { apiGroups: [''], resources: ['configmaps'], resourceNames: ['linkerd-config'], verbs: ['get'] },
];

const renewalOf = (name: string) => [
  { apiGroups: [''], resources: ['serviceaccounts/token'], resourceNames: [name], verbs: ['create'] },
  { apiGroups: [''], resources: ['configmaps'], resourceNames: ['kube-root-ca.crt'], verbs: ['get'] },
];

test('H6: a source cluster may list and watch what is exported, and the id of the cluster, and nothing else', () => {
  expect(access({ linkerdController: false })).toEqual([
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: NAME, namespace: 'linkerd-multicluster', labels: LABELS },
      automountServiceAccountToken: false,
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'Opaque',
      metadata: {
        name: 'linkspan-peer-east',
        namespace: 'linkerd-multicluster',
        labels: LABELS,
        annotations: { 'linkspan.dev/service-account': NAME },
      },
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: NAME, labels: LABELS },
      rules: [...EXPORTS, ...CLUSTER_ID],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: NAME, labels: LABELS },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: NAME },
      subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: 'linkerd-multicluster' }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: NAME, namespace: 'linkerd-multicluster', labels: LABELS },
      rules: renewalOf(NAME),
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: NAME, namespace: 'linkerd-multicluster', labels: LABELS },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: NAME },
      subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: 'linkerd-multicluster' }],
    },
  ]);
});

test("by default Linkerd's own controller and `linkerd multicluster check` can use the account too", () => {
  expect(access().find(({ kind }) => kind === 'ClusterRole')).toHaveProperty('rules', [
    ...EXPORTS,
    ...CLUSTER_ID,
    ...CONTROLLER,
  ]);
});

test("flat mode adds what Linkerd's destination controller reads", () => {
  expect(access({ flat: true }).find(({ kind }) => kind === 'ClusterRole')).toHaveProperty('rules', [
    ...EXPORTS,
    ...CLUSTER_ID,
    ...CONTROLLER,
    { apiGroups: [''], resources: ['pods'], verbs: READ },
    { apiGroups: ['apps'], resources: ['replicasets'], verbs: READ },
    { apiGroups: ['batch'], resources: ['jobs'], verbs: READ },
    { apiGroups: ['policy.linkerd.io'], resources: ['servers'], verbs: READ },
  ]);
});

test('H6: limited to namespaces, may read in these alone', () => {
  const roles = access({ exportNamespaces: ['shop', 'bank'] }).filter(({ kind }) => kind.includes('Role'));

  expect(roles.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`)).toEqual([
    `Role shop/${NAME}`,
    `RoleBinding shop/${NAME}`,
    `Role bank/${NAME}`,
    `RoleBinding bank/${NAME}`,
    `Role linkerd-multicluster/${NAME}`,
    `RoleBinding linkerd-multicluster/${NAME}`,
  ]);
  expect(roles[0]).toHaveProperty('rules', EXPORTS);
  expect(roles[3]).toMatchObject({
    roleRef: { kind: 'Role', name: NAME },
    subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: 'linkerd-multicluster' }],
  });
});

test('an account has any name it is given, may renew its own token, and none that does not end (P1)', () => {
  const objects = access({ name: 'reader', namespace: 'mesh' });

  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'ServiceAccount reader',
    'Secret linkspan-peer-reader',
    'ClusterRole reader',
    'ClusterRoleBinding reader',
    'Role reader',
    'RoleBinding reader',
  ]);
  expect(objects[3]).toHaveProperty('subjects', [{ kind: 'ServiceAccount', name: 'reader', namespace: 'mesh' }]);
  expect(objects[4]).toMatchObject({ metadata: { namespace: 'mesh' }, rules: renewalOf('reader') });
});

test.each<[Partial<RemoteAccessProps>, boolean]>([
  [{}, false],
  [{ flat: true }, false],
  [{ longLivedToken: false }, false],
  [{ longLivedToken: true }, true],
])('P6: the account of %j has a token that does not end: %s', (props, expected) => {
  const secret = access(props).find(({ type }) => type === 'kubernetes.io/service-account-token');

  expect(secret !== undefined).toBe(expected);
  if (expected)
    expect(secret).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/service-account-token',
      metadata: {
        name: `${NAME}-token`,
        namespace: 'linkerd-multicluster',
        labels: LABELS,
        annotations: { 'kubernetes.io/service-account.name': NAME },
      },
    });
});

test('an account has one Role in a namespace, also where that is its own (P1)', () => {
  const objects = access({ name: 'reader', namespace: 'shop', exportNamespaces: ['shop', 'bank'] });
  const roles = objects.filter(({ kind }) => kind === 'Role') as unknown as readonly { rules: unknown[] }[];

  expect(
    roles.map(({ rules }) => renewalOf('reader').every((each) => rules.some((rule) => isDeepStrictEqual(rule, each)))),
  ).toEqual([true, false]);
});

test('an account with invalid props is refused with every reason at once', () => {
  expect(errorsOf(() => access({ sourceCluster: 'East', namespace: 'a.b' }))).toEqual([
    'sourceCluster: "East" must be a valid DNS label',
    'namespace: "a.b" must be a valid DNS label',
  ]);
  expect(errorsOf(() => access({ name: 'a'.repeat(240) }))).toEqual([
    expect.stringContaining('must be no longer than 239 characters: a Secret is called after it'),
  ]);
  expect(access({ name: 'a'.repeat(239) })).toHaveLength(6);
  expect(errorsOf(() => access({ exportNamespaces: ['shop'], linkerdController: true }))).toEqual([
    'linkerdController: true must not be set together with exportNamespaces: it reads whole clusters',
  ]);
  expect(errorsOf(() => access({ exportNamespaces: [] }))).toEqual(['exportNamespaces: [] must not be empty']);
  expect(errorsOf(() => access({ exportNamespaces: ['Shop', 'bank', 'bank'] }))).toEqual([
    'exportNamespaces[0]: "Shop" must be a valid DNS label',
    'exportNamespaces: ["Shop","bank","bank"] must name each namespace once',
  ]);
  expect(errorsOf(() => access({ exportNamespaces: ['shop'], flat: true }))).toEqual([
    'exportNamespaces: ["shop"] must not be set together with flat: Linkerd\'s destination controller reads whole clusters',
  ]);
});
