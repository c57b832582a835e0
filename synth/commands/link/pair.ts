/** One way of a link: which cluster reads which, and what they call each other. */
import { targetClusterName } from '../../../constructs/common/prop-rules.ts';
import { ExitCode, fieldProblem, type Problem, refuseProblems } from '../common/command-error.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import type { PairFlags } from './flags.ts';

/** Two clusters that are known to be two. */
export interface TwoClusters {
  readonly source: Cluster;
  readonly target: Cluster;
  /** What tells each from all other clusters; undefined if it may not be read. */
  readonly sourceUid: string | undefined;
  readonly targetUid: string | undefined;
}

export interface Pair extends TwoClusters {
  readonly sourceName: string;
  /** Also the name of the Link. */
  readonly targetName: string;
}

/** The same two clusters, the other way round. */
export const wayBack = ({ source, target, sourceUid, targetUid, sourceName, targetName }: Pair): Pair => ({
  source: target,
  target: source,
  sourceUid: targetUid,
  targetUid: sourceUid,
  sourceName: targetName,
  targetName: sourceName,
});

type TwoFlags = Pick<PairFlags, 'kubeconfig' | 'context' | 'toKubeconfig'> & { readonly toContext: string };

/**
 * Opens both clusters, gives them to a command, and closes them.
 * @param check what is asked of them first: telling them apart takes requests
 * @throws TerminalError for a kubeconfig or a context that cannot be used
 * @throws CommandError for one cluster given twice
 */
export const withTwoClusters = async <T>(
  flags: TwoFlags,
  command: (clusters: TwoClusters) => Promise<T>,
  check: (source: Cluster, target: Cluster) => readonly Problem[] = () => [],
): Promise<T> => {
  const { toKubeconfig = flags.kubeconfig } = flags;
  return withCluster(flags, (source) =>
    withCluster({ kubeconfig: toKubeconfig, context: flags.toContext }, async (target) => {
      refuseProblems(check(source, target), ExitCode.usage);
      const [sourceUid, targetUid] = await Promise.all([source.uid(), target.uid()]);
      const clusters = { source, target, sourceUid, targetUid };
      refuseProblems(sameClusterProblems(clusters), ExitCode.usage);
      return command(clusters);
    }),
  );
};

/**
 * The same, with what the two call each other.
 * @throws CommandError also for names that no clusters can have
 */
export const withPair = async (
  flags: PairFlags & { readonly toContext: string },
  command: (pair: Pair) => Promise<void>,
): Promise<void> => {
  const namesOf = (source: Cluster, target: Cluster): { readonly sourceName: string; readonly targetName: string } => ({
    sourceName: flags.sourceName ?? source.context,
    targetName: flags.name ?? target.context,
  });
  await withTwoClusters(
    flags,
    (clusters) => command({ ...clusters, ...namesOf(clusters.source, clusters.target) }),
    (source, target) => {
      const { sourceName, targetName } = namesOf(source, target);
      return [
        ...clusterNameProblems('--name', targetName, target.context),
        ...clusterNameProblems('--source-name', sourceName, source.context),
        ...(targetName === sourceName && !isSameServer(source, target) ? [SAME_NAME] : []),
      ];
    },
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

/** Reports whether two kubeconfigs lead to one server: a router tells clusters apart by the name in the certificate. */
const isSameServer = (source: Cluster, target: Cluster): boolean =>
  source.reachedBy.server === target.reachedBy.server &&
  source.reachedBy.tlsServerName === target.reachedBy.tlsServerName;

/** One URL may lead to many clusters, and many URLs to one: the URL counts only where nothing else is known. */
const sameClusterProblems = ({ source, target, sourceUid, targetUid }: TwoClusters): readonly Problem[] => {
  const areKnown = sourceUid !== undefined && targetUid !== undefined;
  if (areKnown ? sourceUid !== targetUid : !isSameServer(source, target)) return [];
  return [
    {
      object: `contexts ${source.context} and ${target.context}`,
      reason: areKnown
        ? `lead to the same cluster: its namespace kube-system has the uid ${sourceUid}`
        : `lead to the same API server, ${source.reachedBy.server}`,
      remedy: 'name two clusters with --context and --to-context',
    },
  ];
};
