/**
 * Topologies of a set of clusters: directed pairs of a source that mirrors and a target that exports.
 */
import { type FieldError, fieldError } from '../../crds/field-error.ts';

/** A pair: a source that mirrors from a target. */
export interface ClusterPair {
  /** Name of the cluster that mirrors. */
  readonly source: string;
  /** Name of the cluster that exports. */
  readonly target: string;
}

/** Topology of the Links between the members of a set. */
export interface Topology {
  /**
   * Links of each cluster with each other (`full-mesh`), of each hub with each other cluster in both directions
   * (`hub-and-spokes`), or of the listed pairs (`pairs`).
   */
  readonly type: 'full-mesh' | 'hub-and-spokes' | 'pairs';
  /**
   * Names of the hubs, required for type `hub-and-spokes`.
   * @default - none
   */
  readonly hubs?: readonly string[] | undefined;
  /**
   * Pairs, required for type `pairs`. Links in both directions take two pairs. There may be none if each member keeps its
   * operator.
   * @default - none
   */
  readonly pairs?: readonly ClusterPair[] | undefined;
}

/** The pairs among the clusters, by source and then by target, in the order of `clusters`. */
export const linkedPairs = (topology: Topology, clusters: readonly string[]): readonly ClusterPair[] => {
  const isLinked = linking(topology);
  return clusters.flatMap((source) =>
    clusters.filter((target) => source !== target && isLinked(source, target)).map((target) => ({ source, target })),
  );
};

const linking = ({ type, hubs = [], pairs = [] }: Topology): ((source: string, target: string) => boolean) => {
  switch (type) {
    case 'full-mesh':
      return () => true;
    case 'hub-and-spokes':
      return (source, target) => hubs.includes(source) || hubs.includes(target);
    case 'pairs': {
      const listed = new Set(pairs.map(({ source, target }) => `${source} ${target}`));
      return (source, target) => listed.has(`${source} ${target}`);
    }
  }
};

/** A cluster that pairs are of. One that keeps its operator need not be in any. */
interface Pairable {
  readonly name: string;
  readonly operator?: true | undefined;
}

/** Errors of a topology of these clusters. */
export const topologyErrors = (
  path: string,
  { type, hubs, pairs }: Topology,
  members: readonly Pairable[],
): readonly (FieldError | undefined)[] => {
  const clusters = members.map(({ name }) => name);
  const isUnlinked = type === 'pairs' && pairs?.length === 0 && members.every(({ operator }) => operator === true);
  const isMember = (at: string, name: string): FieldError | undefined =>
    clusters.includes(name)
      ? undefined
      : fieldError(at, name, 'must be the name of a member', `one of ${clusters.join(', ')}`);
  const belongsTo = (
    field: 'hubs' | 'pairs',
    owner: Topology['type'],
    value: readonly unknown[] | undefined,
  ): FieldError | undefined => {
    const given = value !== undefined && value.length > 0;
    if (given === (type === owner)) return undefined;
    return given
      ? fieldError(
          `${path}.${field}`,
          value,
          `may only be used with type ${owner}`,
          `remove it, or write type: ${owner}`,
        )
      : fieldError(`${path}.${field}`, value, `is required when type is ${owner}`, 'at least one');
  };
  return [
    belongsTo('hubs', 'hub-and-spokes', hubs),
    ...(hubs ?? []).map((hub, index) => isMember(`${path}.hubs[${index}]`, hub)),
    isUnlinked ? undefined : belongsTo('pairs', 'pairs', pairs),
    ...(pairs ?? []).flatMap(({ source, target }, index) => [
      isMember(`${path}.pairs[${index}].source`, source),
      source === target
        ? fieldError(`${path}.pairs[${index}].target`, target, 'must differ from source')
        : isMember(`${path}.pairs[${index}].target`, target),
      pairs?.findIndex((pair) => pair.source === source && pair.target === target) === index
        ? undefined
        : fieldError(`${path}.pairs[${index}]`, { source, target }, 'must be unique'),
    ]),
    ...(type === 'pairs' ? unlinkedErrors(pairs ?? [], members) : []),
  ];
};

/** Errors of what is given for single pairs, each of which must be one of the topology, and be given once. */
export const pairErrors = (
  path: string,
  given: readonly ClusterPair[],
  linked: readonly ClusterPair[],
): readonly (FieldError | undefined)[] => {
  const isSame = (one: ClusterPair, other: ClusterPair): boolean =>
    one.source === other.source && one.target === other.target;
  return given.map((pair, index) => {
    const { source, target } = pair;
    if (!linked.some((each) => isSame(each, pair))) {
      return fieldError(`${path}[${index}]`, { source, target }, 'must be a pair of the topology');
    }
    return given.findIndex((each) => isSame(each, pair)) === index
      ? undefined
      : fieldError(`${path}[${index}]`, { source, target }, 'must be unique');
  });
};

/** Errors of clusters without a pair, which a user most likely forgot. */
const unlinkedErrors = (pairs: readonly ClusterPair[], members: readonly Pairable[]): readonly FieldError[] => {
  const named = pairs.flatMap(({ source, target }) => [source, target]);
  // A pair with an unknown name is reported, and may be a misspelt one of this cluster.
  if (named.length === 0 || !named.every((name) => members.some((each) => each.name === name))) return [];
  return members.flatMap(({ name, operator }, index) =>
    operator === true || named.includes(name)
      ? []
      : fieldError(
          `members[${index}].name`,
          name,
          'must be in a pair of the topology',
          'add one, write operator: true, or remove the member',
        ),
  );
};
