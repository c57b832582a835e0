/**
 * Every kind of bad input with what is said about it, produced by the code that says it: the tables of
 * docs/bad-input.md. A message that changes changes the page, or fails the test that compares them.
 */
import { EventEmitter, once } from 'node:events';
import { Command, CommanderError } from 'commander';
import { formatFieldErrors, readLink } from '../../../crds/index.ts';
import { parseOperatorConfig, variableWarnings } from '../../../operator/config/config.ts';
import { addOperatorFlags, type FlagValues } from '../../../operator/config/flags.ts';
import { ApiError, ConnectionError, TerminalError } from '../../../operator/kube/errors.ts';
import { loadSourceKubeconfig } from '../../../operator/kube/access/kubeconfig.ts';
import type { EndpointSlice, Secret, Service } from '../../../operator/kube/objects.ts';
import { Credentials } from '../../../operator/target/credentials.ts';
import type { TargetObstacle } from '../../../operator/target/target.ts';
import { targetProblem } from '../../../operator/target/advice.ts';
import type { Observed } from '../../../operator/mirror/observed.ts';
import { shapeOf } from '../../../operator/mirror/shape.ts';
import { unreadableNamespace } from '../../../operator/mirror/reasons.ts';
import { sourceProblem } from '../../../operator/source/advice.ts';
import { link, service } from '../../support/builders.ts';
import { TARGET_KUBECONFIG } from '../../support/kubeconfig.ts';
import { type BadInput, FILES, saidOfCode, saidOfFile, TYPED, UNTYPED } from './bad-props.ts';

interface Row {
  readonly input: string;
  readonly message: string;
}

/** One table: where the message appears is its heading. */
interface Table {
  readonly heading: string;
  readonly where: string;
  readonly rows: readonly Row[];
}

const spec = (input: string, fields: object): Row => {
  const read = readLink(link('west', fields));
  return { input, message: read.ok ? 'accepted' : formatFieldErrors(read.errors) };
};

const probe = (fields: object): object => ({
  probeSpec: { path: '/ready', port: '4191', period: '3s', timeout: '30s', failureThreshold: '3', ...fields },
});

const links: Table = {
  heading: 'Links',
  where:
    'Condition `Accepted=False`, reason `InvalidLink`, and an Event on the Link. The Link is left alone, others are served.',
  rows: [
    spec('no `targetClusterName`', { targetClusterName: undefined }),
    spec('`targetClusterName` that is not a DNS label', { targetClusterName: 'West_1' }),
    spec('`targetClusterDomain` that is not a domain', { targetClusterDomain: 'cluster..local' }),
    spec('`clusterCredentialsSecret` that is not a name', { clusterCredentialsSecret: '../other' }),
    spec('`gatewayAddress` that is not an address', { gatewayAddress: 'gateway:4143' }),
    spec('`gatewayAddress` that Endpoints refuse', { gatewayAddress: '127.0.0.1' }),
    spec('`gatewayPort` that is not a number', { gatewayPort: 'http' }),
    spec('`gatewayPort` out of range', { gatewayPort: '70000' }),
    spec('`gatewayPort` as a number', { gatewayPort: 4143 }),
    spec('`probeSpec.path` without a slash', probe({ path: 'ready' })),
    spec('`probeSpec.period: 0s`', probe({ period: '0s' })),
    spec('`probeSpec.period: abc`', probe({ period: 'abc' })),
    spec('no `probeSpec.period`', probe({ period: undefined })),
    spec('`probeSpec.timeout` without a unit', probe({ timeout: '30' })),
    spec('`probeSpec.failureThreshold: "0"`', probe({ failureThreshold: '0' })),
    spec('selector with an unknown operator', {
      selector: { matchExpressions: [{ key: 'a', operator: 'Near', values: ['b'] }] },
    }),
    spec('selector with `In` and no values', { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }),
    spec('selector with a bad label value', { selector: { matchLabels: { a: 'not a label' } } }),
    spec('`targetNamespaces` without a name', { targetNamespaces: [] }),
    spec('`targetNamespaces` with one that is not a namespace, and one twice', {
      targetNamespaces: ['Shop', 'bank', 'bank'],
    }),
    spec('two things at once', { gatewayPort: '0', ...probe({ period: 'abc' }) }),
  ],
};

/** What the credentials verdict is on a Secret. */
const secret = async (input: string, given: Partial<Secret> | undefined, listed?: readonly string[]): Promise<Row> => {
  const verdicts = new EventEmitter();
  const credentials = new Credentials({
    timeoutMs: 1000,
    listed,
    onVerdict: (found) => verdicts.emit('verdict', found),
    adopt: () => Promise.resolve(true),
  });
  const said = once(verdicts, 'verdict');
  const object = given && { metadata: { name: 'cluster-credentials-west' }, ...given };
  await credentials.use('cluster-credentials-west', object, new AbortController().signal);
  const [{ status, reason, message }] = (await said) as [{ status: string; reason: string; message: string }];
  await credentials.close();
  return { input, message: status === 'True' ? 'accepted' : `\`${reason}\`: ${message}` };
};

const kubeconfig = (input: string, text: string): Promise<Row> =>
  secret(input, { data: { kubeconfig: Buffer.from(text).toString('base64') } });

/** The kubeconfig of a target with a piece replaced. */
const edited = (from: RegExp, to: string): string => {
  if (!from.test(TARGET_KUBECONFIG)) throw new Error(`${from.source} is not in the kubeconfig`);
  return TARGET_KUBECONFIG.replace(from, to);
};

const secrets = async (): Promise<Table> => ({
  heading: 'Credentials',
  where:
    'Condition `CredentialsValid=False` with the reason, and an Event. A session that works keeps its credentials. Values of tokens and keys are never quoted.',
  rows: await Promise.all([
    secret('no Secret', undefined),
    secret('no `kubeconfig` in it', { data: {} }),
    secret('a Secret that is not listed', undefined, ['cluster-credentials-north']),
    kubeconfig('text that is not YAML', '{ a: ['),
    kubeconfig('YAML that is not a kubeconfig', 'hello'),
    kubeconfig('an http server', edited(/https:/, 'http:')),
    kubeconfig('no CA', edited(/certificate-authority-data: .*/, 'extensions: []')),
    kubeconfig('a CA by file', edited(/certificate-authority-data: .*/, 'certificate-authority: /etc/ca.crt')),
    kubeconfig(
      '`insecure-skip-tls-verify`',
      edited(/certificate-authority-data: .*/, 'insecure-skip-tls-verify: true'),
    ),
    kubeconfig('a proxy', edited(/(\s+)(certificate-authority-data)/, '$1proxy-url: http://proxy$1$2')),
    kubeconfig(
      'an exec plugin',
      edited(/token: .*/, 'exec: { command: /bin/sh, apiVersion: client.authentication.k8s.io/v1 }'),
    ),
    kubeconfig('an auth provider', edited(/token: .*/, 'auth-provider: { name: gcp }')),
    kubeconfig('a token by file', edited(/token: .*/, 'tokenFile: /etc/passwd')),
    kubeconfig('a password', edited(/token: .*/, 'username: admin, password: x'.replace(', ', '\n      '))),
    kubeconfig('no credentials', edited(/token: .*/, 'extensions: []')),
  ]),
});

const observed = (of: object, more: Partial<Observed> = {}): Observed => ({
  link: {
    cluster: 'west',
    clusterDomain: 'cluster.local',
    excludedLabels: [],
    excludedAnnotations: [],
    headless: true,
    createNamespaces: false,
    endpointsKind: 'endpoints',
  },
  gateway: { port: 4143, addresses: ['203.0.113.10'], alive: true },
  namespace: 'shop',
  name: (of as Service).metadata.name,
  target: { service: of as Service, mode: 'gateway' },
  slices: [] as EndpointSlice[],
  departed: new Map(),
  isAdmitted: true,
  admitsPod: () => true,
  decidable: true,
  namespaceState: 'exists',
  owned: { services: [], endpoints: [], slices: [] },
  isForeign: () => false,
  ...more,
});

const target = (input: string, value: Observed): Row => {
  const shape = shapeOf(value);
  const note = 'note' in shape ? `mirrored; ${shape.note ?? ''}` : 'mirrored';
  return { input, message: shape.kind === 'refused' ? `\`${shape.refusal.reason}\`: ${shape.refusal.message}` : note };
};

const services: Table = {
  heading: 'Services of a target',
  where:
    '`status.mirrorServices[]`, condition `Mirrored=False` with the reason, and an Event on the Link. Other Services are mirrored.',
  rows: [
    target(
      'type ExternalName',
      observed(service('web', { spec: { type: 'ExternalName', externalName: 'example.com' } })),
    ),
    target('no ports', observed(service('web', { ports: [] }))),
    target('only UDP ports', observed(service('dns', { ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] }))),
    target(
      'some UDP ports',
      observed(
        service('dns', {
          ports: [
            { name: 'tcp', port: 53 },
            { name: 'udp', port: 53, protocol: 'UDP' },
          ],
        }),
      ),
    ),
    target(
      'itself a mirror',
      observed(service('web-north', { labels: { 'mirror.linkerd.io/mirrored-service': 'true' } })),
    ),
    target(
      'federated elsewhere',
      observed(service('web', { annotations: { 'multicluster.linkerd.io/remote-discovery': 'web@north' } })),
    ),
    target('a name that is too long once suffixed', observed(service('w'.repeat(60)))),
    target('a namespace that is missing', observed(service('web'), { namespaceState: 'missing' })),
    target(
      'a namespace that may not be written to',
      observed(service('web'), { namespace: 'kube-system', namespaceState: 'forbidden' }),
    ),
    target(
      'a namespace that an operator limited to namespaces cannot read',
      observed(service('web'), { namespaceState: 'unreadable' }),
    ),
    target('headless, without endpoints', observed(service('db', { headless: true }))),
    target('exported, but the Link has no gateway', observed(service('web'), { gateway: undefined })),
  ],
};

const flags = (input: string, given: FlagValues, env: Readonly<Record<string, string>> = {}): Row => {
  const parsed = parseOperatorConfig(given, env, () => 'pod-0');
  const messages = parsed.ok ? variableWarnings(env) : parsed.errors.map((error) => formatFieldErrors([error]));
  return { input: `\`${input}\``, message: messages.length === 0 ? 'accepted' : messages.join('<br>') };
};

const unknownFlag = (input: string): Row => {
  const command = addOperatorFlags(new Command('operator'))
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  try {
    command.parse(input.split(' '), { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return { input: `\`${input}\``, message: error.message };
  }
  return { input: `\`${input}\``, message: 'accepted' };
};

const commandLine: Table = {
  heading: 'Flags and variables',
  where: 'Standard error, all at once, and exit code 2. A variable that is not known causes a warning.',
  rows: [
    unknownFlag('--nope'),
    unknownFlag('--namespace'),
    flags('--namespace Not_A_Namespace', { namespace: 'Not_A_Namespace' }),
    flags('--endpoints both', { endpoints: 'both' }),
    flags('--probe-via magic', { probeVia: 'magic' }),
    flags('--probe-connect-to west', { probeConnectTo: ['west'] }),
    flags('--gateway-resolve-period 1', { gatewayResolvePeriod: '1' }),
    flags('--admin-address 9999', { adminAddress: '9999' }),
    flags('--lease-duration 5s', { leaseDuration: '5s' }),
    flags('--retry-period 10s', { retryPeriod: '10s' }),
    flags('--concurrency 0', { concurrency: '0' }),
    flags('--mirror-namespaces a,,b', { mirrorNamespaces: 'a,,b' }),
    flags('--mirror-namespaces shop --enable-namespace-creation', {
      mirrorNamespaces: 'shop',
      enableNamespaceCreation: true,
    }),
    flags('--mirror-namespaces kube-system', { mirrorNamespaces: 'kube-system' }),
    flags('--credentials-secrets west,../x', { credentialsSecrets: 'west,../x' }),
    flags('LINKSPAN_CONCURRENCY=many', {}, { LINKSPAN_CONCURRENCY: 'many' }),
    flags('LINKSPAN_NAMESPACES=shop', {}, { LINKSPAN_NAMESPACES: 'shop' }),
  ],
};

const source = (input: string, options: Parameters<typeof loadSourceKubeconfig>[0]): Row => {
  try {
    loadSourceKubeconfig(options);
    return { input, message: 'accepted' };
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    return { input, message: error.message };
  }
};

const sourceKubeconfig: Table = {
  heading: 'The kubeconfig of the source cluster',
  where: 'The log, and exit code 1.',
  rows: [source('a file that is not there', { kubeconfig: '/nowhere/kubeconfig' })],
};

const answered = (code: number): ApiError => new ApiError(code, { reason: '', message: '' }, 'list');

const sourceCluster: Table = {
  heading: 'The source cluster',
  where: 'The log, once for each change, and `/readyz`. It is tried again until it works.',
  rows: [
    { input: 'the Link CRD is not installed', message: sourceProblem('links', answered(404), 'linkerd-multicluster') },
    { input: 'missing rights', message: sourceProblem('services', answered(403), 'linkerd-multicluster') },
    { input: 'one of `--mirror-namespaces` that cannot be read', message: unreadableNamespace('shop') },
    { input: 'credentials that are not known', message: sourceProblem('links', answered(401), 'linkerd-multicluster') },
    {
      input: 'an API server that does not answer',
      message: sourceProblem('links', new ConnectionError('refused'), 'linkerd-multicluster'),
    },
  ],
};

const obstacle = (input: string, given: TargetObstacle): Row => {
  const { reason, problem, fate, remedy } = targetProblem(given);
  return { input, message: `\`${reason}\`: ${problem}; ${fate}${remedy}` };
};

const targetCluster: Table = {
  heading: 'The target cluster',
  where:
    'Condition `TargetReachable=False` with the reason and since when, and an Event. It is tried again until it works.',
  rows: [
    obstacle('an API server that does not answer', {
      error: new ConnectionError('list services at https://api.west.example.com:6443: connect ECONNREFUSED'),
      namespaces: [],
    }),
    obstacle('one of `targetNamespaces` that may not be read', {
      error: new ApiError(403, { message: 'services is forbidden: User "east" cannot list it' }, 'list services'),
      namespaces: ['bank'],
    }),
  ],
};

const quoted = (input: string): string =>
  input === ''
    ? '(empty)'
    : input
        .split('\n')
        .map((line) => `\`${line}\``)
        .join('<br>');

/** Text in which nothing is markup. */
const plain = (message: string): string => message.replaceAll('<', '&lt;').replaceAll(/[*_]/g, (mark) => `\\${mark}`);

const props = (
  heading: string,
  where: string,
  inputs: readonly BadInput[],
  said: (input: string) => string,
): Table => ({
  heading,
  where,
  rows: inputs.map(({ input }) => ({
    input: quoted(input),
    message: said(input).split('<br>').map(plain).join('<br>'),
  })),
});

const SYNTHESIS =
  "Synthesis fails, by `App.synth()`, `Testing.synth` and `linkspan synth` alike, with the errors of all constructs and the construct's path in the tree. `WEST`, `OPERATOR`, `SET`, `MIRROR` and `SPLIT` stand for valid props.";

const inProps: readonly Table[] = [
  props('Props that types let pass', SYNTHESIS, TYPED, saidOfCode),
  props('Props that only plain JavaScript lets pass', SYNTHESIS, UNTYPED, saidOfCode),
  props('Cluster files', 'Standard error of `linkspan synth`, and exit code 2; nothing is written.', FILES, saidOfFile),
];

const render = ({ heading, where, rows }: Table): string => {
  const escape = (text: string): string => text.replaceAll('|', '\\|');
  const lines = rows.map(({ input, message }) => `| ${escape(input)} | ${escape(message)} |`);
  return [`## ${heading}`, '', where, '', '| given | what is said |', '| --- | --- |', ...lines].join('\n');
};

/** All rows, for the test that no bad input is accepted. */
export const badInput = async (): Promise<readonly Table[]> => [
  links,
  await secrets(),
  targetCluster,
  services,
  commandLine,
  sourceKubeconfig,
  sourceCluster,
  ...inProps,
];

/** The page. */
export const badInputPage = async (): Promise<string> =>
  [
    '# Bad input, and what is said about it',
    '',
    'Each message names the field, the value, the reason and the remedy. This page is produced by the code that says them: `npm run docs` writes it, a test holds it.',
    '',
    (await badInput()).map(render).join('\n\n'),
    '',
  ].join('\n');
