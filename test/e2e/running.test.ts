/** The operator as one of several processes that come and go, and writes that are refused: section H of behaviour.md. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { backings } from '../cluster/index.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import type { SimulatedCluster } from '../cluster/simulated/start.ts';
import { eventually, type KubeObject } from '../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, link, LINKS_NAMESPACE, service } from '../support/builders.ts';
import { exportAllReady, exportService, untilReady } from '../support/exports.ts';
import { inventory } from '../support/inventory.ts';
import type { TestOperator } from '../support/operator.ts';
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

/** What the admin port answers. */
const ask = (operator: TestOperator, path: string) => eventually('the admin port is open', () => operator.ask(path));

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
    await exportService(clusters, name);
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

describe.runIf(backings().includes('simulated'))('an API server that hangs [simulated]', () => {
  test('keeps no operator from ending within 5 seconds, also when Events are due (H2)', async () => {
    const clusters = await TwoClusters.start({ backing: 'simulated' });
    const operator = startOperatorProcess(clusters);
    try {
      await clusters.link();
      await exportAllReady(clusters, ['web']);
      clusters.eastCluster.pause();
      // No port of it crosses a gateway: that is an Event.
      await clusters.west.apply(service('dns', { labels: EXPORTED, ports: [{ port: 53, protocol: 'UDP' }] }));
      const stopped = performance.now();
      expect(await operator.stop()).toBe(0);
      expect(performance.now() - stopped).toBeLessThan(5_000);
    } finally {
      clusters.eastCluster.resume();
      await operator.kill();
      await clusters.stop();
    }
  });
});

describe.runIf(backings().includes('simulated'))('the admin port [simulated]', () => {
  test('is live at once, and ready when standing by or synced (H5)', async () => {
    const clusters = await TwoClusters.start({ backing: 'simulated' });
    try {
      const leader = clusters.operator();
      await eventually('it leads', () => leader.leads());
      const standby = clusters.operator({ flags: { identity: 'linkspan-1' } });
      for (const operator of [leader, standby]) {
        expect((await ask(operator, '/healthz')).code).toBe(200);
        await eventually('it is ready', async () => (await ask(operator, '/readyz')).code === 200);
      }
      expect(await standby.leads()).toBe(false);
      // That nobody leads can be told from that there is nobody.
      expect((await ask(leader, '/metrics')).text).toContain(
        'leader_election_master_status{name="linkspan-operator"} 1',
      );
      expect((await ask(standby, '/metrics')).text).toContain(
        'leader_election_master_status{name="linkspan-operator"} 0',
      );
    } finally {
      await clusters.stop();
    }
  });
});

describe.runIf(backings().includes('simulated'))('writes that are refused [simulated]', () => {
  let clusters: TwoClusters;
  let east: SimulatedCluster;
  let operator: TestOperator;

  /** @param capMs the longest wait between two tries of a write that fails */
  const startOperator = (capMs: number): TestOperator =>
    clusters.operator({ tuning: { retryBackoff: { baseMs: 5, capMs } } });

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'simulated' });
    east = clusters.eastCluster as SimulatedCluster;
    await clusters.link();
    operator = startOperator(50);
    await clusters.ready();
  });
  afterAll(() => clusters.stop());

  test.each([500, 503, 403, 422])(
    'L24 H4 a write refused with %i over and over is said in status, holds up no other, and is made once accepted',
    async (code) => {
      const refusals = 40;
      let refused = 0;
      east.faults.refuse({
        failure: { kind: 'status', code, message: 'admission webhook "policy.example.com" denied the request' },
        match: ({ verb, resource, name }) => {
          const meant = verb === 'patch' && resource === 'services' && name === `denied-${code}-west`;
          if (meant) refused += 1;
          return meant;
        },
        times: refusals,
      });
      await exportService(clusters, `denied-${code}`);
      const condition = await eventually('it is said', async () => {
        const found = await clusters.mirrorCondition(`denied-${code}`);
        return found?.status === 'False' && found;
      });
      expect(condition.message).toContain('policy.example.com');
      await exportAllReady(clusters, [`beside-${code}`]);
      await untilReady(clusters, `denied-${code}`);
      expect(refused).toBeGreaterThanOrEqual(refusals);
      await eventually('and said', async () => (await clusters.mirrorCondition(`denied-${code}`))?.status === 'True');
    },
  );

  test('L24 H4 a refused write is made at once when the target Service changes, however long the next try is off', async () => {
    await operator.stop();
    operator = startOperator(300_000);
    const accept = east.faults.refuse({
      failure: { kind: 'status', code: 403, message: 'admission webhook "policy.example.com" denied the request' },
      match: ({ verb, resource, name }) => verb === 'patch' && resource === 'services' && name === 'policy-west',
    });
    await exportService(clusters, 'policy');
    await eventually('it is said', async () => (await clusters.mirrorCondition('policy'))?.status === 'False');
    accept();
    await clusters.west.patch(service('policy'), { metadata: { labels: { team: 'shop' } } });
    await untilReady(clusters, 'policy');
    await operator.stop();
    operator = startOperator(50);
  });
});
