/**
 * That nothing is lost (rules A1, E4, E5, E7, E9, I6), write by write: what there is for a Service of a target, a mirror or
 * a membership, does not go if the target has exported the Service ever since it was made, while a Link that selects such
 * Services named that target. Judged are Services with a ClusterIP and a name that nothing else wants; everything that may
 * take away what there is for them begins a new reckoning.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import type { HistoryCluster } from './cluster.ts';
import { type LinkName, LINKS, TARGET_OF, type TargetName } from './command.ts';

/** Time in which whoever writes mirrors knows of a change of Links, of who serves them, and of what targets export. */
export const KNOWN_MS = 60_000;

/** What there is for a Service of a target. */
export interface Kept {
  /** The same for as long as it is there. */
  readonly id: string;
  readonly cluster: string;
  /** `namespace/name` of the Service. */
  readonly key: string;
}

export interface LostOptions {
  readonly nowMs: () => number;
  readonly complain: (what: string) => void;
  /** A Link as it is now. */
  readonly linkOf: (name: LinkName) => KubeObject | undefined;
  /** Whether an operator of ours holds the Lease of a Link, and for that cluster. */
  readonly isServed: (name: LinkName, cluster: string) => boolean;
  /** Whether the Secret of a Link leads to another cluster than its target. */
  readonly isAstray: (name: LinkName) => boolean;
  /** The cluster that a Link, as it is now, has things for. */
  readonly clusterOf: (link: KubeObject) => string | undefined;
  /** Whether a Service is exported, in whichever form. */
  readonly isExported: (service: KubeObject) => boolean;
  /** Whether there is something for an exported Service, for certain. */
  readonly isCertain: (service: KubeObject) => boolean;
  /** How a Link has what is exported reached, if it selects all of it; another way begins a new reckoning. */
  readonly termsOf: (link: KubeObject | undefined) => string | undefined;
}

/** A Service that there is something for. */
interface Exported {
  readonly sinceMs: number;
  /** Whether its name was exported before, in whichever form. */
  readonly isAgain: boolean;
}

/** The Link that a cluster belongs to. */
interface Owner {
  readonly link: LinkName;
  /** Since when Links that lead to its target alone have had the cluster, and have selected all that is exported. */
  readonly steadySinceMs: number;
  /** Whether it has been served, and so keeps the cluster. */
  readonly isCertain: boolean;
  /** Whether no other Link names the cluster. */
  readonly isAlone: boolean;
  readonly terms: string;
}

export class Lost {
  readonly #options: LostOptions;
  /** By target, then by `namespace/name`. */
  readonly #exported: Readonly<Record<TargetName, Map<string, Exported>>> = { west: new Map(), bar: new Map() };
  /** By target: every `namespace/name` that was ever exported. */
  readonly #everExported: Readonly<Record<TargetName, Set<string>>> = { west: new Set(), bar: new Set() };
  /** By target cluster name. */
  readonly #owners = new Map<string, Owner>();
  /** When each was made, by its id. */
  readonly #madeMs = new Map<string, number>();

  constructor(options: LostOptions) {
    this.#options = options;
  }

  /** A Service of a target was written or deleted, with an event. */
  targetChanged(target: TargetName, { type, object, previous }: StorageEvent): void {
    const { nowMs, isExported, isCertain } = this.#options;
    const key = keyOf(object);
    const exported = this.#exported[target];
    const ever = this.#everExported[target];
    const isSame = previous?.metadata.uid === object.metadata.uid;
    if (type === 'DELETED' || !isExported(object) || !isCertain(object)) exported.delete(key);
    else if (!exported.has(key) || !isSame) exported.set(key, { sinceMs: nowMs(), isAgain: ever.has(key) });
    if (isExported(object)) ever.add(key);
  }

  /** A target is another, or was restored. */
  targetReplaced(name: TargetName, target: HistoryCluster): void {
    const { nowMs, isExported, isCertain } = this.#options;
    this.#exported[name].clear();
    for (const service of target.list('v1', 'Service')) {
      if (!isExported(service)) continue;
      this.#everExported[name].add(keyOf(service));
      if (isCertain(service)) this.#exported[name].set(keyOf(service), { sinceMs: nowMs() + KNOWN_MS, isAgain: true });
    }
  }

  /** A Link or a Secret of one came, changed or went. */
  linksChanged(): void {
    const clusters = new Set([...this.#owners.keys(), ...LINKS.flatMap((name) => this.#clusterOf(name) ?? [])]);
    for (const cluster of clusters) this.#assign(cluster);
  }

  /** The source cluster was restored from a backup. */
  restored(): void {
    this.#owners.clear();
    this.#madeMs.clear();
    this.linksChanged();
  }

  /** The source cluster can be read again: what users did to Links since then was known to nobody. */
  sourceBack(sinceMs: number): void {
    const now = this.#options.nowMs();
    for (const [cluster, owner] of this.#owners) {
      if (owner.steadySinceMs >= sinceMs && owner.steadySinceMs < now) {
        this.#owners.set(cluster, { ...owner, steadySinceMs: now });
      }
    }
  }

  /**
   * Something was made, by whomever. What another writes for a cluster that the operator serves counts for nothing: the
   * operator may know less of a target that it cannot read than the other.
   */
  made({ id, cluster }: Kept, { isByUs }: { readonly isByUs: boolean }): void {
    const { nowMs, isServed } = this.#options;
    if (isByUs || !LINKS.some((name) => isServed(name, cluster))) this.#madeMs.set(id, nowMs());
  }

  /** Something went: what comes in its place is another. */
  went({ id }: Kept): void {
    this.#madeMs.delete(id);
  }

  /** Whether something was made after a request had been sent, so that whoever sent it knew nothing of it. */
  wasMadeAfter({ id }: Kept, sentMs: number): boolean {
    return (this.#madeMs.get(id) ?? -Infinity) > sentMs;
  }

  /** The operator deleted something. @param what it was */
  deleted({ id, cluster, key }: Kept, what: string): void {
    const madeMs = this.#madeMs.get(id);
    const owner = this.#owners.get(cluster);
    if (madeMs === undefined || owner === undefined) return;
    const exported = this.#exported[TARGET_OF[owner.link]].get(key);
    if (exported === undefined || madeMs < Math.max(exported.sinceMs, owner.steadySinceMs + KNOWN_MS)) return;
    // It may be made for what the name was before, and then follow, one by one, the changes up to what it is now.
    if (exported.isAgain && this.#options.nowMs() < exported.sinceMs + KNOWN_MS) return;
    this.#options.complain(`${what} is deleted, though Link ${owner.link} has exported it throughout (E5)`);
  }

  #clusterOf(name: LinkName): string | undefined {
    const { linkOf, clusterOf } = this.#options;
    const link = linkOf(name);
    return link && clusterOf(link);
  }

  #assign(cluster: string): void {
    const naming = LINKS.filter((name) => this.#clusterOf(name) === cluster);
    const { nowMs, isServed, isAstray, linkOf, termsOf } = this.#options;
    const now = nowMs();
    const before = this.#owners.get(cluster);
    const link = before !== undefined && naming.includes(before.link) ? before.link : naming[0];
    if (link === undefined) {
      this.#owners.delete(cluster);
      return;
    }
    const isSame = before?.link === link;
    const isCertain = isSame && (before.isCertain || (before.isAlone && isServed(link, cluster)));
    // Where they lead to different targets, only one that is served already is certain to keep the cluster.
    const isClear = isCertain || naming.every((name) => TARGET_OF[name] === TARGET_OF[link]);
    const [terms, ...others] = new Set(naming.map((name) => termsOf(linkOf(name))));
    const isSteady = isClear && !naming.some(isAstray) && terms !== undefined && others.length === 0;
    const isOfTarget = before !== undefined && TARGET_OF[before.link] === TARGET_OF[link];
    const wasSteady = isOfTarget && before.terms === terms && before.steadySinceMs <= now;
    // None has been seen before the first.
    const firstMs = now === 0 ? -KNOWN_MS : now;
    const steadySinceMs = !isSteady ? Infinity : wasSteady ? before.steadySinceMs : firstMs;
    this.#owners.set(cluster, { link, steadySinceMs, isCertain, isAlone: naming.length === 1, terms: terms ?? '' });
  }
}

const keyOf = ({ metadata: { namespace, name } }: KubeObject): string => `${namespace}/${name}`;
