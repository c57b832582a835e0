/** Histories: how an operator is set up, and what happens; and any number of them, drawn by their seeds. */
import fc from 'fast-check';
import type { Command, Federation, Kind, LinkName, TargetName } from './command.ts';
import { episode } from './draw/episodes.ts';
import { faults } from './draw/faults.ts';
import { federated } from './draw/federation.ts';
import { doing } from './draw/fields.ts';
import { links } from './draw/links.ts';
import { foreign, foreignLabels, of, pods, services } from './draw/services.ts';
import type { Clock } from './world/world.ts';

/** How the operator of a history is set up, and what happens. */
export interface History {
  readonly endpoints: 'endpoints' | 'slices';
  /** How long a pod may be gone before its endpoint mirror is deleted (D11). @default 0 */
  readonly graceSeconds?: number;
  /** Whether API servers send bookmarks. @default true */
  readonly bookmarks?: boolean;
  /** How many versions more the cluster has that west is moved to. @default 0 */
  readonly spareAhead?: number;
  /** Whether a client of the admin port never lets go of its connection. @default false */
  readonly scrapesHang?: boolean;
  /** Most pods of a target that have an endpoint mirror (E10). @default - more than there are */
  readonly maxEndpointMirrors?: number | undefined;
  /** With two, one of them leads. */
  readonly replicas: 1 | 2;
  /** Of the replicas. */
  readonly clocks: readonly Clock[];
  readonly commands: readonly Command[];
  /**
   * How the Link of each target wants members of federated Services to be reached.
   * @default - Links select no members
   */
  readonly federation?: Readonly<Record<TargetName, Federation>>;
}

const command: fc.Arbitrary<Command> = fc.oneof(
  ...[...services, ...links, ...faults].map(([weight, arbitrary]) => ({ weight, arbitrary })),
);

/** What is there to begin with: exported Services, most with pods, and now and then somebody's own of such a name. */
const beginning: fc.Arbitrary<readonly Command[]> = fc
  .tuple(
    fc.oneof(
      { weight: 9, arbitrary: fc.constant([]) },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom<LinkName>('west', 'bar')
          .map((name): readonly Command[] => [{ do: 'linkerd', link: name, act: 'start' }]),
      },
    ),
    fc.array(fc.record({ ...doing('put foreign'), ...foreign, labels: foreignLabels }), { maxLength: 2 }),
    fc.array(fc.tuple(of, fc.constantFrom<Kind>('clusterIP', 'headless', 'headless'), pods), {
      minLength: 2,
      maxLength: 5,
      size: 'max',
    }),
  )
  .map(([linkerd, own, services]) => [
    ...linkerd,
    ...own,
    ...services.flatMap(([which, kind, behind]): Command[] => [
      { do: 'put service', ...which, kind, exported: 'true', ports: 0, tag: 'a', publishNotReady: false },
      { do: 'set pods', ...which, pods: behind },
    ]),
  ]);

const clock = fc.record({
  aheadMs: fc.constantFrom(0, 0, 3_600_000, -3_600_000),
  rate: fc.constantFrom(1, 1, 0.97, 1.03),
});

/** Any history without federated Services. */
const plain: fc.Arbitrary<History> = fc.record({
  endpoints: fc.constantFrom('endpoints', 'endpoints', 'slices'),
  graceSeconds: fc.constantFrom(0, 0, 5, 60),
  bookmarks: fc.constantFrom(true, true, true, false),
  spareAhead: fc.constantFrom(0, 1_000),
  scrapesHang: fc.constantFrom(false, false, false, true),
  maxEndpointMirrors: fc.constantFrom(undefined, undefined, undefined, 3, 8),
  replicas: fc.constantFrom<1 | 2>(1, 1, 2),
  clocks: fc.tuple(clock, clock),
  commands: fc
    .tuple(
      beginning,
      fc.array(fc.oneof({ weight: 15, arbitrary: command.map((one) => [one]) }, { weight: 1, arbitrary: episode }), {
        minLength: 6,
        maxLength: 24,
        size: 'max',
      }),
    )
    .map(([first, others]) => [...first, ...others.flat()]),
});

/** Any history. In one of seven, Links select members of federated Services, and more happens, which is drawn last. */
export const histories: fc.Arbitrary<History> = fc
  .tuple(plain, fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: federated }))
  .map(([history, more]) => (more === undefined ? history : more(history)));

/** The history of a seed: always the same one. */
export const historyOf = (seed: number): History => fc.sample(histories, { seed, numRuns: 1 })[0]!;
