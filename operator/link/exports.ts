/**
 * What the target of one Link exports: the watches on it, what is known well enough to decide on, and the deletions
 * that are held (rule E6). A change leads to keys that are reconciled; nothing is written here.
 */
import { isDeepStrictEqual } from 'node:util';
import type { LinkSettings } from '../../crds/index.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Verdict, verdict } from '../kube/conditions.ts';
import { splitKey } from '../kube/objects.ts';
import type { Observed } from '../mirror/observed.ts';
import { MALFORMED_RATE, Throttle } from '../runtime/rate.ts';
import { PROBE_KEY } from '../source/owner.ts';
import { type ExportState, Losses, serviceOf } from '../target/losses.ts';
import { Target, type TargetObstacle } from '../target/target.ts';
import type { Environment, LinkReport } from './environment.ts';
import type { Mirrors } from './mirrors.ts';
import { Limits } from './limits.ts';
import { Pods } from './pods.ts';

/** Settings that decide how a target is read. */
type Selection = Pick<
  LinkSettings,
  | 'name'
  | 'cluster'
  | 'enableHeadlessServices'
  | 'selector'
  | 'remoteDiscoverySelector'
  | 'targetNamespaces'
  | 'confirmPrune'
>;

export interface ExportsOptions {
  readonly settings: Selection;
  readonly mirrors: Mirrors;
  readonly env: Environment;
  readonly report: LinkReport;
  /** Ends all watches. */
  readonly signal: AbortSignal;
  /** Called when the target can be read (undefined), or when some of it cannot. */
  readonly onReachable: (obstacle: TargetObstacle | undefined) => void;
}

/** New credentials that are tried: the target is read with them, beside what is read with the old ones. */
interface Trial {
  readonly client: KubeClient;
  target: Target;
  /** What is in the way of reading it. */
  obstacle?: TargetObstacle | undefined;
  readonly onProblem: (error: unknown) => void;
  readonly end: (adopted: boolean) => void;
}

export class Exports {
  readonly #options: ExportsOptions;
  readonly #losses = new Losses();
  readonly #malformed = new Throttle<string>(MALFORMED_RATE, (what, more) => this.#reportMalformed(what, more));
  readonly #pods: Pods;
  readonly #limits: Limits;
  #settings: Selection;
  #client: KubeClient | undefined;
  #target: Target | undefined;
  #trial: Trial | undefined;

  constructor(options: ExportsOptions) {
    const { settings, env } = options;
    this.#options = options;
    this.#settings = settings;
    this.#pods = new Pods({
      cluster: settings.cluster,
      source: env.source,
      losses: this.#losses,
      graceMs: env.config.endpointMirrorGraceMs,
      isHeadless: () => this.#settings.enableHeadlessServices ?? env.config.enableHeadlessServices,
    });
    this.#limits = new Limits({
      config: env.config,
      pods: this.#pods,
      source: env.source,
      cluster: settings.cluster,
      target: () => this.#target,
      onChange: (keys) => {
        for (const key of keys) options.mirrors.add(key);
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
    return this.#settings.selector === undefined && this.#settings.remoteDiscoverySelector === undefined;
  }

  /** Number of deletions that are held. */
  get held(): number {
    return this.#losses.count;
  }

  /** Some of what is held, for messages. */
  get someHeld(): readonly string[] {
    return this.#losses.some;
  }

  /** Returns the keys of all exported Services. */
  keys(): ReadonlySet<string> {
    return this.#target?.keys() ?? new Set();
  }

  /** Returns what the target says about one Service. */
  observe(key: string): Pick<Observed, 'target' | 'slices' | 'isAdmitted' | 'admitsPod' | 'departed' | 'decidable'> {
    const target = this.#target?.get(key);
    return {
      target,
      slices: target && this.#target?.slicesOf(key),
      isAdmitted: this.#limits.admits(key),
      admitsPod: (hostname) => this.#limits.admitsPod(key, hostname),
      departed: this.#target === undefined ? new Map() : this.#pods.departed(this.#target, key),
      decidable: this.#target?.decides(key) === true && !(target === undefined && this.#losses.isHeld(key)),
    };
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
      return Promise.resolve(true);
    }
    const { promise, resolve: end } = Promise.withResolvers<boolean>();
    const trial: Trial = { client, target: this.#makeTarget(), onProblem, end };
    this.#trial?.target.stop();
    this.#trial = trial;
    signal.addEventListener('abort', () => this.#giveUp(trial), { once: true });
    trial.target.run(client, this.#options.signal);
    return promise;
  }

  /**
   * Applies a changed spec or annotations. If the selectors changed, the target is watched anew, and mirrors stay as
   * they are until its lists are complete.
   * @returns whether the target is watched anew
   */
  update(settings: Selection): boolean {
    const before = this.#settings;
    this.#settings = settings;
    this.#release(this.#losses.confirm(settings.confirmPrune));
    if (this.#target === undefined || isReadAlike(settings, before)) return false;
    this.#target.stop();
    this.#options.mirrors.progress.restart();
    this.#losses.restarted();
    this.#target = this.#makeTarget();
    if (this.#client !== undefined) this.#target.run(this.#client, this.#options.signal);
    if (this.#trial === undefined) return true;
    this.#trial.target.stop();
    this.#trial.target = this.#makeTarget();
    this.#trial.target.run(this.#trial.client, this.#options.signal);
    return true;
  }

  /** Counts the mirrors in a namespace that could not be read when the target was listed. */
  namespaceRead(namespace: string): void {
    if (this.#target?.synced === true) this.#countLosses(this.#target, namespace);
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
    trial.target.stop();
    trial.end(false);
  }

  /** Everything that can be read with the new credentials is: they replace the old ones, unless those can read more. */
  #opened(trial: Trial): void {
    const { target, client, obstacle } = trial;
    if (target.refused.some((namespace) => this.#target?.isRead(namespace) === true)) return;
    this.#trial = undefined;
    this.#target?.stop();
    this.#target = target;
    this.#client = client;
    trial.end(true);
    this.#options.onReachable(obstacle);
    this.#relisted(target);
  }

  #makeTarget(): Target {
    const { env, onReachable } = this.#options;
    const { selector, remoteDiscoverySelector, targetNamespaces } = this.#settings;
    // A target that was replaced may still report.
    const isCurrent = (): boolean => this.#target === target;
    const target: Target = new Target({
      selectors: { gateway: selector, flat: remoteDiscoverySelector },
      namespaces: targetNamespaces,
      timings: env.tuning.targetTimings,
      labelCopyMs: env.tuning.labelCopyMs,
      onChange: (key, left = []) => {
        if (isCurrent()) this.#changed(target, key, left);
      },
      onRelisted: () => {
        if (isCurrent()) this.#relisted(target);
      },
      onOpen: () => {
        if (this.#trial?.target === target) this.#opened(this.#trial);
      },
      onReachable: (obstacle) => {
        if (isCurrent()) onReachable(obstacle);
        else if (this.#trial?.target === target) {
          this.#trial.obstacle = obstacle;
          if (obstacle !== undefined) this.#trial.onProblem(obstacle.error);
        }
      },
      onMalformed: (what) => this.#malformed.add(what),
    });
    return target;
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
    const { mirrors, env, report } = this.#options;
    mirrors.progress.changed(key);
    const state = stateOf(target, key);
    this.#limits.changed();
    const released = [this.#losses.changed(key, state), this.#pods.changed(target, key, left)];
    if (released.includes(true)) report.statusChanged();
    // A Service that is gone claims nothing, also while another operator writes for the Link (rule A7).
    if (state === 'gone' && !this.#losses.isHeld(key)) env.claims.withdraw({ cluster: this.#settings.cluster, key });
    mirrors.add(key);
  }

  #relisted(target: Target): void {
    const { mirrors, report } = this.#options;
    this.#pods.recount(target);
    this.#limits.changed();
    this.#countLosses(target);
    mirrors.relisted(target.keys());
    report.statusChanged();
  }

  /**
   * Counts what the lists of the target take away.
   * @param within only namespace whose mirrors are counted: mirrors in others may just be going one by one
   */
  #countLosses(target: Target, within?: string): void {
    const { env } = this.#options;
    const { cluster, confirmPrune } = this.#settings;
    const isCounted = (key: string): boolean => within === undefined || splitKey(key).namespace === within;
    const states = new Map<string, ExportState>();
    for (const key of env.source.keysOf(cluster)) {
      if (key === PROBE_KEY) continue;
      const state = stateOf(target, key);
      states.set(key, state === 'exported' || isCounted(key) ? state : undefined);
    }
    for (const [key, state] of this.#pods.states(target)) {
      states.set(key, state === 'exported' || isCounted(key) ? state : undefined);
    }
    const before = this.#losses.count;
    const released = this.#losses.relisted(new Set(states.keys()), (key) => states.get(key), confirmPrune);
    if (this.#losses.count !== before) this.#reportHeld(states.size);
    this.#release(released);
  }

  /** @param mirrored number of Services and pods that have mirrors */
  #reportHeld(mirrored: number): void {
    const { env, report } = this.#options;
    const held = this.#losses.count;
    if (held === 0) return;
    const link = this.#settings.name;
    env.log.warn({ link, held }, 'the target no longer lists much of what is mirrored; those mirrors are not deleted');
    const message = `the target no longer lists ${held} of ${mirrored} mirrored Services and pods; their mirrors are not deleted`;
    report.event('Warning', 'PruneHeld', message);
  }

  /** Reconciles what is not held any more. */
  #release(keys: readonly string[]): void {
    for (const key of new Set(keys.map(serviceOf))) this.#options.mirrors.add(key);
  }
}

function stateOf(target: Target, key: string): ExportState {
  if (target.get(key) !== undefined) return 'exported';
  return target.decides(key) ? 'gone' : undefined;
}

const isReadAlike = (a: Selection, b: Selection): boolean =>
  a.selector?.query === b.selector?.query &&
  a.remoteDiscoverySelector?.query === b.remoteDiscoverySelector?.query &&
  isDeepStrictEqual(a.targetNamespaces, b.targetNamespaces);
