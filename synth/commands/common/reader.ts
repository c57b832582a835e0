/** A cluster that is only read: a live one, or manifests that were dumped from one. */
import type { Selector } from '../../../crds/selector.ts';
import type { KubeObject, Resource } from '../../../operator/kube/objects.ts';
import type { Cluster } from './cluster.ts';
import { selectorFor, type SelectorTerms } from './selectors.ts';

/** Where objects are looked for. */
export interface Where {
  /** @default - all namespaces */
  readonly namespace?: string | undefined;
  /** @default - all objects */
  readonly selector?: Selector | undefined;
}

export interface ClusterReader {
  /** Name by which messages call the cluster: of a context, or of a file. */
  readonly context: string;
  /** Path of the kubeconfig, as it was given. @default - none was given, or the manifests were dumped */
  readonly kubeconfig?: string | undefined;
  /** The object; undefined if there is none. */
  find<T extends KubeObject>(
    of: Resource,
    ref: { readonly namespace?: string | undefined; readonly name: string },
  ): Promise<T | undefined>;
  /** The objects that are selected; none if the API server does not serve the resource. */
  select<T extends KubeObject>(of: Resource, where: Where): Promise<readonly T[]>;
  /** Whether there is such a resource; of manifests, whether they hold any object of it, or its CRD. */
  serves(of: Resource): Promise<boolean>;
}

/** Reads a live cluster. */
export const liveReader = (cluster: Cluster): ClusterReader => ({
  context: cluster.context,
  kubeconfig: cluster.kubeconfig,
  find: (of, ref) => cluster.find(of, ref),
  serves: (of) => cluster.serves(of),
  select: (of, { namespace, selector }) =>
    cluster.list(of, {
      ...(namespace !== undefined && { namespace }),
      ...(selector !== undefined && { labelSelector: selector.query }),
    }),
});

/** The objects that terms select; none where no object can be selected, since a value is none that a label can have. */
export const selected = async <T extends KubeObject>(
  reader: ClusterReader,
  of: Resource,
  terms: SelectorTerms,
  namespace?: string,
): Promise<readonly T[]> => {
  const selector = selectorFor(terms);
  return selector === undefined ? [] : reader.select<T>(of, { namespace, selector });
};
