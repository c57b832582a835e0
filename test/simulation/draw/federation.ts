/**
 * Draws federated Services (rules I1 to I9) into a history: how Links want members to be reached, the members that there
 * are to begin with, and what users do with them. All of it is drawn after the rest of a history, which stays as it was.
 */
import fc from 'fast-check';
import {
  CLUSTER_OF,
  type Command,
  type Federation,
  type Kind,
  type LinkEdit,
  type LinkName,
  NAMESPACES,
  type Of,
  type OfSource,
  OTHER_CLUSTER,
  PORTS,
  type PodState,
  type TargetName,
  TARGETS,
} from '../command.ts';
import type { History } from '../history.ts';
import { doing } from './fields.ts';
import { insert, lost, placed, single, wait, type WeightedLots } from './lots.ts';
import { pods as anyPods } from './services.ts';
import type { Weighted } from './weighted.ts';

const { west, bar } = CLUSTER_OF;
const CLUSTERS = [west, bar, OTHER_CLUSTER] as const;

const shapes = fc.constantFrom<Readonly<Record<TargetName, Federation>>>(
  ...([
    { west: 'gateway', bar: 'gateway' },
    { west: 'flat', bar: 'flat' },
  ] as const),
  ...([
    { west: 'gateway', bar: 'gateway' },
    { west: 'flat', bar: 'flat' },
  ] as const),
  ...([
    { west: 'flat', bar: 'gateway' },
    { west: 'gateway', bar: 'flat' },
  ] as const),
);

const NAMES = ['web', 'alt', 'foo'] as const;
const PLAIN = { ports: 0, tag: 'a', publishNotReady: false } as const;

/** Few names, so that the Services of several clusters meet. */
const ofSource: fc.Arbitrary<OfSource> = fc.record({
  namespace: fc.constantFrom(...([...Array<'shop'>(6).fill('shop'), 'till'] as const)),
  name: fc.constantFrom(...(['web', 'web', ...NAMES] as const)),
});
const of: fc.Arbitrary<Of> = fc
  .tuple(fc.constantFrom(...TARGETS), ofSource)
  .map(([target, which]) => ({ link: target, ...which }));

/** Mostly one that can join. */
const kind = fc.constantFrom<Kind>(
  ...([...Array<'clusterIP'>(6).fill('clusterIP'), 'selectorless', 'headless', 'external'] as const),
);
/** Mostly the same, so that members fit together. */
const ports = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.nat({ max: PORTS.length - 1 }) },
);
const pods: fc.Arbitrary<readonly PodState[]> = fc.oneof(
  { weight: 2, arbitrary: fc.constant([{ hostname: '', ready: true }]) },
  { weight: 1, arbitrary: anyPods },
);

/** A Service of a target that is to join. */
const member = (which: fc.Arbitrary<Of>): fc.Arbitrary<readonly Command[]> =>
  fc
    .tuple(which, kind, ports, pods, fc.constantFrom<'none' | 'true'>('none', 'true'))
    .map(([named, is, had, behind, exported]): readonly Command[] => [
      { do: 'put service', ...named, kind: is, exported, ports: had, tag: 'a', publishNotReady: false },
      { do: 'set pods', ...named, pods: behind },
      { do: 'federate', ...named, member: true },
    ]);

const local = (which: fc.Arbitrary<OfSource>): fc.Arbitrary<Command> =>
  fc
    .tuple(which, kind, ports, pods, fc.constantFrom(true, true, true, false))
    .map(([named, is, had, behind, isMember]): Command => ({
      ...{ do: 'put local', ...named, kind: is, ports: had, pods: behind, member: isMember },
    }));

const edit = (which: fc.Arbitrary<LinkEdit>): fc.Arbitrary<Command> =>
  fc
    .tuple(fc.constantFrom<LinkName>('west', 'bar', 'west', 'bar', 'west-v2'), which)
    .map(([name, field]): Command => ({ do: 'edit link', link: name, edit: field }));

const foreign = {
  kind: fc.constantFrom<'Service' | 'Endpoints'>('Service', 'Service', 'Service', 'Endpoints'),
  namespace: fc.constantFrom(...NAMESPACES),
  name: fc.constantFrom('web-federated', 'web-federated', 'alt-federated'),
};

/** Memberships change while answers take their time, and the Link is given up meanwhile (L69). */
const givenUp = fc
  .tuple(
    fc.constantFrom(...TARGETS),
    fc.boolean(),
    wait(100, 300, 500),
    fc.constantFrom<'suspend' | 'remove' | 'rename' | 'stop'>('suspend', 'suspend', 'remove', 'rename', 'stop'),
  )
  .map(([target, isMember, waiting, how]): readonly Command[] => [
    ...NAMES.flatMap((name): readonly Command[] => [
      { do: 'put service', link: target, namespace: 'shop', name, kind: 'clusterIP', exported: 'none', ...PLAIN },
      { do: 'federate', link: target, namespace: 'shop', name, member: !isMember },
    ]),
    { do: 'wait', ms: 4_000 },
    { do: 'weather', at: 'east', weather: 'slow', ms: 12_000 },
    ...NAMES.map((name): Command => ({ do: 'federate', link: target, namespace: 'shop', name, member: isMember })),
    waiting,
    GIVEN_UP[how](target),
    { do: 'wait', ms: 4_000 },
  ]);

const GIVEN_UP: Readonly<Record<'suspend' | 'remove' | 'rename' | 'stop', (target: TargetName) => Command>> = {
  suspend: (target) => ({ do: 'suspend link', link: target }),
  remove: (target) => ({ do: 'remove link', link: target }),
  rename: () => ({ do: 'rename link', first: 'put' }),
  stop: () => ({ do: 'stop operator' }),
};

const renames = [CLUSTER_OF.bar, OTHER_CLUSTER, OTHER_CLUSTER].map((value): Command => ({
  ...{ do: 'edit link', link: 'bar', edit: { field: 'targetClusterName', value } },
}));

/** The cluster of the only Link that has members gets another name (L68). */
const renamed = fc
  .tuple(fc.constantFrom(...renames), wait(5, 1_000, 4_000))
  .map(([rename, waiting]): readonly Command[] => [{ do: 'wait', ms: 4_000 }, rename, waiting]);

/** Linkerd's local mirror writes local memberships when the operator comes, and is given up after a while, or is not. */
const beside = fc
  .tuple(
    fc.boolean(),
    wait(1_000, 4_000, 35_000),
    fc.array(fc.oneof(local(ofSource), fc.constantFrom(...renames)), { maxLength: 2 }),
    fc.constantFrom<'release' | 'kill' | 'start'>('release', 'kill', 'start'),
  )
  .map(([isFirst, waiting, meanwhile, act]): readonly Command[] => [
    ...([0, 1] as const).map((replica): Command => ({ do: isFirst ? 'stop operator' : 'kill operator', replica })),
    { do: 'linkerd local', act: 'start' },
    waiting,
    ...([0, 1] as const).map((replica): Command => ({ do: 'start operator', replica })),
    ...meanwhile.flatMap((each): readonly Command[] => [{ do: 'wait', ms: 4_000 }, each]),
    { do: 'wait', ms: 4_000 },
    { do: 'linkerd local', act },
  ]);

/** Many members are lost at once, without anybody deleting them (E6). */
const losses = lost(
  [
    { do: 'put many', link: 'west' },
    { do: 'federate many', link: 'west', member: true },
  ],
  fc.oneof(
    fc.constantFrom<Command>({ do: 'lose all', link: 'west' }, { do: 'move target', services: 'none' }),
    fc.constantFrom<0 | 1 | 2>(0, 1, 2).map((part): Command => ({ do: 'lose part', link: 'west', part })),
    fc.constantFrom(2, 3).map((back): Command => ({ do: 'down', at: 'west', ms: 3_000, back, more: 0 })),
  ),
);

const happens: WeightedLots = [
  [8, member(of)],
  [3, givenUp],
  [2, renamed],
  [2, beside],
  [1, losses],
  ...(
    [
      [
        10,
        fc
          .tuple(of, fc.constantFrom(true, true, false))
          .map(([which, is]) => ({ do: 'federate', ...which, member: is })),
      ],
      [6, local(ofSource)],
      [2, ofSource.map((which) => ({ do: 'remove local', ...which }))],
      [5, edit(fc.record({ field: fc.constant('federation'), value: fc.constantFrom<Federation>('flat', 'gateway') }))],
      [
        4,
        edit(
          fc.record({
            field: fc.constant('federatedServiceSelector'),
            value: fc.constantFrom('value', 'empty'),
          }),
        ),
      ],
      [3, fc.record({ ...doing('put foreign'), ...foreign, labels: fc.constantFrom('none', 'mirror') })],
      [2, fc.record({ ...doing('remove foreign'), ...foreign })],
      [
        3,
        fc.record({
          ...doing('linkerd local'),
          act: fc.constantFrom<'start' | 'release' | 'kill'>('start', 'start', 'release', 'kill'),
        }),
      ],
      [
        2,
        fc.record({ do: fc.constantFrom('put discovery', 'remove discovery'), cluster: fc.constantFrom(...CLUSTERS) }),
      ],
      [
        4,
        fc.record({
          ...doing('edit mirror'),
          kind: fc.constantFrom('Service', 'EndpointSlice'),
          index: fc.nat({ max: 7 }),
          how: fc.constantFrom('delete', 'delete', 'label', 'annotation', 'content', 'disown', 'manager'),
        }),
      ],
    ] as Weighted
  ).map(([weight, arbitrary]) => [weight, single(arbitrary)] as const),
];

/** The members at first: always one, mostly several, and the local one now and then. */
const beginning = fc
  .tuple(
    member(fc.constant({ link: 'bar', namespace: 'shop', name: 'web' })),
    fc.option(member(fc.constant({ link: 'west', namespace: 'shop', name: 'web' })), { nil: [] }),
    fc.option(single(local(fc.constant({ namespace: 'shop', name: 'web' }))), { nil: [], freq: 2 }),
  )
  .map((all) => all.flat());

/** Draws what is added to a history. */
export const federated: fc.Arbitrary<(history: History) => History> = fc
  .tuple(shapes, beginning, placed(happens, { minLength: 3, maxLength: 10 }))
  .map(([federation, first, more]) => (history: History): History => ({
    ...{ ...history, federation },
    commands: insert(history.commands, more, first),
  }));
