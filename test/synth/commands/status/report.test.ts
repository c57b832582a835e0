import { describe, expect, it } from 'vitest';
import type { EndpointSlice, Service } from '../../../../operator/kube/objects.ts';
import { federatedAmong, type FederatedService } from '../../../../synth/commands/common/federated.ts';
import type { ReportFormat } from '../../../../synth/commands/common/flags.ts';
import type { Unserved } from '../../../../synth/commands/common/lease.ts';
import { reportOf } from '../../../../synth/commands/common/link-status.ts';
import { isAllWell, type LinkState, statusText } from '../../../../synth/commands/status/report.ts';

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

const state = (conditions: readonly object[], rest: object = {}, unserved?: Unserved): LinkState => ({
  report: reportOf({
    metadata: { name: 'west', namespace: 'links', generation: 1 },
    spec: { targetClusterName: 'west', gatewayAddress: '203.0.113.20' },
    status: { conditions, ...rest },
  }),
  unserved,
});
const READY = condition('Ready', 'True', 'Ready', 'the mirrors follow the target');
const lines = (
  links: readonly LinkState[],
  format: ReportFormat = 'table',
  federated?: readonly FederatedService[],
): readonly string[] =>
  statusText(links, format, { federated })
    .split('\n')
    .map((line) => line.replaceAll(/ {2,}/g, ' | '));

const MIRRORED = { 'mirror.linkerd.io/mirrored-service': 'true' };
const federatedService = (of: string, annotations: object, labels: object = {}): Service => ({
  metadata: {
    name: `${of}-federated`,
    namespace: 'shop',
    labels: { ...MIRRORED, ...labels },
    annotations: { ...annotations },
  },
});
const federatedSlice = (of: string, labels: object): EndpointSlice => ({
  metadata: {
    name: `${of}-federated.x`,
    namespace: 'shop',
    labels: { 'kubernetes.io/service-name': `${of}-federated`, 'linkspan.dev/federation': 'gateway', ...labels },
  },
  addressType: 'IPv4',
});

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
    expect(isAllWell([found])).toBe(true);
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
    expect(isAllWell([found])).toBe(false);
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

  it.each(['NotServed', 'NotKnown'] as const)(
    'is neither Ready nor has a gateway that is alive if nobody serves the Link, whatever was reported (%s)',
    (reason) => {
      const status = { gateway: { alive: true, addresses: ['203.0.113.20'] } };
      const found = state([READY], status, { reason, message: 'no operator holds its Lease' });
      expect(lines([found]).slice(1, -1)).toEqual([
        `west | west | Unknown | ${reason} | unknown | <none>`,
        '',
        'LINK | CONDITION | REASON | MESSAGE',
        `west | Ready=Unknown | ${reason} | no operator holds its Lease`,
      ]);
      expect(JSON.parse(statusText([found], 'json'))).toMatchObject({
        links: [{ ready: { status: 'Unknown', reason }, gateway: { alive: null } }],
      });
      expect(isAllWell([found])).toBe(false);
    },
  );

  it.each([
    ['mirrorServices', 'InvalidService', false],
    ['federatedServices', 'PortMismatch', false],
    ['mirrorServices', 'WaitingForEndpoints', true],
    ['mirrorServices', 'NotAdmitted', true],
    ['mirrorServices', 'WaitingForApproval', true],
  ])('is well with an entry of %s for reason %s: %s', (field, reason, expected) => {
    const found = state([READY], { [field]: [entry('a', 'False', reason, 'why'), entry('b', 'True', 'Mirrored', '')] });
    expect(isAllWell([found])).toBe(expected);
  });

  it('counts the members of federated Services, names those that do not join, and lists who has joined (rule I8)', () => {
    const found = state([READY], {
      mirrors: { total: 0, ready: 0, failed: 0 },
      federatedServices: [
        entry('a', 'False', 'PortMismatch', 'it lacks ports of the federated Service'),
        entry('b', 'True', 'Mirrored', ''),
      ].map(({ remoteRef, conditions: [each] }) => ({
        remoteRef,
        conditions: [{ ...each, localRef: { name: `${remoteRef.name}-federated`, namespace: 'shop' } }],
      })),
    });
    const federated = federatedAmong(
      [
        federatedService('c', { 'multicluster.linkerd.io/remote-discovery': 'c@west,c@north' }),
        federatedService('b', {}, { 'linkspan.dev/federation': 'gateway' }),
        { metadata: { name: 'web-west', namespace: 'shop', labels: { 'mirror.linkerd.io/mirrored-service': 'true' } } },
      ],
      [federatedSlice('b', { 'linkspan.dev/federation-member': 'west' }), federatedSlice('b', {})],
    );
    expect(lines([found], 'wide', federated)).toEqual([
      'LINK | CLUSTER | READY | REASON | GATEWAY | MIRRORED | SINCE | ADDRESSES | CREATED | FEDERATED',
      'west | west | True | Ready | unknown | 0/0 | <none> | <none> | <none> | 1/2',
      '',
      'LINK | NOT FEDERATED | REASON | MESSAGE',
      'west | shop/a | PortMismatch | it lacks ports of the federated Service',
      '',
      'FEDERATED SERVICE | FEDERATION | MEMBERS IN',
      'shop/b-federated | gateway | (local),west',
      'shop/c-federated | flat | north,west',
      '',
    ]);
    expect(JSON.parse(statusText([found], 'json', { federated }))).toMatchObject({
      links: [
        {
          members: { total: 2, joined: 1 },
          notFederated: [{ namespace: 'shop', name: 'a', federatedService: 'a-federated', reason: 'PortMismatch' }],
        },
      ],
      federatedServices: [
        { namespace: 'shop', name: 'b-federated', federation: 'gateway', local: true, clusters: ['west'] },
        { namespace: 'shop', name: 'c-federated', federation: 'flat', local: false, clusters: ['north', 'west'] },
      ],
    });
  });
});
