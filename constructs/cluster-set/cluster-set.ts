/**
 * Clusters that use each other's Services, and the Links between them. Each cluster gets a chart with its side of every
 * pair that includes it. Values that both sides of a pair share (names of Secrets, identity and ports of the gateway,
 * networks of its policy) have one source.
 *
 * No token is ever rendered: see `ClusterCredentials`.
 */
import { Chart } from 'cdk8s';
import { Construct } from 'constructs';
import type { FieldError } from '../../crds/field-error.ts';
import { AboutApi, Default, gatewayIdentity } from '../../crds/wire.ts';
import { isDnsLabel } from '../../crds/names.ts';
import { addInvalid, invalidIn, takeInvalid } from '../common/invalid-props.ts';
import { acceptProps } from '../common/props.ts';
import { CredentialsReference } from '../link/credentials-reference.ts';
import type { LinkProps } from '../link/props.ts';
import { memberErrors, setErrors } from './errors.ts';
import { Multicluster } from './multicluster.ts';
import { ClusterProperty } from '../services/cluster-property.ts';
import { McsCrds } from '../services/mcs-crds.ts';
import type { ClusterSetLink, ClusterSetMcs, ClusterSetMember, ClusterSetProps } from './props.ts';
import { CLUSTER_SET_PROPS } from './schema.gen.ts';
import { type ClusterPair, linkedPairs, pairErrors, topologyErrors } from './topology.ts';

/** The constructs of one member. */
export interface ClusterSetCluster {
  readonly name: string;
  /** The chart, which has the name of the cluster. */
  readonly chart: Chart;
  readonly multicluster: Multicluster;
  /** In the order of the Links; empty if credentials are left out. */
  readonly credentials: readonly CredentialsReference[];
}

/**
 * For every member a chart with its `Multicluster`, and references to the credentials of its targets.
 * Synthesis fails for each invalid prop of each part of each cluster, by its path in the set.
 */
export class ClusterSet extends Construct {
  /** In the order of `members`. */
  readonly clusters: readonly ClusterSetCluster[];
  /** The pairs of a source and a target. */
  readonly pairs: readonly ClusterPair[];

  constructor(scope: Construct, id: string, given: ClusterSetProps) {
    super(scope, id);
    const title = `ClusterSet ${this.node.path}`;
    const props = acceptProps<ClusterSetProps>(this, CLUSTER_SET_PROPS, given, undefined, (given) => ({
      construct: title,
      found: clusterSetErrors(given),
    }));
    const isSound = invalidIn(this).length === 0;
    const around = this.node.scopes.findLast((scope): scope is Chart => Chart.isChart(scope));
    const set = { ...props, namespace: props.namespace ?? around?.namespace };
    const members = distinctMembers(props.members);
    const { topology = { type: 'full-mesh' } } = props;
    this.pairs = linkedPairs(
      topology,
      members.map(({ name }) => name),
    );
    const links = new Neighbours(members, this.pairs);

    const errors = new Map<string, FieldError>();
    const labels = { ...around?.labels, ...props.labels };
    this.clusters = members.map((member, index) => {
      const { name } = member;
      const chart = new Chart(this, name, { labels });
      const targets = links.targetsOf(member);
      const multicluster = new Multicluster(chart, 'Multicluster', side(member, links.sourcesOf(member), targets, set));
      const credentials = references(chart, name, targets, set);
      if (set.mcs !== undefined) mcsIdentity(chart, name, set.mcs);
      for (const each of takeInvalid(chart)) {
        const own = ownPath(each.path, name, targets, set.links);
        // All clusters share the props of the operator and its monitoring: each error is reported once.
        const isShared = /^(operator|monitoring|scrapers)\b/.test(each.path);
        const ofMember = memberPath(each.path, member) ?? (isShared ? undefined : each.path);
        const path = own ?? (ofMember === undefined ? each.path : `members[${index}].${ofMember}`);
        errors.set(path, { ...each, path });
      }
      return { name: props.members[index]?.name ?? name, chart, multicluster, credentials };
    });
    // Errors of props that a part gets from the set or from other members are reported there.
    const own = [...errors.values()].filter(({ path }) =>
      /^(operator|monitoring|scrapers|links\[\d+\]|members\[\d+\]\.gateway(Access|Tcp)?)(\.|\[|$)/.test(path),
    );
    addInvalid(this, { construct: title, errors: isSound && own.length === 0 ? [...errors.values()] : own });
  }
}

/** The path in the set of a prop that it gives to the Link of one pair; undefined for any other prop. */
const ownPath = (
  path: string,
  source: string,
  targets: readonly ClusterSetMember[],
  links: readonly ClusterSetLink[] = [],
): string | undefined => {
  const [, at, rest = '', field = ''] = /^links\[(\d+)\](\.(\w+).*)$/.exec(path) ?? [];
  const index = links.findIndex((link) => link.source === source && link.target === targets[Number(at)]?.name);
  return links[index] !== undefined && field in links[index] ? `links[${index}]${rest}` : undefined;
};

/** The members, each with a unique name that is valid for a chart, whatever names were given. */
const distinctMembers = (members: readonly ClusterSetMember[]): readonly ClusterSetMember[] => {
  const given = new Set(members.map(({ name }) => name));
  const standIn = (at: number): string => (given.has(`member-${at}`) ? standIn(at + members.length) : `member-${at}`);
  return members.map((member, index) =>
    isDnsLabel(member.name) && members.findIndex(({ name }) => name === member.name) === index
      ? member
      : { ...member, name: standIn(index) },
  );
};

const clusterSetErrors = (props: ClusterSetProps): readonly (FieldError | undefined)[] => {
  const { members, topology = { type: 'full-mesh' }, links = [] } = props;
  const names = members.map(({ name }) => name);
  const linked = linkedPairs(topology, names);
  const targets = new Set(linked.map(({ target }) => target));
  return [
    ...setErrors(props),
    ...topologyErrors('topology', topology, members),
    ...pairErrors('links', links, linked),
    ...members.flatMap((member, index) => memberErrors(`members[${index}]`, member, props, targets.has(member.name))),
  ];
};

/** Sources and targets of each member. */
class Neighbours {
  readonly #sources = new Map<string, ClusterSetMember[]>();
  readonly #targets = new Map<string, ClusterSetMember[]>();

  constructor(members: readonly ClusterSetMember[], pairs: readonly ClusterPair[]) {
    const byName = new Map(members.map((member) => [member.name, member]));
    for (const { name } of members) {
      this.#sources.set(name, []);
      this.#targets.set(name, []);
    }
    for (const pair of pairs) {
      const source = byName.get(pair.source);
      const target = byName.get(pair.target);
      if (source !== undefined) this.#sources.get(pair.target)?.push(source);
      if (target !== undefined) this.#targets.get(pair.source)?.push(target);
    }
  }

  sourcesOf({ name }: ClusterSetMember): readonly ClusterSetMember[] {
    return this.#sources.get(name) ?? [];
  }

  targetsOf({ name }: ClusterSetMember): readonly ClusterSetMember[] {
    return this.#targets.get(name) ?? [];
  }
}

/** Props of one cluster for its side of all pairs that include it. */
const side = (
  member: ClusterSetMember,
  sources: readonly ClusterSetMember[],
  targets: readonly ClusterSetMember[],
  {
    operator,
    monitoring,
    flat = false,
    // What a Link has without it is left out: the CRD of Linkerd does not know the field.
    federation = flat ? undefined : 'gateway',
    serviceExports,
    linkerdController,
    scrapers,
    namespace = Default.multiclusterNamespace,
    podSecurity,
    linkerdNamespace,
    links = [],
  }: ClusterSetProps,
) => ({
  namespace,
  podSecurity,
  linkerdNamespace,
  trustDomain: trustDomainOf(member),
  gateway: sources.length > 0 && member.gatewayAddresses !== undefined ? (member.gateway ?? {}) : (false as const),
  sourceNetworks: networksOf(sources),
  scrapers,
  sources: sources.map(({ name }) => ({
    sourceCluster: name,
    flat,
    exportNamespaces: member.exportNamespaces,
    linkerdController: member.exportNamespaces === undefined ? linkerdController : false,
  })),
  ...((targets.length > 0 || member.operator === true || isGuarded(member, sources, operator)) && {
    operator: operatorOf(operator, member),
    monitoring,
  }),
  links: targets.map((target) => {
    const own = links.find((link) => link.source === member.name && link.target === target.name);
    const { source: _source, target: _target, ...given }: Partial<ClusterSetLink> = own ?? {};
    const made = linkTo(target, { flat, federation, serviceExports, namespace, linkerdNamespace });
    return { ...made, ...given, ...(given.probe !== undefined && { probe: { ...made.probe, ...given.probe } }) };
  }),
});

/** Whether the gateway of a cluster has a policy that an operator keeps: a cluster that is only a target has one for that. */
const isGuarded = (
  { gatewayAddresses, gatewayAccess }: ClusterSetMember,
  sources: readonly ClusterSetMember[],
  operator: ClusterSetProps['operator'],
): boolean =>
  (gatewayAccess ?? operator.gatewayAccess) !== undefined && sources.length > 0 && gatewayAddresses !== undefined;

/** The props of the operator in one cluster. */
const operatorOf = (operator: ClusterSetProps['operator'], member: ClusterSetMember): ClusterSetProps['operator'] => {
  const { gatewayAccess = operator.gatewayAccess, gatewayTcp = operator.gatewayTcp, clusterDomain } = member;
  return {
    // Only who writes the policy of the gateway needs the domain.
    ...(gatewayAccess !== undefined && clusterDomain !== undefined && { clusterDomain }),
    ...operator,
    ...(gatewayAccess !== undefined && { gatewayAccess }),
    ...(gatewayTcp !== undefined && { gatewayTcp }),
  };
};

/** The path of a prop of the operator that a member sets for itself; undefined for any other. */
const memberPath = (path: string, { gatewayAccess, gatewayTcp }: ClusterSetMember): string | undefined => {
  const [, name] = /^operator\.(gatewayAccess|gatewayTcp)$/.exec(path) ?? [];
  return (gatewayAccess ?? gatewayTcp) === undefined ? undefined : name;
};

const linkTo = (
  target: ClusterSetMember,
  {
    flat,
    federation,
    serviceExports,
    namespace,
    linkerdNamespace = Default.controlPlaneNamespace,
  }: Pick<ClusterSetProps, 'flat' | 'federation' | 'serviceExports' | 'linkerdNamespace'> & {
    readonly namespace: string;
  },
): LinkProps => {
  const { service = {}, probePath, probePeriod } = target.gateway ?? {};
  const onNodes = service.type === 'NodePort';
  return {
    targetCluster: target.name,
    targetClusterDomain: target.clusterDomain,
    targetLinkerdNamespace: linkerdNamespace,
    targetNamespaces: target.exportNamespaces,
    ...(target.gatewayAddresses !== undefined && {
      gatewayAddresses: target.gatewayAddresses,
      gatewayPort: onNodes ? service.nodePort : service.port,
      gatewayIdentity: gatewayIdentity(linkerdNamespace, trustDomainOf(target), namespace),
      probe: {
        path: probePath,
        port: onNodes ? service.probeNodePort : service.probePort,
        period: probePeriod,
      },
    }),
    ...(flat !== true && { remoteDiscoverySelector: {} }),
    federation,
    serviceExports,
  };
};

const references = (
  chart: Chart,
  source: string,
  targets: readonly ClusterSetMember[],
  { credentials, flat = false, namespace, linkerdNamespace }: ClusterSetProps,
): readonly CredentialsReference[] => {
  if (credentials === undefined || credentials.type === 'left-out') return [];
  const { store, keyPrefix = KEY_PREFIX } = credentials;
  return targets.flatMap((target) => {
    const { name, apiServer, clusterDomain } = target;
    if (apiServer === undefined) return [];
    return new CredentialsReference(chart, `Credentials-${name}`, {
      targetCluster: name,
      server: apiServer.url,
      caData: apiServer.caData,
      tlsServerName: apiServer.tlsServerName,
      targetClusterDomain: clusterDomain,
      targetTrustDomain: trustDomainOf(target),
      namespace,
      linkerdNamespace,
      copies: flat ? 'both' : 'link',
      token: store && { store, key: `${keyPrefix}/${source}/${name}` },
    });
  });
};

const KEY_PREFIX = 'linkspan';

/** What a cluster is called in its set, and the CRDs of the MCS API. */
const mcsIdentity = (chart: Chart, name: string, { clusterSet, crds = true }: ClusterSetMcs): void => {
  const properties = [
    new ClusterProperty(chart, 'ClusterId', { name: AboutApi.clusterId, value: name }),
    new ClusterProperty(chart, 'ClusterSetId', { name: AboutApi.clusterSet, value: clusterSet }),
  ];
  if (!crds) return;
  const definitions = new McsCrds(chart, 'McsCrds');
  for (const property of properties) property.node.addDependency(definitions);
};

const trustDomainOf = ({ trustDomain, clusterDomain = Default.clusterDomain }: ClusterSetMember): string =>
  trustDomain ?? clusterDomain;

/** Undefined, for all networks, if any of the clusters may come from anywhere. */
const networksOf = (sources: readonly ClusterSetMember[]): readonly string[] | undefined =>
  sources.some(({ networks }) => networks === undefined)
    ? undefined
    : [...new Set(sources.flatMap(({ networks = [] }) => networks))].sort();
