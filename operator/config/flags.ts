/**
 * The operator's flags: one table drives the command line, the environment and the documentation. Printing help loads
 * this file and commander, and nothing else of the operator.
 */
import { type Command, Option } from 'commander';
import { parseDuration, parsePort } from '../../crds/duration.ts';
import { isDnsLabel, isDnsSubdomain } from '../../crds/names.ts';
import { CredentialsSecret, Default } from '../../crds/wire.ts';
import type { HostPort, OperatorConfig } from './config.ts';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const LOG_FORMATS = ['json', 'pretty'] as const;

/** One flag, and so one variable and one row of the documentation. */
export interface OperatorFlag<T = unknown> {
  /** With its dashes. */
  readonly flag: `--${string}`;
  /** Name of its value; a flag without one is a switch. */
  readonly argument?: string;
  readonly repeatable?: true;
  /** Whether the command line knows `--no-…` too. */
  readonly negatable?: true;
  readonly description: string;
  /** The text that stands for what is not given; none if its absence is the value. */
  readonly default?: string;
  /** What the documentation says the default is, where it is no text. */
  readonly defaultDescription?: string;
  /** What a value must be, as an instruction. */
  readonly remedy: string;
  /** @throws RangeError that says what is wrong with the text, as `is …` */
  readonly parse: (text: string) => T;
}

const text = (value: string): string => value;

const dnsLabel = (value: string): string => {
  if (!isDnsLabel(value)) throw new RangeError('is no DNS label');
  return value;
};

const secretName = (value: string): string => {
  if (!isDnsSubdomain(value)) throw new RangeError('is no name of a Secret');
  return value;
};

const oneOf =
  <T extends string>(...values: readonly T[]) =>
  (value: string): T => {
    const found = values.find((one) => one === value);
    if (found === undefined) throw new RangeError(`is none of ${values.join(', ')}`);
    return found;
  };

const isTrue = (value: string): boolean => oneOf('true', 'false')(value) === 'true';

const duration =
  (leastMs: number, mostMs: number) =>
  (value: string): number => {
    const ms = parseDuration(value);
    if (ms < leastMs) throw new RangeError(`is less than ${leastMs / 1000}s`);
    if (ms > mostMs) throw new RangeError(`is more than ${mostMs / 1000}s`);
    return ms;
  };

/** The wire has whole seconds. */
const leaseDuration = (value: string): number => {
  const ms = duration(1000, HOUR_MS)(value);
  if (ms % 1000 !== 0) throw new RangeError('is no whole number of seconds');
  return ms;
};

const wholeNumber =
  (least: number, most: number) =>
  (value: string): number => {
    if (!/^[0-9]+$/.test(value)) throw new RangeError('is no whole number');
    const number = Number(value);
    if (number < least || number > most) throw new RangeError(`is not between ${least} and ${most}`);
    return number;
  };

const items = (value: string): readonly string[] => {
  const list = value.split(',').map((item) => item.trim());
  if (list.includes('')) throw new RangeError('has an empty item');
  return list;
};

/** `HOST:PORT`; a host with colons stands in brackets. */
const hostPort = (value: string, port: (text: string) => number): HostPort => {
  const parts = /^(?:\[(?<v6>[0-9A-Fa-f:.%]+)\]|(?<host>[^:[\]\s]+)):(?<port>[^:]*)$/.exec(value)?.groups;
  const host = parts?.['v6'] ?? parts?.['host'];
  if (host === undefined) throw new RangeError('is no HOST:PORT');
  try {
    return { host, port: port(parts?.['port'] ?? '') };
  } catch (error) {
    throw new RangeError(`has a port that ${(error as Error).message}`, { cause: error });
  }
};

const connectTo = (value: string): ReadonlyMap<string, HostPort> => {
  const targets = new Map<string, HostPort>();
  for (const item of value === '' ? [] : items(value)) {
    const equals = item.indexOf('=');
    if (equals < 1) throw new RangeError('is no HOST=ADDR:PORT');
    const host = item.slice(0, equals).toLowerCase();
    if (targets.has(host)) throw new RangeError('names a host twice');
    targets.set(host, hostPort(item.slice(equals + 1), parsePort));
  }
  return targets;
};

const HOUR_MS = 3_600_000;
const DURATION = 'give a Go duration such as';

/** Every flag, by the setting that it makes. */
export const OPERATOR_FLAGS: { readonly [Key in keyof OperatorConfig]: OperatorFlag<OperatorConfig[Key]> } = {
  kubeconfig: {
    flag: '--kubeconfig',
    argument: 'FILE',
    description: 'kubeconfig of the source cluster',
    defaultDescription: 'in-cluster, else the usual kubeconfig rules',
    remedy: 'give the path of a file',
    parse: text,
  },
  context: {
    flag: '--context',
    argument: 'NAME',
    description: 'context of the kubeconfig',
    defaultDescription: 'its current context',
    remedy: 'give the name of a context',
    parse: text,
  },
  namespace: {
    flag: '--namespace',
    argument: 'NS',
    description: 'namespace of the Links and their credentials',
    default: Default.multiclusterNamespace,
    remedy: 'give the name of a namespace',
    parse: dnsLabel,
  },
  controlPlaneNamespace: {
    flag: '--control-plane-namespace',
    argument: 'NS',
    description: "namespace of Linkerd's control plane, which is never written to for a mirror",
    default: Default.controlPlaneNamespace,
    remedy: 'give the name of a namespace',
    parse: dnsLabel,
  },
  identity: {
    flag: '--identity',
    argument: 'NAME',
    description: 'who the operator is in the Leases that it holds: the name of its pod',
    defaultDescription: 'POD_NAME, else the host name',
    remedy: 'give the name of the pod',
    parse: text,
  },
  enableHeadlessServices: {
    flag: '--enable-headless-services',
    description: 'mirror headless Services pod by pod, for Links that do not say',
    default: 'false',
    remedy: 'give true or false',
    parse: isTrue,
  },
  enableNamespaceCreation: {
    flag: '--enable-namespace-creation',
    description: 'create namespaces that mirrors need, for Links that do not say',
    default: 'false',
    remedy: 'give true or false',
    parse: isTrue,
  },
  mirrorNamespaces: {
    flag: '--mirror-namespaces',
    argument: 'LIST',
    description: 'the only namespaces that are read and written to for mirrors, separated by commas',
    defaultDescription: 'all but those of Kubernetes, of the control plane and of the operator',
    remedy: 'give names of namespaces, separated by commas',
    parse: (value) => items(value).map(dnsLabel),
  },
  credentialsSecrets: {
    flag: '--credentials-secrets',
    argument: 'LIST',
    description: 'the only Secrets that credentials are read from, each watched by its name, separated by commas',
    defaultDescription: `all of type ${CredentialsSecret.type}`,
    remedy: 'give names of Secrets, separated by commas',
    parse: (value) => items(value).map(secretName),
  },
  endpoints: {
    flag: '--endpoints',
    argument: 'KIND',
    description: 'what to write for a mirror: v1 Endpoints (endpoints) or EndpointSlices (slices)',
    default: 'endpoints',
    remedy: 'give endpoints or slices',
    parse: oneOf('endpoints', 'slices'),
  },
  probeVia: {
    flag: '--probe-via',
    argument: 'WAY',
    description: 'probe gateways through the probe Service (service, for a meshed pod) or directly (address)',
    default: 'service',
    remedy: 'give service or address',
    parse: oneOf('service', 'address'),
  },
  probeConnectTo: {
    flag: '--probe-connect-to',
    argument: 'HOST=ADDR:PORT',
    repeatable: true,
    description: 'where to connect for a probe host instead, for tests and demos',
    default: '',
    defaultDescription: 'none',
    remedy: 'give HOST=ADDR:PORT, each host once',
    parse: connectTo,
  },
  gatewayResolvePeriodMs: {
    flag: '--gateway-resolve-period',
    argument: 'DURATION',
    description: 'how often host names of gateways are resolved anew',
    default: '60s',
    remedy: `${DURATION} 60s, from 1s to 1h`,
    parse: duration(1000, HOUR_MS),
  },
  adminAddress: {
    flag: '--admin-address',
    argument: 'HOST:PORT',
    description: 'where /healthz, /readyz and /metrics are served; port 0 picks one and logs it',
    default: '0.0.0.0:9999',
    remedy: 'give HOST:PORT such as 0.0.0.0:9999 or [::]:9999',
    parse: (value) => hostPort(value, (port) => (port === '0' ? 0 : parsePort(port))),
  },
  leaderElect: {
    flag: '--leader-elect',
    negatable: true,
    description: 'work only while holding the Lease of the operator',
    default: 'true',
    remedy: 'give true or false',
    parse: isTrue,
  },
  leaseDurationMs: {
    flag: '--lease-duration',
    argument: 'DURATION',
    description: 'how long a Lease that is not renewed still has its holder',
    default: '30s',
    remedy: `${DURATION} 30s, of whole seconds, from 1s to 1h`,
    parse: leaseDuration,
  },
  renewDeadlineMs: {
    flag: '--renew-deadline',
    argument: 'DURATION',
    description: 'how long a renewal is tried before the Lease counts as lost',
    default: '10s',
    remedy: `${DURATION} 10s, less than --lease-duration`,
    parse: duration(100, HOUR_MS),
  },
  retryPeriodMs: {
    flag: '--retry-period',
    argument: 'DURATION',
    description: 'wait between tries to acquire or renew a Lease',
    default: '2s',
    remedy: `${DURATION} 2s, less than --renew-deadline divided by 1.2`,
    parse: duration(10, HOUR_MS),
  },
  concurrency: {
    flag: '--concurrency',
    argument: 'N',
    description: 'reconciles at once per Link',
    default: '16',
    remedy: 'give a whole number from 1 to 256',
    parse: wholeNumber(1, 256),
  },
  logLevel: {
    flag: '--log-level',
    argument: 'LEVEL',
    description: `least severe level that is logged: ${LOG_LEVELS.join(', ')}`,
    default: 'info',
    remedy: `give one of ${LOG_LEVELS.join(', ')}`,
    parse: oneOf(...LOG_LEVELS),
  },
  logFormat: {
    flag: '--log-format',
    argument: 'FORMAT',
    description: 'json, or pretty for people',
    default: 'json',
    remedy: `give one of ${LOG_FORMATS.join(', ')}`,
    parse: oneOf(...LOG_FORMATS),
  },
};

export const FLAGS = Object.entries(OPERATOR_FLAGS) as readonly (readonly [keyof OperatorConfig, OperatorFlag])[];

/** What every variable of the operator starts with. */
export const ENV_PREFIX = 'LINKSPAN_';

/** The environment variable that says the same as a flag, and yields to it: `LINKSPAN_RETRY_PERIOD`. */
export const envOf = ({ flag }: Pick<OperatorFlag, 'flag'>): string =>
  ENV_PREFIX + flag.slice(2).replaceAll('-', '_').toUpperCase();

/** Adds the operator's flags to a command; hand what it parses, `command.opts()`, to {@link parseOperatorConfig}. */
export function addOperatorFlags(command: Command): Command {
  for (const [, flag] of FLAGS) {
    const standard = flag.defaultDescription ?? flag.default ?? '';
    const description = `${flag.description} (default: ${standard}; env: ${envOf(flag)})`;
    const option = new Option(flag.argument === undefined ? flag.flag : `${flag.flag} <${flag.argument}>`, description);
    if (flag.repeatable) {
      option.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]);
    }
    command.addOption(option);
    if (flag.negatable) command.addOption(new Option(flag.flag.replace('--', '--no-'), `not ${flag.flag}`));
  }
  return command;
}

/** What commander makes of one flag. */
export type FlagValue = string | boolean | readonly string[] | undefined;
