/**
 * Reads the target of one Link by the selectors of the Link, with the credentials in use. New credentials are tried
 * while the old ones stay in use, and replace them once they work (rule E2). Credentials that are being tried, or were
 * replaced, cause no reports. This module decides and writes nothing.
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
  /** Reads the exports anew with a client. */
  use(client: KubeClient): void;
  /**
   * Resolves once ServiceExports can be read with a client that is not in use, or the target answers that they cannot
   * be read. Resolves at once if no ServiceExports have to be read, and when the signal aborts.
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
  /** Reads the ServiceExports, with the same client as the rest of the target. */
  readonly exports: ServiceExportReader;
  readonly env: Pick<SharedEnvironment, 'tuning' | 'log'>;
  readonly listener: ReaderListener;
  /** Ends all watches. */
  readonly signal: AbortSignal;
}

/** Notified of what is read from the target with the credentials in use. */
export interface ReaderListener {
  /**
   * Called when an exported Service or its slices may have changed.
   * @param left the hostnames that a watch event has removed from a slice of a Service in gateway mode. Hostnames that
   *   a list no longer has are not among them. Always empty for a Service in flat mode
   */
  serviceChanged(key: string, left: readonly string[]): void;
  /** Called when a member of a federated Service may have changed. */
  memberChanged(key: string): void;
  /** Called when everything was listed anew, possibly from another target. */
  relisted(): void;
  /** Called when the target has answered a question about an exported Service. */
  serviceAnswered(key: string): void;
  /** Called when the target has answered a question about a member. */
  memberAnswered(key: string): void;
  /** Called when a question about a Service has failed for the first time. The question is asked again. */
  unanswered(key: string, error: unknown): void;
  /**
   * Called when the obstacle to reading the target has changed, and when new credentials come into use.
   * @param obstacle what prevents reading the target; undefined if all of it can be read
   */
  reachable(obstacle: TargetObstacle | undefined): void;
  /** Called when the target has sent a list, an event or a bookmark. */
  heard(): void;
  /** Called when an object was left out because the API does not allow it. */
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

  /** The target that is read with the credentials in use; undefined before any credentials are in use. */
  get target(): Target | undefined {
    return this.#target;
  }

  /**
   * Reads the target with a client. The first client is used at once, because there is no earlier client to keep, and a
   * target that is down will come back. A later client is used once everything that is read has been listed and is
   * being watched with it. A later client may lead to another cluster, so no watch is resumed, and the mass-deletion
   * guard counts the keys that the new lists lack.
   * @param onProblem called when the reason why the client cannot be used yet has changed
   * @param signal ends the trial
   * @returns whether the client is in use; false if the signal aborted first
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

  /**
   * Reports whether the target is being read, and must be watched anew because a selection differs from the present
   * one.
   */
  isReadOtherwise(selection: Selection): boolean {
    return this.#target !== undefined && !isReadAlike(selection, this.#selection);
  }

  /**
   * Changes the selection. If necessary, the target is watched anew, with the credentials in use and with those that
   * are being tried.
   */
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

  /** Starts to read the slices of Services that are exported in flat mode. Further calls do nothing. */
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

  /**
   * Called when everything that the new credentials can read has been listed and is being watched. The new credentials
   * replace the old ones, unless the old ones can read more, or may be able to.
   */
  async #opened(trial: Trial, target: Target): Promise<void> {
    const { link, exports, env, listener } = this.#options;
    if (!trial.readsAllOf(this.#target)) return;
    if (selectsNothing(this.#selection)) {
      // No watch was opened that would show that the new credentials work.
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
