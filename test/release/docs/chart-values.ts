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

const PATCH = 'by `addJsonPatch` on what is rendered';

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
  { value: 'gateway.deploymentAnnotations', note: PATCH },
  { value: 'gateway.loadBalancerClass', props: { gateway: { service: { loadBalancerClass: 'example.com/lb' } } } },
  { value: 'gateway.loadBalancerIP', props: { gateway: { service: { loadBalancerIP: '203.0.113.7' } } } },
  {
    value: 'gateway.loadBalancerSourceRanges',
    props: { gateway: { service: { loadBalancerSourceRanges: ['198.51.100.0/24'] } } },
  },
  { value: 'gateway.terminationGracePeriodSeconds', note: PATCH },
  { value: 'gateway.nodeSelector', props: { gateway: { nodeSelector: { pool: 'edge' } } } },
  { value: 'gateway.tolerations', props: { gateway: { tolerations: [{ operator: 'Exists' }] } } },
  { value: 'gateway.pauseImage', props: { gateway: { image: 'registry.example.com/pause:3.10' } } },
  { value: 'gateway.UID, gateway.GID', note: 'fixed; no right depends on them' },
  { value: 'enablePodAntiAffinity', props: { gateway: { antiAffinity: 'required' } }, note: '`preferred` by default' },
  { value: 'nodeAffinity', note: `\`nodeSelector\` and \`tolerations\`, or ${PATCH}` },
  { value: 'podAnnotations, podLabels', note: PATCH },
  { value: 'commonLabels', note: '`labels` of the cdk8s `Chart`' },
  { value: 'imagePullPolicy', props: operator({ imagePullPolicy: 'Always' }) },
  { value: 'imagePullSecrets', note: PATCH },
  { value: 'revisionHistoryLimit', note: PATCH },
  { value: 'proxyOutboundPort', note: 'nothing depends on it' },
  { value: 'linkerdVersion', note: 'nothing depends on it' },
  { value: 'linkerdNamespace', props: { linkerdNamespace: 'l5d' } },
  { value: 'identityTrustDomain', props: { trustDomain: 'example.com' } },
  { value: 'the namespace of the release', props: { namespace: 'mesh' }, note: 'rendered, with its labels' },
  { value: 'createNamespaceMetadataJob, namespaceMetadata.*', note: 'needless: the namespace is rendered labelled' },
  {
    value: 'remoteMirrorServiceAccount',
    props: { sources: [{ sourceCluster: 'east' }] },
    note: 'one for each source cluster, instead of one for all',
  },
  {
    value: 'remoteMirrorServiceAccountName',
    props: { sources: [{ sourceCluster: 'east', name: 'east-reads' }] },
  },
  { value: 'enablePSP', note: 'gone from Kubernetes; the pods meet the restricted security standard' },
  {
    value: 'controllers[].link.ref.name',
    props: link({}),
    note: 'one operator serves every Link of its namespace',
  },
  { value: 'controllerDefaults.replicas', props: operator({ replicas: 3 }), note: '2 by default, of which one leads' },
  {
    value: 'controllerDefaults.image.name, .version',
    props: { operator: { image: 'registry.example.com/mirror:1' } },
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
  { value: 'controllerDefaults.nodeAffinity', note: `\`nodeSelector\` and \`tolerations\`, or ${PATCH}` },
  { value: 'controllerDefaults.UID, .GID', note: 'fixed: the user of the image' },
  {
    value: 'controllerDefaults.enableTrustRootsMirroring',
    note: 'none: give the clusters a common trust anchor, or a bundle of theirs',
  },
  { value: 'controllerDefaults.enablePprof', note: 'none; `/metrics` is always served' },
  { value: 'serviceMirrorAdditionalEnv, serviceMirrorExperimentalEnv', note: `props of \`operator\`, or ${PATCH}` },
  {
    value: 'localServiceMirror.federatedServiceSelector',
    props: link({ federatedServiceSelector: { matchLabels: { federated: 'yes' } } }),
  },
  { value: 'localServiceMirror.*', note: 'needless: the operator itself sees to the local members' },
];

/** Props as a path: `gateway.service.port`, `links[].probe`. What goes with every operator or Link is not the point. */
export const propPath = (props: object): string => {
  const entries = Object.entries(props);
  const [key, value] = entries.at(-1) as [string, unknown];
  if (key === 'annotations' || key === 'nodeSelector' || key.endsWith('Selector')) return key;
  if (Array.isArray(value)) {
    const [first] = value as readonly unknown[];
    const listed = ['links', 'sources'].includes(key) && typeof first === 'object' && first !== null;
    return listed ? `${key}[].${propPath(first)}` : key;
  }
  return typeof value === 'object' && value !== null && key !== 'resources' ? `${key}.${propPath(value)}` : key;
};
