/**
 * The values of Linkerd's multicluster chart, each with the prop that takes its place. A prop is given here, not named:
 * the types hold that it exists, and the test that the value it is given changes what is rendered.
 */
import type { LinkProps, MulticlusterProps } from '../../../constructs/index.ts';

/** One value of the chart; without props, the note says why there is none. */
export interface ChartValue {
  /** Path of the value. */
  readonly value: string;
  /** Props of Multicluster that do the same, set to something that is not the default. */
  readonly props?: MulticlusterProps;
  readonly note?: string;
}

const IMAGE = 'registry.example.com/linkspan:0.1.0';
const operator = (props: Omit<NonNullable<MulticlusterProps['operator']>, 'image'>): MulticlusterProps => ({
  operator: { image: IMAGE, ...props },
});
const link = (props: Omit<LinkProps, 'targetCluster'>): MulticlusterProps => ({
  links: [{ targetCluster: 'west', ...props }],
});

/** In the order of the chart. */
export const CHART_VALUES: readonly ChartValue[] = [
  { value: 'gateway.enabled', props: { gateway: false } },
  { value: 'gateway.replicas', props: { gateway: { replicas: 5 } }, note: '3 by default, instead of 1' },
  { value: 'gateway.name', note: 'always `linkerd-gateway`: the identity is made of it' },
  { value: 'gateway.port', props: { gateway: { service: { port: 443 } } } },
  { value: 'gateway.serviceType', props: { gateway: { service: { type: 'NodePort' } } } },
  { value: 'gateway.nodePort', props: { gateway: { service: { nodePort: 30_143 } } } },
  { value: 'gateway.probe.path', props: { gateway: { probePath: '/live' } } },
  { value: 'gateway.probe.port', props: { gateway: { service: { probePort: 8443 } } } },
  { value: 'gateway.probe.nodePort', props: { gateway: { service: { probeNodePort: 30_191 } } } },
  { value: 'gateway.probe.seconds', props: { gateway: { probePeriod: 5 } } },
  { value: 'gateway.serviceAnnotations', props: { gateway: { service: { annotations: { 'example.com/lb': 'a' } } } } },
  {
    value: 'gateway.serviceExternalTrafficPolicy',
    props: { gateway: { service: { externalTrafficPolicy: 'Local' } } },
  },
  {
    value: 'gateway.healthCheckNodePort',
    props: { gateway: { service: { externalTrafficPolicy: 'Local', healthCheckNodePort: 30_100 } } },
  },
  { value: 'gateway.deploymentAnnotations', props: { gateway: { deploymentAnnotations: { 'example.com/a': 'b' } } } },
  { value: 'gateway.loadBalancerClass', props: { gateway: { service: { loadBalancerClass: 'example.com/lb' } } } },
  { value: 'gateway.loadBalancerIP', props: { gateway: { service: { loadBalancerIP: '203.0.113.7' } } } },
  {
    value: 'gateway.loadBalancerSourceRanges',
    props: { gateway: { service: { loadBalancerSourceRanges: ['198.51.100.0/24'] } } },
  },
  { value: 'gateway.terminationGracePeriodSeconds', props: { gateway: { terminationGracePeriod: 60 } } },
  { value: 'gateway.nodeSelector', props: { gateway: { nodeSelector: { pool: 'edge' } } } },
  { value: 'gateway.tolerations', props: { gateway: { tolerations: [{ operator: 'Exists' }] } } },
  { value: 'gateway.pauseImage', props: { gateway: { image: 'registry.example.com/pause:3.10' } } },
  { value: 'gateway.UID', props: { gateway: { runAsUser: 2103 } } },
  { value: 'gateway.GID', props: { gateway: { runAsGroup: 2103 } }, note: 'that of the user by default' },
  {
    value: 'enablePodAntiAffinity',
    props: { gateway: { antiAffinity: 'required' } },
    note: 'and `operator.antiAffinity`; `preferred` by default',
  },
  {
    value: 'nodeAffinity',
    props: {
      gateway: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'Exists' }] }],
          },
        },
      },
    },
    note: 'and `operator.nodeAffinity`',
  },
  {
    value: 'podAnnotations',
    props: { gateway: { podAnnotations: { 'example.com/a': 'b' } } },
    note: 'and `operator.podAnnotations`',
  },
  { value: 'podLabels', props: { gateway: { podLabels: { team: 'mesh' } } }, note: 'and `operator.podLabels`' },
  { value: 'commonLabels', note: '`labels` of the cdk8s `Chart`; in a cluster file and a `ClusterSet`: `labels`' },
  {
    value: 'imagePullPolicy',
    props: operator({ imagePullPolicy: 'Always' }),
    note: "the gateway's: that of the kubelet",
  },
  {
    value: 'imagePullSecrets',
    props: { gateway: { imagePullSecrets: ['registry'] } },
    note: 'and `operator.imagePullSecrets`',
  },
  {
    value: 'revisionHistoryLimit',
    props: { gateway: { revisionHistoryLimit: 3 } },
    note: 'and `operator.revisionHistoryLimit`',
  },
  { value: 'proxyOutboundPort', note: 'nothing depends on it' },
  { value: 'linkerdVersion', note: 'nothing depends on it' },
  { value: 'linkerdNamespace', props: { linkerdNamespace: 'l5d' } },
  { value: 'identityTrustDomain', props: { trustDomain: 'example.com' } },
  { value: 'the namespace of the release', props: { namespace: 'mesh' }, note: 'rendered, with its labels' },
  {
    value: 'createNamespaceMetadataJob, namespaceMetadata.*',
    note: 'needless: the namespace is rendered, with the labels that the job would add',
  },
  {
    value: 'cniEnabled',
    props: { podSecurity: 'restricted' },
    note: 'the namespace admits privileged pods by default, since the init container of the proxy is one',
  },
  { value: 'nodeSelector, tolerations', note: 'of the local service mirror; see `localServiceMirror`' },
  {
    value: 'remoteMirrorServiceAccount',
    props: { sources: [{ sourceCluster: 'east' }] },
    note: 'one for each source cluster, instead of one for all',
  },
  {
    value: 'remoteMirrorServiceAccountName',
    props: { sources: [{ sourceCluster: 'east', name: 'east-reads' }] },
  },
  { value: 'enablePSP', note: 'gone from Kubernetes; see `cniEnabled`' },
  {
    value: 'controllers[].link.ref.name',
    props: link({}),
    note: 'one operator serves every Link of its namespace',
  },
  { value: 'controllerDefaults.replicas', props: operator({ replicas: 3 }), note: '2 by default, of which one leads' },
  {
    value: 'controllerDefaults.image.name, controllerDefaults.image.version',
    props: { operator: { image: 'registry.example.com/mirror:1' } },
  },
  { value: 'controllerDefaults.image.pullPolicy', props: operator({ imagePullPolicy: 'IfNotPresent' }) },
  {
    value: 'controllerDefaults.gateway.enabled',
    props: link({ gatewayAddresses: ['203.0.113.10'] }),
    note: 'a Link without addresses has no gateway',
  },
  {
    value: 'controllerDefaults.gateway.probe.port',
    props: link({ gatewayAddresses: ['203.0.113.10'], probe: { port: 8443 } }),
  },
  { value: 'controllerDefaults.logLevel', props: operator({ logLevel: 'debug' }) },
  { value: 'controllerDefaults.logFormat', props: operator({ logFormat: 'pretty' }), note: '`json` by default' },
  { value: 'controllerDefaults.retryLimit', note: 'needless: retried until it works' },
  {
    value: 'controllerDefaults.enableHeadlessServices',
    props: operator({ enableHeadlessServices: true }),
    note: 'or for one Link alone: `links[].enableHeadlessServices`',
  },
  { value: 'enableNamespaceCreation', props: operator({ enableNamespaceCreation: true }) },
  { value: 'controllerDefaults.resources', props: operator({ resources: { requests: { cpu: '50m' } } }) },
  { value: 'controllerDefaults.nodeSelector', props: operator({ nodeSelector: { pool: 'edge' } }) },
  { value: 'controllerDefaults.tolerations', props: operator({ tolerations: [{ operator: 'Exists' }] }) },
  { value: 'controllerDefaults.enablePodAntiAffinity', props: operator({ antiAffinity: 'required' }) },
  {
    value: 'controllerDefaults.nodeAffinity',
    props: operator({
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [{ key: 'pool', operator: 'Exists' }] } },
        ],
      },
    }),
  },
  { value: 'controllerDefaults.UID', props: operator({ runAsUser: 2103 }) },
  { value: 'controllerDefaults.GID', props: operator({ runAsGroup: 2103 }), note: 'that of the user by default' },
  { value: 'controllerDefaults.enablePprof', note: 'none; `/metrics` is always served' },
  {
    value: 'controllers[].enableHeadlessServices',
    props: link({ enableHeadlessServices: true }),
    note: 'of one Link',
  },
  {
    value: 'controllers[].gateway.enabled',
    props: link({ gatewayAddresses: ['203.0.113.11'] }),
    note: 'of one Link',
  },
  {
    value: 'controllers[].gateway.probe.port',
    props: link({ gatewayAddresses: ['203.0.113.11'], probe: { port: 8443 } }),
    note: 'of one Link',
  },
  { value: 'controllers[].*', note: 'one operator serves all Links: props of `operator`, for all of them' },
  {
    value: 'serviceMirrorAdditionalEnv, serviceMirrorExperimentalEnv',
    props: operator({ env: { HTTPS_PROXY: 'http://proxy.example.com:3128' } }),
  },
  {
    value: 'localServiceMirror.federatedServiceSelector',
    props: link({ federatedServiceSelector: { matchLabels: { federated: 'yes' } } }),
    note: 'written to the Link for Linkerd; Linkspan does not serve federated Services yet',
  },
  {
    value: 'localServiceMirror.*',
    note: "none: Linkspan does not serve federated Services yet. Keep Linkerd's local service mirror where you have any",
  },
];

/** Props that are shown as a whole. */
const LEAVES: ReadonlySet<string> = new Set([
  'annotations',
  'podAnnotations',
  'deploymentAnnotations',
  'podLabels',
  'nodeAffinity',
  'env',
]);

/** Reports whether a value of the table, which may be several, or all under one, is about a key of the chart. */
export const isAbout = (value: string, key: string): boolean =>
  value.split(', ').some((each) => each === key || (each.endsWith('.*') && key.startsWith(each.slice(0, -1))));

/** Props as a path: `gateway.service.port`, `links[].probe`. What goes with every operator or Link is not the point. */
export const propPath = (props: object): string => {
  const entries = Object.entries(props);
  const [key, value] = entries.at(-1) as [string, unknown];
  if (LEAVES.has(key) || key.endsWith('Selector')) return key;
  if (Array.isArray(value)) {
    const [first] = value as readonly unknown[];
    const listed = ['links', 'sources'].includes(key) && typeof first === 'object' && first !== null;
    return listed ? `${key}[].${propPath(first)}` : key;
  }
  return typeof value === 'object' && value !== null && key !== 'resources' ? `${key}.${propPath(value)}` : key;
};
