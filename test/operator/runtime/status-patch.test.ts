import { describe, expect, it, vi } from 'vitest';
import { sleep } from '../../../operator/kube/backoff.ts';
import { ApiError } from '../../../operator/kube/errors.ts';
import type { KubeObject, Resource } from '../../../operator/kube/objects.ts';
import { StatusPatch } from '../../../operator/runtime/status-patch.ts';

interface Widget extends KubeObject {
  readonly status?: unknown;
}

const WIDGETS: Resource = {
  group: 'example.com',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
};
const { signal } = new AbortController();
const widget = (version: string, status?: object): Widget => ({
  metadata: { name: 'a', namespace: 'shop', resourceVersion: version },
  ...(status !== undefined && { status }),
});

/** A server whose CRD keeps what `kept` says of a status. */
function setUp({
  periodMs = 0,
  shownMs = 10_000,
  kept = (status: object): object => status,
  fails = false,
  isGuarded = false,
  droppedMs = 3_600_000,
  /** How long the API server takes to answer. */
  answerMs = 0,
} = {}) {
  const written: (readonly [string, object])[] = [];
  const shown: Widget[] = [];
  let version = 1;
  let fenceError: Error | undefined;
  const client = {
    patch: async <T>(_: Resource, { name, subresource }: { name: string; subresource?: string }, patch: object) => {
      if (answerMs > 0) await sleep(answerMs);
      if (fenceError !== undefined) throw fenceError;
      if (fails) throw new ApiError(404, { reason: 'NotFound' }, 'patch');
      const { status, metadata } = patch as Required<Widget> & { readonly status: object };
      if (isGuarded && metadata.resourceVersion !== `${version}`)
        throw new ApiError(409, { reason: 'Conflict' }, 'patch');
      written.push([`${name}/${subresource}`, status]);
      return widget(`${(version += 1)}`, kept(status)) as T;
    },
    fenced: (fence: () => void) => {
      try {
        fence();
      } catch (error) {
        fenceError = error as Error;
      }
      return client;
    },
  };
  let mayWrite = true;
  const patch = new StatusPatch<Widget>({
    client: client,
    of: WIDGETS,
    mayWrite: () => mayWrite,
    periodMs,
    shownMs,
    droppedMs,
    onWritten: (object) => void shown.push(object),
  });
  return { patch, written, shown, lose: () => (mayWrite = false) };
}

describe('the status of an object', () => {
  it('is written to the subresource if it differs, and shown', async () => {
    const { patch, written, shown } = setUp();
    expect(await patch.write(widget('1', { ready: false }), { ready: true }, signal)).toBe('written');
    expect(written).toEqual([['a/status', { ready: true }]]);
    expect(shown).toEqual([widget('2', { ready: true })]);
    expect(await patch.write(widget('2', { ready: true }), { ready: true }, signal)).toBe('unchanged');
    expect(written).toHaveLength(1);
  });

  it('is not written if the object has it', async () => {
    const { patch, written } = setUp();
    expect(await patch.write(widget('1', { ready: true }), { ready: true }, signal)).toBe('unchanged');
    expect(written).toEqual([]);
  });

  it('is not written again while the watch has yet to show it', async () => {
    const { patch, written } = setUp();
    await patch.write(widget('1'), { ready: true }, signal);
    const outcome = await patch.write(widget('1'), { ready: true }, signal);
    expect(outcome).toEqual({ waitMs: expect.any(Number) as number });
    expect((outcome as { readonly waitMs: number }).waitMs).toBeGreaterThan(9_000);
    expect(written).toHaveLength(1);
  });

  it('is written again if the object stays as it was before: a backup was restored (L83)', async () => {
    const { patch, written } = setUp({ shownMs: 0 });
    await patch.write(widget('1'), { ready: true }, signal);
    expect(await patch.write(widget('1'), { ready: true }, signal)).toBe('written');
    expect(written).toHaveLength(2);
  });

  it('is written again at once if a list shows the object as it was before (L55)', async () => {
    const { patch, written } = setUp();
    await patch.write(widget('1'), { ready: true }, signal);
    patch.listed();
    expect(await patch.write(widget('1'), { ready: true }, signal)).toBe('written');
    expect(written).toHaveLength(2);
  });

  it('is as it must be if each field of it is, whatever else there is, and null is absence', async () => {
    const { patch, written } = setUp();
    const live = widget('1', { ready: true, ofAnother: 1 });
    expect(await patch.write(live, { ready: true, gateway: null }, signal)).toBe('unchanged');
    expect(await patch.write(live, { ready: true, ofAnother: null }, signal)).toBe('written');
    expect(written).toEqual([['a/status', { ready: true, ofAnother: null }]]);
  });

  it('is written less often the longer a write takes, at most every five periods (G2)', async () => {
    vi.useFakeTimers();
    const { patch } = setUp({ periodMs: 1000, answerMs: 300 });
    const first = patch.write(widget('1'), { ready: true }, signal);
    await vi.advanceTimersByTimeAsync(300);
    expect(await first).toBe('written');
    expect(await patch.write(widget('2'), { ready: false }, signal)).toEqual({ waitMs: 2700 });
    vi.useRealTimers();
  });

  it('is not written again and again though the CRD drops a part of it, until something changes (C5)', async () => {
    const { patch, written } = setUp({ kept: () => ({}) });
    await patch.write(widget('1'), { ready: true }, signal);
    for (const version of ['2', '3']) {
      const outcome = (await patch.write(widget(version, {}), { ready: true }, signal)) as { readonly waitMs: number };
      expect(outcome.waitMs).toBeGreaterThan(3_500_000);
    }
    expect(await patch.write(widget('3', { other: 1 }), { ready: true }, signal)).toBe('written');
    expect(await patch.write(widget('3', {}), { ready: false }, signal)).toBe('written');
    expect(written).toHaveLength(3);
  });

  it('is written again some time after the CRD dropped a part of it, for the CRD may have been upgraded (L284)', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const { patch, written } = setUp({ kept: () => ({}), droppedMs: 60_000 });
    await patch.write(widget('1'), { ready: true }, signal);
    await vi.advanceTimersByTimeAsync(59_000);
    expect(await patch.write(widget('2', {}), { ready: true }, signal)).toEqual({ waitMs: 1_000 });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await patch.write(widget('2', {}), { ready: true }, signal)).toBe('written');
    expect(await patch.write(widget('2', {}), { ready: true }, signal)).toEqual({ waitMs: 60_000 });
    expect(written).toHaveLength(2);
    vi.useRealTimers();
  });

  it('is written over another that has the version of the last write: a backup was restored (L197)', async () => {
    const { patch, written } = setUp();
    await patch.write(widget('1'), { ready: true }, signal);
    expect(await patch.write(widget('2', { ready: false }), { ready: true }, signal)).toBe('written');
    expect(written).toHaveLength(2);
  });

  it('is not written over what the watch has yet to show, and soon after (C3)', async () => {
    const { patch, written } = setUp({ isGuarded: true });
    const outcome = (await patch.write(widget('0'), { ready: true }, signal)) as { readonly waitMs: number };
    expect(outcome.waitMs).toBeGreaterThanOrEqual(1000);
    expect(outcome.waitMs).toBeLessThan(2000);
    expect(await patch.write(widget('1', { of: 'another' }), { ready: true }, signal)).toBe('written');
    expect(written).toHaveLength(1);
  });

  it('is written once in a period (G2)', async () => {
    const { patch, written } = setUp({ periodMs: 60_000 });
    await patch.write(widget('1'), { ready: true }, signal);
    const outcome = await patch.write(widget('2', { ready: true }), { ready: false }, signal);
    expect(typeof outcome === 'object' && outcome.waitMs > 50_000 && outcome.waitMs <= 60_000).toBe(true);
    expect(written).toHaveLength(1);
    patch.forget('shop/a');
    expect(await patch.write(widget('2', { ready: true }), { ready: false }, signal)).toBe('written');
  });

  it('of an object that is gone is nobody’s concern', async () => {
    expect(await setUp({ fails: true }).patch.write(widget('1'), { ready: true }, signal)).toBe('unchanged');
  });

  it('waits without a failure until the Lease is renewed (H2, L172)', async () => {
    const { patch, lose, written } = setUp();
    lose();
    const outcome = (await patch.write(widget('1'), { ready: true }, signal)) as { readonly waitMs: number };
    expect(outcome.waitMs).toBeGreaterThanOrEqual(1000);
    expect(outcome.waitMs).toBeLessThan(2000);
    expect(written).toEqual([]);
  });
});
