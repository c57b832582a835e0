/** Writing manifests to a cluster, and deleting objects, each reported as it is done. */
import type { ApiJson } from '../../../constructs/mirror/render.ts';
import { apiVersionOf, type KubeObject, type Resource } from '../../../operator/kube/objects.ts';
import type { Cluster } from './cluster.ts';
import type { ResultReport } from './output.ts';

/** Applies the objects in their order. */
export const applyAll = async (cluster: Cluster, objects: readonly ApiJson[], report: ResultReport): Promise<void> => {
  for (const object of objects) {
    await report.add({ context: cluster.context, object, outcome: await cluster.apply(object) });
  }
};

/** An object that is there, and its resource. */
export interface Found {
  readonly of: Resource;
  readonly object: KubeObject;
}

/** A reference that `kubectl delete -f -` takes. */
export const refOf = ({ of, object: { metadata } }: Found): ApiJson => {
  const { name, namespace } = metadata;
  return {
    apiVersion: apiVersionOf(of),
    kind: of.kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
  };
};

/** Deletes the objects in their order. */
export const deleteAll = async (cluster: Cluster, all: readonly Found[], report: ResultReport): Promise<void> => {
  for (const { of, object } of all) {
    await cluster.delete(of, object);
    await report.add({ context: cluster.context, object: { ...object, kind: of.kind }, outcome: 'deleted' });
  }
};
