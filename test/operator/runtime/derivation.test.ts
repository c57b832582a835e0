import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../../operator/kube/errors.ts';
import { type KubeObject, SERVICES } from '../../../operator/kube/objects.ts';
import { createMetrics } from '../../../operator/metrics/index.ts';
import type { Applier, Outcome as Result } from '../../../operator/runtime/applier.ts';
import { type Derivation, DerivationController, type Deriving, stepOf } from '../../../operator/runtime/derivation.ts';
import { FencedError } from '../../../operator/runtime/fence.ts';
import type { Goal } from '../../../operator/runtime/pass.ts';
import type { PassTexts, Reason } from '../../../operator/runtime/tally.ts';
import type { Action } from '../../../operator/runtime/plan.ts';
import { recordingLog } from '../link/recorded.ts';
import { byKind } from '../../support/planned.ts';

const REASON: Reason = { reason: 'Test', message: '' };
const TEXTS: PassTexts<Reason> = {
  foreign: () => REASON,
  contested: () => REASON,
  vanished: () => REASON,
  refusedName: () => REASON,
  added: () => '',
};

const service = (name: string): KubeObject => ({ metadata: { name, namespace: 'shop' } });
const create = (name: string): Goal => ({
  steps: [{ desired: [{ of: SERVICES, object: service(name) }], owned: [] }],
  isPartial: false,
  isBlocked: false,
});
const FORBIDDEN = new ApiError(403, { reason: 'Forbidden' }, 'apply');

type Numbers = Derivation<number, string>;

describe('the controller of a derivation', () => {
  /** What was called, in order. */
  let calls: string[];
  let execute: (action: Action, signal: AbortSignal) => Promise<Result>;
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    calls = [];
    execute = ({ object }) => Promise.resolve({ result: 'written', object });
    stop = new AbortController();
    running = Promise.resolve();
  });
  afterEach(async () => {
    stop.abort();
    await running;
    vi.useRealTimers();
  });

  const numbers = (given: Partial<Numbers> = {}): Numbers => ({
    texts: TEXTS,
    keys: () => ['shop/a', 'shop/b'],
    observe: (key) => calls.push(`observe ${key}`),
    decide: (observed) => `decision ${observed}`,
    goal: () => NOTHING,
    settled: (key, observed, decision) => {
      calls.push(`settled ${key}: ${observed}, ${decision}`);
      return {};
    },
    ...given,
  });
  const start = (derivation: Numbers, given: Partial<Deriving> = {}) => {
    const applier = { execute: (action: Action, signal: AbortSignal) => execute(action, signal), under: () => applier };
    const controller = new DerivationController({
      name: 'numbers',
      concurrency: 1,
      metrics: createMetrics(),
      log: recordingLog([]),
      applier: applier as unknown as Applier,
      conflictRetryMs: 10,
      derivation,
      ...given,
    });
    running = controller.run(stop.signal);
    return controller;
  };

  it('observes, decides, writes and reports, in this order', async () => {
    const done: string[] = [];
    const goal = (): Goal => (calls.includes('written') ? NOTHING : create('a'));
    const wrote: Numbers['wrote'] = (_, __, ___, { writes }) => {
      if (writes > 0) calls.push('written');
    };
    const controller = start(numbers({ begins: (key) => calls.push(`begins ${key}`), goal, wrote }), {
      serviceWritten: (key) => done.push(key),
    });
    controller.add('shop/a');
    await controller.idle();
    expect(calls.slice(0, 3)).toEqual(['begins shop/a', 'observe shop/a', 'written']);
    expect(calls.at(-1)).toBe('settled shop/a: 2, decision 2');
    expect(done).toEqual(['shop/a']);
  });

  it('reports nothing while there is more to do: what was written may change what must be', async () => {
    let passes = 0;
    const goal = (): Goal => ({ ...create('a'), isPartial: (passes += 1) < 3 });
    const controller = start(numbers({ goal }));
    controller.add('shop/a');
    await controller.idle();
    expect(calls.filter((call) => call.startsWith('observe'))).toHaveLength(3);
    expect(calls.filter((call) => call.startsWith('settled'))).toHaveLength(1);
  });

  it('writes nothing that is not prepared', async () => {
    const controller = start(numbers({ prepare: () => ({}), goal: () => create('a') }));
    controller.add('shop/a');
    await controller.idle();
    expect(calls).toEqual(['observe shop/a']);
  });

  it('decides anew in the next turn what takes longer than one', async () => {
    const isUnfinished = (decision: string): boolean => decision !== 'decision 3';
    const controller = start(numbers({ isUnfinished }));
    controller.add('shop/a');
    await controller.idle();
    expect(calls.at(-1)).toBe('settled shop/a: 3, decision 3');
  });

  it('ends what is under way when it is interrupted, reports nothing of it, and begins all anew', async () => {
    execute = (_, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('interrupted'))));
    let isFree = false;
    const goal = (): Goal => (isFree ? NOTHING : create('a'));
    const controller = start(numbers({ goal }));
    controller.add('shop/a');
    await vi.waitFor(() => expect(calls).toEqual(['observe shop/a']));
    isFree = true;
    const ended = controller.interrupt(new Error('a Lease was lost'));
    await ended;
    expect(calls.filter((call) => call.startsWith('settled'))).toEqual([]);
    await controller.idle();
    expect(calls.filter((call) => call.startsWith('settled'))).toEqual([
      'settled shop/a: 2, decision 2',
      'settled shop/b: 4, decision 4',
    ]);
  });

  it('has a namespace looked at that refused a write', async () => {
    const rechecked: string[] = [];
    execute = () => Promise.reject(FORBIDDEN);
    const controller = start(numbers({ goal: () => create('a') }), {
      recheck: (namespace) => rechecked.push(namespace),
    });
    controller.add('shop/a');
    await controller.idle();
    expect(rechecked).toEqual(['shop']);
  });

  it('comes back when the first of several waits is over', async () => {
    vi.useFakeTimers();
    let times = 0;
    const goal = (): Goal => ({ ...NOTHING, isBlocked: (times += 1) === 1 });
    const controller = start(numbers({ goal, settled: () => ({ requeueAfterMs: 60_000 }) }));
    controller.add('shop/a');
    await vi.advanceTimersByTimeAsync(100);
    expect(times).toBe(2);
  });

  it('waits for a Lease in doubt as long however often, and reports nothing of what it kept from being written', async () => {
    vi.useFakeTimers();
    let isHeld = false;
    let tries = 0;
    execute = ({ object }) => {
      tries += 1;
      return isHeld ? Promise.resolve({ result: 'written', object }) : Promise.reject(new FencedError('in doubt'));
    };
    const controller = start(numbers({ goal: () => create('a') }));
    // Each change has it tried at once.
    for (let times = 0; times < 10; times += 1) {
      controller.add('shop/a');
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(tries).toBe(10);
    expect(calls.filter((call) => call.startsWith('settled'))).toEqual([]);
    isHeld = true;
    await vi.advanceTimersByTimeAsync(1_300);
    expect(tries).toBeGreaterThan(10);
    expect(calls.at(-1)).toMatch(/^settled shop\/a/);
  });

  it('gathers what is asked of all keys, and hands on at once what is asked of one', async () => {
    const controller = start(numbers(), { gathering: { quietMs: 60_000 } });
    controller.add('shop/c');
    controller.addAll();
    controller.addAll();
    await vi.waitFor(() => expect(calls).toHaveLength(2));
    await controller.idle();
    expect(calls.filter((call) => call.startsWith('observe'))).toEqual([
      'observe shop/c',
      'observe shop/a',
      'observe shop/b',
    ]);
  });

  it('reconciles once more with all keys what is being reconciled, though it may need no work since (L184)', async () => {
    let keys = ['shop/a'];
    const wrote = (): void => {
      if (keys.length === 0) return;
      keys = [];
      expect([...controller.keys()]).toEqual(['shop/a']);
      controller.addAll();
    };
    const controller = start(numbers({ keys: () => keys, wrote }));
    controller.add('shop/a');
    await controller.idle();
    expect(calls.filter((call) => call.startsWith('observe'))).toHaveLength(2);
    expect([...controller.keys()]).toEqual([]);
  });

  it('adds nothing after its end', async () => {
    const controller = start(numbers());
    stop.abort();
    await running;
    controller.addAll();
    await controller.idle();
    expect(calls).toEqual([]);
  });
});

describe('a step', () => {
  it('is made under what its derivation demands beside what all writes need', async () => {
    const may: boolean[] = [];
    const applier = {
      execute: () => Promise.reject(new Error('not under the fence')),
      under: (mayWrite: () => boolean) => ({
        execute: ({ object }: Action): Promise<Result> => {
          may.push(mayWrite());
          return Promise.resolve({ result: 'written', object });
        },
      }),
    } as unknown as Applier;
    const derivation: Numbers = {
      texts: TEXTS,
      keys: () => [],
      observe: () => 7,
      decide: () => '',
      goal: () => create('a'),
      fence: (observed) => () => observed === 7,
      settled: () => ({}),
    };
    const decided = { observed: 7, decision: '' };
    await stepOf(derivation, decided, { applier, conflictRetryMs: 1 }, new AbortController().signal);
    expect(may).toEqual([true]);
  });

  it('that cannot replace an object is followed by one that keeps it right, whose end is not reported', async () => {
    const did: string[] = [];
    const applier = {
      execute: ({ op, object }: Action): Promise<Result> => {
        did.push(`${op} ${object.metadata.name}`);
        return op === 'replace' ? Promise.reject(FORBIDDEN) : Promise.resolve({ result: 'written', object });
      },
      under: () => applier,
    };
    const headless = { ...service('a'), spec: { clusterIP: 'None' } };
    const goal: Goal = {
      steps: [
        { desired: [{ of: SERVICES, object: headless }], owned: byKind([{ of: SERVICES, object: service('a') }]) },
      ],
      isPartial: false,
      isBlocked: false,
      unreplaced: (names) => Promise.resolve(create(`kept for ${[...names].join()}`)),
    };
    const derivation = { texts: TEXTS, goal: () => goal } as unknown as Numbers;
    const pass = await stepOf(
      derivation,
      { observed: 1, decision: '' },
      { applier: applier as unknown as Applier, conflictRetryMs: 1 },
      new AbortController().signal,
    );
    expect(did).toEqual(['replace a', 'create kept for a']);
    expect([pass.writes, pass.errors]).toEqual([0, [FORBIDDEN]]);
  });
});

const NOTHING: Goal = { steps: [], isPartial: false, isBlocked: false };
