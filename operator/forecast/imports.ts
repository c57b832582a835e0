/**
 * What would become of ServiceImports (rules K1 to K5): what the operator derives, of what the source cluster and the
 * targets of Links export by the MCS API.
 */
import type { OperatorConfig } from '../config/config.ts';
import type { IpFamily } from '../kube/objects.ts';
import { ImportDerivation } from '../mcs/derivation.ts';
import { observeLocalExport } from '../mcs/exporter.ts';
import { SERVICE_IMPORTS, type ServiceImport } from '../mcs/objects.ts';
import { ImportParties } from '../mcs/parties.ts';
import type { ImportParty } from '../mcs/party.ts';
import type { ImportReport } from '../mcs/report.ts';
import { formerExporter } from '../mcs/session-party.ts';
import { KEPT } from '../mcs/watched.ts';
import type { Refusal } from '../mirror/reasons.ts';
import { importOf } from '../source/owner.ts';
import { ALWAYS_GONE, NO_PODS } from '../target/aspect.ts';
import { readLocalSlice } from '../target/read/objects.ts';
import type { FederationFacts } from './federation.ts';
import { type ExportLists, ListedExports } from './listed-exports.ts';
import type { ListedKind } from './listed-kind.ts';
import type { ModelCluster } from './model.ts';
import { SILENT, type Stepping, Steps } from './steps.ts';

/** What is known of ServiceImports beside the Links that are served. */
export interface ImportFacts {
  /** What the source cluster itself exports. */
  readonly local: ExportLists;
  /** IP families of the source cluster, the preferred one first. */
  readonly families: ReadonlySet<IpFamily>;
  /** Clusters whose exports count, by their Links; and those of them whose Links are, or are to be, served. */
  readonly exporting: readonly string[];
  readonly serving: readonly string[];
}

/** What is known of the Links that are not forecast. */
type LinkFacts = Pick<FederationFacts, 'mayHaveLink' | 'isLinked'>;

/** Why a Service is not imported as it should be. */
export type ImportFinding = Pick<Refusal, 'message'> & { readonly reason: string };

export class ImportForecast {
  /** By `namespace/name`. */
  readonly #said = new Map<string, ImportFinding>();
  readonly #refused = new Map<string, ImportFinding>();
  readonly #parties: ImportParties;
  readonly #derivation: ImportDerivation;
  readonly steps: Stepping;

  static async of(
    config: OperatorConfig,
    model: ModelCluster,
    facts: ImportFacts,
    links: LinkFacts,
  ): Promise<ImportForecast> {
    return new ImportForecast(config, model, await model.kind(SERVICE_IMPORTS, KEPT), facts, links);
  }

  private constructor(
    config: OperatorConfig,
    model: ModelCluster,
    watched: ListedKind<ServiceImport>,
    { local, families, exporting, serving }: ImportFacts,
    { mayHaveLink, isLinked }: LinkFacts,
  ) {
    const { stores: source } = model;
    this.#parties = new ImportParties({
      local: { ...CERTAIN, ...exportedBy(new ListedExports(local, readLocalSlice)) },
      mayHaveLink,
      isLinked,
      exporting: () => exporting,
      serving: () => serving,
      // What is gone keeps its part for a while; the forecast is of the time after it.
      podGraceMs: 0,
      settleMs: 0,
    });
    this.#derivation = new ImportDerivation({
      env: { config, source, families, tuning: {}, client: model, log: SILENT },
      watched,
      parties: this.#parties,
      report: this.#report(),
    });
    const steps = new Steps({
      ...{ sort: 'import', derivation: this.#derivation, model },
      isOurs: (object) => importOf(object) !== undefined,
      waiting: () => this.findings.keys(),
    });
    this.steps = steps;
    source.subscribeImports((key) => steps.add(key));
  }

  /** Lets the target of a Link take part. */
  join(party: Omit<ImportParty, keyof typeof CERTAIN>): void {
    this.#parties.join({ ...CERTAIN, ...party });
  }

  /** Lets a cluster take part that no Link has any more. */
  joinFormer(cluster: string): void {
    this.#parties.join(formerExporter(cluster, { imports: this }));
  }

  /** Returns the keys of the ServiceImports that a target cluster has a part in. */
  partsOf(cluster: string): ReadonlySet<string> {
    return this.#derivation.partsOf(cluster);
  }

  /** What keeps Services from being imported as they should be, by `namespace/name`. */
  get findings(): ReadonlyMap<string, ImportFinding> {
    return new Map([...this.#refused, ...this.#said]);
  }

  /** Notes what would be reported. */
  #report(): Pick<ImportReport, 'wrote' | 'leave' | 'say' | 'report'> {
    const note = (notes: Map<string, ImportFinding>, key: string, finding: ImportFinding | undefined): void => {
      if (finding === undefined) notes.delete(key);
      else notes.set(key, finding);
    };
    return {
      wrote: () => undefined,
      leave: (key) => note(this.#refused, key, undefined),
      say: (key, obstacle) => note(this.#said, key, obstacle),
      report: (key, { decision: { refusal } }) => {
        note(this.#refused, key, refusal);
        return Promise.resolve({});
      },
    };
  }
}

/** What lists say is certain, and all that is ever known. */
const CERTAIN = {
  sinceMs: -Infinity,
  exports: ALWAYS_GONE,
  pods: NO_PODS,
  read: () => undefined,
} as const;

const exportedBy = (listed: ListedExports) => ({
  claimedId: listed.claimedId,
  keys: () => listed.keys(),
  observe: (key: string) => observeLocalExport(key, listed),
});
