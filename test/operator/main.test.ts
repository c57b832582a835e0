import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { parseOperatorConfig } from '../../operator/config/config.ts';
import type { Network } from '../../operator/kube/network.ts';
import { runOperator } from '../../operator/main.ts';
import { recordingLog } from './link/recorded.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = (): Promise<never> => new Promise(() => undefined);

/** A network in which nothing answers, and nothing can be closed. */
const DEAD: Network = { connect: () => ({ request: never, close: never }), resolve: never, probe: never };

it('ends within 5 seconds of being asked to, though nothing answers and nothing can be closed (H2)', async () => {
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
  expect(lines).toContain('warn linkspan operator is not ready');
  stop.abort(new Error('SIGTERM'));
  await vi.advanceTimersByTimeAsync(4_000);
  expect(ended).toBe('runs');
  await vi.advanceTimersByTimeAsync(999);
  expect(ended).toBe('ended');
  expect(lines.at(-1)).toContain('stops before all is released');
});
