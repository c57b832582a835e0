/**
 * All multi-cluster objects of one cluster: for its sources, the gateway, its policy, and an account for each; for its
 * targets, the operator and its Links. Each part is optional: a cluster that is only a target needs no operator, and one
 * that is only a source has no gateway. A cluster that loses its last Link keeps its operator until the mirrors are gone.
 */
import { ApiObject, Chart, JsonPatch } from 'cdk8s';
import { Namespace } from 'cdk8s-plus-27';
import { Construct } from 'constructs';
import { fieldError } from '../../crds/field-error.ts';
import { isDnsSubdomain } from '../../crds/names.ts';
import { credentialsName, Default, Label, Value } from '../../crds/wire.ts';
import { Parts } from '../common/parts.ts';
import { acceptProps } from '../common/props.ts';
import { GatewayPolicy, type GatewayPolicyProps } from '../gateway/gateway-policy.ts';
import { Gateway, type GatewayProps } from '../gateway/gateway.ts';
import { RemoteAccess, type RemoteAccessProps } from '../gateway/remote-access.ts';
import { LinkCrd } from '../link/link-crd.ts';
import { Link } from '../link/link.ts';
import type { LinkProps } from '../link/props.ts';
import { Monitoring, type MonitoringProps } from '../monitoring/monitoring.ts';
import { limitedError } from '../operator/errors.ts';
import { MirrorOperator } from '../operator/mirror-operator.ts';
import type { MirrorOperatorProps } from '../operator/props.ts';
import { ServiceFailoverCrd } from '../services/service-failover-crd.ts';
import { MULTICLUSTER_PROPS } from './schema.gen.ts';

/** The Pod Security Standard of the namespace. */
export type PodSecurity = 'privileged' | 'restricted';

/** Props of all parts, given once. */
type Common = 'namespace' | 'linkerdNamespace' | 'trustDomain';

/** Properties of {@link Multicluster}. */
export interface MulticlusterProps {
  /**
   * Namespace of the multicluster extension, which is rendered.
   * @default - the chart's, else `linkerd-multicluster`
   */
  readonly namespace?: string | undefined;
  /**
   * Pod Security Standard that the namespace of the extension enforces. The init container of Linkerd's proxy, which sets
   * up the network of a pod, needs `privileged`; with Linkerd's CNI plugin there is none, and `restricted` is enough.
   * @default privileged
   */
  readonly podSecurity?: PodSecurity | undefined;
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
   * The gateway; false for no gateway, on a flat network or in a cluster that is only a source.
   * @default - a LoadBalancer with three replicas
   */
  readonly gateway?: false | Omit<GatewayProps, Common> | undefined;
  /**
   * Networks in CIDR notation that clients of the gateway connect from.
   * @default - all
   */
  readonly sourceNetworks?: readonly string[] | undefined;
  /**
   * ServiceAccounts, in each cluster, that may read the metrics of the gateway's proxy.
   * @default - `prometheus` in `linkerd-viz`
   */
  readonly scrapers?: GatewayPolicyProps['scrapers'];
  /**
   * Source clusters that may read the exports of this cluster, each with its own account.
   * @default - none
   */
  readonly sources?: readonly Omit<RemoteAccessProps, Common>[] | undefined;
  /**
   * The operator, for a cluster with Links. It may read only the Secrets that `links` name. If there are other Links, add
   * their Secrets to its `credentialsSecrets`, or write `any`.
   * @default - none
   */
  readonly operator?: Omit<MirrorOperatorProps, Common> | undefined;
  /**
   * Objects for Prometheus and Grafana. They need the CRDs of the Prometheus Operator.
   * @default - none
   */
  readonly monitoring?: Omit<MonitoringProps, 'operator'> | undefined;
  /**
   * Links to target clusters, without their credentials.
   * @default - none
   */
  readonly links?: readonly Omit<LinkProps, Common>[] | undefined;
  /**
   * Whether to render the CRDs: that of the Link, which is a superset of Linkerd's, and, beside an operator, that of the
   * ServiceFailover.
   * @default - true if there is an operator or a Link
   */
  readonly crd?: boolean | undefined;
}

/**
 * Namespace, gateway, policy, accounts, CRD, operator and Links of one cluster.
 * Synthesis fails for each prop that its part refuses.
 */
export class Multicluster extends Construct {
  /** Namespace of the multicluster extension, with the labels by which `linkerd multicluster` finds it. */
  readonly namespace: Namespace;
  readonly gateway: Gateway | undefined;
  readonly gatewayPolicy: GatewayPolicy | undefined;
  /** In the order of `sources`. */
  readonly remoteAccess: readonly RemoteAccess[];
  readonly crd: LinkCrd | undefined;
  readonly failoverCrd: ServiceFailoverCrd | undefined;
  readonly operator: MirrorOperator | undefined;
  readonly monitoring: Monitoring | undefined;
  /** In the order of `links`. */
  readonly links: readonly Link[];

  constructor(scope: Construct, id: string, given: MulticlusterProps = {}) {
    super(scope, id);
    const title = 'Multicluster';
    const props = acceptProps<MulticlusterProps>(this, MULTICLUSTER_PROPS, given, undefined, () => ({
      construct: title,
      found: [],
    }));
    const { linkerdNamespace, trustDomain, gateway = {}, sources = [], links = [], podSecurity = 'privileged' } = props;
    const namespace = props.namespace ?? Chart.of(this).namespace ?? Default.multiclusterNamespace;
    const parts = new Parts(this, title, COMMON_PROPS);
    const common = { namespace, linkerdNamespace, trustDomain };
    this.namespace = new Namespace(this, 'Resource', {
      metadata: {
        name: namespace,
        labels: { [Label.extension]: Value.extension, [Label.podSecurity]: podSecurity },
      },
    });
    ApiObject.of(this.namespace).addJsonPatch(JsonPatch.remove('/spec'));
    if (gateway !== false) {
      this.gateway = parts.make('gateway.', () => new Gateway(this, 'Gateway', { ...gateway, ...common }));
      this.gatewayPolicy = parts.make(
        '',
        () =>
          new GatewayPolicy(this, 'GatewayPolicy', {
            namespace,
            gatewayAccess: props.operator?.gatewayAccess,
            sourceNetworks: props.sourceNetworks,
            scrapers: props.scrapers,
          }),
      );
    }
    this.remoteAccess = parts.makeEach('sources', sources, (source, index) => {
      return new RemoteAccess(this, `Source${index}`, { ...source, namespace });
    });
    if (props.crd ?? (props.operator !== undefined || links.length > 0)) this.crd = new LinkCrd(this, 'Crd');
    if (props.operator !== undefined && props.operator.failover !== false && props.crd !== false)
      this.failoverCrd = new ServiceFailoverCrd(this, 'FailoverCrd');
    this.operator = this.#operator(parts, props, namespace);
    this.monitoring = this.#monitoring(parts, props);
    this.links = parts.makeEach('links', links, (link, index) => {
      return new Link(this, `Link${index}`, { ...link, namespace });
    });
    parts.distinct(
      'sources',
      this.remoteAccess.map(({ name }) => name),
    );
    parts.distinct(
      'links',
      this.links.map(({ targetCluster }) => targetCluster),
    );
    parts.report();

    // In this order, no object needs one that is applied after it.
    for (const child of this.node.children) {
      if (child !== this.namespace) child.node.addDependency(this.namespace);
    }
    for (const link of this.links) if (this.crd !== undefined) link.node.addDependency(this.crd);
  }

  #operator(parts: Parts, props: MulticlusterProps, namespace: string): MirrorOperator | undefined {
    const { operator, links = [], linkerdNamespace, trustDomain } = props;
    if (operator === undefined) return undefined;
    const creating = links.flatMap(({ enableNamespaceCreation }, at) => (enableNamespaceCreation === true ? [at] : []));
    const isLimited = operator.mirrorNamespaces !== undefined;
    for (const at of isLimited ? creating : [])
      parts.add(limitedError(`links[${at}].enableNamespaceCreation`, 'operator.mirrorNamespaces'));
    const { flat = links.some((link) => isOnFlatNetwork(link, operator)) } = operator;
    const { grantNamespaceCreation = creating.length > 0 && !isLimited } = operator;
    const given: MirrorOperatorProps = {
      ...operator,
      namespace,
      linkerdNamespace,
      // Only who writes the policy of the gateway needs it.
      ...(operator.gatewayAccess !== undefined && { trustDomain }),
      targetClusters: operator.targetClusters ?? links.map(({ targetCluster }) => targetCluster),
      credentialsSecrets: secretsOf(links, flat, operator),
      flat,
      grantNamespaceCreation,
    };
    return parts.make('operator.', () => new MirrorOperator(this, 'Operator', given));
  }

  #monitoring(parts: Parts, { monitoring, operator: wanted }: MulticlusterProps): Monitoring | undefined {
    const { operator } = this;
    if (monitoring === undefined) return undefined;
    if (wanted === undefined)
      parts.add(
        fieldError('monitoring', undefined, 'must not be set without operator', 'add operator, or remove monitoring'),
      );
    return operator && parts.make('monitoring.', () => new Monitoring(this, 'Monitoring', { operator, ...monitoring }));
  }
}

/**
 * The Secrets with the credentials of Links, and those that are given, except for invalid names. On a flat network the
 * control plane's copy is among them, whose name tells only the cluster.
 */
const secretsOf = (
  links: readonly Omit<LinkProps, Common>[],
  flat: boolean,
  operator: Omit<MirrorOperatorProps, Common>,
): MirrorOperatorProps['credentialsSecrets'] => {
  const { credentialsSecrets: given = [] } = operator;
  if (given === 'any') return given;
  const names = links.flatMap((link) => {
    const copy = credentialsName(link.targetCluster);
    const own = link.clusterCredentialsSecret ?? copy;
    return flat && isOnFlatNetwork(link, operator) ? [own, copy] : [own];
  });
  const all = new Set([...given, ...names.filter(isDnsSubdomain)]);
  return all.size > 0 ? [...all] : 'any';
};

/** Whether members of federated Services, or what is imported, may be reached on a flat network by a Link. */
const isOnFlatNetwork = (
  { federation, federatedServiceSelector, serviceExports = true, gatewayAddresses }: Omit<LinkProps, Common>,
  { serviceImports = true }: Pick<MirrorOperatorProps, 'serviceImports'>,
): boolean => {
  const joins = federatedServiceSelector === undefined || Object.keys(federatedServiceSelector).length > 0;
  const joinsFlat = joins && federation !== 'gateway';
  // As `importsThrough` of a Link.
  const importsThrough = federation ?? (gatewayAddresses === undefined ? 'flat' : 'gateway');
  return joinsFlat || (serviceImports && serviceExports && importsThrough === 'flat');
};

const COMMON_PROPS: ReadonlySet<string> = new Set<Common>(['namespace', 'linkerdNamespace', 'trustDomain']);
