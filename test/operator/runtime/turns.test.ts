import { describe, expect, it } from 'vitest';
import { eventLoop, giveWay } from '../../../operator/runtime/turns.ts';

/** Works for so long without giving the loop back. */
function work(ms: number): void {
  const began = performance.now();
  while (performance.now() - began < ms);
}

describe('the turns of the event loop', () => {
  it('are over after 10 ms of work, and begin anew once others have had the loop (E10)', async () => {
    await new Promise(setImmediate);
    expect(eventLoop.isOver()).toBe(false);
    work(12);
    expect(eventLoop.isOver()).toBe(true);
    await eventLoop.next();
    expect(eventLoop.isOver()).toBe(false);
  });

  it('are given to one at a time, so that what many do together holds the loop no longer than one (E10)', async () => {
    const turns: number[] = [];
    let turn = 0;
    let isDone = false;
    const count = (): void => {
      turn += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const one = async (): Promise<void> => {
      for (let at = 0; at < 3; at += 1) {
        work(12);
        turns.push(turn);
        await giveWay(eventLoop);
      }
    };
    await Promise.all([one(), one(), one()]);
    isDone = true;
    // Each of the three begins in the first turn; after that, nobody shares one.
    const later = turns.slice(3);
    expect(new Set(later).size).toBe(later.length);
  });
});
