import { describe, expect, it } from 'vitest';
import {
  HeadlessMirror,
  type HeadlessMirrorEndpoints,
  type HeadlessMirrorSubset,
  render,
} from '../../../constructs/rendered/index.ts';
import { groupOf } from '../../../operator/mirror/by-hostname.ts';
import { type ListedPods, RenderedHeadless, type SharedProps } from '../../../operator/mirror/rendered-headless.ts';
import type { Manifests } from '../../../operator/mirror/manifests.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';

const SHARED: SharedProps = {
  service: 'web',
  namespace: 'shop',
  targetCluster: 'west',
  targetClusterDomain: 'cluster.local',
  ports: [{ name: 'http', port: 80 }],
};
const PODS = 450;

const addresses = (pods: number, from = 0) =>
  Array.from({ length: pods }, (_, index) => ({
    hostname: `web-${from + index}`,
    ip: `10.96.${(from + index) >> 8}.${(from + index) & 255}`,
  }));

const endpointsOf = (pods: number, kind: 'slices' | 'endpoints' = 'slices'): HeadlessMirrorEndpoints => ({
  identity: 'gw.id',
  kind,
  subsets: [
    {
      addresses: [...addresses(pods), { hostname: 'six', ip: 'fd00::6' }],
      ports: [{ name: 'http', port: 8080 }],
    },
    { addresses: addresses(3, 1000), ports: [{ name: 'http', port: 9090 }] },
  ],
});

const whole = (endpoints: HeadlessMirrorEndpoints | undefined) =>
  render((chart) => new HeadlessMirror(chart, 'whole', { ...SHARED, endpoints }));

/** The pods of a mirror by their groups, as the operator keeps them. */
function listedOf(subsets: readonly HeadlessMirrorSubset[]): ListedPods {
  const groups = new Map<number, HeadlessMirrorSubset[]>();
  for (const { ports, addresses: all } of subsets) {
    for (const [at, own] of Map.groupBy(all, ({ hostname }) => groupOf(hostname)))
      groups.set(at, [...(groups.get(at) ?? []), { ports, addresses: own }]);
  }
  return groups;
}

const objectsOf = (desired: Manifests | undefined): readonly KubeObject[] =>
  [...(desired?.services ?? []), ...(desired?.endpoints ?? [])].map(({ object }) => object);

/** Renders in parts. */
function inParts(rendered: RenderedHeadless, given: HeadlessMirrorEndpoints | undefined): readonly KubeObject[] {
  if (given === undefined) return objectsOf(rendered.desired(SHARED, undefined));
  const { subsets, ...endpoints } = given;
  return objectsOf(rendered.desired(SHARED, endpoints, listedOf(subsets)));
}

/** Objects in the order of their names. */
const byName = <T extends { readonly metadata: { readonly name: string } }>(objects: readonly T[]): readonly T[] =>
  [...objects].sort(({ metadata: a }, { metadata: b }) => (a.name < b.name ? -1 : 1));

describe('a headless mirror that is rendered in parts (E10)', () => {
  it.each([0, 1, 100, 101, PODS])('is what its construct renders at once, with %i pods', (pods) => {
    for (const endpoints of [endpointsOf(pods), endpointsOf(pods, 'endpoints'), undefined]) {
      expect(inParts(new RenderedHeadless(() => false), endpoints)).toEqual(whole(endpoints));
    }
  });

  it('is that whatever it was before: pods that come and go, and change their ports or addresses', () => {
    const rendered = new RenderedHeadless(() => false);
    const on = (port: number) => [{ name: 'http', port }];
    for (let step = 0; step < 60; step += 1) {
      // Sizes about those at which slices are divided and joined.
      const subsets = [8080, 9090].map((port, at) => ({
        ports: on(port),
        addresses: addresses([0, 40, 99, 101, 150, 203, PODS][(step * (at + 2) + (step >> 2)) % 7]!, at * 600)
          .map((each, index) => ((index * 7 + step) % 31 === 0 ? { ...each, ip: `10.97.${at}.${index % 250}` } : each))
          .filter((_, index) => (index * 13 + step) % 17 > 0),
      }));
      const endpoints = { identity: step % 20 < 18 ? 'gw.id' : 'other.id', kind: 'slices' as const, subsets };
      expect(byName(inParts(rendered, endpoints))).toEqual(byName(whole(endpoints)));
    }
  });

  it('is the same while nothing of it changes', () => {
    const rendered = new RenderedHeadless(() => false);
    const before = inParts(rendered, endpointsOf(PODS));
    const after = inParts(rendered, endpointsOf(PODS));
    expect(after).toHaveLength(before.length);
    expect(after.every((each, at) => each === before[at])).toBe(true);
  });

  it('is the same object, in Endpoints too, while no group of pods changes, and anew when one does', () => {
    const rendered = new RenderedHeadless(() => false);
    const { subsets, ...endpoints } = endpointsOf(3, 'endpoints');
    const listed = listedOf(subsets);
    const before = rendered.desired(SHARED, endpoints, listed);
    expect(rendered.desired(SHARED, endpoints, listed)).toBe(before);
    expect(rendered.desired(SHARED, endpoints, new Map(listed))).toBe(before);
    const [[at, group]] = [...listed] as [[number, readonly HeadlessMirrorSubset[]]];
    const moved = group.map((each) => ({
      ...each,
      addresses: each.addresses.map((one) => ({ ...one, ip: '10.97.0.1' })),
    }));
    for (const changed of [new Map([...listed, [at, moved]]), new Map([...listed].slice(1)), listed]) {
      const anew = new RenderedHeadless(() => false).desired(SHARED, endpoints, changed);
      expect(objectsOf(rendered.desired(SHARED, endpoints, changed))).toEqual(objectsOf(anew));
    }
  });

  it('leads the same pods to other ports once they listen on these (D6)', () => {
    const rendered = new RenderedHeadless(() => false);
    for (const port of [8080, 9090, 8080]) {
      const subsets = [{ addresses: addresses(3), ports: [{ name: 'http', port }] }];
      const given = { identity: 'gw.id', kind: 'slices' as const, subsets };
      const objects = inParts(rendered, given);
      expect(objects).toEqual(whole(given));
      expect(objects[1]).toMatchObject({ ports: [{ name: 'http', port }] });
    }
  });

  it('has one slice rendered anew as a pod goes, or as its address changes', () => {
    const rendered = new RenderedHeadless(() => false);
    const { subsets, ...endpoints } = endpointsOf(PODS);
    const [first, ...others] = subsets;
    for (const changed of [
      first!.addresses.slice(1),
      addresses(PODS).with(7, { hostname: 'web-7', ip: '10.97.0.7' }),
    ]) {
      const before = inParts(rendered, endpointsOf(PODS));
      const given = { ...endpoints, subsets: [{ ...first!, addresses: changed }, ...others] };
      const objects = inParts(rendered, given);
      expect(objects).toEqual(whole(given));
      expect(objects.filter((each) => !before.includes(each)).length).toBeLessThanOrEqual(2);
    }
  });

  it('is rendered anew as a whole when what all its objects have in common changes', () => {
    const rendered = new RenderedHeadless(() => false);
    const { subsets, ...endpoints } = endpointsOf(PODS);
    const before = objectsOf(rendered.desired(SHARED, endpoints, listedOf(subsets)));
    const shared = { ...SHARED, labels: { team: 'shop' } };
    const objects = objectsOf(rendered.desired(shared, endpoints, listedOf(subsets)));
    expect(objects.some((each) => before.includes(each))).toBe(false);
    expect(objects.every(({ metadata }) => metadata.labels?.['team'] === 'shop')).toBe(true);
  });

  it('is rendered in turns, a slice at least in each, whatever changes between them', () => {
    const rendered = new RenderedHeadless(() => true);
    const turns: number[] = [];
    for (const pods of [PODS, PODS - 150, PODS]) {
      const { subsets, ...endpoints } = endpointsOf(pods);
      let desired: Manifests | undefined;
      for (let turn = 1; desired === undefined; turn += 1) {
        // After one turn, there is one pod less.
        const now = turn === 1 ? subsets.map((each) => ({ ...each, addresses: each.addresses.slice(1) })) : subsets;
        desired = rendered.desired(SHARED, endpoints, listedOf(now));
        if (desired !== undefined) turns.push(turn);
        expect(turn).toBeLessThan(50);
      }
      expect(byName(objectsOf(desired))).toEqual(byName(whole(endpointsOf(pods))));
    }
    expect(Math.min(...turns)).toBeGreaterThan(1);
  });
});
