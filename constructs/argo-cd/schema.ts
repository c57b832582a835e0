/** Schema of the props of ArgoCd. */
import { choice, falseOr, flag, instanceOf, mapOf, object, text } from '../common/schema.ts';

export const ARGO_CD_PROPS = object(
  'Applications for Argo CD, one for the folder of each cluster; default none',
  {
    clusterSet: instanceOf('ClusterSet'),
    repoUrl: text('URL of the Git repository'),
    revision: text('Branch, tag or commit; default HEAD'),
    path: text('Folder of the repository with the folders of the clusters, empty for its root; default clusters'),
    namespace: text('Namespace of Argo CD; default argocd'),
    project: text('Name of the project and of the root; Applications are called <project>-<cluster>; default linkspan'),
    destinations: mapOf(
      'Clusters as they are registered in Argo CD, by name of the member; default the name of the member',
      object('A cluster as it is registered in Argo CD, by its name or by the URL of its API server', {
        name: text('Name of the cluster in Argo CD; required without server; default none'),
        server: text('URL of the API server in Argo CD; https; required without name; default none'),
      }),
    ),
    applications: choice(
      'Whether to render an Application for each cluster, or an ApplicationSet; default each',
      'each',
      'application-set',
    ),
    automated: falseOr(
      'Automated sync of each commit; false for manual sync; default with pruning and self-healing',
      object('Automated sync of each commit', {
        prune: flag('Whether to delete objects that are no longer in Git; default true'),
        selfHeal: flag('Whether to revert changes that were made in the cluster; default true'),
      }),
    ),
    root: flag('Whether to render an Application for the folder of the Applications; default true'),
    health: flag("Whether to render the health check of Links into Argo CD's own ConfigMap; default false"),
  },
  'clusterSet',
  'repoUrl',
);
