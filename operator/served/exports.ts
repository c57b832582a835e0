/**
 * What the target of one Link exports, as its watches report it. A change leads to keys that are reconciled; nothing is
 * written here.
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
import { type Selection, selectsNothing } from './selection.ts';
import { ServedTarget, type ServedTargetOptions } from './served-target.ts';
import { TargetLog } from './target-log.ts';

/** Settings that decide how a target is read, and what of it may be deleted. */
type Settings = Selection &
  Pick<
    LinkSettings,
    'name' | 'uid' | 'cluster' | 'enableHeadlessServices' | 'confirmPrune' | 'serviceExports' | 'importPolicy'
  >;

export interface ExportsOptions extends Pick<ServedTargetOptions, 'parts' | 'record'> {
  readonly settings: Settings;
  readonly env: Pick<SharedEnvironment, 'config' | 'tuning' | 'source' | 'claims' | 'metrics' | 'log'>;
  readonly report: LinkReport;
  /** Takes what is in the way of reading the target; undefined if nothing is. */
  readonly reachable: (obstacle: TargetObstacle | undefined) => void;
  /** Ends all watches. */
  readonly signal: AbortSignal;
}

const policyOf = ({ importPolicy }: Settings): AppliedPolicy | undefined =>
  importPolicy && new AppliedPolicy(importPolicy);

export class Exports implements ReaderListener, ExportListener, HeldListener {
  /** What the target exports, as far as it may be acted on. */
  readonly target: ServedTarget;
  /** The ServiceExports of the target, as they are read. */
  readonly reading: ExportReading;
  readonly #options: ExportsOptions;
  readonly #reader: TargetReader;
  readonly #log: TargetLog;
  #settings: Settings;
  /** What the policy of the Link says; undefined if it has none. */
  #policy: AppliedPolicy | undefined;

  constructor(options: ExportsOptions) {
    const { settings, env, report, record, parts, signal } = options;
    const { name: link, cluster } = settings;
    this.#options = options;
    this.#settings = settings;
    this.#policy = policyOf(settings);
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
      isHeadless: () => this.#settings.enableHeadlessServices ?? env.config.enableHeadlessServices,
      parts,
      record,
      listener: this,
    });
  }

  /** Condition `TargetWithinLimits`, if the target exports more than is served of it (rule E10). */
  get beyondLimits(): Verdict | undefined {
    const { excess } = this.target.limits;
    return excess === undefined ? undefined : verdict('False', 'LimitExceeded', excess);
  }

  /** Whether nothing of the target is read, since no selector selects anything (rule A1). */
  get readsNothing(): boolean {
    return selectsNothing(this.#settings);
  }

  /** Reads the target with a client from now on (rule E2): {@link TargetReader.adopt}. */
  adopt(client: KubeClient, onProblem: (error: unknown) => void, signal: AbortSignal): Promise<boolean> {
    return this.#reader.adopt(client, onProblem, signal);
  }

  /**
   * Applies a changed spec or annotations. If the selectors changed, the target is watched anew, and mirrors stay as
   * they are until its lists are complete.
   * @returns whether what shows that the target can be reached is read anew
   */
  update(settings: Settings): boolean {
    const { held, mirrored, pods, members } = this.target;
    const isOtherPolicy = !isDeepStrictEqual(this.#settings.importPolicy, settings.importPolicy);
    this.#settings = settings;
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
   * Returns what the Lease of the Link records of a confirmed loss, as annotations.
   * @param before the Lease as its last holder left it: what that one has not deleted of a loss is not held anew
   */
  leaseNotes(leaseTransitions: number, before: Lease | undefined): ReturnType<LeaseNotes> {
    const { held } = this.target;
    if (before !== undefined) held.resume(readConfirmedRecord(before, this.#settings));
    return confirmedRecordOf(held.confirmed(), this.#settings, leaseTransitions);
  }

  /** Reads the slices behind what is exported in flat mode from now on; once, however often it is called. */
  readFlatSlices(): void {
    this.#reader.readFlatSlices();
  }

  /** Forgets what the target answered: another operator may have made mirrors meanwhile. */
  askAnew(): void {
    this.#reader.target?.askAnew();
  }

  /** Counts the mirrors in a namespace that could not be read when the target was listed. */
  namespaceRead(namespace: string): void {
    if (this.#reader.target?.synced === true) this.#count(namespace);
  }

  /** Reports whether the target can be reached, as far as what is read shows it. */
  reportReachable(): void {
    const { found } = this.reading;
    // Where ServiceExports are all that is read, they show it.
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

  /** Acts on what is known of a Service for certain. */
  serviceAnswered(key: string): void {
    const { mirrored } = this.target;
    const { cluster } = this.#settings;
    // A Service that is gone claims nothing, also while another operator writes for the Link (rule A7).
    if (mirrored.isGone(key) && mirrored.confirms(key)) this.#options.env.claims.withdraw({ cluster, key });
    mirrored.changed([key]);
  }

  memberChanged(key: string): void {
    this.target.members.noted(key);
    this.#sayRefused(key);
    this.memberAnswered(key);
  }

  memberAnswered(key: string): void {
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
    // They must not make watches of mirrors that are silent look alive.
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

  /** What the policy does not admit is reconciled by nobody who would say so. */
  #sayRefused(key: string): void {
    if (this.target.isRefusedAnew(key)) this.#options.report.statusChanged();
  }

  /** Counts what lists, or the settings, take away. @param within the only namespace whose mirrors are counted */
  #count(within?: string): void {
    this.target.held.relisted(this.#settings.confirmPrune, within);
    this.#confirm();
  }

  /** Deletes what is held if it is what the user has confirmed: it may have become that just now. */
  #confirm(): void {
    const { signal } = this.#options;
    this.target.held.confirm(() => (signal.aborted ? undefined : this.#settings.confirmPrune));
  }
}
