/**
 * Removes from the source cluster what is left of a target cluster that no longer has a Link: mirrors, the probe
 * Service, memberships of federated Services, and parts in ServiceImports (rule E5). The removal runs under the Lease
 * of the Link that the mirrors were written for. After a restart, such Leases are the only record of leftovers.
 */
import { aborted, untilAborted } from '../kube/abort.ts';
import { sleep } from '../kube/backoff.ts';
import { verdict } from '../kube/conditions.ts';
import { describe } from '../kube/errors.ts';
import { splitKey } from '../kube/objects.ts';
import { NOTHING } from '../mirror/manifests.ts';
import { PROBE_KEY } from '../source/owner.ts';
import type { Environment } from './environment.ts';
import type { LinkReport } from '../served/environment.ts';
import { formerParty, ownMembershipsOf } from '../federation/session-party.ts';
import { formerExporter } from '../mcs/session-party.ts';
import { Mirrors } from '../mirrors/mirrors.ts';
import { namespaceStateOf } from '../source/write-scope.ts';
import { observeLeft } from '../mirrors/observe.ts';
import { NO_FINDINGS, type SessionFindings } from './status/status.ts';
import { WriteLease } from './lease/write-lease.ts';

/** Time between two checks of whether a removal is complete, in milliseconds. */
const POLL_MS = 100;

/**
 * How long to wait before leftovers are listed again, in milliseconds. Used if they could not be listed, or if the
 * watches do not yet show everything that was listed.
 */
const RETRY_MS = 2_000;

/** Maximum number of keys that a log line names. */
const MAX_NAMED = 10;

/**
 * Result of a removal:
 * - `complete`: nothing is left, except in namespaces that mirrors are not written to. The Lease is deleted; if it
 *   cannot be deleted, it expires.
 * - `incomplete`: the Lease stays, because namespaces that cannot be read might hold more mirrors, or because parts in
 *   ServiceImports cannot be read.
 * - `interrupted`: the check for leftovers must be made again, because the source cluster might have been restored from
 *   a backup after the last check began. The Lease stays, unless its deletion was already under way.
 * - `stopped`: the removal was stopped before its end.
 */
export type RemovalResult = 'complete' | 'incomplete' | 'interrupted' | 'stopped';

export class Removal {
  /** Name of the Link that the mirrors were written for. */
  readonly link: string;
  readonly lease: WriteLease;
  readonly #cluster: string;
  readonly #env: Environment;
  readonly #mirrors: Mirrors;
  readonly #stopped = new AbortController();
  /** Number of keys that had objects when the removal began. */
  #count = 0;
  #unsubscribe: () => void = () => undefined;
  #ended: Promise<RemovalResult> = Promise.resolve('stopped');

  constructor(link: string, cluster: string, env: Environment, report: LinkReport) {
    this.link = link;
    this.#cluster = cluster;
    this.#env = env;
    this.lease = new WriteLease(link, cluster, env, report);
    const from = {
      keys: () => new Set<string>(),
      observe: (key: string) => observeLeft(key, cluster, env),
      probe: () => NOTHING,
    };
    this.#mirrors = new Mirrors({
      link,
      cluster,
      from,
      mayWrite: () => this.lease.mayWrite,
      env,
      report,
      logsEach: false,
    });
  }

  get cluster(): string {
    return this.#cluster;
  }

  /**
   * Returns findings for the status of the Link that is called {@link link} now. Earlier, this Link, or a Link that had
   * the same name, named the cluster of this removal. The Link is not served until this removal has ended.
   */
  findings(): SessionFindings {
    const message = `the mirrors of cluster ${this.#cluster}, which a Link of this name left, are being removed first`;
    return { ...NO_FINDINGS, synced: verdict('False', 'RemovingMirrors', message), heldBy: this.lease.heldBy };
  }

  /** Deletes what is left, and then the Lease. Resolves when the removal has ended or was stopped. */
  run(): Promise<RemovalResult> {
    const { source, federations, imports, log } = this.#env;
    this.#count = [...source.keysOf(this.#cluster)].length;
    log.info(
      { link: this.link, cluster: this.#cluster, count: this.#count },
      'removing the mirrors that the Link left',
    );
    this.#unsubscribe = source.subscribe(this.#cluster, (key) => this.#mirrors.add(key));
    const party = formerParty(this.#cluster, this.lease, this.#env);
    federations.join(party);
    imports?.join(formerExporter(this.#cluster, this.#env));
    this.lease.run(async (until) => {
      for (const key of party.keys()) federations.add(key);
      for (const key of this.#mirrors.keys()) this.#mirrors.add(key);
      const memberships = aborted(until).then((reason) => federations.interrupt(reason));
      await Promise.all([this.#mirrors.run(until), memberships]);
    });
    this.#ended = this.#finish();
    return this.#ended;
  }

  /** Stops the removal. If it is not complete, the Lease is released, but still records the cluster. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#ended;
  }

  /** Called when a namespace of the source cluster was created or deleted, or when the right to read it has changed. */
  namespaceChanged(namespace: string): void {
    const { source, federations } = this.#env;
    const isThere = (key: string): boolean => splitKey(key).namespace === namespace;
    for (const key of source.keysOf(this.#cluster)) if (isThere(key)) this.#mirrors.add(key);
    for (const key of ownMembershipsOf(this.#cluster, this.#env)) if (isThere(key)) federations.add(key);
  }

  async #finish(): Promise<RemovalResult> {
    let readMs = -Infinity;
    while (!this.#stopped.signal.aborted) {
      // While somebody else holds the Lease, the queued keys wait until we hold it.
      await untilAborted(this.#mirrors.idle(), this.#stopped.signal).catch(() => undefined);
      readMs = performance.now();
      if (this.lease.isHeld && !this.#isAnythingLeft() && (await this.#isCertain())) break;
      await sleep(POLL_MS, this.#stopped.signal);
    }
    const result = await this.#end(readMs);
    this.#unsubscribe();
    await this.#env.imports?.leave(this.#cluster);
    await this.#mirrors.forget();
    await this.#env.metrics.forgetTarget(this.#cluster);
    return result;
  }

  /**
   * Deletes the Lease. Releases it instead if the removal was stopped, or if anything is left or might be left.
   * @param readMs when the last check for leftovers began, on the monotonic clock
   */
  async #end(readMs: number): Promise<RemovalResult> {
    const { federations, interruptions } = this.#env;
    const isComplete = !this.#stopped.signal.aborted && this.#isComplete();
    federations.leave(this.#cluster);
    if (!isComplete) {
      await this.lease.release();
      return this.#stopped.signal.aborted ? 'stopped' : 'incomplete';
    }
    // The Lease is deleted only once all writes under way have been answered. `isNothingLeft` is called right before
    // the deletion.
    const isNothingLeft = (): boolean => interruptions.lastMs < readMs;
    await this.lease.remove(isNothingLeft).catch((error: unknown) => {
      this.#env.log.warn(
        { link: this.link, error: describe(error) },
        'the Lease of the Link cannot be given up; it expires',
      );
    });
    return isNothingLeft() ? 'complete' : 'interrupted';
  }

  #isComplete(): boolean {
    const { source, imports, log } = this.#env;
    const { unreadable } = source.namespaces;
    const kept = imports?.keptOf(this.#cluster) ?? [];
    if (unreadable.length === 0 && kept.length === 0) {
      log.info(
        { link: this.link, cluster: this.#cluster, count: this.#count },
        'the mirrors that the Link left are removed',
      );
      return true;
    }
    if (kept.length > 0)
      log.warn(
        { link: this.link, services: kept.slice(0, MAX_NAMED), count: kept.length },
        'the Lease of the Link stays: ServiceImports that it has a part in cannot be read',
      );
    if (unreadable.length === 0) return false;
    log.warn(
      { link: this.link, namespaces: unreadable },
      'the Lease of the Link stays: namespaces that cannot be read may hold more of its mirrors',
    );
    return false;
  }

  /**
   * Lists leftovers anew from the API server, and reports whether there are certainly none. If the answer to a creation
   * was lost, a mirror might exist that no watch has shown yet. Once the Lease is deleted, nothing would ever find this
   * mirror.
   */
  async #isCertain(): Promise<boolean> {
    const { source, log } = this.#env;
    const { signal } = this.#stopped;
    const isShown = await source.readAnew(this.#cluster, signal).catch((error: unknown) => {
      if (signal.aborted) return false;
      log.warn({ link: this.link, error: describe(error) }, 'cannot list what is left of the mirrors of the Link');
      return false;
    });
    // Objects that `readAnew` adds to the stores are not reported as changes, so all keys are enqueued here. `readAnew`
    // might have added objects even if it failed.
    for (const key of this.#mirrors.keys()) this.#mirrors.add(key);
    if (!isShown) {
      await sleep(RETRY_MS, signal);
      return false;
    }
    return this.lease.isHeld && !this.#isAnythingLeft();
  }

  /** Reports whether anything is left that can be deleted. */
  #isAnythingLeft(): boolean {
    const { source, imports } = this.#env;
    const parts = imports?.endingOf(this.#cluster) ?? [];
    const probe = source.probesOf(this.#cluster, this.link);
    if ([probe.services, probe.endpoints, probe.slices].some(({ length }) => length > 0)) return true;
    return [...source.keysOf(this.#cluster), ...ownMembershipsOf(this.#cluster, this.#env), ...parts].some((key) => {
      const state = namespaceStateOf(splitKey(key).namespace, this.#env);
      return key === PROBE_KEY || (state !== 'forbidden' && state !== 'unreadable');
    });
  }
}
