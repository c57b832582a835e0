import { describe, expect, it } from 'vitest';
import { reportOf } from '../../../../synth/commands/common/link-status.ts';
import { isAllReady, type LinkState, statusText } from '../../../../synth/commands/status/report.ts';

const condition = (type: string, status: string, reason: string, message = '') => ({
  type,
  status,
  reason,
  message,
  observedGeneration: 1,
});
const entry = (name: string, status: string, reason: string, message: string) => ({
  remoteRef: { namespace: 'shop', name },
  conditions: [{ type: 'Mirrored', status, reason, message, localRef: { name: `${name}-west`, namespace: 'shop' } }],
});

const state = (conditions: readonly object[], rest: object = {}, unservedSince?: string): LinkState => ({
  report: reportOf({
    metadata: { name: 'west', namespace: 'links', generation: 1 },
    spec: { targetClusterName: 'west', gatewayAddress: '203.0.113.20' },
    status: { conditions, ...rest },
  }),
  unserved: unservedSince,
});
const READY = condition('Ready', 'True', 'Ready', 'the mirrors follow the target');
const lines = (links: readonly LinkState[]): readonly string[] =>
  statusText(links, 'table')
    .split('\n')
    .map((line) => line.replaceAll(/ {2,}/g, ' | '));

describe('the status of Links', () => {
  it('is one line for a Link that is well', () => {
    const found = state([READY, condition('PruneHeld', 'False', 'NothingHeld')], {
      gateway: { alive: true, addresses: ['203.0.113.20'] },
      mirrors: { total: 3, ready: 3, failed: 0 },
    });
    expect(lines([found])).toEqual([
      'LINK | CLUSTER | READY | REASON | GATEWAY | MIRRORED',
      'west | west | True | Ready | alive | 3/3',
      '',
    ]);
    expect(isAllReady([found])).toBe(true);
  });

  it('names the conditions that are not as they should be, and the Services that are not mirrored', () => {
    const down = condition('GatewayAlive', 'False', 'ProbeFailed', '3 probes failed');
    const found = state(
      [
        condition('Ready', 'False', 'ProbeFailed', '3 probes failed'),
        down,
        condition('PruneHeld', 'True', 'MassDeletion', 'held'),
      ],
      {
        gateway: { alive: false, addresses: [] },
        mirrors: { total: 2, ready: 1, failed: 1 },
        mirrorServices: [
          entry('a', 'False', 'NameConflict', 'Service shop/a-west exists'),
          entry('b', 'True', 'Mirrored', ''),
        ],
      },
    );
    expect(lines([found])).toEqual([
      'LINK | CLUSTER | READY | REASON | GATEWAY | MIRRORED',
      'west | west | False | ProbeFailed | down | 1/2',
      '',
      'LINK | CONDITION | REASON | MESSAGE',
      'west | GatewayAlive=False | ProbeFailed | 3 probes failed',
      'west | PruneHeld=True | MassDeletion | held',
      '',
      'LINK | NOT MIRRORED | REASON | MESSAGE',
      'west | shop/a | NameConflict | Service shop/a-west exists',
      '',
    ]);
    expect(isAllReady([found])).toBe(false);
    expect(JSON.parse(statusText([found], 'json'))).toMatchObject({
      links: [
        {
          name: 'west',
          ready: { status: 'False' },
          gateway: { alive: false },
          notMirrored: [{ namespace: 'shop', name: 'a', mirror: 'a-west', reason: 'NameConflict' }],
        },
      ],
    });
  });

  it('is not Ready if nobody serves the Link any more, whatever was reported', () => {
    const found = state([READY], {}, 'no operator holds its Lease');
    expect(lines([found]).slice(1, -1)).toEqual([
      'west | west | Unknown | NotServed | unknown | <none>',
      '',
      'LINK | CONDITION | REASON | MESSAGE',
      'west | Ready=Unknown | NotServed | no operator holds its Lease',
    ]);
    expect(isAllReady([found])).toBe(false);
  });
});
