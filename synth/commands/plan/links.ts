/** What the operator would do for Links: which of them it would serve, what it would remove, and the forecast of both. */
import { type LinkSettings, LinkApi } from '../../../crds/index.ts';
import {
  acceptedOf,
  assignmentOf,
  exportingClusters,
  type FederationFacts,
  forecast,
  type Forecast,
  importingClusters,
  type LeftCluster,
  overlapping,
  ownerOf,
  seniorityOf,
  type ServedLink,
} from '../../../operator/forecast/index.ts';
import { CommandError } from '../common/command-error.ts';
import type { Source } from './source.ts';

/** A Link that would not be served. */
export interface Refused {
  readonly link: string;
  /** As condition `Accepted` has them. */
  readonly reason: string;
  readonly message: string;
}

export interface Plan extends Forecast {
  readonly refused: readonly Refused[];
}

/** Reads the target of a Link. */
export type ReadTarget = (settings: LinkSettings) => Promise<ServedLink>;

/**
 * Plans Links.
 * @param names of the Links, which {@link Source.links} has
 * @param note called with what the user should know of the plan
 */
export const planLinks = async (
  source: Source,
  names: readonly string[],
  readTarget: ReadTarget,
  note: (text: string) => void,
): Promise<Plan> => {
  const { reads, served, config, model } = source;
  const refused: Refused[] = [];
  const settings: LinkSettings[] = [];
  const remove: LeftCluster[] = [];
  for (const name of names) {
    const read = reads.get(name);
    const cluster = read?.settings?.cluster ?? read?.named;
    if (read === undefined || cluster === undefined) continue;
    const assignment = assignmentOf(cluster, reads, served);
    if (assignment.do === 'serve' && assignment.settings.name === name) settings.push(assignment.settings);
    else {
      const { reason, message } = acceptedOf(read, ownerOf(cluster, reads.values(), served));
      refused.push({ link: name, reason, message });
    }
    const former = served.get(name);
    if (former !== undefined && former !== cluster && assignmentOf(former, reads, served).do === 'remove') {
      remove.push({ cluster: former, link: name });
    }
  }
  const serve: ServedLink[] = [];
  for (const each of settings) serve.push(await readTarget(each));
  for (const each of rivals(source, names)) {
    // What it claims may change what the Links get, and the other way round.
    const rival = await readTarget(each).catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      note(
        `Link ${each.name} can want the same names, and is left out, since its target cannot be read: ${error.message}`,
      );
      return undefined;
    });
    if (rival !== undefined) serve.push(rival);
  }
  const isForecast = (cluster: string): boolean => serve.some(({ settings: each }) => each.cluster === cluster);
  const isLeft = (cluster: string): boolean =>
    [...served.values()].includes(cluster) && assignmentOf(cluster, reads, served).do === 'remove';
  // A cluster that is not known here may have a Link elsewhere.
  const mayHaveLink = (cluster: string): boolean => !isLeft(cluster) && !isForecast(cluster);
  const met = new Set([...[...reads.values()].map(({ named }) => named), ...served.values()]);
  const federation: FederationFacts = {
    ...source.federation,
    mayHaveLink,
    isLinked: (cluster) => met.has(cluster),
    seniorityOf: (cluster) => seniorityOf(cluster, reads.values(), served),
  };
  const imports = source.imports && {
    ...source.imports,
    families: source.families,
    exporting: exportingClusters(reads.values()),
    serving: importingClusters(reads, served),
  };
  return { ...(await forecast({ config, model, serve, remove, federation, imports })), refused };
};

/** Links beside those that are planned whose mirrors can want the same names (rule A7). */
const rivals = ({ reads, served }: Source, names: readonly string[]): readonly LinkSettings[] => {
  const found = new Set(
    names.flatMap((name) => {
      const read = reads.get(name);
      return read === undefined ? [] : overlapping(read, reads.values());
    }),
  );
  return [...found].sort().flatMap((name) => {
    const settings = reads.get(name)?.settings;
    if (settings === undefined || names.includes(name)) return [];
    const assignment = assignmentOf(settings.cluster, reads, served);
    return assignment.do === 'serve' && assignment.settings.name === name ? [settings] : [];
  });
};

/** `Link linkerd-multicluster/west`, for messages. */
export const linkTitle = (namespace: string, name: string): string => `${LinkApi.kind} ${namespace}/${name}`;
