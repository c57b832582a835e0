/**
 * Keeps the policy of this cluster's gateway, which decides who may come through the gateway (rules M2 to M7). Watches
 * everything that the policy depends on, and reconciles the objects of the policy.
 */
import { OPEN, isOurs, setOf } from './objects.ts';
import { DerivationController } from '../runtime/derivation.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { Reason } from '../runtime/tally.ts';
import { deriving, type DerivingEnvironment } from '../served/deriving.ts';
import { type SharedEnvironment, turnOf } from '../served/environment.ts';
import type { AccessDecision } from './decide.ts';
import { AccessDerivation, type ObservedGateway } from './derivation.ts';
import type { GatewayAccess as Mode } from './exports.ts';
import { AccessReport } from './report.ts';
import { type AccessListener, WatchedAccess } from './watched.ts';

type AccessEnvironment = DerivingEnvironment & Pick<SharedEnvironment, 'interruptions'>;

export interface GatewayAccessOptions {
  readonly env: AccessEnvironment;
  readonly mode: Mode;
  readonly events: Pick<EventRecorder, 'record'>;
}

export class GatewayAccess implements AccessListener {
  readonly #env: AccessEnvironment;
  readonly #watched: WatchedAccess;
  readonly #derivation: AccessDerivation;
  readonly #controller: DerivationController<ObservedGateway, AccessDecision | undefined, Reason>;

  constructor({ env, mode, events }: GatewayAccessOptions) {
    const { client, config, tuning, interruptions, log, source, metrics } = env;
    this.#env = env;
    this.#watched = new WatchedAccess({
      client,
      namespace: config.namespace,
      timings: tuning.sourceTimings,
      interruptions,
      log,
      listener: this,
    });
    const { routes, authentications, authorizations, networks } = this.#watched;
    this.#derivation = new AccessDerivation({
      config,
      mode,
      source,
      watched: this.#watched,
      report: new AccessReport({ source, metrics, events, log }),
    });
    this.#controller = new DerivationController({
      ...deriving(env, {
        name: 'gateway-access',
        turn: turnOf('access'),
        isOurs: (object) => isOurs(object) || setOf(object) === OPEN,
        stores: {
          httproutes: routes.store,
          meshtlsauthentications: authentications.store,
          authorizationpolicies: authorizations.store,
          networkauthentications: networks.store,
        },
      }),
      derivation: this.#derivation,
    });
  }

  /**
   * Reconciles the policy until the signal aborts and the reconcile under way has ended. The policy stays in the
   * cluster.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { source } = this.#env;
    const exported = new Set<string>();
    const unsubscribe = source.subscribeServices((key) => {
      const is = this.#derivation.isExported(key);
      if (is || exported.has(key)) this.accessChanged();
      if (is) exported.add(key);
      else exported.delete(key);
    });
    for (const key of this.#derivation.exportedKeys()) exported.add(key);
    this.accessChanged();
    await Promise.all([this.#watched.run(signal), this.#controller.run(signal)]);
    unsubscribe();
    await this.#controller.forget();
  }

  /** Resolves when nothing is being reconciled. */
  idle(): Promise<void> {
    return this.#controller.idle();
  }

  accessChanged(): void {
    this.#controller.add(this.#derivation.key);
  }
}
