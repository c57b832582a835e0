/** How long the judge waits for what the operator has been refused (rule H4). */
import { describe, expect, it } from 'vitest';
import { sleep } from '../../operator/kube/backoff.ts';
import { Refused, RETRIED_MS } from './refused.ts';
import { Stage } from './stage.ts';
import { World } from './world/world.ts';

const MIRROR = { resource: 'services', namespace: 'shop', name: 'web-west' };
const service = { apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'shop', name: 'web-west' } };

describe('what the operator was refused (H4)', () => {
  const first = {};
  /** @param then what happens after the refusal, at 1,000 ms */
  const dueMs = (sinceMs: number, then: (refused: Refused, restart: () => void) => void = () => undefined): number => {
    let running = first;
    const refused = new Refused(
      () => 1_000,
      (identity) => (identity === 'linkspan-0' ? running : undefined),
    );
    refused.refused(MIRROR, 'linkspan-0');
    then(refused, () => (running = {}));
    return refused.retriedMs('services', service, sinceMs);
  };

  it('is due after the longest wait', () => {
    expect(dueMs(900)).toBe(1_000 + RETRIED_MS);
  });

  it.each<[string, Parameters<typeof dueMs>]>([
    ['it was refused before there was anything to put right', [1_001]],
    ['it has been written since', [900, (refused) => refused.written(MIRROR)]],
    ['who was refused is gone', [900, (_, restart) => restart()]],
    ['another process was refused', [900, (refused) => refused.refused(MIRROR, 'linkspan-1')]],
  ])('is due at once if %s', (_, args) => {
    expect(dueMs(...args)).toBe(-Infinity);
  });

  it('is due at once if another object was refused', () => {
    const refused = new Refused(
      () => 1_000,
      () => first,
    );
    refused.refused({ ...MIRROR, name: 'db-west' }, 'linkspan-0');
    expect(refused.retriedMs('services', service, 0)).toBe(-Infinity);
  });
});

describe('of a selector that does not go, the judge complains (C3)', () => {
  const prevent = ({ east }: Stage): unknown =>
    east.faults.refuse({
      failure: { kind: 'status', code: 403 },
      match: ({ verb, resource }) => verb === 'patch' && resource === 'services',
    });

  it.each<[string, { readonly deniedMs: number; readonly fromMs: number; readonly toMs: number }]>([
    ['after some seconds', { deniedMs: 0, fromMs: 5_000, toMs: 12_000 }],
    [
      'once what was refused has not been tried again',
      { deniedMs: 3_000, fromMs: RETRIED_MS, toMs: RETRIED_MS + 8_000 },
    ],
  ])('%s', async (_, { deniedMs, fromMs, toMs }) => {
    const world = new World(7);
    let tookMs = 0;
    await world.run(async () => {
      const deny = { do: 'deny', operation: 'update', resource: 'services', code: 403, ms: deniedMs } as const;
      const history = { endpoints: 'endpoints', replicas: 1, clocks: [], commands: [deny], hasPods: true } as const;
      const stage = new Stage(history, world);
      await stage.play({ do: 'put many', link: 'west' });
      await sleep(60_000);
      if (deniedMs > 0) await stage.play(deny);
      await stage.play({ do: 'edit mirror', kind: 'Service', index: 5, how: 'selector' });
      await sleep(deniedMs);
      // Nobody has told the judge of this.
      prevent(stage);
      while (stage.judge.complaints.length === 0) await sleep(1_000);
      tookMs = world.nowMs - 60_000;
      expect(stage.judge.complaints).toEqual([expect.stringContaining('has had a selector')]);
      await stage.stop();
    });
    expect(tookMs).toBeGreaterThan(fromMs);
    expect(tookMs).toBeLessThan(toMs);
  });
});
