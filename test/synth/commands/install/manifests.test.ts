/** The manifests of an installation, by settings. */
import { describe, expect, test } from 'vitest';
import type { ApiJson } from '../../../../constructs/rendered/render.ts';
import { CommandError } from '../../../../synth/commands/common/command-error.ts';
import { installManifests } from '../../../../synth/commands/install/manifests.ts';
import { isSame, type Settings } from '../../../../synth/commands/install/settings.ts';

const render = (settings: Partial<Settings> = {}, namespace = 'linkerd-multicluster'): readonly ApiJson[] =>
  installManifests(
    namespace,
    { image: 'a/b:1', linkerdNamespace: 'linkerd', ...settings },
    {
      clusterDomain: 'cluster.local',
      trustDomain: 'example.com',
    },
  ).objects;

const named = (objects: readonly ApiJson[], kind: string, name: string): ApiJson | undefined =>
  objects.find((each) => each.kind === kind && each.metadata.name === name);

const problemsOf = (settings: Partial<Settings>, namespace?: string): readonly string[] => {
  try {
    render(settings, namespace);
    return [];
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    expect(error.code).toBe(2);
    return error.problems.map(({ object, reason }) => `${object}: ${reason}`);
  }
};

test('CRDs and namespace come first, then what was chosen, then rights, then what uses them', () => {
  const objects = render();
  expect(objects.map(({ kind }) => kind)).toEqual([
    ...['Namespace', 'ConfigMap', 'CustomResourceDefinition', 'CustomResourceDefinition'],
    ...['ServiceAccount', 'ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
    ...['Deployment', 'Service', 'PodDisruptionBudget'],
    ...['Server', 'AuthorizationPolicy', 'MeshTLSAuthentication', 'NetworkAuthentication'],
    ...['Server', 'AuthorizationPolicy'],
    ...['Deployment', 'Service', 'PodDisruptionBudget', 'NetworkPolicy', 'Server'],
  ]);
  const marks = objects.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by']);
  expect(new Set(marks)).toEqual(new Set(['linkspan']));
});

test('the operator may read and renew the Secrets that links make later, in its own namespace alone', () => {
  const rules = (object: ApiJson) => (object['rules'] ?? []) as readonly { readonly resources: readonly string[] }[];
  const secrets = render().flatMap((object) =>
    rules(object)
      .filter(({ resources }) => resources.includes('secrets'))
      .map((rule) => [object.kind, rule]),
  );
  expect(secrets).toEqual([['Role', { apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch', 'patch'] }]]);
});

test.each([
  [true, ['linkerd', 'linkerd-multicluster']],
  [false, ['linkerd-multicluster']],
  [undefined, ['linkerd-multicluster']],
])('with flat %s, the operator has a Role in %j', (flat, namespaces) => {
  const roles = render({ flat }).filter(({ kind }) => kind === 'Role');
  expect(roles.map(({ metadata }) => metadata.namespace).toSorted()).toEqual(namespaces);
});

test('H6: Links may have namespaces created if the operator is given the right (L278)', () => {
  const isGranted = (settings: Partial<Settings>) =>
    render(settings).some(
      ({ kind, rules }) =>
        kind === 'ClusterRole' && /namespaces"\],"verbs":\["get","create"/.test(JSON.stringify(rules)),
    );
  expect(isGranted({ grantNamespaceCreation: true })).toBe(true);
  expect(isGranted({})).toBe(false);
  expect(isSame({ linkerdNamespace: 'linkerd', grantNamespaceCreation: true }, { linkerdNamespace: 'linkerd' })).toBe(
    false,
  );
});

test.each<[readonly string[] | undefined, readonly string[], string | undefined]>([
  [['10.0.0.0/8'], ['10.0.0.0/8'], undefined],
  [undefined, ['0.0.0.0/0', '::/0'], 'any'],
])('with source networks %j, the gateway is open to %j', (sourceNetworks, open, mark) => {
  const { spec, metadata } = named(render({ sourceNetworks }), 'NetworkAuthentication', 'source-cluster')!;
  expect(spec).toEqual({ networks: open.map((cidr) => ({ cidr })) });
  expect(metadata.annotations?.['linkspan.dev/source-networks']).toBe(mark);
});

test('names the flag of a network that is none', () => {
  expect(problemsOf({ sourceNetworks: ['10.0.0.0'] })).toEqual([
    '--source-networks: "10.0.0.0" must be a network in CIDR notation',
  ]);
});

test.each([true, false])('with ha %s, pods share a node or not', (ha) => {
  const required = ['linkerd-gateway', 'linkspan-operator'].map((name) =>
    JSON.stringify(named(render({ ha }), 'Deployment', name)).includes('requiredDuringScheduling'),
  );
  expect(required).toEqual([ha, ha]);
});

test('values are added to those of ha, and win', () => {
  const objects = render({ ha: true, values: { gateway: { replicas: 5 } } });
  expect(named(objects, 'Deployment', 'linkerd-gateway')).toMatchObject({ spec: { replicas: 5 } });
});

test.each([
  [undefined, false],
  [true, true],
  [false, false],
])('a gateway that values switch off, with the flag %s: %s', (gateway, isThere) => {
  const objects = render({ gateway, values: { gateway: { enabled: false, replicas: 5 } } });
  expect(named(objects, 'Deployment', 'linkerd-gateway') !== undefined).toBe(isThere);
  expect(named(objects, 'Service', 'linkerd-gateway') !== undefined).toBe(isThere);
});

test('common labels are on every object, and take the place of none that Linkerd reads', () => {
  const objects = render({ values: { commonLabels: { team: 'mesh', 'linkerd.io/extension': 'mine' } } });
  for (const { metadata } of objects) expect(metadata.labels).toMatchObject({ team: 'mesh' });
  expect(named(objects, 'Namespace', 'linkerd-multicluster')?.metadata.labels).toMatchObject({
    'linkerd.io/extension': 'multicluster',
  });
});

describe('is refused by the flag or the key that has set it', () => {
  test.each<[Partial<Settings>, readonly string[]]>([
    [{ image: 'not an image' }, [expect.stringMatching(/^--image: "not an image" must be /) as string]],
    [{ linkerdNamespace: 'L5d' }, ['--linkerd-namespace: "L5d" must be a valid DNS label']],
    [{ values: { gateway: { port: 'http' } } }, ['--values: gateway.port: "http" must be an integer']],
    [{ values: { podLabels: { 'a b': 'c' } } }, ['--values: podLabels["a b"]: "c" must be a valid label']],
    [{ values: { commonLabels: { a: '?' } } }, [expect.stringMatching(/^--values: commonLabels/) as string]],
    [
      { values: { replica: 1, controllerDefaults: { logLevel: 'loud' } } },
      [
        "--values: replica: is not a value of Linkerd's multicluster chart",
        '--values: controllerDefaults.logLevel: "loud" must be one of debug, info, warn, error',
      ],
    ],
  ])('%j', (settings, problems) => {
    expect(problemsOf(settings)).toEqual(problems);
  });

  test('a namespace that none can be', () => {
    expect(problemsOf({}, 'Mesh')).toEqual(['--namespace: "Mesh" must be a valid DNS label']);
  });

  test('that of the control plane, on a flat network (L229)', () => {
    expect(problemsOf({ flat: true }, 'linkerd')).toEqual([
      '--namespace: "linkerd" must not be the namespace of the control plane on a flat network: each has rights of its own',
    ]);
    expect(problemsOf({ flat: false }, 'linkerd')).toEqual([]);
  });
});

test('who may come through the gateway is a setting of the operator, which opens it or not', () => {
  const opening = (settings: Partial<Settings>) => named(render(settings), 'AuthorizationPolicy', 'linkerd-gateway');
  const args = (settings: Partial<Settings>) =>
    JSON.stringify(named(render(settings), 'Deployment', 'linkspan-operator'));
  expect(opening({})).toBeDefined();
  expect(args({})).not.toContain('--gateway-access');
  expect(opening({ gatewayAccess: 'open' })).toBeDefined();
  expect(opening({ gatewayAccess: 'exported' })).toBeUndefined();
  expect(args({ gatewayAccess: 'exported' })).toContain('"--gateway-access=exported"');
  expect(args({ gatewayAccess: 'exported' })).toContain('"--trust-domain=example.com"');
  expect(problemsOf({ gatewayAccess: 'clients', gatewayTcp: 'meshed' })).toEqual([
    expect.stringMatching(/^--gateway-tcp: "meshed" must not be meshed/),
  ]);
});
