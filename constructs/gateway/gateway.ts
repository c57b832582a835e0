/**
 * The gateway of a cluster: pods that run only Linkerd's proxy, and the Service that other clusters connect to.
 * `linkerd multicluster link`, `check` and the proxy's injector read its name and its annotations.
 */
import { type ApiObject, Chart } from 'cdk8s';
import { type Deployment, type Service, ServiceAccount } from 'cdk8s-plus-27';
import { Construct } from 'constructs';
import { parseDuration } from '../../crds/duration.ts';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { Annotation, Default, gatewayIdentity, Value } from '../../crds/wire.ts';
import { RestrictedDeployment } from '../common/deployment.ts';
import { podDisruptionBudget } from '../common/pod-placement.ts';
import { podErrors, type PodProps } from '../common/pod-props.ts';
import { dnsLabel, dnsSubdomain, imageReference } from '../common/prop-rules.ts';
import { acceptProps } from '../common/props.ts';
import { goDuration, type TimeSpan } from '../common/time-span.ts';
import {
  GATEWAY_LABELS,
  GATEWAY_PODS,
  gatewayService,
  gatewayServiceErrors,
  type GatewayServiceProps,
} from './gateway-service.ts';
import { GATEWAY_PROPS } from './schema.gen.ts';

/** Properties of {@link Gateway}. */
export interface GatewayProps extends PodProps {
  /**
   * Namespace of the multicluster extension.
   * @default - the chart's, else `linkerd-multicluster`
   */
  readonly namespace?: string | undefined;
  /**
   * Namespace of Linkerd's control plane.
   * @default linkerd
   */
  readonly linkerdNamespace?: string | undefined;
  /**
   * Identity trust domain of Linkerd in this cluster.
   * @default cluster.local
   */
  readonly trustDomain?: string | undefined;
  /**
   * Service of the gateway.
   * @default - a LoadBalancer on ports 4143 and 4191
   */
  readonly service?: GatewayServiceProps | undefined;
  /**
   * Path of the health endpoint.
   * @default /ready
   */
  readonly probePath?: string | undefined;
  /**
   * Time between the probes of other clusters.
   * @default 3s
   */
  readonly probePeriod?: TimeSpan | undefined;
  /**
   * Image of the container beside the proxy, which does nothing.
   * @default registry.k8s.io/pause:3.10
   */
  readonly image?: string | undefined;
  /**
   * Number of pods.
   * @default - 3, or the number of an autoscaler
   */
  readonly replicas?: number | undefined;
}

const REPLICAS = 3;
/** The user of the pause image. */
const NOBODY = 65_535;
/** Annotations that Linkerd's injector configures the proxy of a gateway by. */
const POD_ANNOTATIONS = {
  [Annotation.inject]: 'enabled',
  [Annotation.enableGateway]: Value.true,
  [Annotation.requireIdentityPorts]: String(Default.gatewayPort),
  [Annotation.defaultInboundPolicy]: 'all-authenticated',
  [Annotation.safeToEvict]: Value.true,
} as const;
/** Labels and annotations that a gateway does not work without. A user may change the others. */
const OWN_POD_KEYS: readonly string[] = [
  ...Object.keys(GATEWAY_LABELS),
  Annotation.inject,
  Annotation.enableGateway,
  Annotation.requireIdentityPorts,
];

/**
 * Deployment, Service and ServiceAccount `linkerd-gateway`, and a PodDisruptionBudget for more than one replica.
 * Synthesis fails for each prop that the API server would refuse, or that contradicts another.
 */
export class Gateway extends Construct {
  /** Namespace of the gateway. */
  readonly namespace: string;
  /** TLS identity of the gateway, which Links to it name as `gatewayIdentity`. */
  readonly identity: string;
  /** The Deployment. */
  readonly deployment: Deployment;
  /** The Service. */
  readonly service: Service;
  /** The ServiceAccount, which determines the identity. */
  readonly serviceAccount: ServiceAccount;
  /** The PodDisruptionBudget; undefined for a single replica. */
  readonly podDisruptionBudget: ApiObject | undefined;

  constructor(scope: Construct, id: string, given: GatewayProps = {}) {
    super(scope, id);
    const namespaceOf = (props: GatewayProps): string =>
      props.namespace ?? Chart.of(this).namespace ?? Default.multiclusterNamespace;
    const props = acceptProps(this, GATEWAY_PROPS, given, {}, (given) => ({
      construct: `Gateway ${namespaceOf(given)}/${Default.gatewayName}`,
      found: gatewayErrors(given, namespaceOf(given)),
    }));
    const {
      linkerdNamespace = Default.controlPlaneNamespace,
      trustDomain = Default.clusterDomain,
      probePath = Default.probePath,
      probePeriod = 3,
      replicas = REPLICAS,
    } = props;
    this.namespace = namespaceOf(props);
    this.identity = gatewayIdentity(linkerdNamespace, trustDomain, this.namespace);

    const metadata = { name: Default.gatewayName, namespace: this.namespace, labels: GATEWAY_LABELS };
    this.serviceAccount = new ServiceAccount(this, 'ServiceAccount', { metadata });
    this.deployment = new RestrictedDeployment(this, 'Resource', {
      metadata,
      pods: GATEWAY_PODS,
      podMetadata: { labels: GATEWAY_LABELS, annotations: POD_ANNOTATIONS },
      serviceAccount: this.serviceAccount,
      automountServiceAccountToken: false,
      replicas: REPLICAS,
      container: { name: 'pause', image: props.image ?? 'registry.k8s.io/pause:3.10' },
      resources: { requests: { cpu: '1m', memory: '4Mi' } },
      user: NOBODY,
      props,
    });
    this.service = gatewayService(this, this.deployment, props.service ?? {}, {
      ...metadata,
      annotations: {
        ...props.service?.annotations,
        [Annotation.gatewayIdentity]: this.identity,
        [Annotation.probePeriod]: typeof probePeriod === 'number' ? String(probePeriod) : goDuration(probePeriod),
        [Annotation.probePath]: probePath,
        [Annotation.multiclusterGateway]: Value.true,
      },
    });
    this.podDisruptionBudget = podDisruptionBudget(this, metadata, replicas, GATEWAY_PODS);
  }
}

const gatewayErrors = (
  {
    linkerdNamespace = Default.controlPlaneNamespace,
    trustDomain = Default.clusterDomain,
    probePath = Default.probePath,
    probePeriod,
    image,
    ...props
  }: GatewayProps,
  namespace: string,
): readonly (FieldError | undefined)[] => [
  dnsLabel('namespace', namespace),
  dnsLabel('linkerdNamespace', linkerdNamespace),
  dnsSubdomain('trustDomain', trustDomain),
  ...gatewayServiceErrors(props.service ?? {}),
  /^\/\S*$/.test(probePath) ? undefined : fieldError('probePath', probePath, 'must be a valid path', 'as in /ready'),
  probePeriod === undefined ? undefined : probePeriodError(probePeriod),
  image === undefined ? undefined : imageReference('image', image),
  ...podErrors(props, OWN_POD_KEYS),
];

/** Linkerd reads whole seconds, or a Go duration. */
const probePeriodError = (period: TimeSpan): FieldError | undefined => {
  try {
    const ms = parseDuration(goDuration(period));
    if (ms > 0 && Number.isInteger(ms) && (typeof period !== 'number' || Number.isInteger(period))) return undefined;
  } catch {
    // Reported below.
  }
  const remedy =
    typeof period === 'string' && /^\d+$/.test(period)
      ? `write ${period}s`
      : 'whole seconds, or a Go duration such as 1m30s';
  return fieldError('probePeriod', period, 'must be a valid period', remedy);
};
