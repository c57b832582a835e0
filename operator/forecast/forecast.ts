/**
 * What the operator would write, without writing it: its own steps (observe, decide, plan, execute) are made against a
 * model of the source cluster, one after the other, until nothing is left to do.
 */
import type { OperatorConfig } from '../config/config.ts';
import { NameClaims } from '../mirror/names.ts';
import type { MirrorStatus } from '../mirror/status.ts';
import { idOf } from '../runtime/plan.ts';
import { PROBE_KEY } from '../source/owner.ts';
import { type FederationFacts, FederationForecast } from './federation.ts';
import type { ModelCluster, Touched } from './model.ts';
import { type LeftCluster, type LinkForecast, type Party, Removed, Served, type ServedLink } from './party.ts';

export type { LeftCluster, LinkForecast, ServedLink } from './party.ts';

export interface ForecastOptions {
  readonly config: OperatorConfig;
  readonly model: ModelCluster;
  readonly serve: readonly ServedLink[];
  readonly remove: readonly LeftCluster[];
  readonly federation: FederationFacts;
}

/** An object that would be created, changed, replaced or deleted, and why. */
export interface ForecastChange extends Touched {
  /** Empty for a federated Service, which is of all Links. */
  readonly link: string;
  /** Empty for a federated Service. */
  readonly cluster: string;
  /** Whether it is of a federated Service. */
  readonly isFederated: boolean;
  /** `namespace/name` of the target Service; undefined for what is the Link's own, such as its probe Service. */
  readonly service: string | undefined;
  /** Why the Service is not mirrored, if it is not; undefined: it is mirrored, or no longer exported. */
  readonly status: MirrorStatus | undefined;
}

export interface Forecast {
  readonly changes: readonly ForecastChange[];
  readonly links: readonly LinkForecast[];
}

/** Rounds over what may still change; each follows what the one before has written. */
const MAX_ROUNDS = 20;
/** Makes the operator's steps until nothing is left to do. */
export async function forecast({ config, model, serve, remove, federation }: ForecastOptions): Promise<Forecast> {
  const claims = new NameClaims();
  const origins = new Map<string, { readonly party: Party; readonly key: string }>();
  const context = { config, model, claims, isDiscoverable: federation.isDiscoverable };
  const served = serve.map((link) => new Served(link, context));
  const parties: readonly Party[] = [...remove.map((left) => new Removed(left, context)), ...served];
  const federations = new FederationForecast(config, model, federation, served);
  const federated = new Map<string, string>();
  // All claims are entered before any is acted on, as after a list (rule A7).
  for (const party of parties) party.enterClaims();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = model.writes;
    for (const party of parties) {
      for (const key of party.takeKeys()) {
        for (const id of await party.settle(key)) origins.set(id, { party, key });
      }
    }
    for (const key of federations.takeKeys()) {
      for (const id of await federations.settle(key)) federated.set(id, key);
    }
    if (model.writes === before && ![...parties, federations].some(({ isDue }) => isDue)) break;
  }
  const changes = model.touched.flatMap((touched): readonly ForecastChange[] => {
    const { before, after, of } = touched;
    const object = after ?? before;
    const origin = object && origins.get(idOf(of, object));
    const federatedKey = object && federated.get(idOf(of, object));
    if (federatedKey !== undefined) {
      return [{ ...touched, link: '', cluster: '', service: federatedKey, isFederated: true, status: undefined }];
    }
    const { party, key } = origin ?? {};
    if (party === undefined || key === undefined) return [];
    const service = key === PROBE_KEY ? undefined : key;
    const status = party.statuses.get(key);
    return [{ ...touched, link: party.link, cluster: party.cluster, service, isFederated: false, status }];
  });
  return {
    changes,
    links: served.map((party) => party.outcome(federations.statuses.get(party.cluster)?.values() ?? [])),
  };
}
