/**
 * Commands in the messages of `linkspan`: where they are found in a text, and how each is typed so that it changes nothing.
 * Pure.
 */

/** Flags that a message leaves to the reader, as in "`linkspan link …`, with --to-context", and what is typed for them. */
const LEFT_TO_READER: Readonly<Record<string, (command: string) => string>> = {
  '--to-context': (command) => / --context ('[^']*'|\S+)/.exec(command)?.[1] ?? 'west',
  '--image': () => 'example/linkspan:1',
};

const completed = (command: string, flag: string | undefined): string => {
  const value = flag === undefined ? undefined : LEFT_TO_READER[flag]?.(command);
  return flag === undefined || value === undefined ? command : `${command} ${flag} ${value}`;
};

/** The commands in a text: between backticks, alone in parentheses, or alone on a line or behind an arrow. */
export const commandsIn = (text: string): readonly string[] => {
  const quoted = [...text.matchAll(/`((?:kubectl|linkspan) [^`]+)`(?:,? with (--[a-z-]+))?/g)].map(
    ([, command = '', flag]) => completed(command, flag),
  );
  const rest = text.replaceAll(/`[^`]*`/g, '');
  const alone = [...rest.matchAll(/(?:\(|→ |^ +)((?:kubectl|linkspan) [-a-z][^\n]*?)(?:\)$|$)/gm)].map(
    ([, command = '']) => command,
  );
  return [...new Set([...quoted, ...alone])];
};

/** The text that a command has printed; of JSON, the strings in it. */
export const printedText = (output: string): string => {
  if (!/^[[{]/.test(output)) return output;
  try {
    return stringsOf(JSON.parse(output)).join('\n');
  } catch {
    return output;
  }
};

const stringsOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsOf) : [];
};

const READS: ReadonlySet<string> = new Set(['get', 'describe', 'logs', 'auth', 'version', 'api-resources']);
const WRITES: ReadonlySet<string> = new Set([
  ...['apply', 'delete', 'create', 'annotate', 'label', 'scale', 'patch', 'replace', 'set'],
]);
const PLACE = /^kubectl(?: (?:--kubeconfig|--context|--namespace|-n)[ =](?:'(?:[^']|'\\'')*'|\S+))*/;

/** What `kubectl` is to do. */
const verbOf = (part: string): string => /^ (\S+)/.exec(part.replace(PLACE, ''))?.[1] ?? '';

const dryPart = (part: string): string | undefined => {
  if (part.startsWith('linkspan synth ')) return `${part} --check`;
  if (part.startsWith('linkspan ')) return part.replace(/ --apply\b/, '');
  const verb = verbOf(part);
  if (READS.has(verb)) return part;
  if (WRITES.has(verb)) return `${part} --dry-run=server`;
  // It has no dry run: what it restarts must be there.
  return / rollout restart /.test(part) ? part.replace(' rollout restart ', ' get ') : undefined;
};

/** The same command as one that changes nothing; undefined if there is none. */
export const dry = (command: string): string | undefined => {
  const parts = command.split(' | ').map(dryPart);
  return parts.includes(undefined) ? undefined : parts.join(' | ');
};
