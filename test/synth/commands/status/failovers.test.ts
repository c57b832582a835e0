import { describe, expect, it } from 'vitest';
import { type FailoverObject, failoverReport } from '../../../../synth/commands/common/failovers.ts';
import type { Unserved } from '../../../../synth/commands/common/lease.ts';
import { isAllWell, statusText } from '../../../../synth/commands/status/report.ts';

const failover = (ready?: object) => ({
  metadata: { name: 'web', namespace: 'shop', generation: 2 },
  spec: { service: 'web' },
  status: { active: 'web,web-west', conditions: ready === undefined ? [] : [{ type: 'Ready', ...ready }] },
});
const READY = { status: 'True', reason: 'Ready', message: 'requests go to web', observedGeneration: 2 };
const GONE: Unserved = { reason: 'NotServed', message: 'no operator holds its Lease' };

const outcome = (object: FailoverObject, unserved?: Unserved): { readonly lines: readonly string[]; well: boolean } => {
  const failovers = [failoverReport(object, unserved)];
  const lines = statusText([], 'table', { failovers }).split('\n').slice(2, -1);
  return { lines: lines.map((line) => line.replaceAll(/ {2,}/g, ' | ')), well: isAllWell([], { failovers }) };
};

describe('the status of ServiceFailovers', () => {
  it('says where the requests to a Service go', () => {
    expect(outcome(failover(READY))).toEqual({
      lines: ['SERVICE FAILOVER | SERVICE | ACTIVE | READY', 'shop/web | web | web,web-west | True'],
      well: true,
    });
    expect(JSON.parse(statusText([], 'json', { failovers: [failoverReport(failover(READY))] }))).toMatchObject({
      serviceFailovers: [{ namespace: 'shop', name: 'web', service: 'web', ready: { status: 'True' } }],
    });
  });

  it.each<[string, FailoverObject, Unserved | undefined, string]>([
    [
      'is not ready',
      failover({ status: 'False', reason: 'NoBackendReady' }),
      undefined,
      'Ready=False | NoBackendReady',
    ],
    ['nobody has reported on', failover(), undefined, 'Ready=Unknown | NotReported'],
    ['has changed since', failover({ ...READY, observedGeneration: 1 }), undefined, 'Ready=Unknown | NotReported'],
    ['nobody serves', failover(READY), GONE, 'Ready=Unknown | NotServed | no operator holds its Lease'],
  ])('names one that %s', (_, object, unserved, expected) => {
    const { lines, well } = outcome(object, unserved);
    expect(lines.slice(0, 2)).toEqual([
      'SERVICE FAILOVER | CONDITION | REASON | MESSAGE',
      expect.stringContaining(`shop/web | ${expected}`),
    ]);
    expect(well).toBe(false);
  });

  it('is read from any form of a status', () => {
    const odd = { metadata: { name: 'web', namespace: 'shop' }, spec: { service: 7 }, status: 'x' } as never;
    expect(failoverReport(odd)).toMatchObject({ service: '', active: '', ready: { reason: 'NotReported' } });
  });
});
