/** The yardstick of a gateway's death: the very writes that followed the verdict, made once more by a client alone. */
import { UserAgent } from '../../crds/wire.ts';
import { ROUTES } from '../../operator/failover/routes.ts';
import { SERVICE_FAILOVERS } from '../../operator/failover/kinds.ts';
import { sourceAccess } from '../../operator/kube/access/in-cluster.ts';
import { KubeClient } from '../../operator/kube/client.ts';
import { ENDPOINT_SLICES, ENDPOINTS, type KubeObject, type Resource } from '../../operator/kube/objects.ts';
import { concurrently } from '../../test/support/concurrently.ts';
import { CONCURRENCY, type Stage } from './stage.ts';

/** An object as it was written. */
export interface Write {
  readonly of: Resource;
  readonly object: KubeObject;
}

/** Whether it decides where requests go, and does not only report it. */
export const isTraffic = ({ of }: Write): boolean => of !== SERVICE_FAILOVERS;

/** What the operator has written after a verdict, to be written again. */
export const written = async ({ east }: Stage, cluster: string): Promise<readonly Write[]> => {
  const collections: readonly (readonly [Resource, string | undefined])[] = [
    [ENDPOINT_SLICES, `linkspan.dev/federation-member=${cluster}`],
    [ENDPOINTS, `mirror.linkerd.io/cluster-name=${cluster}`],
    [ROUTES.HTTPRoute, undefined],
    [SERVICE_FAILOVERS, undefined],
  ];
  const all = await Promise.all(
    collections.map(async ([of, labelSelector]) => {
      const { group, version, kind } = of;
      const apiVersion = group === '' ? version : `${group}/${version}`;
      const found = await east.list<KubeObject>({
        apiVersion,
        kind,
        namespace: 'shop',
        ...(labelSelector !== undefined && { labelSelector }),
      });
      return found.map((object): Write => ({ of, object }));
    }),
  );
  return all.flat();
};

/** Seconds that these writes take by the operator's client, with as many at once, while no operator runs. */
export const rawSeconds = async ({ eastCluster }: Stage, writes: readonly Write[]): Promise<number> => {
  const access = await sourceAccess({ kubeconfig: eastCluster.kubeconfigFile });
  const client = new KubeClient(access, {
    userAgent: 'bench',
    fieldManager: UserAgent.source,
    connections: 2 * CONCURRENCY,
  });
  const prepared = writes.map(({ of, object }) => {
    const { name, namespace, labels, annotations } = object.metadata;
    const { status, ...rest } = object as KubeObject & { readonly status?: unknown };
    if (of === SERVICE_FAILOVERS) {
      return () => client.patch(of, { name, namespace, subresource: 'status' }, { status });
    }
    const applied = { ...rest, metadata: { name, namespace, labels, annotations } } as KubeObject;
    return () => client.apply(of, applied);
  });
  const began = performance.now();
  await concurrently(prepared, CONCURRENCY, (write) => write());
  const seconds = (performance.now() - began) / 1000;
  await client.close();
  return seconds;
};
