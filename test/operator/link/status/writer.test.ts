import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { sleep } from '../../../../operator/kube/backoff.ts';
import { ApiError } from '../../../../operator/kube/errors.ts';
import type { Logger } from '../../../../operator/runtime/logger.ts';
import { SERVICES } from '../../../../operator/kube/objects.ts';
import type { LinkStatusPatch } from '../../../../operator/link/status/status.ts';
import type { LinkStatusBefore } from '../../../../operator/link/status/before.ts';
import { type LinkObject, StatusWriter } from '../../../../operator/link/status/writer.ts';
import { fenceable } from '../../../support/fenced.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

interface Given {
  readonly prunes?: boolean;
  readonly lagMs?: number;
  /** How long the API server takes to answer. */
  readonly answerMs?: number;
  /** What stands in the Link from the start. */
  readonly status?: unknown;
}

/** A Link on an API server, and a writer of its status; the writer sees what the server stores `lagMs` later. */
function setUp({ prunes: prunesFirst = false, lagMs = 0, answerMs = 0, status }: Given = {}) {
  const of = (version: number, rest: object = {}): LinkObject => ({
    metadata: { name: 'west', resourceVersion: String(version) },
    ...rest,
  });
  let version = 1;
  let link: LinkObject | undefined = of(version, status === undefined ? {} : { status });
  const first = link;
  let stored: LinkObject | undefined = link;
  let ready = 1;
  let prunes = prunesFirst;
  let failure: Error | undefined;
  let defect: Error | undefined;
  const logged: string[] = [];
  const writes: number[] = [];
  const compute = (before: LinkStatusBefore): LinkStatusPatch => {
    if (defect !== undefined) throw defect;
    return computed(before);
  };
  const computed = (before: LinkStatusBefore): LinkStatusPatch => ({
    observedGeneration: 1,
    conditions: before.conditions ?? [
      {
        type: 'Ready',
        status: 'True',
        reason: 'R',
        message: '',
        observedGeneration: 1,
        lastTransitionTime: new Date().toISOString(),
      },
    ],
    gateway: null,
    mirrors: { total: ready, ready, failed: 0 },
    mirrorServices: Array.from({ length: ready }, () => ({ conditions: [] })) as unknown as NonNullable<
      LinkStatusPatch['mirrorServices']
    >,
  });
  const client = fenceable({
    patch: async (_of: unknown, _target: unknown, sent: Partial<LinkObject> & { status: LinkStatusPatch }) => {
      writes.push(performance.now());
      if (answerMs > 0) await sleep(answerMs);
      if (failure !== undefined) throw failure;
      const { resourceVersion = String(version) } = sent.metadata ?? {};
      if (resourceVersion !== String(version)) throw new ApiError(409, { reason: 'Conflict' }, 'patch');
      const { mirrorServices, gateway: _, ...rest } = sent.status;
      stored = of((version += 1), { status: { ...(prunes ? {} : rest), mirrorServices } });
      const answer = stored;
      setTimeout(() => {
        link = answer;
        writer.schedule();
      }, lagMs);
      return answer;
    },
  });
  const log = { warn: (_: unknown, message: string) => logged.push(message) } as unknown as Logger;
  const stop = new AbortController();
  const state = { mayWrite: true };
  const writer: StatusWriter = new StatusWriter(
    {
      client,
      resource: SERVICES,
      name: 'west',
      log,
      current: () => link,
      compute,
      onWritten: (written, before) => {
        if (link === before) link = written;
      },
      mayWrite: () => state.mayWrite,
    },
    stop.signal,
  );
  return {
    writer,
    writes,
    logged,
    stop,
    state,
    get stored() {
      return stored?.status as LinkStatusBefore | undefined;
    },
    set ready(count: number) {
      ready = count;
      writer.schedule();
    },
    set prunes(does: boolean) {
      prunes = does;
    },
    set failure(error: Error | undefined) {
      failure = error;
    },
    set defect(error: Error | undefined) {
      defect = error;
    },
    set link(object: LinkObject | undefined) {
      link = object;
      writer.schedule();
    },
    /** Somebody changes the Link, and no watch shows it. */
    edit: (): void => void (stored = { ...stored, ...of((version += 1)) }),
    /** The API server is restored from a backup of before all writes, and Links are listed. */
    restore(): void {
      version = 1;
      link = stored = first;
      writer.listed();
    },
    /** The Link is seen as it is now. */
    show(): void {
      link = stored;
      writer.schedule();
    },
  };
}

describe('the writer of a Link’s status (G2)', () => {
  it('writes what has changed back while the watch is silent (F3)', async () => {
    const before = setUp();
    before.ready = 1;
    await pass(3000);
    const world = setUp({ lagMs: 150_000, status: before.stored! });
    for (const ready of [2, 1]) {
      world.ready = ready;
      await pass(3000);
      expect(world.stored).toMatchObject({ mirrors: { ready } });
    }
    expect(world.writes.length).toBe(2);
  });

  it('writes again what a list does not have, as after a restore (L55)', async () => {
    const world = setUp({ lagMs: 600_000 });
    world.writer.schedule();
    await pass(3000);
    expect(world.writes.length).toBe(1);
    // The watch never reports the write.
    world.writer.schedule();
    await pass(3000);
    expect(world.writes.length).toBe(1);
    world.restore();
    await pass(3000);
    expect(world.writes.length).toBe(2);
  });

  it('waits no longer once Links are listed again after an outage (F3)', async () => {
    const world = setUp();
    world.failure = new ApiError(503, {}, 'patch');
    world.writer.schedule();
    await pass(600_000);
    world.failure = undefined;
    world.writer.listed();
    await pass(1000);
    expect(world.stored).toMatchObject({ mirrors: { ready: 1 } });
  });

  it('writes soon, then at most once a second, however much changes', async () => {
    const world = setUp();
    for (let step = 1; step <= 500; step += 1) {
      world.ready = step;
      await pass(10);
    }
    await pass(2000);
    expect(world.writes[0]).toBeLessThan(performance.now() - 6000);
    expect(world.writes.length).toBeLessThanOrEqual(7);
    const pauses = world.writes.slice(1).map((at, index) => at - world.writes[index]!);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(999);
    expect(world.stored).toMatchObject({ mirrors: { total: 500 } });
  });

  it('L54 writes nothing while the Lease may have expired, reports nothing, and then says what is true (H2, H4, L144)', async () => {
    const world = setUp();
    world.state.mayWrite = false;
    world.writer.schedule();
    await pass(60_000);
    expect(world.writes).toEqual([]);
    world.state.mayWrite = true;
    await pass(1_100);
    expect([world.writes.length, world.logged]).toEqual([1, []]);
  });

  it('writes nothing when there is nothing new to say', async () => {
    const world = setUp({ lagMs: 500 });
    world.writer.schedule();
    await pass(5000);
    for (let again = 0; again < 10; again += 1) {
      world.writer.schedule();
      await pass(2000);
    }
    expect(world.writes).toHaveLength(1);
  });

  test.each<[string, unknown]>([
    ['an entry without conditions', { mirrorServices: [{ remoteRef: { namespace: 'shop', name: 'web' } }] }],
    ['fields of other types', { conditions: 'none', mirrorServices: { web: true }, observedGeneration: 'one' }],
    ['a status that is no object', 'fine'],
  ])('replaces what somebody else wrote there: %s (L47)', async (_, status) => {
    const world = setUp({ status });
    world.writer.schedule();
    await pass(2000);
    expect(world.writes).toHaveLength(1);
    expect(world.stored?.conditions).toMatchObject([{ type: 'Ready' }]);
  });

  it('goes on when a status cannot be computed', async () => {
    const world = setUp();
    world.defect = new TypeError('a defect');
    world.writer.schedule();
    await pass(2000);
    expect([world.writes, world.logged]).toEqual([[], ['the status of the Link cannot be written']]);
    world.defect = undefined;
    await pass(300_000);
    expect(world.writes).toHaveLength(1);
  });

  it('writes nothing at its start when the Link says it already', async () => {
    const first = setUp();
    first.writer.schedule();
    await pass(2000);
    const second = setUp({ status: first.stored ?? {} });
    second.writer.schedule();
    await pass(2000);
    expect(second.writes).toEqual([]);
  });

  it('writes what changes while it writes, and lets a slow API server rest', async () => {
    const world = setUp({ answerMs: 300, lagMs: 60_000 });
    world.ready = 1;
    await pass(200);
    world.ready = 2;
    await pass(2_800);
    expect(world.writes).toHaveLength(1);
    await pass(1_000);
    expect(world.writes).toHaveLength(2);
    expect(world.stored).toMatchObject({ mirrors: { total: 2 } });
  });

  it('puts right what somebody else makes of it', async () => {
    const world = setUp();
    world.writer.schedule();
    await pass(2000);
    world.link = { metadata: { name: 'west', resourceVersion: '2' }, status: {} };
    await pass(2000);
    expect(world.writes).toHaveLength(2);
  });

  it('writes once on a CRD that drops our fields, and never loops (G5)', async () => {
    const world = setUp({ prunes: true });
    world.writer.schedule();
    for (let again = 0; again < 10; again += 1) {
      await pass(2000);
      world.writer.schedule();
    }
    expect(world.writes).toHaveLength(1);
    world.ready = 2;
    await pass(10_000);
    expect(world.writes).toHaveLength(2);
    expect(world.stored?.mirrorServices).toHaveLength(2);
  });

  it('writes again what a CRD dropped, within minutes of its upgrade (L284)', async () => {
    const world = setUp({ prunes: true });
    world.writer.schedule();
    await pass(10_000);
    expect(world.stored?.conditions).toBeUndefined();
    world.prunes = false;
    await pass(300_000);
    expect(world.stored?.conditions).toHaveLength(1);
    await pass(900_000);
    expect(world.writes).toHaveLength(2);
  });

  it('tries again until it is written, warns once, and writes what is true then (H4)', async () => {
    const world = setUp();
    world.failure = new ApiError(500, {}, 'patch');
    world.ready = 1;
    await pass(60_000);
    expect(world.writes.length).toBeGreaterThan(3);
    expect(world.logged).toHaveLength(1);
    world.failure = undefined;
    world.ready = 9;
    await pass(300_000);
    expect(world.stored).toMatchObject({ mirrors: { total: 9 } });
  });

  it('tries a change at once, and what failed no sooner for being scheduled again (F3, H4)', async () => {
    const world = setUp();
    world.failure = new ApiError(500, {}, 'patch');
    world.ready = 2;
    await pass(120_000);
    const tried = world.writes.length;
    for (let second = 0; second < 3; second += 1) {
      world.ready = 2;
      await pass(1000);
    }
    expect(world.writes.length - tried).toBeLessThanOrEqual(1);
    world.failure = undefined;
    world.ready = 3;
    await pass(1500);
    expect(world.stored).toMatchObject({ mirrors: { ready: 3 } });
  });

  it('says nothing of a Link that it has not seen as it is, and soon when it has (G1, L180)', async () => {
    const world = setUp();
    world.edit();
    world.ready = 2;
    await pass(5500);
    expect([world.stored, world.writes.length > 2, world.logged]).toEqual([undefined, true, []]);
    world.show();
    await pass(1100);
    expect(world.stored).toMatchObject({ mirrors: { ready: 2 } });
  });

  it('says nothing either of one that changed after its own last write (G1, L180)', async () => {
    const world = setUp({ lagMs: 600_000 });
    world.ready = 2;
    await pass(1500);
    world.edit();
    world.ready = 3;
    await pass(5500);
    expect(world.stored).toMatchObject({ mirrors: { ready: 2 } });
    world.show();
    await pass(1100);
    expect(world.stored).toMatchObject({ mirrors: { ready: 3 } });
  });

  it('does not try again, nor warn, when the Link turns out to be gone', async () => {
    const world = setUp();
    world.failure = new ApiError(404, { reason: 'NotFound' }, 'patch');
    world.ready = 2;
    await pass(60_000);
    expect([world.writes.length, world.logged]).toEqual([1, []]);
  });

  it('leaves a Link that is gone alone', async () => {
    const world = setUp();
    world.link = undefined;
    await pass(5000);
    expect(world.writes).toEqual([]);
  });

  it('writes nothing after its end', async () => {
    const world = setUp();
    world.writer.schedule();
    world.stop.abort();
    world.writer.schedule();
    await pass(5000);
    expect(world.writes).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
