import { expect, it } from 'vitest';
import type { EndpointSlice, Service } from '../../../operator/kube/objects.ts';
import { Pods } from '../../../operator/served/pods.ts';
import { admitted } from '../../../operator/target/certain/cap.ts';
import { Losses, podKey } from '../../../operator/target/certain/losses.ts';
import type { TargetView } from '../../../operator/target/aspect.ts';
import { headlessService, NOTHING_OWNED, ownedService, targetSlice } from '../mirror/observed.ts';

const hosts = (of: string) => [`${of}-0`, `${of}-1`];

/** The endpoint mirror of a pod. */
function mirrorOf(hostname: string, service: string): Service {
  const { metadata, spec } = ownedService(`${hostname}-west`);
  const labels = { ...metadata.labels, 'mirror.linkerd.io/headless-mirror-svc-name': `${service}-west` };
  const annotations = { 'mirror.linkerd.io/remote-svc-fq-name': `${hostname}.${service}.shop.svc.cluster.local` };
  return { metadata: { ...metadata, labels, annotations }, spec: spec! };
}

/** Two headless Services of two pods: of `a` one is mirrored, of `b` both. */
function setUp() {
  const slices = new Map<string, readonly EndpointSlice[] | undefined>(
    ['a', 'b'].map((name) => [`shop/${name}`, [targetSlice(hosts(name).map((hostname) => ({ hostname })))]]),
  );
  const mirrored = new Map([
    ['shop/a', [mirrorOf('a-0', 'a')]],
    ['shop/b', hosts('b').map((hostname) => mirrorOf(hostname, 'b'))],
  ]);
  const target = {
    mirrored: {
      keys: () => ['shop/a', 'shop/b'],
      get: (key: string) => ({ service: headlessService(), mode: 'gateway', key }),
      decides: () => true,
      slicesOf: (key: string) => slices.get(key),
    },
  } as unknown as TargetView;
  const source = {
    keysOf: () => new Set(mirrored.keys()),
    ownedBy: ({ key }: { readonly key: string }) => ({ ...NOTHING_OWNED, services: mirrored.get(key) ?? [] }),
  };
  const losses = new Losses();
  const start = () =>
    new Pods({ cluster: 'west', source, losses, graceMs: 0, maxServicePods: 1_000, isHeadless: () => true });
  return { slices, target, start };
}

it('pods that are mirrored are served, and counted, while their slices are not known (E10)', () => {
  const { slices, target, start } = setUp();
  const pods = start();
  pods.recount(target);
  const all = ['a-0', 'b-0', 'b-1'].map((hostname) => `shop/${hostname[0]}#${hostname}`);
  const served = (of: Pods) => [...admitted(of.candidates(target), 3)].sort();
  expect([served(pods), pods.count]).toEqual([all, 4]);
  slices.set('shop/b', undefined);
  expect([served(pods), pods.count]).toEqual([all, 4]);
  const restarted = start();
  restarted.recount(target);
  expect([served(restarted), restarted.count]).toEqual([all, 4]);
});

it.each(['complete', 'not complete'])(
  'pods that nobody wants are held by lists that are %s when they are seen (E6)',
  (lists) => {
    const hostnames = Array.from({ length: 12 }, (_, index) => `a-${index}`);
    const services = hostnames.map((hostname) => mirrorOf(hostname, 'a'));
    const target = {
      mirrored: {
        get: () => ({ service: headlessService(), mode: 'gateway' }),
        decides: () => lists === 'complete',
        slicesOf: () => undefined,
      },
    } as unknown as TargetView;
    const source = { keysOf: () => new Set(['shop/a']), ownedBy: () => ({ ...NOTHING_OWNED, services }) };
    const losses = new Losses();
    const options = { cluster: 'west', source, losses, graceMs: 0, maxServicePods: 1_000, isHeadless: () => false };
    const pods = new Pods(options);
    const count = () => {
      const states = pods.states(target);
      losses.relisted(new Set(states.keys()), (key) => states.get(key), undefined);
    };
    // A watch reports what comes after the lists, and that goes one by one.
    if (lists === 'complete') count();
    pods.changed(target, 'shop/a', []);
    count();
    expect(hostnames.every((hostname) => losses.isHeld(podKey('shop/a', hostname)))).toBe(true);
  },
);

it('a pod that is back is not among those that a watch reported as gone (E6)', () => {
  const hostnames = Array.from({ length: 12 }, (_, index) => `a-${index}`);
  const services = hostnames.map((hostname) => mirrorOf(hostname, 'a'));
  let listed = hostnames;
  const target = {
    mirrored: {
      get: () => ({ service: headlessService(), mode: 'gateway' }),
      decides: () => true,
      slicesOf: () => [targetSlice(listed.map((hostname) => ({ hostname })))],
    },
    lacksPod: () => false,
  } as unknown as TargetView;
  const source = { keysOf: () => new Set(['shop/a']), ownedBy: () => ({ ...NOTHING_OWNED, services }) };
  const losses = new Losses();
  const options = { cluster: 'west', source, losses, graceMs: 0, maxServicePods: 1_000, isHeadless: () => true };
  const pods = new Pods(options);
  listed = hostnames.slice(1);
  pods.changed(target, 'shop/a', ['a-0']);
  listed = hostnames;
  pods.changed(target, 'shop/a', []);
  listed = [];
  const states = pods.states(target);
  losses.relisted(new Set(states.keys()), (key) => states.get(key), undefined);
  expect([losses.count, losses.isHeld(podKey('shop/a', 'a-0'))]).toEqual([12, true]);
});
