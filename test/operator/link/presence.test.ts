import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../../operator/kube/errors.ts';
import { LINKS } from '../../../operator/link/link.ts';
import { LinkPresence } from '../../../operator/link/presence.ts';
import { recordingLog } from './recorded.ts';

const SERVED = ['create', 'delete', 'list', 'watch'];
const TERMINATING = ['delete', 'list', 'watch'];
const MINUTE_MS = 60_000;
const { signal } = new AbortController();

describe('the presence of Links (L56, E5)', () => {
  let verbs: readonly string[];
  let namespace: 'exists' | 'missing';
  let error: Error | undefined;
  let requests: number;
  let lines: string[];
  let presence: LinkPresence;
  beforeEach(() => {
    vi.useFakeTimers();
    [verbs, namespace, error, requests, lines] = [SERVED, 'exists', undefined, 0, []];
    presence = new LinkPresence({
      client: {
        get: async <T>() => {
          requests += 1;
          await Promise.resolve();
          if (error !== undefined) throw error;
          return { resources: [{ name: LINKS.plural, verbs }] } as T;
        },
      },
      resource: LINKS,
      namespace: 'links',
      namespaces: { stateOf: (name) => (name === 'links' ? namespace : 'exists') },
      log: recordingLog(lines),
    });
  });
  afterEach(() => void vi.useRealTimers());

  const hold = (sinceMs = performance.now(), isUnlinked = false): Promise<number> =>
    presence.holdMs(sinceMs, signal, () => Promise.resolve(isUnlinked));

  it('holds nothing of a Link that is deleted by itself', async () => {
    expect(await hold()).toBe(0);
    expect(lines).toEqual([]);
  });

  it.each([
    ['their CRD is being deleted', () => (verbs = TERMINATING)],
    ['their CRD is gone', () => (verbs = [])],
    ['their namespace is being deleted, or gone', () => (namespace = 'missing')],
  ])('holds all while %s, and logs that once', async (_, vanish) => {
    vanish();
    const since = performance.now();
    for (let minutes = 0; minutes < 60; minutes += 1) {
      expect(await hold(since)).toBeGreaterThan(0);
      vi.advanceTimersByTime(MINUTE_MS);
    }
    expect(lines).toEqual(['error all Links vanish with what is missing or being deleted; their mirrors stay']);
  });

  it('holds what has vanished for ten minutes more, and nothing that is deleted after that', async () => {
    const since = performance.now();
    verbs = TERMINATING;
    await hold(since);
    verbs = SERVED;
    expect(await hold(since)).toBe(10 * MINUTE_MS);
    vi.advanceTimersByTime(2 * MINUTE_MS);
    expect(await hold()).toBe(0);
    expect(await hold(since)).toBe(8 * MINUTE_MS);
    vi.advanceTimersByTime(8 * MINUTE_MS);
    expect(await hold(since)).toBe(0);
    expect(lines).toHaveLength(2);
  });

  it('holds what is found to be without a Link only when the CRD is there again', async () => {
    presence.vanished();
    vi.advanceTimersByTime(MINUTE_MS / 2);
    expect(await hold()).toBe(9.5 * MINUTE_MS);
  });

  it('holds nothing of a Link that a person has removed, once there is a place for Links', async () => {
    presence.noneFound();
    expect(await hold(performance.now())).toBe(10 * MINUTE_MS);
    expect(await hold(performance.now(), true)).toBe(0);
    verbs = TERMINATING;
    expect(await hold(performance.now(), true)).toBeGreaterThan(0);
  });

  it('asks once for all that ask at the same time', async () => {
    expect(await Promise.all([hold(), hold(), hold()])).toEqual([0, 0, 0]);
    expect(requests).toBe(1);
    await hold();
    expect(requests).toBe(2);
  });

  it('does not say that nothing holds while it cannot be asked', async () => {
    error = new ApiError(403, { reason: 'Forbidden' }, 'discover');
    await expect(hold()).rejects.toBe(error);
    error = undefined;
    expect(await hold()).toBe(0);
  });
});
