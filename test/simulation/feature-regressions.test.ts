/** Histories that once failed, shrunk: of federated Services, ServiceFailovers, imports and limits. */
import { expect, test } from 'vitest';
import type { Command, TargetName } from './command.ts';
import { run } from './run.ts';

const EXPORTED = { kind: 'clusterIP', exported: 'true', ports: 0, tag: 'a', publishNotReady: false } as const;

type Regression = readonly [string, readonly Command[]];

const READY = [{ hostname: '', ready: true }];

/** A Service of a target joins a federated Service. */
const joined = (link: TargetName): readonly Command[] => [
  { do: 'put service', link, namespace: 'shop', name: 'foo', ...EXPORTED, exported: 'none' },
  { do: 'set pods', link, namespace: 'shop', name: 'foo', pods: READY },
  { do: 'federate', link, namespace: 'shop', name: 'foo', member: true },
];

/** Federated Services that lead through gateways. */
const OF_FEDERATED_SERVICES: readonly Regression[] = [
  [
    'a federated Service keeps its ClusterIP while its cluster gets another name, and the name of its gateway no answer (L68)',
    [
      { do: 'edit link', link: 'bar', edit: { field: 'gatewayAddress', value: 'gateway.example' } },
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'foo', ...EXPORTED },
      { do: 'federate', link: 'bar', namespace: 'shop', name: 'foo', member: true },
      { do: 'wait', ms: 35_000 },
      { do: 'wait', ms: 35_000 },
      // It is seen to be there after all that concerns it.
      { do: 'edit link', link: 'bar', edit: { field: 'excluded', value: true } },
      { do: 'wait', ms: 4000 },
      { do: 'names', as: 'refused' },
      { do: 'edit link', link: 'bar', edit: { field: 'targetClusterName', value: 'far' } },
      { do: 'wait', ms: 4000 },
    ],
  ],
  [
    "a federated Service keeps its ClusterIP while its cluster gets another name, and Linkerd's local mirror runs (L68)",
    [
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'foo', ...EXPORTED },
      { do: 'federate', link: 'bar', namespace: 'shop', name: 'foo', member: true },
      { do: 'wait', ms: 4000 },
      { do: 'stop operator' },
      { do: 'linkerd local', act: 'start' },
      { do: 'wait', ms: 4000 },
      { do: 'start operator' },
      { do: 'wait', ms: 4000 },
      { do: 'edit link', link: 'bar', edit: { field: 'targetClusterName', value: 'far' } },
      { do: 'wait', ms: 35_000 },
    ],
  ],
  [
    'a federated Service goes when an operator starts and the Link of its only member has no gateway any more (I5)',
    [
      ...joined('bar'),
      { do: 'wait', ms: 35_000 },
      { do: 'stop operator' },
      { do: 'edit link', link: 'bar', edit: { field: 'gatewayAddress', value: '' } },
      { do: 'wait', ms: 35_000 },
      { do: 'wait', ms: 35_000 },
      { do: 'start operator' },
      { do: 'wait', ms: 35_000 },
    ],
  ],
  [
    'a member on a flat network leaves when another is to be reached through a gateway, and its Link has none (I5)',
    [
      { do: 'edit link', link: 'west', edit: { field: 'federation', value: 'flat' } },
      { do: 'edit link', link: 'bar', edit: { field: 'federation', value: 'flat' } },
      { do: 'edit link', link: 'bar', edit: { field: 'gatewayAddress', value: '' } },
      { do: 'wait', ms: 35_000 },
      { do: 'wait', ms: 35_000 },
      ...[...joined('bar'), ...joined('west')],
      { do: 'wait', ms: 35_000 },
      { do: 'edit link', link: 'west', edit: { field: 'federation', value: 'gateway' } },
      { do: 'wait', ms: 35_000 },
    ],
  ],
];

/** Federated Services that one target joins through its gateway, and another one on a flat network. */
const OF_A_FLAT_ONE: readonly Regression[] = [
  [
    'a federated Service does not name its operator for a Service that was lost before its target could be read (L182, I9)',
    [
      { do: 'linkerd', link: 'west', act: 'start' },
      {
        do: 'put service',
        link: 'west',
        namespace: 'shop',
        name: 'web',
        ...EXPORTED,
        kind: 'headless',
        exported: 'none',
      },
      { do: 'federate', link: 'west', namespace: 'shop', name: 'web', member: true },
      { do: 'put local', namespace: 'shop', name: 'web', kind: 'clusterIP', ports: 0, pods: READY, member: true },
      { do: 'put secret', link: 'west', as: 'without slices' },
      { do: 'wait', ms: 4000 },
      { do: 'lose all', link: 'west' },
    ],
  ],
];

/** Gateways with names. */
const OF_GATEWAYS: readonly Regression[] = [
  [
    'a Link is not synced while its gateway of before is in use, since the name of the next does not resolve (L156, G1)',
    [
      { do: 'edit link', link: 'west', edit: { field: 'gatewayAddress', value: 'gateway.example' } },
      { do: 'put service', link: 'west', namespace: 'shop', name: 'foo', ...EXPORTED },
      { do: 'set pods', link: 'west', namespace: 'shop', name: 'foo', pods: READY },
      { do: 'wait', ms: 35_000 },
      { do: 'names', as: 'refused' },
      { do: 'edit link', link: 'west', edit: { field: 'gatewayPort', value: '30143' } },
      { do: 'wait', ms: 35_000 },
    ],
  ],
];
const HERE = { namespace: 'shop', name: 'web' } as const;

const TO_WEST = { service: 'web', backends: [{ service: 'web-west' }, { service: 'web' }], holdDown: '5s' } as const;

/** What all of the next ones begin with: requests go to the mirror of west, and else to the Service of this cluster. */
const FAILED_OVER: readonly Command[] = [
  { do: 'put service', link: 'west', ...HERE, ...EXPORTED },
  { do: 'set pods', link: 'west', ...HERE, pods: READY },
  { do: 'put local', ...HERE, kind: 'clusterIP', ports: 0, pods: READY, member: false },
  { do: 'put failover', ...HERE, spec: TO_WEST },
  { do: 'wait', ms: 35_000 },
];

/** ServiceFailovers. */
const OF_FAILOVERS: readonly Regression[] = [
  [
    'the status of a ServiceFailover is put right, though its operator stays in it (J3)',
    [
      { do: 'write failover status', ...HERE, index: 1 },
      { do: 'wait', ms: 4000 },
    ],
  ],
  [
    'a ServiceFailover hears that the older route of another one is for its Service again (J4)',
    [
      { do: 'put failover', ...HERE, spec: { service: 'web-west', backends: [{ service: 'web' }], holdDown: '5s' } },
      { do: 'wait', ms: 35_000 },
      {
        ...{ do: 'put failover', namespace: 'shop', name: 'other' },
        spec: { service: 'web', backends: [{ service: 'web' }, { service: 'ghost' }], holdDown: '5s' },
      },
      { do: 'wait', ms: 35_000 },
      { do: 'put failover', ...HERE, spec: { service: 'web', backends: [{ service: 'web' }], holdDown: '5s' } },
    ],
  ],
  [
    'a route follows what is ready while the one of another kind that replaces it cannot be made (J3)',
    [
      { do: 'put failover', ...HERE, spec: { ...TO_WEST, routeKind: 'TCPRoute' } },
      { do: 'wait', ms: 4000 },
      { do: 'put route', namespace: 'shop', name: 'mine', kind: 'policy', parent: 'web' },
      { do: 'put failover', ...HERE, spec: TO_WEST },
      { do: 'wait', ms: 4000 },
      { do: 'kill gateway', link: 'west' },
      { do: 'wait', ms: 35_000 },
    ],
  ],
];

/** Imports. */
const OF_IMPORTS: readonly Regression[] = [
  [
    'a ServiceImport keeps its address while its only cluster gets another name (L81)',
    [
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'web', ...EXPORTED },
      { do: 'put export', at: 'bar', namespace: 'shop', name: 'web', metadata: 0 },
      { do: 'wait', ms: 4000 },
      { do: 'edit link', link: 'bar', edit: { field: 'targetClusterName', value: 'far' } },
      { do: 'wait', ms: 4000 },
    ],
  ],
  [
    'the status of an export is written again that a restored backup has taken back (L83)',
    [
      {
        ...{ do: 'put local', namespace: 'shop', name: 'web', kind: 'clusterIP', ports: 0, member: false },
        pods: [{ hostname: '', ready: true }],
      },
      { do: 'put export', at: 'east', namespace: 'shop', name: 'web', metadata: 0 },
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'web', ...EXPORTED, ports: 1 },
      { do: 'put export', at: 'bar', namespace: 'shop', name: 'web', metadata: 0 },
      { do: 'wait', ms: 15_000 },
      { do: 'set traffic', at: 'bar', namespace: 'shop', name: 'web', index: 1 },
      { do: 'wait', ms: 4000 },
      { do: 'down', at: 'east', ms: 3000, back: 2, more: 0 },
    ],
  ],
  [
    'a slice that a backup brings back is known as soon as it is written, and goes with its ServiceImport (K2, L181)',
    [
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'web', ...EXPORTED, exported: 'none' },
      { do: 'set pods', link: 'bar', namespace: 'shop', name: 'web', pods: READY },
      { do: 'put export', at: 'bar', namespace: 'shop', name: 'web', metadata: 0 },
      { do: 'wait', ms: 1000 },
      { do: 'remove link', link: 'bar' },
      { do: 'wait', ms: 4000 },
      { do: 'put local', namespace: 'shop', name: 'alt', kind: 'clusterIP', ports: 3, member: false, pods: [] },
      { do: 'put export', at: 'east', namespace: 'shop', name: 'alt', metadata: 2 },
      { do: 'wait', ms: 1100 },
      { do: 'put link', link: 'bar' },
      { do: 'wait', ms: 5 },
      { do: 'put link', link: 'west', invalid: false },
      { do: 'down', at: 'east', ms: 3000, back: 8, more: 1000 },
    ],
  ],
  [
    'a part that no Lease records goes, though its Link was deleted while no operator ran (K5, L166)',
    [
      { do: 'linkerd', link: 'bar', act: 'start' },
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'web', ...EXPORTED },
      { do: 'set pods', link: 'bar', ...HERE, pods: READY },
      { do: 'put export', at: 'bar', namespace: 'shop', name: 'web', metadata: 0 },
      { do: 'wait', ms: 15_000 },
      { do: 'stop operator' },
      { do: 'wait', ms: 1000 },
      { do: 'remove link', link: 'bar' },
      { do: 'wait', ms: 1000 },
      { do: 'start operator' },
    ],
  ],
];

/** Where of a target three pods have an endpoint mirror. */
const OF_A_LIMIT: readonly Regression[] = [
  [
    "a pod that is within the limit keeps its claim on a name that somebody else's Service has (A7, E10)",
    [
      { do: 'put foreign', kind: 'Service', namespace: 'shop', name: 'web-1-west', labels: 'mirror' },
      { do: 'put service', link: 'west', namespace: 'shop', name: 'foo-bar', ...EXPORTED, kind: 'headless' },
      { do: 'set pods', link: 'west', namespace: 'shop', name: 'foo-bar', pods: [{ hostname: 'web-1', ready: true }] },
      { do: 'put service', link: 'west', namespace: 'till', name: 'alt', ...EXPORTED, kind: 'headless' },
      {
        ...{ do: 'set pods', link: 'west', namespace: 'till', name: 'alt' },
        pods: [
          { hostname: 'web-1', ready: false },
          { hostname: 'web-2', ready: true },
        ],
      },
      { do: 'put service', link: 'west', namespace: 'shop', name: 'alt', ...EXPORTED, kind: 'headless' },
      {
        ...{ do: 'set pods', link: 'west', namespace: 'shop', name: 'alt' },
        pods: [
          { hostname: 'web-0', ready: true },
          { hostname: 'web-1', ready: false },
        ],
      },
    ],
  ],
];

test.each(OF_A_LIMIT)('%s', { timeout: 120_000 }, async (_, commands) => {
  const history = { endpoints: 'endpoints', replicas: 1, clocks: [], maxEndpointMirrors: 3 } as const;
  expect(await run({ ...history, commands }, 1)).toBeUndefined();
});

test.each(OF_FAILOVERS)('%s', { timeout: 120_000 }, async (_, then) => {
  const commands = [...FAILED_OVER, ...then];
  const failover = { second: false };
  expect(await run({ endpoints: 'endpoints', commands, replicas: 1, clocks: [], failover }, 1)).toBeUndefined();
});

test.each(OF_IMPORTS)('%s', { timeout: 120_000 }, async (_, commands) => {
  expect(await run({ endpoints: 'endpoints', commands, replicas: 1, clocks: [], imports: true }, 1)).toBeUndefined();
});

test.each(OF_A_FLAT_ONE)('%s', { timeout: 120_000 }, async (_, commands) => {
  const federation = { west: 'gateway', bar: 'flat' } as const;
  // What is listed first depends on the seed.
  for (const seed of [1, 2]) {
    expect(await run({ endpoints: 'slices', commands, replicas: 1, clocks: [], federation }, seed)).toBeUndefined();
  }
});

test.each(OF_FEDERATED_SERVICES)('%s', { timeout: 120_000 }, async (_, commands) => {
  const federation = { west: 'gateway', bar: 'gateway' } as const;
  expect(await run({ endpoints: 'endpoints', commands, replicas: 1, clocks: [], federation }, 1)).toBeUndefined();
});

test.each(OF_GATEWAYS)('%s', { timeout: 120_000 }, async (_, commands) => {
  expect(await run({ endpoints: 'endpoints', commands, replicas: 1, clocks: [] }, 1)).toBeUndefined();
});
