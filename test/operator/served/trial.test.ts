import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { KubeClient } from '../../../operator/kube/client.ts';
import { Trial } from '../../../operator/served/trial.ts';
import type { Target } from '../../../operator/target/target.ts';

const CLIENT = {} as unknown as KubeClient;
const signal = new AbortController().signal;

/** A target that refuses some namespaces and reads others, and records what is done with it. */
function targetOf({ refused = [], read = [] }: { readonly refused?: string[]; readonly read?: string[] } = {}) {
  const done: string[] = [];
  const failedMs = new Map<string, number>();
  const fail = (namespace: string): void => void failedMs.set(namespace, performance.now());
  const target = {
    refused,
    isRead: (namespace: string) => read.includes(namespace),
    failedMs: (namespace: string) => failedMs.get(namespace) ?? -Infinity,
    run: (client: KubeClient) => done.push(client === CLIENT ? 'run' : 'run with another client'),
    stop: () => done.push('stop'),
  } as unknown as Target;
  return { target, fail, done };
}

function trying(target = targetOf()) {
  const problems: unknown[] = [];
  const trial = new Trial(CLIENT, (error) => problems.push(error));
  trial.read(target.target, signal);
  return { trial, problems, done: target.done };
}

describe('credentials that are tried (E2)', () => {
  it('read the target, and another one in its place once the selectors have changed', () => {
    const { trial, done } = trying();
    const next = targetOf();
    trial.read(next.target, signal);
    expect([done, next.done]).toEqual([['run', 'stop'], ['run']]);
    expect(trial.target).toBe(next.target);
  });

  it('report what is in the way, and nothing once it has gone', () => {
    const { trial, problems } = trying();
    const obstacle = { error: new Error('no route'), namespaces: [] };
    trial.found(obstacle);
    expect([problems, trial.obstacle]).toEqual([[obstacle.error], obstacle]);
    trial.found(undefined);
    expect([problems.length, trial.obstacle]).toEqual([1, undefined]);
  });

  it('must read every namespace that the old ones may read (L108, L109)', async () => {
    const { trial } = trying(targetOf({ refused: ['bank'] }));
    const reading = targetOf({ read: ['shop', 'bank'] });
    const { target, fail } = targetOf({ read: ['shop'] });
    expect(trial.readsAllOf(reading.target)).toBe(false);
    fail('bank');
    await sleep(2);
    expect(trial.readsAllOf(target)).toBe(false);
    fail('shop');
    expect(trial.readsAllOf(target)).toBe(false);
    await sleep(2);
    fail('bank');
    expect(trial.readsAllOf(target)).toBe(true);
    expect(trial.readsAllOf(undefined)).toBe(true);
  });

  it.each([
    ['they could not read the target meanwhile', (trial: Trial) => trial.found(undefined)],
    ['the selectors changed', (trial: Trial) => trial.read(targetOf({ refused: ['bank'] }).target, signal)],
  ])('must do so anew if %s (L108, L109)', async (_, happen) => {
    const { trial } = trying(targetOf({ refused: ['bank'] }));
    const { target, fail } = targetOf();
    expect(trial.readsAllOf(target)).toBe(false);
    await sleep(2);
    fail('bank');
    happen(trial);
    await sleep(2);
    expect(trial.readsAllOf(target)).toBe(false);
  });

  it('go on reading once they are in use', async () => {
    const { trial, done } = trying();
    trial.adopt();
    expect([await trial.adopted, trial.ended.aborted]).toEqual([true, true]);
    expect(done).toEqual(['run']);
  });

  it('read no more once they are given up', async () => {
    const { trial, done } = trying();
    expect(trial.ended.aborted).toBe(false);
    trial.giveUp();
    expect([await trial.adopted, trial.ended.aborted]).toEqual([false, true]);
    expect(done).toEqual(['run', 'stop']);
  });
});
