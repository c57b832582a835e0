/**
 * The pods of headless Services that have an endpoint mirror: which of them are gone, and which of those keep it, for the
 * grace period (rule D11) or since their deletion is held (rule E6).
 */
import { endpointMirrors } from '../mirror/endpoint-mirrors.ts';
import { podsWithin } from '../mirror/pod-limit.ts';
import { readSlices } from '../mirror/target-endpoints.ts';
import type { SourceStores } from '../source/stores.ts';
import type { Candidate } from '../target/cap.ts';
import { Departures } from '../target/departures.ts';
import { type ExportState, type Losses, podKey } from '../target/losses.ts';
import type { TargetView } from '../target/target.ts';

export interface PodsOptions {
  readonly cluster: string;
  readonly source: Pick<SourceStores, 'keysOf' | 'ownedBy'>;
  readonly losses: Losses;
  /** How long a pod may be gone before its endpoint mirror is deleted. */
  readonly graceMs: number;
  /** Whether headless Services are mirrored pod by pod. */
  readonly isHeadless: () => boolean;
  /** Most pods of one Service that have an endpoint mirror. */
  readonly maxServicePods: number;
}

const NONE: ReadonlyMap<string, number> = new Map();

export class Pods {
  readonly #options: PodsOptions;
  readonly #departures: Departures;
  /** Number of pods behind each headless Service, listed or not. */
  readonly #counts = new Map<string, number>();
  #count = 0;
  /** Number of pods behind each Service that has more than may have an endpoint mirror. */
  readonly #crowds = new Map<string, number>();

  constructor(options: PodsOptions) {
    this.#options = options;
    this.#departures = new Departures(options.graceMs);
  }

  /** Number of pods that would have an endpoint mirror. */
  get count(): number {
    return this.#options.isHeadless() ? this.#count : 0;
  }

  /** Number of pods behind each Service that has more than may have an endpoint mirror. */
  get crowds(): ReadonlyMap<string, number> {
    return this.#options.isHeadless() ? this.#crowds : NONE;
  }

  /** Counts the pods behind all Services. */
  recount(target: TargetView): void {
    this.#counts.clear();
    this.#crowds.clear();
    this.#count = 0;
    for (const key of this.#keys(target)) this.#listed(target, key);
  }

  /** Returns the pods behind all Services, for a limit on their number; of one that is not known, those that are mirrored. */
  *candidates(target: TargetView): Generator<Candidate> {
    for (const key of this.#keys(target)) {
      const listed = this.#listed(target, key);
      if (listed === undefined) continue;
      const since = target.get(key)?.service.metadata.creationTimestamp ?? '';
      const mirrored = new Set(this.#mirrored(key));
      const within =
        listed === 'unknown'
          ? mirrored
          : podsWithin(listed, (hostname) => mirrored.has(hostname), this.#options.maxServicePods).keys();
      for (const hostname of within) yield { key: podKey(key, hostname), since, isMirrored: mirrored.has(hostname) };
    }
  }

  /** Returns how long each pod that is gone keeps its endpoint mirror, in milliseconds, by hostname. */
  departed(target: TargetView, key: string): ReadonlyMap<string, number> {
    const { losses } = this.#options;
    const listed = this.#listed(target, key);
    if (listed === undefined) this.#departures.update(key, []);
    if (listed === undefined || listed === 'unknown') return NONE;
    const gone = this.#mirrored(key).filter((hostname) => !listed.has(hostname));
    const left = [...this.#departures.update(key, gone)].map(([hostname, leftMs]): [string, number] => [
      hostname,
      losses.isHeld(podKey(key, hostname)) ? Infinity : leftMs,
    ]);
    return new Map(left.filter(([, ms]) => ms > 0));
  }

  /**
   * Notes a change of one Service.
   * @param left hostnames of pods that a watch reported as gone from one of its slices
   * @returns whether a deletion was held and is not any more
   */
  changed(target: TargetView, key: string, left: readonly string[]): boolean {
    const listed = this.#listed(target, key);
    const mirrored = this.#mirrored(key);
    if (mirrored.length === 0) return false;
    const { losses } = this.#options;
    const leaving = new Set(left);
    const released = mirrored.map((hostname) => {
      const pod = podKey(key, hostname);
      if (listed === undefined) return losses.forget(pod);
      if (listed !== 'unknown' && listed.has(hostname)) return losses.changed(pod, 'exported');
      return leaving.has(hostname) && losses.changed(pod, 'gone');
    });
    // The grace period begins now.
    this.departed(target, key);
    return released.includes(true);
  }

  /** Returns the state of each pod that has an endpoint mirror, by its key. */
  states(target: TargetView): ReadonlyMap<string, ExportState> {
    const { cluster, source } = this.#options;
    const states = new Map<string, ExportState>();
    for (const key of source.keysOf(cluster)) {
      const listed = hostnamesOf(target, key);
      if (listed === undefined) continue;
      for (const hostname of this.#mirrored(key)) {
        const isListed = listed !== 'unknown' && listed.has(hostname);
        states.set(podKey(key, hostname), listed === 'unknown' ? undefined : isListed ? 'exported' : 'gone');
      }
    }
    return states;
  }

  #listed(target: TargetView, key: string): Hostnames | 'unknown' | undefined {
    const listed = hostnamesOf(target, key);
    const { maxServicePods } = this.#options;
    const size = listed === 'unknown' ? undefined : (listed?.size ?? 0);
    const count =
      size === undefined ? (this.#counts.get(key) ?? this.#mirrored(key).length) : Math.min(size, maxServicePods);
    if (size !== undefined && size > maxServicePods) this.#crowds.set(key, size);
    else if (size !== undefined) this.#crowds.delete(key);
    this.#count += count - (this.#counts.get(key) ?? 0);
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
    return listed;
  }

  /** The keys of the Services that may have pods: those that are known, and those that are mirrored. */
  #keys(target: TargetView): ReadonlySet<string> {
    const { cluster, source } = this.#options;
    return new Set([...target.keys(), ...source.keysOf(cluster)]);
  }

  #mirrored(key: string): readonly string[] {
    const { cluster, source } = this.#options;
    return [...endpointMirrors(source.ownedBy({ cluster, key })).keys()];
  }
}

/** The hostnames behind a Service. */
type Hostnames = Pick<ReadonlyMap<string, unknown>, 'has' | 'keys' | 'size'>;

/** Returns the hostnames behind a Service; undefined if it is not mirrored pod by pod. */
function hostnamesOf(target: TargetView, key: string): Hostnames | 'unknown' | undefined {
  const exported = target.get(key);
  if (exported === undefined) return target.decides(key) ? undefined : 'unknown';
  const { service, mode } = exported;
  if (mode !== 'gateway' || service.spec?.clusterIP !== 'None') return undefined;
  const slices = target.slicesOf(key);
  return slices === undefined ? 'unknown' : readSlices(service, slices).hosts;
}
