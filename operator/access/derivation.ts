/**
 * Derives the policy of the gateway (rules M2 to M5): from the exports and the existing objects of the policy to the
 * objects that are written, and to the reports about the exports. There is one key, the gateway.
 */
import type { OperatorConfig } from '../config/config.ts';
import { Default } from '../../crds/wire.ts';
import { isConflict } from '../kube/errors.ts';
import { keyOf } from '../kube/objects.ts';
import type { Derivation } from '../runtime/derivation.ts';
import type { Outcome } from '../runtime/outcome.ts';
import type { Goal } from '../runtime/pass.ts';
import type { Pass, PassTexts, Reason } from '../runtime/tally.ts';
import { isExportedHere } from '../source/owner.ts';
import type { SourceStores } from '../source/stores.ts';
import { type AccessDecision, decideAccess, type ObservedAccess } from './decide.ts';
import { type Export, type GatewayAccess, readExports } from './exports.ts';
import { ACCESS_ROUTES, AUTHENTICATIONS, AUTHORIZATIONS, isForAnyClient, isOurs, NETWORKS } from './objects.ts';
import type { AccessReport } from './report.ts';
import type { WatchedAccess } from './watched.ts';

/** Everything that the policy depends on; undefined until all of it has been read. */
export type ObservedGateway = ObservedAccess | undefined;

export interface AccessDerivationOptions {
  readonly config: Pick<
    OperatorConfig,
    'namespace' | 'clusterDomain' | 'trustDomain' | 'controlPlaneNamespace' | 'gatewayTcp'
  >;
  readonly mode: GatewayAccess;
  readonly source: Pick<SourceStores, 'services' | 'exportedServices'>;
  readonly watched: WatchedAccess;
  readonly report: AccessReport;
}

const TEXTS: PassTexts<Reason> = {
  foreign: (kind, name) => ({
    reason: 'NameTaken',
    message: `${kind} ${name} is not Linkspan's, and has a name that it needs: delete it`,
  }),
  contested: (object) => ({ reason: 'Contested', message: `somebody keeps changing ${object}` }),
  vanished: (namespace) => ({ reason: 'MissingNamespace', message: `namespace ${namespace} is gone` }),
  refusedName: (kind, name) => ({ reason: 'InvalidName', message: `the API server refuses ${kind} ${name}` }),
  added: (object, keys) => `somebody keeps adding ${keys.join(', ')} to ${object}`,
};

export class AccessDerivation implements Derivation<ObservedGateway, AccessDecision | undefined> {
  readonly texts = TEXTS;
  readonly key: string;
  readonly #options: AccessDerivationOptions;

  constructor(options: AccessDerivationOptions) {
    this.#options = options;
    this.key = `${options.config.namespace}/${Default.gatewayName}`;
  }

  keys(): Iterable<string> {
    return [this.key];
  }

  observe(): ObservedGateway {
    const { config, mode, source, watched } = this.#options;
    if (!watched.isRead || !source.services.synced) return undefined;
    const authentications = [...watched.authentications.store.values()];
    return {
      mode,
      tcp: config.gatewayTcp,
      namespace: config.namespace,
      hasServer: watched.servers.store.size > 0,
      exports: [...this.#exports()],
      routes: [...watched.routes.store.values()].filter(isOurs),
      authentications: authentications.filter(isOurs),
      everyone: new Set(authentications.filter(isForAnyClient).map(({ metadata }) => metadata.name)),
      authorizations: [...watched.authorizations.store.values()],
      networks: [...watched.networks.store.values()],
    };
  }

  decide(observed: ObservedGateway): AccessDecision | undefined {
    return observed && decideAccess(observed);
  }

  goal(observed: ObservedGateway, decision: AccessDecision | undefined): Goal {
    const whole = { isPartial: false, isBlocked: false };
    if (observed === undefined || decision === undefined) return { steps: [], ...whole };
    const { authentications, authorizations, networks, routes } = observed;
    const kinds = [
      [NETWORKS, networks.filter(isOurs)],
      [AUTHENTICATIONS, authentications],
      [AUTHORIZATIONS, authorizations.filter((each) => isOurs(each) || decision.removable.has(each))],
      [ACCESS_ROUTES, routes],
    ] as const;
    const steps = kinds.map(([of, objects], at) => {
      return { desired: decision.steps[at] ?? [], owned: [{ of, objects }] };
    });
    return { steps, ...whole, retain: (_of, object) => !decision.removable.has(object) };
  }

  settled(_key: string, observed: ObservedGateway, decision: AccessDecision | undefined, pass: Pass<Reason>): Outcome {
    const { report, watched } = this.#options;
    if (observed === undefined || decision === undefined) {
      report.unread(watched.unreadable, () => this.#exports());
      return {};
    }
    // After a write, further objects may have to be written or deleted.
    if (pass.writes > 0) return { again: true };
    // After a conflict, the observed state was out of date. The next reconcile, which sees a newer state, reports.
    if (!pass.errors.some(isConflict)) report.report(observed, decision, pass);
    return {};
  }

  /**
   * Reports whether a Service is exported: by a ServiceExport, even if the Service does not exist, or by its labels.
   */
  isExported(key: string): boolean {
    const { source, watched } = this.#options;
    const service = source.services.get(key);
    return watched.exports.store.get(key) !== undefined || (service !== undefined && isExportedHere(service));
  }

  /** Returns the keys of the Services that are exported by their labels. */
  exportedKeys(): readonly string[] {
    return this.#options.source.exportedServices().map(keyOf);
  }

  /** Returns the exports of this cluster, by labels or by ServiceExports. */
  #exports(): Iterable<Export> {
    const { config, mode, source, watched } = this.#options;
    const serviceExports = new Map([...watched.exports.store.values()].map((each) => [keyOf(each), each]));
    const services = new Map(source.exportedServices().map((service) => [keyOf(service), service]));
    for (const key of serviceExports.keys()) {
      const service = source.services.get(key);
      if (service !== undefined) services.set(key, service);
    }
    return readExports(services.values(), serviceExports, mode, config);
  }
}
