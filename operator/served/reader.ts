/**
 * The target of one Link as it is read: by what the Link selects, with the credentials in use. New credentials are tried
 * beside those, and take their place once they have proven themselves (rule E2). What was replaced, or is being tried,
 * reports nothing. Nothing is decided here, and nothing is written.
 */
import type { KubeClient } from '../kube/client.ts';
import type { Service } from '../kube/objects.ts';
import type { Aspect, PodAnswers, ServiceExports, TargetView } from '../target/aspect.ts';
import type { Exported } from '../target/read/exported.ts';
import { Target, type TargetObstacle } from '../target/target.ts';
import { CurrentAspect, currentPods } from './current-aspect.ts';
import type { SharedEnvironment } from './environment.ts';
import { isReadAlike, type Selection, selectorsOf, selectsNothing } from './selection.ts';
import { Trial } from './trial.ts';

/** Reads the ServiceExports of the target. */
export interface ServiceExportReader extends ServiceExports {
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
}

export interface TargetReaderOptions {
  readonly link: string;
  readonly selection: Selection;
  /** Read with the client that the target is read with. */
  readonly exports: ServiceExportReader;
  readonly env: Pick<SharedEnvironment, 'tuning' | 'log'>;
  readonly listener: ReaderListener;
  /** Ends all watches. */
  readonly signal: AbortSignal;
}

/** Is notified of what is read of the target, with the credentials in use. */
export interface ReaderListener {
  /**
   * An exported Service, or what is behind it, may have changed.
   * @param left hostnames of pods that a watch reported as gone
   */
  serviceChanged(key: string, left: readonly string[]): void;
  /** A member of a federated Service may have changed. */
  memberChanged(key: string): void;
  /** Everything was listed anew, be it of another target. */
  relisted(): void;
  /** The target has answered for one Service. */
  serviceAnswered(key: string): void;
  /** The target has answered for one Service as a member. */
  memberAnswered(key: string): void;
  /** The target has not answered for one Service: it is asked again. */
  unanswered(key: string, error: unknown): void;
  /**
   * Called on change, and with new credentials.
   * @param obstacle what is in the way of reading the target; undefined if all of it can be read
   */
  reachable(obstacle: TargetObstacle | undefined): void;
  /** The target has been heard. */
  heard(): void;
  /** An object was left out since it is not what the API allows. */
  malformed(what: string): void;
}

export class TargetReader implements TargetView {
  readonly mirrored: Aspect<Exported>;
  readonly members: Aspect<Service>;
  readonly exports: ServiceExports;
  readonly pods: PodAnswers;
  readonly #options: TargetReaderOptions;
  #selection: Selection;
  #client: KubeClient | undefined;
  #target: Target | undefined;
  #trial: Trial | undefined;
  #readsFlatSlices = false;

  constructor(options: TargetReaderOptions) {
    this.#options = options;
    this.#selection = options.selection;
    this.mirrored = new CurrentAspect(() => this.#target?.mirrored);
    this.members = new CurrentAspect(() => this.#target?.members);
    this.pods = currentPods(() => this.#target?.pods);
    this.exports = options.exports;
  }

  /** The target as it is read with the credentials in use; undefined before the first. */
  get target(): Target | undefined {
    return this.#target;
  }

  /**
   * Reads the target with a client from now on. The first one is used at once: there is none to keep, and a target that is
   * down will come back. Another one is used when everything that is read has been listed and is being watched with it. It
   * may lead to another cluster, so nothing is resumed, and what its list takes away is counted.
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
      this.#options.exports.use(client);
      return Promise.resolve(true);
    }
    this.#trial?.target?.stop();
    const trial = new Trial(client, onProblem);
    this.#trial = trial;
    signal.addEventListener('abort', () => this.#giveUp(trial), { once: true });
    trial.read(this.#makeTarget(), this.#options.signal);
    return trial.adopted;
  }

  /** Reports whether the target is being read, and is to be watched anew to be read by a selection. */
  isReadOtherwise(selection: Selection): boolean {
    return this.#target !== undefined && !isReadAlike(selection, this.#selection);
  }

  /** Reads by another selection from now on, also with credentials that are being tried. */
  select(selection: Selection): void {
    const isOtherwise = this.isReadOtherwise(selection);
    this.#selection = selection;
    if (!isOtherwise) return;
    const { signal } = this.#options;
    this.#target?.stop();
    this.#target = this.#makeTarget();
    if (this.#client !== undefined) this.#target.run(this.#client, signal);
    this.#trial?.read(this.#makeTarget(), signal);
  }

  /** Reads the slices behind what is exported in flat mode from now on; once, however often it is called. */
  readFlatSlices(): void {
    if (this.#readsFlatSlices) return;
    this.#readsFlatSlices = true;
    for (const target of [this.#target, this.#trial?.target]) target?.readFlatSlices();
  }

  stop(): void {
    if (this.#trial !== undefined) this.#giveUp(this.#trial);
    this.#target?.stop();
  }

  #giveUp(trial: Trial): void {
    if (this.#trial !== trial) return;
    this.#trial = undefined;
    trial.giveUp();
  }

  /** Everything that can be read with the new credentials is: they replace the old ones, unless those can read more. */
  async #opened(trial: Trial, target: Target): Promise<void> {
    const { link, exports, env, listener } = this.#options;
    if (!trial.readsAllOf(this.#target)) return;
    if (selectsNothing(this.#selection)) {
      // Nothing that was opened shows that they work.
      await exports.whenRead(trial.client, (obstacle) => trial.found(obstacle), trial.ended);
      if (this.#trial !== trial || trial.target !== target) return;
    }
    this.#trial = undefined;
    this.#target?.stop();
    this.#target = target;
    this.#client = trial.client;
    trial.adopt();
    const { server } = trial.client;
    env.log.info({ link, server }, 'the target is read with new credentials');
    listener.reachable(trial.obstacle);
    listener.relisted();
    exports.use(trial.client);
  }

  #makeTarget(): Target {
    const { env, listener } = this.#options;
    // A target that was replaced may still report.
    const isCurrent = (): boolean => this.#target === target;
    const target: Target = new Target({
      selectors: { ...selectorsOf(this.#selection), readsFlatSlices: this.#readsFlatSlices },
      namespaces: this.#selection.targetNamespaces,
      timings: env.tuning.targetTimings,
      labelCopyMs: env.tuning.labelCopyMs,
      listener: {
        serviceChanged: (key, left = []) => {
          if (isCurrent()) listener.serviceChanged(key, left);
        },
        memberChanged: (key) => {
          if (isCurrent()) listener.memberChanged(key);
        },
        relisted: () => {
          if (isCurrent()) listener.relisted();
        },
        serviceAnswered: (key) => {
          if (isCurrent()) listener.serviceAnswered(key);
        },
        memberAnswered: (key) => {
          if (isCurrent()) listener.memberAnswered(key);
        },
        opened: () => {
          if (this.#trial?.target === target) void this.#opened(this.#trial, target);
        },
        reachable: (obstacle) => {
          if (isCurrent()) listener.reachable(obstacle);
          else if (this.#trial?.target === target) this.#trial.found(obstacle);
        },
        heard: () => {
          if (isCurrent()) listener.heard();
        },
        malformed: (what) => listener.malformed(what),
        unanswered: (key, error) => listener.unanswered(key, error),
      },
    });
    return target;
  }
}
