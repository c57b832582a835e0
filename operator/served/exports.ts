/**
 * What the target of one Link exports, as its watches report it and as far as it is known well enough to decide on. A
 * change leads to keys that are reconciled; nothing is written here.
 */
import type { LinkSettings } from '../../crds/index.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Verdict, verdict } from '../kube/conditions.ts';
import type { Lease } from '../kube/objects.ts';
import type { LeaseNotes } from '../runtime/lease-record.ts';
import type { Target, TargetObstacle } from '../target/target.ts';
import { confirmedRecordOf, readConfirmedRecord } from './confirmed-record.ts';
import type { SharedEnvironment } from './environment.ts';
import type { LinkReport } from './environment.ts';
import { HeldDeletions, type HeldDeletionsOptions } from './held.ts';
import { Limits } from './limits.ts';
import type { Asked, ImportListener, MemberListener, MirrorListener } from './listeners.ts';
import { observeExport, type ObservedExport, observeMember, type ObservedMember } from './observe.ts';
import { type Selection, selectsNothing } from './selection.ts';
import { TargetLog } from './target-log.ts';
import { TargetReader } from './reader.ts';

/** Settings that decide how a target is read, and what of it may be deleted. */
type Settings = Selection & Pick<LinkSettings, 'name' | 'uid' | 'cluster' | 'enableHeadlessServices' | 'confirmPrune'>;

export interface ExportsOptions {
  readonly settings: Settings;
  readonly mirrors: MirrorListener;
  readonly members: MemberListener;
  readonly imports: ImportListener;
  readonly env: SharedEnvironment;
  readonly report: LinkReport;
  /** {@link HeldDeletionsOptions.record}: on the Link's Lease. */
  readonly record?: HeldDeletionsOptions['record'];
  /** Ends all watches. */
  readonly signal: AbortSignal;
  /** Called when the target can be read (undefined), or when some of it cannot. */
  readonly onReachable: (obstacle: TargetObstacle | undefined) => void;
}

export class Exports {
  readonly #options: ExportsOptions;
  readonly #reader: TargetReader;
  readonly #log: TargetLog;
  readonly #held: HeldDeletions;
  readonly #limits: Limits;
  #settings: Settings;

  constructor(options: ExportsOptions) {
    const { settings, imports, env, report, record, signal, onReachable } = options;
    const { name: link, cluster } = settings;
    this.#options = options;
    this.#settings = settings;
    this.#log = new TargetLog(link, env.log, report);
    this.#reader = new TargetReader({
      link,
      cluster,
      selection: settings,
      imports,
      env,
      log: this.#log,
      signal,
      onChange: (target, key, left) => this.#changed(target, key, left),
      onMember: (target, key) => this.#memberChanged(target, key),
      onRelisted: (target) => this.#relisted(target),
      onAnswer: (target, key) => this.#answered(target, key),
      onMemberAnswer: (key) => options.members.changed([key]),
      onReachable,
    });
    this.#held = new HeldDeletions({
      link,
      cluster,
      env,
      report,
      isHeadless: () => this.#settings.enableHeadlessServices ?? env.config.enableHeadlessServices,
      imports,
      record,
    });
    this.#limits = new Limits({
      config: env.config,
      pods: this.#held.pods,
      source: env.source,
      cluster,
      target: () => this.#target,
      imports,
      onChange: (keys) => {
        this.#reconcile(keys);
        report.statusChanged();
      },
    });
  }

  /** Condition `TargetWithinLimits`, if the target exports more than is mirrored of it (rule E10). */
  get beyondLimits(): Verdict | undefined {
    const { excess } = this.#limits;
    return excess === undefined ? undefined : verdict('False', 'LimitExceeded', excess);
  }

  /** Whether nothing of the target is read, since no selector selects anything (rule A1). */
  get readsNothing(): boolean {
    return selectsNothing(this.#settings);
  }

  /** What confirms the deletions that are held; undefined if there are none. */
  get confirmation(): string | undefined {
    return this.#held.confirmation;
  }

  /** Number of deletions that are held. */
  get held(): number {
    return this.#held.count;
  }

  /** Some of what is held, for messages. */
  get someHeld(): readonly string[] {
    return this.#held.some;
  }

  /** Returns the keys of all exported Services. */
  keys(): ReadonlySet<string> {
    return this.#target?.mirrored.keys() ?? new Set();
  }

  /** Returns the keys of all members of federated Services. */
  memberKeys(): ReadonlySet<string> {
    return this.#target?.members.keys() ?? new Set();
  }

  /** Returns what the target says about one Service as a member of a federated Service. */
  observeMember(key: string): ObservedMember {
    return observeMember(key, this.#target, this.#held, this.#limits);
  }

  /** Returns what the target says about one Service. */
  observe(key: string): ObservedExport {
    return observeExport(key, this.#target, this.#held, this.#limits);
  }

  /** Reads the target with a client from now on (rule E2): {@link TargetReader.adopt}. */
  adopt(client: KubeClient, onProblem: (error: unknown) => void, signal: AbortSignal): Promise<boolean> {
    return this.#reader.adopt(client, onProblem, signal);
  }

  /**
   * Applies a changed spec or annotations. If the selectors changed, the target is watched anew, and mirrors stay as
   * they are until its lists are complete.
   * @returns whether the target is watched anew
   */
  update(settings: Settings): boolean {
    const { mirrors, members, signal } = this.#options;
    this.#settings = settings;
    this.#held.confirm(() => (signal.aborted ? undefined : this.#settings.confirmPrune), this.#reconcile);
    const isReadAnew = this.#reader.isReadOtherwise(settings);
    if (isReadAnew) {
      mirrors.restarted();
      members.restarted();
      this.#held.restarted();
    }
    this.#reader.select(settings);
    this.#count();
    return isReadAnew;
  }

  /**
   * Returns what the Lease of the Link records of a confirmed loss, as annotations.
   * @param before the Lease as its last holder left it: what that one has not deleted of a loss is not held anew
   */
  leaseNotes(leaseTransitions: number, before: Lease | undefined): ReturnType<LeaseNotes> {
    if (before !== undefined) this.#reconcile(this.#held.resume(readConfirmedRecord(before, this.#settings)));
    return confirmedRecordOf(this.#held.confirmed(this.#target), this.#settings, leaseTransitions);
  }

  /** Reads the slices behind what is exported in flat mode from now on; once, however often it is called. */
  readFlatSlices(): void {
    this.#reader.readFlatSlices();
  }

  /** Asks the target for one Service, or for the pods behind it: as it is observed, mirrors of them are to be deleted. */
  ask(key: string, of: Asked = 'service'): void {
    if (of === 'pods') this.#target?.askForPods(key);
    else this.#target?.mirrored.ask(key);
  }

  /**
   * Reports whether the target, asked for the one Service, has answered that it is no member of a federated Service. If
   * not, it is asked.
   */
  confirmsNoMember(key: string): boolean {
    const members = this.#target?.members;
    if (members?.get(key) === undefined && members?.confirms(key) === true) return true;
    members?.ask(key);
    return false;
  }

  /** Forgets what the target answered about a member: an answer is good for one attempt. */
  forgetMemberAnswer(key: string): void {
    this.#target?.members.forgetAnswer(key);
  }

  /** Forgets what the target answered: an answer is good for one attempt. */
  forgetAnswer(key: string, of: Asked = 'service'): void {
    if (of === 'pods') this.#target?.forgetPods(key);
    else this.#target?.mirrored.forgetAnswer(key);
  }

  /** Forgets what the target answered: another operator may have made mirrors meanwhile. */
  askAnew(): void {
    this.#target?.askAnew();
  }

  /** Counts the mirrors in a namespace that could not be read when the target was listed. */
  namespaceRead(namespace: string): void {
    if (this.#target?.synced === true) this.#count(namespace);
  }

  /** Reports whether it is held that the target's part in a ServiceImport ends. */
  holdsImport(key: string): boolean {
    return this.#held.holdsImport(key);
  }

  /** Reports whether an export is one of those that the limit of the Link allows. */
  admitsImport(key: string): boolean {
    return this.#limits.admitsImport(key);
  }

  /** Handles a ServiceExport that may have changed. */
  importChanged(key: string): void {
    this.#limits.changed();
    this.#held.importChanged(key);
  }

  /** Handles that ServiceExports were listed anew, or are not read. */
  importsRelisted(): void {
    this.#limits.changed();
    this.#count();
    this.#options.report.statusChanged();
  }

  /** Handles an object that was left out since it is not what the API allows. */
  malformed(what: string): void {
    this.#log.malformed(what);
  }

  stop(): void {
    this.#limits.stop();
    this.#reader.stop();
    this.#log.flush();
  }

  get #target(): Target | undefined {
    return this.#reader.target;
  }

  #changed(target: Target, key: string, left: readonly string[]): void {
    const { mirrors } = this.#options;
    mirrors.seen(key);
    this.#limits.changed();
    this.#held.changed(target, key, left);
    if (this.#held.isGone(target, key)) target.mirrored.ask(key);
    this.#answered(target, key);
  }

  /** Acts on what is known of a Service for certain. */
  #answered(target: Target, key: string): void {
    const { mirrors, env } = this.#options;
    // A Service that is gone claims nothing, also while another operator writes for the Link (rule A7).
    if (this.#held.isGone(target, key) && target.mirrored.confirms(key)) {
      env.claims.withdraw({ cluster: this.#settings.cluster, key });
    }
    mirrors.add(key);
  }

  #memberChanged(target: Target, key: string): void {
    const { members } = this.#options;
    this.#limits.changed();
    this.#held.memberChanged(target, key);
    members.changed([key]);
  }

  #relisted(target: Target): void {
    const { mirrors, members, report } = this.#options;
    this.#held.pods.recount(target);
    this.#limits.changed();
    this.#count();
    mirrors.relisted(target.mirrored.keys());
    members.listed();
    report.statusChanged();
  }

  /** Counts what lists, or the settings, take away. @param within the only namespace whose mirrors are counted */
  #count(within?: string): void {
    this.#reconcile(this.#held.relisted(this.#target, this.#settings.confirmPrune, within));
  }

  readonly #reconcile = (keys: ReadonlySet<string>): void => {
    for (const key of keys) this.#options.mirrors.add(key);
    this.#options.members.changed(keys);
    this.#options.imports.changed(keys);
  };
}
