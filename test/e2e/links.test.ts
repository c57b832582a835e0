/** Links beside each other, and each over its life: rules E1, E5, E7 and E9 of behaviour.md. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { borrowCluster, type TestCluster } from '../cluster/index.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { api, type Api, eventually } from '../cluster/workload/index.ts';
import {
  credentials,
  EXPORTED,
  GATEWAY,
  link,
  LINKS_NAMESPACE,
  namespace,
  service,
  slice,
  statefulSlice,
} from '../support/builders.ts';
import { addressesAre, exportAllReady, exportReady, exportService, mirrorOf, untilReady } from '../support/exports.ts';
import type { EndpointsObject, ServiceObject } from '../support/objects.ts';
import type { TestOperator } from '../support/operator.ts';
import { untilCondition } from '../support/reports.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const DEADLINE_MS = 60_000;

const UNPROBED = { probeSpec: undefined };

const WEST_CREDENTIALS = { clusterCredentialsSecret: 'cluster-credentials-west' };

const exported = async (cluster: Api, name: string): Promise<void> => {
  await cluster.apply(service(name, { labels: EXPORTED }));
  await cluster.apply(slice(name));
};

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
    const said = await untilCondition(clusters, 'TargetReachable', 'False', 'north');
    expect(said.reason).toBe('Unreachable');
    expect(said.message).toMatch(/since \d{4}-/);
    await exported(clusters.west, 'meanwhile');
    await addressesAre(clusters, 'meanwhile-west', [GATEWAY]);
    await untilCondition(clusters, 'Ready', 'True', 'west');
    await untilCondition(clusters, 'Ready', 'False', 'north');
    const now = await clusters.get('Endpoints', 'web-north');
    expect(now?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);

    await northCluster.start();
    await untilCondition(clusters, 'TargetReachable', 'True', 'north');
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
    const said = await untilCondition(clusters, 'Accepted', 'False', name);
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
    await untilCondition(clusters, 'Accepted', 'False', 'mended');
    await exported(clusters.west, 'patient');
    await clusters.east.apply(link('mended', mended));
    await untilCondition(clusters, 'Accepted', 'True', 'mended');
    await addressesAre(clusters, 'patient-mended', ['203.0.113.40']);
    await clusters.east.apply(link('mended', { ...mended, gatewayPort: 'y' }));
    await untilCondition(clusters, 'Accepted', 'False', 'mended');
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
    const said = await untilCondition(clusters, 'Accepted', 'False', 'shared-a');
    expect(said).toMatchObject({ reason: 'DuplicateCluster', message: expect.stringContaining('shared-b') as string });
    expect(await clusters.addresses('common-shared')).toEqual(['203.0.113.51']);
    // Its endpoints come first.
    await eventually('its Service is there', () => clusters.get('Service', 'common-shared'), DEADLINE_MS);
    const before = await clusters.get('Service', 'common-shared');
    await clusters.east.delete(link('shared-b'));
    await addressesAre(clusters, 'common-shared', ['203.0.113.52']);
    expect((await clusters.get('Service', 'common-shared'))?.metadata.uid).toBe(before?.metadata.uid);
  });

  test('L28 E7 a Link with a probe that makes no sense says so, is left alone, and harms no other', async () => {
    const wrong = {
      zero: ['period', { period: '0s' }],
      letters: ['period', { period: 'abc' }],
      never: ['failureThreshold', { failureThreshold: '0' }],
    } as const;
    for (const [name, [field, probe]] of Object.entries(wrong)) {
      const selector = { matchLabels: EXPORTED };
      const probeSpec = { path: '/ready', port: '4191', period: '100ms', ...probe };
      await clusters.east.apply(link(name, { ...WEST_CREDENTIALS, selector, probeSpec }));
      const condition = await eventually(`Link ${name} is judged`, async () => {
        const found = await clusters.condition('Accepted', name);
        return found?.status === 'False' && found;
      });
      expect(condition).toMatchObject({ reason: 'InvalidLink' });
      expect(condition.message).toContain(`spec.probeSpec.${field}`);
      expect(condition.message).toContain(Object.values(probe)[0]);
    }
    await exportAllReady(clusters, ['beside']);
    await clusters.ready();
    for (const name of Object.keys(wrong)) {
      expect(await clusters.get('Service', `beside-${name}`)).toBeUndefined();
      expect(await clusters.get('Service', `probe-${name}`, LINKS_NAMESPACE)).toBeUndefined();
    }
    await clusters.east.patch(link('letters'), { spec: { probeSpec: { period: '1s' } } });
    await eventually('a Link put right is served', () => clusters.get('Service', 'beside-letters'));
    for (const name of Object.keys(wrong)) await clusters.east.delete(link(name));
    await eventually(
      'and gone with its Link',
      async () => (await clusters.get('Service', 'beside-letters')) === undefined,
    );
  });
});

onEachBacking('a Link', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
  });
  afterEach(() => operator.stop());
  afterAll(() => clusters.stop());

  test('L2 E5 G2: writes of its own status restart nothing, and come to an end', async () => {
    await clusters.link();
    operator = clusters.operator();
    await exportReady(clusters, 'web');
    await clusters.ready();
    await eventually('the operator is at rest', () => operator.settled());
    await clusters.westCluster.clearAudit();
    await clusters.eastCluster.clearAudit();
    for (const [does, status] of [
      ['die', 'False'],
      ['revive', 'True'],
    ] as const) {
      await clusters.gateway[does]();
      await eventually(`GatewayAlive is ${status}`, async () => {
        return (await clusters.condition('GatewayAlive'))?.status === status;
      });
    }
    await clusters.ready();
    await exportReady(clusters, 'after-status');
    // Kinds that the server does not have are looked for again and again.
    const read = (await clusters.westCluster.audit()).filter(
      (each) => each.userAgent === 'linkspan' && each.code !== 404,
    );
    expect(read.filter(({ verb }) => verb === 'list' || verb === 'watch')).toEqual([]);
    expect((await clusters.writes()).filter((write) => write.includes(' links/status '))).not.toEqual([]);

    await eventually(
      'all is reported',
      async () => (await clusters.mirrorCondition('after-status'))?.status === 'True',
    );
    await clusters.eastCluster.clearAudit();
    const { probes } = clusters.gateway;
    await eventually('time has passed, in probes', async () => clusters.gateway.probes > probes + 20);
    expect(await clusters.writes()).toEqual([]);
  });

  test('L20 E5: deleted and made again with another gateway while work is queued, it leaves nothing of the first', async () => {
    const names = Array.from({ length: 60 }, (_, at) => `queued-${at}`);
    for (const name of names) {
      await exportService(clusters, name);
    }
    await clusters.link();
    // One at a time, so that the rest waits in the queue.
    operator = clusters.operator({ flags: { concurrency: '1' } });
    const written = async () => {
      const found = await Promise.all(names.map((name) => clusters.addresses(`${name}-west`)));
      return found.flat().filter((address) => address === GATEWAY).length;
    };
    await eventually('some are mirrored', async () => (await written()) > 0);
    await clusters.east.delete(link('west'));
    const remade = { gatewayAddress: '203.0.113.77' };
    await clusters.east.apply(link('west', remade));
    const shows = async (): Promise<boolean> => {
      const found = await Promise.all(names.map((name) => clusters.addresses(`${name}-west`)));
      return found.every((addresses) => addresses?.join() === '203.0.113.77');
    };
    await eventually('every mirror has the new gateway', shows, 60_000);
    await eventually('the operator is at rest', () => operator.settled());
    await clusters.ready();
    const probe = await clusters.addresses('probe-west', LINKS_NAMESPACE);
    expect(probe).toEqual(['203.0.113.77']);
    expect(await shows()).toBe(true);
  }, 180_000);
});

describe('a Link that changes', () => {
  onEachBacking('is applied in place', (backing) => {
    let clusters: TwoClusters;
    beforeAll(async () => {
      clusters = await TwoClusters.start({ backing });
      await clusters.link();
      clusters.operator();
      await exportService(clusters, 'web', { labels: { ...EXPORTED, team: 'a' }, annotations: { note: 'x' } });
      await clusters.west.apply(service('db', { headless: true, labels: EXPORTED }));
      await clusters.west.apply(statefulSlice('db', ['db-0']));
      await untilReady(clusters, 'web');
      await untilReady(clusters, 'db-0');
    });
    afterAll(() => clusters.stop());

    const change = (spec: object) => clusters.east.patch(link('west'), { spec });
    const endpoints = (name = 'web-west') => clusters.get<EndpointsObject>('Endpoints', name);
    const uids = async () =>
      Promise.all(['web', 'db', 'db-0'].map(async (name) => (await mirrorOf(clusters, name)).metadata.uid));

    test('its gateway address, port and identity reach every mirror without deleting any (C4)', async () => {
      const before = await uids();
      await change({ gatewayAddress: '203.0.113.21, 203.0.113.20', gatewayPort: '30143', gatewayIdentity: 'other.id' });
      for (const name of ['web-west', 'db-0-west']) {
        await addressesAre(clusters, name, ['203.0.113.20', '203.0.113.21']);
        await eventually(`${name} follows`, async () => {
          const found = await endpoints(name);
          return (
            found?.subsets?.[0]?.ports?.[0]?.port === 30_143 &&
            found.metadata.annotations?.['mirror.linkerd.io/remote-gateway-identity'] === 'other.id'
          );
        });
      }
      await addressesAre(clusters, 'probe-west', ['203.0.113.20', '203.0.113.21'], LINKS_NAMESPACE);
      expect(await uids()).toEqual(before);
    });

    test.each<[string, object, () => Promise<boolean>]>([
      [
        'excludedLabels',
        { excludedLabels: ['team'] },
        async () => !('team' in ((await mirrorOf(clusters, 'web')).metadata.labels ?? {})),
      ],
      [
        'excludedAnnotations',
        { excludedAnnotations: ['note'] },
        async () => !('note' in ((await mirrorOf(clusters, 'web')).metadata.annotations ?? {})),
      ],
      [
        'targetClusterDomain',
        { targetClusterDomain: 'west.example' },
        async () =>
          (await endpoints())?.metadata.annotations?.['mirror.linkerd.io/remote-svc-fq-name'] ===
          'web.shop.svc.west.example',
      ],
      [
        'probeSpec.port',
        { probeSpec: { port: '4192' } },
        async () =>
          (await clusters.get<ServiceObject>('Service', 'probe-west', LINKS_NAMESPACE))?.spec.ports[0]?.port === 4192,
      ],
      [
        'a probe that is no more',
        { probeSpec: null },
        async () => (await clusters.get('Service', 'probe-west', LINKS_NAMESPACE)) === undefined,
      ],
    ])('%s is taken up, and nothing is replaced (E5)', async (_, spec, isDone) => {
      const before = await uids();
      await change(spec);
      await eventually('it is taken up', isDone, DEADLINE_MS);
      expect(await uids()).toEqual(before);
    });

    test('headless mirroring can be turned off and on (E5)', async () => {
      await change({ enableHeadlessServices: false });
      await eventually(
        'db is a ClusterIP',
        async () => (await mirrorOf(clusters, 'db')).spec.clusterIP !== 'None',
        DEADLINE_MS,
      );
      await eventually('its pod is gone', async () => (await clusters.get('Service', 'db-0-west')) === undefined);
      await change({ enableHeadlessServices: null });
      await eventually(
        'db is headless',
        async () => (await mirrorOf(clusters, 'db')).spec.clusterIP === 'None',
        DEADLINE_MS,
      );
      await mirrorOf(clusters, 'db-0');
    });

    test('other selectors are taken up: what is no longer selected goes, what is now comes (E5, A2)', async () => {
      const { metadata } = await mirrorOf(clusters, 'db');
      await exportService(clusters, 'picked', { labels: { pick: 'me' } });
      await change({ selector: { matchLabels: null, matchExpressions: [{ key: 'pick', operator: 'Exists' }] } });
      await mirrorOf(clusters, 'picked');
      await eventually(
        'web is gone',
        async () => (await clusters.get('Service', 'web-west')) === undefined,
        DEADLINE_MS,
      );
      await change({ selector: { matchExpressions: null, matchLabels: EXPORTED } });
      await mirrorOf(clusters, 'web');
      expect((await mirrorOf(clusters, 'db')).metadata.uid).not.toBe(metadata.uid);
    });

    test('another name of the target renames every mirror, and leaves none of the old (E5)', async () => {
      await change({ targetClusterName: 'elsewhere', clusterCredentialsSecret: 'cluster-credentials-west' });
      await eventually('web is renamed', () => clusters.get('Service', 'web-elsewhere'), DEADLINE_MS);
      await eventually('the pod too', () => clusters.get('Service', 'db-0-elsewhere'), DEADLINE_MS);
      for (const name of ['web-west', 'db-west', 'db-0-west']) {
        await eventually(
          `${name} is gone`,
          async () => (await clusters.get('Service', name)) === undefined,
          DEADLINE_MS,
        );
      }
    });
  });
});
