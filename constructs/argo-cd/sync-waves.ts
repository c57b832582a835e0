/**
 * The order in which a cluster's objects are applied: what others need comes before them. One source for the names of
 * files in Git and for the sync waves of Argo CD, which goes on to the next wave when the last one is healthy.
 *
 * cdk8s has no aspects: annotations are put on when it validates the tree, so also on objects that were added later.
 */
import type { ApiObject } from 'cdk8s';
import type { IConstruct } from 'constructs';
import { objectsIn } from '../common/objects-in.ts';

/** Argo CD's: the wave of an object, a number as text. */
export const SYNC_WAVE_ANNOTATION = 'argocd.argoproj.io/sync-wave';

const WAVES: Readonly<Record<string, number>> = {
  AppProject: 0,
  CustomResourceDefinition: 0,
  Namespace: 0,
  ServiceAccount: 1,
  ClusterRole: 1,
  ClusterRoleBinding: 1,
  Role: 1,
  RoleBinding: 1,
  Link: 3,
  ServiceFailover: 3,
};
const WORKLOAD = 2;

/** The wave of a kind: 0 for definitions and namespaces, 1 for rights, 3 for Links and ServiceFailovers, 2 for all else. */
export const syncWave = (kind: string): number => WAVES[kind] ?? WORKLOAD;

/** Annotates every object below `scope` with its wave. A wave that an object has by itself holds. */
export const annotateSyncWaves = (scope: IConstruct): void => {
  scope.node.addValidation({
    validate: () => {
      for (const { kind, metadata } of objectsIn(scope)) {
        if (annotationOf(metadata, SYNC_WAVE_ANNOTATION) !== undefined) continue;
        metadata.addAnnotation(SYNC_WAVE_ANNOTATION, String(syncWave(kind)));
      }
      return [];
    },
  });
};

/** An annotation that an object has now. */
export const annotationOf = (metadata: ApiObject['metadata'], key: string): unknown =>
  (metadata.toJson() as { readonly annotations?: Readonly<Record<string, unknown>> } | undefined)?.annotations?.[key];
