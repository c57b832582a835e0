/**
 * That no import is lost (rules K2, K3, K5, E6), write by write: a ServiceImport does not go while a target has exported the
 * Service ever since it became part of it, and its Link has been there; its addresses do not change; and no list of a target
 * takes more parts with it than the guard allows.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import type { HistoryCluster } from './cluster.ts';
import { type LinkName, LINKS, TARGET_OF, type TargetName, TARGETS } from './command.ts';
import { Guard, type Lack } from './guard.ts';
import { fateOf } from './hostile.ts';
import {
  all,
  CLUSTER_PROPERTY,
  clustersIn,
  derivedName,
  ID,
  importOf,
  keyOf,
  one,
  operatorOf,
  SERVICE_EXPORT,
  SERVICE_IMPORT,
} from './import-objects.ts';
import { clusterOf, isServable } from './link-state.ts';
import { Lost } from './lost.ts';
import { specOf } from './oracle.ts';

export interface LostImportsOptions {
  readonly east: HistoryCluster;
  readonly nowMs: () => number;
  readonly complain: (what: string) => void;
  readonly linkOf: (name: LinkName) => KubeObject | undefined;
  /** Whether the Secret of a Link leads to another cluster than its target. */
  readonly isAstray: (name: LinkName) => boolean;
  /** Whether another holds the Lease of a Link. */
  readonly isAnothers: (name: LinkName) => boolean;
  /** Whether a target may ever say that ServiceExports cannot be read: it keeps nothing then of a name that its Link gave up. */
  readonly mayRefuse: (target: TargetName) => boolean;
}

/** Marks what stands for a ServiceExport and its Service together. */
const EXPORTED = 'exported';

export class LostImports {
  /** E6. */
  readonly guard: Guard;
  readonly #options: LostImportsOptions;
  /** The clusters of this are targets. */
  readonly #lost: Lost;
  /** By target: what is exported of each key. */
  readonly #exported: Readonly<Record<TargetName, Map<string, KubeObject>>> = { west: new Map(), bar: new Map() };
  /** Target clusters that each import is made of, by its key. */
  readonly #shown = new Map<string, ReadonlySet<string>>();
  /** What each Link calls its cluster. */
  readonly #names = new Map<string, { readonly cluster: string | undefined; readonly count: number }>();
  /** Addresses that we gave a ServiceImport, by its uid. */
  readonly #ips = new Map<string, string>();
  /** The operators that made derived Services, by the addresses of these. */
  readonly #makers = new Map<string, string>();

  constructor(options: LostImportsOptions) {
    const { complain, nowMs, linkOf, isAstray } = options;
    this.#options = options;
    this.guard = new Guard(complain, 'parts of ServiceImports');
    this.#lost = new Lost({
      ...{ nowMs, complain, linkOf, isAstray },
      isServed: () => true,
      clusterOf: ({ metadata: { name } }) => TARGET_OF[name as LinkName],
      isExported: (object) => EXPORTED in object,
      isCertain: () => true,
      termsOf: (link) => this.#termsOf(link),
    });
    this.#lost.linksChanged();
  }

  /** The terms on which exports of a target are imported; undefined: none, or it may be that they are not. */
  #termsOf(link: KubeObject | undefined): string | undefined {
    const { linkOf, isAnothers } = this.#options;
    if (link === undefined || !isServable(link) || isAnothers(link.metadata.name as LinkName)) return undefined;
    const isShared = LINKS.some((name) => {
      const other = linkOf(name);
      return clusterOf(other) === clusterOf(link) && other !== undefined && targetOf(other) !== targetOf(link);
    });
    const { serviceExports = true, importPolicy } = link.spec as {
      readonly serviceExports?: boolean;
      readonly importPolicy?: object;
    };
    // What it excludes goes (N4).
    if (importPolicy !== undefined) return undefined;
    // A target that is called as the cluster itself is has no id.
    const claimed = one(this.#options.east, CLUSTER_PROPERTY, undefined, ID)?.spec as
      { readonly value?: string } | undefined;
    if (claimed?.value === clusterOf(link)) return undefined;
    return isShared || !serviceExports ? undefined : String(this.#namesGivenUp(link));
  }

  /** How many names its Link has given up that a target does not keep anything of. */
  #namesGivenUp(link: KubeObject): number {
    const { name } = link.metadata;
    const cluster = clusterOf(link);
    const before = this.#names.get(name);
    const isOther = before !== undefined && before.cluster !== cluster && this.#options.mayRefuse(targetOf(link));
    const count = (before?.count ?? 0) + (isOther ? 1 : 0);
    this.#names.set(name, { cluster, count });
    return count;
  }

  /** A Link or a Secret of one came, changed or went, or who holds its Lease. */
  linksChanged(): void {
    this.#lost.linksChanged();
  }

  /** A ServiceExport of a target was written or deleted, or the Service of its name. */
  targetChanged(name: TargetName, target: HistoryCluster, { metadata: { namespace, name: of } }: KubeObject): void {
    const key = `${namespace}/${of}`;
    const before = this.#exported[name].get(key);
    const now = exportedOf(target, namespace, of);
    if (now?.metadata.uid === before?.metadata.uid) return;
    if (now === undefined) this.#exported[name].delete(key);
    else this.#exported[name].set(key, now);
    const object = now ?? before!;
    this.#lost.targetChanged(name, {
      type: now === undefined ? 'DELETED' : 'MODIFIED',
      object,
      previous: before,
    } as StorageEvent);
    if (now !== undefined) this.guard.seen({ ...now, kind: 'Service' });
  }

  /** A target is another, or was restored. */
  targetReplaced(name: TargetName, target: HistoryCluster): void {
    const keys = new Set([...this.#exported[name].keys(), ...exportedBy(target)]);
    this.#exported[name].clear();
    this.#lost.targetReplaced(name, target);
    for (const key of keys) {
      const [namespace = '', of = ''] = key.split('/');
      this.targetChanged(name, target, { metadata: { namespace, name: of } } as KubeObject);
    }
  }

  /** A target lost exports that it had before, without anybody deleting them. */
  lost(what: string, clusters: readonly string[], of: Omit<Lack, 'there'>): void {
    const there = (cluster: string): readonly string[] =>
      [...this.#shown].flatMap(([key, parts]) => (parts.has(cluster) ? [key] : []));
    this.guard.lost(what, clusters, { ...of, there });
  }

  /** The source cluster can be read again. */
  sourceBack(sinceMs: number): void {
    this.#lost.sourceBack(sinceMs);
  }

  /** The source cluster was restored from a backup. */
  restored(): void {
    this.#lost.restored();
    this.#ips.clear();
    this.#shown.clear();
    for (const each of all(this.#options.east, SERVICE_IMPORT)) {
      this.#count(keyOf(each), undefined);
      this.#made(keyOf(each), each);
    }
  }

  /** The targets that a ServiceImport has parts of. */
  #made(key: string, { metadata: { uid } }: KubeObject): void {
    for (const target of TARGETS) {
      const isShown = this.#namesOf(target).some((each) => this.#shown.get(key)?.has(each) === true);
      if (isShown) this.#lost.made({ id: `${uid} ${target}`, cluster: target, key }, { isByUs: true });
    }
  }

  /**
   * A ServiceImport of ours, or what is derived from one, was written or deleted, by whomever.
   * @param sentMs when the operator asked for that, if it did
   */
  changed(
    { type, object, previous }: StorageEvent,
    { isByUs, sentMs }: { readonly isByUs: boolean; readonly sentMs: number },
  ): void {
    const key = importOf(object) ?? (previous && importOf(previous));
    if (key === undefined) return;
    const live = this.#liveOf(key);
    this.#count(key, isByUs ? sentMs : undefined);
    // What somebody edits, or what is deleted, makes no part.
    if (isByUs && type !== 'DELETED' && live !== undefined) this.#made(key, live);
    for (const target of TARGETS) {
      const kept = { id: `${(live ?? object).metadata.uid} ${target}`, cluster: target, key };
      if (type === 'DELETED' && isByUs && object.kind === SERVICE_IMPORT.kind)
        this.#lost.deleted(kept, `ServiceImport ${key}`);
    }
    if (object.kind === SERVICE_IMPORT.kind && type !== 'DELETED' && isByUs) this.#sawAddresses(object);
    const maker = operatorOf(object);
    if (object.kind === 'Service' && type === 'ADDED' && maker !== undefined)
      this.#makers.set(addressesOf(object), maker);
  }

  /**
   * K3. The address is that of the derived Service, which another operator may have made that has seen nothing of the
   * ServiceImport, after somebody deleted what there was. One that has been deleted has none to keep, however long a
   * finalizer holds it; nor has one that was written while the Service of its address was gone.
   */
  #sawAddresses(object: KubeObject): void {
    const { type, ips = [] } = object.spec as { readonly type?: string; readonly ips?: readonly string[] };
    const { uid = '', deletionTimestamp } = object.metadata;
    const isOver = type !== 'ClusterSetIP' || deletionTimestamp !== undefined;
    if (isOver) this.#ips.delete(uid);
    if (isOver || ips.length === 0) return;
    const before = this.#ips.get(uid);
    const { namespace, name } = object.metadata;
    const derived = this.#options.east.get('v1', 'Service', namespace, derivedName(name));
    if (before === undefined && (derived === undefined || addressesOf(derived) !== ips.join())) return;
    this.#ips.set(uid, ips.join());
    const maker = this.#makers.get(ips.join());
    if (before !== undefined && before !== ips.join() && (maker === undefined || maker === operatorOf(object)))
      this.#options.complain(`ServiceImport ${keyOf(object)} had ${before}, and has ${ips.join()} now (K3)`);
  }

  /** @param sentMs when the operator asked for what has changed; undefined: somebody else did */
  #count(key: string, sentMs: number | undefined): void {
    const before = this.#shown.get(key) ?? new Set();
    const after = this.#partsOf(key);
    this.#shown.set(key, after);
    for (const cluster of after) if (!before.has(cluster)) this.guard.counted(cluster, key, 1);
    for (const cluster of before) {
      if (after.has(cluster)) continue;
      this.guard.counted(cluster, key, -1);
      if (sentMs !== undefined) this.guard.deleted(cluster, key, () => true, sentMs);
    }
  }

  #namesOf(target: TargetName): readonly string[] {
    return LINKS.flatMap((link) => (TARGET_OF[link] === target ? (clusterOf(this.#options.linkOf(link)) ?? []) : []));
  }

  #liveOf(key: string): KubeObject | undefined {
    const [namespace, name = ''] = key.split('/');
    const live = one(this.#options.east, SERVICE_IMPORT, namespace, name);
    return live !== undefined && importOf(live) === key ? live : undefined;
  }

  #partsOf(key: string): ReadonlySet<string> {
    const { east } = this.#options;
    const objects = [...east.list('v1', 'Service'), ...east.list('discovery.k8s.io/v1', 'EndpointSlice')];
    return new Set(objects.filter((each) => importOf(each) === key).flatMap(clustersIn));
  }
}

const addressesOf = (service: KubeObject): string =>
  ((specOf(service) as { readonly clusterIPs?: readonly string[] }).clusterIPs ?? []).join();

const targetOf = ({ metadata: { name } }: KubeObject): TargetName => TARGET_OF[name as LinkName];

/** What a target exports under a name, if it can be imported. */
function exportedOf(target: HistoryCluster, namespace: string | undefined, name: string): KubeObject | undefined {
  const of = one(target, SERVICE_EXPORT, namespace, name);
  const service = target.get('v1', 'Service', namespace, name);
  if (of === undefined || service === undefined || fateOf(service) !== undefined) return undefined;
  const { type, clusterIP, ports = [] } = specOf(service);
  if (type === 'ExternalName' || (clusterIP !== 'None' && ports.length === 0)) return undefined;
  const uid = `${of.metadata.uid} ${service.metadata.uid}`;
  return { kind: EXPORTED, [EXPORTED]: true, metadata: { namespace, name, uid } } as unknown as KubeObject;
}

/** Keys of all that a target exports by the MCS API. */
export const exportedBy = (target: HistoryCluster): ReadonlySet<string> =>
  new Set(
    all(target, SERVICE_EXPORT)
      .filter(({ metadata: { namespace, name } }) => exportedOf(target, namespace, name) !== undefined)
      .map(keyOf),
  );

/** What a target has of the exports that it may have: ServiceExports and Services, with their keys. */
export const halvesIn = (target: HistoryCluster): ReadonlyMap<string, string> =>
  new Map(
    [...all(target, SERVICE_EXPORT), ...target.list('v1', 'Service')].map((each) => [
      `${each.kind} ${keyOf(each)}`,
      keyOf(each),
    ]),
  );
