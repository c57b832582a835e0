/**
 * The target of one Link as it is read: by what the Link selects, with the credentials in use. New credentials are tried
 * beside those, and take their place once they have proven themselves (rule E2). What was replaced, or is being tried,
 * reports nothing. Nothing is decided here, and nothing is written.
 */
import type { KubeClient } from '../kube/client.ts';
import { Target, type TargetObstacle } from '../target/target.ts';
import type { SharedEnvironment } from './environment.ts';
import { isReadAlike, type Selection, selectorsOf, selectsNothing } from './selection.ts';
import type { TargetLog } from './target-log.ts';
import { Trial } from './trial.ts';

/** Reads the ServiceExports of the target. */
export interface ServiceExportReader {
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
  readonly cluster: string;
  readonly selection: Selection;
  /** Read with the client that the target is read with. */
  readonly imports: ServiceExportReader;
  readonly env: Pick<SharedEnvironment, 'tuning' | 'metrics' | 'log'>;
  readonly log: TargetLog;
  /** Ends all watches. */
  readonly signal: AbortSignal;
  /**
   * Called when an exported Service, or what is behind it, may have changed.
   * @param left hostnames of pods that a watch reported as gone
   */
  readonly onChange: (target: Target, key: string, left: readonly string[]) => void;
  /** Called when a member of a federated Service may have changed. */
  readonly onMember: (target: Target, key: string) => void;
  /** Called when everything was listed anew, be it of another target. */
  readonly onRelisted: (target: Target) => void;
  /** Called when the target has answered for one Service. */
  readonly onAnswer: (target: Target, key: string) => void;
  /** Called when the target has answered for one Service as a member. */
  readonly onMemberAnswer: (key: string) => void;
  /** Called on change, and with new credentials: the target can be read (undefined), or not all of it. */
  readonly onReachable: (obstacle: TargetObstacle | undefined) => void;
}

export class TargetReader {
  readonly #options: TargetReaderOptions;
  #selection: Selection;
  #client: KubeClient | undefined;
  #target: Target | undefined;
  #trial: Trial | undefined;
  #readsFlatSlices = false;

  constructor(options: TargetReaderOptions) {
    this.#options = options;
    this.#selection = options.selection;
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
    const { link, imports, env, onReachable, onRelisted } = this.#options;
    if (!trial.readsAllOf(this.#target)) return;
    if (selectsNothing(this.#selection)) {
      // Nothing that was opened shows that they work.
      await imports.whenRead(trial.client, (obstacle) => trial.found(obstacle), trial.ended);
      if (this.#trial !== trial || trial.target !== target) return;
    }
    this.#trial = undefined;
    this.#target?.stop();
    this.#target = target;
    this.#client = trial.client;
    trial.adopt();
    const { server } = trial.client;
    env.log.info({ link, server }, 'the target is read with new credentials');
    onReachable(trial.obstacle);
    onRelisted(target);
    imports.use(trial.client);
  }

  #makeTarget(): Target {
    const { cluster, env, log, ...on } = this.#options;
    // A target that was replaced may still report.
    const isCurrent = (): boolean => this.#target === target;
    const target: Target = new Target({
      selectors: { ...selectorsOf(this.#selection), readsFlatSlices: this.#readsFlatSlices },
      namespaces: this.#selection.targetNamespaces,
      timings: env.tuning.targetTimings,
      labelCopyMs: env.tuning.labelCopyMs,
      onChange: (key, left = []) => {
        if (isCurrent()) on.onChange(target, key, left);
      },
      onMember: (key) => {
        if (isCurrent()) on.onMember(target, key);
      },
      onRelisted: () => {
        if (isCurrent()) on.onRelisted(target);
      },
      onAnswer: (key) => {
        if (isCurrent()) on.onAnswer(target, key);
      },
      onMemberAnswer: (key) => {
        if (isCurrent()) on.onMemberAnswer(key);
      },
      onOpen: () => {
        if (this.#trial?.target === target) void this.#opened(this.#trial, target);
      },
      onReachable: (obstacle) => {
        if (isCurrent()) on.onReachable(obstacle);
        else if (this.#trial?.target === target) this.#trial.found(obstacle);
      },
      onHeard: () => {
        if (isCurrent()) env.metrics.target.lastHeard.set({ target_cluster_name: cluster }, Date.now() / 1000);
      },
      onMalformed: (what) => log.malformed(what),
      onUnanswered: (key, error) => log.unanswered(key, error),
    });
    return target;
  }
}
