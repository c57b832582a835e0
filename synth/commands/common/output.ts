/**
 * What commands print: manifests, which change nothing, and what became of objects. Names of contexts come from
 * kubeconfigs, which others may have written: none of them ends the line that it is printed on.
 */
import { Yaml } from 'cdk8s';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { cut } from '../../../operator/kube/errors.ts';
import { print, warn } from '../../print.ts';
import { type Trial, tryAll } from './change-set/trial.ts';
import type { Outcome } from './cluster.ts';
import { uninterrupted } from './interruption.ts';

/** How it is printed. */
export type OutputFormat = 'yaml' | 'json';

/** Objects of one cluster. */
export interface ClusterObjects {
  /** Name of the context. */
  readonly context: string;
  /** What they are for, in a comment of YAML. */
  readonly purpose: string;
  readonly objects: readonly ApiJson[];
}

/** Manifests: YAML in which a comment says which cluster they are for, or JSON by cluster. */
export const manifestsText = (clusters: readonly ClusterObjects[], format: OutputFormat): string =>
  format === 'json'
    ? json({ clusters: clusters.map(({ context, objects }) => ({ context, objects })) })
    : clusters
        .map(
          ({ context, purpose, objects }) => `---\n${comment(`${context}: ${purpose}`)}\n${Yaml.stringify(...objects)}`,
        )
        .join('');

/**
 * Prints manifests. Where no format was asked for, they go to a pipe or a file, and kubectl would apply all of them to one
 * cluster.
 * @param clusters each in one or two lists; the lists of one cluster alone are one
 */
export const printManifests = async (
  clusters: readonly ClusterObjects[],
  format: OutputFormat,
  { output }: { readonly output?: string },
): Promise<void> => {
  if (output === undefined && clusters.filter(({ objects }) => objects.length > 0).length > 1) warn(OF_TWO_CLUSTERS);
  await print(manifestsText(clusters, format));
};

const OF_TWO_CLUSTERS =
  'the manifests are of two clusters, each under a comment that names it: do not give them to one kubectl (use --apply)';

/** A comment of YAML, on one line whatever its text. */
export const comment = (text: string): string => `# ${cut(text, MAX_COMMENT)}`;

const MAX_COMMENT = 1_024;

/** Manifests of one cluster as `kubectl apply -f -` takes them: YAML documents, or JSON objects one after another. */
export const documentsText = (objects: readonly ApiJson[], format: OutputFormat): string =>
  format === 'json' ? objects.map(json).join('') : Yaml.stringify(...objects);

/** An object by its kind and name. */
export interface Named {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string | undefined; readonly name: string };
}

/** What became of one object. */
export interface Result {
  readonly context: string;
  readonly object: Named;
  readonly outcome: Outcome;
}

/** Prints what becomes of objects: a line for each at once, as kubectl does, or all of them as a list at the end. */
export class ResultReport {
  readonly #format: OutputFormat | undefined;
  readonly #results: object[] = [];

  constructor(format: OutputFormat | undefined) {
    this.#format = format;
  }

  async add({ context, object: { kind, metadata }, outcome }: Result): Promise<void> {
    const { namespace, name } = metadata;
    this.#results.push({ context, kind, ...(namespace !== undefined && { namespace }), name, outcome });
    if (this.#format === undefined) await print(`${kind.toLowerCase()}/${name} ${outcome} in ${cut(context)}\n`);
  }

  /** Prints the list, if a format was asked for. */
  async end(): Promise<void> {
    const list = { results: this.#results };
    if (this.#format !== undefined) await print(reportText(list, this.#format));
  }
}

/**
 * Gives a command that writes a report, which ends also when the command fails: what it has done until then must be known.
 * Neither signals nor a closed output end it in the middle.
 * @param trials what it is about to do: it does nothing if any of that would be refused
 */
export const withReport = async (
  format: OutputFormat | undefined,
  trials: readonly Trial[],
  command: (report: ResultReport) => Promise<void>,
): Promise<void> => {
  await tryAll(trials);
  const report = new ResultReport(format);
  await uninterrupted(async () => {
    try {
      await command(report);
    } finally {
      await report.end();
    }
  });
};

/** What was found, as `-o json` and `-o yaml` have it. */
export const reportText = (found: object, format: 'json' | 'yaml'): string =>
  format === 'json' ? json(found) : Yaml.stringify(found);

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;
