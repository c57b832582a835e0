/**
 * Finds out whether Links can exist at all (rule E5, ADR 13). When a user deletes a Link, its mirrors are removed. But
 * when the CRD or the namespace of Links is deleted, Kubernetes deletes all Links, and nobody asked for the removal of
 * their mirrors. The API server shows the difference: in the second case, the API server stops accepting new Links
 * before it deletes the first Link.
 */
import { type Asking, servedVerbs } from '../kube/discovery.ts';
import type { Resource } from '../kube/objects.ts';
import { Absence } from '../runtime/absence.ts';
import type { Logger } from '../runtime/logger.ts';
import type { SourceNamespaces } from '../source/namespaces.ts';

/** Time between two checks while Links cannot exist, in milliseconds. */
const RECHECK_MS = 10_000;
/**
 * How long deletions of Links count as part of a common loss, in milliseconds. The time starts when the operator last
 * found that Links cannot exist, or that all Links might have vanished at once. A Link that is found deleted before the
 * end of this time counts as lost together with all others. A Link that is found deleted later counts as deleted by a
 * user.
 */
const BELATED_MS = 60_000;

export interface PresenceOptions {
  /** Client for the source cluster. */
  readonly client: Asking;
  /** The kind Link. */
  readonly resource: Resource;
  readonly namespace: string;
  readonly namespaces: Pick<SourceNamespaces, 'stateOf'>;
  readonly log: Logger;
  /** How long mirrors stay after Links can exist again, in milliseconds. @default 600000 */
  readonly returnGraceMs?: number | undefined;
}

export class LinkPresence {
  readonly #options: PresenceOptions;
  /**
   * When the operator last found that Links cannot exist, because their CRD or namespace is missing or being deleted,
   * or that all Links might have vanished at once. From then on, whoever manages the Links has `returnGraceMs` to
   * create them again.
   */
  readonly #absence: Absence;
  #isReported = false;
  #asking: Promise<boolean> | undefined;

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#absence = new Absence({ graceMs: options.returnGraceMs });
  }

  /** Notes that Links cannot exist now, or that all of them might have vanished at once. */
  vanished(): void {
    this.#absence.noticed();
  }

  /**
   * Notes that the operator found no Link when it started, although Leases record that mirrors were written for Links.
   */
  noneFound(): void {
    this.vanished();
    this.#reportWait('there is no Link any more');
  }

  /**
   * Returns how long the mirrors of a cluster without a Link must stay, in milliseconds:
   * - While Links cannot exist: the time until the next check.
   * - While Links can exist: what is left of the time for their return (`returnGraceMs`); 0 in each of these cases:
   *   - That time is over.
   *   - The Link counts as deleted by a user, and not as lost together with all others ({@link BELATED_MS}).
   *   - A person has removed the Link with `linkspan unlink`.
   * @param sinceMs when the cluster was first found to have no Link, on the monotonic clock
   * @param isUnlinked reports whether a person has removed the cluster's Link with `linkspan unlink`. The mirrors of
   *   such a Link stay only while Links cannot exist
   * @throws ApiError or ConnectionError if the API server does not answer
   */
  async holdMs(sinceMs: number, signal: AbortSignal, isUnlinked: () => Promise<boolean>): Promise<number> {
    this.#asking ??= this.#ask(signal).finally(() => (this.#asking = undefined));
    if (!(await this.#asking)) return RECHECK_MS;
    if (sinceMs > this.#absence.noticedMs + BELATED_MS) return 0;
    const leftMs = this.#absence.leftMs();
    return leftMs > 0 && (await isUnlinked()) ? 0 : leftMs;
  }

  /**
   * Asks the API server whether Links can be created, and looks up whether their namespace is known to exist. Links can
   * exist only if both are true. If they cannot exist, notes this ({@link vanished}). Logs a change.
   * @returns whether Links can exist
   */
  async #ask(signal: AbortSignal): Promise<boolean> {
    const { client, resource, namespace, namespaces, log } = this.#options;
    const isServed = (await servedVerbs(client, resource, signal)).includes('create');
    const isThere = isServed && namespaces.stateOf(namespace) === 'exists';
    if (!isThere) this.vanished();
    if (isThere && this.#isReported) this.#reportWait('there can be Links again');
    if (!isThere && !this.#isReported) {
      const missing = isServed ? `namespace ${namespace}` : `CRD ${resource.plural}.${resource.group}`;
      log.error({ missing }, 'all Links vanish with what is missing or being deleted; their mirrors stay');
    }
    this.#isReported = !isThere;
    return isThere;
  }

  #reportWait(because: string): void {
    const seconds = this.#absence.graceMs / 1000;
    this.#options.log.warn({ seconds }, `${because}; mirrors without a Link stay for this time, then they are removed`);
  }
}
