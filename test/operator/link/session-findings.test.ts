import { describe, expect, it, test } from 'vitest';
import { verdict } from '../../../operator/kube/conditions.ts';
import { findingsOf, type SessionParts } from '../../../operator/link/session-findings.ts';
import type { MirrorStatus } from '../../../operator/mirror/status.ts';

const REACHABLE = verdict('True', 'Reachable', '');
const UNREACHABLE = verdict('False', 'ConnectFailed', 'connect ECONNREFUSED');
const WITHIN = verdict('True', 'WithinLimits', '');
const statuses: ReadonlyMap<string, MirrorStatus> = new Map();

/** The parts of a session that has read everything and written what it had to. */
const PARTS: SessionParts = {
  settings: { name: 'west', generation: 3, cluster: 'west' },
  source: { refusal: undefined, size: 0 },
  lease: { problem: undefined, isHeld: true, heldBy: undefined },
  credentials: { valid: undefined },
  reachability: { credentials: verdict('True', 'Valid', ''), reachable: REACHABLE, withinLimits: WITHIN },
  exports: {
    readsNothing: false,
    beyondLimits: undefined,
    target: { held: { count: 0, confirmation: undefined, some: [] }, notAdmitted: () => [] },
  },
  imports: { isWanted: false, beyondLimits: undefined },
  gateway: { findings: () => ({ resolved: undefined, gatewayAlive: undefined, gateway: undefined }), isKnown: true },
  mirrors: { statuses, progress: { hasSeenAll: true, isCaughtUp: true } },
  party: { statuses, isCaughtUp: true, awaiting: 0 },
};

it('are about the settings that are served, and have the verdicts of all parts', () => {
  expect(findingsOf(PARTS)).toMatchObject({ settingsGeneration: 3, reachable: REACHABLE, withinLimits: WITHIN });
});

describe('a target of which nothing is read', () => {
  const exports = { ...PARTS.exports, readsNothing: true };
  const reachability = { ...PARTS.reachability, reachable: undefined, withinLimits: undefined };

  it('is as it must be (A1)', () => {
    expect(findingsOf({ ...PARTS, exports, reachability })).toMatchObject({
      reachable: { status: 'True', reason: 'NothingSelected' },
      withinLimits: { status: 'True' },
    });
  });

  it('is one of which no ServiceExports are read either (E4)', () => {
    const imports = { ...PARTS.imports, isWanted: true };
    const found = findingsOf({ ...PARTS, exports, imports, reachability: { ...reachability, reachable: UNREACHABLE } });
    expect([found.reachable, found.withinLimits]).toEqual([UNREACHABLE, undefined]);
  });
});

it('name the federated Services that wait for a target that cannot be read (I6)', () => {
  const party = { ...PARTS.party, awaiting: 2 };
  const found = findingsOf({ ...PARTS, party, reachability: { ...PARTS.reachability, reachable: UNREACHABLE } });
  expect(found.reachable?.message).toBe(
    'connect ECONNREFUSED; 2 federated Services that have no member now are kept until it has been read',
  );
  expect(findingsOf({ ...PARTS, party }).reachable).toEqual(REACHABLE);
});

it('are beyond the limits by Services before ServiceExports, and by either before what is read (E10)', () => {
  const [services, exported] = [verdict('False', 'LimitExceeded', 's'), verdict('False', 'LimitExceeded', 'e')];
  const imports = { ...PARTS.imports, beyondLimits: exported };
  const exports = { ...PARTS.exports, beyondLimits: services };
  expect(findingsOf({ ...PARTS, imports }).withinLimits).toEqual(exported);
  expect(findingsOf({ ...PARTS, imports, exports }).withinLimits).toEqual(services);
});

describe('Synced', () => {
  test.each<readonly [string, Partial<SessionParts>]>([
    ['the mirrors', { mirrors: { statuses, progress: { hasSeenAll: true, isCaughtUp: false } } }],
    ['the federated Services', { party: { ...PARTS.party, isCaughtUp: false } }],
    ['the gateway', { gateway: { ...PARTS.gateway, isKnown: false } }],
  ])('is not known while %s are behind (G1)', (_, behind) => {
    expect(findingsOf(PARTS).synced?.status).toBe('True');
    expect(findingsOf({ ...PARTS, ...behind }).synced).toBeUndefined();
  });

  it('is not known while the source cluster cannot be read, which may have been restored from a backup (G1, L186)', () => {
    expect(findingsOf({ ...PARTS, source: { refusal: undefined, size: 1 } }).synced).toBeUndefined();
  });

  it('is false while something of the source cluster may not be read (H3)', () => {
    const { synced } = findingsOf({ ...PARTS, source: { refusal: 'endpoints is forbidden', size: 1 } });
    expect(synced).toMatchObject({ status: 'False', reason: 'SourceForbidden' });
    expect(synced?.message).toContain('endpoints is forbidden');
  });

  it('is prevented by nothing that is known while the source cluster is read and the Lease is held (L188)', () => {
    expect(findingsOf(PARTS).isUnhindered).toBe(true);
    expect(findingsOf({ ...PARTS, source: { refusal: undefined, size: 1 } }).isUnhindered).toBe(false);
    const unknown = { ...PARTS.lease, isHeld: false };
    expect(findingsOf({ ...PARTS, lease: unknown }).isUnhindered).toBe(false);
    expect(findingsOf({ ...PARTS, lease: { ...unknown, heldBy: 'another' } }).isUnhindered).toBe(true);
    const lease = { ...PARTS.lease, problem: 'leases is forbidden' };
    expect(findingsOf({ ...PARTS, lease }).isUnhindered).toBe(false);
  });

  it('is false while the Lease cannot be taken, whatever was written before', () => {
    const lease = { ...PARTS.lease, isHeld: false, problem: 'leases is forbidden' };
    expect(findingsOf({ ...PARTS, lease }).synced).toMatchObject({ status: 'False', reason: 'LeaseUnavailable' });
  });
});

test.each<readonly [string, Partial<SessionParts>]>([
  ['another holds the Lease', { lease: { ...PARTS.lease, isHeld: false, heldBy: 'another' } }],
  ['the target is being read', { mirrors: { statuses, progress: { hasSeenAll: false, isCaughtUp: false } } }],
])('have no mirrors while %s: the last report is kept', (_, parts) => {
  expect(findingsOf(PARTS).mirrors).toBe(statuses);
  expect(findingsOf({ ...PARTS, ...parts }).mirrors).toBeUndefined();
});

describe('what the policy of the Link does not admit (N1, N2)', () => {
  const offered = (count: number, waiting: number) => [
    ...Array.from({ length: count }, (_, index) => ({
      key: `shop/web-${index}`,
      obstacle: { reason: 'NotAdmitted', what: 'port 22' } as const,
    })),
    ...Array.from({ length: waiting }, (_, index) => ({
      key: `shop/new-${index}`,
      obstacle: { reason: 'WaitingForApproval', what: `shop/new-${index}` } as const,
    })),
  ];
  const found = (settings: SessionParts['settings'], count: number, waiting = 0) => {
    const target = { ...PARTS.exports.target, notAdmitted: () => offered(count, waiting) };
    return findingsOf({ ...PARTS, settings, exports: { ...PARTS.exports, target } }).notAdmitted;
  };
  const importPolicy = { ports: [{ first: 80, last: 80 }] };
  const settings = { ...PARTS.settings, importPolicy };

  it('is counted, and the first ones are named with what is not admitted of them', () => {
    const { notAdmitted, waitingForApproval, first } = found(settings, 12)!;
    expect([notAdmitted, waitingForApproval, first.length]).toEqual([12, undefined, 10]);
    expect(first[0]).toEqual({
      remote: { namespace: 'shop', name: 'web-0' },
      local: 'web-0-west',
      mirrored: false,
      reason: 'NotAdmitted',
      message: 'the Link takes no Service with port 22 (spec.importPolicy)',
    });
  });

  it('is counted apart where it waits for approval, and named with the command that approves it', () => {
    const approvals = { services: new Set<string>(), patterns: [] };
    const { notAdmitted, waitingForApproval, first } = found({ ...settings, importPolicy: { approvals } }, 12, 11)!;
    expect([notAdmitted, waitingForApproval, first.length]).toEqual([12, 11, 20]);
    expect(first.at(-10)).toMatchObject({
      reason: 'WaitingForApproval',
      message: 'it waits until it is approved: linkspan approve shop/new-0 --from west',
    });
    expect(found({ ...settings, importPolicy: { approvals } }, 0)?.waitingForApproval).toBe(0);
  });

  it('is nothing for a Link without a policy', () => {
    expect(found(PARTS.settings, 1)).toBeUndefined();
  });
});
