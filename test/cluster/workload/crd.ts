/** Puts a CustomResourceDefinition into a test cluster, and returns when its kind can be used. */
import { api, type KubeObject, type ObjectRef } from './api.ts';
import { eventually } from './eventually.ts';
import type { TestCluster } from '../types.ts';

interface Definition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Applies a CRD (a new one, or a change of it) and waits until it is established and every version is served. */
export const installCrd = async (cluster: TestCluster, crd: ObjectRef): Promise<void> => {
  const client = api(cluster);
  try {
    const { spec } = await client.apply<Definition>(crd);
    await eventually(`${crd.metadata.name} is established`, async () => {
      const conditions = (await client.get<Definition>(crd))?.status?.conditions ?? [];
      return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
    });
    for (const { name: version } of spec.versions.filter(({ served }) => served)) {
      const path = `/apis/${spec.group}/${version}/${spec.names.plural}`;
      await eventually(`${path} is served`, async () => (await client.request('GET', path)).code === 200);
    }
  } finally {
    await client.close();
  }
};
