import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LeaseRecord } from '../../../operator/runtime/lease-record.ts';
import { Leases } from '../link/leases.ts';

beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00Z') }));
afterEach(() => void vi.useRealTimers());

const { signal } = new AbortController();
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

let leases: Leases;
beforeEach(() => (leases = new Leases()));
const recordOf = (identity: string): LeaseRecord =>
  new LeaseRecord({ client: leases.client, namespace: 'ns', name: 'lock', identity, leaseDurationMs: 14_500 });

describe('a Lease', () => {
  it('is written in the form that client-go reads', async () => {
    const record = recordOf('a');
    expect([record.key, record.heardMs]).toEqual(['ns/lock', undefined]);
    expect(await record.attempt(signal)).toMatchObject({ holder: 'us', sinceWallMs: Date.now() });
    expect(leases.get('lock')?.spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    expect(record.heardMs).toBe(performance.now());
  });

  it('keeps its acquisition when it is renewed, and needs no read for that', async () => {
    const record = recordOf('a');
    const held = await record.attempt(signal);
    if (held.holder !== 'us') throw new Error('not held');
    await pass(5_000);
    const read = vi.spyOn(leases.client, 'read');
    expect((await record.attempt(signal, { held, known: held.lease })).holder).toBe('us');
    expect(read).not.toHaveBeenCalled();
    expect(leases.get('lock')?.spec).toMatchObject({
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:05.000000Z',
      leaseTransitions: 0,
    });
  });

  it("is another's until it was seen unchanged for its duration, and then counts a transition (H1)", async () => {
    await recordOf('a').attempt(signal);
    const record = recordOf('b');
    expect(await record.attempt(signal)).toEqual({ holder: 'another', identity: 'a', remainingMs: 15_000 });
    await pass(14_999);
    expect(await record.attempt(signal)).toMatchObject({ holder: 'another', remainingMs: 1 });
    await pass(1);
    expect((await record.attempt(signal)).holder).toBe('us');
    expect(leases.get('lock')?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it('is not taken back by a renewal, however long another has not renewed it', async () => {
    const record = recordOf('a');
    const held = await record.attempt(signal);
    if (held.holder !== 'us') throw new Error('not held');
    await record.leave(() => 'release');
    await recordOf('b').attempt(signal);
    await pass(60_000);
    expect(await record.attempt(signal, { held })).toMatchObject({ holder: 'another', identity: 'b' });
    expect(await record.attempt(signal, { held })).toMatchObject({ holder: 'another', identity: 'b' });
  });

  it('is free at once when it is released, and gone when it is deleted; that of another stays', async () => {
    const [a, b] = [recordOf('a'), recordOf('b')];
    await a.attempt(signal);
    await b.leave(() => 'release');
    expect(leases.holders).toEqual({ lock: 'a' });
    await a.leave(() => 'release');
    expect(leases.get('lock')?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    expect((await b.attempt(signal)).holder).toBe('us');
    await a.leave(() => 'delete');
    expect(leases.holders).toEqual({ lock: 'b' });
    await b.leave(() => 'delete');
    expect(leases.holders).toEqual({});
  });

  it('has the notes of whoever holds it, which know its transitions, and keeps them when it is released (E7)', async () => {
    const notes: { text: string | undefined } = { text: 'a' };
    const record = new LeaseRecord({
      ...{ client: leases.client, namespace: 'ns', name: 'lock', identity: 'a', leaseDurationMs: 14_500 },
      annotations: { cluster: 'west' },
      notes: (transitions) => ({ note: notes.text && `${notes.text}${transitions}` }),
    });
    const annotations = () => leases.get('lock')?.metadata.annotations;
    await record.attempt(signal);
    expect(annotations()).toEqual({ cluster: 'west', note: 'a0' });
    await record.leave(() => 'release');
    await recordOf('b').attempt(signal);
    expect(annotations()).toEqual({ cluster: 'west', note: 'a0' });
    await recordOf('b').leave(() => 'release');
    await record.attempt(signal);
    expect(annotations()).toEqual({ cluster: 'west', note: 'a2' });
    notes.text = undefined;
    await record.attempt(signal);
    expect(annotations()).toEqual({ cluster: 'west' });
  });

  it('is not written over once it records something else, as in a cluster that was restored (E5)', async () => {
    const found: unknown[] = [];
    const record = new LeaseRecord({
      ...{ client: leases.client, namespace: 'ns', name: 'lock', identity: 'a', leaseDurationMs: 14_500 },
      annotations: { cluster: 'west' },
      mayReplace: (annotations) => {
        found.push(annotations);
        return annotations['cluster'] === 'south';
      },
    });
    leases.put('lock', '', { cluster: 'north' });
    await expect(record.attempt(signal)).rejects.toThrow('Lease ns/lock has come to have cluster: "north"');
    expect(found.splice(0)).toEqual([{ cluster: 'north' }]);
    leases.put('lock', '');
    const held = await record.attempt(signal);
    if (held.holder !== 'us') throw new Error('not held');
    expect(leases.get('lock')?.metadata.annotations).toEqual({ cluster: 'west' });
    leases.put('lock', 'a', { cluster: 'east' });
    await expect(record.attempt(signal, { held })).rejects.toThrow('Lease ns/lock has come to have cluster: "east"');
    expect(found).toEqual([{ cluster: 'east' }]);
    leases.put('lock', 'a', { cluster: 'south' });
    expect((await record.attempt(signal, { held })).holder).toBe('us');
    leases.put('lock', 'a');
    expect((await record.attempt(signal, { held })).holder).toBe('us');
    expect(leases.get('lock')?.metadata.annotations).toEqual({ cluster: 'west' });
  });
});
