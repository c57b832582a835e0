import { describe, expect, it } from 'vitest';
import type { Preconditions } from '../../../operator/kube/client.ts';
import { ApiError } from '../../../operator/kube/errors.ts';
import {
  ENDPOINT_SLICES,
  type EndpointSlice,
  type KubeObject,
  type Resource,
  type Service,
} from '../../../operator/kube/objects.ts';
import { Applier, type WriteClient } from '../../../operator/runtime/applier.ts';
import type { Clearing } from '../../../operator/runtime/clear.ts';
import { fenceable } from '../../support/fenced.ts';

const MIRRORED = { 'mirror.linkerd.io/mirrored-service': 'true' };
const at = { namespace: 'shop', resourceVersion: '7' };
const service: Service = {
  metadata: { ...at, name: 'web-federated', uid: 'u1', labels: MIRRORED },
  spec: { ports: [{ port: 80 }] },
};
const slices = ['a', 'b'].map((name): EndpointSlice => ({
  metadata: { ...at, name, uid: `of ${name}` },
  addressType: 'IPv4',
}));
const endpoints: KubeObject = { metadata: { ...at, name: 'web-federated', uid: 'u2', labels: MIRRORED } };

const clear: Clearing = { op: 'clear', of: ENDPOINT_SLICES, object: service, slices };
const both: Clearing = { ...clear, mayHaveEndpoints: true };

/** What is deleted in a cluster that holds these objects, by kind, and in which users act after each deletion. */
function cluster(there: Record<string, KubeObject>, afterwards: () => void = () => undefined) {
  const did: string[] = [];
  const client = fenceable({
    fieldManager: 'linkspan',
    read: ({ kind }: Resource) => {
      const found = there[kind];
      return found === undefined ? Promise.reject(new ApiError(404, {}, 'get')) : Promise.resolve(found);
    },
    delete: ({ kind }: Resource, { name }: { name: string }, { uid, resourceVersion }: Preconditions) => {
      did.push(`${kind} ${name} ${uid} ${resourceVersion}`);
      afterwards();
      return Promise.resolve();
    },
  }) as unknown as WriteClient;
  const isOurs = ({ metadata }: KubeObject): boolean =>
    metadata.labels?.['mirror.linkerd.io/mirrored-service'] === 'true';
  const applier = new Applier({ client, stores: {}, isOurs, mayWrite: () => true });
  return { did, clear: (action = clear) => applier.execute(action, new AbortController().signal) };
}

const OF_SLICES = ['EndpointSlice a of a 7', 'EndpointSlice b of b 7'];

describe('slices of others (C3)', () => {
  it('are deleted as they were seen, and no later versions of them', async () => {
    const { did, clear } = cluster({ Service: service });
    expect(await clear()).toEqual({ result: 'deleted' });
    expect(did).toEqual(OF_SLICES);
  });

  it.each<[string, Service | undefined]>([
    ['selects pods', { ...service, spec: { ...service.spec, selector: { app: 'web' } } }],
    ['is not ours', { ...service, metadata: { ...service.metadata, labels: {} } }],
    ['is another of its name', { ...service, metadata: { ...service.metadata, uid: 'u9' } }],
    ['is gone', undefined],
  ])('stay if their Service, as it is now, %s', async (_, now) => {
    const { did, clear } = cluster({ ...(now && { Service: now }), Endpoints: endpoints });
    expect(await clear(both)).toEqual({ result: 'unchanged' });
    expect(did).toEqual([]);
  });

  it('stay as soon as their Service is not ours any more, also after others of them were deleted (A6)', async () => {
    const there: Record<string, KubeObject> = { Service: service };
    const { did, clear } = cluster(there, () => {
      there['Service'] = { ...service, metadata: { ...service.metadata, labels: {} } };
    });
    expect(await clear()).toEqual({ result: 'deleted' });
    expect(did).toEqual(OF_SLICES.slice(0, 1));
  });

  it('stay if their Service stops being ours while Endpoints that Kubernetes made are deleted (A6)', async () => {
    const there: Record<string, KubeObject> = { Service: service, Endpoints: endpoints };
    const { did, clear } = cluster(there, () => delete there['Service']);
    expect(await clear(both)).toEqual({ result: 'unchanged' });
    expect(did).toEqual(['Endpoints web-federated u2 7']);
  });

  it('go after the Endpoints that Kubernetes made with them, of which it would make others', async () => {
    const { did, clear } = cluster({ Service: service, Endpoints: endpoints });
    await clear(both);
    expect(did).toEqual(['Endpoints web-federated u2 7', ...OF_SLICES]);
  });

  it('go without Endpoints that do not have the labels of the Service, or that are watched (A6)', async () => {
    const foreign = { metadata: { ...endpoints.metadata, labels: { app: 'web' } } };
    for (const [found, action] of [
      [foreign, both],
      [endpoints, clear],
    ] as const) {
      const { did, clear: act } = cluster({ Service: service, Endpoints: found });
      await act(action);
      expect(did).toEqual(OF_SLICES);
    }
  });

  it('that come again and again are deleted less and less often', async () => {
    const { did, clear } = cluster({ Service: service });
    const results: string[] = [];
    for (let time = 0; time < 5; time += 1) results.push((await clear()).result);
    expect(results).toEqual(['deleted', 'deleted', 'deleted', 'deleted', 'deferred']);
    expect(did).toHaveLength(8);
  });
});
