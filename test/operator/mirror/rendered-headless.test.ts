import { describe, expect, it } from 'vitest';
import { HeadlessMirror, type HeadlessMirrorEndpoints, render } from '../../../constructs/rendered/index.ts';
import { RenderedHeadless, type SharedProps } from '../../../operator/mirror/rendered-headless.ts';

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
    { addresses: addresses(pods), ports: [{ name: 'http', port: 8080 }] },
    { addresses: addresses(3, 1000), ports: [{ name: 'http', port: 9090 }] },
    { addresses: [{ hostname: 'six', ip: 'fd00::6' }], ports: [{ name: 'http', port: 8080 }] },
  ],
});

const whole = (endpoints: HeadlessMirrorEndpoints | undefined) =>
  render((chart) => new HeadlessMirror(chart, 'whole', { ...SHARED, endpoints }));

describe('a headless mirror that is rendered in parts (E10)', () => {
  it.each([0, 1, 100, 101, PODS])('is what its construct renders at once, with %i pods', (pods) => {
    for (const endpoints of [endpointsOf(pods), endpointsOf(pods, 'endpoints'), undefined]) {
      expect(new RenderedHeadless().objects(SHARED, endpoints)).toEqual(whole(endpoints));
    }
  });

  it('is the same while nothing of it changes', () => {
    const rendered = new RenderedHeadless();
    expect(rendered.objects(SHARED, endpointsOf(PODS))).toBe(rendered.objects(SHARED, endpointsOf(PODS)));
  });

  it('has one slice rendered anew as a pod goes, or as its address changes', () => {
    const rendered = new RenderedHeadless();
    const { subsets, ...endpoints } = endpointsOf(PODS);
    const [first, ...others] = subsets;
    for (const changed of [
      first!.addresses.slice(1),
      addresses(PODS).with(7, { hostname: 'web-7', ip: '10.97.0.7' }),
    ]) {
      const before = rendered.objects(SHARED, endpointsOf(PODS));
      const given = { ...endpoints, subsets: [{ ...first!, addresses: changed }, ...others] };
      const objects = rendered.objects(SHARED, given);
      expect(objects).toEqual(whole(given));
      expect(objects.filter((each) => !before.includes(each)).length).toBeLessThanOrEqual(2);
    }
  });

  it('is rendered anew as a whole when what all its objects have in common changes', () => {
    const rendered = new RenderedHeadless();
    const before = rendered.objects(SHARED, endpointsOf(PODS));
    const shared = { ...SHARED, labels: { team: 'shop' } };
    const objects = rendered.objects(shared, endpointsOf(PODS));
    expect(objects.some((each) => before.includes(each))).toBe(false);
    expect(objects.every(({ metadata }) => metadata.labels?.['team'] === 'shop')).toBe(true);
  });
});
