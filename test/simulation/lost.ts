/**
 * That nothing is lost (rules A1, E4, E5, E7, E9), write by write: a mirror is not deleted whose Service its target has
 * exported ever since the mirror was made, while a Link that selects such Services named that target. Judged are Services
 * with a ClusterIP and a name that nothing else wants; everything that may take a mirror away begins a new reckoning.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import type { HistoryCluster } from './cluster.ts';
import { type LinkName, LINKS, MANY, TARGET_OF, type TargetName } from './command.ts';
import { EXPORT_LABEL } from './target-users.ts';

/** Names of Services that nothing else wants. */
const UNDISPUTED: ReadonlySet<string> = new Set(['web', 'alt', ...MANY]);
/** Exports that are mirrored, in whichever mode. */
const EXPORTS: ReadonlySet<string | undefined> = new Set(['true', 'remote-discovery']);
/** Time in which whoever writes mirrors knows of a change of Links, of who serves them, and of what targets export. */
const KNOWN_MS = 60_000;

/** A Service that is to be mirrored as one with a ClusterIP. */
interface Exported {
  readonly sinceMs: number;
  /** Whether its name was exported before, in whichever form. */
  readonly isAgain: boolean;
}

/** The Link that a cluster belongs to. */
interface Owner {
  readonly link: LinkName;
  /** Since when Links of its target alone have had the cluster, and have selected all that is exported. */
  readonly steadySinceMs: number;
  /** Whether it has been served, and so keeps the cluster. */
  readonly isCertain: boolean;
  /** Whether no other Link names the cluster. */
  readonly isAlone: boolean;
}

export class Lost {
  readonly #nowMs: () => number;
  readonly #complain: (what: string) => void;
  readonly #linkOf: (name: LinkName) => KubeObject | undefined;
  readonly #isServed: (name: LinkName, cluster: string) => boolean;
  /** By target, then by `namespace/name`. */
  readonly #exported: Readonly<Record<TargetName, Map<string, Exported>>> = { west: new Map(), bar: new Map() };
  /** By target: every `namespace/name` that was ever exported. */
  readonly #everExported: Readonly<Record<TargetName, Set<string>>> = { west: new Set(), bar: new Set() };
  /** By target cluster name. */
  readonly #owners = new Map<string, Owner>();
  /** When each mirror was made, by its uid. */
  readonly #madeMs = new Map<string, number>();

  /**
   * @param linkOf a Link as it is now
   * @param isServed whether an operator of ours holds the Lease of a Link, and for that cluster
   */
  constructor(
    nowMs: () => number,
    complain: (what: string) => void,
    linkOf: (name: LinkName) => KubeObject | undefined,
    isServed: (name: LinkName, cluster: string) => boolean,
  ) {
    this.#nowMs = nowMs;
    this.#complain = complain;
    this.#linkOf = linkOf;
    this.#isServed = isServed;
  }

  /** A Service of a target was written or deleted, with an event. */
  targetChanged(target: TargetName, { type, object, previous }: StorageEvent): void {
    const key = keyOf(object);
    const exported = this.#exported[target];
    const ever = this.#everExported[target];
    const isSame = previous?.metadata.uid === object.metadata.uid;
    if (type === 'DELETED' || !isMirrored(object)) exported.delete(key);
    else if (!exported.has(key) || !isSame) exported.set(key, { sinceMs: this.#nowMs(), isAgain: ever.has(key) });
    if (isExported(object)) ever.add(key);
  }

  /** A target is another, or was restored. */
  targetReplaced(name: TargetName, target: HistoryCluster): void {
    this.#exported[name].clear();
    for (const service of target.list('v1', 'Service')) {
      if (isExported(service)) this.#everExported[name].add(keyOf(service));
      if (!isMirrored(service)) continue;
      this.#exported[name].set(keyOf(service), { sinceMs: this.#nowMs() + KNOWN_MS, isAgain: true });
    }
  }

  /** A Link came, changed or went. */
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

  /**
   * A mirror was made, by whomever. What another writes for a cluster that the operator serves counts for nothing: the
   * operator may know less of a target that it cannot read than the other.
   */
  made(cluster: string, { metadata: { uid = '' } }: KubeObject, { isByUs }: { readonly isByUs: boolean }): void {
    if (isByUs || !LINKS.some((name) => this.#isServed(name, cluster))) this.#madeMs.set(uid, this.#nowMs());
  }

  /** The operator deleted a mirror. */
  deleted(cluster: string, { metadata, spec }: KubeObject): void {
    const { uid = '', namespace = '', name } = metadata;
    const madeMs = this.#madeMs.get(uid);
    const owner = this.#owners.get(cluster);
    const of = name.slice(0, -cluster.length - 1);
    if (madeMs === undefined || owner === undefined || !UNDISPUTED.has(of)) return;
    // One that was headless, or is the mirror of a pod, may be made anew.
    if ((spec as { readonly clusterIP?: string }).clusterIP === 'None' || HEADLESS in (metadata.labels ?? {})) return;
    const exported = this.#exported[TARGET_OF[owner.link]].get(`${namespace}/${of}`);
    if (exported === undefined || madeMs < Math.max(exported.sinceMs, owner.steadySinceMs + KNOWN_MS)) return;
    // A mirror may be made for what the name was before, and then follow, one by one, the changes up to what it is now.
    if (exported.isAgain && this.#nowMs() < exported.sinceMs + KNOWN_MS) return;
    this.#complain(`mirror ${namespace}/${name} is deleted, though Link ${owner.link} has exported it throughout (E5)`);
  }

  #clusterOf(name: LinkName): string | undefined {
    return (this.#linkOf(name)?.spec as { readonly targetClusterName?: string } | undefined)?.targetClusterName;
  }

  #assign(cluster: string): void {
    const naming = LINKS.filter((name) => this.#clusterOf(name) === cluster);
    const now = this.#nowMs();
    const before = this.#owners.get(cluster);
    const link = before !== undefined && naming.includes(before.link) ? before.link : naming[0];
    if (link === undefined) {
      this.#owners.delete(cluster);
      return;
    }
    const isSame = before?.link === link;
    const isCertain = isSame && (before.isCertain || (before.isAlone && this.#isServed(link, cluster)));
    // Where they lead to different targets, only one that is served already is certain to keep the cluster.
    const isClear = isCertain || naming.every((name) => TARGET_OF[name] === TARGET_OF[link]);
    const isSteady = isClear && naming.every((name) => selectsAll(this.#linkOf(name)));
    const wasSteady = before !== undefined && TARGET_OF[before.link] === TARGET_OF[link] && before.steadySinceMs <= now;
    // None has been seen before the first.
    const firstMs = now === 0 ? -KNOWN_MS : now;
    const steadySinceMs = !isSteady ? Infinity : wasSteady ? before.steadySinceMs : firstMs;
    this.#owners.set(cluster, { link, steadySinceMs, isCertain, isAlone: naming.length === 1 });
  }
}

const HEADLESS = 'mirror.linkerd.io/headless-mirror-svc-name';

const keyOf = ({ metadata: { namespace, name } }: KubeObject): string => `${namespace}/${name}`;

const isExported = ({ metadata: { labels = {} } }: KubeObject): boolean => EXPORTS.has(labels[EXPORT_LABEL]);

/** Whether a Service is mirrored as one with a ClusterIP, in any mode. */
function isMirrored(service: KubeObject): boolean {
  const { type, clusterIP, ports } = (service.spec ?? {}) as {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly ports?: readonly { readonly protocol?: string }[];
  };
  const hasTcp = Array.isArray(ports) && ports.some(({ protocol = 'TCP' }) => protocol === 'TCP');
  return isExported(service) && type !== 'ExternalName' && clusterIP !== 'None' && hasTcp;
}

/** Whether a Link selects all that is exported. */
function selectsAll(link: KubeObject | undefined): boolean {
  const { selector, remoteDiscoverySelector } = (link?.spec ?? {}) as {
    readonly selector?: object;
    readonly remoteDiscoverySelector?: object;
  };
  return [selector, remoteDiscoverySelector].every((each) => Object.keys(each ?? {}).length > 0);
}
