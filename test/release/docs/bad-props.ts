/**
 * Bad props of constructs and bad cluster files, with their messages: inputs that TypeScript accepts, inputs that only
 * plain JavaScript accepts, and YAML. They are the tables of docs/bad-input.md. A test shows that each is refused, and
 * none with an error of the runtime.
 */
import { ApiObject, App, Chart } from 'cdk8s';
import * as linkspan from '../../../constructs/index.ts';
import { formatFieldErrors } from '../../../crds/index.ts';
import { parseClusterFile } from '../../../synth/cluster-file/cluster-file.ts';
import { CERTIFICATE } from '../../cluster/certificate.ts';

/** One bad input, as a user writes it. */
export interface BadInput {
  /** Code, or text of a cluster file. */
  readonly input: string;
  /** A part of the message. */
  readonly expected: string;
}

const caData = Buffer.from(CERTIFICATE).toString('base64');

/** Valid props, for inputs to change one of them. */
const BASES = {
  WEST: { targetCluster: 'west', server: 'https://203.0.113.7:6443', caData, token: 't' },
  OPERATOR: { image: 'linkspan:1' },
  SET: {
    members: [
      { name: 'east', gatewayAddresses: ['gateway.east.example.com'] },
      { name: 'west', gatewayAddresses: ['gateway.west.example.com'] },
    ],
    operator: { image: 'linkspan:1' },
  },
  MIRROR: { service: 'web', namespace: 'shop', targetCluster: 'west', ports: [{ name: 'http', port: 80 }] },
  SPLIT: { service: 'web', backends: [{ service: 'web', weight: 1 }] },
} as const;

/** Runs code with all constructs, a chart and valid props in scope, and synthesizes the app. Returns the message. */
export const messageForCode = (code: string): string => {
  const app = new App();
  const chart = new Chart(app, 'c');
  const deployment = new ApiObject(chart, 'Deployment', { apiVersion: 'apps/v1', kind: 'Deployment' });
  const scope = { ...linkspan, ...BASES, app, chart, deployment, unset: undefined };
  try {
    // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call
    new Function(...Object.keys(scope), code)(...Object.values(scope));
    app.synthYaml();
    return 'accepted';
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const message = error.message.replace('Validation failed with the following errors:\n', '');
    const lines = message.split('\n').map((line) => line.trim());
    return error instanceof TypeError ? `TypeError: ${message}` : lines.join('<br>');
  }
};

/** Returns the message for a cluster file. */
export const messageForFile = (text: string): string => {
  const read = parseClusterFile(text);
  return read.ok ? 'accepted' : read.errors.map((error) => formatFieldErrors([error])).join('<br>');
};

const made = (construct: string, props: string, expected: string): BadInput => ({
  input: `new ${construct}(chart, 'x', ${props})`,
  expected,
});

const code = (input: string, expected: string): BadInput => ({ input, expected });

const file = (input: string, expected: string): BadInput => ({ input, expected });

const LONG = 'w'.repeat(62);

/** Types let these pass. */
export const TYPED: readonly BadInput[] = [
  made('Link', "{ targetCluster: 'West' }", 'targetCluster: "West" must be a valid DNS label'),
  made('Link', `{ targetCluster: '${LONG}' }`, 'must have at most 61 characters'),
  made('Link', "{ targetCluster: 'west', namespace: 'a b' }", 'namespace: "a b" must be a valid DNS label'),
  made('Link', "{ targetCluster: 'west', name: 'Up_per' }", 'name: "Up_per" must be a valid DNS subdomain'),
  made('Link', "{ targetCluster: 'west', labels: { a: 'b c' } }", 'labels.a: "b c" must be a valid label value'),
  made('Link', "{ targetCluster: 'west', gatewayPort: 4143 }", 'gatewayPort: 4143 must not be set without'),
  made('Link', "{ targetCluster: 'west', gatewayPort: NaN }", 'gatewayPort: NaN must be an integer'),
  made('Link', "{ targetCluster: 'west', gatewayIdentity: 'gw' }", 'gatewayIdentity: "gw" must not be set without'),
  made('Link', "{ targetCluster: 'west', probe: {} }", 'probe: {} must not be set without gatewayAddresses'),
  made('Link', "{ targetCluster: 'west', selector: { matchLabels: { a: 'b' } } }", 'gatewayAddresses: is required'),
  made('Link', "{ targetCluster: 'west', federation: 'gateway' }", 'is required: federation is gateway'),
  made('Link', "{ targetCluster: 'west', gatewayAddresses: [] }", 'gatewayAddresses: [] must not be empty'),
  made('Link', "{ targetCluster: 'west', gatewayAddresses: ['https://gw'] }", 'without scheme and port'),
  made('Link', "{ targetCluster: 'west', gatewayAddresses: ['1.2.3.4,5.6.7.8'] }", 'gatewayAddresses[0]: "1.2.3.4,5'),
  made('Link', "{ targetCluster: 'west', gatewayAddresses: ['localhost'] }", 'must not be localhost'),
  made('Link', "{ targetCluster: 'west', gatewayAddresses: ['127.0.0.1'] }", 'must not be a loopback'),
  made(
    'Link',
    "{ targetCluster: 'west', gatewayAddresses: ['gw'], gatewayPort: 99999 }",
    'gatewayPort: 99999 must be between 1 and 65535 (write a number from 1 to 65535)',
  ),
  made(
    'Link',
    "{ targetCluster: 'west', gatewayAddresses: ['gw'], probe: { period: 0 } }",
    'probe.period: 0 must be between 1ms and 480h',
  ),
  made(
    'Link',
    "{ targetCluster: 'west', gatewayAddresses: ['gw'], probe: { timeout: 'soon' } }",
    'probe.timeout: "soon" must be a valid duration',
  ),
  made('Link', "{ targetCluster: 'west', excludedLabels: ['*', 'a b'] }", 'excludedLabels[0]: "*" must be a valid key'),
  made('Link', "{ targetCluster: 'west', targetNamespaces: [] }", 'targetNamespaces: [] must not be empty'),
  made('LinkCredentials', '{ ...WEST, token: unset }', 'token: is required'),
  made('LinkCredentials', "{ ...WEST, token: 'a b' }", 'token: must be a token without spaces'),
  made('LinkCredentials', "{ ...WEST, server: 'http://api' }", 'server: "http://api" must be an https URL'),
  made('LinkCredentials', "{ ...WEST, caData: 'none' }", 'caData: must be base64 of PEM certificates'),
  made('LinkCredentials', "{ ...WEST, namespace: 'linkerd' }", 'linkerdNamespace: "linkerd" must differ'),
  made(
    'CredentialsReference',
    "{ targetCluster: 'west', server: WEST.server, caData: WEST.caData, token: { store: { name: 'vault' }, key: '' } }",
    'token.key: "" must not be empty',
  ),
  made(
    'RemoteAccess',
    "{ sourceCluster: 'east', flat: true, exportNamespaces: ['shop'] }",
    'must not be set together with flat',
  ),
  made('RemoteAccess', "{ sourceCluster: 'east', exportNamespaces: [] }", 'exportNamespaces: [] must not be empty'),
  made(
    'RemoteAccess',
    "{ sourceCluster: 'east', exportNamespaces: ['shop', 'shop'] }",
    'must name each namespace once',
  ),
  made('MirrorOperator', "{ ...OPERATOR, mirrorNamespaces: ['shop', 'shop'] }", 'must name each namespace once'),
  made('Gateway', "{ image: 'a b' }", 'image: "a b" must be a valid image reference'),
  made('Gateway', "{ probePeriod: '5' }", 'probePeriod: "5" must be a valid period (write 5s)'),
  made('Gateway', '{ replicas: -1 }', 'replicas: -1 must be a whole number of at least 0'),
  made('Gateway', "{ service: { type: 'ClusterIP', nodePort: 30143 } }", 'may only be used with types LoadBalancer'),
  made('Gateway', "{ tolerations: [{ effect: 'NoExecute' }] }", 'tolerations[0].key: is required unless operator'),
  code("new Gateway(chart, 'a'); new Gateway(chart, 'b')", 'linkerd-gateway is rendered twice, by c/a and by c/b'),
  code(
    "new Link(chart, 'a', { targetCluster: 'west' }); new Link(chart, 'b', { targetCluster: 'west' })",
    'Link linkerd-multicluster/west is rendered twice, by c/a and by c/b',
  ),
  made('GatewayPolicy', '{ sourceNetworks: [] }', 'sourceNetworks: [] must not be empty'),
  made('GatewayPolicy', "{ sourceNetworks: ['10.1.2.3/8'] }", 'without host bits (write 10.0.0.0/8)'),
  made('MirrorOperator', '{ image: unset }', 'image: is required'),
  made(
    'MirrorOperator',
    '{ ...OPERATOR, networkPolicy: { from: [] } }',
    'must not be empty: the API server would allow all',
  ),
  made('MirrorOperator', '{ ...OPERATOR, networkPolicy: { from: [{}] } }', 'must have podSelector'),
  made(
    'MirrorOperator',
    "{ ...OPERATOR, networkPolicy: { from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['192.168.0.0/24'] } }] } }",
    'networkPolicy.from[0].ipBlock.except[0]: "192.168.0.0/24" must be a part of 10.0.0.0/8, and not all of it',
  ),
  made(
    'MirrorOperator',
    "{ ...OPERATOR, networkPolicy: { from: [{ podSelector: { matchLabels: { app: 'a b' } } }] } }",
    'networkPolicy.from[0].podSelector.matchLabels.app: "a b" must be a valid label value',
  ),
  made(
    'MirrorOperator',
    "{ ...OPERATOR, networkPolicy: { from: [{ namespaceSelector: { matchLabels: { '/app': 'a' } } }] } }",
    'networkPolicy.from[0].namespaceSelector.matchLabels["/app"]: "a" must have a valid label key',
  ),
  made(
    'MirrorOperator',
    "{ ...OPERATOR, networkPolicy: { from: [{ podSelector: { matchExpressions: [{ key: 'app', operator: 'In' }] } }] } }",
    'podSelector.matchExpressions[0].values: must not be empty for In',
  ),
  ...[4140, 4143, 4190, 4191].map((port) =>
    made('MirrorOperator', `{ ...OPERATOR, adminPort: ${port} }`, "must not be a port of Linkerd's proxy"),
  ),
  made('MirrorOperator', "{ ...OPERATOR, mirrorNamespaces: ['kube-system'] }", 'must not be a namespace of Kubernetes'),
  made('MirrorOperator', "{ ...OPERATOR, leaseDuration: '30' }", 'leaseDuration: "30" must have a unit'),
  made(
    'MirrorOperator',
    "{ ...OPERATOR, leaseDuration: '5s' }",
    'leaseDuration: "5s" must be greater than renewDeadline, which is 10s (a longer time, or set renewDeadline too)',
  ),
  made('MirrorOperator', '{ ...OPERATOR, concurrency: 0 }', 'concurrency: 0 must be a whole number between 1 and 256'),
  made(
    'MirrorOperator',
    "{ ...OPERATOR, resources: { requests: { memory: '1Gi' }, limits: { memory: '512Mi' } } }",
    'resources.limits.memory: "512Mi" must not be less than the request of 1Gi',
  ),
  code('Exported.of(chart)', 'c has no Service to export'),
  code('Exported.of(deployment)', 'c/Deployment is a Deployment'),
  code("Exported.of(chart, { api: 'mcs', mode: 'gateway' })", 'mode: "gateway" may only be set if api is linkerd'),
  code('Federated.of(chart)', 'Federated.of needs a Service'),
  made('TrafficSplit', "{ service: 'web', backends: [] }", 'backends: [] must not be empty'),
  made(
    'TrafficSplit',
    "{ service: 'web', backends: [{ service: 'web', weight: 0 }] }",
    'must have at least one weight above 0',
  ),
  made('ServiceRoute', '{ ...SPLIT, port: 0 }', 'port: 0 must be between 1 and 65535'),
  made(
    'ServiceFailover',
    "{ service: 'web', backends: [{ service: 'web', minReady: '0%' }] }",
    'backends[0].minReady: "0%" must match pattern',
  ),
  made(
    'ServiceFailover',
    "{ service: 'web', backends: [{ service: 'web', weight: 1 }, { service: 'api' }] }",
    'backends: must all have a weight, or none',
  ),
  made('ServiceExport', "{ service: 'Web' }", 'service: "Web" must be a valid Service name'),
  made(
    'ServiceImport',
    "{ service: 'web', namespace: 'shop', ports: [{ port: 80 }], type: 'Headless', ips: ['10.0.0.1'] }",
    'ips: ["10.0.0.1"] must not be set if type is Headless',
  ),
  made('ClusterProperty', "{ name: 'cluster.clusterset.k8s.io', value: 'a.b' }", 'must be a valid DNS label'),
  made('Alerts', "{ alerts: { PruneHeld: { for: 'soon' } } }", 'must be a valid Prometheus duration'),
  made('Dashboard', "{ label: 'a b' }", 'must be a valid label key'),
  made('MirrorService', '{ ...MIRROR, ports: [] }', 'ports: [] must not be empty'),
  made(
    'MirrorService',
    "{ ...MIRROR, endpoints: { addresses: ['203.0.113.7'], port: 4143 } }",
    'must not be in Git: Argo CD leaves Endpoints out',
  ),
  made('HeadlessMirror', '{ ...MIRROR, static: true }', 'static: true must not be set without endpoints'),
  made('EndpointMirror', "{ ...MIRROR, hostname: 'Web-0' }", 'hostname: "Web-0" must be a valid DNS label'),
  made(
    'GatewayProbe',
    "{ link: 'west', targetCluster: 'west', port: 4191, addresses: ['gw'] }",
    'addresses[0]: "gw" must be a valid IP address',
  ),
  made(
    'FederatedService',
    "{ service: 'web', namespace: 'shop', ports: [{ port: 80 }] }",
    'must not be empty (name a target cluster, or set local)',
  ),
  made('Multicluster', '{ monitoring: {} }', 'monitoring: must not be set without operator'),
  made(
    'Multicluster',
    "{ gateway: { probePath: 'ready' }, links: [{ targetCluster: 'West' }] }",
    'links[0].targetCluster: "West" must be a valid DNS label',
  ),
  made(
    'ClusterSet',
    '{ ...SET, members: SET.members.map((each) => ({ ...each, gatewayAddresses: ["203.0.113.7"] })) }',
    'members[1].gatewayAddresses[0]: "203.0.113.7" must not be an address of the gateway of east',
  ),
  made('ClusterSet', '{ ...SET, members: [...SET.members, SET.members[0]] }', 'members[2].name: "east" must be unique'),
  made(
    'ArgoCd',
    "{ clusterSet: new ClusterSet(app, 'set', SET), repoUrl: 'https://user:pass@git.example.com/a.git' }",
    'repoUrl: must not contain a password',
  ),
  code(
    "new Gateway(chart, 'a', { replicas: -1 }); new Link(chart, 'b', { targetCluster: 'West' })",
    'replicas: -1 must be a whole number of at least 0<br>[c/b] Link linkerd-multicluster/West: targetCluster: "West"',
  ),
];

/** Types refuse these, and plain JavaScript does not. */
export const UNTYPED: readonly BadInput[] = [
  made('Link', "{ targetCluster: 'west', gatewayAdresses: ['gw'] }", 'did you mean gatewayAddresses?'),
  made('Link', "{ targetCluster: 'west', gatewayAdress: 'gw' }", 'did you mean gatewayAddresses?'),
  made('Link', "{ targetCluster: 'west', enableHeadlesServices: true }", 'did you mean enableHeadlessServices?'),
  made('Link', "{ targetClusterName: 'west' }", 'did you mean targetCluster'),
  made('Link', "{ targetCluster: 'west', gatewayAddresses: '1.2.3.4' }", '(put it in a list: ["1.2.3.4"])'),
  made('Link', "{ targetCluster: 'west', gatewayAddresses: [4] }", 'gatewayAddresses[0]: 4 must be a string'),
  made('Link', "{ targetCluster: 'west', gatewayPort: '4143' }", 'must be an integer (write 4143, without quotes)'),
  made('Link', "{ targetCluster: 'west', probe: { period: true } }", 'must be a string or a number'),
  made(
    'Link',
    "{ targetCluster: 'west', selector: { matchExpressions: [{}] } }",
    'matchExpressions[0].key: is required',
  ),
  made('Link', "{ targetCluster: 'west', labels: { a: 1 } }", 'labels.a: 1 must be a string (put it in quotes: "1")'),
  made('Link', "{ targetCluster: 'west', labels: new Map() }", 'an instance of Map must'),
  made('Link', "{ targetCluster: () => 'west' }", 'targetCluster: a function must be a string'),
  made('Link', "{ targetCluster: 'west', gatewayPort: 1n }", 'gatewayPort: a bigint must be an integer'),
  made('Link', '{}', 'targetCluster: is required'),
  made('Link', 'undefined', 'targetCluster: is required'),
  made('Link', 'null', 'targetCluster: is required'),
  made('Link', "'west'", '"west" must be an object'),
  made('Link', '[]', '[] must be an object'),
  made('LinkCredentials', '{}', 'caData: is required'),
  made('LinkCredentials', '{ ...WEST, token: 12345 }', 'token: must be a string'),
  made('LinkCredentials', "{ ...WEST, token: Promise.resolve('t') }", 'token: must be a string'),
  made(
    'CredentialsReference',
    "{ ...WEST, token: { store: 'vault', key: 'a' } }",
    'token.store: "vault" must be an object',
  ),
  made('Grant', '{}', 'to: is required'),
  made(
    'Grant',
    "{ to: { name: 'a', namespace: 'b' }, labels: {}, rules: ['get'] }",
    'rules[0]: "get" must be an object',
  ),
  made('TrafficSplit', '{ ...SPLIT, service: 3 }', 'service: 3 must be a Service'),
  made('TrafficSplit', '{ ...SPLIT, service: chart }', 'service: an instance of Chart must be a Service'),
  made('Gateway', "{ imagePullSecrets: 'registry' }", 'imagePullSecrets: "registry" must be an array'),
  made('MirrorOperator', "{ ...OPERATOR, scrapers: 'nobody' }", 'scrapers: "nobody" must be one of anybody'),
  made('RemoteAccess', '{}', 'sourceCluster: is required'),
  made('RemoteAccess', "{ sourceCluster: 'east', longLivedToken: 'yes' }", 'longLivedToken: "yes" must be a boolean'),
  made(
    'RemoteAccess',
    "{ sourceCluster: 'east', name: 'a'.repeat(240) }",
    'must be no longer than 239 characters: a Secret is called after it',
  ),
  made('RemoteAccess', "{ sourceCluster: 'east', namespaces: ['shop'] }", 'namespaces: is not a known field'),
  made('Gateway', '{ replica: 2 }', 'replica: is not a known field (did you mean replicas?)'),
  made('Gateway', "{ service: { type: 'Loadbalancer' } }", 'must be one of LoadBalancer, NodePort, ClusterIP'),
  made('Gateway', "{ antiAffinity: 'soft' }", 'must be one of required, preferred, none'),
  made('Gateway', '{ resources: { requests: { cpu: 1 } } }', 'resources.requests.cpu: 1 must be a string'),
  made('MirrorOperator', '{}', 'image: is required'),
  made('MirrorOperator', "{ ...OPERATOR, logLevel: 'verbose' }", 'logLevel: "verbose" must be one of debug'),
  made('MirrorOperator', "{ ...OPERATOR, credentialsSecrets: 'all' }", 'credentialsSecrets: "all" must be one of any'),
  made('MirrorOperator', "{ ...OPERATOR, mirrorNamespaces: 'shop' }", 'mirrorNamespaces: "shop" must be an array'),
  made('MirrorOperator', '{ ...OPERATOR, networkPolicy: true }', 'networkPolicy: true must be false, or an object'),
  made('Monitor', '{}', 'operator: is required'),
  made('Monitoring', '{ operator: {} }', 'operator: {} must be a MirrorOperator'),
  made('Alerts', '{ alerts: { LinkNotRedy: false } }', 'did you mean LinkNotReady?'),
  made('ArgoCd', "{ repoUrl: 'https://git.example.com/a.git' }", 'clusterSet: is required'),
  made('TrafficSplit', '{}', 'backends: is required'),
  made('TrafficSplit', "{ service: 'web', backends: [null] }", 'backends[0]: null must be an object'),
  made('ServiceRoute', '{}', 'port: is required'),
  made('ServiceFailover', '{}', 'backends: is required'),
  made('ServiceExport', '{}', 'service: is required'),
  made('ServiceImport', "{ service: 'web', namespace: 'shop' }", 'ports: is required'),
  made('MirrorService', '{}', 'ports: is required'),
  made('MirrorService', "{ ...MIRROR, mode: 'flat' }", 'mode: "flat" must be one of gateway, remote-discovery'),
  made('HeadlessMirror', '{ ...MIRROR, endpoints: {} }', 'endpoints.subsets: is required'),
  made('EndpointMirror', '{ ...MIRROR }', 'hostname: is required'),
  made('GatewayProbe', 'undefined', 'link: is required'),
  code('Exported.of(undefined)', 'scope: must be a construct'),
  code("Exported.of(chart, { mode: 'flat' })", 'mode: "flat" must be one of gateway, remote-discovery'),
  code("Federated.of('web')", 'scope: "web" must be a construct'),
  made('Multicluster', '{ links: {} }', 'links: {} must be an array'),
  made('Multicluster', '{ gateway: true }', 'gateway: true must be false, or an object'),
  made('Multicluster', "{ sources: [{}], links: [{ gatewayPort: '1' }] }", 'links[0].targetCluster: is required'),
  made('ClusterSet', '{}', 'members: is required'),
  made('ClusterSet', "{ ...SET, members: 'east' }", 'members: "east" must be an array'),
  made('ClusterSet', '{ ...SET, members: [null] }', 'members[0]: null must be an object'),
  made('ClusterSet', "{ ...SET, topology: { type: 'hub' } }", 'must be one of full-mesh, hub-and-spokes, pairs'),
  made('ClusterSet', "{ ...SET, topology: { type: 'pairs', pairs: [{}] } }", 'topology.pairs[0].source: is required'),
  code('const props = { targetCluster: "west" }; props.labels = props; new Link(chart, "x", props)', 'labels.labels: '),
];

const OPERATOR = 'operator: { image: "linkspan:1" }';
const EAST = 'name: east, gatewayAddresses: [gw.east.example.com]';
const WEST = 'name: west, gatewayAddresses: [gw.west.example.com]';
const MEMBERS = `members: [{ ${EAST} }, { ${WEST} }]`;

/** A valid file with more, a line each. */
const plus = (...lines: readonly string[]): string => [MEMBERS, OPERATOR, ...lines].join('\n');

/** A valid file but for the operator, or for the second member. */
const operator = (fields: string): string => `${MEMBERS}\noperator: { image: "linkspan:1", ${fields} }`;
const member = (fields: string): string => `members: [{ ${EAST} }, { ${fields} }]\n${OPERATOR}`;

/** Cluster files. */
export const FILES: readonly BadInput[] = [
  file('', 'it is not valid YAML: expected a document'),
  file('members: [', 'line'),
  file('- east', 'must be a map of fields'),
  file('members: []', 'members: [] must not be empty'),
  file('operator: { image: "linkspan:1" }', 'members: is required'),
  file(MEMBERS, 'operator: is required'),
  file(`${MEMBERS}\noperator: {}`, 'operator.image: is required'),
  file(plus('flatt: true'), 'flatt: is not a known field (did you mean flat?)'),
  file(plus('flat: "true"'), 'flat: "true" must be a boolean (write true, without quotes)'),
  file(plus('namespace: A'), 'namespace: "A" must be a valid DNS label'),
  file(plus('namespace: linkerd', 'flat: true'), 'namespace: "linkerd" must differ from linkerdNamespace'),
  file(plus('labels: { team: 1 }'), 'labels.team: 1 must be a string (put it in quotes: "1")'),
  file(member('name: west'), 'members[1].gatewayAddresses: is required'),
  file(member(`${WEST}, gatewayAddress: 203.0.113.7`), 'did you mean gatewayAddresses?'),
  file(member('name: west, gatewayAddresses: 203.0.113.7'), '(put it in a list: ["203.0.113.7"])'),
  file(member('name: west, gatewayAddresses: [gw.east.example.com]'), 'must not be an address of the gateway of east'),
  file(member('name: west, gatewayAddresses: [localhost]'), 'must not be localhost'),
  file(member(`${WEST}, networks: [10.1.2.3/8]`), 'without host bits (write 10.0.0.0/8)'),
  file(member(`${WEST}, networks: []`), 'members[1].networks: [] must not be empty'),
  file(member(`${WEST}, gateway: { probePeriod: "5" }`), 'must be a valid period (write 5s)'),
  file(member(`${WEST}, gateway: { probePeriod: 0 }`), 'probePeriod: 0 must be a valid period'),
  file(member(`${WEST}, gateway: { replicas: "3", probePath: ready }`), 'probePath: "ready" must be a valid path'),
  file(member(`${WEST}, gateway: { replicas: "3", probePath: ready }`), 'must be an integer (write 3, without quotes)'),
  file(member(`${WEST}, gateway: { service: { type: NodePort } }`), 'nodePort: is required: Links to a NodePort'),
  file(member(`${WEST}, gateway: { service: { type: loadbalancer } }`), 'must be one of LoadBalancer, NodePort'),
  file(member(`${WEST}, gateway: { image: "a b" }`), 'gateway.image: "a b" must be a valid image reference'),
  file(
    member(`${WEST}, apiServer: { url: http://api, caData: x }`),
    'apiServer.url: "http://api" must be an https URL',
  ),
  file(member(`name: ${LONG}, gatewayAddresses: [gw]`), 'must have at most 61 characters'),
  file(operator('leaseDuration: 5'), 'operator.leaseDuration: 5 must be greater than renewDeadline'),
  file(operator('leaseDuration: "30"'), 'operator.leaseDuration: "30" must have a unit'),
  file(operator('replica: 2'), 'operator.replica: is not a known field (did you mean replicas?)'),
  file(operator('replicas: -1, adminPort: 4191'), 'operator.replicas: -1 must be a whole number of at least 0'),
  file(operator('adminPort: 4191'), "operator.adminPort: 4191 must not be a port of Linkerd's proxy"),
  file(operator('networkPolicy: { from: [] }'), 'must not be empty: the API server would allow all'),
  file(operator('resources: { requests: { cpu: 1 } }'), 'cpu: 1 must be a string (put it in quotes: "1")'),
  file(operator('mirrorNamespaces: [kube-system]'), 'must not be a namespace of Kubernetes'),
  file(plus('topology: { type: mesh }'), 'must be one of full-mesh, hub-and-spokes, pairs'),
  file(plus('topology: { type: pairs }'), 'topology.pairs: is required when type is pairs'),
  file(
    plus('topology: { type: pairs, pairs: [{ source: east, target: west }, { source: east, target: west }] }'),
    'topology.pairs[1]: {"source":"east","target":"west"} must be unique',
  ),
  file(
    `members: [{ ${EAST} }, { ${WEST} }, { name: south }]\n${OPERATOR}\n` +
      'topology: { type: pairs, pairs: [{ source: east, target: west }] }',
    'members[2].name: "south" must be in a pair of the topology',
  ),
  file(plus('topology: { type: pairs, pairs: [{ source: east, target: north }] }'), 'must be the name of a member'),
  file(plus('credentials: { type: external-secret }'), 'credentials.store: is required when type is external-secret'),
  file(plus('credentials: { type: secret }'), 'must be one of external-secret, placeholder, left-out'),
  file(plus('monitoring: { alerts: { Doom: false } }'), 'monitoring.alerts.Doom: must be the name of an alert'),
  file(plus('argoCd: { repoURL: https://git.example.com/a.git }'), 'did you mean repoUrl?'),
  file(plus('argoCd: { repoUrl: https://git.example.com/a.git, destinations: { north: {} } }'), 'name of a member'),
];
