import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { verdict } from '../../../operator/kube/conditions.ts';
import { ApiError, ConnectionError, LimitError } from '../../../operator/kube/errors.ts';
import { Reachability } from '../../../operator/served/reachability.ts';
import { RecordedReport, recordingLog } from '../link/recorded.ts';

beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00Z') }));
afterEach(() => void vi.useRealTimers());

const REFUSED = new ConnectionError('connect ECONNREFUSED');
const FORBIDDEN = new ApiError(403, { reason: 'Forbidden', message: 'services is forbidden' }, 'list services');
const UNAUTHORIZED = new ApiError(401, { reason: 'Unauthorized' }, 'list services');

const VALID = verdict('True', 'Valid', 'the kubeconfig is in use');

function setUp() {
  const report = new RecordedReport();
  const lines: string[] = [];
  const reachability = new Reachability('west', recordingLog(lines), report);
  return {
    reachability,
    report,
    lines,
    obstacle: (error: unknown, namespaces: readonly string[] = [], of?: readonly string[], inUse = true) =>
      reachability.found({ error, namespaces }, of, inUse ? VALID : undefined),
  };
}

describe('a target (E4)', () => {
  it('is neither reachable nor not before anything is known', () => {
    const { reachability, report } = setUp();
    const { reachable, withinLimits, credentials } = reachability;
    expect([reachable, withinLimits, credentials]).toEqual([undefined, undefined, undefined]);
    expect(report.statusChanges).toBe(0);
  });

  it('that can be read is reachable, and its credentials are valid', () => {
    const { reachability, report, lines } = setUp();
    reachability.found(undefined, undefined, VALID);
    expect(reachability.reachable).toMatchObject({ status: 'True', reason: 'Connected' });
    expect(reachability.credentials).toMatchObject({ status: 'True', reason: 'Valid' });
    expect([report.statusChanges, report.events]).toEqual([1, []]);
    expect(lines).toEqual(['info the target can be read']);
  });

  it('that cannot be read is reported with the cause and since when, as an Event too', () => {
    const { reachability, report, lines, obstacle } = setUp();
    obstacle(REFUSED);
    expect(reachability.reachable).toMatchObject({ status: 'False' });
    expect(reachability.reachable?.message).toContain('connect ECONNREFUSED');
    expect(reachability.reachable?.message).toContain('(since 2026-01-01T00:00:00.000Z)');
    expect(reachability.credentials).toBeUndefined();
    expect(report.events).toHaveLength(1);
    expect(report.events[0]).toMatch(/^Warning .*connect ECONNREFUSED/);
    expect(lines[0]).toMatch(/^warn the target cannot be read/);
  });

  it('says since when it has been unreachable, whatever the obstacles are meanwhile, until it is reachable', () => {
    const { reachability, obstacle } = setUp();
    obstacle(REFUSED);
    vi.advanceTimersByTime(60_000);
    obstacle(UNAUTHORIZED);
    expect(reachability.reachable?.message).toContain('since 2026-01-01T00:00:00.000Z');
    reachability.found(undefined, undefined, VALID);
    obstacle(REFUSED);
    expect(reachability.reachable?.message).toContain('since 2026-01-01T00:01:00.000Z');
  });
});

describe('a target that sends more than is read (E10)', () => {
  const BEYOND = new LimitError('list services: there are more than 50000 objects');

  it('is reachable, but not within limits, and its credentials are valid', () => {
    const { reachability, report, lines, obstacle } = setUp();
    obstacle(BEYOND);
    expect(reachability.withinLimits).toEqual({
      status: 'False',
      reason: 'LimitExceeded',
      message: 'list services: there are more than 50000 objects; existing mirrors stay as they are',
    });
    expect(reachability.reachable).toMatchObject({ status: 'True' });
    expect(reachability.credentials).toMatchObject({ status: 'True' });
    expect(report.events).toEqual(['Warning LimitExceeded list services: there are more than 50000 objects']);
    expect(lines).toEqual(['warn the target sends more than is read; existing mirrors stay as they are']);
  });

  it('stays so while it cannot be reached, until it can be read', () => {
    const { reachability, obstacle } = setUp();
    obstacle(BEYOND);
    obstacle(REFUSED);
    expect(reachability.withinLimits).toMatchObject({ status: 'False' });
    expect(reachability.reachable).toMatchObject({ status: 'False' });
    reachability.found(undefined, undefined, VALID);
    expect(reachability.withinLimits).toMatchObject({ status: 'True', reason: 'WithinLimits' });
    expect(reachability.reachable).toMatchObject({ status: 'True' });
  });
});

describe('the credentials (E2)', () => {
  test.each<[string, unknown, readonly string[], readonly string[] | undefined, string | undefined]>([
    ['that the target does not know are not valid', UNAUTHORIZED, [], undefined, 'Unauthorized'],
    ['that allow nothing are not valid', FORBIDDEN, [], undefined, 'Forbidden'],
    ['that allow none of several namespaces are not valid', FORBIDDEN, ['a', 'b'], ['a', 'b'], 'Forbidden'],
    ['that allow one of several namespaces are valid', FORBIDDEN, ['b'], ['a', 'b'], 'Valid'],
    ['of a target that does not answer are not judged', REFUSED, [], undefined, undefined],
    ['of a target that fails are not judged', new ApiError(500, {}, 'list'), [], undefined, undefined],
  ])('%s', (_, error, namespaces, of, reason) => {
    const { reachability, obstacle } = setUp();
    obstacle(error, namespaces, of);
    expect(reachability.credentials?.reason).toBe(reason);
  });

  it('of a new Secret that is being tried are not called valid for what the old ones can read', () => {
    const { reachability, obstacle } = setUp();
    reachability.setCredentials(verdict('False', 'KubeconfigInvalid', 'no CA'));
    reachability.found(undefined, undefined, undefined);
    expect(reachability.credentials?.reason).toBe('KubeconfigInvalid');
    obstacle(FORBIDDEN, ['b'], ['a', 'b'], false);
    expect(reachability.credentials?.reason).toBe('KubeconfigInvalid');
    obstacle(UNAUTHORIZED, [], undefined, false);
    expect(reachability.credentials?.reason).toBe('KubeconfigInvalid');
  });

  it.each<[string, unknown]>([
    ['does not know', UNAUTHORIZED],
    ['allows nothing', FORBIDDEN],
  ])('that the target %s are not valid until it answers, whatever becomes of the Secret (L149)', (_, error) => {
    const { reachability, obstacle } = setUp();
    obstacle(error);
    const { reason } = reachability.credentials ?? {};
    reachability.setCredentials(verdict('True', 'Valid', 'in use, and is not renewed: Unauthorized (401)'));
    expect(reachability.credentials).toMatchObject({ status: 'False', reason });
    obstacle(REFUSED);
    expect(reachability.credentials).toMatchObject({ status: 'False', reason });
    reachability.found(undefined, undefined, VALID);
    expect(reachability.credentials).toEqual(VALID);
  });

  it('that are bad are reported once, and again when the reason is another', () => {
    const { reachability, report, lines } = setUp();
    for (const message of ['no CA', 'no CA', 'no token']) {
      reachability.setCredentials(verdict('False', 'KubeconfigInvalid', message));
    }
    expect(report.events).toEqual(['Warning KubeconfigInvalid no CA', 'Warning KubeconfigInvalid no token']);
    expect(lines).toHaveLength(2);
    expect(report.statusChanges).toBe(3);
    for (let times = 0; times < 2; times += 1) reachability.setCredentials(verdict('True', 'Valid', ''));
    expect(lines.slice(2)).toEqual(['info the credentials are valid again']);
  });

  it('that are good are no news for an Event', () => {
    const { reachability, report } = setUp();
    reachability.setCredentials(verdict('True', 'Valid', ''));
    expect([report.events, report.statusChanges]).toEqual([[], 1]);
  });
});
