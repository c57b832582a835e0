import { describe, expect, it, test } from 'vitest';
import type { Service } from '../../../operator/kube/objects.ts';
import { type Decision, refusalOf, statusOf } from '../../../operator/mirror/decide.ts';
import { NOTHING } from '../../../operator/mirror/manifests.ts';
import type { Refusal } from '../../../operator/mirror/reasons.ts';
import { Rendered } from '../../../operator/mirror/rendered.ts';
import type { Shape } from '../../../operator/mirror/shape.ts';
import { decided } from './decided.ts';
import {
  headlessService,
  NOTHING_OWNED,
  observed,
  type ObservedOptions,
  ownedService,
  targetService,
  targetSlice,
} from './observed.ts';

const SHAPE: Shape = { kind: 'clusterIP', service: targetService(), endpoints: undefined };
const ABSENT: Shape = { kind: 'absent' };
const NO_PORTS: Refusal = { reason: 'InvalidService', message: 'no ports' };
const TAKEN: Refusal = { reason: 'NameConflict', message: 'taken' };
const ERROR = new Error('connection reset');

/** The status of the Service `web` after a pass. */
const statusAfter = (
  shape: Shape,
  {
    refusal,
    errors = [],
    notes = [],
  }: { refusal?: Refusal; errors?: readonly Error[]; notes?: readonly string[] } = {},
) => statusOf(observed(), shape, refusal, { errors, notes });

describe('the status of a target Service (G2)', () => {
  const ref = { remote: { namespace: 'shop', name: 'web' }, local: 'web-west' };
  const mirrored = { ...ref, mirrored: true, reason: 'Mirrored' };
  const failed = { ...ref, mirrored: false };

  it('is none once it is no longer exported, and its mirror gone (A2)', () => {
    expect(statusAfter(ABSENT)).toBeUndefined();
  });

  it('says of a mirror that is left why it cannot be deleted (A2)', () => {
    const message = 'it is no longer exported, but its mirror cannot be deleted: connection reset';
    expect(statusAfter(ABSENT, { errors: [ERROR] })).toEqual({ ...failed, reason: 'Error', message });
  });

  it('says that it is mirrored, and nothing else where there is nothing to say', () => {
    expect(statusAfter(SHAPE)).toEqual({ ...mirrored, message: '' });
    expect(statusAfter({ kind: 'flat', service: targetService() })).toEqual({ ...mirrored, message: '' });
  });

  it('notes of what is mirrored first what its mirror cannot have (A5), then who changes it', () => {
    const noted: Shape = { ...SHAPE, note: 'ports left out: dns/UDP' };
    expect(statusAfter(noted)?.message).toBe('ports left out: dns/UDP');
    expect(statusAfter(SHAPE, { notes: ['somebody adds a', 'somebody adds b'] })?.message).toBe(
      'somebody adds a; somebody adds b',
    );
    const message = 'ports left out: dns/UDP; somebody adds a';
    expect(statusAfter(noted, { notes: ['somebody adds a'] })).toEqual({ ...mirrored, message });
  });

  it('is why it is not mirrored, rather than what failed on the way', () => {
    expect(statusAfter(SHAPE, { refusal: TAKEN })).toEqual({ ...failed, ...TAKEN });
    expect(statusAfter(SHAPE, { refusal: TAKEN, errors: [ERROR] })).toEqual({ ...failed, ...TAKEN });
  });

  it('is the error of a write that failed', () => {
    const failure = { ...failed, reason: 'Error', message: 'connection reset' };
    expect(statusAfter(SHAPE, { errors: [ERROR, new Error('another')] })).toEqual(failure);
    expect(statusAfter({ kind: 'undecided' }, { errors: [ERROR] })).toEqual(failure);
  });

  test.each<[string, readonly Refusal[], readonly Refusal[], Refusal | undefined]>([
    ['none of what is mirrored', [], [], undefined],
    ['what was decided', [NO_PORTS], [TAKEN], NO_PORTS],
    ['what was found as it was written', [], [TAKEN], TAKEN],
  ])('has as its reason %s', (_, refusals, found, reason) => {
    const decision: Decision = { shape: SHAPE, manifests: { ...NOTHING, refusals } };
    expect(refusalOf(decision, { refusals: found })).toEqual(reason);
  });
});

describe('a Service that no construct takes', () => {
  const owned = { ...NOTHING_OWNED, services: [ownedService('web-west')] };
  const twice = [1, 2].map((port) => ({ name: 'http', port, protocol: 'TCP' }));
  test.each<[string, Service, RegExp]>([
    ['names a port twice', targetService({ ports: twice }), /http/],
    ['has ports that are no list', targetService({ ports: 'http' as unknown as [] }), /./],
  ])('is reported with what is wrong, and keeps its mirror: one that %s (E8)', (_, service, what) => {
    const { shape, manifests } = decided({ service, owned });
    expect(shape).toMatchObject({ kind: 'refused', existing: 'keep' });
    const message = expect.stringMatching(what) as string;
    expect(manifests.refusals).toEqual([{ reason: 'InvalidService', message }]);
    expect(manifests).toMatchObject({ services: [], endpoints: [], isPartial: false });
  });
});

describe('the bytes that the Link has left (E10)', () => {
  /** How many bytes of the Link are counted for a Service in one decision; none if its count stays as it is. */
  function counted(options: ObservedOptions, pods?: Rendered): readonly number[] {
    const bytes: number[] = [];
    const { manifests } = decided({ ...options, admitsBytes: (of) => bytes.push(of) > 0 }, undefined, pods);
    expect(manifests.refusals.map(({ reason }) => reason)).not.toContain('LimitExceeded');
    return bytes;
  }
  const pods = {
    service: headlessService(),
    slices: [targetSlice(Array.from({ length: 50 }, (_, at) => ({ hostname: `web-${at}` })))],
  };

  test.each<[string, ObservedOptions]>([
    ['is mirrored', {}],
    ['is flat', { mode: 'remote-discovery' }],
    ['is mirrored pod by pod', pods],
  ])('are taken by a Service that %s', (_, options) => {
    const [bytes = 0, ...others] = counted(options);
    expect(bytes).toBeGreaterThan(100);
    expect(others).toEqual([]);
  });

  test.each<[string, ObservedOptions]>([
    ['is no longer exported', { service: null }],
    ['cannot be mirrored any more', { service: targetService({ type: 'ExternalName' }) }],
  ])('are given back by one that %s', (_, options) => {
    expect(counted(options)).toEqual([0]);
  });

  const headless = { ...NOTHING_OWNED, services: [ownedService('web-west', 'None')] };
  const unreadable = { namespaceState: 'unreadable' } as const;
  test.each<[string, ObservedOptions]>([
    ['nothing can be decided about (E4)', { decidable: false }],
    ['is kept where its namespace cannot be read (A3)', unreadable],
    ['has endpoints that are not known yet', { slices: undefined }],
    ['has pods that are not known yet', { ...pods, slices: undefined, owned: headless }],
  ])('are neither taken nor given back by one that %s', (_, options) => {
    expect(counted(options)).toEqual([]);
  });

  it('are neither taken nor given back while only a part is rendered', () => {
    expect(counted(pods, new Rendered({ isTurnOver: () => true }))).toEqual([]);
  });

  it('say nothing about what is kept for another reason', () => {
    const refused = (options: ObservedOptions) =>
      decided({ ...options, admitsBytes: () => false }).manifests.refusals.map(({ reason }) => reason);
    expect(refused({})).toEqual(['LimitExceeded']);
    expect(refused({ namespaceState: 'missing' })).toEqual(['MissingNamespace']);
    expect(refused({ decidable: false })).toEqual([]);
    expect(refused({ slices: undefined })).toEqual([]);
  });
});
