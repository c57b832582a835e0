/** What {@link ArgoCdProps} say: the parts of ArgoCd read them, and it reads the parts. */
import type { ClusterSet } from '../cluster-set/cluster-set.ts';

/** A cluster as it is registered in Argo CD, by one of its name and its URL. */
export interface ArgoCdDestination {
  /**
   * Name by which the cluster is registered in Argo CD.
   * @default - by server
   */
  readonly name?: string | undefined;
  /**
   * URL of the API server; `https://kubernetes.default.svc` is where Argo CD runs.
   * @default - by name
   */
  readonly server?: string | undefined;
}

/** A sync that follows each commit by itself. */
export interface AutomatedSync {
  /**
   * Whether it removes what is no longer in Git.
   * @default true
   */
  readonly prune?: boolean | undefined;
  /**
   * Whether it puts right what was changed in the cluster.
   * @default true
   */
  readonly selfHeal?: boolean | undefined;
}

/** Properties of {@link ArgoCd}. */
export interface ArgoCdProps {
  /** The clusters. */
  readonly clusterSet: ClusterSet;
  /** URL of the Git repository. */
  readonly repoUrl: string;
  /**
   * Branch, tag or commit.
   * @default HEAD
   */
  readonly revision?: string | undefined;
  /**
   * Folder of the repository that has those of the clusters; empty for its root. Each is called as its cluster, as
   * `linkspan synth` writes them.
   * @default clusters
   */
  readonly path?: string | undefined;
  /**
   * Namespace of Argo CD.
   * @default argocd
   */
  readonly namespace?: string | undefined;
  /**
   * Name of the project and of the root; Applications are `<project>-<cluster>`.
   * @default linkspan
   */
  readonly project?: string | undefined;
  /**
   * Clusters by their names in the set.
   * @default - each by that name
   */
  readonly destinations?: Readonly<Record<string, ArgoCdDestination>> | undefined;
  /**
   * One Application written out for each cluster, or an ApplicationSet that makes the same ones.
   * @default each
   */
  readonly applications?: 'each' | 'application-set' | undefined;
  /**
   * How a commit is synced without being asked; false for only when asked.
   * @default - with pruning and self-healing
   */
  readonly automated?: false | AutomatedSync | undefined;
  /**
   * Whether there is an Application for this chart's own folder, so that a cluster comes and goes by a commit alone. The
   * project then lets the repository write Argo CD's own objects.
   * @default true
   */
  readonly root?: boolean | undefined;
  /**
   * Whether the health of Links is written into Argo CD's own ConfigMap. Where that is kept by another Application, two
   * would write it in turns for ever: put {@link ArgoCd.customizations} there instead.
   * @default false
   */
  readonly health?: boolean | undefined;
}
