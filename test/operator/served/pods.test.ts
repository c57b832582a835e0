import { afterEach, expect, it } from 'vitest';
import type { EndpointSlice, Service } from '../../../operator/kube/objects.ts';
import { podKey, Pods, type PodsOptions } from '../../../operator/served/pods.ts';
import { admitted } from '../../../operator/target/certain/cap.ts';
import { Losses } from '../../../operator/target/certain/losses.ts';
import { NOTHING_EXPORTED, type PodAnswers } from '../../../operator/target/aspect.ts';
import { headlessService, NOTHING_OWNED, ownedService, targetSlice } from '../mirror/observed.ts';

/** What a test started: the review of a limit has a timer. */
const started: Pods[] = [];
afterEach(() => {
  for (const pods of started.splice(0)) pods.stop();
});

/** Starts to count the pods of a target, until the test ends. */
function startPods(options: PodsOptions): Pods {
  const pods = new Pods(options);
  started.push(pods);
  return pods;
}

const hosts = (of: string) => [`${of}-0`, `${of}-1`];

/** The endpoint mirror of a pod. */
function mirrorOf(hostname: string, service: string): Service {
  const { metadata, spec } = ownedService(`${hostname}-west`);
  const labels = { ...metadata.labels, 'mirror.linkerd.io/headless-mirror-svc-name': `${service}-west` };
  const annotations = { 'mirror.linkerd.io/remote-svc-fq-name': `${hostname}.${service}.shop.svc.cluster.local` };
  return { metadata: { ...metadata, labels, annotations }, spec: spec! };
}

/** What all pods here have in common; the limit allows three of them. */
function common() {
  const losses = new Losses();
  const answers: PodAnswers = { lacks: () => false, ask: () => undefined, forget: () => undefined };
  return {
    losses,
    options: {
      what: 'pods',
      setting: 'maxEndpointMirrors',
      most: 3,
      losses: losses.sort((key) => key),
      report: { statusChanged: () => undefined },
      answers,
      cluster: 'west',
      graceMs: 0,
      maxServicePods: 1_000,
    } as const,
  };
}

/** A target that exports headless Services. */
function mirroredOf(keys: readonly string[], slicesOf: PodsOptions['mirrored']['slicesOf'], decides = true) {
  const exported = { service: headlessService(), mode: 'gateway' } as const;
  return {
    mirrored: {
      ...NOTHING_EXPORTED,
      keys: () => new Set(keys),
      get: () => exported,
      decides: () => decides,
      slicesOf,
    },
  };
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
  const target = mirroredOf(['shop/a', 'shop/b'], (key) => slices.get(key));
  const source = {
    keysOf: () => new Set(mirrored.keys()),
    ownedBy: ({ key }: { readonly key: string }) => ({ ...NOTHING_OWNED, services: mirrored.get(key) ?? [] }),
  };
  const start = () => startPods({ ...common().options, ...target, source, isHeadless: () => true });
  return { slices, start };
}

it('pods that are mirrored are served, and counted, while their slices are not known (E10)', () => {
  const { slices, start } = setUp();
  const pods = start();
  pods.recount();
  const all = ['a-0', 'b-0', 'b-1'].map((hostname) => `shop/${hostname[0]}#${hostname}`);
  const served = (of: Pods) => [...admitted(of.candidates(), 3)].sort();
  expect([served(pods), pods.size]).toEqual([all, 4]);
  slices.set('shop/b', undefined);
  expect([served(pods), pods.size]).toEqual([all, 4]);
  const restarted = start();
  restarted.recount();
  expect([served(restarted), restarted.size]).toEqual([all, 4]);
});

it.each(['complete', 'not complete'])(
  'pods that nobody wants are held by lists that are %s when they are seen (E6)',
  (lists) => {
    const hostnames = Array.from({ length: 12 }, (_, index) => `a-${index}`);
    const services = hostnames.map((hostname) => mirrorOf(hostname, 'a'));
    const target = mirroredOf(['shop/a'], () => undefined, lists === 'complete');
    const source = { keysOf: () => new Set(['shop/a']), ownedBy: () => ({ ...NOTHING_OWNED, services }) };
    const { losses, options } = common();
    const pods = startPods({ ...options, ...target, source, isHeadless: () => false });
    const count = () => {
      losses.relisted(new Map([[pods.losses, pods.states()]]), undefined);
    };
    // A watch reports what comes after the lists, and that goes one by one.
    if (lists === 'complete') count();
    pods.noted('shop/a', []);
    count();
    expect(hostnames.every((hostname) => pods.losses.isHeld(podKey('shop/a', hostname)))).toBe(true);
  },
);

it('a pod that is back leaves fewer held, which may be what was confirmed (E6, L89)', () => {
  const hostnames = Array.from({ length: 12 }, (_, index) => `a-${index}`);
  const services = hostnames.map((hostname) => mirrorOf(hostname, 'a'));
  let listed: readonly string[] = [];
  const target = mirroredOf(['shop/a'], () => [targetSlice(listed.map((hostname) => ({ hostname })))]);
  const source = { keysOf: () => new Set(['shop/a']), ownedBy: () => ({ ...NOTHING_OWNED, services }) };
  const { losses, options } = common();
  const held: number[] = [];
  const listener = { fewerHeld: () => void held.push(losses.count) };
  const pods = startPods({ ...options, listener, ...target, source, isHeadless: () => true });
  losses.relisted(new Map([[pods.losses, pods.states()]]), undefined);
  pods.noted('shop/a', []);
  expect(held).toEqual([]);
  listed = ['a-0'];
  pods.noted('shop/a', []);
  expect(held).toEqual([11]);
});

it('a pod that is back is not among those that a watch reported as gone (E6)', () => {
  const hostnames = Array.from({ length: 12 }, (_, index) => `a-${index}`);
  const services = hostnames.map((hostname) => mirrorOf(hostname, 'a'));
  let listed = hostnames;
  const target = mirroredOf(['shop/a'], () => [targetSlice(listed.map((hostname) => ({ hostname })))]);
  const source = { keysOf: () => new Set(['shop/a']), ownedBy: () => ({ ...NOTHING_OWNED, services }) };
  const { losses, options } = common();
  const pods = startPods({ ...options, ...target, source, isHeadless: () => true });
  listed = hostnames.slice(1);
  pods.noted('shop/a', ['a-0']);
  listed = hostnames;
  pods.noted('shop/a', []);
  listed = [];
  losses.relisted(new Map([[pods.losses, pods.states()]]), undefined);
  expect([losses.count, pods.losses.isHeld(podKey('shop/a', 'a-0'))]).toEqual([12, true]);
});
