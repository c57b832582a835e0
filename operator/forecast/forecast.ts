/**
 * What the operator would write, without writing it: its own steps (observe, decide, plan, execute) are made against a
 * model of the source cluster, one after the other, until nothing is left to do.
 */
import type { OperatorConfig } from '../config/config.ts';
import { SERVICE_FAILOVERS } from '../failover/kinds.ts';
import type { Resource } from '../kube/objects.ts';
import { SERVICE_IMPORTS } from '../mcs/objects.ts';
import { NameClaims } from '../mirror/names.ts';
import type { MirrorStatus } from '../mirror/status.ts';
import type { Why } from '../runtime/derivation.ts';
import { idOf } from '../runtime/plan.ts';
import { PROBE_KEY } from '../source/owner.ts';
import { FailoverForecast } from './failovers.ts';
import { type FederationFacts, FederationForecast } from './federation.ts';
import { type ImportFacts, ImportForecast } from './imports.ts';
import type { ModelCluster, Touched } from './model.ts';
import { type LeftCluster, type LinkForecast, type Party, Removed, Served, type ServedLink } from './party.ts';
import type { Stepping } from './steps.ts';

export type { LeftCluster, LinkForecast, ServedLink } from './party.ts';

export interface ForecastOptions {
  readonly config: OperatorConfig;
  readonly model: ModelCluster;
  readonly serve: readonly ServedLink[];
  readonly remove: readonly LeftCluster[];
  readonly federation: FederationFacts;
  /** @default - the MCS API is left alone */
  readonly imports?: ImportFacts | undefined;
}

/** An object that would be created, changed, replaced or deleted, and why. */
export interface ForecastChange extends Touched {
  /** What it is: `mirror`, `federated`, `import` or `failover`. */
  readonly sort: string;
  /** Why it is created or deleted; undefined for mirrors, whose status says it. */
  readonly why: Why | undefined;
  /** Empty for what is not a mirror: it is of all Links. */
  readonly link: string;
  /** Empty for what is not a mirror. */
  readonly cluster: string;
  /**
   * `namespace/name` of the target Service, or of the members, the exports or the ServiceFailover; undefined for what
   * is the Link's own, such as its probe Service.
   */
  readonly service: string | undefined;
  /** Why the Service is not mirrored, if it is not; undefined if it is mirrored, or no longer exported. */
  readonly status: MirrorStatus | undefined;
}

/** Why an object, such as a ServiceImport or a ServiceFailover, cannot work as it should. */
export interface ForecastFinding {
  readonly of: Resource;
  /** `namespace/name`. */
  readonly key: string;
  readonly reason: string;
  readonly message: string;
}

export interface Forecast {
  readonly changes: readonly ForecastChange[];
  readonly links: readonly LinkForecast[];
  readonly findings: readonly ForecastFinding[];
}

/** Rounds over what may still change; each follows what the one before has written. */
const MAX_ROUNDS = 20;

/** Makes the operator's steps until nothing is left to do. */
export async function forecast(options: ForecastOptions): Promise<Forecast> {
  const { config, model, serve, remove, federation } = options;
  const { mayHaveLink, isDiscoverable } = federation;
  const imports = options.imports && (await ImportForecast.of(config, model, options.imports, federation));
  const claims = new NameClaims();
  model.stores.subscribeNames((namespace, name, by) => claims.passedOn(namespace, name, by));
  const context = { config, model, claims, isDiscoverable, imports };
  const served = serve.map((link) => new Served(link, context));
  const parties: readonly Party[] = [...remove.map((left) => new Removed(left, context)), ...served];
  const federations = new FederationForecast(config, model, federation, served);
  const failovers = await FailoverForecast.of(config, model, served, mayHaveLink);
  for (const party of parties) party.begin();
  const ofAllLinks = [federations.steps, imports?.steps, failovers?.steps].filter((each) => each !== undefined);
  const origins = await settleAll(model, [
    ...parties.map((party) => ({ steps: party.steps, party })),
    ...ofAllLinks.map((steps) => ({ steps })),
  ]);
  return {
    changes: model.touched.flatMap((touched) => changeOf(touched, origins)),
    links: served.map((party) => party.outcome(federations.statuses.get(party.cluster)?.values() ?? [])),
    findings: [
      ...[...(imports?.findings ?? [])].map(([key, finding]) => ({ ...finding, of: SERVICE_IMPORTS, key })),
      ...[...(failovers?.findings ?? [])].flatMap(([key, found]) =>
        found.map((finding) => ({ ...finding, of: SERVICE_FAILOVERS, key })),
      ),
    ],
  };
}

/** What an object was written for. */
interface Origin {
  readonly steps: Stepping;
  /** Undefined for what is of all Links. */
  readonly party?: Party;
  readonly key: string;
}

/** Returns what each object that was written was written for last, by its id. */
async function settleAll(
  model: ModelCluster,
  all: readonly Omit<Origin, 'key'>[],
): Promise<ReadonlyMap<string, Origin>> {
  const origins = new Map<string, Origin>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = model.writes;
    for (const each of all) {
      for (const key of each.steps.takeKeys()) {
        for (const id of await each.steps.settle(key)) origins.set(id, { ...each, key });
      }
    }
    if (model.writes === before && !all.some(({ steps }) => steps.isDue)) break;
  }
  return origins;
}

function changeOf(touched: Touched, origins: ReadonlyMap<string, Origin>): readonly ForecastChange[] {
  const { before, after, of } = touched;
  const object = after ?? before;
  const origin = object && origins.get(idOf(of, object));
  if (origin === undefined) return [];
  const { party, key, steps } = origin;
  const said = { sort: steps.sort, why: steps.why(key, of) };
  if (party === undefined) return [{ ...touched, ...said, link: '', cluster: '', service: key, status: undefined }];
  const { link, cluster } = party;
  const service = key === PROBE_KEY ? undefined : key;
  return [{ ...touched, ...said, link, cluster, service, status: party.statusOf(key) }];
}
