/** Commands that mean little apart: what it takes several of, in their order, to go wrong. */
import fc from 'fast-check';
import type { Command, LinkEdit, LinkName, TargetName } from '../command.ts';
import { HOSTILE } from '../hostile.ts';
import { NO_GATEWAY } from '../link-state.ts';
import { wait } from './lots.ts';

/** For so long: until what was begun is under way, or is done, or has been given up. */
/** One after another, each followed by a wait. */
const paced = (
  commands: fc.Arbitrary<Command>,
  waits: fc.Arbitrary<Command>,
  [minLength, maxLength]: [number, number],
) => fc.array(fc.tuple(commands, waits), { minLength, maxLength, size: 'max' }).map((all) => all.flat());

/** What takes much from west at once, without anybody deleting it. */
const loss: fc.Arbitrary<Command> = fc.oneof(
  fc.constant<Command>({ do: 'lose all', link: 'west' }),
  fc.constantFrom<0 | 1 | 2>(0, 1, 2).map((part): Command => ({ do: 'lose part', link: 'west', part })),
  fc.constantFrom(100, 3_000, 30_000).map((ms): Command => ({ do: 'lose slices', link: 'west', ms })),
  fc.constantFrom<'half' | 'none'>('half', 'none').map((services): Command => ({ do: 'move target', services })),
  fc
    .tuple(fc.constantFrom(2, 3), fc.constantFrom(0, 1_000))
    .map(([back, more]): Command => ({ do: 'down', at: 'west', ms: 3_000, back, more })),
);

/** A mass loss is confirmed, and then as much is lost again, or something else (E6). */
const confirmed = fc
  .tuple(loss, fc.constantFrom<Command>({ do: 'put many', link: 'west' }, { do: 'put set', link: 'west', pods: 12 }))
  .map(([lost, again]): readonly Command[] => [
    ...[{ do: 'put many', link: 'west' } as const, { do: 'wait', ms: 4_000 } as const],
    ...[{ do: 'lose all', link: 'west' } as const, { do: 'wait', ms: 4_000 } as const],
    ...[{ do: 'confirm prunes' } as const, { do: 'wait', ms: 4_000 } as const],
    ...[again, { do: 'wait', ms: 4_000 } as const, lost],
  ]);

const edit = (link: LinkName, field: LinkEdit): Command => ({ do: 'edit link', link, edit: field });

/** Settings of a Link that take away much of what has mirrors, and give it back or not; and the operator may start anew (E6). */
const settings = fc
  .tuple(
    fc.constantFrom<Command>({ do: 'put many', link: 'west' }, { do: 'put set', link: 'west', pods: 12 }),
    fc.constantFrom<LinkEdit>(
      { field: 'selector', value: 'empty' },
      { field: 'enableHeadlessServices', value: false },
      { field: 'enableHeadlessServices', value: false },
    ),
    paced(
      fc.constantFrom<Command>(
        { do: 'kill operator', replica: 0 },
        { do: 'start operator', replica: 0 },
        { do: 'confirm prunes' },
        ...[{ do: 'edit link', link: 'west', edit: { field: 'enableHeadlessServices', value: true } } as const],
        ...[{ do: 'edit link', link: 'west', edit: { field: 'selector', value: 'value' } } as const],
      ),
      wait(1_000, 4_000),
      [1, 4],
    ),
  )
  .map(([put, change, meanwhile]): readonly Command[] => [
    ...[put, { do: 'wait', ms: 4_000 } as const, edit('west', change), { do: 'wait', ms: 1_000 } as const],
    ...meanwhile,
  ]);

/** Mass losses, one after another, of what has mirrors. */
const losses = fc
  .tuple(
    fc.constantFrom<Command>({ do: 'put many', link: 'west' }, { do: 'put set', link: 'west', pods: 12 }),
    paced(loss, wait(5, 1_000, 4_000), [1, 3]),
  )
  .map(([put, lost]): readonly Command[] => [put, { do: 'wait', ms: 4_000 }, ...lost]);

const PERIOD = { invalid: { field: 'period', value: '0s' }, valid: { field: 'period', value: '3s' } } as const;

const PLAIN = { ports: 0, tag: 'a', publishNotReady: false } as const;

const of = (link: TargetName) => ({ link, namespace: 'shop', name: 'web' }) as const;

const RESTART = [
  { do: 'kill operator', replica: 0 },
  { do: 'wait', ms: 1_000 },
  { do: 'start operator', replica: 0 },
] as const;

/** A gateway is dead for long enough to be found out; also of a Link that has become invalid, and over a restart (E7). */
const deadGateway = fc
  .tuple(fc.constantFrom('west' as const, 'bar' as const), fc.constantFrom('valid', 'invalid', 'restarted'))
  .map(([link, as]): readonly Command[] => [
    { do: 'put service', ...of(link), kind: 'clusterIP', exported: 'true', ...PLAIN },
    { do: 'set pods', ...of(link), pods: [{ hostname: '', ready: true }] },
    { do: 'wait', ms: 4_000 },
    ...(as === 'valid' ? [] : [edit(link, PERIOD.invalid), { do: 'wait', ms: 35_000 } as const]),
    ...(as === 'restarted' ? [...RESTART, { do: 'wait', ms: 35_000 } as const] : []),
    { do: 'kill gateway', link },
    { do: 'wait', ms: 4_000 },
    { do: 'wait', ms: 15_000 },
  ]);

/** A gateway dies, or is taken out of its Link, while a mirror behind it is kept that nothing is known of any more (C1). */
const keptMirror = fc
  .tuple(
    fc.constantFrom('west' as const, 'bar' as const),
    fc.constantFrom<'spoiled' | 'no gateway'>('spoiled', 'no gateway'),
    fc.nat({ max: HOSTILE.spoiled - 1 }),
  )
  .map(([link, how, index]): readonly Command[] => [
    { do: 'put service', ...of(link), kind: 'clusterIP', exported: 'true', ...PLAIN },
    { do: 'set pods', ...of(link), pods: [{ hostname: '', ready: true }] },
    { do: 'wait', ms: 4_000 },
    ...(how === 'spoiled'
      ? ([
          { do: 'spoil service', ...of(link), index },
          { do: 'wait', ms: 1_000 },
          { do: 'kill gateway', link },
        ] as const)
      : [edit(link, { field: 'gatewayAddress', value: NO_GATEWAY })]),
    ...[{ do: 'wait', ms: 35_000 } as const, { do: 'wait', ms: 4_000 } as const],
  ]);

/** An operator starts while a gateway is dead, and finds a mirror that was empty when a pod becomes ready (C1). */
const restarted = fc
  .tuple(fc.constantFrom('west' as const, 'bar' as const), fc.boolean(), wait(100, 1_000))
  .map(([link, isOther, waiting]): readonly Command[] => [
    ...(isOther
      ? ([
          { do: 'put service', ...of(link), kind: 'clusterIP', exported: 'true', ...PLAIN },
          { do: 'set pods', ...of(link), pods: [{ hostname: '', ready: true }] },
        ] as const)
      : []),
    { do: 'put service', ...of(link), name: 'alt', kind: 'clusterIP', exported: 'true', ...PLAIN },
    { do: 'set pods', ...of(link), name: 'alt', pods: [{ hostname: '', ready: false }] },
    ...[{ do: 'wait', ms: 4_000 } as const, { do: 'kill gateway', link } as const],
    ...[{ do: 'wait', ms: 35_000 } as const, { do: 'kill operator', replica: 0 } as const, waiting],
    ...[{ do: 'start operator', replica: 0 } as const, waiting],
    { do: 'set pods', ...of(link), name: 'alt', pods: [{ hostname: '', ready: true }] },
    { do: 'wait', ms: 4_000 },
  ]);

/**
 * Pods that are listed in slices made by hand, one of them by two that disagree (D6); and such slices are not known for a
 * moment, since those of another Service are looked for (E10).
 */
const byHand = fc
  .tuple(fc.constantFrom(2, 4), fc.boolean(), wait(100, 1_000, 4_000))
  .map(([pods, second, waiting]): readonly Command[] => [
    { do: 'put by hand', link: 'west', pods, second: false },
    { do: 'put set', link: 'west', pods: 11 },
    { do: 'wait', ms: 4_000 },
    ...(second ? [{ do: 'put by hand', link: 'west', pods, second } as const, waiting] : []),
    { do: 'delay', at: 'west' },
    { do: 'put service', ...of('west'), name: 'alt', kind: 'selectorless', exported: 'true', ...PLAIN },
    { do: 'wait', ms: 4_000 },
    { do: 'put by hand', link: 'west', pods, second: false },
    waiting,
  ]);

/** An older Link comes to name the cluster of one that is served, which keeps it (E9). */
const rival = wait(1_000, 4_000).map((waiting): readonly Command[] => [
  ...[{ do: 'put link', link: 'west' } as const, { do: 'put link', link: 'bar' } as const, waiting],
  { do: 'put service', ...of('west'), name: 'alt', kind: 'clusterIP', exported: 'true', ...PLAIN },
  ...[waiting, edit('bar', { field: 'targetClusterName', value: 'west' }), { do: 'wait', ms: 4_000 } as const],
  edit('bar', { field: 'targetClusterName', value: 'bar-west' }),
]);

const ofWest = fc.constantFrom<LinkName>('west', 'west-v2');

/** What happens to the Links of one cluster: doubled, invalid, deleted and made anew, also under restarts. */
const life: fc.Arbitrary<Command> = fc.oneof(
  fc.tuple(ofWest, fc.boolean()).map(([link, invalid]): Command => ({ do: 'put link', link, invalid })),
  ofWest.map((link): Command => ({ do: 'remove link', link })),
  fc.tuple(ofWest, fc.constantFrom(PERIOD.invalid, PERIOD.valid)).map(([link, period]): Command => edit(link, period)),
  fc.constantFrom('west', 'bar-west').map((value): Command => edit('bar', { field: 'targetClusterName', value })),
  fc.constantFrom<Command>({ do: 'kill operator' }, { do: 'stop operator' }, { do: 'start operator' }),
);

/** One is put beside another, which then goes or becomes invalid; and what may happen before and after. */
const lives = fc
  .tuple(
    paced(life, wait(5, 1_000, 4_000), [0, 2]),
    fc.boolean(),
    wait(5, 1_000),
    fc.constantFrom<Command>({ do: 'remove link', link: 'west' }, edit('west', PERIOD.invalid)),
    paced(life, wait(5, 1_000, 4_000, 4_000), [1, 4]),
  )
  .map(([before, invalid, waiting, goes, after]): readonly Command[] => [
    ...[...before, { do: 'put link', link: 'west-v2', invalid } as const, waiting, goes],
    ...[{ do: 'wait', ms: 4_000 } as const, ...after],
  ]);

/** What is asked of a server that does not answer hangs, and the operator is told to stop (H2). */
const stopped = fc
  .tuple(
    fc.constantFrom<'east' | 'west'>('east', 'east', 'west'),
    fc.constantFrom<'stalled' | 'lost'>('stalled', 'lost'),
    wait(5, 1_000, 12_000),
  )
  .map(([at, weather, waiting]): readonly Command[] => [
    { do: 'weather', at, weather, ms: 45_000 },
    waiting,
    { do: 'stop operator', replica: 0 },
    { do: 'wait', ms: 4_000 },
    { do: 'start operator', replica: 0 },
  ]);

/** A Link comes to name another cluster, and back, while the API server of the source is away, or is restored (E5). */
const moves = paced(
  fc.oneof(
    fc
      .constantFrom('far', 'far', 'bar-west', 'west')
      .map((value): Command => edit('bar', { field: 'targetClusterName', value })),
    fc
      .tuple(fc.constantFrom(3_000, 20_000), fc.constantFrom(0, 1, 2, 4), fc.constantFrom(0, 10, 1_000))
      .map(([ms, back, more]): Command => ({ do: 'down', at: 'east', ms, back, more })),
    fc.constantFrom<Command>(
      ...([{ do: 'kill operator' }, { do: 'start operator' }, { do: 'remove link', link: 'bar' }] as const),
      ...([
        { do: 'put link', link: 'bar' },
        { do: 'crash operator', writes: 2 },
      ] as const),
    ),
  ),
  wait(5, 100, 1_000, 4_000),
  [3, 6],
);

/** A Service changes mode while one of the two watches that it leaves and enters is late (A1). */
const lag = fc
  .tuple(fc.constantFrom('gateway' as const, 'flat' as const), fc.boolean(), fc.constantFrom(1_000, 12_000))
  .map(([mode, isFlat, ms]): readonly Command[] => {
    const [from, to] = isFlat ? (['remote-discovery', 'true'] as const) : (['true', 'remote-discovery'] as const);
    return [
      { do: 'put service', ...of('west'), name: 'alt', kind: 'clusterIP', exported: from, ...PLAIN },
      { do: 'wait', ms: 4_000 },
      { do: 'lag', link: 'west', mode, ms },
      { do: 'export', ...of('west'), name: 'alt', exported: to },
      { do: 'wait', ms: 4_000 },
    ];
  });

/** A Link is renamed, edited to be invalid, and the operator is started anew (L44). */
const renamed = fc
  .tuple(fc.constantFrom<'put' | 'remove'>('put', 'remove'), wait(1_000, 4_000), fc.boolean())
  .map(([first, waiting, isKilled]): readonly Command[] => [
    ...[{ do: 'put link', link: 'west' } as const, { do: 'remove link', link: 'west-v2' } as const],
    ...[{ do: 'wait', ms: 35_000 } as const, { do: 'wait', ms: 35_000 } as const],
    { do: 'put service', ...of('west'), name: 'alt', kind: 'clusterIP', exported: 'true', ...PLAIN },
    { do: 'wait', ms: 4_000 },
    ...[{ do: 'rename link', first } as const, waiting, edit('west-v2', PERIOD.invalid), waiting],
    { do: isKilled ? 'kill operator' : 'stop operator', replica: 0 },
    { do: 'wait', ms: 4_000 },
    { do: 'start operator', replica: 0 },
    { do: 'wait', ms: 35_000 },
  ]);

/** A Link's gateway changes while writes fail: it is not synced before they succeed (G1). */
const changed = fc
  .tuple(
    fc.constantFrom<'409' | '503'>('409', '503'),
    fc.constantFrom(1, 0.5),
    fc.constantFrom(2, 4, 8),
    fc.constantFrom('4143', '30143'),
  )
  .map(([how, fraction, times, value]): readonly Command[] => [
    { do: 'put service', ...of('west'), kind: 'clusterIP', exported: 'true', ...PLAIN },
    { do: 'set pods', ...of('west'), pods: [{ hostname: '', ready: true }] },
    { do: 'wait', ms: 4_000 },
    { do: 'fail', at: 'east', how, fraction, times },
    edit('west', { field: 'gatewayPort', value }),
    { do: 'wait', ms: 4_000 },
  ]);

/** What happens to a Link, its target and the operator meanwhile. */
const happens = (link: TargetName): fc.Arbitrary<Command> =>
  fc.constantFrom<Command>(
    { do: 'put service', ...of(link), name: 'alt', kind: 'clusterIP', exported: 'true', ...PLAIN },
    { do: 'export', ...of(link), exported: 'false' },
    edit(link, PERIOD.invalid),
    { do: 'kill gateway', link },
    { do: 'remove link', link },
    { do: 'kill operator', replica: 0 },
    { do: 'start operator', replica: 0 },
  );

/** A Link is left to another controller, which writes for it or does not; then it is taken back (H9). */
const suspended = fc
  .constantFrom<TargetName>('west', 'bar')
  .chain((link) =>
    fc
      .tuple(fc.boolean(), paced(happens(link), wait(1_000, 4_000), [1, 4]), wait(1_000, 35_000))
      .map(([isLinkerds, meanwhile, waiting]): readonly Command[] => [
        { do: 'put link', link },
        { do: 'put service', ...of(link), kind: 'clusterIP', exported: 'true', ...PLAIN },
        ...[{ do: 'wait', ms: 4_000 } as const, { do: 'suspend link', link } as const, waiting],
        ...(isLinkerds ? [{ do: 'linkerd', link, act: 'start' } as const] : []),
        ...meanwhile,
        ...(isLinkerds ? [{ do: 'linkerd', link, act: 'release' } as const] : []),
        ...[{ do: 'resume link', link } as const, waiting],
      ]),
  );

export const episode: fc.Arbitrary<readonly Command[]> = fc.oneof(
  { weight: 2, arbitrary: losses },
  { weight: 1, arbitrary: confirmed },
  { weight: 1, arbitrary: settings },
  { weight: 1, arbitrary: deadGateway },
  { weight: 1, arbitrary: keptMirror },
  { weight: 1, arbitrary: byHand },
  { weight: 1, arbitrary: restarted },
  { weight: 3, arbitrary: lives },
  { weight: 1, arbitrary: rival },
  { weight: 1, arbitrary: stopped },
  { weight: 1, arbitrary: moves },
  { weight: 1, arbitrary: lag },
  { weight: 1, arbitrary: changed },
  { weight: 1, arbitrary: renamed },
  { weight: 1, arbitrary: suspended },
);
