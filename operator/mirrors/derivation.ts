/**
 * The mirrors of one target cluster as they are derived: one key for each target Service, and one for the probe
 * Service. What is observed is supplied, as a value; the status of each key is kept here.
 */
import { probeName } from '../../crds/wire.ts';
import { isConflict } from '../kube/errors.ts';
import { enterClaims } from '../mirror/claims.ts';
import { decide, type Decision, refusalOf, statusOf } from '../mirror/decide.ts';
import { stayingAs } from '../mirror/desired.ts';
import type { Manifests } from '../mirror/manifests.ts';
import { goalOf, MIRROR_TEXTS } from '../mirror/goal.ts';
import type { NameClaims } from '../mirror/names.ts';
import type { Observed, OwnedObjects } from '../mirror/observed.ts';
import type { MirrorPass, Refusal } from '../mirror/reasons.ts';
import { Rendered, type SettledMirrors } from '../mirror/rendered.ts';
import { retained } from '../mirror/retain.ts';
import type { Shape } from '../mirror/shape.ts';
import type { MirrorStatus } from '../mirror/status.ts';
import type { Derivation } from '../runtime/derivation.ts';
import { type Outcome, soonest } from '../runtime/outcome.ts';
import type { Goal } from '../runtime/pass.ts';
import type { Turns } from '../runtime/turns.ts';
import { PROBE_KEY } from '../source/owner.ts';
import type { SourceStores } from '../source/stores.ts';
import type { NamespaceBudget } from '../source/write-scope.ts';
import type { Aspect, PodAnswers } from '../target/aspect.ts';

/** What a target is asked: for one Service, and for the pods behind it. */
export interface AskedTarget {
  readonly mirrored: Pick<Aspect<unknown>, 'ask' | 'forget'>;
  readonly pods: Pick<PodAnswers, 'ask' | 'forget'>;
}

/** Supplies what the mirrors of a cluster are made from. */
export interface MirrorSource {
  /** Returns the keys of all exported Services. */
  keys(): Iterable<string>;
  /** Returns everything that decides about one target Service. */
  observe(key: string): Observed;
  /** Is asked for what is observed; the key is added when it has answered. @default - what is observed is certain */
  readonly target?: AskedTarget | undefined;
  /** Returns the probe Service and its endpoints; undefined while it is not known what they must be. */
  probe(): Manifests | undefined;
  /** Learns which keys create their namespace. @default - none does */
  readonly budget?: Pick<NamespaceBudget, 'decided'> | undefined;
}

/** Who learns what becomes of the mirrors. */
export interface MirrorFollower {
  begins(key: string): void;
  /** @param refusal why the target Service is not mirrored; undefined if it is */
  wrote(key: string, pass: MirrorPass, refusal: Refusal | undefined): Promise<void>;
  /** @param isPending whether nothing more can be decided before the target has answered */
  settled(key: string, pass: MirrorPass, isPending: boolean): void;
  /** @param status undefined if the target Service is not exported, and no mirror of it is left */
  reported(
    key: string,
    status: MirrorStatus | undefined,
    before: MirrorStatus | undefined,
    notes: readonly string[],
  ): void;
  /** Somebody else's object has the name of the probe Service. */
  probeRefused(): void;
}

export interface MirrorDerivationOptions {
  /** Name of the Link that they are written for. */
  readonly link: string;
  readonly cluster: string;
  /** Namespace of the operator, where the probe Service is. */
  readonly namespace: string;
  readonly from: MirrorSource;
  readonly claims: NameClaims;
  readonly source: Pick<SourceStores, 'keysOf' | 'probesOf'>;
  readonly turns: Turns;
  /** @default - nobody */
  readonly follower?: MirrorFollower;
}

/** The probe Service, as it is. */
interface ObservedProbe {
  /** Undefined while it is not known what it must be. */
  readonly probe: Manifests | undefined;
  readonly owned: OwnedObjects;
}

/** What is known of a key: of a target Service, or of the probe Service. */
export type ObservedKey = Observed | ObservedProbe;

/** What a key must be; without a shape: the probe Service. */
export type DecidedKey = Decision | { readonly manifests: Manifests | undefined };

export class MirrorDerivation implements Derivation<ObservedKey, DecidedKey, Refusal> {
  readonly texts = MIRROR_TEXTS;
  /** Status of each target Service, by key. */
  readonly statuses = new Map<string, MirrorStatus>();
  /** Status that keys had before what is kept of them could not be put right. */
  readonly #before = new Map<string, MirrorStatus | undefined>();
  readonly #options: MirrorDerivationOptions;
  readonly #rendered: Rendered;

  constructor(options: MirrorDerivationOptions) {
    const { turns } = options;
    this.#options = options;
    this.#rendered = new Rendered({ isTurnOver: () => turns.isOver() });
  }

  begins(key: string): void {
    this.#options.follower?.begins(key);
  }

  /** Returns all keys that may need work: exported, mirrored, claiming a name or reported; and the probe Service. */
  keys(): ReadonlySet<string> {
    const { from, cluster, source, claims } = this.#options;
    const known = [...source.keysOf(cluster), ...claims.keysOf(cluster), ...this.statuses.keys()];
    return new Set([PROBE_KEY, ...from.keys(), ...known]);
  }

  observe(key: string): ObservedKey {
    const { from, link, cluster, source } = this.#options;
    return key === PROBE_KEY ? { probe: from.probe(), owned: source.probesOf(cluster, link) } : from.observe(key);
  }

  decide(observed: ObservedKey): DecidedKey {
    if ('probe' in observed) {
      this.#claimProbeName();
      return { manifests: observed.probe };
    }
    return decide(observed, enterClaims(observed, this.#options.claims), this.#rendered);
  }

  /** Claims the name of the probe Service, so that its key is enqueued when somebody else's object gives the name up. */
  #claimProbeName(): void {
    const { link, cluster, namespace, claims } = this.#options;
    const owner = { cluster, key: PROBE_KEY };
    claims.replace(owner, namespace, [{ owner, names: [probeName(link)], since: '' }]);
  }

  decided(key: string, decision: DecidedKey): void {
    if (!('shape' in decision)) return;
    this.#options.from.budget?.decided('mirror', key, decision.manifests.namespaces.length > 0);
  }

  isUnfinished({ manifests }: DecidedKey): boolean {
    return manifests?.isUnfinished === true;
  }

  prepare(key: string, observed: ObservedKey, decision: DecidedKey): undefined {
    if ('probe' in observed || !('shape' in decision)) return;
    const { target } = this.#options.from;
    if (isUnconfirmed(decision)) target?.mirrored.ask(key);
    // An answer is good for one attempt, which waits for both: what is tried again after a while is to be confirmed
    // again.
    else if (observed.isConfirmed && observed.arePodsUnconfirmed !== true) target?.mirrored.forget(key);
    if (observed.arePodsUnconfirmed === true) target?.pods.ask(key);
  }

  goal(observed: ObservedKey, decision: DecidedKey): Goal {
    const { manifests } = decision;
    if (manifests === undefined) return NO_GOAL;
    if ('probe' in observed || !('shape' in decision)) return goalOf(manifests, observed.owned);
    return {
      ...goalOf(manifests, observed.owned, retained(observed, decision.shape), this.#settledOf(observed)),
      // It stays, and follows the gateway.
      unreplaced: async (names) => goalOf(await this.#staying(observed, names), observed.owned, () => true),
    };
  }

  async wrote(key: string, _: ObservedKey, decision: DecidedKey, pass: MirrorPass): Promise<void> {
    const refusal = 'shape' in decision ? refusalOf(decision, pass) : undefined;
    await this.#options.follower?.wrote(key, pass, refusal);
  }

  settled(key: string, observed: ObservedKey, decision: DecidedKey, pass: MirrorPass): Outcome {
    const { from, follower } = this.#options;
    if ('probe' in observed || !('shape' in decision)) {
      const refusals = [...(decision.manifests?.refusals ?? []), ...pass.refusals];
      if (refusals.some(({ reason }) => reason === 'NameConflict')) follower?.probeRefused();
      follower?.settled(key, pass, false);
      return {};
    }
    const { shape } = decision;
    if (!pass.errors.some(isConflict)) {
      const refusal = refusalOf(decision, pass);
      const status = (): MirrorStatus | undefined => statusOf(observed, shape, refusal, pass);
      if (shape.kind !== 'undecided') this.#decided(key, status(), pass.notes);
      else if (refusal !== undefined || pass.errors.length > 0) this.#keptWrong(key, status());
      else this.#keptRight(key);
    }
    const isPending = isUnconfirmed(decision) || observed.arePodsUnconfirmed === true;
    // While there is more to do, pods that are gone must not come back.
    if (!isPending) from.target?.pods.forget(key);
    follower?.settled(key, pass, isPending || lacksEndpoints(observed, shape));
    return { isPending, requeueAfterMs: soonest(observed.departed.values()) };
  }

  #decided(key: string, status: MirrorStatus | undefined, notes: readonly string[]): void {
    this.#before.delete(key);
    this.#report(key, status, notes);
  }

  /** What is kept while nothing can be decided could not be put right (rule C3). */
  #keptWrong(key: string, status: MirrorStatus | undefined): void {
    if (!this.#before.has(key)) this.#before.set(key, this.statuses.get(key));
    this.#report(key, status, []);
  }

  /** While nothing can be decided, the last status is kept. */
  #keptRight(key: string): void {
    if (!this.#before.has(key)) return;
    const before = this.#before.get(key);
    this.#before.delete(key);
    this.#report(key, before, []);
  }

  #report(key: string, status: MirrorStatus | undefined, notes: readonly string[]): void {
    const before = this.statuses.get(key);
    if (status === undefined) this.statuses.delete(key);
    else this.statuses.set(key, status);
    this.#options.follower?.reported(key, status, before, notes);
  }

  #settledOf({ namespace, name }: Observed): SettledMirrors | undefined {
    return this.#rendered.settledOf(`${namespace}/${name}`);
  }

  /**
   * What could not be replaced, as it must be in the form that it has. What takes long to render is rendered in several
   * turns.
   */
  async #staying(observed: Observed, names: ReadonlySet<string>): Promise<Manifests> {
    for (;;) {
      const manifests = stayingAs(observed, this.#rendered, names);
      if (!manifests.isUnfinished) return manifests;
      await this.#options.turns.next();
    }
  }
}

const isUnconfirmed = ({ shape }: Decision): boolean => shape.kind === 'undecided' && shape.isUnconfirmed === true;

/**
 * Whether a mirror is new, and has no endpoints since those of the target have yet to be listed: nothing leads
 * anywhere.
 */
const lacksEndpoints = ({ owned }: Observed, shape: Shape): boolean =>
  (shape.kind === 'clusterIP' || shape.kind === 'headless') &&
  shape.endpoints === undefined &&
  owned.endpoints.length + owned.slices.length === 0;

const NO_GOAL: Goal = { steps: [], isPartial: false, isBlocked: false };
