import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseOperatorConfig } from '../../operator/config/config.ts';
import type { Network } from '../../operator/kube/network.ts';
import { LeadershipLostError, runOperator } from '../../operator/main.ts';
import { eventually } from '../cluster/workload/eventually.ts';
import { link, LINKS_NAMESPACE } from '../support/builders.ts';
import { type LogRecord, recordingLog } from './link/recorded.ts';
import { Stage } from './link/stage.ts';

afterEach(() => void vi.useRealTimers());

const never = (): Promise<never> => new Promise(() => undefined);

/** A network in which nothing answers, and nothing can be closed. */
const DEAD: Network = { connect: () => ({ request: never, close: never }), resolve: never, probe: never };

it('ends within 5 seconds of being asked to, though nothing answers and nothing can be closed (H2)', async () => {
  vi.useFakeTimers();
  const parsed = parseOperatorConfig({ identity: 'linkspan-0' }, {});
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  const lines: string[] = [];
  const stop = new AbortController();
  let ended: unknown = 'runs';
  void runOperator({
    config: parsed.value,
    access: { server: 'https://source.example:6443', tls: {}, authorization: async () => ({}) },
    log: recordingLog(lines),
    signal: stop.signal,
    tuning: {
      network: DEAD,
      metrics: { process: false },
      serveAdmin: async () => ({ address: { host: '127.0.0.1', port: 1 }, close: never }),
    },
  }).then(
    () => (ended = 'ended'),
    (error: unknown) => (ended = error),
  );
  await vi.advanceTimersByTimeAsync(61_000);
  expect(ended).toBe('runs');
  expect(lines).toContain('info linkspan operator starts');
  expect(lines).toContain('warn linkspan operator is not ready');
  stop.abort(new Error('SIGTERM'));
  await vi.advanceTimersByTimeAsync(4_000);
  expect(ended).toBe('runs');
  await vi.advanceTimersByTimeAsync(999);
  expect(ended).toBe('ended');
  expect(lines.at(-1)).toContain('stops before all is released');
});

it('is not up while its API server refuses connections', async () => {
  const stage = await Stage.start();
  const stop = new AbortController();
  const lines: string[] = [];
  const refused = (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED'));
  const running = runOperator({
    config: stage.config,
    log: recordingLog(lines),
    signal: stop.signal,
    tuning: {
      ...stage.tuning,
      network: { ...DEAD, connect: () => ({ request: refused, close: () => Promise.resolve() }) },
      serveAdmin: async () => ({ address: { host: '127.0.0.1', port: 1 }, close: () => Promise.resolve() }),
    },
  });
  const problem = 'warn the Lease cannot be acquired or renewed';
  await eventually('it has tried', async () => lines.includes(problem));
  stop.abort();
  await running;
  await stage.stop();
  expect(lines.slice(0, 2)).toEqual(['info linkspan operator starts', problem]);
});

it('logs its version and every setting when it starts, and that it is up when its API server has answered', async () => {
  const stage = await Stage.start();
  const stop = new AbortController();
  const records: LogRecord[] = [];
  const running = runOperator({
    config: stage.config,
    log: recordingLog([], records),
    signal: stop.signal,
    tuning: {
      ...stage.tuning,
      serveAdmin: async () => ({ address: { host: '127.0.0.1', port: 1 }, close: () => Promise.resolve() }),
    },
  });
  const logged = (message: string) => records.filter((each) => each.message === message);
  await eventually('it leads', async () => logged('leading').length > 0);
  stop.abort();
  await running;
  await stage.stop();
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { readonly version: string };
  const [start] = logged('linkspan operator starts');
  expect(start?.fields).toMatchObject({ version, node: process.version, port: 1 });
  expect(start?.fields['flags']).toContain(`--identity=${stage.config.identity} `);
  expect(logged('linkspan operator is up')).toHaveLength(1);
  expect(records.map(({ message }) => message).slice(0, 3)).toEqual([
    'linkspan operator starts',
    'linkspan operator is up',
    'leading',
  ]);
});

describe('what is pending when the operator stops', () => {
  let stage: Stage;
  let stop: AbortController;
  let records: LogRecord[];
  let running: Promise<unknown>;
  beforeEach(async () => {
    stage = await Stage.start();
    stop = new AbortController();
    records = [];
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await stage.stop();
  });

  /** Runs an operator over the stage that serves Link west. */
  const run = (close = () => Promise.resolve()): void => {
    stage.put(link('west', { targetClusterName: 'west', probeSpec: undefined }));
    running = runOperator({
      config: stage.config,
      log: recordingLog([], records),
      signal: stop.signal,
      tuning: {
        ...stage.tuning,
        metrics: { process: false },
        serveAdmin: async () => ({ address: { host: '127.0.0.1', port: 1 }, close }),
      },
    }).catch((error: unknown) => error);
  };
  const events = () =>
    stage.east.store
      .list('v1', 'Event', LINKS_NAMESPACE)
      .map((each) => (each as unknown as { readonly reason: string }).reason);
  const logged = (message: string) => records.filter((each) => each.message === message);
  /** Runs an operator whose first Event cannot be written. @returns lets Events be written */
  const runWithoutEvents = async (): Promise<() => void> => {
    const release = stage.east.faults.refuse({
      failure: { kind: 'status', code: 503 },
      match: ({ resource }) => resource === 'events',
    });
    run();
    await eventually('it fails', async () => logged('an event could not be written').length > 0);
    return release;
  };

  it('is written as long as the Lease is held: Events', async () => {
    const release = await runWithoutEvents();
    release();
    stop.abort();
    await running;
    expect(events()).toContain('SecretNotFound');
  });

  it('is not written once the Lease is lost: Events (H2, L54)', async () => {
    const release = await runWithoutEvents();
    stage.lease('', 'linkspan-1', undefined, 'linkspan-operator');
    release();
    expect(await running).toBeInstanceOf(LeadershipLostError);
    expect(events()).toEqual([]);
  });

  it('is logged also when it stops before all is released: lines that stand for others (G3)', async () => {
    let refused = 0;
    stage.east.faults.refuse({
      failure: {
        kind: 'status',
        // Each failure differs from the one before, and is logged.
        get code() {
          return (refused += 1) % 2 === 0 ? 500 : 503;
        },
      },
      match: ({ resource, name }) => resource === 'leases' && name === 'service-mirror-write-west',
    });
    run(never);
    await eventually('many lines were due', async () => refused > 40);
    stop.abort();
    await running;
    const lines = logged('the Lease of the Link cannot be acquired or renewed');
    expect(lines).toHaveLength(26);
    expect(lines.at(-1)?.fields['more']).toBeGreaterThan(5);
  });
});
