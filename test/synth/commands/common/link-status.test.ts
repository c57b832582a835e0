import { describe, expect, it } from 'vitest';
import { conditionOf, conditionsOf, probedAlive, reportOf } from '../../../../synth/commands/common/link-status.ts';

const link = (status: unknown, generation = 1) => ({
  metadata: { name: 'west', namespace: 'links', generation, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { targetClusterName: 'west', gatewayAddress: '203.0.113.20', gatewayPort: '4143' },
  status,
});
const READY = { type: 'Ready', status: 'True', reason: 'Ready', message: 'fine', observedGeneration: 1 };

describe('the report of a Link', () => {
  it('is Ready at the generation that it is about alone', () => {
    expect(reportOf(link({ conditions: [READY] })).ready).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(reportOf(link({ conditions: [READY] }, 2)).ready).toMatchObject({
      status: 'Unknown',
      reason: 'NotReported',
    });
    expect(reportOf(link(undefined)).ready.reason).toBe('NotReported');
  });

  it('has the gateway alive at the generation that it is about alone', () => {
    const status = { conditions: [READY], gateway: { alive: true, addresses: ['203.0.113.20'] } };
    expect(reportOf(link(status)).gatewayAlive).toBe(true);
    expect(reportOf(link(status, 2)).gatewayAlive).toBeUndefined();
  });

  it('has no gateway alive that nobody probes, though the operator takes it to be', () => {
    const alive = (reason: string) => ({ ...READY, type: 'GatewayAlive', reason });
    const of = (reason: string) =>
      probedAlive(reportOf(link({ conditions: [READY, alive(reason)], gateway: { alive: true, addresses: [] } })));
    expect([of('Alive'), of('NotProbed')]).toEqual([true, undefined]);
  });

  it.each([
    [null],
    ['text'],
    [{ conditions: 'x', gateway: 3, mirrors: [], mirrorServices: [null, { conditions: [1], remoteRef: 'x' }] }],
    [{ conditions: [null, { type: 4, status: {} }], mirrorServices: {} }],
  ])('is read from %j without harm', (status) => {
    const report = reportOf(link(status));
    expect(report.ready.status).toBe('Unknown');
    expect(report.gatewayAlive).toBeUndefined();
  });

  it.each([
    [undefined],
    [null],
    ['text'],
    [{ conditions: 'Ready' }],
    [{ conditions: { type: 'Ready' } }],
    [{ conditions: [null, 7, 'Ready', { status: 'True' }, { type: {}, status: 'True' }] }],
  ])('has no condition in %j', (status) => {
    expect(conditionsOf(link(status))).toEqual([]);
    expect(conditionOf(link(status), 'Ready')).toBeUndefined();
  });

  it('has a condition by its type, whatever its other fields are', () => {
    expect(conditionOf(link({ conditions: [{ type: 'Ready', status: 1, reason: [] }] }), 'Ready')).toEqual({
      type: 'Ready',
      status: 'Unknown',
      reason: '',
      message: '',
      since: '',
      observedGeneration: 0,
    });
    expect(conditionOf(undefined, 'Ready')).toBeUndefined();
  });

  it('has no orders to the terminal', () => {
    const message = 'a\u001b[2J\u009b31m\u202eb\nc';
    const services = [
      { remoteRef: { namespace: 's', name: 'n' }, conditions: [{ status: 'False', reason: 'Error', message }] },
    ];
    const report = reportOf(link({ conditions: [{ ...READY, message }], mirrorServices: services }));
    expect([report.ready.message, report.services[0]?.message]).toEqual(['a [2J 31m b c', 'a [2J 31m b c']);
  });
});
