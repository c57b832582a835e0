/** Histories that once failed, shrunk: each the fewest commands that showed a defect, and the rule it broke. */
import { describe, expect, test } from 'vitest';
import type { Command } from './command.ts';
import type { History } from './history.ts';
import { run } from './run.ts';

const EXPORTED = { kind: 'clusterIP', exported: 'true', ports: 0, tag: 'a', publishNotReady: false } as const;

type Regression = readonly [string, readonly Command[]];

const REGRESSIONS: readonly Regression[] = [
  [
    "a user's own Service of the probe Service's name gets no endpoints of ours (A6)",
    [
      {
        do: 'put foreign',
        kind: 'Service',
        namespace: 'linkerd-multicluster',
        name: 'probe-bar',
        labels: 'none',
      },
    ],
  ],
  [
    'an identity that is taken from the Link goes from the endpoints of its probe Service (C4)',
    [
      { do: 'wait', ms: 1000 },
      { do: 'edit link', link: 'west', edit: { field: 'gatewayIdentity', value: '' } },
    ],
  ],
  [
    'a name is given up by its holder when a target that is listed later wins it (A7)',
    [
      { do: 'fail', at: 'west', how: 'drop before', fraction: 1, times: 8 },
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'foo', ...EXPORTED },
      { do: 'put service', link: 'west', namespace: 'shop', name: 'foo-bar', ...EXPORTED },
    ],
  ],
  [
    'a mirror that a user makes his own while its Link is removed is not deleted (A6)',
    [
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'foo', ...EXPORTED },
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'web', ...EXPORTED },
      { do: 'wait', ms: 1000 },
      { do: 'remove link', link: 'bar' },
      { do: 'edit mirror', kind: 'Service', index: 3, how: 'disown' },
    ],
  ],
  [
    "a slice made by hand counts where Kubernetes' own lists nobody, also after the Service got a selector (D9)",
    [
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'foo', ...EXPORTED, kind: 'selectorless' },
      { do: 'set slice', link: 'bar', namespace: 'shop', name: 'foo', pods: [{ hostname: 'web-0', ready: false }] },
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'foo', ...EXPORTED, kind: 'headless' },
    ],
  ],
  [
    'what a renamed Link left is removed, though the other was deleted before its Lease recorded anything (E5)',
    [
      { do: 'put service', link: 'west', namespace: 'shop', name: 'web', ...EXPORTED },
      { do: 'wait', ms: 1000 },
      { do: 'delay', at: 'east' },
      { do: 'rename link', first: 'remove' },
      { do: 'wait', ms: 60 },
      { do: 'remove link', link: 'west-v2' },
      { do: 'stop operator' },
    ],
  ],
  [
    'a mirror is replaced once the source cluster is well again, where a webhook denied what comes in its place (D3)',
    [
      { do: 'put service', link: 'west', namespace: 'shop', name: 'web', ...EXPORTED },
      { do: 'set pods', link: 'west', namespace: 'shop', name: 'web', pods: [{ hostname: 'web-0', ready: true }] },
      { do: 'wait', ms: 4000 },
      { do: 'deny', operation: 'create', resource: 'services', code: 500, ms: 40_000 },
      { do: 'wait', ms: 15_000 },
      { do: 'put service', link: 'west', namespace: 'shop', name: 'web', ...EXPORTED, kind: 'headless' },
      { do: 'heal', at: 'east' },
      { do: 'wait', ms: 15_000 },
    ],
  ],
  [
    'two headless Services whose pods swap their names swap their endpoint mirrors (A7)',
    [
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'foo', ...EXPORTED, kind: 'headless' },
      { do: 'set pods', link: 'bar', namespace: 'shop', name: 'foo', pods: [{ hostname: 'web-1', ready: true }] },
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'web', ...EXPORTED, kind: 'headless' },
      {
        ...{ do: 'set pods', link: 'bar', namespace: 'shop', name: 'web' },
        pods: [
          { hostname: 'web-0', ready: true },
          { hostname: 'web-1', ready: true },
        ],
      },
      { do: 'wait', ms: 1000 },
      { do: 'set pods', link: 'bar', namespace: 'shop', name: 'foo', pods: [{ hostname: 'web-0', ready: true }] },
    ],
  ],
  [
    'a Link that a restored source cluster has with another spec of the same generation is served by that (E5)',
    [
      { do: 'edit link', link: 'bar', edit: { field: 'targetClusterName', value: 'far' } },
      { do: 'wait', ms: 1000 },
      { do: 'down', at: 'east', ms: 20_000, back: 3, more: 1000 },
      { do: 'edit link', link: 'bar', edit: { field: 'gatewayAddress', value: '203.0.113.11' } },
    ],
  ],
  [
    'what a Link left that named another cluster, and a restored source cluster has again, is removed (E5)',
    [
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'foo', ...EXPORTED },
      { do: 'wait', ms: 4000 },
      { do: 'edit link', link: 'bar', edit: { field: 'targetClusterName', value: 'far' } },
      { do: 'wait', ms: 35_000 },
      { do: 'down', at: 'east', ms: 3000, back: 2, more: 0 },
    ],
  ],
  [
    'a Link that is deleted, and that a restored source cluster has again in the next moment, is reported on (G1)',
    [
      { do: 'wait', ms: 4000 },
      { do: 'remove link', link: 'west' },
      { do: 'wait', ms: 100 },
      { do: 'down', at: 'east', ms: 3000, back: 3, more: 0 },
    ],
  ],
  [
    'what a deleted Link left and a restored source cluster has again is removed (E5)',
    [
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'foo', ...EXPORTED },
      { do: 'wait', ms: 1000 },
      { do: 'remove link', link: 'bar' },
      { do: 'wait', ms: 35_000 },
      { do: 'down', at: 'east', ms: 3000, back: 2, more: 0 },
    ],
  ],
  [
    'what a Link left is removed with the invalid Link that names its former cluster (E5, E9, L59)',
    [
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'foo', ...EXPORTED },
      { do: 'remove link', link: 'west' },
      { do: 'wait', ms: 4000 },
      { do: 'edit link', link: 'bar', edit: { field: 'targetClusterName', value: 'west' } },
      { do: 'wait', ms: 4000 },
      { do: 'put link', link: 'west-v2', invalid: true },
      { do: 'wait', ms: 1000 },
      { do: 'edit link', link: 'bar', edit: { field: 'targetClusterName', value: 'bar-west' } },
      { do: 'wait', ms: 4000 },
      { do: 'remove link', link: 'west-v2' },
    ],
  ],
  [
    "what a Link left is recorded while Linkerd's controller holds the Lease of the next (E5, E9, L60)",
    [
      { do: 'linkerd', link: 'west-v2', act: 'start' },
      { do: 'put service', link: 'west', namespace: 'shop', name: 'alt', ...EXPORTED },
      { do: 'wait', ms: 4000 },
      { do: 'rename link', first: 'remove' },
      { do: 'wait', ms: 4000 },
      { do: 'kill operator' },
      { do: 'remove link', link: 'west-v2' },
      { do: 'start operator' },
      // Not the last Link that there is: those might all have vanished.
      { do: 'wait', ms: 4000 },
    ],
  ],
  [
    'what is written after a restore to before there was a Lease is recorded (H1, L62)',
    [
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'foo', ...EXPORTED },
      { do: 'wait', ms: 1000 },
      { do: 'down', at: 'east', ms: 3000, back: 2, more: 0 },
      { do: 'down', at: 'east', ms: 1000, back: 0, more: 0 },
      { do: 'wait', ms: 4000 },
      { do: 'edit link', link: 'bar', edit: { field: 'targetClusterName', value: 'far' } },
      { do: 'wait', ms: 100 },
      { do: 'kill operator' },
      { do: 'start operator' },
    ],
  ],
  [
    'a Link that selects nothing is ready (A1)',
    [
      { do: 'edit link', link: 'bar', edit: { field: 'selector', value: 'empty' } },
      { do: 'edit link', link: 'bar', edit: { field: 'remoteDiscoverySelector', value: 'empty' } },
    ],
  ],
  [
    'a gateway that dies behind a target that nobody can read is found out (E4, F3)',
    [
      { do: 'put service', link: 'west', namespace: 'shop', name: 'web', ...EXPORTED },
      { do: 'set pods', link: 'west', namespace: 'shop', name: 'web', pods: [{ hostname: '', ready: true }] },
      { do: 'wait', ms: 4000 },
      { do: 'down', at: 'west', ms: 200_000, back: 0, more: 0 },
      { do: 'stop operator' },
      { do: 'start operator' },
      { do: 'kill gateway', link: 'west' },
      { do: 'wait', ms: 35_000 },
      { do: 'wait', ms: 35_000 },
    ],
  ],
  [
    'a target that loses its Services, and then the rest, costs no mirror until that is confirmed (E6)',
    [
      { do: 'put many', link: 'west' },
      { do: 'wait', ms: 4000 },
      { do: 'lose all', link: 'west' },
      { do: 'wait', ms: 1000 },
      { do: 'lose all', link: 'west' },
      { do: 'wait', ms: 4000 },
    ],
  ],
  [
    'a loss that was confirmed while Links could not be read confirms no later one of the same Services (E6, L96)',
    [
      { do: 'put many', link: 'west' },
      { do: 'wait', ms: 4000 },
      { do: 'forbid', resource: 'links', ms: 14_000 },
      // Until a watch ends, the right to open one is not missed.
      { do: 'drop watches', at: 'east' },
      { do: 'wait', ms: 1000 },
      { do: 'lose all', link: 'west' },
      { do: 'wait', ms: 2000 },
      { do: 'confirm prunes' },
      { do: 'wait', ms: 1000 },
      { do: 'put many', link: 'west' },
      { do: 'wait', ms: 2000 },
      { do: 'lose all', link: 'west' },
      { do: 'wait', ms: 35_000 },
    ],
  ],
  [
    'a loss that was confirmed confirms no later one that is found while the Link is invalid (E6, E7, L112)',
    [
      { do: 'put many', link: 'west' },
      { do: 'wait', ms: 4000 },
      { do: 'lose all', link: 'west' },
      { do: 'wait', ms: 4000 },
      { do: 'confirm prunes' },
      { do: 'wait', ms: 4000 },
      { do: 'put many', link: 'west' },
      { do: 'wait', ms: 4000 },
      { do: 'edit link', link: 'west', edit: { field: 'period', value: '0s' } },
      { do: 'wait', ms: 4000 },
      { do: 'stop operator' },
      { do: 'lose all', link: 'west' },
      { do: 'start operator' },
      { do: 'wait', ms: 35_000 },
      { do: 'edit link', link: 'west', edit: { field: 'period', value: '3s' } },
      { do: 'wait', ms: 4000 },
    ],
  ],
  [
    'a loss that was confirmed confirms no later one that is found once a suspended Link is resumed (E6, H9, L148)',
    [
      { do: 'put many', link: 'west' },
      { do: 'wait', ms: 4000 },
      { do: 'lose all', link: 'west' },
      { do: 'wait', ms: 4000 },
      { do: 'deny', operation: 'delete', resource: 'services', code: 403, ms: 4000 },
      { do: 'confirm prunes' },
      { do: 'wait', ms: 1000 },
      { do: 'suspend link', link: 'west' },
      { do: 'wait', ms: 4000 },
      { do: 'put many', link: 'west' },
      { do: 'wait', ms: 4000 },
      { do: 'lose all', link: 'west' },
      { do: 'resume link', link: 'west' },
      { do: 'wait', ms: 35_000 },
    ],
  ],
  [
    'a refusal of the credentials does not outlive the selectors that they were used for (G1, L114)',
    [
      { do: 'put secret', link: 'bar', as: 'early' },
      { do: 'stop operator' },
      { do: 'start operator' },
      { do: 'wait', ms: 4000 },
      { do: 'edit link', link: 'bar', edit: { field: 'remoteDiscoverySelector', value: 'empty' } },
      { do: 'edit link', link: 'bar', edit: { field: 'selector', value: 'empty' } },
      { do: 'wait', ms: 4000 },
    ],
  ],
  [
    "Linkerd's controller keeps the Link that it holds, and what it leaves is taken over (H1, A8)",
    [
      { do: 'linkerd', link: 'west', act: 'start' },
      { do: 'put service', link: 'west', namespace: 'shop', name: 'web', ...EXPORTED },
      { do: 'wait', ms: 35_000 },
      { do: 'linkerd', link: 'west', act: 'kill' },
    ],
  ],
  [
    'what a Link does not select any more goes whole, also where its slices are lost in the same moment (E6)',
    [
      { do: 'put set', link: 'west', pods: 12 },
      { do: 'wait', ms: 4000 },
      { do: 'edit link', link: 'west', edit: { field: 'selector', value: 'empty' } },
      { do: 'lose slices', link: 'west', ms: 30_000 },
    ],
  ],
  ['an operator that is stopped before it has begun stops (H2)', [{ do: 'stop operator' }]],
  [
    'what is confirmed may go after the next change of settings too, which takes away nothing more (E6)',
    [
      { do: 'put set', link: 'west', pods: 12 },
      { do: 'wait', ms: 4000 },
      { do: 'edit link', link: 'west', edit: { field: 'enableHeadlessServices', value: false } },
      { do: 'wait', ms: 4000 },
      { do: 'weather', at: 'east', weather: 'slow', ms: 12_000 },
      { do: 'confirm prunes' },
      { do: 'edit link', link: 'west', edit: { field: 'selector', value: 'value' } },
      { do: 'wait', ms: 4000 },
    ],
  ],
  [
    'what a mirror that becomes headless has of the one before is not ready once its Link has no gateway (C1, D3)',
    [
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'web', ...EXPORTED },
      { do: 'set pods', link: 'bar', namespace: 'shop', name: 'web', pods: [{ hostname: 'web-1', ready: true }] },
      { do: 'wait', ms: 4000 },
      { do: 'put service', link: 'bar', namespace: 'shop', name: 'web', ...EXPORTED, kind: 'headless' },
      { do: 'wait', ms: 3 },
      { do: 'edit link', link: 'bar', edit: { field: 'gatewayAddress', value: '' } },
      { do: 'wait', ms: 35_000 },
      { do: 'wait', ms: 35_000 },
    ],
  ],
  [
    'endpoints whose Service a webhook has denied are not ready once their Link has no gateway (C1, F3, L86)',
    [
      { do: 'deny', operation: 'create', resource: 'services', code: 403, ms: 40_000 },
      { do: 'wait', ms: 15_000 },
      { do: 'put service', link: 'west', namespace: 'shop', name: 'web', ...EXPORTED },
      { do: 'set pods', link: 'west', namespace: 'shop', name: 'web', pods: [{ hostname: '', ready: true }] },
      { do: 'wait', ms: 1000 },
      { do: 'edit link', link: 'west', edit: { field: 'gatewayAddress', value: '' } },
      { do: 'wait', ms: 35_000 },
      { do: 'wait', ms: 35_000 },
    ],
  ],
  [
    'endpoints whose writes a webhook denies follow the gateway within five minutes (F3, H4)',
    [
      { do: 'put service', link: 'west', namespace: 'shop', name: 'web', ...EXPORTED },
      { do: 'set pods', link: 'west', namespace: 'shop', name: 'web', pods: [{ hostname: '', ready: true }] },
      { do: 'wait', ms: 4000 },
      { do: 'deny', operation: 'update', resource: 'endpoints', code: 403, ms: 40_000 },
      { do: 'deny', operation: 'update', resource: 'endpointslices', code: 403, ms: 40_000 },
      { do: 'kill gateway', link: 'west' },
      ...Array.from({ length: 7 }, (): Command => ({ do: 'wait', ms: 60_000 })),
    ],
  ],
  [
    'endpoints whose Service a user has made his own follow the gateway while their target cannot be read (F3, L86)',
    [
      { do: 'put service', link: 'west', namespace: 'shop', name: 'web', ...EXPORTED },
      { do: 'set pods', link: 'west', namespace: 'shop', name: 'web', pods: [{ hostname: '', ready: true }] },
      { do: 'wait', ms: 4000 },
      { do: 'rename link', first: 'remove' },
      { do: 'put secret', link: 'west-v2', as: 'garbage' },
      { do: 'wait', ms: 35_000 },
      { do: 'edit mirror', kind: 'Service', index: 2, how: 'disown' },
      { do: 'kill gateway', link: 'west' },
      { do: 'wait', ms: 35_000 },
    ],
  ],
  [
    'a pod whose ports leave the import policy of its Link loses its endpoint mirror (N4, D6)',
    [
      { do: 'edit link', link: 'west', edit: { field: 'importPolicy', value: 'ports' } },
      { do: 'put service', link: 'west', namespace: 'shop', name: 'web', ...EXPORTED, kind: 'headless' },
      { do: 'set pods', link: 'west', namespace: 'shop', name: 'web', pods: [{ hostname: 'web-1', ready: true }] },
      { do: 'wait', ms: 4000 },
      { do: 'put service', link: 'west', namespace: 'shop', name: 'web', ...EXPORTED, kind: 'headless', ports: 3 },
      { do: 'set pods', link: 'west', namespace: 'shop', name: 'web', pods: [{ hostname: 'web-1', ready: true }] },
      { do: 'wait', ms: 4000 },
    ],
  ],
];

/** The same where the source cluster has pods. */
const OF_PODS: readonly Regression[] = [
  [
    'a mirror whose deletion is held does not keep the selector that somebody has given it (C3, E6)',
    [
      { do: 'put many', link: 'west' },
      { do: 'wait', ms: 4000 },
      { do: 'lose all', link: 'west' },
      { do: 'wait', ms: 35_000 },
      { do: 'edit mirror', kind: 'Service', index: 1, how: 'selector' },
      { do: 'edit mirror', kind: 'Service', index: 2, how: 'selector' },
      { do: 'wait', ms: 15_000 },
    ],
  ],
  [
    'a slice that says Kubernetes maintains it, and has lost the labels that prove it ours, is made anew (C3)',
    [
      { do: 'put many', link: 'west' },
      { do: 'wait', ms: 4000 },
      { do: 'edit mirror', index: 7, how: 'manager', kind: 'EndpointSlice' },
      { do: 'edit mirror', index: 7, how: 'unlabel', kind: 'EndpointSlice' },
    ],
  ],
  ...['put right', 'put right, also when it is kept'].map((what, index): Regression => [
    `a mirror with a selector whose repair a webhook denies is ${what}, within five minutes (C3, H4)`,
    [
      { do: 'put many', link: 'west' },
      { do: 'wait', ms: 4000 },
      ...Array.from({ length: index }, (): Command => ({ do: 'lose all', link: 'west' })),
      { do: 'wait', ms: 4000 },
      { do: 'deny', operation: 'update', resource: 'services', code: 403, ms: 40_000 },
      { do: 'edit mirror', kind: 'Service', index: 5, how: 'selector' },
      ...Array.from({ length: 7 }, (): Command => ({ do: 'wait', ms: 60_000 })),
    ],
  ]),
];

test('of a crowd, pods that are gone already do not count when headless Services are switched off (E6, D11)', async () => {
  const commands: readonly Command[] = [
    { do: 'wait', ms: 4000 },
    { do: 'change crowd', pods: 90, ready: 90 },
    { do: 'wait', ms: 4000 },
    { do: 'edit link', link: 'west', edit: { field: 'enableHeadlessServices', value: false } },
  ];
  const crowd = { pods: 250, renderMs: 2 };
  const history = { endpoints: 'endpoints', replicas: 1, clocks: [], graceSeconds: 60, maxEndpointMirrors: 8 } as const;
  expect(await run({ ...history, commands, crowd }, 1)).toBeUndefined();
});

describe('of what is lost, that whose creation has not been answered is counted too (E6, L189):', () => {
  const unanswered = (times: number, ...put: readonly Command[]): readonly Command[] => [
    { do: 'fail', at: 'east', how: 'hang after', fraction: 0.3, times },
    { do: 'silence watches', at: 'east' },
    ...put,
    { do: 'wait', ms: 1000 },
  ];
  const common = { endpoints: 'slices', replicas: 1, clocks: [] } as const;
  const many: readonly Command[] = [
    { do: 'put many', link: 'west' },
    { do: 'wait', ms: 4000 },
  ];

  test('mirrors', async () => {
    const put = unanswered(16, { do: 'put many', link: 'west' });
    expect(await run({ ...common, commands: [...put, { do: 'lose all', link: 'west' }] }, 2)).toBeUndefined();
  });

  test('memberships', async () => {
    const federate = (_: unknown, index: number): Command => ({
      ...{ do: 'federate', link: 'west', namespace: 'shop' },
      ...{ name: `many-${index}`, member: true },
    });
    const put = unanswered(8, ...Array.from({ length: 12 }, federate));
    const commands: readonly Command[] = [...many, ...put, { do: 'lose all', link: 'west' }];
    const federation = { west: 'gateway', bar: 'gateway' } as const;
    expect(await run({ ...common, commands, federation }, 1)).toBeUndefined();
  });

  test('parts in ServiceImports', async () => {
    const put = unanswered(8, { do: 'export many', link: 'west', exported: true });
    const commands: readonly Command[] = [...many, ...put, { do: 'lose exports', link: 'west' }];
    expect(await run({ ...common, commands, imports: true }, 1)).toBeUndefined();
  });
});

test('a confirmed loss of a backup confirms none of other selectors (E6, L295)', { timeout: 120_000 }, async () => {
  const commands: readonly Command[] = [
    { do: 'put many', link: 'west' },
    { do: 'wait', ms: 4000 },
    { do: 'lose all', link: 'west' },
    { do: 'wait', ms: 4000 },
    { do: 'confirm prunes' },
    { do: 'wait', ms: 4000 },
    { do: 'put many', link: 'west' },
    { do: 'wait', ms: 4000 },
    { do: 'lose slices', link: 'west', ms: 30_000 },
    { do: 'expire watches', at: 'east' },
    { do: 'put foreign', kind: 'Service', namespace: 'shop', name: 'foo-bar-west', labels: 'none' },
    { do: 'fail', at: 'east', how: '503', fraction: 0.3, times: 8 },
    { do: 'down', at: 'east', ms: 3000, back: 8, more: 10 },
    { do: 'wait', ms: 4000 },
    { do: 'wait', ms: 35_000 },
    { do: 'kill operator', replica: 0 },
    { do: 'wait', ms: 1000 },
    { do: 'edit link', link: 'west', edit: { field: 'selector', value: 'empty' } },
  ];
  const history: History = { endpoints: 'slices', replicas: 1, clocks: [], commands };
  // What is on the Lease in the backup depends on the order of a few milliseconds: one in five shows the defect.
  for (const seed of [2, 10, 11]) expect(await run(history, seed)).toBeUndefined();
});

test.each(OF_PODS)('%s', { timeout: 120_000 }, async (_, commands) => {
  for (const endpoints of ['endpoints', 'slices'] as const) {
    expect(await run({ endpoints, commands, replicas: 1, clocks: [], hasPods: true }, 1)).toBeUndefined();
  }
});

test.each(REGRESSIONS)('%s', { timeout: 120_000 }, async (_, commands) => {
  for (const endpoints of ['endpoints', 'slices'] as const) {
    expect(await run({ endpoints, commands, replicas: 1, clocks: [] }, 1)).toBeUndefined();
  }
});
