/**
 * Draws ServiceFailovers (rules J1 to J6) into a history: those that there are to begin with, and what users do with them,
 * with routes and with Services. All of it is drawn after the rest of a history, which stays as it was.
 */
import fc from 'fast-check';
import {
  CLUSTER_OF,
  type Command,
  type FailoverSpec,
  type Kind,
  type LinkName,
  type OfSource,
  OTHER_CLUSTER,
  type PodState,
  type RouteEdit,
  type RouteKind,
  TARGET_OF,
  type TargetName,
} from '../command.ts';
import { HOSTILE_STATUSES } from '../failover-users.ts';
import type { History } from '../history.ts';
import { doing } from './fields.ts';
import { insert, placed, single, wait, type WeightedLots } from './lots.ts';
import type { Weighted } from './weighted.ts';

type Spec = FailoverSpec;
type Backend = Spec['backends'][number];

const namespace = fc.constantFrom(...([...Array<'shop'>(7).fill('shop'), 'till'] as const));
const local = fc.constantFrom('web', 'web', 'web', 'alt', 'foo');
const mirror = fc.constantFrom(
  ...([...Array<string>(3).fill(`web-${CLUSTER_OF.west}`), ...Array<string>(2).fill(`web-${CLUSTER_OF.bar}`)] as const),
  ...([`alt-${CLUSTER_OF.west}`, `foo-bar-${CLUSTER_OF.west}`, `web-${OTHER_CLUSTER}`] as const),
);
const minReady = fc.constantFrom<Backend['minReady']>(undefined, undefined, undefined, 1, 2, '50%', '100%');
const pods: fc.Arbitrary<readonly PodState[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant([{ hostname: '', ready: true }]) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.boolean(), { minLength: 1, maxLength: 4, size: 'max' })
      .map((all) => all.map((ready) => ({ hostname: '', ready }))),
  },
  { weight: 1, arbitrary: fc.constant([]) },
);

/** Several Services, mostly each once. */
const backends: fc.Arbitrary<readonly Backend[]> = fc
  .tuple(
    fc.uniqueArray(
      fc.oneof(
        { weight: 3, arbitrary: mirror },
        { weight: 4, arbitrary: local },
        { weight: 1, arbitrary: fc.constant('ghost') },
      ),
      {
        minLength: 1,
        maxLength: 4,
        size: 'max',
      },
    ),
    fc.array(minReady, { minLength: 4, maxLength: 4 }),
    fc.option(fc.array(fc.constantFrom(1, 10, 90), { minLength: 4, maxLength: 4 }), { freq: 3 }),
  )
  .map(([services, least, weights]) =>
    services.map((service, at): Backend => ({
      service,
      ...(least[at] !== undefined && { minReady: least[at] }),
      ...(weights?.[at] !== undefined && { weight: weights[at] }),
    })),
  );

const spec: fc.Arbitrary<Spec> = fc
  .tuple(
    fc.oneof({ weight: 6, arbitrary: local }, { weight: 1, arbitrary: mirror }),
    backends,
    fc.constantFrom(undefined, '0', '5s', '5s', '20s', '40s'),
    fc.constantFrom<Spec['routeKind']>(...([...Array<undefined>(8).fill(undefined), 'GRPCRoute', 'TCPRoute'] as const)),
  )
  .map(([service, listed, holdDown, routeKind]) => ({
    ...{ service, backends: listed },
    ...(holdDown !== undefined && { holdDown }),
    ...(routeKind !== undefined && { routeKind }),
  }));

/** What the CRD refuses. */
const odd: fc.Arbitrary<Spec> = fc.constantFrom<Spec>(
  { service: 'web', backends: [{ service: 'web' }, { service: 'web' }] },
  { service: 'web', backends: [{ service: 'web', weight: 5 }, { service: 'alt' }] },
);

const named: fc.Arbitrary<OfSource> = fc.record({ namespace, name: fc.constantFrom('web', 'web', 'web', 'other') });

const put: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.tuple(named, spec).map(([which, says]): Command => ({ do: 'put failover', ...which, spec: says })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(named, odd)
      .map(([which, says]): Command => ({ do: 'put failover', ...which, spec: says, raw: true })),
  },
);

/** Mostly one that can be the parent of routes. */
const kind = fc.constantFrom<Kind>(
  ...([...Array<'clusterIP'>(7).fill('clusterIP'), 'selectorless', 'headless', 'external'] as const),
);
const ports = fc.constantFrom(...([...Array<number>(6).fill(0), 1, 2, 3, 4] as const));

const putLocal: fc.Arbitrary<Command> = fc
  .tuple(namespace, local, kind, ports, pods)
  .map(([within, name, is, had, behind]): Command => ({
    ...{ do: 'put local', namespace: within, name, kind: is, ports: had, pods: behind, member: false },
  }));

/** Pods behind a Service of this cluster or of a target come and go. */
const setPods: fc.Arbitrary<Command> = fc
  .tuple(fc.constantFrom<TargetName | 'east'>('west', 'bar', 'east', 'east'), pods)
  .map(([where, behind]): Command =>
    where === 'east'
      ? { do: 'put local', namespace: 'shop', name: 'web', kind: 'clusterIP', ports: 0, pods: behind, member: false }
      : { do: 'set pods', link: where, namespace: 'shop', name: 'web', pods: behind },
  );

const PLAIN = { kind: 'clusterIP', ports: 0, tag: 'a', publishNotReady: false } as const;

const exported = (
  link: TargetName,
  is: 'true' | 'remote-discovery',
  behind: readonly PodState[],
): readonly Command[] => [
  { do: 'put service', link, namespace: 'shop', name: 'web', exported: is, ...PLAIN },
  { do: 'set pods', link, namespace: 'shop', name: 'web', pods: behind },
];

const READY = [{ hostname: '', ready: true }] as const;
const here = (behind: readonly PodState[]): Command => ({
  ...{ do: 'put local', namespace: 'shop', name: 'web', kind: 'clusterIP', ports: 0, pods: behind, member: false },
});

/** A mirror has the requests, and the Service of this cluster is there to take them. */
const before = (link: LinkName, holdDown: string): readonly Command[] => [
  ...[{ do: 'put link', link } as const, ...exported(TARGET_OF[link], 'true', READY), here(READY)],
  {
    do: 'put failover',
    ...{ namespace: 'shop', name: 'web' },
    spec: { service: 'web', backends: [{ service: `web-${CLUSTER_OF[link]}` }, { service: 'web' }], holdDown },
  },
  ...[{ do: 'wait', ms: 35_000 } as const, { do: 'wait', ms: 4_000 } as const],
];

const holdDown = fc.constantFrom('0', '5s', '20s', '40s');
const target = fc.constantFrom<TargetName>('west', 'bar');

/** A gateway dies for long enough to be found out, and comes back. */
const deadGateway = fc
  .tuple(target, holdDown, fc.array(fc.oneof(put, setPods, wait(4_000)), { maxLength: 2 }), wait(4_000, 35_000))
  .map(([link, held, meanwhile, waiting]): readonly Command[] => [
    ...[...before(link, held), { do: 'kill gateway', link } as const],
    ...[{ do: 'wait', ms: 35_000 } as const, ...meanwhile, { do: 'revive gateway', link } as const, waiting],
  ]);

/** A Link is left to another controller, while the gateway of its mirrors dies (J3, H9). */
const suspended = fc
  .tuple(target, holdDown)
  .map(([link, held]): readonly Command[] => [
    ...[...before(link, held), { do: 'suspend link', link } as const],
    ...[{ do: 'wait', ms: 4_000 } as const, { do: 'linkerd', link, act: 'start' } as const],
    ...[{ do: 'wait', ms: 35_000 } as const, { do: 'kill gateway', link } as const],
    ...[{ do: 'wait', ms: 35_000 } as const, { do: 'wait', ms: 4_000 } as const],
    ...[{ do: 'linkerd', link, act: 'release' } as const, { do: 'resume link', link } as const],
  ]);

/** The pods of this cluster go and come back, while the hold-down of others runs. */
const heldDown = fc
  .tuple(
    holdDown,
    fc.array(fc.tuple(pods, wait(1_000, 4_000, 12_000, 35_000)), { minLength: 2, maxLength: 4, size: 'max' }),
  )
  .map(([held, all]): readonly Command[] => [
    ...before('west', held),
    {
      do: 'put failover',
      ...{ namespace: 'shop', name: 'web' },
      spec: { service: 'web', backends: [{ service: 'web', minReady: '50%' }, { service: 'alt' }], holdDown: held },
    },
    { do: 'put local', namespace: 'shop', name: 'alt', kind: 'clusterIP', ports: 0, pods: READY, member: false },
    { do: 'wait', ms: 35_000 },
    ...all.flatMap(([behind, waiting]) => [here(behind), waiting]),
  ]);

const routeKind = fc.constantFrom<RouteKind>('HTTPRoute', 'HTTPRoute', 'GRPCRoute', 'TCPRoute', 'policy', 'policy');
const routeName = fc.record({ namespace, name: fc.constantFrom('mine', 'a', 'web-80') });

const happens: WeightedLots = [
  [3, deadGateway],
  [3, suspended],
  [3, heldDown],
  ...(
    [
      [10, put],
      [4, named.map((which): Command => ({ do: 'remove failover', ...which }))],
      [8, setPods],
      [6, putLocal],
      [3, fc.record({ ...doing('remove local'), namespace, name: local })],
      [
        3,
        fc
          .tuple(named, fc.nat({ max: HOSTILE_STATUSES - 1 }))
          .map(([which, index]): Command => ({ do: 'write failover status', ...which, index })),
      ],
      [
        5,
        fc
          .tuple(routeName, routeKind, fc.constantFrom('web', 'web', 'alt'))
          .map(([which, is, parent]): Command => ({ do: 'put route', ...which, kind: is, parent })),
      ],
      [4, fc.tuple(routeName, routeKind).map(([which, is]): Command => ({ do: 'remove route', ...which, kind: is }))],
      [
        6,
        fc.record({
          ...doing('edit route'),
          index: fc.nat({ max: 5 }),
          how: fc.constantFrom<RouteEdit>('delete', 'weights', 'no weights', 'backend', 'parent', 'disown'),
        }),
      ],
      [3, fc.record({ do: fc.constantFrom('suspend link', 'resume link'), link: target })],
      [
        3,
        fc.record({
          ...doing('second operator'),
          act: fc.constantFrom<'start' | 'stop' | 'kill' | 'remove'>(
            'start',
            'start',
            'stop',
            'stop',
            'kill',
            'remove',
          ),
        }),
      ],
    ] as Weighted
  ).map(([weight, arbitrary]) => [weight, single(arbitrary)] as const),
];

/** The ServiceFailovers at first, with most of what they name. */
const beginning = fc
  .tuple(
    pods,
    fc.constantFrom<'true' | 'remote-discovery'>('true', 'true', 'true', 'remote-discovery'),
    pods,
    spec,
    fc.boolean(),
  )
  .map(([behind, is, local, says, isOther]): readonly Command[] => [
    ...[...exported('west', is, behind), ...exported('bar', 'true', READY), here(local)],
    {
      do: 'put failover',
      ...{ namespace: 'shop', name: 'web' },
      spec: isOther
        ? says
        : { service: 'web', backends: [{ service: 'web-west', minReady: '50%' }, { service: 'web' }], holdDown: '5s' },
    },
  ]);

/** Draws what is added to a history. */
export const failedOver: fc.Arbitrary<(history: History) => History> = fc
  .tuple(fc.constantFrom(false, false, true), beginning, placed(happens, { minLength: 4, maxLength: 12 }))
  .map(([second, first, more]) => (history: History): History => ({
    ...history,
    failover: { second },
    commands: insert(history.commands, more, first),
  }));
