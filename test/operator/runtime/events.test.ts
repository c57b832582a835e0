import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError, ConnectionError } from '../../../operator/kube/errors.ts';
import { EventRecorder, type EventRecorderOptions } from '../../../operator/runtime/events.ts';
import { FencedError } from '../../../operator/runtime/fence.ts';
import type { Logger } from '../../../operator/runtime/logger.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';

beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-01-01T12:00:00Z') }));
afterEach(() => void vi.useRealTimers());

interface StoredEvent extends KubeObject {
  readonly count: number;
  readonly message: string;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
}

/** Events as an API server keeps them. */
class EventServer {
  readonly events = new Map<string, StoredEvent>();
  writes = 0;
  failure: Error | undefined;
  hangs = false;

  readonly client = {
    create: (_of: unknown, event: StoredEvent) =>
      this.#write(() => {
        if (this.events.has(event.metadata.name)) throw new ApiError(409, { reason: 'AlreadyExists' }, 'create');
        this.events.set(event.metadata.name, event);
      }),
    patch: (_of: unknown, { name }: { name: string }, patch: object) =>
      this.#write(() => {
        const event = this.events.get(name);
        if (event === undefined) throw new ApiError(404, { reason: 'NotFound' }, 'patch');
        this.events.set(name, { ...event, ...patch });
      }),
    read: async (_of: unknown, _namespace: unknown, name: string) => this.events.get(name),
  } as unknown as EventRecorderOptions['client'];

  get all(): readonly StoredEvent[] {
    return [...this.events.values()];
  }

  async #write(act: () => void): Promise<void> {
    this.writes += 1;
    if (this.hangs) await new Promise(() => undefined);
    if (this.failure !== undefined) throw this.failure;
    act();
  }
}

const link = { apiVersion: 'v1', kind: 'Link', namespace: 'ns', name: 'east', uid: 'u1' };

function setUp(server = new EventServer()) {
  const lines: string[] = [];
  const write = (_fields: unknown, message: string) => void lines.push(message);
  const log: Logger = { debug: write, info: write, warn: write, error: write };
  const recorder = new EventRecorder({ client: server.client, component: 'linkspan', instance: 'pod-0', log });
  return { server, recorder, lines };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('events', () => {
  it('creates an Event on the object, in its namespace', async () => {
    const { server, recorder } = setUp();
    recorder.record(link, 'Warning', 'GatewayDown', 'no answer');
    await pass(0);
    expect(server.all).toEqual([
      {
        metadata: { namespace: 'ns', name: expect.stringMatching(/^east\.[0-9a-f]{16}$/) as string },
        involvedObject: link,
        type: 'Warning',
        reason: 'GatewayDown',
        message: 'no answer',
        count: 1,
        firstTimestamp: '2026-01-01T12:00:00Z',
        lastTimestamp: '2026-01-01T12:00:00Z',
        source: { component: 'linkspan' },
        reportingComponent: 'linkspan',
        reportingInstance: 'pod-0',
      },
    ]);
  });

  it('raises the count of one Event when the same is said again, with one write a minute (G3)', async () => {
    const { server, recorder } = setUp();
    for (let second = 0; second < 120; second += 1) {
      recorder.record(link, 'Warning', 'GatewayDown', 'no answer');
      await pass(1_000);
    }
    await pass(60_000);
    expect(server.writes).toBe(3);
    expect(server.all).toEqual([
      expect.objectContaining({
        count: 120,
        firstTimestamp: '2026-01-01T12:00:00Z',
        lastTimestamp: '2026-01-01T12:01:59Z',
      }),
    ]);
  });

  it('counts what is said while the Event is being written', async () => {
    const { server, recorder } = setUp();
    recorder.record(link, 'Normal', 'A', 'x');
    recorder.record(link, 'Normal', 'A', 'x');
    await pass(60_000);
    expect(server.all.map(({ count }) => count)).toEqual([2]);
  });

  it('keeps apart what differs in object, type, reason or message', async () => {
    const { server, recorder } = setUp();
    recorder.record(link, 'Warning', 'A', 'x');
    recorder.record(link, 'Normal', 'A', 'x');
    recorder.record(link, 'Warning', 'B', 'x');
    recorder.record(link, 'Warning', 'A', 'y');
    recorder.record({ ...link, uid: 'u2' }, 'Warning', 'A', 'x');
    await pass(0);
    expect(server.all.map(({ count }) => count)).toEqual([1, 1, 1, 1, 1]);
  });

  it('goes on counting where another replica, or an earlier run, stopped', async () => {
    const { server, recorder } = setUp();
    recorder.record(link, 'Normal', 'A', 'x');
    await pass(0);
    setUp(server).recorder.record(link, 'Normal', 'A', 'x');
    await pass(0);
    expect(server.all.map(({ count }) => count)).toEqual([2]);
  });

  it('starts afresh when the API server has forgotten the Event', async () => {
    const { server, recorder } = setUp();
    recorder.record(link, 'Normal', 'A', 'x');
    await pass(3_600_000);
    server.events.clear();
    recorder.record(link, 'Normal', 'A', 'x');
    await pass(0);
    expect(server.all).toEqual([expect.objectContaining({ count: 1, firstTimestamp: '2026-01-01T13:00:00Z' })]);
  });

  it('never throws, logs a failure once, keeps the count, and writes when that works again', async () => {
    const { server, recorder, lines } = setUp();
    server.failure = new ConnectionError('refused');
    for (let n = 0; n < 5; n += 1) {
      recorder.record(link, 'Normal', 'A', 'x');
      await pass(60_000);
    }
    expect(lines).toEqual(['an event could not be written']);
    server.failure = undefined;
    await pass(60_000);
    expect(lines).toEqual(['an event could not be written', 'events are written again']);
    expect(server.all.map(({ count }) => count)).toEqual([5]);
  });

  it('writes what was held back until the Lease is renewed as soon as it is, and logs no failure (L153)', async () => {
    const { server, recorder, lines } = setUp();
    server.failure = new FencedError('nothing is written until the Lease is renewed');
    recorder.record(link, 'Normal', 'A', 'x');
    await pass(10_500);
    expect(server.writes).toBe(11);
    server.failure = undefined;
    await pass(1_000);
    expect(server.all.map(({ count }) => count)).toEqual([1]);
    expect(lines).toEqual([]);
  });

  it('gives up what the API server refuses', async () => {
    const { server, recorder } = setUp();
    server.failure = new ApiError(403, { reason: 'Forbidden' }, 'create');
    recorder.record(link, 'Normal', 'A', 'x');
    await pass(600_000);
    expect(server.writes).toBe(1);
  });

  it('remembers a thousand Events at most, the ones said last', async () => {
    const { server, recorder } = setUp();
    for (let n = 0; n < 5_000; n += 1) recorder.record({ ...link, uid: `u${n}` }, 'Normal', 'A', `message ${n}`);
    await pass(0);
    // The first was under way before there were more.
    expect(server.all.map(({ message }) => message)).toEqual([
      'message 0',
      ...Array.from({ length: 1_000 }, (_, n) => `message ${4_000 + n}`),
    ]);
  });

  it('with one reason about one object are ten, then one with the number of the others (G3)', async () => {
    const { server, recorder } = setUp();
    for (let n = 0; n < 1_000; n += 1) recorder.record(link, 'Warning', 'MissingNamespace', `Service s${n}: none`);
    recorder.record({ ...link, uid: 'u2' }, 'Warning', 'MissingNamespace', 'Service s1000: none');
    await pass(60_000);
    const messages = server.all.map(({ message }) => message);
    expect(messages).toHaveLength(12);
    expect(messages.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, n) => `Service s${n}: none`));
    expect(server.all.find(({ count }) => count === 990)?.message).toBe(
      'and 990 more with this reason, the latest: Service s999: none',
    );
    recorder.record(link, 'Warning', 'MissingNamespace', 'Service s3: none');
    await pass(60_000);
    expect(server.all.find(({ message }) => message === 'Service s3: none')?.count).toBe(2);
  });

  it('are written one by one again after ten minutes without any', async () => {
    const { server, recorder } = setUp();
    for (let n = 0; n < 20; n += 1) recorder.record(link, 'Warning', 'A', `message ${n}`);
    await pass(600_001);
    recorder.record(link, 'Warning', 'A', 'another');
    await pass(0);
    expect(server.all.at(-1)?.message).toBe('another');
  });

  it('about one object are written 25 times at once, then once in five minutes, and none is lost (G3)', async () => {
    const { server, recorder } = setUp();
    for (let n = 0; n < 40; n += 1) recorder.record(link, 'Normal', `Reason${n}`, 'x');
    recorder.record({ ...link, uid: 'u2' }, 'Normal', 'A', 'x');
    await pass(0);
    expect(server.writes).toBe(26);
    await pass(300_000);
    expect(server.writes).toBe(27);
    await pass(14 * 300_000);
    expect(server.all).toHaveLength(41);
  });

  it('that the API server does not take use up nothing', async () => {
    const { server, recorder } = setUp();
    server.failure = new ConnectionError('refused');
    recorder.record(link, 'Normal', 'A', 'x');
    await pass(30 * 60_000);
    server.failure = undefined;
    await pass(60_000);
    expect(server.all).toHaveLength(1);
    for (let n = 0; n < 24; n += 1) recorder.record(link, 'Normal', `Reason${n}`, 'x');
    await pass(0);
    expect(server.all).toHaveLength(25);
  });

  it('cuts a long message at a kibibyte, between characters', async () => {
    const { server, recorder } = setUp();
    recorder.record(link, 'Normal', 'A', 'ü€😀'.repeat(500));
    await pass(0);
    const { message } = server.all[0]!;
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1024);
    expect(message).toMatch(/^[ü€😀]+…$/u);
  });

  it('makes a name that the API server accepts of any object', async () => {
    const { server, recorder } = setUp();
    recorder.record({ ...link, name: `${'a'.repeat(199)}-${'b'.repeat(50)}` }, 'Normal', 'A', 'x');
    await pass(0);
    expect(server.all[0]?.metadata.name).toMatch(/^a{199}\.[0-9a-f]{16}$/);
  });

  it('writes what is pending when closed, and nothing later', async () => {
    const { server, recorder } = setUp();
    recorder.record(link, 'Normal', 'A', 'x');
    await pass(0);
    recorder.record(link, 'Normal', 'A', 'x');
    await recorder.close(1_000);
    expect(server.all.map(({ count }) => count)).toEqual([2]);
    recorder.record(link, 'Normal', 'A', 'x');
    await pass(120_000);
    expect(server.writes).toBe(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('closes within its deadline though the server does not answer', async () => {
    const { server, recorder } = setUp();
    server.hangs = true;
    recorder.record(link, 'Normal', 'A', 'x');
    const closed = vi.fn();
    void recorder.close(1_000).then(closed);
    await pass(1_000);
    expect(closed).toHaveBeenCalledOnce();
  });
});
