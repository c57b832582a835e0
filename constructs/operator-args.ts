/**
 * The operator's flags as props: numbers, durations and lists instead of text. Only what is given becomes an argument,
 * so that an operator that is upgraded follows its own defaults.
 */
import type { Duration } from 'cdk8s';
import { parseDuration } from '../crds/duration.ts';
import { type FieldError, fieldError } from '../crds/field-error.ts';
import type { EndpointsKind } from './mirror/endpoints.ts';
import { goDuration } from './go-duration.ts';
import { dnsLabel, dnsSubdomain, nameList } from './prop-rules.ts';

/** Settings of the operator. */
export interface OperatorSettings {
  /**
   * Mirror headless Services pod by pod, for Links that do not say.
   * @default false
   */
  readonly enableHeadlessServices?: boolean | undefined;
  /**
   * Create namespaces that mirrors need, for Links that do not say; gives the operator the right to.
   * @default false
   */
  readonly enableNamespaceCreation?: boolean | undefined;
  /**
   * The only namespaces that mirrors are written to: the operator gets the right to read and write in these alone, by
   * a Role in each. They must exist for that; one that does not is mirrored into once it does, and its Role with it.
   * @default - all but those of Kubernetes, of the control plane and of the operator, by a ClusterRole
   */
  readonly mirrorNamespaces?: readonly string[] | undefined;
  /**
   * Names of the only Secrets that the operator may read, each watched by its name; `any` for all in its namespace, for
   * Links that are made elsewhere or later.
   * @default - any; where Multicluster knows the Links, the Secrets of these
   */
  readonly credentialsSecrets?: 'any' | readonly string[] | undefined;
  /**
   * What to write for a mirror: v1 Endpoints, or EndpointSlices.
   * @default endpoints
   */
  readonly endpoints?: EndpointsKind | undefined;
  /**
   * Probe gateways through the probe Service, by Linkerd's proxy, or directly.
   * @default - service for an operator in the mesh, else address
   */
  readonly probeVia?: 'service' | 'address' | undefined;
  /**
   * How often host names of gateways are resolved anew: a Duration, or a Go duration.
   * @default 60s
   */
  readonly gatewayResolvePeriod?: Duration | string | undefined;
  /**
   * How long a Lease that is not renewed still has its holder: whole seconds.
   * @default 30s
   */
  readonly leaseDuration?: Duration | string | undefined;
  /**
   * How long a renewal is tried before the Lease counts as lost; less than `leaseDuration`.
   * @default 10s
   */
  readonly renewDeadline?: Duration | string | undefined;
  /**
   * Wait between tries to acquire or renew a Lease; less than `renewDeadline`, divided by 1.2.
   * @default 2s
   */
  readonly retryPeriod?: Duration | string | undefined;
  /**
   * Reconciles at once per Link: 1 to 256.
   * @default 16
   */
  readonly concurrency?: number | undefined;
  /** @default info */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error' | undefined;
  /** @default json */
  readonly logFormat?: 'json' | 'pretty' | undefined;
}

/** Arguments that say what the settings do; `=` joins each to its value. */
export const operatorArgs = (settings: OperatorSettings): readonly string[] => {
  const duration = (value: Duration | string | undefined) => (value === undefined ? undefined : goDuration(value));
  const flags: Readonly<Record<string, string | number | undefined>> = {
    'mirror-namespaces': settings.mirrorNamespaces?.join(','),
    'credentials-secrets': listedSecrets(settings)?.join(','),
    endpoints: settings.endpoints,
    'probe-via': settings.probeVia,
    'gateway-resolve-period': duration(settings.gatewayResolvePeriod),
    'lease-duration': duration(settings.leaseDuration),
    'renew-deadline': duration(settings.renewDeadline),
    'retry-period': duration(settings.retryPeriod),
    concurrency: settings.concurrency,
    'log-level': settings.logLevel,
    'log-format': settings.logFormat,
  };
  return [
    ...(settings.enableHeadlessServices ? ['--enable-headless-services'] : []),
    ...(settings.enableNamespaceCreation ? ['--enable-namespace-creation'] : []),
    ...Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
  ];
};

/** Names of the only Secrets that may be read; undefined for all of the namespace. */
export const listedSecrets = ({ credentialsSecrets }: OperatorSettings): readonly string[] | undefined =>
  credentialsSecrets === 'any' ? undefined : credentialsSecrets;

const HOUR_MS = 3_600_000;

/** What the operator would refuse in its settings. */
export const operatorSettingsErrors = (settings: OperatorSettings): readonly (FieldError | undefined)[] => {
  const { mirrorNamespaces, enableNamespaceCreation, concurrency = 16 } = settings;
  const secrets = listedSecrets(settings);
  const lease = readDuration('leaseDuration', settings.leaseDuration ?? '30s', 1000);
  const renew = readDuration('renewDeadline', settings.renewDeadline ?? '10s', 100);
  const retry = readDuration('retryPeriod', settings.retryPeriod ?? '2s', 10);
  return [
    ...nameList('mirrorNamespaces', mirrorNamespaces, dnsLabel, 'namespace', 'lets nothing be mirrored'),
    ...nameList('credentialsSecrets', secrets, dnsSubdomain, 'Secret', 'lets no credentials be read'),
    mirrorNamespaces !== undefined && enableNamespaceCreation
      ? fieldError(
          'enableNamespaceCreation',
          true,
          'does not go with mirrorNamespaces, whose Roles are in namespaces that exist',
        )
      : undefined,
    readDuration('gatewayResolvePeriod', settings.gatewayResolvePeriod ?? '60s', 1000).finding,
    lease.finding,
    lease.finding === undefined && lease.ms % 1000 !== 0
      ? fieldError('leaseDuration', goDuration(settings.leaseDuration ?? ''), 'is no whole number of seconds')
      : undefined,
    renew.finding,
    renew.ms >= lease.ms
      ? fieldError('renewDeadline', `${renew.ms}ms`, `is not less than the lease duration of ${lease.ms}ms`)
      : undefined,
    retry.finding,
    retry.ms * 1.2 >= renew.ms
      ? fieldError('retryPeriod', `${retry.ms}ms`, `is too long for the renew deadline of ${renew.ms}ms`)
      : undefined,
    Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 256
      ? undefined
      : fieldError('concurrency', concurrency, 'is no whole number from 1 to 256'),
  ];
};

/** NaN, which compares with nothing, for what is refused: it is complained about once. */
const readDuration = (
  path: string,
  value: Duration | string,
  leastMs: number,
): { readonly ms: number; readonly finding?: FieldError | undefined } => {
  const text = goDuration(value);
  try {
    const ms = parseDuration(text);
    if (ms >= leastMs && ms <= HOUR_MS) return { ms };
    return { ms: NaN, finding: fieldError(path, text, `is not between ${leastMs}ms and 1h`) };
  } catch (error) {
    return { ms: NaN, finding: fieldError(path, text, (error as Error).message, 'a Go duration, as in 1m30s') };
  }
};
