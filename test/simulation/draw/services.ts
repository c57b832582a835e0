/** Draws what users do with Services and pods of targets, and with mirrors and namespaces of the source. */
import fc from 'fast-check';
import { type Export, type Kind, NAMESPACES, type Of, PORTS, type TargetName } from '../command.ts';
import { HOSTILE } from '../hostile.ts';
import { doing, link, targetName } from './fields.ts';
import type { Weighted } from './weighted.ts';

const LONG_NAME = 'n'.repeat(60);

/** Few Services, so that what happens to one happens to others: most want names that others want too. */
export const of: fc.Arbitrary<Of> = fc
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
export const pods = fc.array(
  fc.record({
    hostname: fc.constantFrom('web-0', 'web-0', 'web-1', 'web-1', 'web-2', ''),
    ready: fc.constantFrom(true, true, false),
  }),
  { maxLength: 3 },
);
const index = fc.nat({ max: 7 });
const foreignNames = ['web-west', 'web-west', 'web-0-west', 'web-1-west', 'foo-bar-west', 'web-bar-west', 'alt-west'];
export const foreign = {
  kind: fc.constantFrom<'Service' | 'Endpoints'>('Service', 'Service', 'Endpoints'),
  ...{ namespace: fc.constantFrom('shop', 'shop', 'shop', 'till'), name: fc.constantFrom(...foreignNames) },
};
const foreignProbe = {
  kind: fc.constantFrom<'Service' | 'Endpoints'>('Service', 'Endpoints'),
  ...{ namespace: fc.constant('linkerd-multicluster'), name: fc.constantFrom('probe-west', 'probe-bar') },
};
export const foreignLabels = fc.constantFrom<'none' | 'mirror' | 'of another cluster'>(
  'none',
  'mirror',
  'of another cluster',
);

/** A command about one Service. */
const about = <T extends object>(fields: { readonly [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T & Of> =>
  fc.tuple(fc.record(fields), of).map(([rest, which]) => ({ ...(rest as T), ...which }));

export const services: Weighted = [
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
    2,
    fc.record({
      ...{ ...doing('put by hand'), link: fc.constant('west' as const) },
      ...{ pods: fc.constantFrom(2, 3, 4), second: fc.boolean() },
    }),
  ],
  [
    4,
    fc.record({
      ...{ ...doing('put hostile'), link: targetName, index: fc.nat({ max: HOSTILE.services - 1 }) },
      kind: fc.constantFrom<'Service' | 'EndpointSlice'>('Service', 'Service', 'EndpointSlice'),
      namespace: fc.constantFrom('shop', 'shop', 'kube-system'),
    }),
  ],
  [1, fc.record({ ...doing('remove hostile'), link: targetName })],
  [2, about({ ...doing('spoil service'), index: fc.nat({ max: HOSTILE.spoiled - 1 }) })],
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
      how: fc.constantFrom<'delete' | 'label' | 'annotation' | 'content' | 'disown' | 'manager'>(
        ...(['delete', 'delete', 'label', 'annotation', 'content', 'disown', 'manager'] as const),
      ),
    }),
  ],
  [
    3,
    fc.record({ do: fc.constantFrom('put namespace', 'remove namespace'), namespace: fc.constantFrom(...NAMESPACES) }),
  ],
];
