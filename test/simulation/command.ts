/**
 * What happens in a history: one plain value for each thing that users, targets, gateways, networks and processes do.
 * A history is a list of these, so it can be printed, kept as a regression, and shrunk by leaving some out.
 */
import fc from 'fast-check';
import { episode } from './episodes.ts';
import { HOSTILE } from './hostile.ts';
import { type Manner, MANNERS } from './manners.ts';
import type { Weather } from './world/internet.ts';
import type { Clock } from './world/world.ts';

/** The two targets; each has a Link of its name. */
export const TARGETS = ['west', 'bar'] as const;
export type TargetName = (typeof TARGETS)[number];

/** The Links. `west-v2` is what users rename `west` to, or put beside it. */
export const LINKS = [...TARGETS, 'west-v2'] as const;
export type LinkName = (typeof LINKS)[number];
export const TARGET_OF: Readonly<Record<LinkName, TargetName>> = { west: 'west', bar: 'bar', 'west-v2': 'west' };

/** `foo-bar` on `west` and `foo` on `bar-west` want one name. */
export const CLUSTER_OF: Readonly<Record<LinkName, string>> = { west: 'west', bar: 'bar-west', 'west-v2': 'west' };
/** What Link `bar` may call its target instead. */
export const OTHER_CLUSTER = 'far';

export const NAMESPACES = ['shop', 'till'] as const;
/** So many that losing them is a mass deletion (E6). */
export const MANY: readonly string[] = Array.from({ length: 12 }, (_, index) => `many-${index}`);
const LONG_NAME = 'n'.repeat(60);

/** What gateways may be called instead of by their addresses. */
export const GATEWAY_NAME = 'gateway.example';

export type Kind = 'clusterIP' | 'headless' | 'selectorless' | 'external';
export type Export = 'true' | 'false' | 'remote-discovery' | 'none';

export interface PodState {
  /** Empty: the pod has no name of its own. */
  readonly hostname: string;
  readonly ready: boolean;
}

/** A Service of a target. */
interface Of {
  readonly link: TargetName;
  readonly namespace: string;
  readonly name: string;
}

export type Command =
  | ({
      readonly do: 'put service';
      readonly kind: Kind;
      readonly exported: Export;
      /** Index into {@link PORTS}. */
      readonly ports: number;
      /** Value of a label and an annotation that are copied. */
      readonly tag: string;
      readonly publishNotReady: boolean;
    } & Of)
  | ({ readonly do: 'remove service' } & Of)
  /**
   * A dozen exported Services; and all Services lost at once without watch events, as after a restore of an empty
   * backup.
   */
  | { readonly do: 'put many' | 'lose all'; readonly link: TargetName }
  /** A third of the Services is lost in the same way, by the number in the name. */
  | { readonly do: 'lose part'; readonly link: TargetName; readonly part: 0 | 1 | 2 }
  /** All slices are lost in the same way, and made again after a while. */
  | { readonly do: 'lose slices'; readonly link: TargetName; readonly ms: number }
  /** An exported headless Service with so many pods that losing them is a mass deletion. */
  | { readonly do: 'put set'; readonly link: TargetName; readonly pods: number }
  /** Objects that no API server would store, by their number (see hostile.ts). */
  | {
      readonly do: 'put hostile';
      readonly kind: 'Service' | 'EndpointSlice';
      readonly link: TargetName;
      readonly namespace: string;
      readonly index: number;
    }
  | { readonly do: 'remove hostile'; readonly link: TargetName }
  /** Somebody else writes the status of a Link. */
  | { readonly do: 'write status'; readonly link: LinkName; readonly index: number }
  /** The pods behind a Service are deleted, and made anew after a while. */
  | ({ readonly do: 'renew pods'; readonly ms: number } & Of)
  | ({ readonly do: 'export'; readonly exported: Export } & Of)
  | ({ readonly do: 'set pods'; readonly pods: readonly PodState[] } & Of)
  | ({ readonly do: 'set slice'; readonly pods: readonly PodState[] } & Of)
  | {
      readonly do: 'put foreign';
      readonly kind: 'Service' | 'Endpoints';
      readonly namespace: string;
      readonly name: string;
      readonly labels: 'none' | 'mirror' | 'of another cluster';
    }
  | {
      readonly do: 'remove foreign';
      readonly kind: 'Service' | 'Endpoints';
      readonly namespace: string;
      readonly name: string;
    }
  | {
      readonly do: 'edit mirror';
      readonly kind: 'Service' | 'Endpoints' | 'EndpointSlice';
      /** Which of those there are, modulo their number. */
      readonly index: number;
      readonly how: 'delete' | 'label' | 'annotation' | 'content' | 'disown';
    }
  | { readonly do: 'put namespace' | 'remove namespace'; readonly namespace: string }
  | { readonly do: 'kill gateway' | 'revive gateway'; readonly link: TargetName }
  | { readonly do: 'edit link'; readonly link: LinkName; readonly edit: LinkEdit }
  | { readonly do: 'remove link'; readonly link: LinkName }
  | { readonly do: 'put link'; readonly link: LinkName; readonly invalid?: boolean }
  /** Linkerd's controller beside the operator: is started, stops, or is killed. */
  | { readonly do: 'linkerd'; readonly link: LinkName; readonly act: 'start' | 'release' | 'kill' }
  /** Link `west` becomes `west-v2`, or the other way round: made before the other is deleted, or after. */
  | { readonly do: 'rename link'; readonly first: 'put' | 'remove' }
  | { readonly do: 'put secret'; readonly link: LinkName; readonly as: CredentialsKind }
  /**
   * The credentials for west lead to another cluster from now on, which has these of its Services too; and back, the
   * next time.
   */
  | { readonly do: 'move target'; readonly services: 'all' | 'half' | 'none' }
  | { readonly do: 'stop operator' | 'kill operator' | 'start operator'; readonly replica?: number }
  | { readonly do: 'pause operator'; readonly replica: number; readonly ms: number }
  /** The process that makes the n-th write from now on crashes as it takes effect. */
  | { readonly do: 'crash operator'; readonly writes: number }
  /** For so long. */
  | { readonly do: 'weather'; readonly at: Place; readonly weather: Weather; readonly ms: number }
  /** Answers break off after so many bytes. */
  | { readonly do: 'cut answers'; readonly at: 'east' | TargetName; readonly bytes: number; readonly times: number }
  /** The name of a gateway comes to stand for other addresses, or is not answered. */
  | { readonly do: 'names'; readonly as: 'moved' | 'answered' | 'refused' | 'silent' }
  /**
   * An API server does not listen for a while. Meanwhile it is restored from a backup made so many commands ago (0: it is
   * not), and writes so many versions more.
   */
  | {
      readonly do: 'down';
      readonly at: 'east' | TargetName;
      readonly ms: number;
      readonly back: number;
      readonly more: number;
    }
  | { readonly do: 'compact'; readonly at: 'east' | TargetName }
  | { readonly do: 'manner'; readonly at: 'east' | TargetName; readonly as: Manner; readonly ms: number }
  | {
      readonly do: 'fail';
      readonly at: 'east' | TargetName;
      readonly how: Failing;
      readonly fraction: number;
      readonly times: number;
    }
  | {
      readonly do: 'drop watches' | 'expire watches' | 'silence watches' | 'delay' | 'heal';
      readonly at: 'east' | TargetName;
    }
  | { readonly do: 'wait'; readonly ms: number };

/** What the operator connects to. */
export const PLACES = ['east', 'west', 'bar', 'gateway of west', 'gateway of bar'] as const;
export type Place = (typeof PLACES)[number];

/** What credentials are good for: all, as before; with a new token; nothing; some of what a Link needs; later. */
export type CredentialsKind =
  'good' | 'renewed' | 'garbage' | 'unauthorized' | 'absent' | 'without watch' | 'without slices' | 'early';

export type Failing = '401' | '403' | '500' | '409' | '429' | '503' | 'drop before' | 'drop after' | 'hang after';

export type LinkEdit =
  | { readonly field: 'gatewayAddress'; readonly value: string }
  | { readonly field: 'gatewayPort'; readonly value: string }
  | { readonly field: 'gatewayIdentity'; readonly value: string }
  | { readonly field: 'selector'; readonly value: 'value' | 'exists' | 'empty' }
  | { readonly field: 'remoteDiscoverySelector'; readonly value: 'value' | 'empty' }
  | { readonly field: 'enableHeadlessServices'; readonly value: boolean }
  | { readonly field: 'enableNamespaceCreation'; readonly value: boolean }
  | { readonly field: 'probe'; readonly value: boolean }
  | { readonly field: 'excluded'; readonly value: boolean }
  | { readonly field: 'period'; readonly value: '0s' | '3s' }
  | { readonly field: 'targetClusterName'; readonly value: string };

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
  /** With two, one of them leads. */
  readonly replicas: 1 | 2;
  /** Of the replicas. */
  readonly clocks: readonly Clock[];
  readonly commands: readonly Command[];
}

/** Ports that a Service of a history may have. */
export const PORTS: readonly (readonly object[])[] = [
  [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }],
  [
    { name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 },
    { name: 'grpc', port: 9000, protocol: 'TCP', targetPort: 9090, appProtocol: 'kubernetes.io/h2c' },
  ],
  [
    { name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 },
    { name: 'dns', port: 53, protocol: 'UDP', targetPort: 5353 },
  ],
  [{ port: 80, protocol: 'TCP', targetPort: 8081 }],
  [{ name: 'dns', port: 53, protocol: 'UDP', targetPort: 5353 }],
];

const link = fc.constantFrom(...LINKS);
const targetName = fc.constantFrom(...TARGETS);

/** Few Services, so that what happens to one happens to others: most want names that others want too. */
const of: fc.Arbitrary<Of> = fc
  .tuple(
    fc.oneof(
      {
        weight: 20,
        arbitrary: fc.constantFrom<readonly [TargetName, string]>(
          ...(['web', 'web', 'web', 'web-0', 'alt', 'foo-bar', 'foo-bar'] as const).map(
            (name) => ['west', name] as const,
          ),
          ...(['foo', 'foo', 'web'] as const).map((name) => ['bar', name] as const),
        ),
      },
      { weight: 1, arbitrary: fc.constant(['west', LONG_NAME] as const) },
    ),
    fc.oneof(
      { weight: 16, arbitrary: fc.constant('shop') },
      { weight: 3, arbitrary: fc.constant('till') },
      { weight: 1, arbitrary: fc.constantFrom('kube-system', 'linkerd-multicluster') },
    ),
  )
  .map(([[target, name], namespace]) => ({ link: target, namespace, name }));
const exported = fc.constantFrom<Export>('true', 'true', 'true', 'true', 'remote-discovery', 'false', 'none');
const pods = fc.array(
  fc.record({
    hostname: fc.constantFrom('web-0', 'web-0', 'web-1', 'web-1', 'web-2', ''),
    ready: fc.constantFrom(true, true, false),
  }),
  { maxLength: 3 },
);
const index = fc.nat({ max: 7 });
const foreignNames = ['web-west', 'web-west', 'web-0-west', 'web-1-west', 'foo-bar-west', 'web-bar-west', 'alt-west'];
const foreign = {
  kind: fc.constantFrom<'Service' | 'Endpoints'>('Service', 'Service', 'Endpoints'),
  ...{ namespace: fc.constantFrom('shop', 'shop', 'shop', 'till'), name: fc.constantFrom(...foreignNames) },
};
const foreignProbe = {
  kind: fc.constantFrom<'Service' | 'Endpoints'>('Service', 'Endpoints'),
  ...{ namespace: fc.constant('linkerd-multicluster'), name: fc.constantFrom('probe-west', 'probe-bar') },
};
const foreignLabels = fc.constantFrom<'none' | 'mirror' | 'of another cluster'>('none', 'mirror', 'of another cluster');
const at = fc.constantFrom<'east' | TargetName>('east', 'east', 'west', 'bar');

const edit = fc.oneof(
  fc.record({
    field: fc.constant('gatewayAddress' as const),
    value: fc.constantFrom('203.0.113.10', '203.0.113.11', '203.0.113.11,203.0.113.10', GATEWAY_NAME),
  }),
  fc.record({ field: fc.constant('gatewayPort' as const), value: fc.constantFrom('4143', '30143') }),
  fc.record({
    field: fc.constant('gatewayIdentity' as const),
    value: fc.constantFrom('gateway.one', 'gateway.two', ''),
  }),
  fc.record({ field: fc.constant('selector' as const), value: fc.constantFrom('value', 'exists', 'empty') }),
  fc.record({ field: fc.constant('remoteDiscoverySelector' as const), value: fc.constantFrom('value', 'empty') }),
  fc.record({ field: fc.constant('enableHeadlessServices' as const), value: fc.boolean() }),
  fc.record({ field: fc.constant('enableNamespaceCreation' as const), value: fc.boolean() }),
  fc.record({ field: fc.constant('probe' as const), value: fc.boolean() }),
  fc.record({ field: fc.constant('excluded' as const), value: fc.boolean() }),
  fc.record({ field: fc.constant('period' as const), value: fc.constantFrom('0s', '3s') }),
) as fc.Arbitrary<LinkEdit>;

/** A command about one Service. */
const about = <T extends object>(fields: { readonly [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T & Of> =>
  fc.tuple(fc.record(fields), of).map(([rest, which]) => ({ ...(rest as T), ...which }));

const doing = <T extends string>(what: T) => ({ do: fc.constant(what) });

const weighted: readonly (readonly [number, fc.Arbitrary<Command>])[] = [
  [
    16,
    about({
      ...doing('put service'),
      kind: fc.constantFrom<Kind>(
        'clusterIP',
        'clusterIP',
        'headless',
        'headless',
        'headless',
        'selectorless',
        'external',
      ),
      exported,
      ports: fc.nat({ max: PORTS.length - 1 }),
      tag: fc.constantFrom('a', 'b'),
      publishNotReady: fc.constantFrom(false, false, true),
    }),
  ],
  [4, about(doing('remove service'))],
  [8, about({ ...doing('export'), exported })],
  [1, fc.record({ ...doing('put many'), link: fc.constant('west' as const) })],
  [2, fc.record({ ...doing('lose all'), link: fc.constant('west' as const) })],
  [
    1,
    fc.record({
      ...doing('lose part'),
      ...{ link: fc.constant('west' as const), part: fc.constantFrom<0 | 1 | 2>(0, 1, 2) },
    }),
  ],
  [
    2,
    fc.record({
      ...doing('lose slices'),
      ...{ link: fc.constant('west' as const), ms: fc.constantFrom(100, 3_000, 30_000) },
    }),
  ],
  [1, fc.record({ ...doing('put set'), link: fc.constant('west' as const), pods: fc.constantFrom(12, 12, 11, 0) })],
  [
    4,
    fc.record({
      ...{ ...doing('put hostile'), link: targetName, index: fc.nat({ max: HOSTILE.services - 1 }) },
      kind: fc.constantFrom<'Service' | 'EndpointSlice'>('Service', 'Service', 'EndpointSlice'),
      namespace: fc.constantFrom('shop', 'shop', 'kube-system'),
    }),
  ],
  [1, fc.record({ ...doing('remove hostile'), link: targetName })],
  [3, fc.record({ ...doing('write status'), link, index: fc.nat({ max: HOSTILE.statuses - 1 }) })],
  [3, about({ ...doing('renew pods'), ms: fc.constantFrom(100, 2_000, 8_000) })],
  [12, about({ ...doing('set pods'), pods })],
  [4, about({ ...doing('set slice'), pods })],
  [10, fc.record({ ...doing('put foreign'), ...foreign, labels: foreignLabels })],
  [1, fc.record({ ...doing('put foreign'), ...foreignProbe, labels: foreignLabels })],
  [6, fc.record({ ...doing('remove foreign'), ...foreign })],
  [1, fc.record({ ...doing('remove foreign'), ...foreignProbe })],
  [
    8,
    fc.record({
      ...doing('edit mirror'),
      kind: fc.constantFrom<'Service' | 'Endpoints' | 'EndpointSlice'>(
        'Service',
        'Service',
        'Endpoints',
        'EndpointSlice',
      ),
      index,
      how: fc.constantFrom<'delete' | 'label' | 'annotation' | 'content' | 'disown'>(
        ...(['delete', 'delete', 'label', 'annotation', 'content', 'disown'] as const),
      ),
    }),
  ],
  [
    3,
    fc.record({ do: fc.constantFrom('put namespace', 'remove namespace'), namespace: fc.constantFrom(...NAMESPACES) }),
  ],
  [6, fc.record({ do: fc.constantFrom('kill gateway', 'kill gateway', 'revive gateway'), link: targetName })],
  [6, fc.record({ ...doing('edit link'), link, edit })],
  [
    2,
    fc.record({
      ...doing('edit link'),
      link: fc.constant('bar' as const),
      edit: fc.record({
        field: fc.constant('targetClusterName' as const),
        value: fc.constantFrom(CLUSTER_OF.bar, OTHER_CLUSTER, OTHER_CLUSTER, CLUSTER_OF.west),
      }),
    }),
  ],
  [2, fc.record({ ...doing('remove link'), link })],
  [4, fc.record({ ...doing('put link'), link, invalid: fc.constantFrom(false, false, false, true) })],
  [
    3,
    fc.record({
      ...doing('linkerd'),
      link,
      act: fc.constantFrom<'start' | 'release' | 'kill'>('start', 'start', 'release', 'kill'),
    }),
  ],
  [4, fc.record({ ...doing('rename link'), first: fc.constantFrom('put' as const, 'remove' as const) })],
  [
    4,
    fc.record({
      ...doing('put secret'),
      link,
      as: fc.constantFrom<CredentialsKind>(
        ...(['good', 'renewed', 'renewed', 'garbage', 'unauthorized', 'absent'] as const),
        ...(['without watch', 'without slices', 'early'] as const),
      ),
    }),
  ],
  [
    2,
    fc.record({
      ...doing('move target'),
      services: fc.constantFrom<'all' | 'half' | 'none'>('all', 'half', 'none'),
    }),
  ],
  [
    7,
    fc.record({
      do: fc.constantFrom('stop operator', 'kill operator', 'start operator', 'start operator'),
      replica: fc.nat({ max: 1 }),
    }),
  ],
  [
    2,
    fc.record({
      ...doing('pause operator'),
      replica: fc.nat({ max: 1 }),
      ms: fc.constantFrom(200, 5_000, 20_000, 40_000, 90_000),
    }),
  ],
  [4, fc.record({ ...doing('crash operator'), writes: fc.integer({ min: 1, max: 12 }) })],
  [
    5,
    fc.record({
      ...doing('weather'),
      at: fc.constantFrom(...PLACES),
      weather: fc.constantFrom<Weather>('slow', 'slow', 'refused', 'stalled', 'lost'),
      ms: fc.constantFrom(100, 2_000, 12_000, 45_000, 200_000),
    }),
  ],
  [
    2,
    fc.record({
      ...doing('cut answers'),
      at,
      bytes: fc.constantFrom(0, 1, 100, 1_000),
      times: fc.constantFrom(1, 3),
    }),
  ],
  [2, fc.record({ ...doing('names'), as: fc.constantFrom('moved', 'moved', 'answered', 'refused', 'silent') })],
  [
    5,
    fc.record({
      ...doing('down'),
      at,
      ms: fc.constantFrom(3_000, 3_000, 20_000, 100_000),
      back: fc.constantFrom(0, 0, 1, 2, 4, 8),
      more: fc.constantFrom(0, 0, 10, 1_000),
    }),
  ],
  [1, fc.record({ ...doing('compact'), at })],
  [
    2,
    fc.record({
      ...doing('manner'),
      at: targetName,
      as: fc.constantFrom(...MANNERS),
      ms: fc.constantFrom(1_000, 30_000, 100_000),
    }),
  ],
  [
    1,
    fc.record({
      ...doing('manner'),
      at: fc.constant('east' as const),
      as: fc.constantFrom<Manner>('watches end young', 'bookmarks expire'),
      ms: fc.constantFrom(1_000, 30_000),
    }),
  ],
  [
    7,
    fc.record({
      ...doing('fail'),
      at,
      how: fc.constantFrom<Failing>(
        '401',
        '403',
        '500',
        '409',
        '409',
        '429',
        '503',
        '503',
        'drop before',
        'drop after',
        'drop after',
        'hang after',
      ),
      fraction: fc.constantFrom(1, 0.5, 0.3),
      times: fc.constantFrom(1, 2, 4, 8),
    }),
  ],
  [
    4,
    fc.record({
      do: fc.constantFrom(
        'drop watches',
        'drop watches',
        'expire watches',
        'expire watches',
        'silence watches',
        'delay',
        'heal',
      ),
      at,
    }),
  ],
  [14, fc.record({ ...doing('wait'), ms: fc.constantFrom(5, 100, 1_000, 4_000, 35_000) })],
];

const command: fc.Arbitrary<Command> = fc.oneof(
  ...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary: arbitrary })),
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

/** Any history. */
export const histories: fc.Arbitrary<History> = fc.record({
  endpoints: fc.constantFrom('endpoints', 'endpoints', 'slices'),
  graceSeconds: fc.constantFrom(0, 0, 5, 60),
  bookmarks: fc.constantFrom(true, true, true, false),
  spareAhead: fc.constantFrom(0, 1_000),
  scrapesHang: fc.constantFrom(false, false, false, true),
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

/** The history of a seed: always the same one. */
export const historyOf = (seed: number): History => fc.sample(histories, { seed, numRuns: 1 })[0]!;
