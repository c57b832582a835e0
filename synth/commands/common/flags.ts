/**
 * Options that several commands share, and how their text is read. Printing help loads this file: it imports commander
 * and no more.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';

/** `--gateway`, `--gateway=true`, `--gateway=false`; true by default, unless there is none. */
export const trueOrFalse = (flag: string, description: string, fallback: true | 'none' = true): Option =>
  new Option(`${flag} [true|false]`, description)
    .argParser((text: string) => {
      if (text === 'true' || text === 'false') return text === 'true';
      throw new InvalidArgumentError('It must be true or false.');
    })
    .default(fallback === 'none' ? undefined : fallback);

/** A list in which commas separate; the flag may be repeated, as Linkerd's. */
export const listOf = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  ...text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
];

/** A port. */
export const portOf = (text: string): number => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be between 1 and 65535.');
};

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** A duration in milliseconds: `30s`, `5m`, `1h`. */
const timeoutOf = (text: string): number => {
  const [, count, unit = ''] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit] ?? 0);
  if (ms > 0) return ms;
  throw new InvalidArgumentError('It must be a duration such as 30s, 5m or 1h.');
};

/** `--timeout`, five minutes by default. */
export const timeoutOption = (description: string): Option =>
  new Option('--timeout <duration>', description).argParser(timeoutOf).default(timeoutOf('5m'), '5m');

/** The shortest lifetime that API servers grant, in milliseconds. */
const SHORTEST_MS = 600_000;

/** `--token-lifetime`. */
export const tokenLifetimeOption = (): Option =>
  new Option(
    '--token-lifetime <duration>',
    'how long a new token lives, if the target lets it (default: as long as the one before, or 48h)',
  ).argParser((text) => {
    const ms = timeoutOf(text);
    if (ms >= SHORTEST_MS) return ms;
    throw new InvalidArgumentError('It must be at least 10m.');
  });

/** `--long-lived-token`. */
export const LONG_LIVED_TOKEN = [
  '--long-lived-token',
  "a token that does not end, which Linkerd's own controller needs: it renews none",
] as const;

/** A flag of Linkerd's command line that is not taken; help and the error say why. */
export const notTaken = (flags: string, why: string): Option =>
  new Option(flags, `not taken: ${why}`).argParser(() => {
    throw new InvalidArgumentError(`It is not taken: ${why}.`);
  });

/** Adds the flags that every command of `linkerd multicluster` has and that have no effect on ours. */
export const addNotTaken = (command: Command): Command =>
  command
    .addOption(notTaken('--as <user>', 'name a context of that user with --context'))
    .addOption(notTaken('--as-group <group>', 'name a context of a user in that group with --context'))
    .addOption(notTaken('--api-addr <address>', 'no control plane is asked'))
    .option('--verbose', 'has no effect: warnings and notes are always on stderr');

/** `--wait` with a duration, as Linkerd has it: half a minute by default. */
export const waitOption = (description: string): Option =>
  new Option('-w, --wait <duration>', description).argParser(timeoutOf).default(timeoutOf('30s'), '30s');

/** Which cluster, and where Linkerd and its extension are in it. */
export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace: string;
  readonly linkerdNamespace: string;
}

/** Adds the flags of a command that works on one cluster. */
export const addClusterFlags = (command: Command): Command =>
  addNamespaceFlags(
    command
      .option('--kubeconfig <file>', 'kubeconfig (default: as kubectl finds it)')
      .option('--context <name>', 'context of the kubeconfig (default: the current context)'),
  );

/** Adds the flags of the namespaces. */
export const addNamespaceFlags = (command: Command): Command =>
  command
    .option('-n, --namespace <name>', 'namespace of the multicluster extension', 'linkerd-multicluster')
    .option('-L, --linkerd-namespace <name>', "namespace of Linkerd's control plane", 'linkerd');

/** How a command that reports what it finds prints it. */
export type ReportFormat = 'table' | 'wide' | 'json' | 'yaml';

/** `--output` of a command that reports what it finds. */
export const reportOption = (): Option =>
  new Option('-o, --output <format>', 'format of what is printed')
    .choices(['table', 'wide', 'json', 'yaml'] satisfies ReportFormat[])
    .default('table');

/** What a command that prints manifests and writes them with `--apply` takes besides its own. */
export interface ApplyFlags {
  readonly apply?: true;
  readonly output?: 'yaml' | 'json';
}

/**
 * Adds `--apply` and `--output`.
 * @param formats which `--output` takes besides
 */
export const addApplyFlags = (command: Command, without: string, formats: readonly string[] = []): Command =>
  command
    .option('--apply', `write to the clusters; without it, ${without}`)
    .addOption(new Option('-o, --output <format>', 'format of what is printed').choices(['yaml', 'json', ...formats]));
