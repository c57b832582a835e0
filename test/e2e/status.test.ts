/** What is reported of a Link: conditions, counts, Events and metrics. Section G of behaviour.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import type { SimulatedCluster } from '../cluster/simulated/start.ts';
import { type Api, eventually, type KubeObject } from '../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, link, LINKS_NAMESPACE, namespace, service, slice } from '../support/builders.ts';
import { concurrently } from '../support/concurrently.ts';
import { addressesAre, exportService, untilReady } from '../support/exports.ts';
import { linkerdLinkCrd } from '../support/linkerd-crd.ts';
import type { LinkCondition, LinkObject } from '../support/objects.ts';
import type { TestOperator } from '../support/operator.ts';
import { untilCondition } from '../support/reports.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const DEADLINE_MS = 60_000;

interface EventObject extends KubeObject {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly involvedObject: { readonly kind: string; readonly name: string; readonly uid: string };
}

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

const exported = async (cluster: Api, name: string): Promise<void> => {
  await cluster.apply(service(name, { labels: EXPORTED }));
  await cluster.apply(slice(name));
};

const eventsOf = async (clusters: TwoClusters, reason: string): Promise<readonly EventObject[]> => {
  const events = await clusters.east.list<EventObject>({ apiVersion: 'v1', kind: 'Event', namespace: LINKS_NAMESPACE });
  return events.filter((event) => event.reason === reason);
};

/** What the admin port answers. */
const ask = (operator: TestOperator, path: string) => eventually('the admin port is open', () => operator.ask(path));

const numbered = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(2, '0')}`);

onEachBacking('what is said of a Link', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    operator = clusters.operator();
    for (const name of ['one', 'two']) await exported(clusters.west, name);
    await clusters.west.apply(service('bad', { labels: EXPORTED, ports: [{ port: 53, protocol: 'UDP' }] }));
    await clusters.ready();
  });
  afterAll(() => clusters.stop());

  const linkNow = () =>
    clusters.get<LinkObject & { readonly metadata: { readonly generation: number } }>('Link', 'west', LINKS_NAMESPACE);

  test('is every condition, of the generation it was made of (G1)', async () => {
    const found = await linkNow();
    const conditions = found?.status?.conditions as readonly (LinkCondition & {
      readonly observedGeneration: number;
    })[];
    expect(Object.fromEntries(conditions.map(({ type, status }) => [type, status]))).toEqual({
      Accepted: 'True',
      CredentialsValid: 'True',
      TargetReachable: 'True',
      TargetWithinLimits: 'True',
      GatewayResolved: 'True',
      GatewayAlive: 'True',
      Synced: 'True',
      PruneHeld: 'False',
      Ready: 'True',
    });
    for (const { observedGeneration } of conditions) expect(observedGeneration).toBe(found?.metadata.generation);
  });

  test('is a count of its mirrors, failures listed first (G2)', async () => {
    await eventually('all are counted', async () => (await linkNow())?.status?.mirrors?.total === 3);
    const status = (await linkNow())?.status;
    expect(status?.mirrors).toEqual({ total: 3, ready: 2, failed: 1 });
    expect(status?.mirrorServices?.map(({ remoteRef }) => remoteRef.name)).toEqual(['bad', 'one', 'two']);
  });

  test('is what kubectl prints: target, ready, reason, gateway, mirrored, exported, failed, age (G1)', async () => {
    const { host, headers } = {
      host: clusters.eastCluster.server,
      headers: {
        authorization: `Bearer ${clusters.eastCluster.adminToken}`,
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
      },
    };
    const { Agent, request } = await import('undici');
    const dispatcher = new Agent({ connect: { ca: Buffer.from(clusters.eastCluster.caData, 'base64').toString() } });
    const path = `/apis/multicluster.linkerd.io/v1alpha3/namespaces/${LINKS_NAMESPACE}/links`;
    const { body } = await request(`${host}${path}`, { headers, dispatcher });
    const table = (await body.json()) as Table;
    await dispatcher.close();
    const shown = table.columnDefinitions
      .map(({ name, priority }, index) => ({ name, priority, cell: table.rows[0]?.cells[index] }))
      .filter(({ priority }) => priority === 0);
    expect(shown.map(({ name }) => name.toLowerCase())).toEqual([
      'name',
      'target',
      'ready',
      'reason',
      'gateway',
      'mirrored',
      'exported',
      'failed',
      'age',
    ]);
    expect(shown.slice(0, 3).map(({ cell }) => cell)).toEqual(['west', 'west', 'True']);
  });

  test('follows a gateway that dies and comes back: mirrors, status, metrics and Events (F1, F3, G3)', async () => {
    const ready = await untilCondition(clusters, 'Ready', 'True');
    const synced = await untilCondition(clusters, 'Synced', 'True');
    await clusters.gateway.die();
    await addressesAre(clusters, 'one-west', [`!${GATEWAY}`]);
    await addressesAre(clusters, 'two-west', [`!${GATEWAY}`]);
    await untilCondition(clusters, 'GatewayAlive', 'False');
    const notReady = await untilCondition(clusters, 'Ready', 'False');
    expect(Date.parse(notReady.lastTransitionTime)).toBeGreaterThanOrEqual(Date.parse(ready.lastTransitionTime));
    expect((await linkNow())?.status?.gateway).toEqual({ addresses: [GATEWAY], alive: false });
    expect((await ask(operator, '/metrics')).text).toContain('gateway_alive{target_cluster_name="west"} 0');
    const events = await eventually('an Event', async () => {
      const found = await eventsOf(clusters, 'GatewayNotAlive');
      return found.length > 0 && found;
    });
    const found = await linkNow();
    expect(events[0]?.involvedObject).toMatchObject({ kind: 'Link', name: 'west', uid: found?.metadata.uid });

    await clusters.gateway.revive();
    await addressesAre(clusters, 'one-west', [GATEWAY]);
    await untilCondition(clusters, 'Ready', 'True');
    expect((await ask(operator, '/metrics')).text).toContain('gateway_alive{target_cluster_name="west"} 1');
    // What did not change keeps the time since which it is so.
    expect((await untilCondition(clusters, 'Synced', 'True')).lastTransitionTime).toBe(synced.lastTransitionTime);
  });

  test('is said in one Event, however often it happens (G3)', async () => {
    for (let turn = 0; turn < 4; turn += 1) {
      await clusters.gateway.die();
      await addressesAre(clusters, 'one-west', [`!${GATEWAY}`]);
      await clusters.gateway.revive();
      await addressesAre(clusters, 'one-west', [GATEWAY]);
    }
    await eventually('the Events', async () => (await eventsOf(clusters, 'GatewayAlive')).length > 0);
    expect((await eventsOf(clusters, 'GatewayAlive')).length).toBe(1);
  });

  test('is measured, by the names that dashboards know (G4, H5)', async () => {
    await exported(clusters.west, 'measured');
    await addressesAre(clusters, 'measured-west', [GATEWAY]);
    const { code, text } = await ask(operator, '/metrics');
    expect(code).toBe(200);
    for (const sample of [
      /^gateway_enabled\{target_cluster_name="west"\} 1$/m,
      /^gateway_latency\{target_cluster_name="west"\} [0-9.]+$/m,
      /^gateway_probe_latency_ms_count\{target_cluster_name="west"\} [1-9]/m,
      /^gateway_probes\{target_cluster_name="west",probe_successful="true"\} [1-9]/m,
      /^gateway_probes\{target_cluster_name="west",probe_successful="false"\} [1-9]/m,
      /^# TYPE service_mirror_endpoint_repairs counter$/m,
      /^linkspan_convergence_seconds_count\{target_cluster_name="west"\} [1-9]/m,
      /^linkspan_mirrors\{target_cluster_name="west",state="ready"\} [0-9]+$/m,
      /^linkspan_link_condition\{link="west",target_cluster_name="west",type="Ready",status="(True|False|Unknown)"\} 1$/m,
      /^controller_runtime_reconcile_total\{controller="link\/west",result="success"\} [1-9]/m,
      /^workqueue_adds_total\{name="link\/west"\} [1-9]/m,
      /^leader_election_master_status\{name="linkspan-operator"\} 1$/m,
      /^process_resident_memory_bytes /m,
    ]) {
      expect(text).toMatch(sample);
    }
  });

  test('counts a repair of endpoints that somebody else edited', async () => {
    await clusters.east.delete({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'one-west', namespace: 'shop' },
    });
    await addressesAre(clusters, 'one-west', [GATEWAY]);
    await eventually('it is counted', async () =>
      /^service_mirror_endpoint_repairs\{target_cluster_name="west"\} [1-9]/m.test(
        (await ask(operator, '/metrics')).text,
      ),
    );
  });

  test('is measured of a Link that was never accepted too, until it is gone (E7)', async () => {
    const series = async (): Promise<boolean> =>
      /^linkspan_link_condition\{link="odd",target_cluster_name="",type="Ready",status="False"\} 1$/m.test(
        (await ask(operator, '/metrics')).text,
      );
    await clusters.east.apply(link('odd', { targetClusterName: 'No_Label' }));
    await eventually('it is measured', series);
    await clusters.east.delete(link('odd'));
    await eventually('it is forgotten', async () => !(await series()));
  });

  test('is no longer said once the Link is gone', async () => {
    await clusters.east.delete(link('west'));
    await eventually(
      'its mirrors are gone',
      async () => (await clusters.get('Service', 'one-west')) === undefined,
      DEADLINE_MS,
    );
    await eventually(
      'its metrics are gone',
      async () => !(await ask(operator, '/metrics')).text.includes('target_cluster_name="west"'),
    );
    await eventually(
      'its Lease is gone',
      async () => (await clusters.get('Lease', 'service-mirror-write-west', LINKS_NAMESPACE)) === undefined,
    );
  });
});

onEachBacking('a Link with very many mirrors', (backing) => {
  let clusters: TwoClusters;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    clusters.operator();
    await clusters.ready();
  });
  afterAll(() => clusters.stop());

  test('L23 G2 a target with thousands of exported Services leaves a status that fits into etcd, written in few batches', async () => {
    // Status says no more of thousands than of these: a real server need not hold them all.
    const count = backing === 'simulated' ? 2_000 : 600;
    await clusters.west.apply(namespace('crowd'));
    await clusters.eastCluster.clearAudit();
    // Their namespace is missing here: each one is a failure with a message, the longest there is to say.
    const names = numbered('crowded-service-with-a-long-name', count);
    const crowded = (name: string) => service(name, { namespace: 'crowd', labels: EXPORTED, selector: null });
    if (backing === 'real') await concurrently(names, 32, (name) => clusters.west.create(crowded(name)));
    else {
      const { store } = clusters.westCluster as SimulatedCluster;
      for (const [index, name] of names.entries()) {
        store.upsert({ ...crowded(name) });
        // In many batches, as they come over the network.
        if (index % 50 === 0) await new Promise(setImmediate);
      }
    }
    const found = await eventually(
      'all are counted',
      async () => {
        const now = await clusters.get<LinkObject>('Link', 'west', LINKS_NAMESPACE);
        return (now?.status?.mirrors?.failed ?? 0) >= count && now;
      },
      120_000,
    );
    expect(JSON.stringify(found).length).toBeLessThan(1.5 * 1024 * 1024);
    const entries = found?.status?.mirrorServices ?? [];
    expect(entries).toHaveLength(500);
    expect(entries.every(({ conditions }) => conditions[0]?.status === 'False')).toBe(true);
    const { total, ready, failed } = found.status!.mirrors!;
    expect(total).toBe(ready + failed);
    const statusWrites = (await clusters.writes()).filter((write) => write.includes('links/status'));
    expect(statusWrites.length).toBeLessThan(count / 10);
  }, 240_000);
});

onEachBacking('a Link in a cluster with the CRD of Linkerd', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, crd: linkerdLinkCrd });
    await clusters.link();
    operator = clusters.operator();
  });
  afterAll(() => clusters.stop());

  test("L38 G5 with Linkerd's own Link CRD everything works, is said once, and no status is written in a loop", async () => {
    await exportService(clusters, 'web');
    await clusters.west.apply(
      service('odd', { labels: EXPORTED, spec: { type: 'ExternalName', externalName: 'a.b' } }),
    );
    await untilReady(clusters, 'web');
    await eventually(
      'status has what Linkerd knows',
      async () => (await clusters.mirrorCondition('web'))?.status === 'True',
    );
    await eventually('failures too', async () => (await clusters.mirrorCondition('odd'))?.reason === 'InvalidService');
    expect(await clusters.condition('Ready')).toBeUndefined();

    await clusters.gateway.die();
    await eventually(
      'the mirror is not ready',
      async () => (await clusters.addresses('web-west'))?.join() === `!${GATEWAY}`,
    );
    await clusters.gateway.revive();
    await eventually(
      'the mirror is ready again',
      async () => (await clusters.addresses('web-west'))?.join() === GATEWAY,
    );

    await eventually('nothing is left to write', async () => {
      await clusters.eastCluster.clearAudit();
      // Several times the shortest period between two writes of a status.
      await probed(clusters, 12);
      return (await clusters.writes()).length === 0;
    });
    // Each of these makes the operator look at its status again, and none gives it anything new to say.
    for (const touched of ['once', 'twice', 'thrice']) {
      await clusters.east.patch(link('west'), { metadata: { labels: { touched } } });
      await probed(clusters, 6);
    }
    expect(await clusters.writes()).toEqual([]);
    expect(operator.lines.filter(({ message }) => message.includes("Linkerd's own"))).toHaveLength(1);
    const events = await clusters.east.list<KubeObject & { reason: string; count: number }>({
      apiVersion: 'v1',
      kind: 'Event',
      namespace: LINKS_NAMESPACE,
    });
    expect(events.filter(({ reason }) => reason === 'FieldsPruned').map(({ count }) => count)).toEqual([1]);
  });
});

/** Waits for so many more probes, one each 100 ms: time in which what should not happen could have happened. */
const probed = async (clusters: TwoClusters, count: number): Promise<void> => {
  const until = clusters.gateway.probes + count;
  await eventually(`${count} probes more`, async () => clusters.gateway.probes >= until);
};
