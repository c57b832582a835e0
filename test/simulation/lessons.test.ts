/** Lessons that take long, or thousands of objects: played in virtual time. */
import { describe, expect, test } from 'vitest';
import { sleep } from '../../operator/kube/backoff.ts';
import { EXPORTED } from '../support/builders.ts';
import type { RequestMatcher } from '../cluster/simulated/faults.ts';
import { Stage } from './stage.ts';
import { World } from './world/world.ts';

const SERVICE = { kind: 'clusterIP', exported: 'true', ports: 0, tag: 'a', publishNotReady: false } as const;
const NAMESPACE = 'shop';
/** Thousands of writes take their time where others want the processor too. */
const MUCH_MS = 600_000;

/** Plays on a stage with two replicas, one of which leads. */
async function play(seed: number, scene: (stage: Stage) => Promise<void>): Promise<void> {
  const world = new World(seed);
  await world.run(async () => {
    const stage = new Stage({ endpoints: 'endpoints', replicas: 2, clocks: [{}, {}], commands: [] }, world);
    await sleep(10_000);
    await scene(stage);
    await stage.stop();
    expect(stage.judge.complaints).toEqual([]);
  });
  expect(world.failures).toEqual([]);
}

/** A slice of a headless Service's pods, as Kubernetes writes it, with the labels that it copies. */
const slice = (service: string, hostnames: readonly string[], index: number): object => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    name: `${service}-${index}`,
    namespace: NAMESPACE,
    labels: { 'kubernetes.io/service-name': service, ...EXPORTED },
  },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  endpoints: hostnames.map((hostname, at) => ({
    hostname,
    addresses: [`10.${index}.${at >> 8}.${at & 255}`],
    conditions: { ready: true },
  })),
});

const mirrorsOf = ({ east }: Stage, cluster: string): readonly string[] =>
  east
    .list('v1', 'Service')
    .flatMap(({ metadata: { name, labels = {} } }) =>
      labels['mirror.linkerd.io/cluster-name'] === cluster && !name.startsWith('probe-') ? [name] : [],
    );

const said = ({ operators }: Stage, message: string): readonly string[] =>
  operators.logged.flatMap((record) => (record.message === message ? [record.process] : []));

/** The addresses of a mirror that are listed as ready. */
function readyAddresses({ east }: Stage, name: string): readonly string[] {
  const endpoints = east.get('v1', 'Endpoints', NAMESPACE, name) as
    { readonly subsets?: readonly { readonly addresses?: readonly { readonly ip: string }[] }[] } | undefined;
  return (endpoints?.subsets ?? []).flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip));
}

/** @returns true time until it holds */
async function until(stage: Stage, deadlineMs: number, holds: () => boolean): Promise<number> {
  const began = stage.world.nowMs;
  while (!holds()) {
    if (stage.world.nowMs - began > deadlineMs) throw new Error(`not so after ${deadlineMs} ms`);
    await sleep(10);
  }
  return stage.world.nowMs - began;
}

describe('a headless Service with 2,000 pods, at 300 ms an answer (L48, H7)', { timeout: MUCH_MS }, () => {
  test('costs no Lease, and does not delay the export of another Link', async () => {
    await play(48, async (stage) => {
      const { east, targets } = stage;
      east.faults.latency(300);
      const service = { namespace: NAMESPACE, name: 'set', ...SERVICE, kind: 'selectorless' } as const;
      await stage.play({ do: 'put service', link: 'west', ...service });
      const live = targets.west.get('v1', 'Service', NAMESPACE, 'set')!;
      targets.west.remove('v1', 'Service', NAMESPACE, 'set');
      for (const index of [0, 1]) {
        const hostnames = Array.from({ length: 1000 }, (_, at) => `set-${index * 1000 + at}`);
        targets.west.put(slice('set', hostnames, index));
      }
      const { resourceVersion: _, uid: __, ...metadata } = live.metadata;
      targets.west.put({
        ...live,
        metadata,
        spec: { ...(live.spec as object), clusterIP: 'None', clusterIPs: ['None'] },
      });
      await until(stage, 10_000, () => east.list('v1', 'Endpoints').length > 50);

      await stage.play({ do: 'put service', link: 'bar', namespace: NAMESPACE, name: 'other', ...SERVICE });
      const tookMs = await until(stage, 2_000, () => mirrorsOf(stage, 'bar-west').includes('other-bar-west'));
      expect(mirrorsOf(stage, 'west').length).toBeLessThan(1_000);
      console.log(`another Link's export took ${tookMs.toFixed(0)} ms of virtual time`);

      await until(stage, 300_000, () => mirrorsOf(stage, 'west').length === 2_001);
      expect([said(stage, 'leading').length, said(stage, 'linkspan operator is up').length]).toEqual([1, 2]);
      expect(said(stage, 'the Lease of the Link is held: its mirrors are written').length).toBe(2);
    });
  });
});

describe('a leader that is killed (L64, H1, H10)', () => {
  test('is replaced, for all Links, once its Lease has run out, and within 1.2 times its duration', async () => {
    await play(64, async (stage) => {
      const [leader] = said(stage, 'leading');
      await stage.play({ do: 'kill operator', replica: leader!.startsWith('linkspan-0') ? 0 : 1 });
      for (const link of ['west', 'bar'] as const) {
        await stage.play({ do: 'put service', link, namespace: NAMESPACE, name: 'late', ...SERVICE });
      }
      const all = (): boolean => mirrorsOf(stage, 'west').length === 1 && mirrorsOf(stage, 'bar-west').length === 1;
      const tookMs = await until(stage, 18_000, all);
      // Not sooner either: it might only have been paused.
      expect(tookMs).toBeGreaterThan(11_000);
    });
  });
});

describe('writes of Endpoints that fail while the gateway dies (L52, H4, F3)', () => {
  const ofEndpoints: RequestMatcher = ({ verb, resource }) =>
    verb !== 'list' && verb !== 'watch' && resource === 'endpoints';

  test.each([20, 30, 45, 60])('are not put off as if somebody had undone them, for %i s', async (seconds) => {
    await play(52, async (stage) => {
      const { east } = stage;
      // No mirror can be put right meanwhile.
      stage.deadGateways.end();
      await stage.play({ do: 'put service', link: 'west', namespace: NAMESPACE, name: 'web', ...SERVICE });
      const scale = (pods: number): Promise<void> =>
        stage.play({
          ...{ do: 'set pods', link: 'west', namespace: NAMESPACE, name: 'web' },
          pods: Array.from({ length: pods }, () => ({ hostname: '', ready: true })),
        });
      await scale(1);
      await until(stage, 10_000, () => readyAddresses(stage, 'web-west').length > 0);
      const mend = east.faults.refuse({ failure: { kind: 'status', code: 503 }, match: ofEndpoints });
      await stage.play({ do: 'kill gateway', link: 'west' });
      for (let second = 0; second < seconds; second += 1) {
        // Each change of the target is a reconcile that fails.
        await scale(1 + (second % 2));
        await sleep(1_000);
      }
      expect(readyAddresses(stage, 'web-west')).not.toEqual([]);
      mend();
      await scale(3);
      await until(stage, 2_000, () => readyAddresses(stage, 'web-west').length === 0);
    });
  });
});
