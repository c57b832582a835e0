/**
 * What a cluster has where Linkerd's multicluster chart was installed, with its defaults: the objects that our constructs
 * are applied over.
 */
import type { ApiJson } from '../../constructs/rendered/render.ts';
import { linkerdLinkCrd } from './linkerd-crd.ts';

const NAMESPACE = 'linkerd-multicluster';
const GATEWAY = 'linkerd-gateway';
const REMOTE = 'linkerd-service-mirror-remote-access-default';
const EXTENSION = { 'linkerd.io/extension': 'multicluster' };
const OF_GATEWAY = { ...EXTENSION, app: GATEWAY };
const CREATED_BY = { 'linkerd.io/created-by': 'linkerd/cli edge-26.8.1' };
const RBAC = 'rbac.authorization.k8s.io';
const READ = ['list', 'get', 'watch'];

const seccompProfile = { type: 'RuntimeDefault' };

type Texts = Readonly<Record<string, string>>;

const named = (name: string, labels: Texts = EXTENSION, annotations: Texts = {}) => ({
  name,
  namespace: NAMESPACE,
  labels,
  ...(Object.keys(annotations).length > 0 && { annotations }),
});

const policy = (kind: string, name: string, spec: object, labels: Texts = OF_GATEWAY): ApiJson => ({
  apiVersion: `policy.linkerd.io/${kind === 'Server' ? 'v1beta3' : 'v1alpha1'}`,
  kind,
  metadata: named(name, labels, labels === OF_GATEWAY ? CREATED_BY : {}),
  spec,
});

const gateway: readonly ApiJson[] = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: named(
      GATEWAY,
      {
        ...OF_GATEWAY,
        component: 'gateway',
        'app.kubernetes.io/name': 'gateway',
        'app.kubernetes.io/part-of': 'Linkerd',
        'app.kubernetes.io/version': 'edge-26.8.1',
      },
      CREATED_BY,
    ),
    spec: {
      replicas: 1,
      revisionHistoryLimit: 10,
      selector: { matchLabels: { app: GATEWAY } },
      template: {
        metadata: {
          labels: OF_GATEWAY,
          annotations: {
            ...CREATED_BY,
            'linkerd.io/inject': 'enabled',
            'config.linkerd.io/enable-gateway': 'true',
            'config.linkerd.io/proxy-require-identity-inbound-ports': '4143',
            'config.linkerd.io/default-inbound-policy': 'all-authenticated',
            'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true',
          },
        },
        spec: {
          automountServiceAccountToken: false,
          serviceAccountName: GATEWAY,
          securityContext: { seccompProfile },
          containers: [
            {
              name: 'pause',
              image: 'registry.k8s.io/pause:3.2',
              securityContext: {
                allowPrivilegeEscalation: false,
                capabilities: { drop: ['ALL'] },
                readOnlyRootFilesystem: true,
                runAsNonRoot: true,
                runAsUser: 2103,
                runAsGroup: 2103,
                seccompProfile,
              },
            },
          ],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: named(GATEWAY, EXTENSION, {
      ...CREATED_BY,
      component: 'gateway',
      'mirror.linkerd.io/gateway-identity':
        'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local',
      'mirror.linkerd.io/multicluster-gateway': 'true',
      'mirror.linkerd.io/probe-path': '/ready',
      'mirror.linkerd.io/probe-period': '3',
    }),
    spec: {
      type: 'LoadBalancer',
      selector: { app: GATEWAY },
      ports: [
        { name: 'mc-gateway', port: 4143, protocol: 'TCP' },
        { name: 'mc-probe', port: 4191, protocol: 'TCP' },
      ],
    },
  },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: named(GATEWAY) },
];

const policies: readonly ApiJson[] = [
  policy('Server', GATEWAY, { podSelector: { matchLabels: { app: GATEWAY } }, port: 'linkerd-proxy' }),
  policy('AuthorizationPolicy', GATEWAY, {
    targetRef: { group: 'policy.linkerd.io', kind: 'Server', name: GATEWAY },
    requiredAuthenticationRefs: [
      { group: 'policy.linkerd.io', kind: 'MeshTLSAuthentication', name: 'any-meshed', namespace: NAMESPACE },
      { group: 'policy.linkerd.io', kind: 'NetworkAuthentication', name: 'source-cluster', namespace: NAMESPACE },
    ],
  }),
  policy('MeshTLSAuthentication', 'any-meshed', { identities: ['*'] }),
  policy('NetworkAuthentication', 'source-cluster', { networks: [{ cidr: '0.0.0.0/0' }, { cidr: '::/0' }] }),
  policy(
    'Server',
    'linkerd-admin',
    { podSelector: { matchLabels: EXTENSION }, port: 'linkerd-admin', proxyProtocol: 'HTTP/1' },
    EXTENSION,
  ),
  policy(
    'AuthorizationPolicy',
    'linkerd-admin',
    {
      targetRef: { group: 'policy.linkerd.io', kind: 'Server', name: 'linkerd-admin' },
      requiredAuthenticationRefs: [{ kind: 'ServiceAccount', name: 'prometheus', namespace: 'linkerd-viz' }],
    },
    EXTENSION,
  ),
];

const ofCluster = { name: REMOTE, labels: EXTENSION, annotations: CREATED_BY };
const rule = (group: string, resources: readonly string[], verbs: readonly string[] = READ, more: object = {}) => ({
  apiGroups: [group],
  resources,
  verbs,
  ...more,
});

const remoteAccess: readonly ApiJson[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: named(REMOTE, EXTENSION, CREATED_BY) },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/service-account-token',
    metadata: named(`${REMOTE}-token`, EXTENSION, { ...CREATED_BY, 'kubernetes.io/service-account.name': REMOTE }),
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRole',
    metadata: ofCluster,
    rules: [
      rule('apps', ['replicasets']),
      rule('batch', ['jobs']),
      rule('', ['pods', 'endpoints', 'services']),
      rule('discovery.k8s.io', ['endpointslices']),
      rule('policy.linkerd.io', ['servers']),
      rule('', ['configmaps'], ['get'], { resourceNames: ['linkerd-config'] }),
      rule('', ['events'], ['create', 'patch']),
    ],
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: ofCluster,
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: REMOTE },
    subjects: [{ kind: 'ServiceAccount', name: REMOTE, namespace: NAMESPACE }],
  },
];

const link: ApiJson = {
  apiVersion: 'multicluster.linkerd.io/v1alpha3',
  kind: 'Link',
  metadata: { name: 'west', namespace: NAMESPACE, annotations: CREATED_BY },
  spec: {
    targetClusterName: 'west',
    targetClusterDomain: 'cluster.local',
    targetClusterLinkerdNamespace: 'linkerd',
    clusterCredentialsSecret: 'cluster-credentials-west',
    gatewayAddress: '203.0.113.7',
    gatewayPort: '4143',
    gatewayIdentity: 'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local',
    probeSpec: { path: '/ready', port: '4191', period: '3s' },
    selector: { matchLabels: { 'mirror.linkerd.io/exported': 'true' } },
    remoteDiscoverySelector: { matchLabels: { 'mirror.linkerd.io/exported': 'remote-discovery' } },
    federatedServiceSelector: { matchLabels: { 'mirror.linkerd.io/federated': 'member' } },
  },
};

/** In an order in which nothing is refused for want of what comes later. */
export const linkerdChart: readonly ApiJson[] = [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE, labels: { ...EXTENSION, 'pod-security.kubernetes.io/enforce': 'privileged' } },
  },
  linkerdLinkCrd as ApiJson,
  ...gateway,
  ...policies,
  ...remoteAccess,
  link,
];
