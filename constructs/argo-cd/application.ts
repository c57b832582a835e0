/**
 * An Application for one folder of a repository, as Argo CD takes it in an object of its own or in the template of an
 * ApplicationSet. Applied and compared server-side: the API server then knows what belongs to the operator, to a
 * controller or to a team, and nothing of it is copied into an annotation (a token, the status of 500 mirrors).
 */
import { type Chart, Lazy } from 'cdk8s';
import { CredentialsSecret, LinkApi } from '../../crds/wire.ts';
import { objectsIn } from '../common/objects-in.ts';
import type { ApiJson } from '../rendered/index.ts';
import type { ArgoCdDestination, AutomatedSync } from './props.ts';

/** Group and version of Argo CD's objects. */
export const ARGO_CD_API = 'argoproj.io/v1alpha1';

/** Has an Application's objects deleted before it is: what a cluster was given goes when the cluster does. */
export const CASCADE = 'resources-finalizer.argocd.argoproj.io';

/** What an Application is made of. */
export interface ApplicationProps {
  readonly name: string;
  readonly project: string;
  readonly repoUrl: string;
  readonly revision: string;
  readonly path: string;
  readonly destination: ArgoCdDestination;
  /** Namespace of what names none. */
  readonly namespace: string;
  readonly automated: false | AutomatedSync;
}

/** The Application of a cluster's folder with the objects of these charts; deleting it deletes them. */
export const clusterApplication = (props: ApplicationProps, charts: readonly Chart[]) => ({
  metadata: { ...metadata(props.name), finalizers: [CASCADE] },
  spec: {
    ...spec(props, [...SERVER_SIDE, 'RespectIgnoreDifferences=true']),
    ignoreDifferences: Lazy.any({ produce: () => ownedByOthers(charts) }) as unknown,
  },
});

/** The Application of the folder that Applications are in. Deleting it leaves them. */
export const rootApplication = (props: ApplicationProps) => ({
  metadata: metadata(props.name),
  spec: {
    // Argo CD's own ConfigMap, once applied client-side, would lose all keys but ours in the migration.
    ...spec(props, [...SERVER_SIDE, 'ClientSideApplyMigration=false']),
    // What a user or Argo CD itself asks of an Application, which takes it away again when it is done.
    ignoreDifferences: [{ group: 'argoproj.io', kind: 'Application', jsonPointers: ASKED }],
  },
});

const ASKED = ['/metadata/annotations/argocd.argoproj.io~1refresh', '/operation'];

const SERVER_SIDE = ['ServerSideApply=true'] as const;

const metadata = (name: string) => ({
  name,
  annotations: { 'argocd.argoproj.io/compare-options': 'ServerSideDiff=true' },
});

const spec = (
  { project, repoUrl, revision, path, destination, namespace, automated }: ApplicationProps,
  syncOptions: readonly string[],
) => ({
  project,
  source: { repoURL: repoUrl, targetRevision: revision, path },
  destination: { ...destination, namespace },
  syncPolicy: {
    ...(automated !== false && { automated: { prune: true, selfHeal: true, ...automated } }),
    // For ever, since Argo CD never tries again what it has given up; always the newest commit, which may be the remedy.
    retry: { limit: -1, refresh: true, backoff: { duration: '5s', factor: 2, maxDuration: '3m' } },
    syncOptions,
  },
});

/** Fields that others own though the object is in Git: the status of a Link, the token that replaces a placeholder. */
const ownedByOthers = (charts: readonly Chart[]): readonly object[] | undefined => {
  const objects = charts.flatMap(objectsIn);
  const entries = [
    ...(objects.some(({ kind }) => kind === LinkApi.kind)
      ? [{ group: LinkApi.group, kind: LinkApi.kind, jsonPointers: ['/status'] }]
      : []),
    ...(objects.some((object) => object.kind === 'Secret' && isPlaceholder(object.toJson() as ApiJson))
      ? [{ group: '', kind: 'Secret', jqPathExpressions: PLACEHOLDER_TEXT }]
      : []),
  ];
  return entries.length === 0 ? undefined : entries;
};

const isPlaceholder = ({ type, stringData }: ApiJson): boolean =>
  type === CredentialsSecret.type && stringData !== undefined;

/** By type, so that a new target changes no Application. As it is in Git, and as the API server has it. */
const PLACEHOLDER_TEXT = ['stringData', 'data'].map(
  (field) => `select(.type == "${CredentialsSecret.type}") | .${field}`,
);
