/**
 * The set of clusters that runs, as a cluster file has it: members by the names that Links call them, the pairs that are
 * linked, and what each Link has of its own. What a file cannot have is a note. Pure.
 */
import type { MulticlusterProps } from '../../../constructs/index.ts';
import type { LinkSpec } from '../../../crds/link/types.gen.ts';
import { isDnsLabel } from '../../../crds/names.ts';
import { Default } from '../../../crds/wire.ts';
import type { Found, FoundLink } from './found.ts';
import { addressesOf, isSame, linkSettings } from './link-settings.ts';
import type { NodePorts, Surveyed } from './survey.ts';

/** A member, how its gateway was installed, and who may come through it. */
export interface Member extends Surveyed, Readonly<Partial<Record<(typeof GATEWAY_FIELDS)[number], unknown>>> {
  readonly gateway: Readonly<Record<string, unknown>> | undefined;
  /** Whether an operator runs that nothing in the file would keep there. */
  readonly operator: true | undefined;
}

/** What an operator keeps of the gateway of its own cluster. In a file, each member has it for itself. */
const GATEWAY_FIELDS = ['gatewayAccess', 'gatewayTcp'] as const;

/** What is not of all operators. A file has the domains of a cluster as its member's. */
const OWN_FIELDS: ReadonlySet<string> = new Set([...GATEWAY_FIELDS, 'clusterDomain', 'trustDomain']);

/** What the file has of what runs. */
export interface Composition {
  readonly members: readonly Member[];
  /** Undefined if each two are linked, or nothing is linked yet. */
  readonly pairs: readonly Pair[] | undefined;
  readonly links: readonly (Pair & Readonly<Record<string, unknown>>)[];
  /** Fields of the set. */
  readonly set: Readonly<Record<string, unknown>>;
  /** Undefined if no operator runs. */
  readonly operator: Readonly<Record<string, unknown>> | undefined;
  /** What was found, for comments of the file. */
  readonly comments: readonly string[];
  /** What the file cannot have. */
  readonly notes: readonly string[];
}

interface Pair {
  readonly source: string;
  readonly target: string;
}

interface Linked extends FoundLink {
  readonly source: number;
  readonly target: number;
}

/** Where all of it is. */
interface Places {
  readonly namespace: string;
  readonly linkerdNamespace: string;
}

/**
 * Composes what was found.
 * @param found what runs in each of the clusters
 */
export const composition = (surveyed: readonly Surveyed[], found: readonly Found[], places: Places): Composition => {
  const notes = found.flatMap((each) => each.notes);
  const linked = linkedIn(surveyed, found, notes);
  const names = namesBy(surveyed, linked, notes);
  const isUsed = (index: number): boolean =>
    linked.length === 0 || linked.some(({ source, target }) => source === index || target === index);
  const all = surveyed.map((member, index) =>
    memberOf({ ...member, name: names[index] ?? member.name }, index, linked, found),
  );
  for (const [index, { context }] of surveyed.entries()) {
    if (!isUsed(index)) notes.push(`context ${context} is left out: no Link leads to it or from it`);
  }
  notes.push(...networkNotes(surveyed, found, linked));
  const isFlat = linked.some((each) => each.isFlat);
  const serviceExports = !(linked.length > 0 && linked.every(({ link }) => link.spec?.serviceExports === false));
  const pairOf = ({ source, target }: Linked): Pair => ({ source: names[source] ?? '', target: names[target] ?? '' });
  const links = linked.flatMap((each) => {
    const target = all[each.target];
    const service = serviceOf(target?.gateway);
    const onNodes = service.type === 'NodePort';
    const own = linkSettings(each.link.spec ?? {}, {
      ...places,
      flat: isFlat,
      serviceExports,
      trustDomain: target?.domains?.trustDomain ?? Default.clusterDomain,
      gatewayAddresses: target?.gatewayAddresses ?? [],
      gatewayPort: (onNodes ? service.nodePort : service.port) ?? Default.gatewayPort,
      probe: {
        path: target?.gateway?.['probePath'] as string | undefined,
        port: onNodes ? service.probeNodePort : service.probePort,
      },
    });
    return Object.keys(own).length === 0 ? [] : [{ ...pairOf(each), ...own }];
  });
  const members = all.filter((_, index) => isUsed(index));
  const isMesh = linked.length === members.length * (members.length - 1);
  const podSecurity = podSecurityOf(surveyed, found, isUsed, notes);
  return {
    members,
    pairs: linked.length === 0 || isMesh ? undefined : linked.map(pairOf),
    links,
    set: {
      ...(isFlat && { flat: true }),
      ...(!serviceExports && { serviceExports }),
      ...(podSecurity !== undefined && { podSecurity }),
    },
    operator: operatorOf(surveyed, found, isUsed, notes),
    comments: linked.map(
      ({ source, link }) => `Found: Link ${link.metadata.name} in context ${surveyed[source]?.context ?? ''}`,
    ),
    notes,
  };
};

/**
 * The Links whose target is a cluster that was asked, by the API server in their credentials, or by its name. Two may lead
 * to one cluster, as while it gets another name; a set has one of them.
 */
const linkedIn = (surveyed: readonly Surveyed[], found: readonly Found[], notes: string[]): readonly Linked[] =>
  found.flatMap(({ links }, source) => {
    const leading = new Map<number, string>();
    return links.flatMap((each): readonly Linked[] => {
      const name = each.link.spec?.targetClusterName ?? '';
      const byServer = surveyed.findIndex(({ server }) => server === each.server);
      const byName = surveyed.findIndex(({ context, name: own }) => context === name || own === name);
      const target = byServer === -1 ? byName : byServer;
      const title = `Link ${each.link.metadata.name} of ${surveyed[source]?.context ?? ''}`;
      if (target === -1 || target === source) {
        notes.push(`${title} is left out: its target ${name} is no cluster of the contexts; name its context as well`);
        return [];
      }
      const other = leading.get(target);
      if (other !== undefined) {
        const why = `Link ${other} leads to the same cluster, and a set has one Link from a cluster to another`;
        notes.push(`${title} is left out: ${why}`);
        return [];
      }
      leading.set(target, each.link.metadata.name);
      if (each.link.metadata.name !== name) {
        notes.push(`${title} would be made anew as Link ${name}: in a set, Links have the names of their targets`);
      }
      return [{ ...each, source, target }];
    });
  });

/** Each cluster is called as the Links call it. One that no Link leads to or from is left out, and has no name to itself. */
const namesBy = (surveyed: readonly Surveyed[], linked: readonly Linked[], notes: string[]): readonly string[] => {
  const names = surveyed.map(({ name }) => name);
  const used = new Set(linked.flatMap(({ source, target }) => [source, target]));
  const isNamed = new Set<number>();
  for (const { link, target, source } of linked) {
    const name = link.spec?.targetClusterName ?? '';
    if (names[target] === name) {
      isNamed.add(target);
      continue;
    }
    const isTaken = names.some((each, index) => each === name && index !== target && used.has(index));
    if (!isNamed.has(target) && isDnsLabel(name) && !isTaken) {
      names[target] = name;
      isNamed.add(target);
      continue;
    }
    const why = isNamed.has(target) ? 'which others call' : 'which the file calls';
    notes.push(
      `Link ${link.metadata.name} of ${surveyed[source]?.context ?? ''} calls its target ${name}, ${why} ${names[target] ?? ''}: mirrors would get other names`,
    );
  }
  return names;
};

/** With the addresses that Links have of it, and its gateway as it was installed. */
const memberOf = (member: Surveyed, index: number, linked: readonly Linked[], found: readonly Found[]): Member => {
  const specs = linked.filter(({ target }) => target === index).map(({ link }) => link.spec ?? {});
  const spec = specs.find((each) => addressesOf(each).length > 0);
  const known = spec && addressesOf(spec);
  const installed: MulticlusterProps['gateway'] = found[index]?.installed?.gateway;
  const gateway = withNodePorts(installed === false ? undefined : installed, member.nodePorts, spec);
  const isGiven = gateway !== undefined && Object.keys(gateway).length > 0;
  const isTarget = known !== undefined || member.gatewayAddresses.length > 0 || member.nodePorts !== undefined;
  const { operator = {} } = found[index] ?? {};
  const isKept = linked.some(({ source }) => source === index) || operator['gatewayAccess'] !== undefined;
  const isAlone = found[index]?.operator !== undefined && linked.length > 0 && !isKept;
  return {
    ...member,
    ...Object.fromEntries(
      GATEWAY_FIELDS.filter((name) => operator[name] !== undefined).map((name) => [name, operator[name]]),
    ),
    gatewayAddresses: known ?? member.gatewayAddresses,
    gateway: isGiven && isTarget ? { ...gateway } : undefined,
    operator: isAlone ? true : undefined,
  };
};

type GatewayProps = Exclude<NonNullable<MulticlusterProps['gateway']>, false>;

const serviceOf = (gateway: Readonly<Record<string, unknown>> | undefined): NonNullable<GatewayProps['service']> =>
  gateway?.['service'] ?? {};

/**
 * A file names the ports of a NodePort gateway, which Kubernetes has chosen: those of its Service, else of a Link to it.
 * Whether it is one, its Service says, which others than `linkspan install` may have made.
 */
const withNodePorts = (
  gateway: GatewayProps | undefined,
  found: NodePorts | undefined,
  { gatewayPort, probeSpec }: Partial<LinkSpec> = {},
): GatewayProps | undefined => {
  const service = serviceOf(gateway);
  if (found === undefined && service.type !== 'NodePort') return gateway;
  const portIn = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
  const ports = {
    nodePort: found?.nodePort ?? service.nodePort ?? portIn(gatewayPort),
    probeNodePort: found?.probeNodePort ?? service.probeNodePort ?? portIn(probeSpec?.port),
  };
  return { ...gateway, service: { ...service, type: 'NodePort', ...ports } };
};

/** A file has one Pod Security Standard: the stricter only if all namespaces enforce it, since pods may not run under it. */
const podSecurityOf = (
  surveyed: readonly Surveyed[],
  found: readonly Found[],
  isUsed: (index: number) => boolean,
  notes: string[],
): MulticlusterProps['podSecurity'] => {
  const used = [...surveyed.keys()].filter(isUsed);
  const restricted = used.filter((index) => found[index]?.installed?.podSecurity === 'restricted');
  if (restricted.length === 0) return undefined;
  if (restricted.length === used.length) return 'restricted';
  const contexts = restricted.map((index) => surveyed[index]?.context).join(', ');
  notes.push(
    `the Pod Security Standard of the namespace is restricted in context ${contexts} alone: the file has privileged for all`,
  );
  return undefined;
};

/** A file has networks by who comes from them, a gateway that was installed has them all. */
const networkNotes = (
  surveyed: readonly Surveyed[],
  found: readonly Found[],
  linked: readonly Linked[],
): readonly string[] =>
  surveyed.flatMap(({ context }, index) => {
    const { sourceNetworks = [] } = found[index]?.installed ?? {};
    return sourceNetworks.length === 0 || !linked.some(({ target }) => target === index)
      ? []
      : `the gateway of context ${context} admits only ${sourceNetworks.join(', ')}: write them as networks of the members that use it, or it is opened to all networks`;
  });

/** The operator of all clusters that are in the file; a file has one. */
const operatorOf = (
  surveyed: readonly Surveyed[],
  found: readonly Found[],
  isUsed: (index: number) => boolean,
  notes: string[],
): Composition['operator'] => {
  const operators = found.flatMap(({ operator }, index) => (operator === undefined ? [] : [{ operator, index }]));
  const used = operators
    .filter(({ index }) => isUsed(index))
    .map(({ operator, index }) => ({ operator: ofAll(operator), index }));
  for (const { index } of operators) {
    if (used.every((each) => each.index !== index)) {
      notes.push(`the operator of context ${surveyed[index]?.context ?? ''} is not in the file, as its cluster is not`);
    }
  }
  const [first, ...others] = used;
  for (const { operator, index } of others) {
    const fields = [...new Set([...Object.keys(first?.operator ?? {}), ...Object.keys(operator)])].filter(
      (field) => !isSame(first?.operator[field], operator[field]),
    );
    if (fields.length > 0) {
      notes.push(
        `the operator of context ${surveyed[index]?.context ?? ''} differs in ${fields.join(', ')}: the file has one for all, as in context ${surveyed[first?.index ?? 0]?.context ?? ''}`,
      );
    }
  }
  return first?.operator;
};

const ofAll = (operator: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(operator).filter(([name]) => !OWN_FIELDS.has(name)));
