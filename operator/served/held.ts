/**
 * The held deletions of one Link (rule E6). For each aspect, the keys that a list of the target lacks, or that changed
 * settings no longer ask for, are compared with the number of all its keys. A key that a watch reports as gone is
 * deleted by itself, and its deletion is not held.
 */
import { splitKey } from '../kube/objects.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Digest } from '../target/certain/confirmed.ts';
import type { Counted } from '../target/certain/counted.ts';
import type { ExportStates, Losses, Released } from '../target/certain/losses.ts';
import type { LinkReport } from './environment.ts';

export interface HeldDeletionsOptions {
  readonly link: string;
  /** The aspects whose losses are counted. */
  readonly sorts: readonly Counted[];
  /** The losses of all these aspects. */
  readonly losses: Losses;
  readonly log: Pick<Logger, 'warn'>;
  readonly report: LinkReport;
  /**
   * Records the loss that the user has confirmed, before anything is deleted. Returns undefined if nothing needs to be
   * recorded.
   * @default - nothing is recorded
   */
  readonly record?: (() => Promise<void> | undefined) | undefined;
}

export class HeldDeletions {
  readonly #options: HeldDeletionsOptions;
  readonly #losses: Losses;

  constructor(options: HeldDeletionsOptions) {
    this.#options = options;
    this.#losses = options.losses;
  }

  /** Number of deletions that are held. */
  get count(): number {
    return this.#losses.count;
  }

  /** Text that confirms the held deletions; undefined if there are none. */
  get confirmation(): string | undefined {
    return this.#losses.confirmation;
  }

  /** Names of some held deletions, for messages. */
  get some(): readonly string[] {
    return this.#losses.some;
  }

  /**
   * Forgets the deletions that watches reported for some aspects. Called when these watches are started anew with other
   * selectors.
   */
  restarted(sorts: readonly Counted[]): void {
    for (const { losses } of sorts) losses.restarted();
  }

  /**
   * Makes the held deletions if the user has confirmed them.
   * @param confirmed returns the confirmation of the Link. It is called again once the loss is recorded
   */
  confirm(confirmed: () => string | undefined): void {
    if (!this.#losses.confirming(confirmed())) return;
    const confirm = (): void => this.#release(this.#losses.confirm(confirmed()));
    const recorded = this.#options.record?.();
    if (recorded === undefined) confirm();
    else void recorded.then(confirm);
  }

  /**
   * Returns the digests of the keys whose deletion the user has confirmed, and which still have objects. They are to be
   * recorded.
   */
  confirmed(): ReadonlySet<Digest> {
    const { confirmed } = this.#losses;
    // Each renewal of the Lease calls this function, so the states of all keys are computed only if they are needed.
    if (confirmed.digests.size > 0) this.#retainConfirmed(this.#states());
    return confirmed.record();
  }

  /** Makes the deletions that the user confirmed before a restart. */
  resume(confirmed: Iterable<Digest>): void {
    this.#release(this.#losses.resume(confirmed));
  }

  /** Forgets which keys the user has confirmed. Deletions that are still held need another confirmation. */
  revoke(): void {
    this.#losses.revoke();
  }

  /**
   * Counts the keys that lists of the target no longer have, or that settings of the Link or the operator no longer ask
   * for.
   * @param confirmed confirmation that the Link has; undefined if it has none
   * @param within the only namespace whose mirrors are counted; undefined for all. Mirrors in other namespaces may be
   *   about to be deleted one by one
   */
  relisted(confirmed: string | undefined, within?: string): void {
    const states = this.#states();
    this.#retainConfirmed(states);
    const isCounted = (key: string): boolean => within === undefined || splitKey(key).namespace === within;
    const counted = [...states].filter(([{ isRead }]) => isRead);
    const before = this.#losses.count;
    const released = this.#losses.relisted(
      new Map(counted.map(([{ losses }, ofSort]) => [losses, unlessGone(ofSort, isCounted)])),
      confirmed,
    );
    if (this.#losses.count !== before) this.#warnOfHeld(counted.reduce((sum, [, { size }]) => sum + size, 0));
    this.#release(released);
  }

  #states(): ReadonlyMap<Counted, ExportStates> {
    return new Map(this.#options.sorts.map((sort) => [sort, sort.states()]));
  }

  /** Forgets the confirmation of keys that no longer have objects, or that the target exports again. */
  #retainConfirmed(states: ReadonlyMap<Counted, ExportStates>): void {
    const { confirmed } = this.#losses;
    if (confirmed.digests.size === 0 || ![...states.keys()].some(({ isRead }) => isRead)) return;
    const lost = [...states].flatMap(([{ losses }, ofSort]) =>
      [...ofSort].flatMap(([key, state]) => (state === 'exported' ? [] : [losses.nameOf(key)])),
    );
    confirmed.retain(lost);
  }

  #release(released: Released): void {
    if ([...released.values()].some(({ length }) => length > 0)) this.#options.report.statusChanged();
    for (const sort of this.#options.sorts) {
      const keys = released.get(sort.losses) ?? [];
      if (keys.length > 0) sort.changed(keys);
    }
  }

  /**
   * @param made number of mirrored Services and pods, of memberships, and of parts in ServiceImports
   */
  #warnOfHeld(made: number): void {
    const { link, log, report } = this.#options;
    const held = this.#losses.count;
    report.statusChanged();
    if (held === 0) return;
    log.warn(
      { link, held },
      'the target no longer lists much of what is mirrored, federated or imported, or the settings no longer ask for it; that is not deleted',
    );
    const message = `the target no longer lists ${held} of ${made} mirrored Services, pods, members of federated Services and exports, or the settings no longer ask for them; what they have here stays`;
    report.event('Warning', 'PruneHeld', message);
  }
}

/** Returns the states, but with `undefined` for keys that are gone and must not be counted. */
const unlessGone = (states: ExportStates, isCounted: (key: string) => boolean): ExportStates =>
  new Map([...states].map(([key, state]) => [key, state === 'gone' && !isCounted(key) ? undefined : state]));
