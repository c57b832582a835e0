/** One way of a link: which cluster reads which, and what they call each other. */
import { targetClusterName } from '../../../constructs/common/prop-rules.ts';
import { ExitCode, fieldProblem, type Problem, refuseProblems } from '../common/command-error.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import type { PairFlags } from './flags.ts';

export interface Pair {
  readonly source: Cluster;
  readonly target: Cluster;
  readonly sourceName: string;
  /** Also the name of the Link. */
  readonly targetName: string;
}

/** The same two clusters, the other way round. */
export const wayBack = ({ source, target, sourceName, targetName }: Pair): Pair => ({
  source: target,
  target: source,
  sourceName: targetName,
  targetName: sourceName,
});

/**
 * Opens both clusters, gives them to a command, and closes them.
 * @throws TerminalError for a kubeconfig or a context that cannot be used
 * @throws CommandError for names that no clusters can have, and for one cluster given twice
 */
export const withPair = async (
  flags: PairFlags & { readonly toContext: string },
  command: (pair: Pair) => Promise<void>,
): Promise<void> => {
  const { toKubeconfig = flags.kubeconfig } = flags;
  await withCluster(flags, (source) =>
    withCluster({ kubeconfig: toKubeconfig, context: flags.toContext }, async (target) => {
      const { name: targetName = target.context, sourceName = source.context } = flags;
      refuseProblems(
        [
          ...clusterNameProblems('--name', targetName, target.context),
          ...clusterNameProblems('--source-name', sourceName, source.context),
          ...sameClusterProblems(source, target),
          ...(targetName === sourceName ? [SAME_NAME] : []),
        ],
        ExitCode.usage,
      );
      await command({ source, target, sourceName, targetName });
    }),
  );
};

const SAME_NAME: Problem = {
  object: '--name',
  reason: 'must differ from the name of the source',
  remedy: 'name them with --name and --source-name',
};

/** What a name cannot be; a context's is often not the name of a cluster. */
export const clusterNameProblems = (flag: string, name: string, context: string): readonly Problem[] => {
  const error = targetClusterName(flag, name);
  if (error === undefined) return [];
  return name === context
    ? [fieldProblem(`context ${context}`, { ...error, remedy: `name the cluster with ${flag}` })]
    : [fieldProblem(flag, { remedy: 'name it otherwise', ...error })];
};

const sameClusterProblems = (source: Cluster, target: Cluster): readonly Problem[] =>
  source.reachedBy.server === target.reachedBy.server
    ? [
        {
          object: `contexts ${source.context} and ${target.context}`,
          reason: `lead to the same API server, ${source.reachedBy.server}`,
          remedy: 'name two clusters with --context and --to-context',
        },
      ]
    : [];
