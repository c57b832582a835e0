/** Schema of the props of ArgoCd. */
import { choice, falseOr, flag, instanceOf, mapOf, object, text } from '../common/schema.ts';

export const ARGO_CD_PROPS = object(
  'Applications for Argo CD, one for the folder of each cluster; default none',
  {
    clusterSet: instanceOf('ClusterSet'),
    repoUrl: text('URL of the Git repository'),
    revision: text('Branch, tag or commit; default HEAD'),
    path: text('Folder of the repository that is written to, empty for its root; default clusters'),
    namespace: text('Namespace of Argo CD; default argocd'),
    project: text('Name of the project, and the start of the names of Applications; default linkspan'),
    destinations: mapOf(
      'Clusters by their names here; default each is registered in Argo CD by that name',
      object('A cluster as it is registered in Argo CD, by one of its name and its URL', {
        name: text('Name of the cluster'),
        server: text('URL of the API server; https'),
      }),
    ),
    applications: choice('An Application each, or an ApplicationSet; default each', 'each', 'application-set'),
    automated: falseOr(
      'How a commit is synced without being asked; false for only when asked',
      object('An automated sync', {
        prune: flag('Whether it removes what is no longer in Git; default true'),
        selfHeal: flag('Whether it puts right what was changed in the cluster; default true'),
      }),
    ),
    root: flag('Whether there is an Application for the Applications; default true'),
    health: flag("Whether the health of Links is written into Argo CD's own ConfigMap; default false"),
  },
  'clusterSet',
  'repoUrl',
);
