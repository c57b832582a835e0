/** Claims on names that change: what is claimed by then, and who hears of it (A7). */
import { describe, expect, it } from 'vitest';
import { ByHostname, groupOf } from '../../../operator/mirror/by-hostname.ts';
import { type Claim, type ClaimOwner, endpointMirrorNames, NameClaims } from '../../../operator/mirror/names.ts';

const SINCE = '2026-01-01T00:00:00Z';
const WEB: ClaimOwner = { cluster: 'west', key: 'shop/web' };
const own: Claim = { owner: WEB, names: ['web-west'], since: SINCE };

const podClaim = (hostname: string, since = SINCE): Claim => ({
  owner: WEB,
  hostname,
  names: endpointMirrorNames(hostname, 'web', 'west'),
  since,
});

/** A younger Service that wants the name of the endpoint mirror of a pod. */
const rival = (hostname: string): Claim => ({
  owner: { cluster: 'west', key: `shop/${hostname}` },
  names: [`${hostname}-west`],
  since: '2026-01-02T00:00:00Z',
});

/** Three hostnames that are looked at together, and one that is not among them. */
const hostnames = Array.from({ length: 2_000 }, (_, at) => `web-${at}`);
const [a, b, c] = hostnames.filter((each) => groupOf(each) === groupOf('web-0')) as [string, string, string];
const other = hostnames.find((each) => groupOf(each) !== groupOf('web-0'))!;

const claimsOf = (...claims: readonly Claim[]) =>
  ByHostname.of(claims.map((each) => [each.hostname ?? '', each] as const));

/** Claims of a Link that is served, and who hears of a change. */
function served() {
  const all = new NameClaims();
  const notified: string[] = [];
  all.join('west', { createdAt: SINCE, name: 'west' }, (key) => notified.push(key));
  return { all, notified };
}

describe('the pods of a Service', () => {
  /** Three pods that are looked at together, each with a rival, and one that is not. */
  const standing = () => {
    const { all, notified } = served();
    const claims = [a, b, c, other].map((each) => podClaim(each));
    all.replace(WEB, 'shop', [own], claimsOf(...claims));
    for (const each of [a, b, c, other]) all.replace(rival(each).owner, 'shop', [rival(each)]);
    notified.length = 0;
    const change = (...next: readonly Claim[]): readonly string[] => {
      all.replace(WEB, 'shop', [own], claimsOf(...next));
      return notified.splice(0).sort();
    };
    const winnerOf = (hostname: string) => {
      const found = all.resolve('shop', rival(hostname));
      return found !== undefined && 'name' in found ? 'the Service' : 'the pod';
    };
    return { claims, change, winnerOf };
  };

  it('give up the names of those that go, and only who wants these hears of it', () => {
    const { claims, change, winnerOf } = standing();
    expect(change(...claims.filter(({ hostname }) => hostname !== b))).toEqual([`shop/${b}`]);
    expect([a, b, c, other].map(winnerOf)).toEqual(['the pod', 'the Service', 'the pod', 'the pod']);
  });

  it('claim the names of those that come, and only who wants these hears of it', () => {
    const { claims, change, winnerOf } = standing();
    const [first, ...rest] = claims;
    change(...rest);
    expect(winnerOf(a)).toBe('the Service');
    expect(change(first!, ...rest)).toEqual([`shop/${a}`]);
    expect(winnerOf(a)).toBe('the pod');
  });

  it('disturb nobody while they claim what they claimed, though they are read anew', () => {
    const { claims, change, winnerOf } = standing();
    expect(change(...claims.map((each) => ({ ...each })))).toEqual([]);
    expect([a, b, c, other].map(winnerOf)).toEqual(Array(4).fill('the pod'));
  });

  it('win and lose by the age that their Service has now', () => {
    const { claims, change, winnerOf } = standing();
    const younger = '2026-01-03T00:00:00Z';
    expect(change(...claims.map((each) => (each.hostname === a ? podClaim(a, younger) : each)))).toEqual([`shop/${a}`]);
    expect([a, b].map(winnerOf)).toEqual(['the Service', 'the pod']);
  });
});

describe('a Service', () => {
  it('claims the names that it has now, and no former one', () => {
    const { all, notified } = served();
    const former = rival('web-0');
    all.replace(WEB, 'shop', [{ ...own, names: ['web-0-west'] }]);
    all.replace(former.owner, 'shop', [former]);
    expect(all.resolve('shop', former)).toMatchObject({ lostTo: { owner: WEB } });
    notified.length = 0;
    all.replace(WEB, 'shop', [own]);
    expect(notified).toEqual([former.owner.key]);
    expect(all.resolve('shop', former)).toEqual({ name: 'web-0-west' });
  });

  it('claims something until its claims are withdrawn, or its Link is not served any more', () => {
    const { all } = served();
    const gone = { cluster: 'gone', key: WEB.key };
    const claiming = () => [all.has(WEB), [...all.keysOf('west')]];
    expect(claiming()).toEqual([false, []]);
    all.replace(WEB, 'shop', [own], claimsOf(podClaim(a)));
    expect(claiming()).toEqual([true, [WEB.key]]);
    expect([all.has({ cluster: 'west', key: 'shop/db' }), all.has(gone)]).toEqual([false, false]);
    all.withdraw(WEB);
    expect(claiming()).toEqual([false, []]);
    all.replace(WEB, 'shop', [], claimsOf(podClaim(a)));
    expect(claiming()).toEqual([true, [WEB.key]]);
    all.leave('west');
    expect(claiming()).toEqual([false, []]);
    all.withdraw(gone);
    expect([...all.keysOf('gone')]).toEqual([]);
  });
});

it('a shortened name has one dash before its hash, however many were cut off there', () => {
  const hashed = endpointMirrorNames(`${'x'.repeat(49)}---0`, 'web', 'a-long-cluster').at(-1);
  expect(hashed).toMatch(/^x{49}-[0-9a-f]{10}$/);
});
