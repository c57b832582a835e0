/** The pods of a headless Service that its mirror has: within limits, and beyond their own end. */
import { describe, expect, it, test } from 'vitest';
import { claimsOf, hostsOf, shapeOf } from '../../../operator/mirror/shape.ts';
import { subsetsOf } from '../../../operator/mirror/target-endpoints.ts';
import { endpointMirrorOf, headlessService, NOTHING_OWNED, observed, ownedService, targetSlice } from './observed.ts';

const pods = [targetSlice([{ hostname: 'web-0' }, { hostname: 'web-1', ready: false }])];

describe('a headless Service of more pods than v1 Endpoints can show (D10)', () => {
  const many = (count: number) => [
    targetSlice(Array.from({ length: count }, (_, index) => ({ hostname: `web-${index}` }))),
  ];
  test.each([
    ['1000 in Endpoints', 1000, 'endpoints', undefined],
    ['1001 in Endpoints', 1001, 'endpoints', expect.stringMatching(/^1001 pods are ready.*--endpoints=slices$/)],
    ['5000 in slices', 5000, 'slices', undefined],
  ] as const)('is reported: %s', (_, count, endpointsKind, note) => {
    const state = observed({ service: headlessService(), slices: many(count), link: { endpointsKind } });
    expect(shapeOf(state)).toMatchObject({ kind: 'headless' });
    expect((shapeOf(state) as { readonly note?: string }).note).toEqual(note);
  });
});

it('is not reported of a headless Service of whose many pods few enough are ready (D10)', () => {
  for (const ready of [1000, 1]) {
    const all = Array.from({ length: 1200 }, (_, at) => ({ hostname: `web-${at}`, ready: at < ready }));
    const shape = shapeOf(observed({ service: headlessService(), slices: [targetSlice(all)] }));
    expect([shape.kind, 'note' in shape]).toEqual(['headless', false]);
  }
});

it('a Service with a ClusterIP is mirrored by no pod, whatever hostnames its endpoints have (D1)', () => {
  const many = Array.from({ length: 1001 }, (_, at) => ({ hostname: `web-${at}` }));
  const state = observed({ slices: [targetSlice(many)], link: { maxServicePods: 5 } });
  const shape = shapeOf(state);
  expect([shape.kind, 'note' in shape]).toEqual(['clusterIP', false]);
  expect([hostsOf(shape).size, claimsOf(state, shape).pods.size]).toEqual([0, 0]);
});

describe('what the limits of a Link do not allow (E10)', () => {
  it('is refused, and what is mirrored stays', () => {
    expect(shapeOf(observed({ isAdmitted: false }))).toMatchObject({
      kind: 'refused',
      refusal: { reason: 'LimitExceeded' },
      existing: 'keep',
    });
    expect(shapeOf(observed({ isAdmitted: false, service: null })).kind).toBe('absent');
    expect(shapeOf(observed({ namespaceState: 'over limit' }))).toMatchObject({
      kind: 'refused',
      refusal: { reason: 'LimitExceeded' },
      existing: 'keep',
    });
  });

  it('has no endpoint mirror, and the headless mirror stays headless', () => {
    const state = observed({ service: headlessService(), slices: pods, admitsPod: (hostname) => hostname === 'web-1' });
    const shape = shapeOf(state);
    expect([...hostsOf(shape).keys()]).toEqual(['web-1']);
    expect(shape.kind).toBe('headless');
    expect('note' in shape && shape.note).toMatch(/^1 of its pods are without an endpoint mirror/);
    const none = shapeOf({ ...state, admitsPod: () => false });
    expect([none.kind, hostsOf(none).size]).toEqual(['headless', 0]);
    const owned = { ...NOTHING_OWNED, services: [endpointMirrorOf('web-0', 8080)] };
    const mirrored = shapeOf({ ...state, owned, admitsPod: () => false });
    expect([...hostsOf(mirrored).keys()]).toEqual(['web-0']);
  });
});

describe('pods that are gone and keep their endpoint mirrors (D11, E6)', () => {
  const services = [ownedService('web-west', 'None'), endpointMirrorOf('web-0', 8080), endpointMirrorOf('web-7', 9090)];
  const state = (departed: readonly string[], slices = pods) =>
    observed({
      service: headlessService(),
      slices,
      owned: { ...NOTHING_OWNED, services },
      departed: new Map(departed.map((hostname) => [hostname, 1000])),
    });

  it('are like pods that are not ready, on the ports that their mirrors have', () => {
    const shape = shapeOf(state(['web-7']));
    expect(hostsOf(shape).get('web-7')).toMatchObject({
      listed: false,
      ports: [{ name: 'http', port: 9090 }],
    });
    expect([...claimsOf(state(['web-7']), shape).pods.keys()]).toContain('web-7');
    expect(subsetsOf(hostsOf(shape).values())).toMatchObject([{ hostnames: ['web-0'] }]);
  });

  it('are gone once they do not keep them', () => {
    expect([...hostsOf(shapeOf(state([]))).keys()]).toEqual(['web-0', 'web-1']);
  });

  it('stay what they are where the target lists them', () => {
    expect(hostsOf(shapeOf(state(['web-0']))).get('web-0')).toMatchObject({ hostname: 'web-0', listed: true });
  });

  it('keep the mirror headless while all are gone, and while only pods without a hostname are there', () => {
    for (const slices of [[], [targetSlice([{}])]]) {
      const shape = shapeOf(state(['web-0', 'web-7'], slices));
      expect([shape.kind, hostsOf(shape).size]).toEqual(['headless', 2]);
    }
  });

  it('keep them also where the mirror of their Service has been deleted', () => {
    const alone = { ...state(['web-0', 'web-7'], []), owned: { ...NOTHING_OWNED, services: services.slice(1) } };
    const shape = shapeOf(alone);
    expect([shape.kind, hostsOf(shape).size]).toEqual(['headless', 2]);
    expect(shapeOf({ ...alone, departed: new Map() })).toMatchObject({ kind: 'refused', existing: 'remove' });
  });

  it('are none that no endpoint mirror stands for', () => {
    expect([...hostsOf(shapeOf(state(['web-5']))).keys()]).toEqual(['web-0', 'web-1']);
  });
});
