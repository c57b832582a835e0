/**
 * The operator's settings: one table of flags drives the command line, the environment and the documentation. All that
 * is wrong is reported at once, each with what was given, why it is wrong and what to do.
 */
import { hostname } from 'node:os';
import { cut } from '../kube/errors.ts';
import type { LogFormat, LogLevel } from '../runtime/logger.ts';
import { ENV_PREFIX, envOf, FLAGS, type FlagValue, OPERATOR_FLAGS, type OperatorFlag } from './flags.ts';

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
