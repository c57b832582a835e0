/** The life of a ServiceFailover, beside another. */
import { failoverCrd } from '../../../crds/index.ts';
import { SERVICE_FAILOVER } from '../kinds.ts';
import { coarsely, timeUntil } from '../look.ts';
import type { Scene } from '../scene.ts';
import type { Users } from '../users.ts';
import type { Life } from './life.ts';

const activeOf = (users: Users): string | undefined =>
  (users.failoverOf('web') as { readonly status?: { readonly active?: string } } | undefined)?.status?.active;

/** How long it takes until requests go back to a backend that is ready again. */
const wayBack = async (scene: Scene, users: Users): Promise<string> => {
  users.pods('west', 'web', '!-', '!-');
  await scene.rest();
  users.pods('west', 'web', '-', '-');
  const ms = await timeUntil(scene, 1_200_000, () => activeOf(users) === 'web-west');
  await scene.rest();
  return coarsely(ms);
};

export const failoverLife: Life = {
  name: 'ServiceFailover',
  crd: failoverCrd,
  at: 'source',
  object: { ...SERVICE_FAILOVER, namespace: 'shop', name: 'web' },
  spec: { service: 'web', backends: [{ service: 'web-west' }, { service: 'web' }], holdDown: '4s' },
  begin: (users) => {
    users.link('west');
    users.service('west', 'web');
    users.pods('west', 'web', '-', '-');
    for (const name of ['web', 'third', 'others']) {
      users.service('source', name);
      users.pods('source', name, '-', '-', '!-');
    }
    users.failover('others', { service: 'others', backends: [{ service: 'others' }, { service: 'third' }] });
  },
  samples: {
    'spec.service': ['third'],
    'spec.backends': [[{ service: 'web' }], [{ service: 'third' }, { service: 'web' }, { service: 'missing' }]],
    'spec.backends[].service': ['third'],
    'spec.backends[].minReady': [3, '50%', '100%'],
    'spec.backends[].weight': [9],
    'spec.holdDown': ['3m', '0'],
    'spec.routeKind': ['GRPCRoute'],
  },
  silent: {
    'spec.backends[].minReady="100%"': 'all are ready, as of 50%',
    'spec.backends[].minReady=1': 'one is ready, as of 100%',
    'spec.backends[].minReady=0': 'invalid, as what is before it',
    'spec.backends[].minReady=absent': '1 by default',
    'spec.backends[].weight=18': 'invalid, as what is before it: the other backend has none',
    'spec.backends[].weight=1': 'invalid, as what is before it',
  },
  pasts: { 'spec.holdDown="3m"': 'the first backend is made with it, and becomes ready after the second' },
  isOfOthers: (id) => /others/.test(id),
  measures: { 'spec.holdDown': wayBack },
};

/** The same with weights, without which a weight is invalid. */
export const weightsLife: Life = {
  ...failoverLife,
  name: 'ServiceFailover by weight',
  spec: {
    service: 'web',
    backends: [
      { service: 'web-west', weight: 90 },
      { service: 'web', weight: 10 },
    ],
    holdDown: '4s',
  },
  silent: {
    'spec.backends[].minReady="100%"': 'all are ready, as of 50%',
    'spec.backends[].minReady=1': 'one is ready, as of 100%',
    'spec.backends[].minReady=0': 'invalid, as what is before it',
    'spec.backends[].minReady=absent': '1 by default',
    'spec.holdDown="3m"': 'it shows as time passes, in the other life',
    'spec.holdDown="0"': 'likewise',
    'spec.holdDown=absent': 'likewise',
  },
  measures: {},
};
