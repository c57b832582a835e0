/**
 * The exports of one Link's target, as watches report them. Each change is passed on as the keys to reconcile. This
 * module writes nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import type { LinkSettings } from '../../crds/index.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Verdict, verdict } from '../kube/conditions.ts';
import type { Lease } from '../kube/objects.ts';
import type { LeaseNotes } from '../runtime/lease-record.ts';
import { AppliedPolicy } from '../mirror/applied-policy.ts';
import type { HeldListener } from '../target/certain/counted.ts';
import type { TargetObstacle } from '../target/target.ts';
import { confirmedRecordOf, readConfirmedRecord } from './confirmed-record.ts';
import type { LinkReport, SharedEnvironment } from './environment.ts';
import { type ExportListener, ExportReading } from './export-reading.ts';
import { type ReaderListener, TargetReader } from './reader.ts';
import { type Asked, digestOfAsked, selectsNothing } from './selection.ts';
import { ServedTarget, type ServedTargetOptions } from './served-target.ts';
import { TargetLog } from './target-log.ts';

/** Settings of a Link that decide how its target is read, and what may be deleted. */
type Settings = Asked & Pick<LinkSettings, 'name' | 'uid' | 'cluster' | 'enableHeadlessServices' | 'confirmPrune'>;

export interface ExportsOptions extends Pick<ServedTargetOptions, 'parts' | 'underWay' | 'record'> {
  readonly settings: Settings;
  readonly env: Pick<SharedEnvironment, 'config' | 'tuning' | 'source' | 'claims' | 'metrics' | 'log'>;
  readonly report: LinkReport;
  /**
   * Called when the obstacle to reading the target has changed. The obstacle is undefined if nothing prevents reading.
   */
  readonly reachable: (obstacle: TargetObstacle | undefined) => void;
  /** Ends all watches. */
  readonly signal: AbortSignal;
}

const policyOf = ({ importPolicy }: Settings): AppliedPolicy | undefined =>
  importPolicy && new AppliedPolicy(importPolicy);

export class Exports implements ReaderListener, ExportListener, HeldListener {
  /** The exports of the target, with the checks that must pass before the operator acts on them. */
  readonly target: ServedTarget;
  /** Reads the ServiceExports of the target. */
  readonly reading: ExportReading;
  readonly #options: ExportsOptions;
  readonly #reader: TargetReader;
  readonly #log: TargetLog;
  #settings: Settings;
  /** The import policy of the Link; undefined if it has none. */
  #policy: AppliedPolicy | undefined;
  /** Digest of what the Link asks of its target. */
  #asked: string;

  constructor(options: ExportsOptions) {
    const { settings, env, report, record, parts, underWay, signal } = options;
    const { name: link, cluster } = settings;
    this.#options = options;
    this.#settings = settings;
    this.#policy = policyOf(settings);
    this.#asked = digestOfAsked(settings, this.#isHeadless);
    this.#log = new TargetLog(link, env.log, report);
    this.reading = new ExportReading({ link, cluster, env, settings, listener: this });
    this.#reader = new TargetReader({
      link,
      selection: settings,
      exports: this.reading,
      env,
      signal,
      listener: this,
    });
    this.target = new ServedTarget({
      link,
      cluster,
      target: this.#reader,
      config: env.config,
      source: env.source,
      log: env.log,
      report,
      policy: () => this.#policy,
      isHeadless: () => this.#isHeadless,
      ...{ parts, underWay },
      record,
      listener: this,
    });
  }

  /**
   * Condition `TargetWithinLimits` if the target exports more than the operator serves (rule E10); undefined otherwise.
   */
  get beyondLimits(): Verdict | undefined {
    const { excess } = this.target.limits;
    return excess === undefined ? undefined : verdict('False', 'LimitExceeded', excess);
  }

  /** Whether no Service of the target is read, because the Link has no selector that selects anything (rule A1). */
  get readsNothing(): boolean {
    return selectsNothing(this.#settings);
  }

  /** Reads the target with a client (rule E2), as {@link TargetReader.adopt} does. */
  adopt(client: KubeClient, onProblem: (error: unknown) => void, signal: AbortSignal): Promise<boolean> {
    return this.#reader.adopt(client, onProblem, signal);
  }

  /**
   * Applies a changed spec or annotations. If the selectors have changed, the target is watched anew, and mirrors stay
   * as they are until its lists are complete.
   * @returns whether the reads that show reachability start anew: those of Services, or those of ServiceExports if no
   *   Services are read
   */
  update(settings: Settings): boolean {
    const { held, mirrored, pods, members } = this.target;
    const isOtherPolicy = !isDeepStrictEqual(this.#settings.importPolicy, settings.importPolicy);
    this.#settings = settings;
    const asked = digestOfAsked(settings, this.#isHeadless);
    // Whether the target has exported again what was confirmed cannot be seen in the lists for other settings.
    if (asked !== this.#asked) held.revoke();
    this.#asked = asked;
    if (isOtherPolicy) this.#policy = policyOf(settings);
    this.#confirm();
    const isReadAnew = this.#reader.isReadOtherwise(settings);
    if (isReadAnew) {
      for (const each of [mirrored, members]) each.restarted();
      held.restarted([mirrored, pods, members]);
    }
    this.#reader.select(settings);
    const areExportsReadAnew = this.reading.update(settings);
    if (isOtherPolicy) for (const each of this.target.sorts) each.recount();
    this.#count();
    return isReadAnew || (areExportsReadAnew && this.readsNothing);
  }

  /**
   * Returns the annotations by which the Lease of the Link records a confirmed loss.
   * @param before the Lease as its last holder left it. If that holder did not complete the deletions of a confirmed
   *   loss, these deletions are not held again
   */
  leaseNotes(leaseTransitions: number, before: Lease | undefined): ReturnType<LeaseNotes> {
    const { held } = this.target;
    const link = { ...this.#settings, asked: this.#asked };
    if (before !== undefined) held.resume(readConfirmedRecord(before, link));
    return confirmedRecordOf(held.confirmed(), link, leaseTransitions);
  }

  /** Starts to read the slices of Services that are exported in flat mode. Further calls do nothing. */
  readFlatSlices(): void {
    this.#reader.readFlatSlices();
  }

  /**
   * Forgets the answers of the target, because another operator may have made mirrors meanwhile. Asks again where the
   * answers are still needed.
   */
  askAnew(): void {
    this.#reader.target?.askAnew();
  }

  /** Counts losses in a namespace of the source cluster that could not be read when the target was listed. */
  namespaceRead(namespace: string): void {
    if (this.#reader.target?.synced === true) this.#count(namespace);
  }

  /**
   * Reports whether the target can be reached, if only its ServiceExports are read. Otherwise, reports only that the
   * status of the Link may have changed.
   */
  reportReachable(): void {
    const { found } = this.reading;
    // If only ServiceExports are read, reading them shows whether the target can be reached.
    if (found !== undefined && this.readsNothing) this.reachable(found.obstacle);
    else this.#options.report.statusChanged();
  }

  reachable(obstacle: TargetObstacle | undefined): void {
    this.#options.reachable(obstacle);
  }

  serviceChanged(key: string, left: readonly string[]): void {
    const { mirrored, pods } = this.target;
    mirrored.seen(key);
    mirrored.noted(key);
    this.#sayRefused(key);
    pods.noted(key, left);
    if (mirrored.isGone(key)) mirrored.ask(key);
    this.serviceAnswered(key);
  }

  /** Reports that a Service has changed. If the Service is certainly gone, withdraws its claims on names first. */
  serviceAnswered(key: string): void {
    const { mirrored } = this.target;
    const { cluster } = this.#settings;
    mirrored.answered(key);
    // A Service that is gone claims nothing, even while another operator writes for the Link (rule A7).
    if (mirrored.isGone(key) && mirrored.confirms(key)) this.#options.env.claims.withdraw({ cluster, key });
    mirrored.changed([key]);
  }

  memberChanged(key: string): void {
    this.target.members.noted(key);
    this.#sayRefused(key);
    this.memberAnswered(key);
  }

  memberAnswered(key: string): void {
    this.target.members.answered(key);
    this.target.members.changed([key]);
  }

  exportChanged(key: string): void {
    this.target.exports.noted(key);
    this.#sayRefused(key);
    this.target.exports.changed([key]);
  }

  exportsListed(): void {
    this.target.exports.recount();
    this.#count();
    this.#options.report.statusChanged();
    this.exportsReread();
  }

  exportsReread(): void {
    this.target.exports.listed();
  }

  exportsFound(): void {
    this.reportReachable();
  }

  exportsHeard(): void {
    // The watch of ServiceExports must not make silent watches of Services look alive.
    if (this.readsNothing) this.heard();
  }

  relisted(): void {
    for (const each of [this.target.mirrored, this.target.pods, this.target.members]) each.recount();
    this.#count();
    for (const each of [this.target.mirrored, this.target.members]) each.listed();
    this.#options.report.statusChanged();
  }

  fewerHeld(): void {
    this.#confirm();
  }

  heard(): void {
    const { metrics } = this.#options.env;
    metrics.target.lastHeard.set({ target_cluster_name: this.#settings.cluster }, Date.now() / 1000);
  }

  malformed(what: string): void {
    this.#log.malformed(what);
  }

  unanswered(key: string, error: unknown): void {
    this.#log.unanswered(key, error);
  }

  stop(): void {
    this.target.stop();
    this.#reader.stop();
    this.reading.stop();
    this.#log.flush();
  }

  /**
   * Schedules a write of the status if the verdict of the policy on a Service has changed. No reconcile schedules this
   * write for a Service that is not admitted.
   */
  #sayRefused(key: string): void {
    if (this.target.isRefusedAnew(key)) this.#options.report.statusChanged();
  }

  /**
   * Counts the keys that lists no longer have, or that settings no longer ask for.
   * @param within the only namespace whose mirrors are counted; undefined for all
   */
  #count(within?: string): void {
    this.target.held.relisted(this.#settings.confirmPrune, within);
    this.#confirm();
  }

  /** Whether headless Services are mirrored pod by pod. */
  get #isHeadless(): boolean {
    return this.#settings.enableHeadlessServices ?? this.#options.env.config.enableHeadlessServices;
  }

  /**
   * Makes the held deletions if the user has confirmed them. Called whenever the confirmation or the held deletions may
   * have changed.
   */
  #confirm(): void {
    const { signal } = this.#options;
    this.target.held.confirm(() => (signal.aborted ? undefined : this.#settings.confirmPrune));
  }
}
