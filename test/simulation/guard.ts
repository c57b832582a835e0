/**
 * Rule E6, write by write: what a target loses at once, without anybody deleting it there one by one, takes no more
 * mirrors, or memberships, with it than the guard allows, until the user confirms. Each key that is lost is put down to what
 * lost it, and each mirror that the operator deletes then to its key.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { HistoryCluster } from './cluster.ts';
import { type Choosy, verdictOn } from './import-policy.ts';
import { isMember } from './members.ts';
import { selects } from './oracle.ts';
import { EXPORT_LABEL, HAND } from './target-users.ts';

/** What may always go at once, and which part of all. */
const ALWAYS = 10;
const PART = 0.5;

/** Something that lost keys, and the mirrors that were deleted for it. */
interface Loss {
  readonly what: string;
  readonly deleted: { readonly services: Set<string>; readonly pods: Set<string> };
  /** Since when the operator may know of it; Infinity while it cannot. */
  readonly knownMs: () => number;
  /** Whether the user's settings take them away, and not the target. */
  readonly isChosen: boolean;
}

/** What a key was lost by, and by what before. */
interface Cause {
  readonly loss: Loss;
  readonly former: Cause | undefined;
}

/** By key. */
type Losses = ReadonlyMap<string, Cause>;

interface Counts {
  readonly services: number;
  readonly pods: number;
}

/** Keys of what a target exports: `namespace/name` of a Service, and that with `#hostname` of a pod. */
export type Exported = ReadonlySet<string>;

export function exportedBy(target: HistoryCluster): Exported {
  const services = target
    .list('v1', 'Service')
    .filter(({ metadata }) => metadata.labels?.[EXPORT_LABEL] !== undefined)
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  return new Set([...services, ...target.list('discovery.k8s.io/v1', 'EndpointSlice').flatMap(podsOf)]);
}

const podsOf = (slice: KubeObject): readonly string[] => {
  const { namespace, labels = {} } = slice.metadata;
  const all: unknown = slice['endpoints'];
  const endpoints = (Array.isArray(all) ? all : []) as readonly { readonly hostname?: string }[];
  return endpoints.flatMap(({ hostname }) =>
    hostname === undefined ? [] : [`${namespace}/${labels['kubernetes.io/service-name']}#${hostname}`],
  );
};

/** Keys of the Services of a target that are exported for flat networks. */
export const flatOf = (target: HistoryCluster): Exported =>
  new Set(
    target
      .list('v1', 'Service')
      .filter(({ metadata }) => metadata.labels?.[EXPORT_LABEL] === 'remote-discovery')
      .map(keyOf),
  );

/** Keys of the Services of a target that join federated Services. */
export const membersOf = (target: HistoryCluster): Exported =>
  new Set(
    target
      .list('v1', 'Service')
      .filter(isMember)
      .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
  );

/** What a target lost: keys that it had, and has. */
export interface Lack {
  readonly before: Exported;
  readonly after: Exported;
  /**
   * Keys of which it lost something else now than what they may have lost before. Lists of two kinds may take these away, and
   * either may take others with it, so that they are counted apart. @default - none
   */
  readonly again?: Exported;
  /** Services that were exported for flat networks: a list of their own has them. @default - none */
  readonly flat?: ReadonlySet<string>;
  /** Since when the operator may know of it; Infinity while it cannot. @default - from the beginning */
  readonly knownMs?: () => number;
  /** Whether the user's settings take these away: the target loses none of them later. @default false */
  readonly isChosen?: boolean;
  /** Keys of all that there is for a target cluster: what has nothing yet is no loss. */
  readonly there: (cluster: string) => readonly string[];
}

/**
 * Keys of what has mirrors and would have none any more if the target exports the same as before, by what a Link takes: those
 * of Services that are selected or admitted no more, and those of the pods of others that would not be mirrored pod by pod.
 */
export function notTaken(
  { spec }: KubeObject,
  there: readonly string[],
  serviceOfKey: (key: string) => KubeObject | undefined,
): ReadonlySet<string> {
  const { selector, remoteDiscoverySelector, enableHeadlessServices } = spec as {
    readonly selector?: Parameters<typeof selects>[0];
    readonly remoteDiscoverySelector?: Parameters<typeof selects>[0];
    readonly enableHeadlessServices?: boolean;
  };
  return new Set(
    there.filter((key) => {
      const service = serviceOfKey(serviceOf(key));
      const labels = service?.metadata.labels;
      if (labels === undefined) return false;
      if (!verdictOn(spec as Choosy, service!).isAdmitted) return true;
      const isFlat = selects(remoteDiscoverySelector, labels);
      const isSelected = isFlat || selects(selector, labels);
      return isOfPod(key) ? isSelected && (isFlat || enableHeadlessServices !== true) : !isSelected;
    }),
  );
}

export class Guard {
  readonly #complain: (what: string) => void;
  readonly #noun: string;
  /** By target cluster name, then by key. */
  readonly #losses = new Map<string, Map<string, Cause>>();
  /** Those of Services and of pods that there are, and the most that there were, by target cluster name. */
  readonly #counts = new Map<string, Counts>();
  readonly #most = new Map<string, Counts>();

  /** @param noun what is counted */
  constructor(complain: (what: string) => void, noun = 'mirrors') {
    this.#complain = complain;
    this.#noun = noun;
  }

  /**
   * A target lost what is in `before` and not in `after`.
   * @param clusters names of the target clusters as which it is mirrored
   */
  lost(
    what: string,
    clusters: readonly string[],
    { before, after, again = new Set(), flat = new Set(), there, knownMs, isChosen = false }: Lack,
  ): void {
    const gone = [...before].filter((key) => !after.has(key) && after.has(serviceOf(key)) === key.includes('#'));
    const loss = lossOf(what, knownMs, isChosen);
    // Other lists have these.
    const ofFlat = lossOf(`${what}, of flat Services`, knownMs);
    const byHand = lossOf(`${what}, of slices made by hand`, knownMs);
    const twice = lossOf(`${what}, which was not the first loss of them`, knownMs);
    for (const cluster of clusters) {
      const losses = this.#losses.get(cluster) ?? new Map<string, Cause>();
      this.#losses.set(cluster, losses);
      const kept = there(cluster);
      const pods = kept.filter(isOfPod).length;
      this.#counts.set(cluster, { services: kept.length - pods, pods });
      this.#noteMost(cluster);
      const had = new Set(kept);
      const put = (key: string, by: Loss): unknown => losses.set(key, { loss: by, former: losses.get(key) });
      for (const key of again) if (losses.has(key)) put(key, twice);
      const isNews = (key: string): boolean => had.has(key) && (isChosen || losses.get(key)?.loss.isChosen !== true);
      for (const key of gone) if (isNews(key)) put(key, isByHand(key) ? byHand : flat.has(key) ? ofFlat : loss);
    }
  }

  /** A Service or slice of a target is there, as users or controllers made it. */
  seen(object: KubeObject): void {
    const keys = object.kind === 'Service' ? [keyOf(object)] : podsOf(object);
    for (const losses of this.#losses.values()) for (const key of keys) losses.delete(key);
  }

  /** What these keys of a cluster were lost by. */
  lossesOf(cluster: string, isOne: (key: string) => boolean): Losses {
    return new Map([...(this.#losses.get(cluster) ?? [])].filter(([key]) => isOne(key)));
  }

  /** Keys of a cluster were lost by what {@link lossesOf} returned, and still are. */
  lostAlready(cluster: string, losses: Losses): void {
    this.#losses.set(cluster, new Map([...(this.#losses.get(cluster) ?? []), ...losses]));
  }

  /**
   * Whatever goes from a cluster now may go: its deletion was confirmed, or its Link is another. So may what somebody else took
   * away before, of one key: nobody relies on what is made again of a view that is old.
   */
  forgive(cluster?: string, key?: string): void {
    if (cluster === undefined) this.#losses.clear();
    else if (key === undefined) this.#losses.delete(cluster);
    else this.#losses.get(cluster)?.delete(key);
  }

  /** One came, or went, whoever did that. */
  counted(cluster: string, key: string, by: 1 | -1): void {
    const kind = isOfPod(key) ? 'pods' : 'services';
    const count = this.#counts.get(cluster) ?? { services: 0, pods: 0 };
    this.#counts.set(cluster, { ...count, [kind]: count[kind] + by });
    this.#noteMost(cluster);
  }

  #noteMost(cluster: string): void {
    const { services, pods } = this.#counts.get(cluster)!;
    const most = this.#most.get(cluster) ?? { services: 0, pods: 0 };
    this.#most.set(cluster, { services: Math.max(services, most.services), pods: Math.max(pods, most.pods) });
  }

  /**
   * The operator deleted one.
   * @param isExported whether the Service of a key is exported by the target now
   * @param sentMs when it asked for that
   */
  deleted(cluster: string, key: string, isExported: (service: string) => boolean, sentMs: number): void {
    let cause = this.#losses.get(cluster)?.get(key);
    // Nobody deletes for a loss that cannot be known yet: it was lost before, and its deletion was under way.
    while (cause !== undefined && sentMs < cause.loss.knownMs()) cause = cause.former;
    const loss = cause?.loss;
    // With a Service go the mirrors of its pods.
    if (loss === undefined || (isOfPod(key) && !isExported(serviceOf(key)))) return;
    const kind = isOfPod(key) ? 'pods' : 'services';
    const { [kind]: deleted } = loss.deleted;
    deleted.add(`${cluster} ${key}`);
    const most = Math.max(ALWAYS, (this.#most.get(cluster)?.[kind] ?? 0) * PART);
    if (deleted.size > most) {
      this.#complain(
        `${deleted.size} ${this.#noun} of ${kind} of ${cluster} deleted since ${loss.what}, unconfirmed (E6)`,
      );
    }
  }
}

const lossOf = (what: string, knownMs: Lack['knownMs'] = () => -Infinity, isChosen = false): Loss => ({
  ...{ what, knownMs, isChosen },
  deleted: { services: new Set(), pods: new Set() },
});

const serviceOf = (key: string): string => key.replace(/#.*/, '');

const keyOf = ({ metadata: { namespace, name } }: KubeObject): string => `${namespace}/${name}`;

const isByHand = (key: string): boolean => isOfPod(key) && serviceOf(key).endsWith(`/${HAND}`);

const isOfPod = (key: string): boolean => key.includes('#');

/** The key that a mirror is of, as its annotation has it, or its name. */
export function keyOfMirror(cluster: string, { metadata }: KubeObject): string {
  const { namespace, name, labels = {}, annotations = {} } = metadata;
  const [first = '', second = ''] = (annotations['mirror.linkerd.io/remote-svc-fq-name'] ?? '').split('.');
  if (labels['mirror.linkerd.io/headless-mirror-svc-name'] !== undefined) return `${namespace}/${second}#${first}`;
  return `${namespace}/${name.slice(0, -cluster.length - 1)}`;
}
