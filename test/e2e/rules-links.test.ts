/** Links beside each other, what is said of them, and gateways: rules E1, E7, F1, F3, G1 to G4 and H5, on every backing. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backings, borrowCluster, type TestCluster } from '../cluster/index.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { api, type Api, eventually, type KubeObject } from '../cluster/workload/index.ts';
import {
  credentials,
  EXPORTED,
  GATEWAY,
  link,
  LINKS_NAMESPACE,
  namespace,
  service,
  slice,
} from '../support/builders.ts';
import type { LinkCondition, LinkObject } from '../support/objects.ts';
import type { TestOperator } from '../support/operator.ts';
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

const UNPROBED = { probeSpec: undefined };

const exported = async (cluster: Api, name: string): Promise<void> => {
  await cluster.apply(service(name, { labels: EXPORTED }));
  await cluster.apply(slice(name));
};

const addressesAre = (clusters: TwoClusters, name: string, expected: readonly string[]) =>
  eventually(
    `${name} has ${expected.join()}`,
    async () => (await clusters.addresses(name))?.join() === expected.join(),
    DEADLINE_MS,
  );

const conditionIs = (clusters: TwoClusters, type: string, status: string, name = 'west'): Promise<LinkCondition> =>
  eventually(
    `Link ${name} has ${type}=${status}`,
    async () => {
      const found = await clusters.condition(type, name);
      return found?.status === status ? found : undefined;
    },
    DEADLINE_MS,
  );

const eventsOf = async (clusters: TwoClusters, reason: string): Promise<readonly EventObject[]> => {
  const events = await clusters.east.list<EventObject>({ apiVersion: 'v1', kind: 'Event', namespace: LINKS_NAMESPACE });
  return events.filter((event) => event.reason === reason);
};

/** What the admin port answers. */
const ask = (operator: TestOperator, path: string) => eventually('the admin port is open', () => operator.ask(path));

onEachBacking('several Links', (backing) => {
  let clusters: TwoClusters;
  let northCluster: TestCluster;
  let north: Api;
  beforeAll(async () => {
    [clusters, northCluster] = await Promise.all([TwoClusters.start({ backing }), borrowCluster(backing, 'north')]);
    north = api(northCluster);
    await north.apply(namespace('shop'));
    await clusters.link();
    await clusters.east.apply(credentials('north', northCluster.kubeconfig));
    await clusters.east.apply(link('north', { ...UNPROBED, gatewayAddress: '203.0.113.30' }));
    clusters.operator();
  });
  afterAll(async () => {
    await clusters.stop();
    await north.close();
    await northCluster.stop();
  });

  test('a target that goes down leaves its mirrors as they are, and the other Link works on (E1, E4)', async () => {
    await exported(clusters.west, 'web');
    await exported(north, 'web');
    await addressesAre(clusters, 'web-west', [GATEWAY]);
    await addressesAre(clusters, 'web-north', ['203.0.113.30']);
    const before = await clusters.get('Endpoints', 'web-north');

    await northCluster.kill();
    const said = await conditionIs(clusters, 'TargetReachable', 'False', 'north');
    expect(said.reason).toBe('Unreachable');
    expect(said.message).toMatch(/since \d{4}-/);
    await exported(clusters.west, 'meanwhile');
    await addressesAre(clusters, 'meanwhile-west', [GATEWAY]);
    await conditionIs(clusters, 'Ready', 'True', 'west');
    await conditionIs(clusters, 'Ready', 'False', 'north');
    const now = await clusters.get('Endpoints', 'web-north');
    expect(now?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);

    await northCluster.start();
    await conditionIs(clusters, 'TargetReachable', 'True', 'north');
    await exported(north, 'again');
    await addressesAre(clusters, 'again-north', ['203.0.113.30']);
  });

  test.each<[string, string, object, string]>([
    ['a port that is none', 'badport', { gatewayPort: '99999' }, 'spec.gatewayPort'],
    ['a cluster that has no name', 'badname', { targetClusterName: 'No_Label' }, 'spec.targetClusterName'],
    [
      'a selector that makes no sense',
      'badselector',
      { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      'spec.selector',
    ],
    ['a gateway that no endpoints may hold', 'badgateway', { gatewayAddress: '127.0.0.1' }, 'spec.gatewayAddress'],
  ])('one with %s says so, field and reason, and the others work on (E7)', async (_, name, spec, field) => {
    await clusters.east.apply(
      link(name, { ...UNPROBED, clusterCredentialsSecret: 'cluster-credentials-west', ...spec }),
    );
    const said = await conditionIs(clusters, 'Accepted', 'False', name);
    expect(said).toMatchObject({ reason: 'InvalidLink', message: expect.stringContaining(field) as string });
    await exported(clusters.west, `beside-${name}`);
    await addressesAre(clusters, `beside-${name}-west`, [GATEWAY]);
    await clusters.east.delete(link(name));
  });

  test('one that is made right is taken up, and one that turns bad goes on as it was (E7)', async () => {
    const mended = {
      ...UNPROBED,
      clusterCredentialsSecret: 'cluster-credentials-west',
      gatewayAddress: '203.0.113.40',
    };
    await clusters.east.apply(link('mended', { ...mended, gatewayPort: 'x' }));
    await conditionIs(clusters, 'Accepted', 'False', 'mended');
    await exported(clusters.west, 'patient');
    await clusters.east.apply(link('mended', mended));
    await conditionIs(clusters, 'Accepted', 'True', 'mended');
    await addressesAre(clusters, 'patient-mended', ['203.0.113.40']);
    await clusters.east.apply(link('mended', { ...mended, gatewayPort: 'y' }));
    await conditionIs(clusters, 'Accepted', 'False', 'mended');
    await exported(clusters.west, 'still');
    await addressesAre(clusters, 'still-mended', ['203.0.113.40']);
    await clusters.east.delete(link('mended'));
    await eventually(
      'its mirrors are gone',
      async () => (await clusters.get('Service', 'patient-mended')) === undefined,
      DEADLINE_MS,
    );
  });

  test('of two with one target name the older is served, and the other takes over when it goes', async () => {
    const twin = { ...UNPROBED, clusterCredentialsSecret: 'cluster-credentials-west', targetClusterName: 'shared' };
    const { metadata } = await clusters.east.apply(link('shared-b', { ...twin, gatewayAddress: '203.0.113.51' }));
    await exported(clusters.west, 'common');
    await addressesAre(clusters, 'common-shared', ['203.0.113.51']);
    await eventually('the next second', async () => Date.now() - Date.parse(metadata.creationTimestamp) >= 1100);
    await clusters.east.apply(link('shared-a', { ...twin, gatewayAddress: '203.0.113.52' }));
    const said = await conditionIs(clusters, 'Accepted', 'False', 'shared-a');
    expect(said).toMatchObject({ reason: 'DuplicateCluster', message: expect.stringContaining('shared-b') as string });
    expect(await clusters.addresses('common-shared')).toEqual(['203.0.113.51']);
    const before = await clusters.get('Service', 'common-shared');
    await clusters.east.delete(link('shared-b'));
    await addressesAre(clusters, 'common-shared', ['203.0.113.52']);
    expect((await clusters.get('Service', 'common-shared'))?.metadata.uid).toBe(before?.metadata.uid);
  });
});

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

  test('is what kubectl prints: target, ready, gateway, mirrors, age (G1)', async () => {
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
      'gateway',
      'mirrors',
      'age',
    ]);
    expect(shown.slice(0, 3).map(({ cell }) => cell)).toEqual(['west', 'west', 'True']);
  });

  test('follows a gateway that dies and comes back: mirrors, status, metrics and Events (F1, F3, G3)', async () => {
    const ready = await conditionIs(clusters, 'Ready', 'True');
    const synced = await conditionIs(clusters, 'Synced', 'True');
    await clusters.gateway.die();
    await addressesAre(clusters, 'one-west', [`!${GATEWAY}`]);
    await addressesAre(clusters, 'two-west', [`!${GATEWAY}`]);
    await conditionIs(clusters, 'GatewayAlive', 'False');
    const notReady = await conditionIs(clusters, 'Ready', 'False');
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
    await conditionIs(clusters, 'Ready', 'True');
    expect((await ask(operator, '/metrics')).text).toContain('gateway_alive{target_cluster_name="west"} 1');
    // What did not change keeps the time since which it is so.
    expect((await conditionIs(clusters, 'Synced', 'True')).lastTransitionTime).toBe(synced.lastTransitionTime);
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
