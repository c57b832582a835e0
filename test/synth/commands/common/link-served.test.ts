import { describe, expect, it } from 'vitest';
import { unservedJoint, unservedLink } from '../../../../synth/commands/common/link-served.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const lease = (holderIdentity: string, renewTime = '2026-01-01T00:59:50.000000Z') => ({
  found: { metadata: { name: 'x' }, spec: { holderIdentity, renewTime, leaseDurationSeconds: 30 } },
});
const link = (reason: string, status: string, accepted = 'True') => ({
  metadata: { name: 'west' },
  status: {
    conditions: [
      { type: 'Ready', status, reason },
      { type: 'Accepted', status: accepted, reason: 'x' },
    ],
  },
});

describe('what a Link reports (L217)', () => {
  const ours = { link: lease('linkspan-0'), operators: lease('linkspan-0') };
  const theirs = { link: lease('controller-west-0'), operators: lease('linkspan-0') };

  it.each([
    ['the operator that leads writes its mirrors', link('Ready', 'True'), ours],
    ['it says that another does', link('HeldByAnother', 'False'), theirs],
    ['it is not accepted', link('Suspended', 'False', 'False'), theirs],
    ['who leads may not be read', link('Ready', 'True'), { ...theirs, operators: { obstacle: 'forbidden' } }],
    ['its operator elects no leader', link('Ready', 'True'), { ...ours, operators: { found: undefined } }],
  ])('is believed where %s', (_, object, leases) => {
    expect(unservedLink(object, leases, NOW)).toBeUndefined();
  });

  it.each([
    ['another writes its mirrors', link('Ready', 'True'), theirs],
    ['another does, and it was not ready', link('ProbeFailed', 'False'), theirs],
    ['the operator has given up its Lease', link('Ready', 'True'), { ...theirs, operators: lease('') }],
  ])('may be old where %s', (_, object, leases) => {
    expect(unservedLink(object, leases, NOW)).toEqual({
      reason: 'NotServed',
      message:
        'its Lease is held by controller-west-0, which is not the operator that reports: what is reported may be old',
    });
  });

  it('may be old where nobody renews its Lease, whoever leads', () => {
    const dead = { ...ours, link: lease('linkspan-0', '2026-01-01T00:50:00.000000Z') };
    expect(unservedLink(link('Ready', 'True'), dead, NOW)).toMatchObject({ reason: 'NotServed' });
  });
});

describe('what an operator reports of no one Link (L271)', () => {
  const operators = { found: undefined };
  const served = { link: link('Ready', 'True'), lease: lease('linkspan-0') };
  const suspended = { link: link('Suspended', 'False', 'False'), lease: lease('controller-west-0') };

  it.each([
    ['the operator leads', lease('linkspan-0'), []],
    ['an operator that elects no leader serves a Link', operators, [suspended, served]],
  ])('is believed where %s', (_, leader, links) => {
    expect(unservedJoint(leader, links, NOW)).toBeUndefined();
  });

  it.each([
    ['there is no Link', operators, []],
    ['the one Link is suspended', operators, [suspended]],
    ['another writes for the one Link', operators, [{ ...served, link: link('HeldByAnother', 'False') }]],
    ['nobody holds the Lease of the one Link', operators, [{ ...served, lease: lease('') }]],
    ['nobody renews it', operators, [{ ...served, lease: lease('linkspan-0', '2026-01-01T00:50:00.000000Z') }]],
    ['the operator has given up its Lease', lease(''), [served]],
  ])('may be old where %s', (_, leader, links) => {
    expect(unservedJoint(leader, links, NOW)).toMatchObject({ reason: 'NotServed' });
  });

  it('is not known to be old or not where Leases may not be read', () => {
    expect(unservedJoint({ obstacle: 'forbidden' }, [served], NOW)).toMatchObject({ reason: 'NotKnown' });
  });
});
