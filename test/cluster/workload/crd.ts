/** Puts a CustomResourceDefinition into a test cluster, or takes it away, and returns when its kind can be used, or is gone. */
import { type Api, api, type KubeObject, type ObjectRef } from './api.ts';
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

/** Puts a CRD in place, of another one of its name too, and waits until it is established and every version is served. */
export const installCrd = async (cluster: TestCluster, crd: ObjectRef): Promise<void> => {
  const client = api(cluster);
  try {
    // The API server writes the status of a definition too.
    const { spec } = await eventually(`${crd.metadata.name} is written`, () => write(client, crd));
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

/** Takes a CRD away, and all of its kind, and waits until the API server has forgotten it and serves no version. */
export const uninstallCrd = async (client: Api, crd: ObjectRef): Promise<void> => {
  const { spec } = crd as unknown as Definition;
  await client.delete(crd);
  await eventually(`${crd.metadata.name} is gone`, async () => (await client.get(crd)) === undefined);
  for (const { name: version } of spec.versions) {
    const path = `/apis/${spec.group}/${version}/${spec.names.plural}`;
    await eventually(`${path} is not served`, async () => (await client.request('GET', path)).code === 404);
  }
};

const write = async (client: Api, crd: ObjectRef): Promise<Definition> => {
  const live = await client.get<Definition>(crd);
  if (live === undefined) return client.create<Definition>(crd);
  const metadata = { ...crd.metadata, resourceVersion: live.metadata.resourceVersion };
  return client.replace<Definition>({ ...crd, metadata });
};
