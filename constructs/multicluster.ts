/**
 * A cluster's whole side of multi-cluster in one construct: what lets other clusters in (gateway, its policy, an account
 * for each of them) and what reaches out to others (the operator and its Links). Each part is optional: a cluster that
 * is a target only has no operator, one that is a source only has no gateway.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { type FieldError, fieldError } from '../crds/validate.ts';
import { Default, Label, Value } from '../crds/wire.ts';
import { GatewayPolicy } from './gateway-policy.ts';
import { Gateway, type GatewayProps } from './gateway.ts';
import { InvalidPropsError } from './invalid-props.ts';
import { LinkCrd } from './link-crd.ts';
import { Link, type LinkProps } from './link.ts';
import { MirrorOperator, type MirrorOperatorProps } from './mirror-operator.ts';
import { RemoteAccess, type RemoteAccessProps } from './remote-access.ts';

/** What all parts have in common is said once. */
type Common = 'namespace' | 'linkerdNamespace' | 'trustDomain';

/** Properties of {@link Multicluster}. */
export interface MulticlusterProps {
  /**
   * Namespace of the multicluster extension, which is rendered too.
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
   * The gateway that other clusters come in by; false for none, for a flat network or a cluster that is a source only.
   * @default - a LoadBalancer with three replicas
   */
  readonly gateway?: false | Omit<GatewayProps, Common> | undefined;
  /**
   * Networks in CIDR notation that the gateway's clients come from.
   * @default - all networks
   */
  readonly sourceNetworks?: readonly string[] | undefined;
  /**
   * The clusters that may read what is exported here, each by an account of its own.
   * @default - none
   */
  readonly sources?: readonly Omit<RemoteAccessProps, Common>[] | undefined;
  /**
   * The operator, for a cluster that has Links.
   * @default - none: mirrors are kept by Linkerd's controller, or there are none
   */
  readonly operator?: Omit<MirrorOperatorProps, Common> | undefined;
  /**
   * The Links to target clusters; their credentials are kept elsewhere.
   * @default - none
   */
  readonly links?: readonly LinkProps[] | undefined;
  /**
   * Whether the Link's CRD is rendered; it is a superset of Linkerd's.
   * @default - if there is an operator or a Link
   */
  readonly crd?: boolean | undefined;
}

/**
 * Namespace, gateway, policy, accounts, CRD, operator and Links of one cluster.
 * @throws InvalidPropsError naming every prop of every part that the part refuses
 */
export class Multicluster extends Construct {
  /** Namespace of the multicluster extension, labelled as `linkerd multicluster` looks for it. */
  readonly namespace: ApiObject;
  readonly gateway: Gateway | undefined;
  readonly gatewayPolicy: GatewayPolicy | undefined;
  /** In the order of `sources`. */
  readonly remoteAccess: readonly RemoteAccess[];
  readonly crd: LinkCrd | undefined;
  readonly operator: MirrorOperator | undefined;
  /** In the order of `links`. */
  readonly links: readonly Link[];

  constructor(scope: Construct, id: string, props: MulticlusterProps = {}) {
    super(scope, id);
    const { linkerdNamespace, trustDomain, gateway = {}, sources = [], links = [] } = props;
    const namespace = props.namespace ?? Chart.of(this).namespace ?? Default.multiclusterNamespace;
    const parts = new Parts();
    const common = { namespace, linkerdNamespace, trustDomain };
    this.namespace = new ApiObject(this, 'Resource', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { [Label.extension]: Value.extension } },
    });
    if (gateway !== false) {
      this.gateway = parts.make('gateway.', () => new Gateway(this, 'Gateway', { ...gateway, ...common }));
      this.gatewayPolicy = parts.make(
        '',
        () => new GatewayPolicy(this, 'GatewayPolicy', { namespace, sourceNetworks: props.sourceNetworks }),
      );
    }
    this.remoteAccess = parts.makeEach('sources', sources, (source, index) => {
      return new RemoteAccess(this, `Source${index}`, { ...source, namespace });
    });
    if (props.crd ?? (props.operator !== undefined || links.length > 0)) this.crd = new LinkCrd(this, 'Crd');
    const { operator } = props;
    if (operator !== undefined) {
      const targetClusters = operator.targetClusters ?? links.map(({ targetClusterName }) => targetClusterName);
      this.operator = parts.make(
        'operator.',
        () => new MirrorOperator(this, 'Operator', { ...operator, ...common, targetClusters }),
      );
    }
    this.links = parts.makeEach('links', links, (link, index) => {
      return new Link(this, `Link${index}`, { ...link, metadata: { ...link.metadata, namespace } });
    });
    parts.distinct(
      'sources',
      this.remoteAccess.map(({ name }) => name),
    );
    parts.distinct(
      'links',
      this.links.map(({ targetClusterName }) => targetClusterName),
    );
    parts.refuse(`Multicluster ${namespace}`);

    // Applied in this order, nothing is refused for want of what comes later.
    for (const child of this.node.children) {
      if (child !== this.namespace) child.node.addDependency(this.namespace);
    }
    for (const link of this.links) if (this.crd !== undefined) link.node.addDependency(this.crd);
  }
}

/** Makes parts one by one and collects what they refuse, so that it can be said all at once. */
class Parts {
  readonly #errors: FieldError[] = [];
  readonly #said = new Set<string>();

  /** Undefined if the part refuses its props; their paths get the prefix. */
  make<T>(prefix: string, part: () => T): T | undefined {
    try {
      return part();
    } catch (error) {
      if (!(error instanceof InvalidPropsError)) throw error;
      for (const each of error.errors) {
        const path = COMMON_PROPS.has(each.path) ? each.path : `${prefix}${each.path}`;
        // What all parts are given is refused by each of them.
        if (this.#said.has(path)) continue;
        this.#said.add(path);
        this.#errors.push({ ...each, path });
      }
      return undefined;
    }
  }

  makeEach<P, T>(path: string, all: readonly P[], part: (props: P, index: number) => T): readonly T[] {
    return all
      .map((props, index) => this.make(`${path}[${index}].`, () => part(props, index)))
      .filter((made) => made !== undefined);
  }

  /** Takes note of names that are there twice. */
  distinct(path: string, names: readonly string[]): void {
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) < index) this.#errors.push(fieldError(`${path}[${index}]`, name, 'is there twice'));
    }
  }

  refuse(construct: string): void {
    if (this.#errors.length > 0) throw new InvalidPropsError(construct, this.#errors);
  }
}

const COMMON_PROPS: ReadonlySet<string> = new Set<Common>(['namespace', 'linkerdNamespace', 'trustDomain']);
