/** Pairs of changes of which the second undoes the first, in a scene with something of everything. */
import { SUSPENDED } from '../simulation/link-state.ts';
import type { Scene, TargetName } from './scene.ts';
import { FEDERATED, type Users } from './users.ts';

export interface Pair {
  readonly name: string;
  /** The cluster whose watches show it. */
  readonly at: TargetName | 'source';
  readonly first: (users: Users, scene: Scene) => void;
  readonly undo: (users: Users, scene: Scene) => void;
}

/** Two targets that export by every way, federated Services with a member here, and a ServiceFailover. */
export function everything(users: Users): void {
  users.discover();
  users.claimIds();
  for (const target of ['west', 'bar'] as const) {
    users.service(target, 'web', { member: true });
    users.pods(target, 'web', '-', '!-');
    users.service(target, 'db', { kind: 'headless' });
    users.pods(target, 'db', 'db-0', 'db-1');
    users.service(target, 'direct', { exported: 'remote-discovery' });
    users.pods(target, 'direct', '-');
    users.exportService(target, 'web');
    users.link(target, { enableHeadlessServices: true, federation: 'gateway', ...FEDERATED });
  }
  users.service('source', 'web', { member: true });
  users.pods('source', 'web', '-');
  users.failover('web', { service: 'web', backends: [{ service: 'web-west' }, { service: 'web' }], holdDown: '0' });
  users.failover('other', { service: 'web-bar', backends: [{ service: 'web-bar' }] });
}

const HEADLESS = { kind: 'headless' } as const;
const LINK_SPEC = { enableHeadlessServices: true, federation: 'gateway', ...FEDERATED };

const ofTarget: readonly (readonly [string, Pair['first'], Pair['undo']])[] = [
  [
    'a Service made, and deleted',
    (users) => users.service('west', 'new'),
    (users) => users.remove('west', 'Service', 'new'),
  ],
  [
    'a Service deleted, and made anew',
    (users) => users.remove('west', 'Service', 'direct'),
    (users) => users.service('west', 'direct', { exported: 'remote-discovery' }),
  ],
  [
    'a headless Service deleted, and made anew',
    (users) => users.remove('west', 'Service', 'db'),
    (users) => users.service('west', 'db', HEADLESS),
  ],
  [
    'unexported, and exported',
    (users) => users.exporting('west', 'web', 'none'),
    (users) => users.exporting('west', 'web', 'true'),
  ],
  [
    'headless unexported, and exported',
    (users) => users.exporting('west', 'db', 'none'),
    (users) => users.exporting('west', 'db', 'true'),
  ],
  [
    'flat, and not',
    (users) => users.exporting('west', 'web', 'remote-discovery'),
    (users) => users.exporting('west', 'web', 'true'),
  ],
  [
    'not flat, and flat',
    (users) => users.exporting('west', 'direct', 'true'),
    (users) => users.exporting('west', 'direct', 'remote-discovery'),
  ],
  ['other ports, and back', (users) => users.ports('west', 'web', 1), (users) => users.ports('west', 'web', 0)],
  [
    'another label, and back',
    (users) => users.service('west', 'web', { tag: 'b', member: true }),
    (users) => users.service('west', 'web', { tag: 'a', member: true }),
  ],
  [
    'no member, and a member',
    (users) => users.service('west', 'web'),
    (users) => users.service('west', 'web', { member: true }),
  ],
  [
    'no pod ready, and one',
    (users) => users.pods('west', 'web', '!-', '!-'),
    (users) => users.pods('west', 'web', '-', '!-'),
  ],
  ['pods gone, and back', (users) => users.pods('west', 'web'), (users) => users.pods('west', 'web', '-', '!-')],
  [
    'a named pod gone, and back',
    (users) => users.pods('west', 'db', 'db-0'),
    (users) => users.pods('west', 'db', 'db-0', 'db-1'),
  ],
  [
    'a named pod more, and gone',
    (users) => users.pods('west', 'db', 'db-0', 'db-1', 'db-2'),
    (users) => users.pods('west', 'db', 'db-0', 'db-1'),
  ],
  [
    'a named pod not ready, and ready',
    (users) => users.pods('west', 'db', 'db-0', '!db-1'),
    (users) => users.pods('west', 'db', 'db-0', 'db-1'),
  ],
  [
    'an export taken back, and made',
    (users) => users.unexportService('west', 'web'),
    (users) => users.exportService('west', 'web'),
  ],
  [
    'an export made, and taken back',
    (users) => users.exportService('west', 'db'),
    (users) => users.unexportService('west', 'db'),
  ],
];

const ofSource: readonly (readonly [string, Pair['first'], Pair['undo']])[] = [
  ['a Link deleted, and made anew', (users) => users.unlink('west'), (users) => users.link('west', LINK_SPEC)],
  [
    'a Link more, and gone',
    (users) => users.link('late', { targetClusterName: 'late', serviceExports: false }),
    (users) => users.unlink('late'),
  ],
  [
    'another gateway, and back',
    (users) => users.editLink('west', { gatewayPort: '4444' }),
    (users) => users.editLink('west', { gatewayPort: '4143' }),
  ],
  [
    'invalid, and valid',
    (users) => users.editLink('west', { gatewayPort: 'none' }),
    (users) => users.editLink('west', { gatewayPort: '4143' }),
  ],
  [
    'selecting nothing, and back',
    (users) => users.editLink('west', { federatedServiceSelector: {} }),
    (users) => users.editLink('west', FEDERATED),
  ],
  [
    'another cluster name, and back',
    (users) => users.editLink('west', { targetClusterName: 'far' }),
    (users) => users.editLink('west', { targetClusterName: 'west' }),
  ],
  [
    'suspended, and not',
    (users) => users.annotateLink('west', SUSPENDED, 'true'),
    (users) => users.annotateLink('west', SUSPENDED, undefined),
  ],
  [
    'bad credentials, and good ones',
    (users) => users.credentials('west', 'unauthorized'),
    (users) => users.credentials('west'),
  ],
  [
    'no credentials, and good ones',
    (users) => users.remove('source', 'Secret', 'cluster-credentials-west', 'linkerd-multicluster'),
    (users) => users.credentials('west'),
  ],
  [
    'a ServiceFailover deleted, and made anew',
    (users) => users.remove('source', 'ServiceFailover', 'web', 'shop', 'linkspan.dev/v1alpha1'),
    (users) =>
      users.failover('web', { service: 'web', backends: [{ service: 'web-west' }, { service: 'web' }], holdDown: '0' }),
  ],
  [
    "somebody's own, and gone",
    (users) => users.service('source', 'new-west'),
    (users) => users.remove('source', 'Service', 'new-west'),
  ],
  [
    'a member here leaves, and joins',
    (users) => users.service('source', 'web'),
    (users) => users.service('source', 'web', { member: true }),
  ],
  ['pods here gone, and back', (users) => users.pods('source', 'web'), (users) => users.pods('source', 'web', '-')],
];

export const PAIRS: readonly Pair[] = [
  ...ofTarget.map(([name, first, undo]): Pair => ({ name, at: 'west', first, undo })),
  ...ofSource.map(([name, first, undo]): Pair => ({ name, at: 'source', first, undo })),
];

/** @throws RangeError if there is none of that name */
export function pairOf(name: string): Pair {
  const pair = PAIRS.find((each) => each.name === name);
  if (pair === undefined) throw new RangeError(`no pair is called "${name}"`);
  return pair;
}
