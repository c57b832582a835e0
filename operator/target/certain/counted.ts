/**
 * Limits one aspect of a target: how many keys can be lost at once before their deletions are held (rule E6), and how
 * many exports are served (rule E10).
 */
import type { AspectListener } from '../aspect.ts';
import { type Candidate, Cap, type Capped, type Excess } from './cap.ts';
import type { ExportState, ExportStates, SortLosses } from './losses.ts';

/** Notified when fewer deletions are held. */
export interface HeldListener {
  /**
   * Called when fewer deletions are held, because the target exports some keys again, or because the Service of some
   * held pods is gone. The confirmation that the user gave might now match the deletions that are still held.
   */
  fewerHeld(): void;
}

export interface CountedOptions {
  /** Noun for what is counted, in the plural, for messages. */
  readonly what: string;
  /** The setting that limits how many keys are served. */
  readonly setting: 'maxMirrors' | 'maxEndpointMirrors';
  /** Maximum number of keys that are served. Keys that are mirrored already are served even beyond it. */
  readonly most: number;
  readonly losses: SortLosses;
  /** Notified when the status of the Link may have changed. */
  readonly report: { statusChanged(): void };
  /** Notified when fewer deletions are held. @default - nobody is notified */
  readonly listener?: HeldListener | undefined;
}

export abstract class Counted implements Capped {
  readonly what: string;
  readonly setting: CountedOptions['setting'];
  readonly most: number;
  readonly losses: SortLosses;
  readonly #report: CountedOptions['report'];
  readonly #listener: CountedOptions['listener'];
  readonly #cap: Cap;
  readonly #listeners: AspectListener[] = [];

  constructor({ what, setting, most, losses, report, listener }: CountedOptions) {
    this.what = what;
    this.setting = setting;
    this.most = most;
    this.losses = losses;
    this.#report = report;
    this.#listener = listener;
    this.#cap = new Cap(this);
  }

  /** Whether the aspect is read. An aspect that is not read is not counted. */
  abstract get isRead(): boolean;
  /** Number of exports. It can be too high: see {@link Capped.size}. */
  abstract get size(): number;
  abstract candidates(): Iterable<Candidate>;
  /** Returns the state of each key from which objects have been derived in the source cluster. */
  abstract states(): ExportStates;

  /** How {@link most} is exceeded: see {@link Cap.excess}. */
  get excess(): Excess | undefined {
    return this.#cap.excess;
  }

  /**
   * Texts for the status of the Link about exceeded limits other than {@link most}. Empty by default. An aspect that
   * has such limits overrides this.
   */
  get notes(): readonly string[] {
    return [];
  }

  /**
   * Whether all keys are served without a choice. False beyond the limit, and also within it while an earlier choice
   * still applies: see {@link Cap.admitsAll}.
   */
  get admitsAll(): boolean {
    return this.#cap.admitsAll;
  }

  /** Reports whether a key is served, as far as this limit decides. */
  admits(key: string): boolean {
    return this.#cap.admits(key);
  }

  /** Adds a listener, which is notified of later changes. */
  subscribe(listener: AspectListener): void {
    this.#listeners.push(listener);
  }

  /** Notifies listeners of changes that concern the Services of these keys: see {@link AspectListener.changed}. */
  changed(keys: Iterable<string>): void {
    const services = [...this.servicesOf(keys)];
    for (const listener of this.#listeners) listener.changed(services);
  }

  readmitted(keys: readonly string[]): void {
    this.changed(keys);
    this.#report.statusChanged();
  }

  /** Notifies listeners of changes that can concern all exports: see {@link AspectListener.listed}. */
  listed(): void {
    for (const listener of this.#listeners) listener.listed?.();
  }

  /** Notifies listeners that exports will be listed anew, because settings that select them have changed. */
  restarted(): void {
    for (const listener of this.#listeners) listener.restarted?.();
  }

  /** Notifies listeners that a watch or a list has shown that one export or its slices might have changed. */
  seen(key: string): void {
    for (const listener of this.#listeners) listener.seen?.(key);
  }

  /**
   * Called when the exports might have changed. Schedules a new choice of the exports that are served: see
   * {@link Cap.changed}.
   */
  recount(): void {
    this.#cap.changed();
  }

  stop(): void {
    this.#cap.stop();
  }

  /**
   * Returns the keys of the Services that the given keys belong to. By default, these are the given keys themselves. An
   * aspect whose keys stand for pods overrides this.
   */
  protected servicesOf(keys: Iterable<string>): Iterable<string> {
    return keys;
  }

  /** Called when fewer deletions are held: see {@link HeldListener.fewerHeld}. */
  protected fewerHeld(): void {
    this.#report.statusChanged();
    this.#listener?.fewerHeld();
  }

  /** Notes the present state of one key. */
  protected note(key: string, state: ExportState): void {
    this.#cap.changed();
    if (this.losses.changed(key, state)) this.fewerHeld();
    if (this.losses.isCrowded) this.losses.forgetGone(this.states());
  }
}
