/**
 * Draws imports (rules K1 to K6) into a history: exports of both targets and of the source, the ids of clusters, and what
 * users do with all of it. It is drawn after the rest of a history, which stays as it was.
 */
import fc from 'fast-check';
import {
  type Command,
  type Federation,
  type Kind,
  type LinkEdit,
  type LinkName,
  type OfSource,
  OTHER_CLUSTER,
  PORTS,
  type PodState,
  type TargetName,
  TARGETS,
} from '../command.ts';
import type { History } from '../history.ts';
import { type Exporter, IMPORT_KINDS, type ImportEdit, type OfExporter } from '../import-commands.ts';
import { SPECS_COUNT, TRAFFIC_COUNT } from '../import-users.ts';
import { doing } from './fields.ts';
import { insert, lost, placed, single, wait, type WeightedLots } from './lots.ts';
import { pods as anyPods } from './services.ts';
import type { Weighted } from './weighted.ts';

/** Few names, so that the exports of several clusters meet. */
const ofSource: fc.Arbitrary<OfSource> = fc.record({
  namespace: fc.constantFrom(...([...Array<'shop'>(6).fill('shop'), 'till'] as const)),
  name: fc.constantFrom('web', 'web', 'web', 'alt'),
});
const exporter = fc.constantFrom<Exporter>('west', 'west', 'bar', 'bar', 'east');
const of: fc.Arbitrary<OfExporter> = fc.tuple(exporter, ofSource).map(([at, which]) => ({ at, ...which }));

const kind = fc.constantFrom<Kind>(
  ...([...Array<'clusterIP'>(6).fill('clusterIP'), 'headless', 'headless', 'headless'] as const),
  ...(['selectorless', 'external'] as const),
);
/** Mostly the same, so that exports fit together. */
const ports = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.nat({ max: PORTS.length - 1 }) },
);
const pods: fc.Arbitrary<readonly PodState[]> = fc.oneof(
  { weight: 2, arbitrary: fc.constant([{ hostname: '', ready: true }]) },
  { weight: 2, arbitrary: anyPods },
);
const metadata = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.nat({ max: SPECS_COUNT - 1 }) },
);

/** A Service with its pods, and its export. */
const exported = (which: fc.Arbitrary<OfExporter>): fc.Arbitrary<readonly Command[]> =>
  fc
    .tuple(which, kind, ports, pods, metadata, fc.boolean())
    .map(([{ at, namespace, name }, is, had, behind, says, isNotReady]): readonly Command[] => {
      const service = { namespace, name, kind: is, ports: had };
      const put: readonly Command[] =
        at === 'east'
          ? [{ do: 'put local', ...service, member: false, pods: behind }]
          : [
              { do: 'put service', link: at, ...service, exported: 'none', tag: 'a', publishNotReady: isNotReady },
              { do: 'set pods', link: at, namespace, name, pods: behind },
            ];
      return [...put, { do: 'put export', at, namespace, name, metadata: says }];
    });

const IDS = ['here', 'one', 'one', 'two', 'west', 'bar-west', 'Not_A_Label', undefined] as const;

const claim: fc.Arbitrary<Command> = fc
  .tuple(exporter, fc.constantFrom(...IDS))
  .map(([at, id]): Command => ({ do: 'claim id', at, ...(id !== undefined && { id }) }));

const edit = (which: fc.Arbitrary<LinkEdit>): fc.Arbitrary<Command> =>
  fc
    .tuple(fc.constantFrom<LinkName>('west', 'bar', 'west', 'bar', 'west-v2'), which)
    .map(([name, field]): Command => ({ do: 'edit link', link: name, edit: field }));

/** A CRD is missing for a while, or a part of it is changed meanwhile. */
const missing = fc
  .tuple(exporter, fc.constantFrom(...IMPORT_KINDS), wait(100, 4_000, 60_000), fc.option(exported(of), { nil: [] }))
  .map(([at, which, waiting, meanwhile]): readonly Command[] => [
    { do: 'wait', ms: 4_000 },
    { do: 'remove crd', at, kind: which },
    waiting,
    ...meanwhile,
    { do: 'put crd', at, kind: which },
  ]);

/** Somebody deletes a derived Service, whose addresses the API server takes its time to give back. */
const released = fc
  .tuple(fc.constantFrom(300, 800, 1_200), fc.nat({ max: 7 }), fc.constantFrom<TargetName>('west', 'bar'))
  .map(([ms, index, link]): readonly Command[] => [
    { do: 'put service', link, namespace: 'shop', name: 'web', kind: 'clusterIP', ...PLAIN },
    { do: 'put export', at: link, namespace: 'shop', name: 'web', metadata: 0 },
    { do: 'wait', ms: 4_000 },
    { do: 'release late', ms },
    { do: 'edit import', kind: 'Service', index, how: 'delete' },
    { do: 'wait', ms: 4_000 },
  ]);

const PLAIN = { exported: 'none', ports: 0, tag: 'a', publishNotReady: false } as const;

/** A target is linked anew: what it exported before counts from then on. */
const linkedAnew = fc
  .tuple(fc.constantFrom(...TARGETS), wait(1_100, 4_000), exported(of), wait(5, 4_000))
  .map(([target, waiting, meanwhile, then]): readonly Command[] => [
    { do: 'wait', ms: 2_000 },
    { do: 'remove link', link: target },
    waiting,
    ...meanwhile,
    { do: 'wait', ms: 1_100 },
    { do: 'put link', link: target },
    then,
  ]);

/** The cluster of the only Link whose target exports a Service gets another name (L81). */
const renamed = wait(5, 1_000, 4_000).map((waiting): readonly Command[] => [
  { do: 'put service', link: 'bar', namespace: 'shop', name: 'alt', kind: 'clusterIP', ...PLAIN },
  { do: 'put export', at: 'bar', namespace: 'shop', name: 'alt', metadata: 0 },
  { do: 'wait', ms: 4_000 },
  { do: 'edit link', link: 'bar', edit: { field: 'targetClusterName', value: OTHER_CLUSTER } },
  waiting,
]);

/** Many exports are lost at once, without anybody taking them back (E6). */
const losses = lost(
  [
    { do: 'put many', link: 'west' },
    { do: 'export many', link: 'west', exported: true },
  ],
  fc.oneof(
    fc.constantFrom<Command>(
      { do: 'lose exports', link: 'west' },
      { do: 'lose all', link: 'west' },
      { do: 'move target', services: 'none' },
    ),
    fc.constantFrom<0 | 1 | 2>(0, 1, 2).map((part): Command => ({ do: 'lose exports', link: 'west', part })),
    fc.constantFrom(2, 3).map((back): Command => ({ do: 'down', at: 'west', ms: 3_000, back, more: 0 })),
  ),
);

const about = (fields: object): fc.Arbitrary<Command> =>
  fc
    .tuple(of, fc.record(fields as Record<string, fc.Arbitrary<unknown>>))
    .map(([which, more]) => ({ ...which, ...more }) as Command);

const KINDS = ['ServiceImport', 'Service', 'Service', 'EndpointSlice', 'EndpointSlice'] as const;
const EDITS: readonly ImportEdit[] = [
  ...(['delete', 'delete', 'label', 'label', 'annotation', 'content', 'status', 'finalizer', 'disown'] as const),
];

const happens: WeightedLots = [
  [12, exported(of)],
  [3, missing],
  [3, released],
  [2, linkedAnew],
  [2, renamed],
  [1, losses],
  ...(
    [
      [6, about({ ...doing('put export'), metadata })],
      [6, about(doing('remove export'))],
      [3, about({ ...doing('set traffic'), index: fc.nat({ max: TRAFFIC_COUNT - 1 }) })],
      [4, claim],
      [3, edit(fc.record({ field: fc.constant('federation'), value: fc.constantFrom<Federation>('flat', 'gateway') }))],
      [2, edit(fc.record({ field: fc.constant('serviceExports'), value: fc.boolean() }))],
      [2, ofSource.map((which) => ({ do: 'remove local', ...which }))],
      [
        3,
        fc
          .tuple(
            ofSource,
            fc.constantFrom('put own', 'put own', 'remove own'),
            fc.constantFrom('ServiceImport', 'Service'),
          )
          .map(([which, does, what]) => ({ do: does, kind: what, ...which })),
      ],
      [
        10,
        fc.record({
          ...doing('edit import'),
          kind: fc.constantFrom(...KINDS),
          index: fc.nat({ max: 11 }),
          how: fc.constantFrom(...EDITS),
        }),
      ],
      [1, fc.constant({ do: 'clear imports' })],
      [2, fc.record({ ...doing('forbid exports'), at: exporter, ms: fc.constantFrom(2_000, 20_000, 70_000) })],
      [4, wait(1_000, 4_000, 12_000)],
    ] as Weighted
  ).map(([weight, arbitrary]) => [weight, single(arbitrary)] as const),
];

/** The exports at first: always one, mostly several; and ids, where clusters have any. */
const beginning = fc
  .tuple(
    fc.array(claim, { maxLength: 3 }),
    exported(fc.constant({ at: 'bar', namespace: 'shop', name: 'web' })),
    fc.option(exported(fc.constant({ at: 'west', namespace: 'shop', name: 'web' })), { nil: [] }),
    fc.option(exported(fc.constant({ at: 'east', namespace: 'shop', name: 'web' })), { nil: [], freq: 2 }),
  )
  .map((all) => all.flat());

/** Draws what is added to a history. */
export const imported: fc.Arbitrary<(history: History) => History> = fc
  .tuple(beginning, placed(happens, { minLength: 4, maxLength: 12 }))
  .map(([first, more]) => (history: History): History => ({
    ...{ ...history, imports: true },
    commands: insert(history.commands, more, first),
  }));
