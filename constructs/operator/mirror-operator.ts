/**
 * The operator itself, as it runs in a source cluster: two replicas of which one leads, with the rights that its
 * requests need and no others, in a container that can change nothing of its own.
 *
 * `linkerd multicluster gateways` finds the leading pod by its labels, the name of its container and of its port, and
 * `check` finds the Deployment by the same labels. One label names one cluster, so where one operator serves several
 * Links, both see the first one given.
 */
import { ApiObject, Chart, Duration, JsonPatch } from 'cdk8s';
import {
  type ContainerProps,
  type Deployment,
  EnvFieldPaths,
  EnvValue,
  Probe,
  Protocol,
  Service,
  ServiceAccount,
} from 'cdk8s-plus-27';
import { Construct } from 'constructs';
import { type FieldError, fieldError, fieldPath } from '../../crds/field-error.ts';
import type { LabelSelector } from '../../crds/link/types.gen.ts';
import {
  Annotation,
  Default,
  Label,
  OPERATOR_CONTAINER,
  OPERATOR_NAME,
  OperatorPort,
  PROTECTED_NAMESPACES,
  Value,
} from '../../crds/wire.ts';
import { RestrictedDeployment } from '../common/deployment.ts';
import { Grant, type PolicyRule } from '../common/grant.ts';
import { podDisruptionBudget } from '../common/pod-placement.ts';
import { podErrors, type PodProps } from '../common/pod-props.ts';
import { cidr } from '../common/cidr.ts';
import { dnsLabel, imageReference, portNumber } from '../common/prop-rules.ts';
import { acceptProps } from '../common/props.ts';
import { scraperErrors, ScrapePolicy, type Scrapers } from '../common/scrape-policy.ts';
import { MIRROR_OPERATOR_PROPS } from './schema.ts';
import { mirrorRules, namespaceRules, ownRules, readRules, watchNamespacesRules } from './rights.ts';
import { listedSecrets, operatorArgs, type OperatorSettings, operatorSettingsErrors } from './settings.ts';

/** Who may connect, as a NetworkPolicy has it. */
export interface NetworkPolicyPeer {
  /**
   * Labels of the pods that may connect.
   * @default - all pods, if there is a namespaceSelector
   */
  readonly podSelector?: LabelSelector | undefined;
  /**
   * Labels of the namespaces of these pods.
   * @default - the namespace of the operator
   */
  readonly namespaceSelector?: LabelSelector | undefined;
  /**
   * Network in CIDR notation that may connect, and the parts of it that may not.
   * @default - no network
   */
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] | undefined } | undefined;
}

/** Properties of {@link MirrorOperator}. */
export interface MirrorOperatorProps extends PodProps, OperatorSettings {
  /** Image of Linkspan, with tag or digest; its entry point is the `linkspan` command. */
  readonly image: string;
  /**
   * When the kubelet pulls the image.
   * @default - the kubelet's: Always for tag latest, else IfNotPresent
   */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never' | undefined;
  /**
   * Namespace of the operator, the Links and their credentials.
   * @default - the chart's, else `linkerd-multicluster`
   */
  readonly namespace?: string | undefined;
  /**
   * Namespace of Linkerd's control plane.
   * @default linkerd
   */
  readonly linkerdNamespace?: string | undefined;
  /**
   * Target clusters of the Links, the one that `linkerd multicluster gateways` and `check` are to find first.
   * @default - not known: these commands do not find the operator
   */
  readonly targetClusters?: readonly string[] | undefined;
  /**
   * Whether Linkerd's proxy is put into the pods. Without it gateways are probed directly, and so not by mTLS.
   * @default true
   */
  readonly meshed?: boolean | undefined;
  /**
   * Port of /healthz, /readyz and /metrics.
   * @default 9999
   */
  readonly adminPort?: number | undefined;
  /**
   * Address that the admin port listens on; `::` in a cluster that has IPv6 alone.
   * @default 0.0.0.0
   */
  readonly adminHost?: '0.0.0.0' | '::' | undefined;
  /**
   * Who may connect to the pods, as peers of a NetworkPolicy; false for no NetworkPolicy.
   * @default - anybody, to the admin port and to those of Linkerd's proxy
   */
  readonly networkPolicy?: false | { readonly from: readonly NetworkPolicyPeer[] } | undefined;
  /**
   * Who may use the admin port, where the pods are in the mesh: `anybody`, or clients of the mesh alone that run as these
   * ServiceAccounts, as in `{ name: 'prometheus', namespace: 'linkerd-viz' }`. Linkerd allows probes of the kubelet by itself.
   * @default - anybody, since a Prometheus is often not in the mesh
   */
  readonly scrapers?: Scrapers | undefined;
  /**
   * Further environment variables of the container, as for a proxy server; `NODE_OPTIONS` takes the place of ours.
   * @default - none
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** @default 2 */
  readonly replicas?: number | undefined;
}

const REPLICAS = 2;
/** The user of the image. */
const USER = 65_532;

/** What the Deployment, its Service and its policies know the pods by; a Deployment's selector is for life. */
const PODS = {
  'app.kubernetes.io/name': 'linkspan',
  'app.kubernetes.io/component': 'operator',
} as const;
/** What nobody finds the pods without. */
const OWN_POD_KEYS: readonly string[] = [
  ...Object.keys(PODS),
  Label.extension,
  Label.component,
  Label.clusterName,
  Annotation.inject,
];
const LABELS = { ...PODS, [Label.extension]: Value.extension } as const;

/**
 * Deployment, PodDisruptionBudget, ServiceAccount, metrics Service, NetworkPolicy, roles and, in the mesh, Linkerd's policy
 * for the admin port, all `linkspan-operator`.
 * Synthesis fails, naming every prop that the API server or the operator would refuse
 */
export class MirrorOperator extends Construct {
  /** Namespace of the operator. */
  readonly namespace: string;
  /** The Deployment. */
  readonly deployment: Deployment;
  /** The ServiceAccount that everything is done as. */
  readonly serviceAccount: ServiceAccount;
  /** The Service that Prometheus finds the pods by. */
  readonly metricsService: Service;
  /** The PodDisruptionBudget; undefined for a single replica. */
  readonly podDisruptionBudget: ApiObject | undefined;
  /** Who may connect; undefined if that is not restricted. */
  readonly networkPolicy: ApiObject | undefined;
  /** Who may use the admin port, as Linkerd's proxy sees it; undefined for pods that are not in the mesh. */
  readonly scrapePolicy: ScrapePolicy | undefined;
  /** The rights: in the whole cluster and in the operator's namespace, or in that and in each of those of mirrors. */
  readonly grants: readonly Grant[];

  constructor(scope: Construct, id: string, given: MirrorOperatorProps) {
    super(scope, id);
    const namespaceOf = (props: MirrorOperatorProps): string =>
      props.namespace ?? Chart.of(this).namespace ?? Default.multiclusterNamespace;
    const props = acceptProps(this, MIRROR_OPERATOR_PROPS, given, STAND_IN, (given) => ({
      construct: `MirrorOperator ${namespaceOf(given)}/${OPERATOR_NAME}`,
      found: mirrorOperatorErrors(given, namespaceOf(given)),
    }));
    const { linkerdNamespace = Default.controlPlaneNamespace, adminPort = OperatorPort.number } = props;
    const { replicas = REPLICAS, targetClusters = [], meshed = true, scrapers = 'anybody' } = props;
    this.namespace = namespaceOf(props);

    const metadata = { name: OPERATOR_NAME, namespace: this.namespace, labels: LABELS };
    this.serviceAccount = new ServiceAccount(this, 'ServiceAccount', { metadata });
    const found = { ...LABELS, ...foundByLinkerd(targetClusters) };
    this.deployment = new RestrictedDeployment(this, 'Resource', {
      metadata: { ...metadata, labels: found },
      pods: PODS,
      podMetadata: {
        labels: found,
        annotations: { [Annotation.inject]: meshed ? 'enabled' : 'disabled', [Annotation.safeToEvict]: Value.true },
      },
      serviceAccount: this.serviceAccount,
      automountServiceAccountToken: true,
      replicas: REPLICAS,
      container: container(props, this.namespace, linkerdNamespace, adminPort),
      resources: { requests: { cpu: '20m', memory: '128Mi' } },
      imagePullPolicy: props.imagePullPolicy,
      user: USER,
      props,
    });
    ApiObject.of(this.deployment).addJsonPatch(
      ...['livenessProbe', 'readinessProbe'].map((probe) =>
        JsonPatch.replace(`/spec/template/spec/containers/0/${probe}/httpGet/port`, { value: OperatorPort.name }),
      ),
    );
    this.metricsService = new Service(this, 'Service', {
      metadata,
      selector: this.deployment,
      ports: [{ name: OperatorPort.name, protocol: Protocol.TCP, port: adminPort, targetPort: adminPort }],
    });
    ApiObject.of(this.metricsService).addJsonPatch(JsonPatch.remove('/spec/externalIPs'));
    this.podDisruptionBudget = podDisruptionBudget(this, metadata, replicas, PODS);
    // API servers and gateways may be anywhere, on any port: what the operator connects to cannot be narrowed here.
    this.networkPolicy =
      props.networkPolicy === false
        ? undefined
        : new ApiObject(this, 'NetworkPolicy', {
            apiVersion: 'networking.k8s.io/v1',
            kind: 'NetworkPolicy',
            metadata,
            spec: {
              podSelector: { matchLabels: PODS },
              policyTypes: ['Ingress'],
              ingress: [
                {
                  from: props.networkPolicy?.from,
                  ports: [adminPort, Default.gatewayPort, Default.probePort].map((port) => ({ protocol: 'TCP', port })),
                },
              ],
            },
          });
    this.scrapePolicy = meshed
      ? new ScrapePolicy(this, 'ScrapePolicy', { metadata, pods: PODS, port: OperatorPort.name, scrapers })
      : undefined;
    this.grants = this.#grants(props);
  }

  #grants(props: MirrorOperatorProps) {
    const { mirrorNamespaces, endpoints = 'endpoints', enableNamespaceCreation } = props;
    const grant = (id: string, rules: readonly PolicyRule[], namespace?: string) =>
      new Grant(this, id, { to: this.serviceAccount, rules, namespace, labels: LABELS });
    const mirrors = [...readRules, ...mirrorRules(endpoints)];
    const own = ownRules(listedSecrets(props));
    if (mirrorNamespaces === undefined) {
      const namespaces = [...watchNamespacesRules, ...(enableNamespaceCreation ? namespaceRules : [])];
      return [grant('Cluster', [...mirrors, ...namespaces]), grant('Own', own, this.namespace)];
    }
    return [
      // Probe Services are here.
      grant('Own', [...own, ...mirrors], this.namespace),
      ...mirrorNamespaces.map((namespace) => grant(`Mirrors-${namespace}`, mirrors, namespace)),
    ];
  }
}

const container = (
  props: MirrorOperatorProps,
  namespace: string,
  linkerdNamespace: string,
  adminPort: number,
): Omit<ContainerProps, 'imagePullPolicy' | 'resources' | 'securityContext'> => {
  const { meshed = true, adminHost = '0.0.0.0', probeVia = meshed ? undefined : 'address', env = {} } = props;
  const host = adminHost === '::' ? '[::]' : adminHost;
  return {
    name: OPERATOR_CONTAINER,
    image: props.image,
    args: [
      'operator',
      `--namespace=${namespace}`,
      `--control-plane-namespace=${linkerdNamespace}`,
      `--admin-address=${host}:${adminPort}`,
      ...operatorArgs({ ...props, probeVia }),
    ],
    envVariables: {
      POD_NAME: EnvValue.fromFieldRef(EnvFieldPaths.POD_NAME),
      POD_IPS: EnvValue.fromFieldRef(EnvFieldPaths.POD_IPS),
      // In MiB. What V8 keeps for short-lived objects otherwise grows with a burst of events, and stays.
      NODE_OPTIONS: EnvValue.fromValue('--max-semi-space-size=1'),
      ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, EnvValue.fromValue(value)])),
    },
    ports: [{ name: OperatorPort.name, number: adminPort, protocol: Protocol.TCP }],
    liveness: Probe.fromHttpGet('/healthz', { port: adminPort, initialDelaySeconds: Duration.seconds(10) }),
    readiness: Probe.fromHttpGet('/readyz', { port: adminPort }),
  };
};

const OWN_ENV: readonly string[] = ['POD_NAME', 'POD_IPS'];

const envErrors = (env: Readonly<Record<string, string>>): readonly (FieldError | undefined)[] =>
  Object.entries(env).map(([name, value]) => {
    const path = fieldPath('env', name);
    if (OWN_ENV.includes(name)) return fieldError(path, value, 'must not be set: the construct sets it');
    return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
      ? undefined
      : fieldError(path, value, 'must be a valid name of an environment variable');
  });

/** Linkerd's command takes no pod or Deployment of its component that does not name a cluster. */
const foundByLinkerd = ([cluster]: readonly string[]): Readonly<Record<string, string>> =>
  cluster === undefined ? {} : { [Label.component]: Value.component, [Label.clusterName]: cluster };

const STAND_IN: MirrorOperatorProps = { image: 'invalid' };

/** An operator in place of one that was not given to a construct: synthesis fails. */
export const operatorStandIn = (scope: Construct): MirrorOperator => new MirrorOperator(scope, 'StandIn', STAND_IN);

/** Ports of Linkerd's proxy, which shares the pods' network. */
const PROXY_PORTS: readonly number[] = [4140, Default.gatewayPort, 4190, Default.probePort];

const mirrorOperatorErrors = (props: MirrorOperatorProps, namespace: string): readonly (FieldError | undefined)[] => {
  const { linkerdNamespace = Default.controlPlaneNamespace, adminPort = OperatorPort.number, networkPolicy } = props;
  const { targetClusters = [], mirrorNamespaces = [], meshed = true } = props;
  return [
    imageReference('image', props.image),
    dnsLabel('namespace', namespace),
    dnsLabel('linkerdNamespace', linkerdNamespace),
    ...targetClusters.map((cluster, index) => dnsLabel(`targetClusters[${index}]`, cluster)),
    portNumber('adminPort', adminPort),
    meshed && PROXY_PORTS.includes(adminPort)
      ? fieldError(
          'adminPort',
          adminPort,
          "must not be a port of Linkerd's proxy",
          `not one of ${PROXY_PORTS.join(', ')}`,
        )
      : undefined,
    ...(networkPolicy ? peerErrors(networkPolicy.from) : []),
    ...scraperErrors('scrapers', props.scrapers ?? 'anybody'),
    ...operatorSettingsErrors(props),
    ...protectedErrors(mirrorNamespaces, [...PROTECTED_NAMESPACES, linkerdNamespace, namespace]),
    ...envErrors(props.env ?? {}),
    ...podErrors(props, OWN_POD_KEYS),
  ];
};

/** The API server takes a rule without peers for one that lets all in. */
const peerErrors = (peers: readonly NetworkPolicyPeer[]): readonly (FieldError | undefined)[] =>
  peers.length === 0
    ? [
        fieldError(
          'networkPolicy.from',
          peers,
          'must not be empty: that would let all in',
          'name peers, or leave networkPolicy out to let all in',
        ),
      ]
    : peers.flatMap((peer, index) => {
        const path = `networkPolicy.from[${index}]`;
        const { ipBlock, ...selectors } = peer;
        const isSelecting = Object.keys(selectors).length > 0;
        if (ipBlock === undefined) {
          return isSelecting ? [] : [fieldError(path, peer, 'must have podSelector, namespaceSelector or ipBlock')];
        }
        return [
          isSelecting
            ? fieldError(path, undefined, 'must not have both ipBlock and selectors', 'make them two peers')
            : undefined,
          cidr(`${path}.ipBlock.cidr`, ipBlock.cidr),
          ...(ipBlock.except ?? []).map((each, at) => cidr(`${path}.ipBlock.except[${at}]`, each)),
        ];
      });

const protectedErrors = (namespaces: readonly string[], kept: readonly string[]): readonly (FieldError | undefined)[] =>
  namespaces.map((name, index) =>
    kept.includes(name)
      ? fieldError(
          `mirrorNamespaces[${index}]`,
          name,
          'must not be a namespace of Kubernetes, the control plane or the operator',
        )
      : undefined,
  );
