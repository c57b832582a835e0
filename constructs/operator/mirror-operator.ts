/**
 * The operator as it runs in a source cluster: two replicas, one of which leads, with only the rights that its requests
 * need, in a container with a read-only file system.
 *
 * `linkerd multicluster gateways` finds the leading pod by its labels, the name of its container and of its port, and
 * `check` finds the Deployment by the same labels. A label has one value, so
 * where one operator serves several Links, both commands see only the first.
 */
import { ApiObject, Chart, JsonPatch } from 'cdk8s';
import { type Deployment, Protocol, Service, ServiceAccount } from 'cdk8s-plus-27';
import { Construct } from 'constructs';
import { Annotation, Default, OPERATOR_NAME, OperatorPort, Value } from '../../crds/wire.ts';
import { RestrictedDeployment } from '../common/deployment.ts';
import { Grant } from '../common/grant.ts';
import { podDisruptionBudget } from '../common/pod-placement.ts';
import { acceptProps } from '../common/props.ts';
import { ScrapePolicy } from '../common/scrape-policy.ts';
import { container } from './container.ts';
import { mirrorOperatorErrors } from './errors.ts';
import { foundByLinkerd, LABELS, PODS } from './pods.ts';
import type { MirrorOperatorProps } from './props.ts';
import { operatorRules } from './rights.ts';
import { MIRROR_OPERATOR_PROPS } from './schema.gen.ts';
import { listedSecrets } from './settings.ts';

const REPLICAS = 2;
/** The user of the image. */
const USER = 65_532;

/**
 * Deployment, PodDisruptionBudget, ServiceAccount, metrics Service, NetworkPolicy, roles and, in the mesh, Linkerd's policy
 * for the admin port, all `linkspan-operator`.
 * Synthesis fails for each prop that the API server or the operator would refuse.
 */
export class MirrorOperator extends Construct {
  /** Namespace of the operator. */
  readonly namespace: string;
  /** The Deployment. */
  readonly deployment: Deployment;
  /** The ServiceAccount of the pods. */
  readonly serviceAccount: ServiceAccount;
  /** The Service by which Prometheus finds the pods. */
  readonly metricsService: Service;
  /** The PodDisruptionBudget; undefined for a single replica. */
  readonly podDisruptionBudget: ApiObject | undefined;
  /** The NetworkPolicy; undefined if `networkPolicy` is false. */
  readonly networkPolicy: ApiObject | undefined;
  /** Linkerd's policy for the admin port; undefined for pods outside the mesh. */
  readonly scrapePolicy: ScrapePolicy | undefined;
  /** The rights, in the whole cluster and in the operator's namespace, or in that namespace and each namespace of mirrors. */
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
    // Ingress only: API servers and gateways that the operator connects to may have any address and port.
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
    this.grants = this.#grants(props, linkerdNamespace);
  }

  #grants(props: MirrorOperatorProps, linkerdNamespace: string): readonly Grant[] {
    const { mirrorNamespaces, endpoints = 'endpoints', flat = false } = props;
    const { enableNamespaceCreation = false, grantNamespaceCreation = false } = props;
    const placed = operatorRules({
      namespace: this.namespace,
      controlPlaneNamespace: linkerdNamespace,
      mirrorNamespaces,
      credentialsSecrets: listedSecrets(props),
      endpoints,
      enableNamespaceCreation: enableNamespaceCreation || grantNamespaceCreation,
      failover: props.failover ?? true,
      serviceImports: props.serviceImports ?? true,
      gatewayAccess: props.gatewayAccess,
      flat,
    });
    return placed.map(
      ({ id, namespace, rules }) => new Grant(this, id, { to: this.serviceAccount, rules, namespace, labels: LABELS }),
    );
  }
}

const STAND_IN: MirrorOperatorProps = { image: 'invalid' };

/** Stands in for an operator that a construct was not given. Synthesis fails. */
export const operatorStandIn = (scope: Construct): MirrorOperator => new MirrorOperator(scope, 'StandIn', STAND_IN);
