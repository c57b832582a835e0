/**
 * The values of Linkerd's multicluster chart, each with the props that take its place. `linkspan install` reads values files
 * by it, and docs/constructs.md shows it. Props are made here, not named: the types hold that they exist, and a test that
 * those of the example change what is rendered.
 */
import type { LinkProps, MulticlusterProps } from '../../../constructs/index.ts';
import { Default, remoteAccessName } from '../../../crds/wire.ts';

/** One value of the chart. */
export interface ChartValue {
  /** Path of the value; of several, separated by commas, that have the same row. */
  readonly value: string;
  /** Props of Multicluster that do the same as some value that is not the default; undefined if there are none. */
  readonly example?: MulticlusterProps;
  /** The props of a value in a values file; undefined if `install` ignores it, for the reason that the note gives. */
  readonly props?: (given: never) => MulticlusterProps;
  /** Why a value in a values file cannot be read; undefined if it can. */
  readonly problem?: (given: unknown) => string | undefined;
  /** What the table says about it. */
  readonly note?: string;
  /** Why `install` ignores the value, and what to do instead. @default - the note */
  readonly ignored?: string;
  /** Values that are ignored without a word: they change nothing. */
  readonly usual?: readonly unknown[];
}

/** A value that a values file sets. */
const taken = <const T>(
  value: string,
  example: T,
  props: (given: T) => MulticlusterProps,
  more: Pick<ChartValue, 'note' | 'problem'> = {},
): ChartValue => ({ value, example: shown(props(example)), props, ...more });

const IMAGE = 'registry.example.com/linkspan:0.1.0';
/** An operator needs an image. */
const shown = (props: MulticlusterProps): MulticlusterProps =>
  props.operator === undefined ? props : { ...props, operator: { ...props.operator, image: IMAGE } };

type Gateway = Exclude<NonNullable<MulticlusterProps['gateway']>, false>;
type Operator = Omit<NonNullable<MulticlusterProps['operator']>, 'image'>;

const gateway = (props: Gateway): MulticlusterProps => ({ gateway: props });
const service = (props: NonNullable<Gateway['service']>): MulticlusterProps => ({ gateway: { service: props } });
/** The image comes from a flag. */
const operator = (props: Operator): MulticlusterProps => ({
  operator: props as NonNullable<MulticlusterProps['operator']>,
});
const both = (props: Gateway & Operator): MulticlusterProps => ({ ...operator(props), ...gateway(props) });

/** A value that is a prop of a Link, which `install` does not make. */
const ofLink = (value: string, props: Omit<LinkProps, 'targetCluster'>, note?: string): ChartValue => ({
  value,
  example: { links: [{ targetCluster: 'west', ...props }] },
  ...(note !== undefined && { note }),
  ignored: 'it is a setting of a Link, which linkspan link makes',
});

const POOL: Readonly<Record<string, string>> = { pool: 'edge' };
const EXISTS = [{ operator: 'Exists' }] as const;
const AFFINITY = {
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'Exists' }] }],
  },
} as const;
const LINUX = { 'kubernetes.io/os': 'linux' };

/** An environment variable, as a container has it. */
interface Variable {
  readonly name: string;
  readonly value: string;
}

const variablesProblem = (given: unknown): string | undefined =>
  Array.isArray(given) &&
  given.every((each: Partial<Variable> | null) => typeof each?.name === 'string' && typeof each.value === 'string')
    ? undefined
    : 'must be a list of variables, each with name and value';

type Resources = NonNullable<Operator['resources']>;

/** Resources in the chart's form, `cpu.request`; Kubernetes' own is `requests.cpu`. */
type ChartResources = Readonly<Record<string, { readonly request?: string; readonly limit?: string } | undefined>>;

const isKubernetes = (given: Resources | ChartResources): given is Resources =>
  'requests' in given || 'limits' in given;

const resourcesOf = (given: Resources | ChartResources): Resources => {
  if (isKubernetes(given)) return given;
  const part = (of: 'request' | 'limit'): Readonly<Record<string, string>> | undefined => {
    const amounts = Object.entries(given).flatMap(([name, each]) => (each?.[of] ? [[name, each[of]] as const] : []));
    return amounts.length === 0 ? undefined : Object.fromEntries(amounts);
  };
  return { requests: part('request'), limits: part('limit') };
};

const isSecretName = (given: unknown): boolean =>
  typeof given === 'string' ||
  (typeof given === 'object' && given !== null && 'name' in given && typeof given.name === 'string');

/** Names of Secrets, as pods refer to them. */
const namesOf = (given: readonly (string | { readonly name: string })[]): readonly string[] =>
  given.map((each) => (typeof each === 'string' ? each : each.name));

/** In the order of the chart. */
export const CHART_VALUES: readonly ChartValue[] = [
  taken<boolean>('gateway.enabled', false, (enabled) => (enabled ? {} : { gateway: false })),
  taken('gateway.replicas', 5, (replicas) => gateway({ replicas }), { note: '3 by default, instead of 1' }),
  { value: 'gateway.name', note: 'always `linkerd-gateway`: the identity is made of it', usual: [Default.gatewayName] },
  taken('gateway.port', 443, (port) => service({ port })),
  taken('gateway.serviceType', 'NodePort', (type) => service({ type })),
  taken('gateway.nodePort', 30_143, (nodePort) => service({ nodePort })),
  taken('gateway.probe.path', '/live', (probePath) => gateway({ probePath })),
  taken('gateway.probe.port', 8443, (probePort) => service({ probePort })),
  taken('gateway.probe.nodePort', 30_191, (probeNodePort) => service({ probeNodePort })),
  taken('gateway.probe.seconds', 5, (probePeriod) => gateway({ probePeriod })),
  taken('gateway.serviceAnnotations', { 'example.com/lb': 'a' }, (annotations) => service({ annotations })),
  taken('gateway.serviceExternalTrafficPolicy', 'Local', (externalTrafficPolicy) => service({ externalTrafficPolicy })),
  {
    ...taken('gateway.healthCheckNodePort', 30_100, (healthCheckNodePort) => service({ healthCheckNodePort })),
    example: service({ externalTrafficPolicy: 'Local', healthCheckNodePort: 30_100 }),
  },
  taken('gateway.deploymentAnnotations', { 'example.com/a': 'b' }, (deploymentAnnotations) =>
    gateway({ deploymentAnnotations }),
  ),
  taken('gateway.loadBalancerClass', 'example.com/lb', (loadBalancerClass) => service({ loadBalancerClass })),
  taken('gateway.loadBalancerIP', '203.0.113.7', (loadBalancerIP) => service({ loadBalancerIP })),
  taken('gateway.loadBalancerSourceRanges', ['198.51.100.0/24'], (loadBalancerSourceRanges) =>
    service({ loadBalancerSourceRanges }),
  ),
  taken('gateway.terminationGracePeriodSeconds', 60, (terminationGracePeriod) => gateway({ terminationGracePeriod })),
  taken('gateway.nodeSelector', POOL, (nodeSelector) => gateway({ nodeSelector })),
  taken('gateway.tolerations', EXISTS, (tolerations) => gateway({ tolerations })),
  taken('gateway.pauseImage', 'registry.example.com/pause:3.10', (image) => gateway({ image })),
  taken('gateway.UID', 2103, (runAsUser) => gateway({ runAsUser })),
  taken('gateway.GID', 2103, (runAsGroup) => gateway({ runAsGroup }), { note: 'that of the user by default' }),
  taken<boolean>(
    'enablePodAntiAffinity',
    true,
    (isRequired) => (isRequired ? both({ antiAffinity: 'required' }) : {}),
    {
      note: 'and `operator.antiAffinity`; `preferred` by default',
    },
  ),
  taken('nodeAffinity', AFFINITY, (nodeAffinity) => both({ nodeAffinity }), { note: 'and `operator.nodeAffinity`' }),
  taken('podAnnotations', { 'example.com/a': 'b' }, (podAnnotations) => both({ podAnnotations }), {
    note: 'and `operator.podAnnotations`',
  }),
  taken('podLabels', { team: 'mesh' }, (podLabels) => both({ podLabels }), { note: 'and `operator.podLabels`' }),
  { value: 'commonLabels', note: '`labels` of the cdk8s `Chart`; in a cluster file and a `ClusterSet`: `labels`' },
  taken('imagePullPolicy', 'Always', (imagePullPolicy) => operator({ imagePullPolicy }), {
    note: "the gateway's: that of the kubelet",
  }),
  taken<readonly (string | { readonly name: string })[]>(
    'imagePullSecrets',
    ['registry'],
    (secrets) => both({ imagePullSecrets: namesOf(secrets) }),
    {
      note: 'and `operator.imagePullSecrets`',
      problem: (given) => (Array.isArray(given) && given.every(isSecretName) ? undefined : 'must be a list of names'),
    },
  ),
  taken('revisionHistoryLimit', 3, (revisionHistoryLimit) => both({ revisionHistoryLimit }), {
    note: 'and `operator.revisionHistoryLimit`',
  }),
  { value: 'proxyOutboundPort', note: 'nothing depends on it', usual: [4140] },
  { value: 'linkerdVersion', note: 'nothing depends on it', usual: ['linkerdVersionValue'] },
  {
    value: 'linkerdNamespace',
    example: { linkerdNamespace: 'l5d' },
    ignored: 'give it with --linkerd-namespace',
    usual: [Default.controlPlaneNamespace],
  },
  taken('identityTrustDomain', 'example.com', (trustDomain) => ({ trustDomain })),
  { value: 'the namespace of the release', example: { namespace: 'mesh' }, note: 'rendered, with its labels' },
  {
    value: 'createNamespaceMetadataJob, namespaceMetadata.*',
    note: 'needless: the namespace is rendered, with the labels that the job would add',
    usual: [true],
  },
  taken<boolean>('cniEnabled', true, (hasCni) => (hasCni ? { podSecurity: 'restricted' } : {}), {
    note: 'the namespace admits privileged pods by default, since the init container of the proxy is one',
  }),
  { value: 'nodeSelector, tolerations', note: 'of the local service mirror; see `localServiceMirror`', usual: [LINUX] },
  {
    value: 'remoteMirrorServiceAccount',
    example: { sources: [{ sourceCluster: 'east' }] },
    note: 'one for each source cluster, instead of one for all',
    ignored: 'linkspan link makes an account for each source cluster',
    usual: [true, false],
  },
  {
    value: 'remoteMirrorServiceAccountName',
    example: { sources: [{ sourceCluster: 'east', name: 'east-reads' }] },
    ignored: 'linkspan link makes an account for each source cluster',
    usual: [remoteAccessName('default')],
  },
  { value: 'enablePSP', note: 'gone from Kubernetes; see `cniEnabled`', usual: [false] },
  {
    ...ofLink('controllers[].link.ref.name', {}, 'one operator serves every Link of its namespace'),
    ignored: 'one operator serves every Link of its namespace',
  },
  taken('controllerDefaults.replicas', 3, (replicas) => operator({ replicas }), {
    note: '2 by default, of which one leads',
  }),
  {
    value: 'controllerDefaults.image.name, controllerDefaults.image.version',
    example: { operator: { image: 'registry.example.com/mirror:1' } },
    ignored: "it is the image of Linkerd's controller; give that of Linkspan with --image",
    usual: ['linkerdVersionValue'],
  },
  taken('controllerDefaults.image.pullPolicy', 'IfNotPresent', (imagePullPolicy) => operator({ imagePullPolicy })),
  ofLink(
    'controllerDefaults.gateway.enabled',
    { gatewayAddresses: ['203.0.113.10'] },
    'a Link without addresses has no gateway',
  ),
  ofLink('controllerDefaults.gateway.probe.port', { gatewayAddresses: ['203.0.113.10'], probe: { port: 8443 } }),
  taken('controllerDefaults.logLevel', 'debug', (logLevel) => operator({ logLevel })),
  taken<string>(
    'controllerDefaults.logFormat',
    'plain',
    (format) => operator({ logFormat: (format === 'plain' ? 'pretty' : format) as 'json' }),
    { note: '`json` by default; `pretty` for `plain`' },
  ),
  { value: 'controllerDefaults.retryLimit', note: 'needless: retried until it works', usual: [3] },
  taken(
    'controllerDefaults.enableHeadlessServices',
    true,
    (enableHeadlessServices) => operator({ enableHeadlessServices }),
    { note: 'or for one Link alone: `links[].enableHeadlessServices`' },
  ),
  taken('enableNamespaceCreation', true, (enableNamespaceCreation) => operator({ enableNamespaceCreation })),
  taken<Resources | ChartResources>(
    'controllerDefaults.resources',
    { requests: { cpu: '50m' } },
    (resources) => operator({ resources: resourcesOf(resources) }),
    {
      problem: (given) =>
        typeof given === 'object' && given !== null && !Array.isArray(given) ? undefined : 'must be a map of resources',
    },
  ),
  taken('controllerDefaults.nodeSelector', POOL, (nodeSelector) => operator({ nodeSelector })),
  taken('controllerDefaults.tolerations', EXISTS, (tolerations) => operator({ tolerations })),
  taken<boolean>('controllerDefaults.enablePodAntiAffinity', true, (isRequired) =>
    isRequired ? operator({ antiAffinity: 'required' }) : {},
  ),
  taken('controllerDefaults.nodeAffinity', AFFINITY, (nodeAffinity) => operator({ nodeAffinity })),
  taken('controllerDefaults.UID', 2103, (runAsUser) => operator({ runAsUser })),
  taken('controllerDefaults.GID', 2103, (runAsGroup) => operator({ runAsGroup }), {
    note: 'that of the user by default',
  }),
  { value: 'controllerDefaults.enablePprof', note: 'none; `/metrics` is always served', usual: [false] },
  ofLink('controllers[].enableHeadlessServices', { enableHeadlessServices: true }, 'of one Link'),
  ofLink('controllers[].gateway.enabled', { gatewayAddresses: ['203.0.113.11'] }, 'of one Link'),
  ofLink(
    'controllers[].gateway.probe.port',
    { gatewayAddresses: ['203.0.113.11'], probe: { port: 8443 } },
    'of one Link',
  ),
  { value: 'controllers[].*', note: 'one operator serves all Links: props of `operator`, for all of them' },
  taken<readonly Variable[]>(
    'serviceMirrorAdditionalEnv, serviceMirrorExperimentalEnv',
    [{ name: 'HTTPS_PROXY', value: 'http://proxy.example.com:3128' }],
    (variables) => operator({ env: Object.fromEntries(variables.map(({ name, value }) => [name, value])) }),
    { problem: variablesProblem },
  ),
  taken('localServiceMirror.federatedServiceSelector', 'federated=yes', (federatedSelector) =>
    operator({ federatedSelector }),
  ),
  {
    value: 'localServiceMirror.excludedLabels, localServiceMirror.excludedAnnotations',
    note: 'none: what identifies a Service to other tools is never copied, and the rest always is',
  },
  {
    value: 'localServiceMirror.*',
    note: 'needless: the operator federates the Services of its own cluster too; see `controllerDefaults`',
  },
];

/** Reports whether a value of the table, which may be several, or all under one, is about a key of the chart. */
export const isAbout = (value: string, key: string): boolean =>
  value.split(', ').some((each) => each === key || (each.endsWith('.*') && key.startsWith(each.slice(0, -1))));
