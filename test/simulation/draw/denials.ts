/** Draws what an admission webhook of the source cluster denies; drawn after the rest of a history. */
import fc from 'fast-check';
import type { Command } from '../command.ts';
import type { History } from '../history.ts';
import { insert } from './lots.ts';

const deny: fc.Arbitrary<Command> = fc.record({
  do: fc.constant('deny' as const),
  operation: fc.constantFrom('create', 'create', 'create', 'update', 'delete'),
  resource: fc.constantFrom('services', 'services', 'endpoints', 'endpointslices'),
  code: fc.constantFrom(403, 403, 500),
  ms: fc.constantFrom(3_000, 40_000, 200_000),
});

/** A Service comes to be of another kind while its mirror may not be made anew. */
const replaced: fc.Arbitrary<readonly Command[]> = fc
  .tuple(fc.constantFrom('clusterIP', 'headless'), fc.constantFrom(403, 500))
  .map(([kind, code]): readonly Command[] => {
    const of = { link: 'west', namespace: 'shop', name: 'web' } as const;
    const plain = { ...of, exported: 'true', ports: 0, tag: 'a', publishNotReady: false } as const;
    const [first, then] = kind === 'headless' ? ['headless', 'clusterIP'] : ['clusterIP', 'headless'];
    return [
      { do: 'put service', ...plain, kind: first as 'headless' },
      { do: 'set pods', ...of, pods: [{ hostname: 'web-0', ready: true }] },
      { do: 'wait', ms: 4_000 },
      { do: 'deny', operation: 'create', resource: 'services', code, ms: 40_000 },
      { do: 'wait', ms: 15_000 },
      { do: 'put service', ...plain, kind: then as 'clusterIP' },
      { do: 'set pods', ...of, pods: [{ hostname: 'web-0', ready: true }] },
      { do: 'wait', ms: 4_000 },
    ];
  });

/** Draws what is added to a history. */
export const denied: fc.Arbitrary<(history: History) => History> = fc
  .array(
    fc.tuple(
      fc.nat(),
      fc.oneof({ weight: 3, arbitrary: deny.map((one) => [one]) }, { weight: 1, arbitrary: replaced }),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((more) => (history: History): History => ({ ...history, commands: insert(history.commands, more) }));
