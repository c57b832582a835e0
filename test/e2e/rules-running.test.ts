/** The operator as one of several processes that come and go: rules E5, H1 and H2, on every backing. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type KubeObject } from '../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, link, LINKS_NAMESPACE, service, slice } from '../support/builders.ts';
import { inventory } from '../support/inventory.ts';
import { type OperatorProcess, startOperatorProcess } from '../support/operator-process.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const DEADLINE_MS = 60_000;

const LEASES = ['linkspan-operator', 'service-mirror-write-west'].map((name) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace: LINKS_NAMESPACE, name },
}));

interface LeaseObject extends KubeObject {
  readonly spec: { readonly holderIdentity?: string | null };
}

onEachBacking('the operator', (backing) => {
  let clusters: TwoClusters;
  const processes: OperatorProcess[] = [];
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    for (const name of ['web', 'api']) await exported(name);
  });
  beforeEach(() => clusters.link());
  // Mirrors stay for the next one to take over.
  afterEach(async () => {
    await Promise.all([clusters.stopOperators(), ...processes.splice(0).map((process) => process.kill())]);
    for (const lease of LEASES) await clusters.east.delete(lease);
  });
  afterAll(() => clusters.stop());

  const exported = async (name: string): Promise<void> => {
    await clusters.west.apply(service(name, { labels: EXPORTED }));
    await clusters.west.apply(slice(name));
  };
  const isReady = (name: string) =>
    eventually(
      `${name} is ready`,
      async () => (await clusters.addresses(`${name}-west`))?.[0] === GATEWAY,
      DEADLINE_MS,
    );
  const holder = async (lease: string) =>
    (await clusters.get<LeaseObject>('Lease', lease, LINKS_NAMESPACE))?.spec.holderIdentity ?? '';
  const isHeldBy = (identity: string) =>
    eventually(
      `${identity} leads, and writes for the Link`,
      async () =>
        (await holder('linkspan-operator')) === identity && (await holder('service-mirror-write-west')) === identity,
      DEADLINE_MS,
    );

  /** The operator as a user runs it. */
  const start = (identity: string): OperatorProcess => {
    const leases = ['--lease-duration=2s', '--renew-deadline=1500ms', '--retry-period=100ms'];
    const process = startOperatorProcess(clusters, [`--identity=${identity}`, ...leases]);
    processes.push(process);
    return process;
  };

  test('told to end, ends within 5 seconds, lets its Leases go, and leaves the mirrors as they are (H2)', async () => {
    const operator = start('one');
    await isHeldBy('one');
    await isReady('web');
    await isReady('api');
    await clusters.ready();
    const before = await inventory(clusters);
    const began = performance.now();
    expect(await operator.stop()).toBe(0);
    expect(performance.now() - began).toBeLessThan(5_000);
    expect([await holder('linkspan-operator'), await holder('service-mirror-write-west')]).toEqual(['', '']);
    expect(await inventory(clusters)).toEqual(before);
  });

  test('killed, is replaced by the one that stands by, which writes nothing where nothing differs (H1, C5)', async () => {
    const operator = start('one');
    await isHeldBy('one');
    await isReady('web');
    await isReady('api');
    await clusters.ready();
    const standby = clusters.operator({ flags: { identity: 'two' } });
    await eventually('it stands by', async () => standby.lines.some(({ message }) => message === 'standing by'));
    const before = await inventory(clusters);
    await operator.kill();
    await isHeldBy('two');
    await exported('later');
    await isReady('later');
    const now = await inventory(clusters);
    for (const [object, entry] of Object.entries(before)) expect(now[object]).toEqual(entry);
  });

  test('that ends in order hands over without a wait, and of two only the one that leads writes (H1)', async () => {
    const first = clusters.operator({ flags: { identity: 'one', leaseDuration: '60s', renewDeadline: '10s' } });
    await isHeldBy('one');
    const second = clusters.operator({ flags: { identity: 'two', leaseDuration: '60s', renewDeadline: '10s' } });
    await isReady('web');
    await exported('during');
    await isReady('during');
    expect(await second.leads()).toBe(false);
    await first.stop();
    expect(await first.ended()).toBeUndefined();
    // Far sooner than the Lease would run out.
    await isHeldBy('two');
    await exported('after');
    await isReady('after');
  });

  test('finds what a Link left that was deleted while no operator ran (E5)', async () => {
    const first = clusters.operator();
    await isHeldBy('linkspan-0');
    await isReady('web');
    await first.stop();
    await clusters.east.delete(link('west'));
    clusters.operator();
    await eventually('nothing is left', async () => Object.keys(await inventory(clusters)).length === 0, DEADLINE_MS);
    await eventually(
      'nor the probe Service',
      async () => (await clusters.get('Service', 'probe-west', LINKS_NAMESPACE)) === undefined,
    );
  });

  test('removes what a Link left that was invalid when it started, and is then deleted (E5, E7)', async () => {
    const first = clusters.operator();
    await isHeldBy('linkspan-0');
    await isReady('web');
    await first.stop();
    await clusters.east.patch(link('west'), { spec: { gatewayPort: 'none' } });
    clusters.operator();
    await eventually('it is not accepted', async () => (await clusters.condition('Accepted'))?.status === 'False');
    expect(await clusters.addresses('web-west')).toEqual([GATEWAY]);
    await clusters.east.delete(link('west'));
    await eventually('nothing is left', async () => Object.keys(await inventory(clusters)).length === 0, DEADLINE_MS);
  });
});
