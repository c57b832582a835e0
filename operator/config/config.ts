/**
 * The operator's settings: one table of flags drives the command line, the environment and the documentation. All that
 * is wrong is reported at once, each with what was given, why it is wrong and what to do.
 */
import { type Command, Option } from 'commander';
import { hostname } from 'node:os';
import { parseDuration, parsePort } from '../../crds/duration.ts';
import { isDnsLabel, isDnsSubdomain } from '../../crds/names.ts';
import { CredentialsSecret, Default } from '../../crds/wire.ts';
import { cut } from '../kube/errors.ts';
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '../runtime/logger.ts';

/** Where to listen; port 0 picks one. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** What to write for a mirror: v1 Endpoints as Linkerd does, or EndpointSlices. */
export type EndpointsKind = 'endpoints' | 'slices';

/** What a gateway is probed through: the probe Service, or its addresses directly. */
export type ProbeVia = 'service' | 'address';

export interface OperatorConfig {
  /** File of the source cluster's kubeconfig. */
  readonly kubeconfig: string | undefined;
  /** Its context. */
  readonly context: string | undefined;
  /** Where Links, their credentials and the operator's Lease live. */
  readonly namespace: string;
  /** Linkerd's; never written to for a mirror (rule A3). */
  readonly controlPlaneNamespace: string;
  /** The holder in Leases: the pod's name. */
  readonly identity: string;
  /** Default for Links that do not say. */
  readonly enableHeadlessServices: boolean;
  /** Default for Links that do not say. */
  readonly enableNamespaceCreation: boolean;
  /** The only namespaces that may be read and written to; undefined for all but the protected ones. */
  readonly mirrorNamespaces: readonly string[] | undefined;
  /** The only Secrets that credentials are read from; undefined for all of the type. */
  readonly credentialsSecrets: readonly string[] | undefined;
  readonly endpoints: EndpointsKind;
  readonly probeVia: ProbeVia;
  /** By probe host, in lower case: where to connect instead. */
  readonly probeConnectTo: ReadonlyMap<string, HostPort>;
  readonly gatewayResolvePeriodMs: number;
  readonly adminAddress: HostPort;
  readonly leaderElect: boolean;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  /** Reconciles at once per Link. */
  readonly concurrency: number;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

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

const FLAGS = Object.entries(OPERATOR_FLAGS) as readonly (readonly [keyof OperatorConfig, OperatorFlag])[];

/** What every variable of the operator starts with. */
const ENV_PREFIX = 'LINKSPAN_';

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

/** What is wrong with one setting. */
export interface ConfigError {
  /** The flag or variable that it was given by. */
  readonly source: string;
  readonly value: string;
  readonly reason: string;
  readonly remedy: string;
}

/** One sentence for people. */
export const configErrorMessage = ({ source, value, reason, remedy }: ConfigError): string =>
  `${source} "${cut(value)}" ${reason}: ${remedy}`;

export type ParsedConfig =
  | { readonly ok: true; readonly config: OperatorConfig; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly errors: readonly ConfigError[]; readonly warnings: readonly string[] };

/**
 * The settings that flags, environment and defaults make, in this order. An empty variable counts as not given. All
 * errors are found at once; variables of ours that mean nothing are warned about.
 * @param flags what commander made of the command line: camelCase names, text, booleans for switches
 * @param machine name of the machine, for when no pod's name is given
 */
export function parseOperatorConfig(
  flags: Readonly<Record<string, FlagValue>>,
  env: Readonly<Record<string, string | undefined>>,
  machine: () => string = hostname,
): ParsedConfig {
  const errors: ConfigError[] = [];
  const given = new Map<keyof OperatorConfig, Given>();
  const values = FLAGS.map(([key, flag]) => {
    const found = find(flag, flags, env) ?? (key === 'identity' ? identityOf(env, machine) : undefined);
    if (found === undefined) return [key, undefined] as const;
    given.set(key, found);
    try {
      if (found.value === '' && flag.default !== '') throw new RangeError('is empty');
      return [key, flag.parse(found.value)] as const;
    } catch (error) {
      errors.push({ ...found, reason: (error as Error).message, remedy: flag.remedy });
      return [key, undefined] as const;
    }
  });
  // Sound as the type of the table says for each key what its parse returns.
  const config = Object.fromEntries(values) as unknown as OperatorConfig;
  const blame = (key: keyof OperatorConfig, reason: string) => {
    const { remedy, flag } = OPERATOR_FLAGS[key];
    errors.push({ source: flag, value: '', ...given.get(key), reason, remedy });
  };
  // A value that was refused above compares as false: it is complained about once.
  if (config.renewDeadlineMs >= config.leaseDurationMs) {
    blame('renewDeadlineMs', `is not less than the lease duration of ${config.leaseDurationMs / 1000}s`);
  }
  if (config.retryPeriodMs * 1.2 >= config.renewDeadlineMs) {
    blame('retryPeriodMs', `is too long for the renew deadline of ${config.renewDeadlineMs / 1000}s`);
  }
  if (config.mirrorNamespaces !== undefined && config.enableNamespaceCreation) {
    errors.push({
      source: OPERATOR_FLAGS.enableNamespaceCreation.flag,
      value: 'true',
      ...given.get('enableNamespaceCreation'),
      reason: 'does not go with --mirror-namespaces, which must exist',
      remedy: 'create them, or leave one of the two out',
    });
  }
  const warnings = unknownVariables(env);
  return errors.length === 0 ? { ok: true, config, warnings } : { ok: false, errors, warnings };
}

/** What the kubelet sets for Services, of which one may be called linkspan. */
const SERVICE_VARIABLE = /_(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT|PORT_[0-9]+_(TCP|UDP|SCTP)(_.+)?)$/;

interface Given {
  readonly source: string;
  readonly value: string;
}

function find(
  flag: OperatorFlag,
  flags: Readonly<Record<string, FlagValue>>,
  env: Readonly<Record<string, string | undefined>>,
): Given | undefined {
  const typed = flags[camelCase(flag.flag.slice(2))];
  if (typed !== undefined) return { source: flag.flag, value: Array.isArray(typed) ? typed.join(',') : String(typed) };
  const value = env[envOf(flag)];
  if (value !== undefined && value !== '') return { source: envOf(flag), value };
  return flag.default === undefined ? undefined : { source: flag.flag, value: flag.default };
}

function identityOf(env: Readonly<Record<string, string | undefined>>, machine: () => string): Given {
  const pod = env['POD_NAME'];
  return pod === undefined || pod === ''
    ? { source: '--identity', value: machine() }
    : { source: 'POD_NAME', value: pod };
}

function unknownVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = new Set(FLAGS.map(([, flag]) => envOf(flag)));
  return Object.keys(env)
    .filter((name) => name.startsWith(ENV_PREFIX) && !known.has(name) && !SERVICE_VARIABLE.test(name))
    .map((name) => `the variable ${cut(name)} means nothing to the operator: see "linkspan operator --help"`);
}

const camelCase = (kebab: string): string => kebab.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
