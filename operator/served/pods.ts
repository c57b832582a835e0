/**
 * Finds out which pods with an endpoint mirror are gone, and which pods that are gone keep their endpoint mirrors. Such
 * a pod keeps the endpoint mirror during the grace period (rule D11), until the target has confirmed that the pod is
 * gone (rule D5), and while the deletion is held (rule E6).
 */
import { ByHostname, groupsBeside } from '../mirror/by-hostname.ts';
import { endpointMirrors } from '../mirror/endpoint-mirrors.ts';
import type { Observed } from '../mirror/observed.ts';
import { podsWithin } from '../mirror/pod-limit.ts';
import { readSlices } from '../mirror/target-endpoints.ts';
import type { SourceStores } from '../source/stores.ts';
import type { Candidate } from '../target/certain/cap.ts';
import type { Exported } from '../target/read/exported.ts';
import { Departures } from '../target/certain/departures.ts';
import { Counted, type CountedOptions } from '../target/certain/counted.ts';
import type { ExportState, ExportStates } from '../target/certain/losses.ts';
import type { Aspect, PodAnswers } from '../target/aspect.ts';
import { flagOf } from '../../crds/operator-setting-names.ts';

export interface PodsOptions extends CountedOptions {
  /** The Services that the pods belong to. */
  readonly mirrored: Aspect<Exported>;
  readonly answers: PodAnswers;
  readonly cluster: string;
  readonly source: Pick<SourceStores, 'keysOf' | 'ownedBy'>;
  /** How long a pod may be gone before its endpoint mirror is deleted, in milliseconds. */
  readonly graceMs: number;
  /** Reports whether each pod of a headless Service gets a mirror of its own. */
  readonly isHeadless: () => boolean;
  /** Maximum number of pods of one Service that get an endpoint mirror. */
  readonly maxServicePods: number;
}

/** The pods of a Service that are gone. */
export type Departed = Required<Pick<Observed, 'departed' | 'arePodsUnconfirmed'>>;

/** How a Service is mirrored while deletions of its pods are held. */
export type HeldForm = 'pod by pod' | 'as it is';

const NONE: ReadonlyMap<string, number> = new Map();
const NOBODY: Departed = { departed: NONE, arePodsUnconfirmed: false };

/** Maximum number of Services that a message names. */
const NAMED = 3;

/** Returns the key of a pod. It contains a `#`, so it is never the key of a Service. */
export const podKey = (service: string, hostname: string): string => `${service}#${hostname}`;

const serviceOf = (pod: string): string => pod.slice(0, pod.indexOf('#'));

export class Pods extends Counted implements Pick<PodAnswers, 'ask' | 'forget'> {
  readonly #options: PodsOptions;
  readonly #departures: Departures;
  /**
   * Number of pods of each headless Service, at most `maxServicePods`. While the slices of a Service are not known,
   * this is the last known number, or else the number of its mirrored pods.
   */
  readonly #counts = new Map<string, number>();
  /** The pods of each Service that were gone at the last check, by the key of the Service. */
  readonly #lastGone = new Map<
    string,
    { readonly mirrored: Mirrored; readonly listed: Hostnames; readonly gone: readonly string[] }
  >();
  #count = 0;
  /** Number of pods of each Service that has more pods than may get an endpoint mirror. */
  readonly #crowds = new Map<string, number>();

  constructor(options: PodsOptions) {
    super(options);
    this.#options = options;
    this.#departures = new Departures(options.graceMs);
  }

  get isRead(): boolean {
    return this.#options.mirrored.isRead;
  }

  /** Number of pods that would have an endpoint mirror if the Link had no limit. */
  get size(): number {
    return this.#options.isHeadless() ? this.#count : 0;
  }

  /** Texts about Services that have more pods than may get an endpoint mirror. */
  override get notes(): readonly string[] {
    const crowds = this.#options.isHeadless() ? this.#crowds : NONE;
    if (crowds.size === 0) return [];
    const named = [...crowds].slice(0, NAMED).map(([key, pods]) => `${key} has ${pods}`);
    const more = crowds.size > NAMED ? [`${crowds.size - NAMED} more have too many`] : [];
    const most = `${this.#options.maxServicePods} are served (${flagOf('maxServicePods')})`;
    return [`of the pods of one headless Service ${most}: ${[...named, ...more].join(', ')}`];
  }

  /** Counts the pods of all Services anew. */
  override recount(): void {
    this.#counts.clear();
    this.#crowds.clear();
    this.#count = 0;
    for (const key of this.#keys()) this.#listed(key);
    super.recount();
  }

  ask(key: string): void {
    this.#options.answers.ask(key);
  }

  forget(key: string): void {
    this.#options.answers.forget(key);
  }

  /** Yields the pods of all Services. While the slices of a Service are not known, yields its mirrored pods. */
  *candidates(): Generator<Candidate> {
    for (const key of this.#keys()) {
      const listed = this.#listed(key);
      if (listed === undefined) continue;
      const since = this.#options.mirrored.get(key)?.service.metadata.creationTimestamp ?? '';
      const mirrored = this.#mirrored(key);
      const within =
        listed === 'unknown'
          ? mirrored.keys()
          : podsWithin(listed, (hostname) => mirrored.has(hostname), this.#options.maxServicePods).keys();
      for (const hostname of within) yield { key: podKey(key, hostname), since, isMirrored: mirrored.has(hostname) };
    }
  }

  /** Reports whether the limits of the Link allow an endpoint mirror for a pod. */
  admitsPod(key: string, hostname: string): boolean {
    return this.admits(podKey(key, hostname));
  }

  /**
   * Returns how a Service is mirrored while deletions of its pods are held. Undefined if no deletion of its pods is
   * held, or if the Service is mirrored pod by pod anyway.
   * - `pod by pod`: its pods keep their endpoint mirrors although the settings no longer ask for them;
   * - `as it is`: its mirror stays unchanged, because the Service is now exported in a form without pods.
   */
  heldAs(key: string): HeldForm | undefined {
    const exported = this.#options.mirrored.get(key);
    if (exported === undefined || !this.#holdsAny(key)) return undefined;
    if (!isByPod(exported)) return 'as it is';
    return this.#options.isHeadless() ? undefined : 'pod by pod';
  }

  /** Returns the pods that are gone but keep their endpoint mirrors, and for how long. */
  departed(key: string): Departed {
    const { isHeadless, answers } = this.#options;
    const { losses } = this;
    const listed = this.#listed(key);
    if (listed === 'unknown') return NOBODY;
    const exported = this.#options.mirrored.get(key);
    const isServed = exported !== undefined && isByPod(exported) && (isHeadless() || this.#holdsAny(key));
    if (listed === undefined || !isServed) {
      this.#lastGone.delete(key);
      this.#departures.update(key, []);
      return NOBODY;
    }
    const departed = new Map<string, number>();
    let arePodsUnconfirmed = false;
    for (const [hostname, leftMs] of this.#departures.update(key, this.#gone(key, listed))) {
      if (losses.isHeld(podKey(key, hostname))) departed.set(hostname, Infinity);
      else if (leftMs > 0) departed.set(hostname, leftMs);
      else if (!answers.lacks(key, hostname)) {
        departed.set(hostname, Infinity);
        arePodsUnconfirmed = true;
      }
    }
    return { departed, arePodsUnconfirmed };
  }

  /**
   * Notes a change of one Service.
   * @param left hostnames of pods that a watch reported as gone from one of its slices
   */
  noted(key: string, left: readonly string[]): void {
    this.#listed(key);
    super.recount();
    const wanted = this.#wanted(key);
    const mirrored = this.#mirrored(key);
    if (mirrored.size === 0) return;
    const { losses } = this;
    const leaving = new Set(left);
    // Pods that the first lists lack are counted together once all lists are complete (rule E6). They do not go one by
    // one.
    const areNotWanted = wanted === NO_PODS && this.#options.mirrored.decides(key);
    const mayBeGone = (hostname: string): boolean => areNotWanted || leaving.has(hostname);
    // While no deletion is held or about to be made, pods that still exist need no look: a Service may have thousands.
    const few = areNotWanted ? mirrored.keys() : [...leaving].filter((hostname) => mirrored.has(hostname));
    const concerned = losses.isIdle ? few : mirrored.keys();
    const released = [...concerned].map((hostname) => {
      const pod = podKey(key, hostname);
      if (wanted === undefined) return losses.forget(pod);
      if (wanted !== 'unknown' && wanted.has(hostname)) return losses.changed(pod, 'exported');
      return mayBeGone(hostname) && losses.changed(pod, 'gone');
    });
    // The grace period begins now.
    this.departed(key);
    if (losses.isCrowded) losses.forgetGone(this.states());
    if (released.includes(true)) this.fewerHeld();
  }

  /** Returns the state of each pod that has an endpoint mirror, by its key. */
  states(): ExportStates {
    const { cluster, source } = this.#options;
    const states = new Map<string, ExportState>();
    for (const key of source.keysOf(cluster)) {
      const wanted = this.#wanted(key);
      if (wanted === undefined) continue;
      for (const hostname of this.#mirrored(key).keys()) {
        const isWanted = wanted !== 'unknown' && wanted.has(hostname);
        states.set(podKey(key, hostname), wanted === 'unknown' ? undefined : isWanted ? 'exported' : 'gone');
      }
    }
    return states;
  }

  protected override servicesOf(pods: Iterable<string>): ReadonlySet<string> {
    return new Set([...pods].map(serviceOf));
  }

  /**
   * Returns the pods that are to have endpoint mirrors. Undefined if the Service is gone, because the pods of such a
   * Service are not counted.
   */
  #wanted(key: string): Hostnames | 'unknown' | undefined {
    const isOff = this.#options.mirrored.get(key) !== undefined && !this.#options.isHeadless();
    return isOff ? NO_PODS : hostnamesOf(this.#options.mirrored, key);
  }

  #holdsAny(key: string): boolean {
    const { losses } = this;
    return losses.count > 0 && [...this.#mirrored(key).keys()].some((hostname) => losses.isHeld(podKey(key, hostname)));
  }

  #listed(key: string): Hostnames | 'unknown' | undefined {
    const listed = hostnamesOf(this.#options.mirrored, key);
    const { maxServicePods } = this.#options;
    const size = listed === 'unknown' ? undefined : (listed?.size ?? 0);
    const count =
      size === undefined ? (this.#counts.get(key) ?? this.#mirrored(key).size) : Math.min(size, maxServicePods);
    if (size !== undefined && size > maxServicePods) this.#crowds.set(key, size);
    else if (size !== undefined) this.#crowds.delete(key);
    this.#count += count - (this.#counts.get(key) ?? 0);
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
    return listed;
  }

  /** Returns the keys of the Services that may have pods: the exported ones, and those with a mirror. */
  #keys(): ReadonlySet<string> {
    const { cluster, source } = this.#options;
    return new Set([...this.#options.mirrored.keys(), ...source.keysOf(cluster)]);
  }

  /**
   * Returns the pods of a Service that have an endpoint mirror. Returns the same object as long as these pods stay the
   * same.
   */
  #mirrored(key: string): Mirrored {
    const { cluster, source } = this.#options;
    return endpointMirrors(source.ownedBy({ cluster, key }));
  }

  /**
   * Returns the pods that have an endpoint mirror and are not listed. If the endpoint mirrors have not changed, looks
   * only at pods whose listing may have changed.
   */
  #gone(key: string, listed: Hostnames): readonly string[] {
    const mirrored = this.#mirrored(key);
    const before = this.#lastGone.get(key);
    const mayBeGone =
      before?.mirrored === mirrored
        ? [...new Set([...before.gone, ...hostnamesBeside(before.listed, listed)])]
        : [...mirrored.keys()];
    const gone = mayBeGone.filter((hostname) => mirrored.has(hostname) && !listed.has(hostname));
    this.#lastGone.set(key, { mirrored, listed, gone });
    return gone;
  }
}

/** Hostnames of the pods of a Service. */
type Hostnames = ByHostname<unknown>;

/** The pods that have an endpoint mirror, by hostname. */
type Mirrored = ReadonlyMap<string, unknown>;

/** Pods of a Service that is not mirrored pod by pod. */
const NO_PODS: Hostnames = ByHostname.none();

/** Returns the hostnames in those groups of `one` that are not groups of `other`. */
const hostnamesBeside = (one: Hostnames, other: Hostnames): readonly string[] =>
  [...groupsBeside(one, other)].flatMap((group) => [...group.keys()]);

/** Reports whether a Service is mirrored pod by pod if the settings ask for endpoint mirrors. */
const isByPod = ({ service, mode }: Exported): boolean => mode === 'gateway' && service.spec?.clusterIP === 'None';

/** Returns the hostnames of the pods of a Service; undefined if the Service is gone. */
function hostnamesOf(mirrored: Aspect<Exported>, key: string): Hostnames | 'unknown' | undefined {
  const exported = mirrored.get(key);
  if (exported === undefined) return mirrored.decides(key) ? undefined : 'unknown';
  if (!isByPod(exported)) return NO_PODS;
  const { service } = exported;
  const slices = mirrored.slicesOf(key);
  return slices === undefined ? 'unknown' : readSlices(service, slices).hosts;
}
