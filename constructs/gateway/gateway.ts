/**
 * The gateway of a cluster: pods that hold nothing but Linkerd's proxy, and the Service that other clusters reach it by.
 * What it is called and annotated with is read by `linkerd multicluster link` and `check`, and by the proxy's injector.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { parseDuration } from '../../crds/duration.ts';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { Annotation, Default, gatewayIdentity, Value } from '../../crds/wire.ts';
import { refuse } from '../common/invalid-props.ts';
import {
  podDisruptionBudget,
  podPlacement,
  podPlacementErrors,
  type PodPlacementProps,
  rolloutStrategy,
} from '../common/pod-placement.ts';
import { dnsLabel, dnsSubdomain } from '../common/prop-rules.ts';
import { restrictedContainer, restrictedPod } from '../common/restricted.ts';
import { goDuration, type TimeSpan } from '../common/time-span.ts';
import {
  GATEWAY_LABELS,
  GATEWAY_PODS,
  gatewayServiceErrors,
  type GatewayServiceProps,
  gatewayServiceSpec,
} from './gateway-service.ts';

/** Properties of {@link Gateway}. */
export interface GatewayProps extends PodPlacementProps {
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
   * Linkerd's identity trust domain in this cluster.
   * @default cluster.local
   */
  readonly trustDomain?: string | undefined;
  /**
   * How the gateway is reached.
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
   * @default 3
   */
  readonly probePeriod?: TimeSpan | undefined;
  /**
   * Image of the container beside the proxy, which does nothing.
   * @default registry.k8s.io/pause:3.10
   */
  readonly image?: string | undefined;
  /** @default 3 */
  readonly replicas?: number | undefined;
}

const REPLICAS = 3;
/** The user of the pause image. */
const NOBODY = 65_535;

/**
 * Deployment, Service and ServiceAccount `linkerd-gateway`, and a PodDisruptionBudget for more than one replica.
 * @throws InvalidPropsError naming every prop that the API server would refuse, or that contradicts another
 */
export class Gateway extends Construct {
  /** Namespace of the gateway. */
  readonly namespace: string;
  /** TLS identity of the gateway: `gatewayIdentity` of Links to it. */
  readonly identity: string;
  /** The Deployment. */
  readonly deployment: ApiObject;
  /** The Service. */
  readonly service: ApiObject;
  /** The ServiceAccount, which the identity is made of. */
  readonly serviceAccount: ApiObject;
  /** The PodDisruptionBudget; undefined for a single replica. */
  readonly podDisruptionBudget: ApiObject | undefined;

  constructor(scope: Construct, id: string, props: GatewayProps = {}) {
    super(scope, id);
    const {
      linkerdNamespace = Default.controlPlaneNamespace,
      trustDomain = Default.clusterDomain,
      probePath = Default.probePath,
      probePeriod = 3,
      replicas = REPLICAS,
    } = props;
    this.namespace = props.namespace ?? Chart.of(this).namespace ?? Default.multiclusterNamespace;
    this.identity = gatewayIdentity(linkerdNamespace, trustDomain, this.namespace);
    refuse(`Gateway ${this.namespace}/${Default.gatewayName}`, [
      dnsLabel('namespace', this.namespace),
      dnsLabel('linkerdNamespace', linkerdNamespace),
      dnsSubdomain('trustDomain', trustDomain),
      ...gatewayServiceErrors(props.service ?? {}),
      /^\/\S*$/.test(probePath)
        ? undefined
        : fieldError('probePath', probePath, 'must be a valid path', 'as in /ready'),
      probePeriodError(probePeriod),
      props.image === '' ? fieldError('image', '', 'must not be empty') : undefined,
      ...podPlacementErrors(props),
    ]);

    const metadata = { name: Default.gatewayName, namespace: this.namespace, labels: GATEWAY_LABELS };
    this.serviceAccount = new ApiObject(this, 'ServiceAccount', { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    this.deployment = new ApiObject(this, 'Resource', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas,
        selector: { matchLabels: GATEWAY_PODS },
        ...rolloutStrategy(props),
        template: {
          metadata: {
            labels: GATEWAY_LABELS,
            annotations: {
              [Annotation.inject]: 'enabled',
              [Annotation.enableGateway]: Value.true,
              [Annotation.requireIdentityPorts]: String(Default.gatewayPort),
              [Annotation.defaultInboundPolicy]: 'all-authenticated',
              [Annotation.safeToEvict]: Value.true,
            },
          },
          spec: {
            serviceAccountName: Default.gatewayName,
            automountServiceAccountToken: false,
            securityContext: restrictedPod,
            containers: [
              {
                name: 'pause',
                image: props.image ?? 'registry.k8s.io/pause:3.10',
                resources: props.resources ?? { requests: { cpu: '1m', memory: '4Mi' } },
                securityContext: restrictedContainer(NOBODY),
              },
            ],
            ...podPlacement(props, GATEWAY_PODS),
          },
        },
      },
    });
    this.service = new ApiObject(this, 'Service', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        ...metadata,
        annotations: {
          ...props.service?.annotations,
          [Annotation.gatewayIdentity]: this.identity,
          [Annotation.probePeriod]: typeof probePeriod === 'number' ? String(probePeriod) : goDuration(probePeriod),
          [Annotation.probePath]: probePath,
          [Annotation.multiclusterGateway]: Value.true,
        },
      },
      spec: gatewayServiceSpec(props.service ?? {}),
    });
    this.podDisruptionBudget = podDisruptionBudget(this, metadata, replicas, GATEWAY_PODS);
  }
}

/** Linkerd reads whole seconds, or a Go duration. */
const probePeriodError = (period: TimeSpan): FieldError | undefined => {
  try {
    const ms = parseDuration(goDuration(period));
    if (ms > 0 && Number.isInteger(ms) && (typeof period !== 'number' || Number.isInteger(period))) return undefined;
  } catch {
    // Reported below.
  }
  return fieldError('probePeriod', period, 'must be a valid period', 'whole seconds, or a Go duration such as 1m30s');
};
