import { describe, expect, it, test } from 'vitest';
import { verdict } from '../../../../operator/kube/conditions.ts';
import {
  type LinkFindings,
  linkStatus,
  type LinkStatusPatch,
  NO_FINDINGS,
} from '../../../../operator/link/status/status.ts';
import { readStatus } from '../../../../operator/link/status/before.ts';
import { mirrored, notMirrored } from '../../../../operator/mirror/status.ts';

const yes = verdict('True', 'Fine', '');
const no = verdict('False', 'Broken', 'it is broken');
const FINE: LinkFindings = {
  namespace: 'linkerd-multicluster',
  name: 'west',
  generation: 3,
  settingsGeneration: 3,
  accepted: yes,
  isServed: true,
  credentials: yes,
  reachable: yes,
  withinLimits: yes,
  resolved: yes,
  gatewayAlive: yes,
  synced: yes,
  isUnhindered: true,
  pruneHeld: 0,
  confirmation: undefined,
  someHeld: [],
  notAdmitted: undefined,
  federated: new Map(),
  heldBy: undefined,
  gateway: { port: 4143, addresses: ['203.0.113.1'], alive: true },
  mirrors: new Map(),
};
const T1 = new Date('2026-01-01T00:00:00Z');
const T2 = new Date('2026-01-02T00:00:00Z');
const TYPES = [
  'Ready',
  'Accepted',
  'CredentialsValid',
  'TargetReachable',
  'TargetWithinLimits',
  'GatewayResolved',
  'GatewayAlive',
  'Synced',
  'PruneHeld',
];

const statusOf = (findings: Partial<LinkFindings>): LinkStatusPatch => linkStatus({ ...FINE, ...findings }, {}, T1);
const conditionOf = ({ conditions }: LinkStatusPatch, type: string) => conditions.find((each) => each.type === type)!;

describe('the conditions of a Link (G1)', () => {
  it('are all there, each of the generation that was observed', () => {
    const { conditions, observedGeneration } = statusOf({});
    expect(conditions.map(({ type }) => type)).toEqual(TYPES);
    expect(new Set(conditions.map((each) => each.observedGeneration))).toEqual(new Set([3]));
    expect(observedGeneration).toBe(3);
  });

  test.each<[string, Partial<LinkFindings>, string, string]>([
    ['when all is well', {}, 'True', 'Ready'],
    ['without a verdict on the gateway, whose mirrors are as they were', { gatewayAlive: undefined }, 'True', 'Ready'],
    ['when the gateway is not alive', { gatewayAlive: no }, 'False', 'Broken'],
    ['when the target cannot be reached', { reachable: no }, 'False', 'Broken'],
    ['when the credentials are bad', { credentials: no }, 'False', 'Broken'],
    ['when the target is beyond the limits (E10)', { withinLimits: no }, 'False', 'Broken'],
    ['when deletions are held', { pruneHeld: 12 }, 'False', 'PruneHeld'],
    ['before the target is known', { reachable: undefined }, 'Unknown', 'Pending'],
    ['before all is synced', { synced: verdict('Unknown', 'CatchingUp', '') }, 'Unknown', 'Pending'],
    ['when another writes for the Link (H1)', { heldBy: 'linkerd-0', reachable: no }, 'False', 'HeldByAnother'],
    [
      'when the Link is not accepted, first of all',
      { accepted: no, reachable: verdict('False', 'Other', '') },
      'False',
      'Broken',
    ],
  ])('are summed up as Ready %s', (_, findings, status, reason) => {
    expect(conditionOf(statusOf(findings), 'Ready')).toMatchObject({ status, reason });
  });

  it('name who holds the Link, and how to confirm a mass deletion', () => {
    expect(conditionOf(statusOf({ heldBy: 'linkerd-0' }), 'Ready').message).toContain('linkerd-0');
    const held = conditionOf(
      statusOf({ pruneHeld: 12, confirmation: '12-0a1b2c3d', someHeld: ['shop/a', 'shop/b'] }),
      'PruneHeld',
    );
    expect(held.status).toBe('True');
    expect(held.message).toContain('12 Services, pods or members of federated Services (shop/a, shop/b, 10 more)');
    expect(held.message).toContain(
      'kubectl annotate --overwrite --namespace linkerd-multicluster links.multicluster.linkerd.io west linkspan.dev/confirm-prune="12-0a1b2c3d"',
    );
    const few = conditionOf(statusOf({ pruneHeld: 1, someHeld: ['shop/a'] }), 'PruneHeld');
    expect(few.message).toContain('(shop/a),');
  });

  it('hold the whole command that confirms a mass deletion, however long the names are (E6, L152)', () => {
    const [namespace, name] = ['n'.repeat(63), 'l'.repeat(253)];
    const someHeld = ['a', 'b', 'c', 'd', 'e'].map((each) => `${'s'.repeat(63)}/${each.repeat(63)}#${'h'.repeat(63)}`);
    const longest = { namespace, name, pruneHeld: 12_345, confirmation: '12345-0a1b2c3d', someHeld };
    const { message } = conditionOf(statusOf(longest), 'PruneHeld');
    expect(message).toContain(`(${someHeld[0]}, 12344 more)`);
    expect(message).toMatch(new RegExp(`: kubectl .* ${name} linkspan.dev/confirm-prune="12345-0a1b2c3d"$`));
  });

  it('count what is not mirrored by reason, and keep the counts while the mirrors are not known', () => {
    const remote = { namespace: 'shop', name: 'x' };
    const refused = (reason: 'NameConflict' | 'InvalidService' | 'InvalidName') =>
      notMirrored(remote, 'west', { reason, message: '' });
    const all = [
      mirrored(remote, 'west', ''),
      ...(['NameConflict', 'InvalidService', 'NameConflict', 'InvalidName'] as const).map(refused),
    ];
    const first = statusOf({ mirrors: new Map(all.map((each, index) => [`shop/${index}`, each])) });
    const message = '4 of 5 Services are not mirrored: 2 NameConflict, 1 InvalidName, 1 InvalidService';
    const expected = { status: 'True', reason: 'SomeNotMirrored', message };
    expect(conditionOf(first, 'Ready')).toMatchObject(expected);
    expect(conditionOf(linkStatus({ ...FINE, mirrors: undefined }, first, T2), 'Ready')).toMatchObject(expected);
    expect(conditionOf(linkStatus(FINE, first, T2), 'Ready').message).toBe('the mirrors follow the target');
  });

  it('count the members that do not join, too, beside what is not mirrored (I8)', () => {
    const x = { namespace: 'shop', name: 'x' };
    const refused = notMirrored(x, 'west', { reason: 'PortMismatch', message: '' });
    const federated = new Map([
      ['shop/x', refused],
      ['shop/web', mirrored(x, 'west', '')],
    ]);
    const first = statusOf({ federated });
    const message = '1 of 2 members do not join their federated Services: 1 PortMismatch';
    expect(conditionOf(first, 'Ready')).toMatchObject({ status: 'True', reason: 'SomeNotJoined', message });
    expect(conditionOf(linkStatus({ ...FINE, federated: undefined }, first, T2), 'Ready')).toMatchObject({ message });
    const both = conditionOf(statusOf({ federated, mirrors: new Map([['shop/x', refused]]) }), 'Ready');
    expect(both).toMatchObject({
      reason: 'SomeNotMirrored',
      message: `1 of 1 Services are not mirrored: 1 PortMismatch; ${message}`,
    });
  });

  it('do not take a headless Service that waits for its endpoints for one that fails', () => {
    const remote = { namespace: 'shop', name: 'db' };
    const waiting = notMirrored(remote, 'west', { reason: 'WaitingForEndpoints', message: '' });
    const mirrors = new Map([['shop/db', waiting]]);
    expect(conditionOf(statusOf({ mirrors }), 'Ready')).toMatchObject({
      reason: 'Ready',
      message: '1 of 1 Services are not mirrored: 1 WaitingForEndpoints',
    });
  });

  it('move their lastTransitionTime on a transition, and at no other time', () => {
    const first = linkStatus(FINE, {}, T1);
    const second = linkStatus({ ...FINE, gatewayAlive: no, reachable: verdict('True', 'Else', 'x') }, first, T2);
    const times = Object.fromEntries(
      second.conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
    );
    expect(times).toMatchObject({
      TargetReachable: '2026-01-01T00:00:00Z',
      GatewayAlive: '2026-01-02T00:00:00Z',
      Ready: '2026-01-02T00:00:00Z',
    });
  });

  it('are as they were found for this generation until it is known better, and unknown if for another', () => {
    const before = linkStatus(FINE, {}, T1);
    expect(conditionOf(linkStatus({ ...FINE, synced: undefined }, before, T2), 'Synced')).toMatchObject({
      status: 'True',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
    const changed = linkStatus({ ...FINE, generation: 4, settingsGeneration: 4, synced: undefined }, before, T2);
    expect(conditionOf(changed, 'Synced')).toMatchObject({ status: 'Unknown', reason: 'Pending' });
  });

  it('say no longer what prevented the work once nothing does, though it is not known whether all is synced (H3, L188)', () => {
    const before = linkStatus({ ...FINE, synced: verdict('False', 'SourceForbidden', 'no right to list') }, {}, T1);
    const meanwhile = linkStatus({ ...FINE, synced: undefined, isUnhindered: false }, before, T2);
    expect(conditionOf(meanwhile, 'Synced')).toMatchObject({ status: 'False', reason: 'SourceForbidden' });
    const after = linkStatus({ ...FINE, synced: undefined, isUnhindered: true }, before, T2);
    expect(conditionOf(after, 'Synced')).toMatchObject({ status: 'Unknown', reason: 'Pending' });
    expect(conditionOf(after, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'Pending' });
  });

  it('are of the generation that is served, while a change of the Link is not applied yet', () => {
    const changed = linkStatus({ ...FINE, generation: 4 }, linkStatus(FINE, {}, T1), T2);
    expect(conditionOf(changed, 'Accepted')).toMatchObject({ status: 'True', observedGeneration: 4 });
    expect(conditionOf(changed, 'Synced')).toMatchObject({ status: 'True', observedGeneration: 3 });
    expect(conditionOf(changed, 'Ready')).toMatchObject({ status: 'Unknown', observedGeneration: 4 });
  });

  it('show at once that a change of the Link is not accepted (E7)', () => {
    const changed = linkStatus({ ...FINE, generation: 4, accepted: no }, linkStatus(FINE, {}, T1), T2);
    expect(conditionOf(changed, 'Ready')).toMatchObject({ status: 'False', reason: 'Broken', observedGeneration: 4 });
    expect(conditionOf(changed, 'TargetReachable')).toMatchObject({ status: 'True', observedGeneration: 3 });
  });

  it('are of the generation of the Link where nothing serves it', () => {
    const { conditions } = statusOf({ ...NO_FINDINGS });
    expect(new Set(conditions.map((each) => each.observedGeneration))).toEqual(new Set([3]));
  });

  it('say nothing of a target while the Link is left to others, and are found anew afterwards (H9, L190)', () => {
    const before = linkStatus({ ...FINE, reachable: no }, {}, T1);
    const unserved = { ...FINE, ...NO_FINDINGS, isServed: false };
    const starting = linkStatus(unserved, before, T2);
    expect(conditionOf(starting, 'TargetReachable')).toMatchObject({ status: 'False', reason: 'Broken' });
    const left = linkStatus({ ...unserved, accepted: no }, before, T2);
    const ofTarget = left.conditions.filter(({ type }) => !['Ready', 'Accepted', 'PruneHeld'].includes(type));
    expect(ofTarget.map(({ status, reason }) => `${status} ${reason}`)).toEqual(Array(6).fill('Unknown Pending'));
    const resumed = linkStatus(unserved, left, T2);
    expect(conditionOf(resumed, 'TargetReachable')).toMatchObject({ status: 'Unknown', message: 'not known yet' });
    expect(conditionOf(resumed, 'Ready').message).toBe('CredentialsValid is not known yet');
  });

  it('leave those of others alone', () => {
    const other = { ...conditionOf(statusOf({}), 'Ready'), type: 'Theirs' };
    expect(linkStatus(FINE, { conditions: [other] }, T1).conditions[0]).toEqual(other);
  });
});

describe('the rest of the status', () => {
  const web = { namespace: 'shop', name: 'web' };
  const mirrors = new Map([
    ['shop/web', mirrored(web, 'west', '')],
    ['shop/x', notMirrored({ namespace: 'shop', name: 'x' }, 'west', { reason: 'InvalidService', message: '' })],
  ]);

  it('counts all mirrors (G2)', () => {
    expect(statusOf({ mirrors }).mirrors).toEqual({ total: 2, ready: 1, failed: 1 });
  });

  it('leaves the gateway as it was found for this generation until more is known of it (F2)', () => {
    const gateway = { port: 4143, addresses: [], alive: undefined };
    const before = readStatus(linkStatus(FINE, {}, T1));
    expect(linkStatus({ ...FINE, gateway }, before, T2)).not.toHaveProperty('gateway');
    const older = { ...linkStatus(FINE, {}, T1), gateway: { addresses: ['203.0.113.9'] } };
    const next = { ...FINE, gateway: { ...gateway, addresses: ['203.0.113.1'] }, generation: 4, settingsGeneration: 4 };
    expect(linkStatus(next, readStatus(older), T2).gateway).toStrictEqual({ addresses: ['203.0.113.1'] });
  });

  it('has the addresses as soon as they are known, beside the verdict that it has, and says so once (L154)', () => {
    const pending = { ...FINE, gateway: { port: 4143, addresses: [], alive: undefined } };
    const found = { ...FINE, gateway: { port: 4143, addresses: ['203.0.113.9'], alive: undefined } };
    const first = linkStatus(pending, {}, T1);
    expect(first.gateway).toStrictEqual({ addresses: [] });
    const addresses = ['203.0.113.9'];
    expect(linkStatus(found, readStatus(first), T1).gateway).toStrictEqual({ addresses });
    const judged = readStatus(linkStatus(FINE, {}, T1));
    const gateway = { addresses, alive: true };
    expect(linkStatus(found, judged, T1).gateway).toStrictEqual(gateway);
    // What stands is not written again, even if the CRD has no field for it.
    const sent = linkStatus(found, judged, T1);
    expect(linkStatus(found, readStatus(sent), T1)).toStrictEqual(sent);
  });

  it('takes back the verdict on a gateway of an older generation: a merge patch keeps what it does not name (L115)', () => {
    const gateway = { port: 4143, addresses: ['203.0.113.9'], alive: undefined };
    const patched = { addresses: ['203.0.113.9'], alive: null };
    const older = readStatus(linkStatus(FINE, {}, T1));
    const changed = { ...FINE, generation: 4, settingsGeneration: 4, gateway };
    expect(linkStatus(changed, older, T2).gateway).toStrictEqual(patched);
    // Also if that verdict was written after the change of the Link, and before it was applied.
    const late = readStatus(linkStatus({ ...FINE, generation: 4 }, older, T2));
    expect(linkStatus(changed, late, T2).gateway).toStrictEqual(patched);
  });

  it('takes back the verdict on a gateway that was in use until the next one was known (L154)', () => {
    const next = { ...FINE, gateway: { port: 4143, addresses: ['203.0.113.9'], alive: undefined } };
    const patched = { addresses: ['203.0.113.9'], alive: null };
    const former = linkStatus(FINE, {}, T1);
    const unknown = verdict('Unknown', 'Pending', 'not known yet');
    expect(linkStatus({ ...next, gatewayAlive: unknown }, readStatus(former), T2).gateway).toStrictEqual(patched);
    const unprobed = linkStatus({ ...FINE, gatewayAlive: undefined }, {}, T1);
    const found = linkStatus({ ...next, gatewayAlive: undefined }, readStatus(unprobed), T2);
    expect(found.gateway).toStrictEqual(patched);
  });

  it('says nothing of mirrors that another writes', () => {
    const patch = statusOf({ mirrors: undefined });
    expect(patch).not.toHaveProperty('mirrors');
    expect(patch).not.toHaveProperty('mirrorServices');
  });

  it('lists members as it lists mirrors, until the last has left (I8)', () => {
    expect(statusOf({})).not.toHaveProperty('federatedServices');
    const joined = { ...mirrored(web, 'west', ''), local: 'web-federated' };
    const first = statusOf({ federated: new Map([['shop/web', joined]]) });
    expect(first.federatedServices).toEqual([
      {
        controllerName: 'linkspan.dev/operator',
        remoteRef: { ...web, kind: 'Service', group: '' },
        conditions: [
          {
            type: 'Mirrored',
            status: 'True',
            reason: 'Mirrored',
            message: '',
            lastTransitionTime: '2026-01-01T00:00:00Z',
            localRef: { name: 'web-federated', namespace: 'shop', kind: 'Service', group: '' },
          },
        ],
      },
    ]);
    const before = readStatus(first);
    expect(linkStatus({ ...FINE, federated: new Map([['shop/web', joined]]) }, before, T2).federatedServices).toEqual(
      first.federatedServices,
    );
    expect(linkStatus({ ...FINE, federated: undefined }, before, T2)).not.toHaveProperty('federatedServices');
    expect(linkStatus(FINE, before, T2).federatedServices).toEqual([]);
  });

  test.each<[string, LinkFindings['gateway'], LinkStatusPatch['gateway']]>([
    [
      'the gateway as it is',
      { port: 4143, addresses: ['203.0.113.1'], alive: false },
      { addresses: ['203.0.113.1'], alive: false },
    ],
    ['no verdict before there is one', { port: 4143, addresses: [], alive: undefined }, { addresses: [] }],
    ['that there is none, so that an old one goes', undefined, null],
  ])('says %s', (_, gateway, expected) => {
    expect(statusOf({ gateway }).gateway).toEqual(expected);
  });
});

describe('what is not admitted (N1)', () => {
  const ssh = notMirrored({ namespace: 'shop', name: 'ssh' }, 'west', { reason: 'NotAdmitted', message: 'port 22' });
  const web = mirrored({ namespace: 'shop', name: 'web' }, 'west', '');
  const findings = {
    ...FINE,
    mirrors: new Map([['shop/web', web]]),
    notAdmitted: { notAdmitted: 12, waitingForApproval: undefined, first: [ssh] },
  };

  it('is counted beside the mirrors, and named among them, and the Link works', () => {
    const status = linkStatus(findings, {}, T1);
    expect(status.mirrors).toEqual({ total: 1, ready: 1, failed: 0, notAdmitted: 12 });
    expect(status.mirrorServices?.map(({ remoteRef, conditions }) => [remoteRef.name, conditions[0]?.reason])).toEqual([
      ['ssh', 'NotAdmitted'],
      ['web', 'Mirrored'],
    ]);
    expect(status.conditions[0]).toMatchObject({
      type: 'Ready',
      status: 'True',
      message: '12 Services are not admitted by spec.importPolicy',
    });
  });

  it('is named once where it is kept (E6)', () => {
    const kept = mirrored({ namespace: 'shop', name: 'ssh' }, 'west', 'kept');
    const status = linkStatus({ ...findings, mirrors: new Map([['shop/ssh', kept]]) }, {}, T1);
    expect(status.mirrorServices?.map(({ conditions }) => conditions[0]?.reason)).toEqual(['Mirrored']);
  });

  it('is counted apart while it waits for approval, and no longer once none is required (N2)', () => {
    const notAdmitted = { notAdmitted: 0, waitingForApproval: 3, first: [] };
    const status = linkStatus({ ...findings, notAdmitted }, {}, T1);
    expect(status.mirrors).toEqual({ total: 1, ready: 1, failed: 0, notAdmitted: 0, waitingForApproval: 3 });
    expect(status.conditions[0]).toMatchObject({
      status: 'True',
      message: '3 Services wait until they are approved (linkspan approve)',
    });
    expect(linkStatus(findings, readStatus(status), T1).mirrors).toMatchObject({
      notAdmitted: 12,
      waitingForApproval: null,
    });
  });

  it('is counted no longer once the Link has no policy, and that is written once', () => {
    const without = { ...findings, notAdmitted: undefined };
    const before = readStatus({ mirrors: { total: 1, ready: 1, failed: 0, notAdmitted: 12 } });
    expect(linkStatus(without, before, T1).mirrors).toEqual({ total: 1, ready: 1, failed: 0, notAdmitted: null });
    expect(linkStatus(without, readStatus({}), T1).mirrors).toEqual({ total: 1, ready: 1, failed: 0 });
  });
});
