/** Schemas of props, generated from their interfaces by `npm run generate`. Do not edit. */
import { INSTANCE_OF } from '../../crds/validate.ts';
import { described } from '../common/schema.ts';

export const ARGO_CD_DESTINATION = {
  type: 'object',
  description: 'A cluster as it is registered in Argo CD, by its name or by the URL of its API server',
  additionalProperties: false,
  required: [],
  properties: {
    name: { type: 'string', description: 'Name of the cluster in Argo CD; required without server; default none' },
    server: {
      type: 'string',
      description:
        'URL of the API server in Argo CD; https; required without name. The cluster of Argo CD itself is https://kubernetes.default.svc; default none',
    },
  },
} as const;

export const AUTOMATED_SYNC = {
  type: 'object',
  description: 'Automated sync of each commit',
  additionalProperties: false,
  required: [],
  properties: {
    prune: { type: 'boolean', description: 'Whether to delete objects that are no longer in Git; default true' },
    selfHeal: { type: 'boolean', description: 'Whether to revert changes that were made in the cluster; default true' },
  },
} as const;

export const ARGO_CD_PROPS = {
  type: 'object',
  description: 'Properties of ArgoCd',
  additionalProperties: false,
  required: ['clusterSet', 'repoUrl'],
  properties: {
    clusterSet: { [INSTANCE_OF]: 'ClusterSet', description: 'The clusters' },
    repoUrl: { type: 'string', description: 'URL of the Git repository' },
    revision: { type: 'string', description: 'Branch, tag or commit; default HEAD' },
    path: {
      type: 'string',
      description:
        'Folder of the repository with the folders of the clusters, empty for its root. The folder of a cluster has its name, as linkspan synth and writeClusterSet write it; default clusters',
    },
    namespace: { type: 'string', description: 'Namespace of Argo CD; default argocd' },
    project: {
      type: 'string',
      description: 'Name of the project and of the root. Applications are called <project>-<cluster>; default linkspan',
    },
    destinations: {
      type: 'object',
      description: 'Clusters as they are registered in Argo CD, by name of the member; default the name of the member',
      additionalProperties: ARGO_CD_DESTINATION,
    },
    applications: {
      type: 'string',
      description:
        'Whether to render an Application for each cluster, or an ApplicationSet that creates the same Applications; default each',
      enum: ['each', 'application-set'],
    },
    automated: {
      description: 'Automated sync of each commit; false for manual sync; default with pruning and self-healing',
      if: { type: 'boolean' },
      then: { enum: [false] },
      else: described(
        AUTOMATED_SYNC,
        'Automated sync of each commit; false for manual sync; default with pruning and self-healing',
      ),
    },
    root: {
      type: 'boolean',
      description:
        'Whether to render an Application for the folder of the Applications, so that a commit alone adds or removes a cluster. The project then lets the repository write objects of Argo CD; default true',
    },
    health: {
      type: 'boolean',
      description:
        "Whether to render the health check of Links into Argo CD's own ConfigMap. If another Application manages that ConfigMap, the two would overwrite each other: add ArgoCd.customizations there instead; default false",
    },
  },
} as const;
