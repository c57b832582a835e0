import { describe, expect, it } from 'vitest';
import type { ApiJson } from '../../../constructs/rendered/index.ts';
import type { EndpointSlice, Service } from '../../../operator/kube/objects.ts';
import { desiredOf, merged, NOTHING, toDesired, writable } from '../../../operator/mirror/manifests.ts';

const metadata = (name: string) => ({ namespace: 'shop', name });
const service: ApiJson = { apiVersion: 'v1', kind: 'Service', metadata: metadata('web-west'), spec: {} };
const slice: ApiJson = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: metadata('web-west-ipv4'),
};
const live = { metadata: { ...metadata('web-west-ipv4'), uid: 'u1' }, addressType: 'IPv4' } as EndpointSlice;
const stray = { metadata: { ...metadata('web-west-ipv6'), uid: 'u2' }, addressType: 'IPv6' } as EndpointSlice;

const written = (services: readonly Service[], slices: readonly EndpointSlice[], isForeign = false) => {
  const owned = { services, endpoints: [], slices };
  const observed = { owned, namespace: 'shop', isForeign: () => isForeign };
  const { isPartial: _, ...found } = writable(observed, 'web-west', desiredOf([service, slice]));
  return [found.services.map(({ object }) => object), found.endpoints.map(({ object }) => object)];
};

describe('of a Service with slices, what is written now', () => {
  it('is all of it where the Service is there', () => {
    expect(written([{ metadata: metadata('web-west') }], [live])).toEqual([[service], [slice]]);
  });

  it('is the Service first where nothing is there', () => {
    expect(written([], [])).toEqual([[service], []]);
  });

  it('is the Service where somebody has deleted it: those slices that it is to have stay, and follow (C1, E5)', () => {
    expect(written([], [live, stray])).toEqual([[service], [slice]]);
  });

  it('is nothing where the Service is foreign: its slices go (A6)', () => {
    expect(written([], [live], true)).toEqual([[], []]);
  });
});

describe('what several manifests come to', () => {
  it('is complete and blocked by nobody if all of them are, and nothing if there are none', () => {
    expect(merged([])).toEqual({ ...NOTHING, bytes: 0 });
    const [one, other] = [desiredOf([service]), desiredOf([slice])];
    expect(merged([one, other])).toMatchObject({ isPartial: false, isBlocked: false, namespaces: [] });
    expect(merged([one, { ...other, isPartial: true }])).toMatchObject({ isPartial: true, isBlocked: false });
    expect(merged([{ ...one, isBlocked: true }, other])).toMatchObject({ isPartial: false, isBlocked: true });
  });

  it('takes at least the bytes that all of it has as JSON without its punctuation (E10)', () => {
    const bytes = merged([desiredOf([service]), NOTHING, desiredOf([slice])]).bytes ?? 0;
    const texts = (of: ApiJson): number => JSON.stringify(of).replace(/[^\w./-]/g, '').length;
    expect(bytes).toBeGreaterThanOrEqual(texts(service) + texts(slice));
    expect(bytes).toBe((desiredOf([service]).bytes ?? 0) + (desiredOf([slice]).bytes ?? 0));
    expect(desiredOf([service, slice]).bytes).toBe(bytes);
  });
});

it('of a Service alone, the version that it was rendered from may differ without a write (B4, C5)', () => {
  expect(toDesired(service).comparison?.ignoredAnnotations?.has('mirror.linkerd.io/remote-resource-version')).toBe(
    true,
  );
  expect(toDesired(slice).comparison).toBeUndefined();
});

it('nothing is written of a kind that no mirror has', () => {
  expect(() => toDesired({ ...service, kind: 'Secret' })).toThrow('kind Secret');
});
