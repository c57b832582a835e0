/**
 * Limits one aspect of a target: how many keys a list may remove at once (rule E6), and how many exports are served
 * (rule E10).
 */
import type { AspectListener } from '../aspect.ts';
import { type Candidate, Cap, type Capped } from './cap.ts';
import type { ExportState, ExportStates, SortLosses } from './losses.ts';

/** Receives changes of the number of held deletions. */
export interface HeldListener {
  /**
   * Called when fewer deletions are held, because the target exports some keys again. The confirmation that the user
   * gave may now match the deletions that are still held.
   */
  fewerHeld(): void;
}

export interface CountedOptions {
  /** Noun for what is counted, in the plural, for messages. */
  readonly what: string;
  /** The setting that limits how many keys are served. */
  readonly setting: 'maxMirrors' | 'maxEndpointMirrors';
  /** Maximum number of keys that are served. */
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
  /** Number of exports, or a few more. */
  abstract get size(): number;
  abstract candidates(): Iterable<Candidate>;
  /** Returns the state of each key from which objects have been derived in the source cluster. */
  abstract states(): ExportStates;

  /** Number of exports if it exceeds the limit and the exports to serve have been chosen; undefined otherwise. */
  get excess(): number | undefined {
    return this.#cap.excess;
  }

  /**
   * Texts about limits besides {@link most} that are exceeded, for the status of the Link. An aspect that has such a
   * limit overrides this.
   */
  get notes(): readonly string[] {
    return [];
  }

  /** Whether the limit of the Link allows all keys. */
  get admitsAll(): boolean {
    return this.#cap.admitsAll;
  }

  /** Reports whether the limit of the Link allows a key. */
  admits(key: string): boolean {
    return this.#cap.admits(key);
  }

  /** Adds a listener, which is notified of later changes. */
  subscribe(listener: AspectListener): void {
    this.#listeners.push(listener);
  }

  /** Notifies listeners that keys have changed. */
  changed(keys: Iterable<string>): void {
    const services = [...this.servicesOf(keys)];
    for (const listener of this.#listeners) listener.changed(services);
  }

  readmitted(keys: readonly string[]): void {
    this.changed(keys);
    this.#report.statusChanged();
  }

  /** Notifies listeners that all exports were listed anew, and are known. */
  listed(): void {
    for (const listener of this.#listeners) listener.listed?.();
  }

  /** Notifies listeners that exports will be listed with another selector. */
  restarted(): void {
    for (const listener of this.#listeners) listener.restarted?.();
  }

  /** Notifies listeners that the target has changed one export. */
  seen(key: string): void {
    for (const listener of this.#listeners) listener.seen?.(key);
  }

  /** Applies the limit anew. Called when exports were listed anew, or when a different set of exports is read. */
  recount(): void {
    this.#cap.changed();
  }

  stop(): void {
    this.#cap.stop();
  }

  /** Returns the keys of the Services that the given keys belong to. A given key may be that of a pod. */
  protected servicesOf(keys: Iterable<string>): Iterable<string> {
    return keys;
  }

  /** Called when the target exports some held keys again. */
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
