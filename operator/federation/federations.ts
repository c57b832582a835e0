/**
 * The controller of federated Services. Clusters join as parties, and report the Services from which the federated
 * Services are made.
 */
import type { FederationDecision } from './decide.ts';
import { FederationDerivation, isOfFederation, type Participants } from './derivation.ts';
import type { ObservedFederation } from './observed.ts';
import type { Federation, FederationParty } from './party.ts';
import { splitKey } from '../kube/objects.ts';
import type { Refusal } from '../mirror/reasons.ts';
import { DerivationController } from '../runtime/derivation.ts';
import { deriving, type DerivingEnvironment } from '../served/deriving.ts';
import { turnOf } from '../served/environment.ts';
import type { DiscoveryListener } from '../source/discovery.ts';
import type { SourceNamespaceState } from '../source/namespaces.ts';

export interface FederationsOptions extends Omit<Participants, 'parties'> {
  readonly env: DerivingEnvironment;
}

export class Federations implements Federation, DiscoveryListener {
  readonly #options: FederationsOptions;
  readonly #derivation: FederationDerivation;
  readonly #controller: DerivationController<ObservedFederation, FederationDecision, Refusal>;
  readonly #parties = new Map<string, FederationParty>();

  constructor(options: FederationsOptions) {
    const { env } = options;
    this.#options = options;
    const how = deriving(env, {
      name: 'federation',
      turn: turnOf('federation'),
      isOurs: isOfFederation,
    });
    this.#derivation = new FederationDerivation({
      ...options,
      parties: this.#parties,
      awaitedRetryMs: how.conflictRetryMs,
    });
    this.#controller = new DerivationController({ ...how, derivation: this.#derivation });
  }

  join(party: FederationParty): void {
    if (this.#parties.has(party.cluster)) throw new Error(`cluster ${party.cluster} already takes part in federations`);
    this.#parties.set(party.cluster, party);
    for (const key of party.keys()) this.add(key);
  }

  leave(cluster: string): void {
    if (this.#parties.delete(cluster)) void this.interrupt();
  }

  underWayOf(cluster: string): readonly string[] {
    return this.#controller.underWay(({ admission }) =>
      admission.members.some(({ target }) => target?.link.cluster === cluster),
    );
  }

  add(key: string): void {
    this.#controller.add(key);
  }

  /**
   * Reconciles all keys. Called in these cases:
   * - The controller starts.
   * - The local Services that are selected as members, or their slices, were listed anew.
   * - The Secrets with the control plane's credentials were listed anew.
   */
  addAll(): void {
    this.#controller.addAll();
  }

  /**
   * Reconciles the keys of one cluster. Called when a Link that names the cluster, or named it before, was created,
   * changed or deleted, and when the control plane may have gained or lost credentials of the cluster.
   */
  addOf(cluster: string): void {
    const { source } = this.#options.env;
    const keys = this.#parties.get(cluster)?.keys() ?? [];
    for (const key of new Set([...source.membershipsOf(cluster), ...keys])) this.add(key);
  }

  /**
   * Reconciles the keys of a namespace in the source cluster. Called when the namespace was created or deleted, or
   * became readable or unreadable. If it is gone, also reconciles all keys that are not settled
   * ({@link FederationDerivation.isSettled}).
   */
  namespaceChanged(namespace: string, state: SourceNamespaceState): void {
    // The number of namespaces that are created for a target is limited. A deleted namespace can make room for one that
    // a waiting key needs.
    const isWaiting = (key: string): boolean => state === 'missing' && !this.#derivation.isSettled(key);
    for (const key of this.#controller.keys()) {
      if (splitKey(key).namespace === namespace || isWaiting(key)) this.add(key);
    }
  }

  interrupt(reason: unknown = new Error('a Lease was acquired or given up')): Promise<void> {
    return this.#controller.interrupt(reason);
  }

  /** Reconciles until the signal aborts. Resolves when the reconciles under way have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const unsubscribe = this.#options.env.source.subscribeFederations((key) => this.add(key));
    this.addAll();
    await this.#controller.run(signal);
    unsubscribe();
    await this.#controller.forget();
  }

  /** Resolves when no key waits for a worker or is being reconciled. */
  idle(): Promise<void> {
    return this.#controller.idle();
  }
}
