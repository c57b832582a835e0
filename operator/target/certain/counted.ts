/**
 * One sort of what a target exports, as it is counted: what is gone against what may go at once (rule E6), and what is
 * there against the limit of the Link (rule E10).
 */
import type { AspectListener } from '../aspect.ts';
import { type Candidate, Cap, type Capped } from './cap.ts';
import type { ExportState, ExportStates, SortLosses } from './losses.ts';

/** Learns that fewer are held. */
export interface HeldListener {
  /** The target exports some again: what is left may be what the user has confirmed. */
  fewerHeld(): void;
}

export interface CountedOptions {
  /** What is counted, in the plural, for messages. */
  readonly what: string;
  /** The setting that limits how many are served. */
  readonly setting: 'maxMirrors' | 'maxEndpointMirrors';
  /** Most that are served. */
  readonly most: number;
  readonly losses: SortLosses;
  /** What the status of the Link says may have changed. */
  readonly report: { statusChanged(): void };
  /** @default - nobody */
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

  /** Whether it is being read: what is not is not counted. */
  abstract get isRead(): boolean;
  /** How many there are, or a few more. */
  abstract get size(): number;
  abstract candidates(): Iterable<Candidate>;
  /** Returns what the target says of each key that something has been made of here. */
  abstract states(): ExportStates;

  /** How many there are if they are more than the limit allows. */
  get excess(): number | undefined {
    return this.#cap.excess;
  }

  /** What else is beyond a limit, for people. */
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

  /** Tells a listener what may have changed from now on. */
  subscribe(listener: AspectListener): void {
    this.#listeners.push(listener);
  }

  /** Has what is made of keys reconciled. */
  changed(keys: Iterable<string>): void {
    const services = [...this.servicesOf(keys)];
    for (const listener of this.#listeners) listener.changed(services);
  }

  readmitted(keys: readonly string[]): void {
    this.changed(keys);
    this.#report.statusChanged();
  }

  /** Tells that all were listed anew, and are known. */
  listed(): void {
    for (const listener of this.#listeners) listener.listed?.();
  }

  /** Tells that they are about to be listed by another selector. */
  restarted(): void {
    for (const listener of this.#listeners) listener.restarted?.();
  }

  /** Tells that the target has changed one. */
  seen(key: string): void {
    for (const listener of this.#listeners) listener.seen?.(key);
  }

  /** Handles that all were listed anew, or that others are read: the limit is applied anew. */
  recount(): void {
    this.#cap.changed();
  }

  stop(): void {
    this.#cap.stop();
  }

  /** Returns the keys of the Services that keys are of. */
  protected servicesOf(keys: Iterable<string>): Iterable<string> {
    return keys;
  }

  /** Handles that the target exports some of what was held again. */
  protected fewerHeld(): void {
    this.#report.statusChanged();
    this.#listener?.fewerHeld();
  }

  /** Notes what the target says of one key now. */
  protected note(key: string, state: ExportState): void {
    this.#cap.changed();
    if (this.losses.changed(key, state)) this.fewerHeld();
    if (this.losses.isCrowded) this.losses.forgetGone(this.states());
  }
}
