import { describe, expect, it } from 'vitest';
import { namespacedResources, servedVerbs, serverVersion } from '../../../operator/kube/discovery.ts';
import { ApiError } from '../../../operator/kube/errors.ts';
import { ENDPOINT_SLICES, SERVICES } from '../../../operator/kube/objects.ts';

/** Answers by path; what is not among them is not found. */
const serving = (answers: Readonly<Record<string, unknown>>) => ({
  get: <T>(path: string, what: string): Promise<T> =>
    path in answers ? Promise.resolve(answers[path] as T) : Promise.reject(new ApiError(404, {}, what)),
});

const CORE = {
  resources: [
    { name: 'services/status', kind: 'Service', namespaced: true, verbs: ['get'] },
    { name: 'services', kind: 'Service', namespaced: true, verbs: ['list'] },
    { name: 'nodes', kind: 'Node', namespaced: false, verbs: ['list'] },
  ],
};

describe('discovery', () => {
  it('reads the verbs of a resource; none where that is not served', async () => {
    const client = serving({ '/api/v1': CORE, '/apis/discovery.k8s.io/v1': {} });
    expect(await servedVerbs(client, SERVICES)).toEqual(['list']);
    expect(await servedVerbs(client, ENDPOINT_SLICES)).toEqual([]);
    expect(await servedVerbs(serving({}), SERVICES)).toEqual([]);
  });

  it('reads the version of the API server', async () => {
    expect(await serverVersion(serving({ '/version': { gitVersion: 'v1.36.1' } }))).toBe('v1.36.1');
  });

  it('finds what has namespaces and can be listed, at the version that is preferred', async () => {
    const client = serving({
      '/api/v1': CORE,
      '/apis': { groups: [{ name: 'apps', preferredVersion: { version: 'v1' } }] },
      '/apis/apps/v1': {
        resources: [{ name: 'deployments', kind: 'Deployment', namespaced: true, verbs: ['list', 'get'] }],
      },
    });
    expect(await namespacedResources(client)).toEqual({
      resources: [
        SERVICES,
        { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true },
      ],
      unanswered: [],
    });
  });

  it('says which group does not answer: what it has is not known', async () => {
    const client = serving({
      '/api/v1': CORE,
      '/apis': { groups: [{ name: 'metrics.k8s.io', preferredVersion: { version: 'v1' } }] },
    });
    expect(await namespacedResources(client)).toEqual({
      resources: [SERVICES],
      unanswered: [expect.stringContaining('discover metrics.k8s.io/v1')],
    });
  });
});
