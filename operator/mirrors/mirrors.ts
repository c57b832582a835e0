/** The mirrors of one target cluster, kept true; what becomes of them is logged, counted and reported to their Link. */
import { mirrorName, probeName } from '../../crds/wire.ts';
import { isForbidden, isInvalid } from '../kube/errors.ts';
import { type KubeObject, splitKey } from '../kube/objects.ts';
import { enterClaims } from '../mirror/claims.ts';
import type { MirrorPass, Refusal } from '../mirror/reasons.ts';
import type { Shape } from '../mirror/shape.ts';
import { mirrorState, type MirrorStatus } from '../mirror/status.ts';
import { DerivationController } from '../runtime/derivation.ts';
import type { MayWrite } from '../runtime/fence.ts';
import { ENDLESS, type Turns } from '../runtime/turns.ts';
import { deriving, type DerivingEnvironment } from '../served/deriving.ts';
import type { LinkReport, SharedEnvironment } from '../served/environment.ts';
import type { AspectListener } from '../target/aspect.ts';
import { ownerOf, PROBE_KEY } from '../source/owner.ts';
import { countPass, startCounts } from './counts.ts';
import {
  type DecidedKey,
  MirrorDerivation,
  type MirrorFollower,
  type MirrorSource,
  type ObservedKey,
} from './derivation.ts';
import { logPass } from './log.ts';
import { type Began, Progress } from './progress.ts';

export interface MirrorsOptions {
  readonly link: string;
  readonly cluster: string;
  readonly from: MirrorSource;
  /** Whether the Lease of the Link is certainly held. */
  readonly mayWrite: MayWrite;
  readonly env: DerivingEnvironment & Pick<SharedEnvironment, 'claims'>;
  readonly report: LinkReport;
  /** Whether the log names each mirror, and not only each write. @default true */
  readonly logsEach?: boolean;
}

/** Forms of a target Service that has a mirror. */
const MADE: ReadonlySet<Shape['kind']> = new Set(['clusterIP', 'headless', 'flat']);

export class Mirrors implements AspectListener, MirrorFollower {
  readonly #options: MirrorsOptions;
  readonly #derivation: MirrorDerivation;
  readonly #controller: DerivationController<ObservedKey, DecidedKey, Refusal>;
  readonly #turns: Turns;
  /** What was known when the reconcile of a key that is under way began. */
  readonly #began = new Map<string, Began>();
  /** How far the mirrors follow the target. */
  readonly progress: Progress;

  constructor(options: MirrorsOptions) {
    const { link, cluster, mayWrite, env, from } = options;
    const { source, claims } = env;
    this.#options = options;
    this.#turns = env.tuning.turns ?? ENDLESS;
    this.progress = new Progress(cluster, env.metrics);
    startCounts(env.metrics.target, cluster);
    const derivation = new MirrorDerivation({
      link,
      cluster,
      namespace: env.config.namespace,
      from,
      claims,
      source,
      turns: this.#turns,
      follower: this,
    });
    this.#derivation = derivation;
    const isOurs = (object: KubeObject): boolean => ownerOf(object, env.config.namespace)?.cluster === cluster;
    const sort = { name: `link/${link}`, turn: cluster, isOurs, mayWrite };
    this.#controller = new DerivationController({ ...deriving(env, sort), derivation });
  }

  /** Status of each target Service, by key. */
  get statuses(): ReadonlyMap<string, MirrorStatus> {
    return this.#derivation.statuses;
  }

  seen(key: string): void {
    this.progress.changed(key);
  }

  restarted(): void {
    this.progress.restart();
  }

  changed(keys: Iterable<string>): void {
    for (const key of keys) this.add(key);
  }

  /** Reconciles a key. */
  add(key: string): void {
    this.#controller.add(key);
    this.#changed(key);
  }

  /** Reconciles until the signal aborts and the reconciles under way have ended. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  idle(): Promise<void> {
    return this.#controller.idle();
  }

  /** Removes the controller's metrics: it will not run again. */
  forget(): Promise<void> {
    return this.#controller.forget();
  }

  /**
   * Returns all keys that may need work: exported, mirrored, claiming a name, reported in the status or being
   * reconciled; and the probe Service.
   */
  keys(): ReadonlySet<string> {
    return this.#controller.keys();
  }

  /** The keys of which a mirror is being written: it may be there and not be known yet. */
  get underWay(): readonly string[] {
    return this.#controller.underWay((decision) => 'shape' in decision && MADE.has(decision.shape.kind));
  }

  /**
   * Reconciles everything after the target was listed. All claims on names are entered, also those of what is kept, and
   * those of what is exported no more withdrawn, before any of them is acted on (rule A7).
   */
  listed(): void {
    const { from, env } = this.#options;
    const keys = this.keys();
    for (const key of keys) if (key !== PROBE_KEY) enterClaims(from.observe(key), env.claims);
    if (!this.progress.hasBegun) this.progress.start(keys);
    for (const key of keys) this.add(key);
  }

  begins(key: string): void {
    this.#began.set(key, this.progress.begin(key));
  }

  async wrote(key: string, pass: MirrorPass, refusal: Refusal | undefined): Promise<void> {
    const { link, cluster, env, logsEach = true } = this.#options;
    await logPass(env.log, this.#turns, { link, service: key }, pass.done, {
      logsEach: logsEach && key !== PROBE_KEY,
      wasMirrored: this.statuses.get(key)?.mirrored === true,
      refusal,
    });
    if (key !== PROBE_KEY) countPass(env.metrics.target, cluster, pass.done);
    const began = this.#began.get(key);
    if (pass.again && began !== undefined) this.progress.wrote(key, began, pass.writes);
  }

  settled(key: string, { errors, writes }: MirrorPass, isPending: boolean): void {
    const began = this.#began.get(key);
    if (began === undefined) return;
    this.#began.delete(key);
    this.progress.end(key, began, isPending || errors.length > 0 ? undefined : writes);
    // What is refused is in the status, and is not tried before something changes.
    const isFinal = errors.every((error) => isForbidden(error) || isInvalid(error));
    if (this.progress.seen(key, began, isFinal && !isPending)) this.#options.report.statusChanged();
  }

  reported(
    key: string,
    status: MirrorStatus | undefined,
    before: MirrorStatus | undefined,
    notes: readonly string[],
  ): void {
    const { link, cluster, env, report } = this.#options;
    if (before?.reason === status?.reason && before?.message === status?.message) return;
    if (status !== undefined && mirrorState(status) === 'failed') {
      const { reason, message } = status;
      if (before?.reason !== reason) {
        env.log.warn({ link, service: key, reason, error: message }, 'the Service is not mirrored');
        env.metrics.target.mirrorFailures.inc({ target_cluster_name: cluster, reason });
      }
      report.event('Warning', reason, `Service ${key}: ${message}`);
    }
    for (const note of notes) report.event('Warning', 'MirrorContested', `Service ${key}: ${note}`);
    report.statusChanged();
  }

  probeRefused(): void {
    const { link, env, report } = this.#options;
    const name = `${env.config.namespace}/${probeName(link)}`;
    const message = `Service ${name} exists and is not the probe Service of this Link; rename or delete it`;
    report.event('Warning', 'NameConflict', message);
  }

  #changed(key: string): void {
    const { cluster, env } = this.#options;
    const { namespace, name } = splitKey(key);
    if (key !== PROBE_KEY) env.failovers?.mirrorChanged(`${namespace}/${mirrorName(name, cluster)}`);
  }
}
