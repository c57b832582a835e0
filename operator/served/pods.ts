/**
 * The pods of headless Services that have an endpoint mirror: which of them are gone, and which of those keep it, for the
 * grace period (rule D11), until the target has confirmed that they are gone (rule D5), or since their deletion is held
 * (rule E6).
 */
import { endpointMirrors } from '../mirror/endpoint-mirrors.ts';
import type { Observed } from '../mirror/observed.ts';
import { podsWithin } from '../mirror/pod-limit.ts';
import { readSlices } from '../mirror/target-endpoints.ts';
import type { SourceStores } from '../source/stores.ts';
import type { Candidate } from '../target/certain/cap.ts';
import type { Exported } from '../target/read/exported.ts';
import { Departures } from '../target/certain/departures.ts';
import { type ExportState, type Losses, podKey } from '../target/certain/losses.ts';
import type { TargetView } from '../target/aspect.ts';

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

/** The pods of a Service that are gone. */
export type Departed = Required<Pick<Observed, 'departed' | 'arePodsUnconfirmed'>>;

/** How a Service whose pods are held is mirrored. */
export type HeldForm = 'pod by pod' | 'as it is';

const NONE: ReadonlyMap<string, number> = new Map();
const NOBODY: Departed = { departed: NONE, arePodsUnconfirmed: false };

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
      const since = target.mirrored.get(key)?.service.metadata.creationTimestamp ?? '';
      const mirrored = new Set(this.#mirrored(key));
      const within =
        listed === 'unknown'
          ? mirrored
          : podsWithin(listed, (hostname) => mirrored.has(hostname), this.#options.maxServicePods).keys();
      for (const hostname of within) yield { key: podKey(key, hostname), since, isMirrored: mirrored.has(hostname) };
    }
  }

  /**
   * Returns how a Service whose pods are held is mirrored: pod by pod as before, though the settings say otherwise, or left as
   * it is, as it cannot be; undefined: as it is exported.
   */
  heldAs(target: TargetView, key: string): HeldForm | undefined {
    const exported = target.mirrored.get(key);
    if (exported === undefined || !this.#holdsAny(key)) return undefined;
    if (!isByPod(exported)) return 'as it is';
    return this.#options.isHeadless() ? undefined : 'pod by pod';
  }

  /** Returns which pods that are gone keep their endpoint mirrors, and how long. */
  departed(target: TargetView, key: string): Departed {
    const { losses, isHeadless } = this.#options;
    const listed = this.#listed(target, key);
    if (listed === 'unknown') return NOBODY;
    const exported = target.mirrored.get(key);
    const isServed = exported !== undefined && isByPod(exported) && (isHeadless() || this.#holdsAny(key));
    if (listed === undefined || !isServed) {
      this.#departures.update(key, []);
      return NOBODY;
    }
    const gone = this.#mirrored(key).filter((hostname) => !listed.has(hostname));
    const departed = new Map<string, number>();
    let arePodsUnconfirmed = false;
    for (const [hostname, leftMs] of this.#departures.update(key, gone)) {
      if (losses.isHeld(podKey(key, hostname))) departed.set(hostname, Infinity);
      else if (leftMs > 0) departed.set(hostname, leftMs);
      else if (!target.lacksPod(key, hostname)) {
        departed.set(hostname, Infinity);
        arePodsUnconfirmed = true;
      }
    }
    return { departed, arePodsUnconfirmed };
  }

  /**
   * Notes a change of one Service.
   * @param left hostnames of pods that a watch reported as gone from one of its slices
   * @returns whether a deletion was held and is not any more
   */
  changed(target: TargetView, key: string, left: readonly string[]): boolean {
    this.#listed(target, key);
    const wanted = this.#wanted(target, key);
    const mirrored = this.#mirrored(key);
    if (mirrored.length === 0) return false;
    const { losses } = this.#options;
    const leaving = new Set(left);
    // What the first lists take away is counted once all of them are complete (rule E6), and does not go one by one.
    const areNotWanted = wanted === NO_PODS && target.mirrored.decides(key);
    const mayBeGone = (hostname: string): boolean => areNotWanted || leaving.has(hostname);
    // While nothing is held or about to go, a pod that is there changes nothing: a Service may have thousands.
    const concerned = losses.isIdle ? mirrored.filter(mayBeGone) : mirrored;
    const released = concerned.map((hostname) => {
      const pod = podKey(key, hostname);
      if (wanted === undefined) return losses.forget(pod);
      if (wanted !== 'unknown' && wanted.has(hostname)) return losses.changed(pod, 'exported');
      return mayBeGone(hostname) && losses.changed(pod, 'gone');
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
      const wanted = this.#wanted(target, key);
      if (wanted === undefined) continue;
      for (const hostname of this.#mirrored(key)) {
        const isWanted = wanted !== 'unknown' && wanted.has(hostname);
        states.set(podKey(key, hostname), wanted === 'unknown' ? undefined : isWanted ? 'exported' : 'gone');
      }
    }
    return states;
  }

  /** The pods that are to have endpoint mirrors; undefined: the Service is gone, and its pods are not counted. */
  #wanted(target: TargetView, key: string): Hostnames | 'unknown' | undefined {
    const isOff = target.mirrored.get(key) !== undefined && !this.#options.isHeadless();
    return isOff ? NO_PODS : hostnamesOf(target, key);
  }

  #holdsAny(key: string): boolean {
    const { losses } = this.#options;
    return losses.count > 0 && this.#mirrored(key).some((hostname) => losses.isHeld(podKey(key, hostname)));
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
    return new Set([...target.mirrored.keys(), ...source.keysOf(cluster)]);
  }

  #mirrored(key: string): readonly string[] {
    const { cluster, source } = this.#options;
    return [...endpointMirrors(source.ownedBy({ cluster, key })).keys()];
  }
}

/** The hostnames behind a Service. */
type Hostnames = Pick<ReadonlyMap<string, unknown>, 'has' | 'keys' | 'size'>;

/** A Service that is not mirrored pod by pod wants none. */
const NO_PODS: Hostnames = new Map();

/** Whether a Service is mirrored pod by pod if the settings say so. */
const isByPod = ({ service, mode }: Exported): boolean => mode === 'gateway' && service.spec?.clusterIP === 'None';

/** Returns the hostnames behind a Service; undefined if it is gone. */
function hostnamesOf(target: TargetView, key: string): Hostnames | 'unknown' | undefined {
  const exported = target.mirrored.get(key);
  if (exported === undefined) return target.mirrored.decides(key) ? undefined : 'unknown';
  if (!isByPod(exported)) return NO_PODS;
  const { service } = exported;
  const slices = target.mirrored.slicesOf(key);
  return slices === undefined ? 'unknown' : readSlices(service, slices).hosts;
}
