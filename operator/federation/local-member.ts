/**
 * The source cluster as a party of federated Services (rules I1, I5, I7). The Services that `--federated-selector`
 * selects are read like those of a target, with their slices. In flat mode, this operator writes their memberships only
 * while it holds the Lease of local memberships. In gateway mode, it writes them even without the Lease. Without a
 * selector, no local Service joins, and the Lease is not acquired.
 */
import { parseSelectorText, type Selector } from '../../crds/selector.ts';
import { localMember, NO_LOCAL_MEMBER, observeLocalMember } from './observe.ts';
import type { LocalParty } from './observed.ts';
import { describe } from '../kube/errors.ts';
import type { Service } from '../kube/objects.ts';
import type { MirrorStatus } from '../mirror/status.ts';
import type { EventRecorder } from '../runtime/events.ts';
import { sourceProblem } from '../source/advice.ts';
import { readLocalSlice } from '../target/read/objects.ts';
import { Target, type TargetObstacle } from '../target/target.ts';
import type { SharedEnvironment } from '../served/environment.ts';
import type { Federations } from './federations.ts';
import { LocalLease, type LocalLeaseEnvironment } from './local-lease.ts';
import { LocalReport } from './report.ts';
import type { Participant } from './party.ts';

type LocalMemberEnvironment = LocalLeaseEnvironment &
  Pick<SharedEnvironment, 'config' | 'tuning' | 'client' | 'metrics'>;

export interface LocalMemberOptions {
  readonly env: LocalMemberEnvironment;
  readonly events: Pick<EventRecorder, 'record'>;
}

export class LocalMember implements Participant<LocalParty> {
  readonly #env: LocalMemberEnvironment;
  readonly #report: LocalReport;
  readonly #selector: Selector | undefined;
  readonly #lease: LocalLease;
  readonly #stopped = new AbortController();
  #target: Target | undefined;

  constructor({ env, events }: LocalMemberOptions) {
    const { metrics, log } = env;
    this.#env = env;
    this.#selector = selectorOf(env);
    this.#lease = new LocalLease(env);
    this.#report = new LocalReport({ metrics, events, log, uidOf: (key) => this.#service(key)?.metadata.uid });
  }

  keys(): Iterable<string> {
    return [...(this.#target?.members.keys() ?? [])].filter((key) => this.#service(key) !== undefined);
  }

  observe(key: string): LocalParty {
    if (this.#selector === undefined) return NO_LOCAL_MEMBER;
    return observeLocalMember(key, this.#target?.members, this.#lease.isHeld);
  }

  /**
   * Reports whether a write is allowed now:
   * - While this operator counts as the holder of the Lease of local memberships, a write is allowed only if the
   *   operator certainly holds the Lease at this moment.
   * - While it does not count as the holder, every write is allowed, because the write was decided without the Lease.
   *   Reconciles decided under the Lease were interrupted when the operator noticed that the Lease was lost.
   */
  readonly mayWrite = (): boolean => !this.#lease.isHeld || this.#lease.mayWrite;

  report(key: string, status: MirrorStatus | undefined): void {
    this.#report.report(key, status);
  }

  /** Starts to read the Services, and to acquire the Lease. Does nothing without a selector. */
  start(federations: Pick<Federations, 'add' | 'addAll' | 'interrupt'>): void {
    if (this.#selector === undefined) return;
    const { client } = this.#env;
    this.#target = this.#makeTarget(this.#selector, federations);
    this.#target.run(client, this.#stopped.signal);
    this.#lease.run((reason) => void federations.interrupt(reason));
  }

  /**
   * Stops reading, releases the Lease, and removes the metric. The controller of federated Services must have stopped
   * before.
   */
  async stop(): Promise<void> {
    this.#target?.stop();
    this.#stopped.abort(new Error('the operator stops'));
    await this.#lease.release();
    await this.#report.forget();
  }

  #service(key: string): Service | undefined {
    return localMember(key, this.#target?.members);
  }

  #makeTarget(selector: Selector, federations: Pick<Federations, 'add' | 'addAll'>): Target {
    const { config, tuning, log } = this.#env;
    let isFirst = true;
    const target: Target = new Target({
      selectors: { gateway: undefined, flat: undefined, members: selector, readsMemberSlices: true },
      namespaces: config.mirrorNamespaces,
      timings: tuning.sourceTimings,
      labelCopyMs: tuning.labelCopyMs,
      readSlice: readLocalSlice,
      listener: {
        memberChanged: (key) => federations.add(key),
        relisted: () => {
          if (isFirst) this.#report.listed(target.members.keys());
          isFirst = false;
          federations.addAll();
        },
        reachable: (obstacle) => this.#reachable(obstacle),
        malformed: (object) => log.warn({ object }, 'an object that the API does not allow is ignored'),
      },
    });
    return target;
  }

  #reachable(obstacle: TargetObstacle | undefined): void {
    const { log, config } = this.#env;
    if (obstacle === undefined) return;
    const problem = sourceProblem('Services that join federated Services', obstacle.error, config.namespace);
    log.error({ error: describe(obstacle.error), namespaces: obstacle.namespaces }, problem);
  }
}

/**
 * Returns the selector of `--federated-selector`, which was validated with the configuration; undefined if that setting
 * is empty.
 */
function selectorOf({ config }: LocalMemberEnvironment): Selector | undefined {
  const parsed = parseSelectorText(config.federatedSelector);
  return parsed.ok ? parsed.value : undefined;
}
