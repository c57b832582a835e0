/**
 * The settings of the operator as props: numbers, durations and lists instead of text. Only settings that are given
 * become arguments, so that an upgraded operator follows its own defaults. The table of settings has their flags and
 * valid values.
 */
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { flagOf, valueName } from '../../crds/operator-setting-names.ts';
import type { SettingValue } from '../../crds/operator-setting.ts';
import { OPERATOR_SETTINGS, type PropName, propSettings } from '../../crds/operator-settings.ts';
import { byWhatIsGiven, parseSetting, settingConflicts, settingRemedy } from '../../crds/operator-values.ts';
import { goDuration, type TimeSpan } from '../common/time-span.ts';
import { dnsLabel, dnsSubdomain, nameList } from '../common/prop-rules.ts';
import type { EndpointsKind } from '../rendered/index.ts';

/** Settings of the operator. */
export interface OperatorSettings {
  /**
   * Whether to mirror headless Services pod by pod, unless a Link sets it.
   * @default false
   */
  readonly enableHeadlessServices?: boolean | undefined;
  /**
   * Whether to create the namespaces that mirrors need, unless a Link sets it. Grants the operator the right to do so.
   * @default false
   */
  readonly enableNamespaceCreation?: boolean | undefined;
  /**
   * Whether to serve ServiceFailovers, by routes of the Gateway API. Grants the operator the rights to do so. Delete
   * ServiceFailovers before it becomes false: their routes would stay as they are.
   * @default true
   */
  readonly failover?: boolean | undefined;
  /**
   * Whether to import what clusters export by the MCS API, where its CRDs are installed. Grants the operator the rights to
   * do so.
   * @default true
   */
  readonly serviceImports?: boolean | undefined;
  /**
   * Who may come through the gateway of this cluster: every meshed client to every Service (`open`), every meshed client to
   * what is exported (`exported`), or to each export whom it names (`clients`). Grants the operator the rights to write the
   * policy of the gateway.
   * @default - the policy of the gateway is left as it is
   */
  readonly gatewayAccess?: 'open' | 'exported' | 'clients' | undefined;
  /**
   * Who may open connections through the gateway that Linkerd does not look into, to any Service: nobody (`none`), every
   * meshed client (`meshed`), or the clients of exports with opaque ports (`clients`).
   * @default none
   */
  readonly gatewayTcp?: 'none' | 'meshed' | 'clients' | undefined;
  /**
   * DNS domain of this cluster, which the host names of its exports end in.
   * @default cluster.local
   */
  readonly clusterDomain?: string | undefined;
  /**
   * Identity trust domain of Linkerd in this cluster, for clients of exports that name none.
   * @default cluster.local
   */
  readonly trustDomain?: string | undefined;
  /**
   * Time that a pod of a headless Service may be gone before the Service that stands for it is deleted.
   * @default 60s
   */
  readonly endpointMirrorGrace?: TimeSpan | undefined;
  /**
   * Maximum number of Services of a target that are mirrored for a Link.
   * @default 10000
   */
  readonly maxMirrors?: number | undefined;
  /**
   * Maximum number of pods of headless Services that have an endpoint mirror for a Link.
   * @default 10000
   */
  readonly maxEndpointMirrors?: number | undefined;
  /**
   * Maximum number of pods of one headless Service that have an endpoint mirror.
   * @default 1000
   */
  readonly maxServicePods?: number | undefined;
  /**
   * Maximum size in MiB of all that is written for a Link.
   * @default 64
   */
  readonly maxWrittenMib?: number | undefined;
  /**
   * Maximum number of namespaces that are created for a Link.
   * @default 1000
   */
  readonly maxNamespaces?: number | undefined;
  /**
   * The only namespaces that mirrors are written to. The operator may read and write only in these, by a Role in each. A
   * namespace that does not exist gets mirrors as soon as it and its Role exist.
   * @default - all but those of Kubernetes, of the control plane and of the operator, by a ClusterRole
   */
  readonly mirrorNamespaces?: readonly string[] | undefined;
  /**
   * Names of the only Secrets that the operator may read, each watched by its name; `any` for all in its namespace, where
   * other tools create Links.
   * @default - any, and of Multicluster and ClusterSet the Secrets that the Links name
   */
  readonly credentialsSecrets?: 'any' | readonly string[] | undefined;
  /**
   * Label selector of the Services of this cluster that join federated Services, as `kubectl --selector` takes it; empty:
   * none does, and memberships of this cluster are left to Linkerd's local mirror.
   * @default mirror.linkerd.io/federated=member
   */
  readonly federatedSelector?: string | undefined;
  /**
   * Endpoints of a mirror: v1 Endpoints (`endpoints`) or EndpointSlices (`slices`).
   * @default endpoints
   */
  readonly endpoints?: EndpointsKind | undefined;
  /**
   * Whether gateways are probed through the probe Service and Linkerd's proxy (`service`), or directly (`address`).
   * @default - service for an operator in the mesh, else address
   */
  readonly probeVia?: 'service' | 'address' | undefined;
  /**
   * Time between two lookups of the host names of gateways.
   * @default 60s
   */
  readonly gatewayResolvePeriod?: TimeSpan | undefined;
  /**
   * Time after which another holder may take a Lease that is not renewed; whole seconds.
   * @default 15s
   */
  readonly leaseDuration?: TimeSpan | undefined;
  /**
   * Time after which a Lease that cannot be renewed counts as lost; less than `leaseDuration`.
   * @default 10s
   */
  readonly renewDeadline?: TimeSpan | undefined;
  /**
   * Wait between two attempts to acquire or renew a Lease; less than `renewDeadline` divided by 1.2.
   * @default 2s
   */
  readonly retryPeriod?: TimeSpan | undefined;
  /**
   * Number of concurrent reconciles for each Link, from 1 to 256.
   * @default 16
   */
  readonly concurrency?: number | undefined;
  /**
   * Lowest level that is logged.
   * @default info
   */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error' | undefined;
  /**
   * Format of the log: JSON, or readable text.
   * @default json
   */
  readonly logFormat?: 'json' | 'pretty' | undefined;
}

/** Arguments for the settings that are given; `=` joins each to its value, and a switch has none. */
export const operatorArgs = (settings: OperatorSettings): readonly string[] =>
  propSettings.flatMap(([name, { type, negatable }]) => {
    const text = textOf(settings, name);
    if (type === 'switch' && negatable) return text === 'false' ? [flagOf(name).replace('--', '--no-')] : [];
    if (type === 'switch') return text === 'true' ? [flagOf(name)] : [];
    return text === undefined ? [] : [`${flagOf(name)}=${text}`];
  });

/** Names of the only Secrets that the operator may read; undefined for all in its namespace. */
export const listedSecrets = ({ credentialsSecrets }: OperatorSettings): readonly string[] | undefined =>
  credentialsSecrets === 'any' ? undefined : credentialsSecrets;

/** Errors of the settings. */
export const operatorSettingsErrors = (settings: OperatorSettings): readonly (FieldError | undefined)[] => {
  const values: Record<string, SettingValue> = {};
  const errors = propSettings.flatMap(([name, setting]) => {
    const text = textOf(settings, name) ?? setting.default;
    if (text === undefined) return [];
    if (setting.type === 'names') {
      const list = settings[name] as readonly string[];
      values[name] = list;
      return nameList(name, list, setting.of === 'Secret' ? dnsSubdomain : dnsLabel, setting.of);
    }
    try {
      values[valueName(name, setting)] = parseSetting(setting, text);
      return [];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return [fieldError(name, quotable(settings, name), error.message, settingRemedy(setting))];
    }
  });
  const conflicts = settingConflicts(values, (name) => name)
    .map((conflict) =>
      byWhatIsGiven(
        conflict,
        (name) => settings[name as PropName] !== undefined,
        (name) => name,
      ),
    )
    .map(({ setting, reason, remedy }) => fieldError(setting, quotable(settings, setting as PropName), reason, remedy));
  return [...errors, ...conflicts];
};

/** The text of a prop as its flag takes it; undefined if the prop is absent, or means the same as no flag. */
const textOf = (settings: OperatorSettings, name: PropName): string | undefined => {
  const value = name === 'credentialsSecrets' ? listedSecrets(settings) : settings[name];
  if (value === undefined || typeof value === 'string') return value;
  if (OPERATOR_SETTINGS[name].type === 'duration' && typeof value === 'number') return goDuration(value);
  if (typeof value === 'boolean' || typeof value === 'number') return String(value);
  return isList(value) ? value.join(',') : goDuration(value);
};

/** A prop as an error quotes it: a number and a boolean as they are. */
const quotable = (settings: OperatorSettings, name: PropName): string | number | boolean | undefined => {
  const value = settings[name];
  return typeof value === 'number' || typeof value === 'boolean' ? value : textOf(settings, name);
};

const isList = (value: TimeSpan | readonly string[]): value is readonly string[] => Array.isArray(value);
