import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { verdict } from '../../../operator/kube/conditions.ts';
import { Link } from '../../../operator/link/link.ts';
import { type LinkStatusPatch, NO_FINDINGS, type SessionFindings } from '../../../operator/link/status/status.ts';
import type { LinkObject } from '../../../operator/link/status/writer.ts';
import { createMetrics } from '../../../operator/metrics/index.ts';
import { mirrored, notMirrored } from '../../../operator/mirror/status.ts';
import type { EventRecorder } from '../../../operator/runtime/events.ts';
import { fenceable } from '../../support/fenced.ts';
import { recordingLog } from './recorded.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ACCEPTED = verdict('True', 'Accepted', '');
const REFUSED = verdict('False', 'DuplicateCluster', 'already served by Link a');

/** A Link named west on an API server that stores what is written of it. */
function setUp({ prunes = false } = {}) {
  let object: LinkObject | undefined = { metadata: { name: 'west', uid: 'uid-1', generation: 3 } };
  const written: LinkStatusPatch[] = [];
  const events: string[] = [];
  const lines: string[] = [];
  let pruned = 0;
  const metrics = createMetrics({ process: false });
  const link = new Link({
    name: 'west',
    namespace: 'links',
    client: fenceable({
      patch: async (_of: unknown, _target: unknown, { status }: { readonly status: LinkStatusPatch }) => {
        written.push(status);
        const { gateway, ...others } = status;
        const kept = { ...(object?.status as object | undefined), ...others, ...(gateway === null ? {} : { gateway }) };
        object = { ...object!, status: prunes ? {} : kept };
        return object;
      },
    }),
    metrics,
    events: {
      record: ({ name, uid }: Record<string, string>, type: string, reason: string, message: string) =>
        events.push(`${name}/${uid} ${type} ${reason} ${message}`),
    } as unknown as EventRecorder,
    log: recordingLog(lines),
    current: () => object,
    wrote: () => undefined,
    onPruned: () => (pruned += 1),
    mayWrite: () => true,
  });
  return {
    link,
    events,
    lines,
    /** The status written since this was last asked. */
    status: async (): Promise<LinkStatusPatch | undefined> => {
      await vi.advanceTimersByTimeAsync(10_000);
      return written.splice(0).at(-1);
    },
    series: async (name: string): Promise<readonly string[]> =>
      (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(`${name}{`)),
    pruned: () => pruned,
    disappear: () => (object = undefined),
  };
}

const reasonOf = (status: LinkStatusPatch | undefined, type: string): string | undefined =>
  status?.conditions.find((each) => each.type === type)?.reason;

const FOUND: SessionFindings = {
  ...NO_FINDINGS,
  reachable: verdict('True', 'Connected', ''),
  mirrors: new Map([
    ['shop/a', mirrored({ namespace: 'shop', name: 'a' }, 'west', '')],
    ['shop/b', notMirrored({ namespace: 'shop', name: 'b' }, 'west', { reason: 'InvalidService', message: '' })],
  ]),
};

describe('a Link', () => {
  it('that is accepted has that written, and no Event', async () => {
    const { link, status, events } = setUp();
    link.accept(ACCEPTED, 'west');
    expect(await status()).toMatchObject({
      observedGeneration: 3,
      conditions: [{ type: 'Ready' }, { type: 'Accepted', status: 'True' }, {}, {}, {}, {}, {}, {}, {}],
    });
    expect(events).toEqual([]);
  });

  it('that is refused has the reason written, logged and in an Event, once for each reason (G3)', async () => {
    const { link, status, events, lines } = setUp();
    link.accept(REFUSED, 'west');
    link.accept(REFUSED, 'west');
    expect(reasonOf(await status(), 'Accepted')).toBe('DuplicateCluster');
    expect(events).toEqual(['west/uid-1 Warning DuplicateCluster already served by Link a']);
    link.accept({ ...REFUSED, message: 'already served by Link b' }, 'west');
    expect(events).toHaveLength(2);
    expect(lines).toHaveLength(2);
    link.accept(ACCEPTED, 'west');
    expect(reasonOf(await status(), 'Accepted')).toBe('Accepted');
  });

  it('reports what works for it, and keeps what was said when nothing does', async () => {
    const { link, status } = setUp();
    link.accept(ACCEPTED, 'west');
    expect(reasonOf(await status(), 'TargetReachable')).toBe('Pending');
    link.work = { cluster: 'west', findings: () => FOUND };
    const found = await status();
    expect(reasonOf(found, 'TargetReachable')).toBe('Connected');
    expect(found?.mirrors).toEqual({ total: 2, ready: 1, failed: 1 });
    link.work = undefined;
    expect(await status()).toBeUndefined();
  });

  it('L143 lists nothing of the cluster that it named before, once that is removed (G2)', async () => {
    const { link, status } = setUp();
    link.accept(ACCEPTED, 'west');
    link.work = { cluster: 'west', findings: () => FOUND };
    expect(await status()).toMatchObject({ mirrors: { total: 2 } });
    link.work = { cluster: 'west', findings: () => NO_FINDINGS };
    expect((await status())?.mirrors).toBeUndefined();
    link.work = undefined;
    link.accept(REFUSED, 'east');
    link.cleared();
    expect(await status()).toMatchObject({ mirrors: { total: 0 }, mirrorServices: [] });
    link.work = { cluster: 'east', findings: () => FOUND };
    expect(await status()).toMatchObject({ mirrors: { total: 2 } });
    link.work = undefined;
    link.accept(ACCEPTED, 'east');
    expect((await status())?.mirrors).toBeUndefined();
  });

  it('reports what has changed when it is said to have', async () => {
    const { link, status } = setUp();
    let findings: SessionFindings = FOUND;
    link.work = { cluster: 'west', findings: () => findings };
    await status();
    findings = { ...FOUND, pruneHeld: 12 };
    link.statusChanged();
    expect(reasonOf(await status(), 'PruneHeld')).toBe('MassDeletion');
  });

  it('that is served for another cluster than it names now is measured under the former (L78)', async () => {
    const { link, status, series } = setUp();
    link.accept(ACCEPTED, 'west');
    link.work = { cluster: 'west', findings: () => FOUND };
    for (const named of ['east', undefined]) {
      link.accept({ ...REFUSED, message: `${named}` }, named);
      await status();
    }
    const ofOthers = (await series('linkspan_mirrors')).filter((line) => !line.includes('target_cluster_name="west"'));
    expect(ofOthers).toEqual([]);
  });

  it('is measured by condition and by the state of its mirrors, under the cluster that it names', async () => {
    const { link, status, series } = setUp();
    link.accept(ACCEPTED, 'far-west');
    link.work = { cluster: 'far-west', findings: () => FOUND };
    await status();
    expect(await series('linkspan_mirrors')).toEqual([
      'linkspan_mirrors{target_cluster_name="far-west",state="ready"} 1',
      'linkspan_mirrors{target_cluster_name="far-west",state="waiting"} 0',
      'linkspan_mirrors{target_cluster_name="far-west",state="failed"} 1',
    ]);
    expect(await series('linkspan_link_condition')).toContain(
      'linkspan_link_condition{link="west",target_cluster_name="far-west",type="Accepted",status="True"} 1',
    );
  });

  it('that is suspended has no series by which it would be alerted of for ever (H9)', async () => {
    const { link, status, series } = setUp();
    link.accept({ status: 'False', reason: 'Suspended', message: 'left to another controller' }, 'west');
    expect(reasonOf(await status(), 'Ready')).toBe('Suspended');
    const measured = await series('linkspan_link_condition');
    expect(measured.filter((line) => line.includes('type="Ready"'))).toEqual([]);
    expect(measured).toContain(
      'linkspan_link_condition{link="west",target_cluster_name="west",type="Accepted",status="False"} 1',
    );
  });

  it('has metrics of what is not mirrored, by reason, and of what is held (E6)', async () => {
    const { link, status, series } = setUp();
    link.accept(ACCEPTED, 'west');
    link.work = { cluster: 'west', findings: () => ({ ...FOUND, pruneHeld: 12 }) };
    await status();
    expect(await series('linkspan_mirrors_failed')).toEqual([
      'linkspan_mirrors_failed{target_cluster_name="west",reason="InvalidService"} 1',
    ]);
    expect(await series('linkspan_held_deletions')).toEqual(['linkspan_held_deletions{target_cluster_name="west"} 12']);
  });

  it('that is gone is written of and measured no more', async () => {
    const { link, status, series } = setUp();
    link.accept(ACCEPTED, 'west');
    await status();
    link.statusChanged();
    link.accept(REFUSED, 'west');
    void link.end();
    link.statusChanged();
    expect(await status()).toBeUndefined();
    expect(await series('linkspan_link_condition')).toEqual([]);
  });

  it('that is gone gets its last Events under no uid', () => {
    const { link, events, disappear } = setUp();
    disappear();
    link.event('Normal', 'Done', 'all is done');
    expect(events).toEqual(['west/ Normal Done all is done']);
  });

  it('whose fields the installed CRD drops reports that (G5)', async () => {
    const { link, status, pruned } = setUp({ prunes: true });
    link.accept(ACCEPTED, 'west');
    await status();
    expect(pruned()).toBe(1);
  });
});
