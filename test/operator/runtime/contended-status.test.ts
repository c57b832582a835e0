/** A status that others write too. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import { SERVICE_EXPORTS } from '../../../operator/target/read/mcs-objects.ts';
import { StatusPatch, type StatusPatchOptions } from '../../../operator/runtime/status-patch.ts';

interface Reported extends KubeObject {
  readonly status?: object;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A status with one condition, and the time at which it changed. */
const status = (message: string): object => ({
  conditions: [{ type: 'Conflict', message, lastTransitionTime: new Date().toISOString() }],
});

describe('a status that somebody else writes too (C3)', () => {
  let live: Reported;
  let writes: number;
  let patch: StatusPatch<Reported>;

  const put = (given: object | undefined): Reported => {
    const { name, namespace, resourceVersion } = live.metadata;
    live = {
      metadata: { name, namespace, resourceVersion: String(Number(resourceVersion) + 1) } as KubeObject['metadata'],
      ...(given && { status: given }),
    };
    return live;
  };
  /** Writes it whenever it may be written, for a time, while another at once writes something else. */
  const contend = async (forMs: number, message: () => string): Promise<void> => {
    for (const endMs = performance.now() + forMs; performance.now() < endMs;) {
      const outcome = await patch.write(live, status(message()), new AbortController().signal);
      if (outcome === 'written') put(status('of another'));
      vi.advanceTimersByTime(typeof outcome === 'object' ? outcome.waitMs + 1 : 1);
    }
  };

  beforeEach(() => {
    writes = 0;
    live = { metadata: { name: 'web', namespace: 'shop', resourceVersion: '1' } };
    const client = {
      patch: (_of: unknown, _target: unknown, body: { readonly status: object }) => {
        writes += 1;
        return Promise.resolve(put(body.status));
      },
    };
    const fenceable = { ...client, fenced: () => client } as unknown as StatusPatchOptions<Reported>['client'];
    patch = new StatusPatch({ client: fenceable, of: SERVICE_EXPORTS, mayWrite: () => true, periodMs: 1_000 });
  });

  it('is written less and less often, at most every five minutes in the end', async () => {
    await contend(3_600_000, () => 'ours');
    expect(writes).toBeGreaterThan(10);
    expect(writes).toBeLessThan(50);
  });

  it('is written as soon as there is something else to say, or the object is another', async () => {
    await contend(600_000, () => 'ours');
    const signal = new AbortController().signal;
    expect(await patch.write(live, status('other'), signal)).toBe('written');
    await contend(600_000, () => 'ours');
    patch.forget('shop/web');
    put(undefined);
    expect(await patch.write(live, status('ours'), signal)).toBe('written');
  });
});
