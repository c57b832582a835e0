import { expect, test } from 'vitest';

import { GatewayPolicy, type GatewayPolicyProps } from '../../../constructs/gateway/gateway-policy.ts';
import { render } from '../../../constructs/rendered/render.ts';
import { errorsOf } from '../errors-of.ts';

const policy = (props?: GatewayPolicyProps) =>
  render((chart) => {
    new GatewayPolicy(chart, 'policy', props);
  });

const METADATA = {
  name: 'linkerd-gateway',
  namespace: 'linkerd-multicluster',
  labels: { app: 'linkerd-gateway', 'linkerd.io/extension': 'multicluster' },
};
const GROUP = 'policy.linkerd.io';

/** Who may read the metrics of the proxies, which name all that is exported and its clients. */
const ADMIN_METADATA = {
  name: 'linkerd-admin',
  namespace: 'linkerd-multicluster',
  labels: { 'linkerd.io/extension': 'multicluster' },
};
const ADMIN = [
  {
    apiVersion: 'policy.linkerd.io/v1beta3',
    kind: 'Server',
    metadata: ADMIN_METADATA,
    spec: {
      podSelector: { matchLabels: { 'linkerd.io/extension': 'multicluster' } },
      port: 'linkerd-admin',
      proxyProtocol: 'HTTP/1',
    },
  },
  {
    apiVersion: 'policy.linkerd.io/v1alpha1',
    kind: 'AuthorizationPolicy',
    metadata: ADMIN_METADATA,
    spec: {
      targetRef: { group: GROUP, kind: 'Server', name: 'linkerd-admin' },
      requiredAuthenticationRefs: [{ kind: 'ServiceAccount', name: 'prometheus', namespace: 'linkerd-viz' }],
    },
  },
];

test('a policy lets in clients of the mesh from the networks of the source clusters, and requires both', () => {
  expect(policy({ sourceNetworks: ['198.51.100.0/24', '2001:db8::/32'] })).toEqual([
    {
      apiVersion: 'policy.linkerd.io/v1beta3',
      kind: 'Server',
      metadata: METADATA,
      spec: { podSelector: { matchLabels: { app: 'linkerd-gateway' } }, port: 'linkerd-proxy' },
    },
    {
      apiVersion: 'policy.linkerd.io/v1alpha1',
      kind: 'AuthorizationPolicy',
      metadata: {
        ...METADATA,
        labels: { ...METADATA.labels, 'linkspan.dev/gateway-access': 'open' },
        // Without the second, an Application whose gateway is gone would be OutOfSync for ever.
        annotations: {
          'argocd.argoproj.io/sync-options': 'Prune=false',
          'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
        },
      },
      spec: {
        targetRef: { group: GROUP, kind: 'Server', name: 'linkerd-gateway' },
        requiredAuthenticationRefs: [
          { group: GROUP, kind: 'MeshTLSAuthentication', name: 'any-meshed', namespace: 'linkerd-multicluster' },
          { group: GROUP, kind: 'NetworkAuthentication', name: 'source-cluster', namespace: 'linkerd-multicluster' },
        ],
      },
    },
    {
      apiVersion: 'policy.linkerd.io/v1alpha1',
      kind: 'MeshTLSAuthentication',
      metadata: { ...METADATA, name: 'any-meshed' },
      spec: { identities: ['*'] },
    },
    {
      apiVersion: 'policy.linkerd.io/v1alpha1',
      kind: 'NetworkAuthentication',
      metadata: { ...METADATA, name: 'source-cluster' },
      spec: { networks: [{ cidr: '198.51.100.0/24' }, { cidr: '2001:db8::/32' }] },
    },
    ...ADMIN,
  ]);
});

test('a policy lets those whom it is given read the metrics of proxies, one or several, or nobody', () => {
  const metrics = (scrapers: GatewayPolicyProps['scrapers']) => policy({ scrapers }).slice(4);
  const one = { name: 'prometheus', namespace: 'monitoring' };
  const other = { name: 'agent', namespace: 'telemetry' };

  expect(metrics([one])[1]).toHaveProperty('spec.requiredAuthenticationRefs', [{ kind: 'ServiceAccount', ...one }]);
  // All that are listed would be required: several identities are one authentication.
  expect(metrics([one, other]).slice(1)).toMatchObject([
    {
      kind: 'MeshTLSAuthentication',
      metadata: { name: 'linkerd-admin' },
      spec: {
        identityRefs: [
          { kind: 'ServiceAccount', ...one },
          { kind: 'ServiceAccount', ...other },
        ],
      },
    },
    {
      kind: 'AuthorizationPolicy',
      spec: {
        requiredAuthenticationRefs: [
          { group: GROUP, kind: 'MeshTLSAuthentication', name: 'linkerd-admin', namespace: 'linkerd-multicluster' },
        ],
      },
    },
  ]);
  expect(metrics([]).map(({ kind }) => kind)).toEqual(['Server']);
  expect(errorsOf(() => policy({ scrapers: [{ name: 'A', namespace: '' }] }))).toEqual([
    'scrapers[0].name: "A" must be a valid DNS subdomain',
    'scrapers[0].namespace: "" must be a valid DNS label',
  ]);
});

test('a policy without networks lets in all, and says so where it is read', () => {
  expect(policy({ namespace: 'mesh' })[3]).toEqual({
    apiVersion: 'policy.linkerd.io/v1alpha1',
    kind: 'NetworkAuthentication',
    metadata: {
      ...METADATA,
      name: 'source-cluster',
      namespace: 'mesh',
      annotations: { 'linkspan.dev/source-networks': 'any' },
    },
    spec: { networks: [{ cidr: '0.0.0.0/0' }, { cidr: '::/0' }] },
  });
});

test('a policy with invalid networks is refused with every reason at once', () => {
  expect(
    errorsOf(() => policy({ namespace: 'a.b', sourceNetworks: ['10.0.0.0/33', '10.0.0/8', '::/129', '10.0.0.0/08'] })),
  ).toEqual([
    'namespace: "a.b" must be a valid DNS label',
    'sourceNetworks[0]: "10.0.0.0/33" must be a network in CIDR notation',
    'sourceNetworks[1]: "10.0.0/8" must be a network in CIDR notation',
    'sourceNetworks[2]: "::/129" must be a network in CIDR notation',
    'sourceNetworks[3]: "10.0.0.0/08" must be a network in CIDR notation',
  ]);
  expect(errorsOf(() => policy({ sourceNetworks: [] }))).toEqual(['sourceNetworks: [] must not be empty']);
});

test.each(['exported', 'clients'] as const)('a policy for %s lets nobody in by itself', (gatewayAccess) => {
  const names = policy({ gatewayAccess }).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(names).not.toContain('AuthorizationPolicy linkerd-gateway');
  expect(names).toContain('Server linkerd-gateway');
});
