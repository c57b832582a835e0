/**
 * Commands as a person pastes them into a shell: the text of remedies. Each says which kubeconfig and which context it is
 * for, as they were given, so that it acts on the cluster that the message is about; and each word is quoted, so that no
 * name is taken for a command. Pure.
 */

/** A cluster as the command line names it. */
export interface NamedCluster {
  /** Path of a kubeconfig, as it was given. @default - as kubectl finds it, so that no command has to name it */
  readonly kubeconfig?: string | undefined;
  /** Name of the context. */
  readonly context: string;
}

const PLAIN = /^[\w@%+=:,./-]+$/;

/** A word of a command line, quoted for a POSIX shell where that is needed. */
export const shellWord = (word: string): string =>
  PLAIN.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

const flag = (name: string, value: string | undefined): readonly string[] =>
  value === undefined ? [] : [name, shellWord(value)];

/** `kubectl --kubeconfig F --context C get service`: each word is quoted. */
export const kubectl = ({ kubeconfig, context }: NamedCluster, ...words: readonly string[]): string =>
  ['kubectl', ...flag('--kubeconfig', kubeconfig), ...flag('--context', context), ...words.map(shellWord)].join(' ');

/** `linkspan check --kubeconfig F --context C`: each word is quoted; the first is the command. */
export const linkspan = ({ kubeconfig, context }: NamedCluster, ...words: readonly string[]): string =>
  ['linkspan', ...words.map(shellWord), ...flag('--kubeconfig', kubeconfig), ...flag('--context', context)].join(' ');

/** The same for a command that takes a source and a target: `linkspan link … --to-kubeconfig G --to-context D`. */
export const linkspanPair = (source: NamedCluster, target: NamedCluster, ...words: readonly string[]): string =>
  [
    linkspan(source, ...words),
    // The kubeconfig of the target is that of the source unless another was given.
    ...flag('--to-kubeconfig', target.kubeconfig === source.kubeconfig ? undefined : target.kubeconfig),
    ...flag('--to-context', target.context),
  ].join(' ');
