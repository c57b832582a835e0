/** One context of a kubeconfig, and how messages name what is wrong with it. */
import { cut, type TerminalError } from '../errors.ts';
import type { KubeconfigCluster, KubeconfigUser } from './kubeconfig-file.ts';
import { invalid } from './kubeconfig-files.ts';

/** A context with its cluster and user. */
export interface SourceKubeconfig {
  /** Where it comes from, for messages. */
  readonly origin: string;
  /** Name of the context. */
  readonly context: string;
  readonly clusterName: string;
  readonly cluster: KubeconfigCluster;
  readonly userName: string;
  readonly user: KubeconfigUser;
}

/** What an error is about. */
export type Part = 'cluster' | 'user';

/** The context as messages begin with it. */
export const titleOf = ({ origin, context }: SourceKubeconfig): string => `${origin}: context "${cut(context)}"`;

/** An error about the cluster or user of a context. @param error its message completes "user `name` …" */
export const invalidPart = (config: SourceKubeconfig, part: Part, error: unknown): TerminalError => {
  const name = part === 'cluster' ? config.clusterName : config.userName;
  return invalid(
    `${titleOf(config)}: ${part} "${cut(name)}" ${error instanceof Error ? error.message : String(error)}`,
  );
};

/**
 * Reads what belongs to the cluster or user of a context.
 * @throws TerminalError `InvalidKubeconfig` that names both
 */
export const within = <T>(config: SourceKubeconfig, part: Part, read: () => T): T => {
  try {
    return read();
  } catch (error) {
    throw invalidPart(config, part, error);
  }
};
