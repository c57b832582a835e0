/**
 * The mirror controller of one target cluster: reconciles the mirrors of each target Service, and the probe Service.
 * Its owner supplies what is observed, as a value. The result for each key is kept here, for the status.
 */
import { mirrorName, probeName } from '../../crds/wire.ts';
import { RETRY_BACKOFF } from '../kube/backoff.ts';
import { isConflict, isForbidden, isInvalid } from '../kube/errors.ts';
import { SERVICES, splitKey } from '../kube/objects.ts';
import { claimAnew, decide, type Decision, refusalOf, statusOf } from '../mirror/decide.ts';
import { type Manifests, stayingAs } from '../mirror/desired.ts';
import type { Observed, OwnedObjects } from '../mirror/observed.ts';
import type { MirrorPass } from '../mirror/reasons.ts';
import { reconcile } from '../mirror/reconcile.ts';
import { Rendered } from '../mirror/rendered.ts';
import { retained } from '../mirror/retain.ts';
import type { Retain } from '../runtime/pass.ts';
import { mirrorState, type MirrorStatus } from '../mirror/status.ts';
import { Applier } from '../runtime/applier.ts';
import type { MayWrite } from '../runtime/fence.ts';
import { Controller, type Outcome } from '../runtime/controller.ts';
import { ENDLESS, giveWay, type Turns } from '../runtime/turns.ts';
import type { LinkReport, SharedEnvironment } from '../served/environment.ts';
import type { Asked, MirrorListener } from '../served/listeners.ts';
import { ownerOf, PROBE_KEY } from '../source/owner.ts';
import { countPass, startCounts } from './counts.ts';
import { logPass } from './log.ts';
import { Progress } from './progress.ts';

/** Time until a name that a foreign object has is tried again. */
const CONFLICT_RETRY_MS = 30_000;

/** Supplies what the mirrors of a cluster are made from. */
export interface MirrorSource {
  /** Returns the keys of all exported Services. */
  keys(): ReadonlySet<string>;
  /** Returns everything that decides about one target Service. */
  observe(key: string): Observed;
  /** Asks the target; the key is added when it has answered. @default - what is observed is certain */
  ask?(key: string, of: Asked): void;
  /** Forgets what the target answered. */
  forgetAnswer?(key: string, of: Asked): void;
  /** Returns the probe Service and its endpoints; undefined while it is not known what they must be. */
  probe(): Manifests | undefined;
}

export interface MirrorsOptions {
  readonly link: string;
  readonly cluster: string;
  readonly from: MirrorSource;
  /** Whether the Lease of the Link is certainly held. */
  readonly mayWrite: MayWrite;
  readonly env: SharedEnvironment;
  readonly report: LinkReport;
  /** Whether the log names each mirror, and not only each write. @default true */
  readonly logsEach?: boolean;
}

export class Mirrors implements MirrorListener {
  readonly #options: MirrorsOptions;
  readonly #controller: Controller;
  readonly #applier: Applier;
  readonly #statuses = new Map<string, MirrorStatus>();
  readonly #rendered = new Rendered({ isTurnOver: () => this.#turns.isOver() });
  readonly #turns: Turns;
  /** How far the mirrors follow the target. */
  readonly progress: Progress;

  constructor(options: MirrorsOptions) {
    const { link, cluster, mayWrite, env } = options;
    const { source } = env;
    this.#options = options;
    this.#turns = env.tuning.turns ?? ENDLESS;
    this.progress = new Progress(cluster, env.metrics);
    startCounts(env.metrics.target, cluster);
    this.#controller = new Controller({
      name: `link/${link}`,
      reconcile: (key, signal) => this.#reconcile(key, signal),
      concurrency: env.config.concurrency,
      metrics: env.metrics,
      log: env.log,
      backoff: env.tuning.retryBackoff ?? RETRY_BACKOFF,
      turns: this.#turns,
    });
    this.#applier = new Applier({
      client: env.client,
      turn: (signal, execute) => env.writes.run(cluster, signal, execute),
      stores: source.written,
      isOurs: (object) => ownerOf(object, env.config.namespace)?.cluster === cluster,
      namespaceUid: (name) => source.namespaces.uidOf(name),
      mayWrite,
    });
  }

  /** Status of each target Service, by key. */
  get statuses(): ReadonlyMap<string, MirrorStatus> {
    return this.#statuses;
  }

  seen(key: string): void {
    this.progress.changed(key);
  }

  restarted(): void {
    this.progress.restart();
  }

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

  /** Returns all keys that may need work: exported, mirrored, claiming a name or reported in the status; and the probe Service. */
  keys(): ReadonlySet<string> {
    const { from, cluster, env } = this.#options;
    const known = [...env.source.keysOf(cluster), ...env.claims.keysOf(cluster), ...this.#statuses.keys()];
    return new Set([PROBE_KEY, ...from.keys(), ...known]);
  }

  /**
   * Reconciles everything after the target was listed. All claims on names are entered, and those of what is exported no
   * more withdrawn, before any of them is acted on (rule A7).
   * @param exported keys of all exported Services
   */
  relisted(exported: Iterable<string>): void {
    const { from, cluster, env } = this.#options;
    for (const key of new Set([...exported, ...env.claims.keysOf(cluster)])) claimAnew(from.observe(key), env.claims);
    const keys = this.keys();
    if (!this.progress.hasBegun) this.progress.start(keys);
    for (const key of keys) this.add(key);
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const began = this.progress.begin(key);
    const pass = key === PROBE_KEY ? await this.#reconcileProbe(signal) : await this.#reconcileMirror(key, signal);
    const isPending = pass.isPending === true;
    if (!pass.again) {
      this.progress.end(key, began, isPending || pass.errors.length > 0 ? undefined : pass.writes);
      // What is refused is in the status, and is not tried before something changes.
      const isFinal = pass.errors.every((error) => isForbidden(error) || isInvalid(error));
      const isApplied = isFinal && !isPending && !signal.aborted;
      if (this.progress.seen(key, began, isApplied)) this.#options.report.statusChanged();
    } else this.progress.wrote(key, began, pass.writes);
    return pass;
  }

  async #reconcileMirror(key: string, signal: AbortSignal): Promise<Outcome & MirrorPass> {
    const { from, link, cluster, env, logsEach = true } = this.#options;
    const { observed, decision } = await this.#decide(key);
    const { shape, manifests } = decision;
    const isUnconfirmed = shape.kind === 'undecided' && shape.isUnconfirmed === true;
    const arePodsUnconfirmed = observed.arePodsUnconfirmed === true;
    if (isUnconfirmed) from.ask?.(key, 'service');
    // An answer is good for one attempt, which waits for both: what is tried again after a while is to be confirmed again.
    else if (observed.isConfirmed && !arePodsUnconfirmed) from.forgetAnswer?.(key, 'service');
    if (arePodsUnconfirmed) from.ask?.(key, 'pods');
    await giveWay(this.#turns);
    const pass = await this.#execute(manifests, observed.owned, retained(observed, shape), signal);
    if (pass.unreplaced.size > 0) {
      // It stays, and follows the gateway.
      const stay = (): Manifests => stayingAs(observed, this.#rendered, (name) => pass.unreplaced.has(name));
      const kept = await this.#inTurns(stay, (manifests) => manifests);
      await this.#execute(kept, observed.owned, () => true, signal);
    }
    const { source, log, metrics } = env;
    const refusal = refusalOf(decision, pass);
    await logPass(log, this.#turns, { link, service: key }, pass.done, {
      logsEach,
      wasMirrored: this.#statuses.get(key)?.mirrored === true,
      refusal,
    });
    countPass(metrics.target, cluster, pass.done);
    if (pass.done.some(({ of }) => of === SERVICES)) this.#changed(key);
    if (pass.namespaceInDoubt) source.recheck(observed.namespace);
    // Between two passes, and while nothing can be decided, the last status is kept.
    const isFinal = !signal.aborted && !pass.again && shape.kind !== 'undecided' && !pass.errors.some(isConflict);
    if (isFinal) this.#setStatus(key, statusOf(observed, shape, refusal, pass), pass.notes);
    const isPending = isUnconfirmed || arePodsUnconfirmed;
    // While there is more to do, pods that are gone must not come back.
    if (!pass.again && !isPending) from.forgetAnswer?.(key, 'pods');
    return { ...pass, isPending, requeueAfterMs: soonest([pass.requeueAfterMs, ...observed.departed.values()]) };
  }

  /** Decides about a Service as it is now. What takes long to render is rendered in several turns. */
  async #decide(key: string): Promise<{ readonly observed: Observed; readonly decision: Decision }> {
    const { from, env } = this.#options;
    return this.#inTurns(
      () => {
        const observed = from.observe(key);
        return { observed, decision: decide(observed, env.claims, this.#rendered) };
      },
      ({ decision }) => decision.manifests,
    );
  }

  /** Renders anew, each time in the next turn, until all is rendered: what was rendered before is remembered. */
  async #inTurns<T>(render: () => T, manifestsOf: (rendered: T) => Manifests): Promise<T> {
    for (;;) {
      const rendered = render();
      if (!manifestsOf(rendered).isUnfinished) return rendered;
      await this.#turns.next();
    }
  }

  async #reconcileProbe(signal: AbortSignal): Promise<Outcome & MirrorPass> {
    const { from, link, cluster, env, report } = this.#options;
    const manifests = from.probe();
    if (manifests === undefined) return NO_PASS;
    const owned = env.source.ownedBy({ cluster, key: PROBE_KEY });
    const pass = await this.#execute(manifests, owned, () => false, signal);
    const unnamed = { logsEach: false, wasMirrored: false, refusal: undefined };
    await logPass(env.log, this.#turns, { link, service: PROBE_KEY }, pass.done, unnamed);
    if ([...manifests.refusals, ...pass.refusals].some(({ reason }) => reason === 'NameConflict')) {
      const name = `${env.config.namespace}/${probeName(link)}`;
      const message = `Service ${name} exists and is not the probe Service of this Link; rename or delete it`;
      report.event('Warning', 'NameConflict', message);
    }
    return pass;
  }

  #changed(key: string): void {
    const { cluster, env } = this.#options;
    const { namespace, name } = splitKey(key);
    if (key !== PROBE_KEY) env.mirrorChanged?.(`${namespace}/${mirrorName(name, cluster)}`);
  }

  #execute(manifests: Manifests, owned: OwnedObjects, retain: Retain, signal: AbortSignal): Promise<MirrorPass> {
    const { conflictRetryMs = CONFLICT_RETRY_MS } = this.#options.env.tuning;
    return reconcile(manifests, owned, retain, { applier: this.#applier, conflictRetryMs }, signal);
  }

  #setStatus(key: string, status: MirrorStatus | undefined, notes: readonly string[]): void {
    const { link, cluster, env, report } = this.#options;
    const before = this.#statuses.get(key);
    if (status === undefined) this.#statuses.delete(key);
    else this.#statuses.set(key, status);
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
}

const NO_PASS: MirrorPass = {
  writes: 0,
  done: [],
  again: false,
  refusals: [],
  notes: [],
  errors: [],
  unreplaced: new Set(),
  namespaceInDoubt: false,
  requeueAfterMs: undefined,
};

/** Returns the least of these times that comes. */
function soonest(timesMs: readonly (number | undefined)[]): number | undefined {
  const least = timesMs.reduce<number>((a, b) => Math.min(a, b ?? Infinity), Infinity);
  return least === Infinity ? undefined : least;
}
