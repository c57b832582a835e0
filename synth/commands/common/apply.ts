/** Objects that a command has found in a cluster, and how they are named for kubectl. */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { apiVersionOf, type KubeObject, type Resource } from '../../../operator/kube/objects.ts';

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
