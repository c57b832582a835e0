import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KubeClient } from '../../../../operator/kube/client.ts';
import { ApiError } from '../../../../operator/kube/errors.ts';
import { ExportConfirmation } from '../../../../operator/target/certain/export-confirmation.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const WEB = 'shop/web';
const GRACE_MS = 60_000;
const EVERY_VERB = ['create', 'delete', 'get', 'list', 'watch'];
const EXPORT = { metadata: { namespace: 'shop', name: 'web', uid: 'uid', resourceVersion: '1' } };

/** A cluster that lists the items, or fails, and serves ServiceExports with the verbs. */
function asking() {
  const cluster: { items: readonly object[]; error?: Error; verbs: readonly string[] } = {
    items: [],
    verbs: EVERY_VERB,
  };
  const reported: string[] = [];
  let lists = 0;
  const confirmation = new ExportConfirmation({
    client: {
      list: async () => {
        lists += 1;
        if (cluster.error !== undefined) throw cluster.error;
        return { metadata: { resourceVersion: '9' }, items: cluster.items };
      },
      get: async () => ({ resources: [{ name: 'serviceexports', verbs: cluster.verbs }] }),
    } as unknown as KubeClient,
    backoff: { baseMs: 1000, capMs: 1000 },
    returnGraceMs: GRACE_MS,
    listener: {
      answered: (key) => reported.push(key),
      unanswered: (key, error) => reported.push(`${key}: ${String(error)}`),
      graceEnded: () => reported.push('over'),
    },
  });
  const stop = new AbortController();
  confirmation.run(stop.signal);
  const confirmsNone = (key: string): boolean => {
    confirmation.ask(key);
    return confirmation.confirmsNone(key);
  };
  /** Whether it is confirmed once the cluster has answered. */
  const confirms = async (): Promise<boolean> => {
    confirmsNone(WEB);
    await vi.advanceTimersByTimeAsync(10);
    return confirmsNone(WEB);
  };
  return { confirmation, cluster, reported, confirms, confirmsNone, lists: () => lists };
}

describe('that there is no export (K5)', () => {
  it('is confirmed by the answer of the cluster, which is good until it is forgotten', async () => {
    const { confirmation, reported, confirms, lists, confirmsNone } = asking();
    expect(confirmsNone(WEB)).toBe(false);
    expect(await confirms()).toBe(true);
    expect([reported, lists()]).toEqual([[WEB], 1]);
    confirmation.forget(WEB);
    expect(confirmsNone(WEB)).toBe(false);
    expect([await confirms(), lists()]).toEqual([true, 2]);
  });

  it('is not confirmed by an answer that there is one, which a list makes out of date', async () => {
    const { confirmation, cluster, confirms, lists } = asking();
    cluster.items = [EXPORT];
    expect([await confirms(), lists()]).toEqual([false, 1]);
    cluster.items = [];
    expect([await confirms(), lists()]).toEqual([false, 1]);
    confirmation.askAnew();
    expect([await confirms(), lists()]).toEqual([true, 2]);
  });

  it('is not asked on where it need not be known', async () => {
    const { confirmation, confirms, reported, confirmsNone } = asking();
    confirmsNone(WEB);
    confirmation.forgetAll((key) => key === WEB);
    await vi.advanceTimersByTimeAsync(10);
    expect(reported).toEqual([]);
    expect(await confirms()).toBe(true);
  });

  it('is not confirmed while the CRD is being deleted, nor for a while after', async () => {
    const { cluster, confirms, reported } = asking();
    cluster.verbs = ['delete', 'get', 'list', 'watch'];
    expect([await confirms(), reported]).toEqual([false, [`${WEB}: Error: its CRD is missing, or being deleted`]]);
    cluster.verbs = EVERY_VERB;
    await vi.advanceTimersByTimeAsync(GRACE_MS / 2);
    expect(await confirms()).toBe(false);
    await vi.advanceTimersByTimeAsync(GRACE_MS);
    expect([reported.includes('over'), await confirms()]).toEqual([true, true]);
  });

  it('is not confirmed for a while after a list was answered with 404', async () => {
    const { cluster, confirms } = asking();
    cluster.error = new ApiError(404, { reason: 'NotFound' }, 'list serviceexports');
    expect(await confirms()).toBe(false);
    delete cluster.error;
    await vi.advanceTimersByTimeAsync(GRACE_MS / 2);
    expect(await confirms()).toBe(false);
  });

  it('is confirmed in that while of an export that has been seen since the kind was missing', async () => {
    const { confirmation, confirms } = asking();
    confirmation.missing();
    expect(await confirms()).toBe(false);
    confirmation.saw(WEB);
    expect(await confirms()).toBe(true);
  });
});
