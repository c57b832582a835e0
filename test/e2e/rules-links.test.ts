/** Links beside each other, what is said of them, and gateways: rules E1, E7, F1, F3, G1 to G4 and H5, on every backing. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backings, borrowCluster, type TestCluster } from '../cluster/index.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { api, type Api, eventually, type KubeObject } from '../cluster/workload/index.ts';
import { credentials, EXPORTED, link, namespace, service, slice } from '../support/builders.ts';
import { type LinkCondition, type LinkObject, LINKS_NAMESPACE, type TestOperator, World } from '../support/world.ts';

const DEADLINE_MS = 60_000;
const GATEWAY = '203.0.113.10';

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

const addressesAre = (world: World, name: string, expected: readonly string[]) =>
  eventually(
    `${name} has ${expected.join()}`,
    async () => (await world.addresses(name))?.join() === expected.join(),
    DEADLINE_MS,
  );

const conditionIs = (world: World, type: string, status: string, name = 'west'): Promise<LinkCondition> =>
  eventually(
    `Link ${name} has ${type}=${status}`,
    async () => {
      const found = await world.condition(type, name);
      return found?.status === status ? found : undefined;
    },
    DEADLINE_MS,
  );

const eventsOf = async (world: World, reason: string): Promise<readonly EventObject[]> => {
  const events = await world.east.list<EventObject>({ apiVersion: 'v1', kind: 'Event', namespace: LINKS_NAMESPACE });
  return events.filter((event) => event.reason === reason);
};

/** What the admin port answers. */
const ask = async (operator: TestOperator, path: string): Promise<{ readonly code: number; readonly text: string }> => {
  const { host, port } = await eventually('the admin port is open', async () => operator.admin);
  const response = await fetch(`http://${host}:${port}${path}`);
  return { code: response.status, text: await response.text() };
};

onEachBacking('several Links', (backing) => {
  let world: World;
  let northCluster: TestCluster;
  let north: Api;
  beforeAll(async () => {
    [world, northCluster] = await Promise.all([World.start({ backing }), borrowCluster(backing, 'north')]);
    north = api(northCluster);
    await north.apply(namespace('shop'));
    await world.link();
    await world.east.apply(credentials('north', northCluster.kubeconfig));
    await world.east.apply(link('north', { ...UNPROBED, gatewayAddress: '203.0.113.30' }));
    world.operator();
  });
  afterAll(async () => {
    await world.stop();
    await north.close();
    await northCluster.stop();
  });

  test('a target that goes down leaves its mirrors as they are, and the other Link works on (E1, E4)', async () => {
    await exported(world.west, 'web');
    await exported(north, 'web');
    await addressesAre(world, 'web-west', [GATEWAY]);
    await addressesAre(world, 'web-north', ['203.0.113.30']);
    const before = await world.get('Endpoints', 'web-north');

    await northCluster.kill();
    const said = await conditionIs(world, 'TargetReachable', 'False', 'north');
    expect(said.reason).toBe('Unreachable');
    expect(said.message).toMatch(/since \d{4}-/);
    await exported(world.west, 'meanwhile');
    await addressesAre(world, 'meanwhile-west', [GATEWAY]);
    await conditionIs(world, 'Ready', 'True', 'west');
    await conditionIs(world, 'Ready', 'False', 'north');
    const now = await world.get('Endpoints', 'web-north');
    expect(now?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);

    await northCluster.start();
    await conditionIs(world, 'TargetReachable', 'True', 'north');
    await exported(north, 'again');
    await addressesAre(world, 'again-north', ['203.0.113.30']);
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
    await world.east.apply(link(name, { ...UNPROBED, clusterCredentialsSecret: 'cluster-credentials-west', ...spec }));
    const said = await conditionIs(world, 'Accepted', 'False', name);
    expect(said).toMatchObject({ reason: 'InvalidLink', message: expect.stringContaining(field) as string });
    await exported(world.west, `beside-${name}`);
    await addressesAre(world, `beside-${name}-west`, [GATEWAY]);
    await world.east.delete(link(name));
  });

  test('one that is made right is taken up, and one that turns bad goes on as it was (E7)', async () => {
    const mended = {
      ...UNPROBED,
      clusterCredentialsSecret: 'cluster-credentials-west',
      gatewayAddress: '203.0.113.40',
    };
    await world.east.apply(link('mended', { ...mended, gatewayPort: 'x' }));
    await conditionIs(world, 'Accepted', 'False', 'mended');
    await exported(world.west, 'patient');
    await world.east.apply(link('mended', mended));
    await conditionIs(world, 'Accepted', 'True', 'mended');
    await addressesAre(world, 'patient-mended', ['203.0.113.40']);
    await world.east.apply(link('mended', { ...mended, gatewayPort: 'y' }));
    await conditionIs(world, 'Accepted', 'False', 'mended');
    await exported(world.west, 'still');
    await addressesAre(world, 'still-mended', ['203.0.113.40']);
    await world.east.delete(link('mended'));
    await eventually(
      'its mirrors are gone',
      async () => (await world.get('Service', 'patient-mended')) === undefined,
      DEADLINE_MS,
    );
  });

  test('of two with one target name the older is served, and the other takes over when it goes', async () => {
    const twin = { ...UNPROBED, clusterCredentialsSecret: 'cluster-credentials-west', targetClusterName: 'shared' };
    const { metadata } = await world.east.apply(link('shared-b', { ...twin, gatewayAddress: '203.0.113.51' }));
    await exported(world.west, 'common');
    await addressesAre(world, 'common-shared', ['203.0.113.51']);
    await eventually('the next second', async () => Date.now() - Date.parse(metadata.creationTimestamp) >= 1100);
    await world.east.apply(link('shared-a', { ...twin, gatewayAddress: '203.0.113.52' }));
    const said = await conditionIs(world, 'Accepted', 'False', 'shared-a');
    expect(said).toMatchObject({ reason: 'DuplicateCluster', message: expect.stringContaining('shared-b') as string });
    expect(await world.addresses('common-shared')).toEqual(['203.0.113.51']);
    const before = await world.get('Service', 'common-shared');
    await world.east.delete(link('shared-b'));
    await addressesAre(world, 'common-shared', ['203.0.113.52']);
    expect((await world.get('Service', 'common-shared'))?.metadata.uid).toBe(before?.metadata.uid);
  });
});

onEachBacking('what is said of a Link', (backing) => {
  let world: World;
  let operator: TestOperator;
  beforeAll(async () => {
    world = await World.start({ backing });
    await world.link();
    operator = world.operator();
    for (const name of ['one', 'two']) await exported(world.west, name);
    await world.west.apply(service('bad', { labels: EXPORTED, ports: [{ port: 53, protocol: 'UDP' }] }));
    await world.ready();
  });
  afterAll(() => world.stop());

  const linkNow = () =>
    world.get<LinkObject & { readonly metadata: { readonly generation: number } }>('Link', 'west', LINKS_NAMESPACE);

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
      host: world.eastCluster.server,
      headers: {
        authorization: `Bearer ${world.eastCluster.adminToken}`,
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
      },
    };
    const { Agent, request } = await import('undici');
    const dispatcher = new Agent({ connect: { ca: Buffer.from(world.eastCluster.caData, 'base64').toString() } });
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
    const ready = await conditionIs(world, 'Ready', 'True');
    const synced = await conditionIs(world, 'Synced', 'True');
    await world.gateway.die();
    await addressesAre(world, 'one-west', [`!${GATEWAY}`]);
    await addressesAre(world, 'two-west', [`!${GATEWAY}`]);
    await conditionIs(world, 'GatewayAlive', 'False');
    const notReady = await conditionIs(world, 'Ready', 'False');
    expect(Date.parse(notReady.lastTransitionTime)).toBeGreaterThanOrEqual(Date.parse(ready.lastTransitionTime));
    expect((await linkNow())?.status?.gateway).toEqual({ addresses: [GATEWAY], alive: false });
    expect((await ask(operator, '/metrics')).text).toContain('gateway_alive{target_cluster_name="west"} 0');
    const events = await eventually('an Event', async () => {
      const found = await eventsOf(world, 'GatewayNotAlive');
      return found.length > 0 && found;
    });
    const found = await linkNow();
    expect(events[0]?.involvedObject).toMatchObject({ kind: 'Link', name: 'west', uid: found?.metadata.uid });

    await world.gateway.revive();
    await addressesAre(world, 'one-west', [GATEWAY]);
    await conditionIs(world, 'Ready', 'True');
    expect((await ask(operator, '/metrics')).text).toContain('gateway_alive{target_cluster_name="west"} 1');
    // What did not change keeps the time since which it is so.
    expect((await conditionIs(world, 'Synced', 'True')).lastTransitionTime).toBe(synced.lastTransitionTime);
  });

  test('is said in one Event, however often it happens (G3)', async () => {
    for (let turn = 0; turn < 4; turn += 1) {
      await world.gateway.die();
      await addressesAre(world, 'one-west', [`!${GATEWAY}`]);
      await world.gateway.revive();
      await addressesAre(world, 'one-west', [GATEWAY]);
    }
    await eventually('the Events', async () => (await eventsOf(world, 'GatewayAlive')).length > 0);
    expect((await eventsOf(world, 'GatewayAlive')).length).toBe(1);
  });

  test('is measured, by the names that dashboards know (G4, H5)', async () => {
    await exported(world.west, 'measured');
    await addressesAre(world, 'measured-west', [GATEWAY]);
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
    await world.east.delete({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'one-west', namespace: 'shop' } });
    await addressesAre(world, 'one-west', [GATEWAY]);
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
    await world.east.apply(link('odd', { targetClusterName: 'No_Label' }));
    await eventually('it is measured', series);
    await world.east.delete(link('odd'));
    await eventually('it is forgotten', async () => !(await series()));
  });

  test('is no longer said once the Link is gone', async () => {
    await world.east.delete(link('west'));
    await eventually(
      'its mirrors are gone',
      async () => (await world.get('Service', 'one-west')) === undefined,
      DEADLINE_MS,
    );
    await eventually(
      'its metrics are gone',
      async () => !(await ask(operator, '/metrics')).text.includes('target_cluster_name="west"'),
    );
    await eventually(
      'its Lease is gone',
      async () => (await world.get('Lease', 'service-mirror-write-west', LINKS_NAMESPACE)) === undefined,
    );
  });
});

describe.runIf(backings().includes('simulated'))('the admin port [simulated]', () => {
  test('is live at once, and ready when standing by or synced (H5)', async () => {
    const world = await World.start({ backing: 'simulated' });
    try {
      const leader = world.operator();
      await eventually('it leads', async () => leader.manager?.synced);
      const standby = world.operator({ flags: { identity: 'linkspan-1' } });
      for (const operator of [leader, standby]) {
        expect((await ask(operator, '/healthz')).code).toBe(200);
        await eventually('it is ready', async () => (await ask(operator, '/readyz')).code === 200);
      }
      expect(standby.manager).toBeUndefined();
      // That nobody leads can be told from that there is nobody.
      expect((await ask(leader, '/metrics')).text).toContain(
        'leader_election_master_status{name="linkspan-operator"} 1',
      );
      expect((await ask(standby, '/metrics')).text).toContain(
        'leader_election_master_status{name="linkspan-operator"} 0',
      );
    } finally {
      await world.stop();
    }
  });
});
