/**
 * The settings of the operator, in one table: a setting is added here and nowhere else. Flags, environment variables,
 * `OperatorConfig`, props of `MirrorOperator`, fields of the cluster file and the documentation all come from it.
 */
import type { OperatorSetting } from './operator-setting.ts';
import { CredentialsSecret, Default, Label, Value } from './wire.ts';

const HOUR_MS = 3_600_000;

/** Every setting, by name, in the order of the documentation and of the arguments that constructs render. */
export const OPERATOR_SETTINGS = {
  kubeconfig: {
    type: 'text',
    argument: 'FILE',
    text: 'kubeconfig of the source cluster',
    unset: 'in-cluster, else the usual kubeconfig rules',
  },
  context: {
    type: 'text',
    argument: 'NAME',
    text: 'context of the kubeconfig',
    unset: 'its current context',
  },
  namespace: {
    type: 'name',
    of: 'namespace',
    argument: 'NS',
    text: 'namespace of the Links, their credentials and the Lease of the operator',
    default: Default.multiclusterNamespace,
  },
  controlPlaneNamespace: {
    type: 'name',
    of: 'namespace',
    argument: 'NS',
    text: "namespace of Linkerd's control plane, where no mirror is ever written",
    default: Default.controlPlaneNamespace,
  },
  identity: {
    type: 'text',
    argument: 'NAME',
    text: 'holder of the Leases of this replica: the name of its pod',
    derived: 'POD_NAME, else the host name and a random suffix',
  },
  enableHeadlessServices: {
    type: 'switch',
    text: 'mirror headless Services pod by pod, unless a Link sets it',
    default: 'false',
    prop: true,
  },
  enableNamespaceCreation: {
    type: 'switch',
    text: 'create the namespaces that mirrors need, unless a Link sets it',
    default: 'false',
    prop: true,
  },
  failover: {
    type: 'switch',
    negatable: true,
    prop: true,
    text: 'serve ServiceFailovers, by routes of the Gateway API',
    default: 'true',
  },
  serviceImports: {
    type: 'switch',
    negatable: true,
    prop: true,
    text: 'import what clusters export by the MCS API, where its CRDs are installed',
    default: 'true',
  },
  gatewayAccess: {
    type: 'choice',
    values: ['open', 'exported', 'clients'],
    argument: 'MODE',
    text: 'who may come through the gateway of this cluster: every meshed client to every Service (open), every meshed client to what is exported (exported), or to each export whom it names (clients)',
    unset: 'the policy of the gateway is left as it is',
    prop: true,
  },
  gatewayTcp: {
    type: 'choice',
    values: ['none', 'meshed', 'clients'],
    argument: 'WHO',
    text: 'who may open connections through the gateway that Linkerd does not look into, to any Service: nobody (none), every meshed client (meshed), or the clients of exports with opaque ports (clients)',
    default: 'none',
    prop: true,
  },
  clusterDomain: {
    type: 'domain',
    argument: 'DOMAIN',
    text: 'DNS domain of this cluster, which the host names of its exports end in',
    default: Default.clusterDomain,
    prop: true,
  },
  trustDomain: {
    type: 'domain',
    argument: 'DOMAIN',
    text: 'identity trust domain of Linkerd in this cluster, for clients of exports that name none',
    default: Default.clusterDomain,
    prop: true,
  },
  endpointMirrorGrace: {
    type: 'duration',
    leastMs: 0,
    mostMs: HOUR_MS,
    argument: 'DURATION',
    text: 'time that a pod of a headless Service may be gone before the Service that stands for it is deleted',
    default: '60s',
    prop: true,
  },
  maxMirrors: {
    type: 'integer',
    least: 1,
    most: 1_000_000,
    argument: 'N',
    text: 'maximum number of Services of a target that are mirrored for a Link',
    default: '10000',
    prop: true,
  },
  maxEndpointMirrors: {
    type: 'integer',
    least: 1,
    most: 1_000_000,
    argument: 'N',
    text: 'maximum number of pods of headless Services that have an endpoint mirror for a Link',
    default: '10000',
    prop: true,
  },
  maxServicePods: {
    type: 'integer',
    least: 1,
    most: 1_000_000,
    argument: 'N',
    text: 'maximum number of pods of one headless Service that have an endpoint mirror',
    default: '1000',
    prop: true,
  },
  maxWrittenMib: {
    type: 'integer',
    least: 1,
    most: 1_000_000,
    argument: 'MIB',
    text: 'maximum size in MiB of all that is written for a Link',
    default: '64',
    prop: true,
  },
  maxNamespaces: {
    type: 'integer',
    least: 1,
    most: 1_000_000,
    argument: 'N',
    text: 'maximum number of namespaces that are created for a Link',
    default: '1000',
    prop: true,
  },
  mirrorNamespaces: {
    type: 'names',
    of: 'namespace',
    argument: 'LIST',
    text: 'the only namespaces that mirrors are written to, separated by commas',
    unset: 'all but those of Kubernetes, of the control plane and of the operator',
    prop: true,
  },
  credentialsSecrets: {
    type: 'names',
    of: 'Secret',
    argument: 'LIST',
    text: 'the only Secrets that credentials are read from, each watched by its name, separated by commas',
    unset: `all of type ${CredentialsSecret.type}`,
    prop: true,
  },
  federatedSelector: {
    type: 'selector',
    argument: 'SELECTOR',
    text: 'label selector of the Services of this cluster that join federated Services; empty: none does',
    default: `${Label.federated}=${Value.federatedMember}`,
    prop: true,
  },
  endpoints: {
    type: 'choice',
    values: ['endpoints', 'slices'],
    argument: 'KIND',
    text: 'endpoints of a mirror: v1 Endpoints (endpoints) or EndpointSlices (slices)',
    default: 'endpoints',
    prop: true,
  },
  probeVia: {
    type: 'choice',
    values: ['service', 'address'],
    argument: 'WAY',
    text: "probe gateways through the probe Service and Linkerd's proxy (service) or directly (address)",
    default: 'service',
    prop: true,
    propDefault: 'service for an operator in the mesh, else address',
  },
  probeConnectTo: {
    type: 'connect-to',
    argument: 'HOST=ADDR:PORT',
    repeatable: true,
    text: 'where to connect for a probe host instead, for tests and demos',
    default: '',
  },
  gatewayResolvePeriod: {
    type: 'duration',
    leastMs: 1000,
    mostMs: HOUR_MS,
    argument: 'DURATION',
    text: 'time between two lookups of the host names of gateways',
    default: '60s',
    prop: true,
  },
  adminAddress: {
    type: 'host-port',
    argument: 'HOST:PORT',
    text: 'where /healthz, /readyz and /metrics are served; port 0 picks one and logs it',
    default: '0.0.0.0:9999',
  },
  leaderElect: {
    type: 'switch',
    negatable: true,
    text: 'work only while holding the Lease of the operator',
    default: 'true',
  },
  // A Lease stores whole seconds.
  leaseDuration: {
    type: 'duration',
    leastMs: 1000,
    mostMs: HOUR_MS,
    wholeSeconds: true,
    argument: 'DURATION',
    text: 'time after which another holder may take a Lease that is not renewed',
    default: '15s',
    prop: true,
  },
  renewDeadline: {
    type: 'duration',
    leastMs: 100,
    mostMs: HOUR_MS,
    argument: 'DURATION',
    text: 'time after which a Lease that cannot be renewed counts as lost; less than the lease duration',
    default: '10s',
    prop: true,
  },
  retryPeriod: {
    type: 'duration',
    leastMs: 10,
    mostMs: HOUR_MS,
    argument: 'DURATION',
    text: 'wait between two attempts to acquire or renew a Lease; less than the renew deadline divided by 1.2',
    default: '2s',
    prop: true,
  },
  concurrency: {
    type: 'integer',
    least: 1,
    most: 256,
    argument: 'N',
    text: 'number of concurrent reconciles for each Link, from 1 to 256',
    default: '16',
    prop: true,
  },
  logLevel: {
    type: 'choice',
    values: ['debug', 'info', 'warn', 'error'],
    argument: 'LEVEL',
    text: 'lowest level that is logged: debug, info, warn or error',
    default: 'info',
    prop: true,
  },
  logFormat: {
    type: 'choice',
    values: ['json', 'pretty'],
    argument: 'FORMAT',
    text: 'format of the log: JSON (json) or readable text (pretty)',
    derived: 'pretty on a terminal, else json',
    prop: true,
    propDefault: 'json',
  },
} as const satisfies Readonly<Record<string, OperatorSetting>>;

/** The table, as types see it. */
export type Settings = typeof OPERATOR_SETTINGS;

/** Name of a setting. */
export type SettingName = keyof Settings;

/** Name of a setting that is a prop. */
export type PropName = { [N in SettingName]: Settings[N] extends { readonly prop: true } ? N : never }[SettingName];

/** All settings, in order. */
export const operatorSettings = Object.entries(OPERATOR_SETTINGS) as readonly (readonly [
  SettingName,
  OperatorSetting,
])[];

/** The settings that are props, in order. */
export const propSettings = operatorSettings.filter(([, { prop }]) => prop === true) as readonly (readonly [
  PropName,
  OperatorSetting,
])[];
