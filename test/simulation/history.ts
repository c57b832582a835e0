/** Histories: how an operator is set up, and what happens; and any number of them, drawn by their seeds. */
import fc from 'fast-check';
import type { Command, Federation, Kind, LinkName, TargetName } from './command.ts';
import { denied } from './draw/denials.ts';
import { episode } from './draw/episodes.ts';
import { faults } from './draw/faults.ts';
import { crowded } from './draw/crowd.ts';
import { failedOver } from './draw/failover.ts';
import { federated } from './draw/federation.ts';
import { doing } from './draw/fields.ts';
import { imported } from './draw/imports.ts';
import { links } from './draw/links.ts';
import { choosy } from './draw/policies.ts';
import { selectedWhileHeld, selectors } from './draw/selectors.ts';
import { foreign, foreignLabels, of, pods, services } from './draw/services.ts';
import type { CrowdSetting } from './parts/crowd.ts';
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
  /** A headless Service of many pods. @default - none */
  readonly crowd?: CrowdSetting;
  /**
   * Whether the source cluster has pods, and Kubernetes' controllers that make endpoints of them: somebody may give mirrors
   * selectors.
   * @default false
   */
  readonly hasPods?: boolean;
  /**
   * Whether there are ServiceFailovers, and beside the operator a second one, in a namespace of its own.
   * @default - there are none
   */
  readonly failover?: { readonly second: boolean };
  /** Whether Services are exported and imported by the MCS API. @default false */
  readonly imports?: true;
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

/** Any history without federated Services and imports. */
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

type Addition = fc.Arbitrary<(history: History) => History>;

/** In one of so many histories, something is added to it. */
const nowAndThen = (oneOf: number, addition: Addition): Addition =>
  fc.oneof(
    { weight: oneOf - 1, arbitrary: fc.constant((history: History): History => history) },
    { weight: 1, arbitrary: addition },
  );

/**
 * Any history. In one of seven, Links select members of federated Services, in one of forty, a Service has hundreds of pods,
 * in one of twelve, a webhook denies what the operator writes, in one of eight, the source has pods, and mirrors get selectors,
 * in one of eight, there are ServiceFailovers, in one of eight, Services are imported, and in one of twenty-four, a mirror that is
 * kept gets a selector. In one of eight, Links have import policies.
 * What more happens is drawn last, so that a seed stays for the same history when something is added here.
 */
export const histories: fc.Arbitrary<History> = fc
  .tuple(
    plain,
    nowAndThen(7, federated),
    nowAndThen(40, crowded),
    nowAndThen(12, denied),
    nowAndThen(8, selectors),
    nowAndThen(8, failedOver),
    nowAndThen(8, imported),
    nowAndThen(24, selectedWhileHeld),
    nowAndThen(8, choosy),
  )
  .map(([history, ...additions]) => additions.reduce((sum, add) => add(sum), history));

/** The history of a seed: always the same one. */
export const historyOf = (seed: number): History => fc.sample(histories, { seed, numRuns: 1 })[0]!;
