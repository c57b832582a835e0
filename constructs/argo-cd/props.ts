/** Props of ArgoCd. */
import type { ClusterSet } from '../cluster-set/cluster-set.ts';

/** A cluster as it is registered in Argo CD, by its name or by the URL of its API server. */
export interface ArgoCdDestination {
  /**
   * Name of the cluster in Argo CD; required without `server`.
   * @default - none
   */
  readonly name?: string | undefined;
  /**
   * URL of the API server in Argo CD; https; required without `name`. The cluster of Argo CD itself is
   * `https://kubernetes.default.svc`.
   * @default - none
   */
  readonly server?: string | undefined;
}

/** Automated sync of each commit. */
export interface AutomatedSync {
  /**
   * Whether to delete objects that are no longer in Git.
   * @default true
   */
  readonly prune?: boolean | undefined;
  /**
   * Whether to revert changes that were made in the cluster.
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
   * Folder of the repository with the folders of the clusters, empty for its root. The folder of a cluster has its name,
   * as `linkspan synth` and {@link writeClusterSet} write it.
   * @default clusters
   */
  readonly path?: string | undefined;
  /**
   * Namespace of Argo CD.
   * @default argocd
   */
  readonly namespace?: string | undefined;
  /**
   * Name of the project and of the root. Applications are called `<project>-<cluster>`.
   * @default linkspan
   */
  readonly project?: string | undefined;
  /**
   * Clusters as they are registered in Argo CD, by name of the member.
   * @default - the name of the member
   */
  readonly destinations?: Readonly<Record<string, ArgoCdDestination>> | undefined;
  /**
   * Whether to render an Application for each cluster, or an ApplicationSet that creates the same Applications.
   * @default each
   */
  readonly applications?: 'each' | 'application-set' | undefined;
  /**
   * Automated sync of each commit; false for manual sync.
   * @default - with pruning and self-healing
   */
  readonly automated?: false | AutomatedSync | undefined;
  /**
   * Whether to render an Application for the folder of the Applications, so that a commit alone adds or removes a cluster.
   * The project then lets the repository write objects of Argo CD.
   * @default true
   */
  readonly root?: boolean | undefined;
  /**
   * Whether to render the health check of Links into Argo CD's own ConfigMap. If another Application manages that ConfigMap,
   * the two would overwrite each other: add {@link ArgoCd.customizations} there instead.
   * @default false
   */
  readonly health?: boolean | undefined;
}
