import { expect, it } from 'vitest';
import { MIRROR_TEXTS } from '../../../operator/mirror/goal.ts';
import { takeStep } from '../../../operator/runtime/pass.ts';

it('plans each step in a turn of its own while turns are over, as one may be of thousands of pods (E10)', async () => {
  const log: string[] = [];
  const stepOf = (name: string) => ({
    get desired() {
      log.push(name);
      return [];
    },
    owned: [],
  });
  await takeStep(
    { steps: [stepOf('services'), stepOf('endpoints')], isPartial: false, isBlocked: false },
    {
      applier: { execute: () => Promise.reject(new Error('nothing is to be written')) },
      conflictRetryMs: 1,
      texts: MIRROR_TEXTS,
      turns: { isOver: () => true, next: () => Promise.resolve(log.push('turn')).then(() => undefined) },
    },
    new AbortController().signal,
  );
  expect(log).toEqual(['turn', 'services', 'turn', 'endpoints']);
});
