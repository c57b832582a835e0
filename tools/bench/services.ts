/** Services of the target: how they come to run there, and how they come to be exported. */
import { type Api, eventually, type KubeObject } from '../../test/cluster/workload/index.ts';
import { EXPORTED, service, slice } from '../../test/support/builders.ts';
import { concurrently } from '../../test/support/concurrently.ts';

/** Requests at once by which a measurement is prepared. */
const SETUP_CONCURRENCY = 32;
/** Where all Services are. */
export const NAMESPACE = 'shop';
/** Behind every Service: what is measured depends on slices, not on pods. */
export const POD_LABELS = { app: 'web' };

interface Slice extends KubeObject {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[];
}

/** Creates Services that are not exported, and waits until Kubernetes has given each a slice with a ready endpoint. */
export const addServices = async (target: Api, names: readonly string[]): Promise<void> => {
  await concurrently(names, SETUP_CONCURRENCY, (name) =>
    target.create(service(name, { namespace: NAMESPACE, selector: POD_LABELS })),
  );
  await eventually(
    'every Service has a ready endpoint',
    async () => {
      const slices = await target.list<Slice>({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        namespace: NAMESPACE,
      });
      const running = new Set(
        slices
          .filter(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready === true) === true)
          .map(({ metadata }) => metadata.labels?.['kubernetes.io/service-name']),
      );
      return names.every((name) => running.has(name));
    },
    120_000,
  );
};

/** Puts the export label on Services, `true` or another value that no selector matches, or removes it. */
export const labelServices = (target: Api, names: readonly string[], value: 'true' | 'other' | null): Promise<void> => {
  const labels = { 'mirror.linkerd.io/exported': value };
  return concurrently(names, SETUP_CONCURRENCY, (name) =>
    target.patch(service(name, { namespace: NAMESPACE }), { metadata: { labels } }),
  );
};

/** Selects the Services that are exported to one Link of several. */
export const exportedTo = (link: string): Readonly<Record<string, string>> => ({ ...EXPORTED, fleet: link });

/** Creates Services that are exported to one Link each, and their slices as Kubernetes would make them. */
export const addExported = (
  target: Api,
  services: readonly { readonly name: string; readonly link: string }[],
): Promise<void> =>
  concurrently(services, SETUP_CONCURRENCY, async ({ name, link }) => {
    const options = { namespace: NAMESPACE, labels: exportedTo(link) };
    await target.create(service(name, { ...options, selector: POD_LABELS }));
    await target.create(slice(name, options));
  });
