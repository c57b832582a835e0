/**
 * What the target of one Link exports, as its watches report it and as far as it is known well enough to decide on. A
 * change leads to keys that are reconciled; nothing is written here.
 */
import { isDeepStrictEqual } from 'node:util';
import type { LinkSettings } from '../../crds/index.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Verdict, verdict } from '../kube/conditions.ts';
import { describe } from '../kube/errors.ts';
import { MALFORMED_RATE, Throttle } from '../runtime/rate.ts';
import { Target, type TargetObstacle } from '../target/target.ts';
import type { Environment, LinkReport } from './environment.ts';
import { HeldDeletions, type ImportsView } from './held.ts';
import { type CandidatesView, Limits } from './limits.ts';
import type { Mirrors } from './mirrors.ts';
import { observeExport, type ObservedExport, observeMember, type ObservedMember } from './observe.ts';
import { Trial } from './trial.ts';

/** Settings that decide how a target is read. */
type Selection = Pick<
  LinkSettings,
  | 'name'
  | 'cluster'
  | 'enableHeadlessServices'
  | 'selector'
  | 'remoteDiscoverySelector'
  | 'federatedServiceSelector'
  | 'gateway'
  | 'targetNamespaces'
  | 'confirmPrune'
>;

/** Is given what may have changed of the members of federated Services. */
export interface MemberListener {
  /** Keys of Services whose memberships may have changed. */
  changed(keys: Iterable<string>): void;
  /** All members were listed anew, and are known. */
  listed(): void;
  /** The members are about to be listed by another selector. */
  restarted(): void;
}

/** Reads the ServiceExports of the target, and is given what may have changed of its part in ServiceImports. */
export interface ImportListener extends ImportsView, CandidatesView {
  /** Reads with a client from now on. */
  use(client: KubeClient): void;
  /**
   * Resolves once ServiceExports can be read with a client that is not in use, or the target answers that they cannot be;
   * at once if none are to be read, and when the signal aborts.
   */
  whenRead(
    client: KubeClient,
    onObstacle: (obstacle: TargetObstacle | undefined) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** Keys of ServiceImports of which the part may have changed. */
  changed(keys: Iterable<string>): void;
}

export interface ExportsOptions {
  readonly settings: Selection;
  readonly mirrors: Mirrors;
  readonly members: MemberListener;
  readonly imports: ImportListener;
  readonly env: Environment;
  readonly report: LinkReport;
  /** Ends all watches. */
  readonly signal: AbortSignal;
  /** Called when the target can be read (undefined), or when some of it cannot. */
  readonly onReachable: (obstacle: TargetObstacle | undefined) => void;
}

export class Exports {
  readonly #options: ExportsOptions;
  readonly #malformed = new Throttle<string>(MALFORMED_RATE, (what, more) => this.#reportMalformed(what, more));
  readonly #held: HeldDeletions;
  readonly #limits: Limits;
  #settings: Selection;
  #client: KubeClient | undefined;
  #target: Target | undefined;
  #trial: Trial | undefined;
  #readsFlatSlices = false;

  constructor(options: ExportsOptions) {
    const { settings, env } = options;
    this.#options = options;
    this.#settings = settings;
    this.#held = new HeldDeletions({
      link: settings.name,
      cluster: settings.cluster,
      env,
      report: options.report,
      isHeadless: () => this.#settings.enableHeadlessServices ?? env.config.enableHeadlessServices,
      imports: options.imports,
    });
    this.#limits = new Limits({
      config: env.config,
      pods: this.#held.pods,
      source: env.source,
      cluster: settings.cluster,
      target: () => this.#target,
      members: () => this.#target,
      imports: options.imports,
      onChange: (keys) => {
        this.#reconcile(keys);
        options.report.statusChanged();
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
    const { selector, remoteDiscoverySelector, federatedServiceSelector } = this.#settings;
    return [selector, remoteDiscoverySelector, federatedServiceSelector].every((each) => each === undefined);
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
    return this.#target?.keys() ?? new Set();
  }

  /** Returns the keys of all members of federated Services. */
  memberKeys(): ReadonlySet<string> {
    return this.#target?.memberKeys() ?? new Set();
  }

  /** Returns what the target says about one Service as a member of a federated Service. */
  observeMember(key: string): ObservedMember {
    return observeMember(key, this.#target, this.#held, this.#limits);
  }

  /** Returns what the target says about one Service. */
  observe(key: string): ObservedExport {
    return observeExport(key, this.#target, this.#held, this.#limits);
  }

  /**
   * Reads the target with a client from now on (rule E2). The first one is used at once: there is none to keep, and a
   * target that is down will come back. Another one is used when everything that is read has been listed and is being
   * watched with it. It may lead to another cluster, so nothing is resumed, and what its list takes away is counted.
   * @param onProblem called on change with why it cannot be used yet
   * @param signal ends the trial
   * @returns whether it is in use; false if the signal aborted first
   */
  adopt(client: KubeClient, onProblem: (error: unknown) => void, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#target === undefined) {
      this.#client = client;
      this.#target = this.#makeTarget();
      this.#target.run(client, this.#options.signal);
      this.#options.imports.use(client);
      return Promise.resolve(true);
    }
    this.#trial?.target?.stop();
    const trial = new Trial(client, onProblem);
    this.#trial = trial;
    signal.addEventListener('abort', () => this.#giveUp(trial), { once: true });
    trial.read(this.#makeTarget(), this.#options.signal);
    return trial.adopted;
  }

  /**
   * Applies a changed spec or annotations. If the selectors changed, the target is watched anew, and mirrors stay as
   * they are until its lists are complete.
   * @returns whether the target is watched anew
   */
  update(settings: Selection): boolean {
    const before = this.#settings;
    this.#settings = settings;
    this.#reconcile(this.#held.confirm(settings.confirmPrune));
    if (this.#target === undefined || isReadAlike(settings, before)) return false;
    const { mirrors, members, signal } = this.#options;
    this.#target.stop();
    mirrors.progress.restart();
    members.restarted();
    this.#held.restarted();
    this.#target = this.#makeTarget();
    if (this.#client !== undefined) this.#target.run(this.#client, signal);
    this.#trial?.read(this.#makeTarget(), signal);
    return true;
  }

  /** Reads the slices behind what is exported in flat mode from now on; once, however often it is called. */
  readFlatSlices(): void {
    if (this.#readsFlatSlices) return;
    this.#readsFlatSlices = true;
    for (const target of [this.#target, this.#trial?.target]) target?.readFlatSlices();
  }

  /** Asks the target for one Service: as it is observed, its mirror is to be deleted. */
  ask(key: string): void {
    this.#target?.ask(key);
  }

  /**
   * Reports whether the target, asked for the one Service, has answered that it is no member of a federated Service. If
   * not, it is asked.
   */
  confirmsNoMember(key: string): boolean {
    const target = this.#target;
    if (target?.confirmsNoMember(key) === true) return true;
    target?.askForMember(key);
    return false;
  }

  /** Forgets what the target answered about a member: an answer is good for one attempt. */
  forgetMemberAnswer(key: string): void {
    this.#target?.forgetMemberAnswer(key);
  }

  /** Forgets what the target answered: an answer is good for one attempt. */
  forgetAnswer(key: string): void {
    this.#target?.forgetAnswer(key);
  }

  /** Forgets what the target answered: another operator may have made mirrors meanwhile. */
  askAnew(): void {
    this.#target?.askAnew();
  }

  /** Counts the mirrors in a namespace that could not be read when the target was listed. */
  namespaceRead(namespace: string): void {
    if (this.#target?.synced !== true) return;
    this.#reconcile(this.#held.relisted(this.#target, this.#settings.confirmPrune, namespace));
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
    if (this.#held.importChanged(key)) this.#options.report.statusChanged();
  }

  /** Handles that ServiceExports were listed anew. */
  importsRelisted(): void {
    this.#limits.changed();
    if (this.#target !== undefined) this.#reconcile(this.#held.relisted(this.#target, this.#settings.confirmPrune));
    this.#options.report.statusChanged();
  }

  /** Handles an object that was left out since it is not what the API allows. */
  malformed(what: string): void {
    this.#malformed.add(what);
  }

  stop(): void {
    this.#limits.stop();
    if (this.#trial !== undefined) this.#giveUp(this.#trial);
    this.#target?.stop();
    this.#malformed.flush();
  }

  #giveUp(trial: Trial): void {
    if (this.#trial !== trial) return;
    this.#trial = undefined;
    trial.giveUp();
  }

  /** Everything that can be read with the new credentials is: they replace the old ones, unless those can read more. */
  async #opened(trial: Trial, target: Target): Promise<void> {
    if (!trial.readsAllOf(this.#target)) return;
    if (this.readsNothing) {
      // Nothing that was opened shows that they work.
      await this.#options.imports.whenRead(trial.client, (obstacle) => trial.found(obstacle), trial.ended);
      if (this.#trial !== trial || trial.target !== target) return;
    }
    this.#trial = undefined;
    this.#target?.stop();
    this.#target = target;
    this.#client = trial.client;
    trial.adopt();
    const { server } = trial.client;
    this.#options.env.log.info({ link: this.#settings.name, server }, 'the target is read with new credentials');
    this.#options.onReachable(trial.obstacle);
    this.#relisted(target);
    this.#options.imports.use(trial.client);
  }

  #makeTarget(): Target {
    const { env, onReachable } = this.#options;
    const { cluster, targetNamespaces } = this.#settings;
    // A target that was replaced may still report.
    const isCurrent = (): boolean => this.#target === target;
    const target: Target = new Target({
      selectors: { ...selectorsOf(this.#settings), readsFlatSlices: this.#readsFlatSlices },
      namespaces: targetNamespaces,
      timings: env.tuning.targetTimings,
      labelCopyMs: env.tuning.labelCopyMs,
      onChange: (key, left = []) => {
        if (isCurrent()) this.#changed(target, key, left);
      },
      onMember: (key) => {
        if (isCurrent()) this.#memberChanged(target, key);
      },
      onRelisted: () => {
        if (isCurrent()) this.#relisted(target);
      },
      onOpen: () => {
        if (this.#trial?.target === target) void this.#opened(this.#trial, target);
      },
      onReachable: (obstacle) => {
        if (isCurrent()) onReachable(obstacle);
        else if (this.#trial?.target === target) this.#trial.found(obstacle);
      },
      onHeard: () => {
        if (isCurrent()) env.metrics.target.lastHeard.set({ target_cluster_name: cluster }, Date.now() / 1000);
      },
      onMalformed: (what) => this.#malformed.add(what),
      onAnswer: (key) => {
        if (isCurrent()) this.#answered(target, key);
      },
      onMemberAnswer: (key) => {
        if (isCurrent()) this.#options.members.changed([key]);
      },
      onUnanswered: (key, error) => this.#reportUnanswered(key, error),
    });
    return target;
  }

  #reportUnanswered(key: string, error: unknown): void {
    this.#options.env.log.warn(
      { link: this.#settings.name, service: key, error: describe(error) },
      'the target does not answer whether it still exports the Service; nothing of it is deleted before',
    );
  }

  #reportMalformed(what: string, more: number): void {
    const { env, report } = this.#options;
    const others = more === 0 ? '' : `, and ${more} more`;
    env.log.warn(
      { link: this.#settings.name, object: what, ...(more > 0 && { more }) },
      'the target sent an object that the API does not allow; it is ignored',
    );
    report.event('Warning', 'MalformedObject', `ignored an object that the target sent: ${what}${others}`);
  }

  #changed(target: Target, key: string, left: readonly string[]): void {
    const { mirrors, report } = this.#options;
    mirrors.progress.changed(key);
    this.#limits.changed();
    if (this.#held.changed(target, key, left)) report.statusChanged();
    if (this.#held.isGone(target, key)) target.ask(key);
    this.#answered(target, key);
  }

  /** Acts on what is known of a Service for certain. */
  #answered(target: Target, key: string): void {
    const { mirrors, env } = this.#options;
    // A Service that is gone claims nothing, also while another operator writes for the Link (rule A7).
    if (this.#held.isGone(target, key) && target.confirms(key)) {
      env.claims.withdraw({ cluster: this.#settings.cluster, key });
    }
    mirrors.add(key);
  }

  #memberChanged(target: Target, key: string): void {
    const { members, report } = this.#options;
    this.#limits.changed();
    if (this.#held.memberChanged(target, key)) report.statusChanged();
    members.changed([key]);
  }

  #relisted(target: Target): void {
    const { mirrors, members, report } = this.#options;
    this.#held.pods.recount(target);
    this.#limits.changed();
    this.#reconcile(this.#held.relisted(target, this.#settings.confirmPrune));
    mirrors.relisted(target.keys());
    members.listed();
    report.statusChanged();
  }

  #reconcile(keys: ReadonlySet<string>): void {
    for (const key of keys) this.#options.mirrors.add(key);
    this.#options.members.changed(keys);
    this.#options.imports.changed(keys);
  }
}

const selectorsOf = ({ selector, remoteDiscoverySelector, federatedServiceSelector, gateway }: Selection) => ({
  gateway: selector,
  flat: remoteDiscoverySelector,
  members: federatedServiceSelector,
  // A federated Service may lead through gateways though this Link does not ask for that (rule I5).
  readsMemberSlices: gateway !== undefined,
});

const isReadAlike = (a: Selection, b: Selection): boolean =>
  a.selector?.query === b.selector?.query &&
  a.remoteDiscoverySelector?.query === b.remoteDiscoverySelector?.query &&
  a.federatedServiceSelector?.query === b.federatedServiceSelector?.query &&
  (a.federatedServiceSelector === undefined || (a.gateway === undefined) === (b.gateway === undefined)) &&
  isDeepStrictEqual(a.targetNamespaces, b.targetNamespaces);
