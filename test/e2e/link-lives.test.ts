/**
 * Which Link has a target cluster, over the lives of several Links (rules E5, E7, E9, lessons L41 to L44): however they
 * are renamed, doubled, made invalid or deleted, one session writes for the cluster, and only mirrors that no Link asks
 * for are removed.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { linkCrd } from '../../crds/index.ts';
import { backings } from '../cluster/index.ts';
import type { Tuning } from '../../operator/config/tuning.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import type { SimulatedCluster } from '../cluster/simulated/start.ts';
import { eventually, installCrd, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { credentials, EXPORTED, GATEWAY, link, LINKS_NAMESPACE, service, slice } from '../support/builders.ts';
import { identities, type Inventory, inventory } from '../support/inventory.ts';
import { LASTING_LEASE, type TestOperator } from '../support/operator.ts';
import { TwoClusters } from '../support/two-clusters.ts';

/** For tests that await more than one slow thing. */
const LONG_MS = 120_000;

/** More than may go at once without a word (rule E6). */
const NAMES = Array.from({ length: 12 }, (_, at) => `svc-${at}`);

interface LeaseObject extends KubeObject {
  readonly spec?: { readonly holderIdentity?: string };
}

/** The steps that these tests are made of, in two clusters of their own. */
class Stage {
  readonly clusters: TwoClusters;
  operator: TestOperator;

  constructor(clusters: TwoClusters) {
    this.clusters = clusters;
    this.operator = this.#started();
  }

  async restartOperator(meanwhile: () => Promise<unknown> = () => Promise.resolve(), tuning?: Tuning): Promise<void> {
    await this.operator.stop();
    await meanwhile();
    this.operator = this.#started(tuning);
  }

  /** A Link to the target under the name west, unless it says otherwise. */
  async link(name: string, spec: object = {}): Promise<void> {
    await this.clusters.east.apply(
      link(name, {
        targetClusterName: 'west',
        clusterCredentialsSecret: 'cluster-credentials-west',
        probeSpec: undefined,
        ...spec,
      }),
    );
  }

  /** Makes a Link invalid, whatever else it says. */
  async spoil(name: string, spec: object = {}): Promise<void> {
    await this.link(name, { ...spec, gatewayPort: 'none' });
    await this.untilCondition(name, 'Accepted', 'InvalidLink');
  }

  unlink(name: string): Promise<unknown> {
    return this.clusters.east.delete(link(name));
  }

  async export(name: string): Promise<void> {
    await this.clusters.west.apply(service(name, { labels: EXPORTED }));
    await this.clusters.west.apply(slice(name));
  }

  /** The Services that the Link gets mirrored when it is made. */
  async exportAll(): Promise<void> {
    await Promise.all(NAMES.map((name) => this.export(name)));
  }

  async untilCondition(name: string, type: string, reason: string): Promise<void> {
    await eventually(`${type} of Link ${name} is ${reason}`, async () => {
      return (await this.clusters.condition(type, name))?.reason === reason;
    });
  }

  async untilReady(name: string): Promise<void> {
    await this.untilCondition(name, 'Ready', 'Ready');
    await eventually('the operator is at rest', () => this.operator.settled());
  }

  /** Waits until so many Services are mirrored from a cluster. */
  async untilMirrored(count: number, cluster = 'west'): Promise<void> {
    await eventually(`${count} mirrors of ${cluster}`, async () => (await this.mirrors(cluster)).length === count);
  }

  /** Names of the mirrors of a cluster. */
  async mirrors(cluster = 'west'): Promise<readonly string[]> {
    const services = Object.keys(await inventory(this.clusters, cluster)).filter((name) => name.startsWith('Service '));
    return services.map((name) => name.slice('Service shop/'.length));
  }

  /** Where all mirrors of a cluster lead to. */
  async gateways(cluster = 'west'): Promise<ReadonlySet<string>> {
    const names = await this.mirrors(cluster);
    const found = await Promise.all(names.map((name) => this.clusters.addresses(name)));
    return new Set(found.map((addresses) => addresses?.join() ?? 'nothing'));
  }

  /** By Link, the holder of its Lease. */
  async leases(): Promise<Readonly<Record<string, string>>> {
    const kind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: LINKS_NAMESPACE };
    const prefix = 'service-mirror-write-';
    const found = (await this.clusters.east.list<LeaseObject>(kind)).filter(({ metadata }) =>
      metadata.name.startsWith(prefix),
    );
    return Object.fromEntries(
      found.map(({ metadata, spec }) => [metadata.name.slice(prefix.length), spec?.holderIdentity ?? '']),
    );
  }

  /** Waits until these Links have a Lease, and no others. */
  async untilLeases(...links: readonly string[]): Promise<void> {
    await eventually(`Leases of ${links.join(', ')}, and no others`, async () => {
      return Object.keys(await this.leases()).join() === links.join();
    });
  }

  async metrics(matching: RegExp): Promise<readonly string[]> {
    const answer = await this.operator.ask('/metrics');
    return (answer?.text ?? '').split('\n').filter((line) => matching.test(line));
  }

  /** A Link west that serves the target, and what it has mirrored. */
  async served(name = 'west', spec: object = {}): Promise<Inventory> {
    await this.exportAll();
    await this.link(name, spec);
    await this.untilMirrored(NAMES.length);
    await this.untilReady(name);
    return inventory(this.clusters);
  }

  /** Deletions of {@link NAMES} are held. */
  async held(name = 'west'): Promise<void> {
    await this.restartOperator(() => Promise.all(NAMES.map((each) => this.clusters.west.delete(service(each)))));
    await this.untilCondition(name, 'PruneHeld', 'MassDeletion');
    expect(await this.mirrors()).toHaveLength(NAMES.length);
  }

  /** Waits until whatever the operator had to do with all Links has been done: another Link is taken up and served. */
  async untilPassedBy(): Promise<void> {
    await this.link('passing', { targetClusterName: 'passing', selector: { matchLabels: { none: 'such' } } });
    await this.untilReady('passing');
    await this.unlink('passing');
  }

  /** Deletes every Link and Service, and waits until nothing of them is left. */
  async clear(): Promise<void> {
    const links = await this.clusters.east.list({ apiVersion: LINK_VERSION, kind: 'Link', namespace: LINKS_NAMESPACE });
    await Promise.all(links.map((each) => this.clusters.east.delete(each as ObjectRef)));
    const exported = await this.clusters.west.list({ apiVersion: 'v1', kind: 'Service', namespace: 'shop' });
    await Promise.all(exported.map((each) => this.clusters.west.delete(each as ObjectRef)));
    try {
      await this.untilLeases();
    } finally {
      await this.operator.stop();
    }
  }

  #started(tuning: Tuning = {}): TestOperator {
    return this.clusters.operator({ flags: LASTING_LEASE, tuning });
  }
}

const LINK_CRD = linkCrd as unknown as ObjectRef;
const LINK_VERSION = 'multicluster.linkerd.io/v1alpha3';

onEachBacking('Links that come and go', (backing) => {
  let clusters: TwoClusters;
  let stage: Stage;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.east.apply(credentials('west', clusters.westCluster.kubeconfig));
  });
  beforeEach(() => {
    stage = new Stage(clusters);
  });
  afterEach(() => stage.clear(), LONG_MS);
  afterAll(() => clusters.stop());

  describe('a Link that is deleted and another made for its cluster (L41, E5, E9)', () => {
    test(
      'the other first, costs no write, and its series go on',
      async () => {
        const before = await stage.served();
        await stage.link('west-v2');
        await stage.untilCondition('west-v2', 'Accepted', 'DuplicateCluster');
        expect(Object.keys(await stage.leases())).toEqual(['west']);
        await stage.unlink('west');
        await stage.untilReady('west-v2');
        expect(await inventory(clusters)).toEqual(before);
        await stage.untilLeases('west-v2');
        expect(await stage.metrics(/^linkspan_mirrors\{.*state="ready"/)).toEqual([
          expect.stringMatching(/target_cluster_name="west".* 12$/),
        ]);
        expect(await stage.metrics(/^gateway_enabled\{target_cluster_name="west"/)).toHaveLength(1);
        expect(await stage.metrics(/link="west"/)).toEqual([]);
        expect(await stage.metrics(/"link\/west"/)).toEqual([]);
      },
      LONG_MS,
    );

    test(
      'a moment after it, costs no write',
      async () => {
        await stage.restartOperator(undefined, { removalGraceMs: 60_000 });
        const before = await stage.served();
        await stage.unlink('west');
        await eventually('the operator has seen it', async () => (await stage.metrics(/link="west"/)).length === 0);
        await stage.link('west-v2');
        await stage.untilReady('west-v2');
        expect(await inventory(clusters)).toEqual(before);
        await stage.untilLeases('west-v2');
        await stage.restartOperator();
      },
      LONG_MS,
    );

    test(
      'while its mirrors are being removed, leaves one session, and every mirror is there',
      async () => {
        await stage.restartOperator(undefined, { removalGraceMs: 0 });
        await stage.served();
        await stage.unlink('west');
        await stage.link('west-v2');
        await stage.untilReady('west-v2');
        await stage.untilMirrored(NAMES.length);
        expect(await stage.gateways()).toEqual(new Set([GATEWAY]));
        await stage.untilLeases('west-v2');
        await clusters.eastCluster.clearAudit();
        await stage.export('after');
        await stage.untilMirrored(NAMES.length + 1);
        await eventually('the operator is at rest', () => stage.operator.settled());
        expect((await clusters.writes()).filter((write) => write.startsWith('delete '))).toEqual([]);
      },
      LONG_MS,
    );

    test(
      'under the same name, with another gateway, leaves nothing of the first',
      async () => {
        const before = await stage.served();
        await stage.restartOperator(async () => {
          await stage.unlink('west');
          await stage.link('west', { gatewayAddress: '203.0.113.77' });
        });
        await eventually('every mirror leads to the other gateway', async () => {
          return [...(await stage.gateways())].join() === '203.0.113.77';
        });
        await stage.untilReady('west');
        expect(identities(await inventory(clusters))).toEqual(identities(before));
      },
      LONG_MS,
    );

    test(
      'while no operator runs, costs no write',
      async () => {
        const before = await stage.served();
        await stage.restartOperator(async () => {
          await stage.unlink('west');
          await stage.link('west-v2');
        });
        await stage.untilReady('west-v2');
        expect(await inventory(clusters)).toEqual(before);
        await stage.untilLeases('west-v2');
      },
      LONG_MS,
    );
  });

  test(
    'all Links that vanish with their CRD lose no mirror, also when it takes long to go (L56, E5)',
    async () => {
      const before = await stage.served();
      // What a finalizer holds keeps the CRD.
      const held = link('held', {}, { namespace: 'shop', finalizers: ['example.com/held'] });
      await clusters.east.apply(held);
      await clusters.east.delete(LINK_CRD);
      await eventually('the operator has seen that all Links vanish', async () =>
        stage.operator.lines.some(({ message }) => message.includes('their mirrors stay')),
      );
      if ((await clusters.east.get(held)) !== undefined) {
        await clusters.east.patch(held, { metadata: { finalizers: null } });
      }
      await eventually('the CRD is gone', async () => (await clusters.east.get(LINK_CRD)) === undefined);
      await installCrd(clusters.eastCluster, LINK_CRD);
      await stage.link('west');
      await stage.untilReady('west');
      expect(await inventory(clusters)).toEqual(before);
    },
    LONG_MS,
  );

  describe('two Links for one cluster (L42, E9)', () => {
    test(
      'the older one comes later: the one that is served keeps the cluster, and the other gives up its own',
      async () => {
        await stage.exportAll();
        await stage.link('first', { targetClusterName: 'north', gatewayAddress: '203.0.113.1' });
        await stage.untilReady('first');
        await stage.link('second', { gatewayAddress: '203.0.113.2' });
        await stage.untilReady('second');
        await stage.untilMirrored(NAMES.length, 'north');
        const before = await inventory(clusters);
        await stage.link('first', { gatewayAddress: '203.0.113.1' });
        await stage.untilCondition('first', 'Accepted', 'DuplicateCluster');
        await stage.untilMirrored(0, 'north');
        await stage.untilLeases('second');
        // Anything that makes keys due.
        await Promise.all(
          NAMES.map((name) => clusters.west.patch(service(name), { metadata: { labels: { touched: '1' } } })),
        );
        await stage.export('after');
        await stage.untilMirrored(NAMES.length + 1);
        await eventually('the operator is at rest', () => stage.operator.settled());
        expect(await stage.gateways()).toEqual(new Set(['203.0.113.2']));
        expect(identities(await inventory(clusters))).toMatchObject(identities(before));
        expect(await clusters.condition('Accepted', 'second')).toMatchObject({ status: 'True' });
      },
      LONG_MS,
    );

    test(
      'the served one turns invalid: it keeps the cluster, until it is deleted',
      async () => {
        const spec = { gatewayAddress: '203.0.113.2' };
        const before = await stage.served('second', spec);
        await stage.spoil('second', spec);
        await stage.link('another', { gatewayAddress: '203.0.113.1' });
        await stage.untilCondition('another', 'Accepted', 'DuplicateCluster');
        await stage.export('after');
        await stage.untilMirrored(NAMES.length + 1);
        await eventually('all lead to the gateway of the one that is served', async () => {
          return [...(await stage.gateways())].join() === '203.0.113.2';
        });
        expect(await inventory(clusters)).toMatchObject(before);
        expect(Object.keys(await stage.leases())).toEqual(['second']);

        const then = await inventory(clusters);
        await stage.unlink('second');
        await stage.untilReady('another');
        await eventually('every mirror leads to the gateway of the other', async () => {
          return [...(await stage.gateways())].join() === '203.0.113.1';
        });
        expect(identities(await inventory(clusters))).toEqual(identities(then));
        await stage.untilLeases('another');
      },
      LONG_MS,
    );

    test(
      'that are made at once, in one second: one is served, the other refused',
      async () => {
        await stage.exportAll();
        await Promise.all(['b', 'a'].map((name) => stage.link(name)));
        await stage.untilMirrored(NAMES.length);
        const isSettled = async (): Promise<string | false> => {
          const reasons = await Promise.all(['a', 'b'].map((name) => clusters.condition('Accepted', name)));
          const [served] = ['a', 'b'].filter((_, at) => reasons[at]?.status === 'True');
          const [refused] = ['a', 'b'].filter((_, at) => reasons[at]?.reason === 'DuplicateCluster');
          return served !== undefined && refused !== undefined && served;
        };
        const served = await eventually('one is served, the other refused', isSettled);
        await stage.untilReady(served);
        await stage.untilLeases(served);
      },
      LONG_MS,
    );
  });

  describe('held deletions (L43, E5, E6)', () => {
    test(
      'go when the Link is deleted',
      async () => {
        await stage.served();
        await stage.held();
        await stage.unlink('west');
        await stage.untilMirrored(0);
        await stage.untilLeases();
      },
      LONG_MS,
    );

    test(
      'go when the Link names another cluster, which is served then',
      async () => {
        await stage.served();
        await stage.held();
        await stage.export('web');
        await stage.link('west', { targetClusterName: 'north' });
        await stage.untilMirrored(0, 'west');
        await stage.untilMirrored(1, 'north');
        await stage.untilReady('west');
        expect(await stage.leases()).toEqual({ west: 'linkspan-0' });
      },
      LONG_MS,
    );

    test(
      'stay held when another Link takes over, and when it turns invalid',
      async () => {
        await stage.served();
        await stage.held();
        const before = await inventory(clusters);
        await stage.link('west-v2');
        await stage.untilCondition('west-v2', 'Accepted', 'DuplicateCluster');
        await stage.unlink('west');
        await stage.untilCondition('west-v2', 'PruneHeld', 'MassDeletion');
        await stage.spoil('west-v2');
        await stage.untilPassedBy();
        expect(await inventory(clusters)).toEqual(before);
      },
      LONG_MS,
    );
  });

  describe('a renamed Link (L44, E5, E7)', () => {
    test(
      'that is made invalid keeps its mirrors over a restart, and goes on when it is mended',
      async () => {
        const before = await stage.served();
        await stage.link('west-v2');
        await stage.untilCondition('west-v2', 'Accepted', 'DuplicateCluster');
        await stage.unlink('west');
        await stage.untilReady('west-v2');
        await stage.spoil('west-v2');
        await stage.untilPassedBy();
        expect(await inventory(clusters)).toEqual(before);
        await stage.restartOperator();
        await stage.untilPassedBy();
        expect(await inventory(clusters)).toEqual(before);
        await stage.link('west-v2');
        await stage.untilReady('west-v2');
        expect(await inventory(clusters)).toEqual(before);
      },
      LONG_MS,
    );

    test(
      'that is invalid when it is deleted loses its mirrors, also while no operator runs',
      async () => {
        await stage.served();
        await stage.spoil('west');
        await stage.restartOperator();
        await stage.untilPassedBy();
        expect(await stage.mirrors()).toHaveLength(NAMES.length);
        await stage.restartOperator(() => stage.unlink('west'));
        await stage.untilMirrored(0);
      },
      LONG_MS,
    );

    test(
      'to another cluster while no operator runs takes the mirrors of the former with it',
      async () => {
        await stage.served();
        await stage.restartOperator(() => stage.link('west', { targetClusterName: 'north' }));
        await stage.untilMirrored(0, 'west');
        await stage.untilMirrored(NAMES.length, 'north');
        await stage.untilReady('west');
      },
      LONG_MS,
    );
  });

  test(
    'A7 a Service that is gone claims no name, also in a session that stands by',
    async () => {
      const ofWest = { only: 'west' };
      const ofOther = { only: 'b-west' };
      const lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'service-mirror-write-west', namespace: LINKS_NAMESPACE },
        spec: {
          holderIdentity: 'linkerd-0',
          leaseDurationSeconds: 3600,
          acquireTime: '2026-01-01T00:00:00.000000Z',
          renewTime: '2026-01-01T00:00:00.000000Z',
        },
      };
      await clusters.east.apply(lease);
      await clusters.west.apply(service('a-b', { labels: ofWest }));
      await clusters.west.apply(service('a', { labels: ofOther }));
      await clusters.west.apply(slice('a', { labels: ofOther }));
      await stage.link('west', { selector: { matchLabels: ofWest } });
      await stage.untilCondition('west', 'Ready', 'HeldByAnother');
      await eventually('the target of west is listed', async () => {
        return (await clusters.condition('TargetReachable', 'west'))?.status === 'True';
      });
      await stage.link('z', { targetClusterName: 'b-west', selector: { matchLabels: ofOther } });
      const reason = async (): Promise<string | undefined> => {
        const found = await clusters.get<StatusOfMirrors>('Link', 'z', LINKS_NAMESPACE);
        return found?.status?.mirrorServices?.[0]?.conditions[0]?.reason;
      };
      await eventually('the older Link has the name', async () => (await reason()) === 'NameConflict');
      await clusters.west.delete(service('a-b', { labels: ofWest }));
      await eventually('it has it no more', async () => (await reason()) === 'Mirrored');
      expect(await stage.mirrors('b-west')).toEqual(['a-b-west']);
      await clusters.east.delete(lease);
    },
    LONG_MS,
  );
});

interface StatusOfMirrors extends KubeObject {
  readonly status?: {
    readonly mirrorServices?: readonly { readonly conditions: readonly { readonly reason: string }[] }[];
  };
}

describe.runIf(backings().includes('simulated'))('Links that come and go while a write fails [simulated]', () => {
  let clusters: TwoClusters;
  let stage: Stage;
  let east: SimulatedCluster;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'simulated' });
    east = clusters.eastCluster as SimulatedCluster;
    await clusters.east.apply(credentials('west', clusters.westCluster.kubeconfig));
  });
  beforeEach(() => {
    stage = new Stage(clusters);
  });
  afterEach(async () => {
    east.faults.clear();
    await stage.clear();
  }, LONG_MS);
  afterAll(() => clusters.stop());

  /** One mirror cannot be deleted for a while. */
  const refuseDeletion = () =>
    east.faults.refuse({
      failure: { kind: 'status', code: 503 },
      match: ({ verb, resource, name }) => verb === 'delete' && resource === 'services' && name === 'svc-0-west',
    });

  test('L41 E9: a removal that is under way ends when another Link is made for its cluster', async () => {
    await stage.served();
    const accept = refuseDeletion();
    await stage.unlink('west');
    await stage.untilMirrored(1);
    await stage.link('west-v2');
    await stage.untilReady('west-v2');
    await stage.untilMirrored(NAMES.length);
    await clusters.eastCluster.clearAudit();
    accept();
    await stage.export('after');
    await stage.untilMirrored(NAMES.length + 1);
    await eventually('the operator is at rest', () => stage.operator.settled());
    expect((await clusters.writes()).filter((write) => write.startsWith('delete '))).toEqual([]);
    expect(await stage.mirrors()).toHaveLength(NAMES.length + 1);
    await stage.untilLeases('west-v2');
  });

  test('L41 E9: a Link that comes back while it is being removed is served', async () => {
    await stage.served();
    const accept = refuseDeletion();
    await stage.unlink('west');
    await stage.untilMirrored(1);
    await stage.link('west');
    await stage.untilMirrored(NAMES.length);
    await stage.untilReady('west');
    accept();
    await stage.untilPassedBy();
    expect(await stage.mirrors()).toHaveLength(NAMES.length);
  });

  test('L43 E9: a Link that names another cluster is served once its old mirrors are gone, and reports that until then', async () => {
    await stage.served();
    const accept = refuseDeletion();
    await stage.link('west', { targetClusterName: 'north' });
    await stage.untilCondition('west', 'Synced', 'RemovingMirrors');
    await stage.untilMirrored(1);
    expect(await stage.mirrors('north')).toEqual([]);
    accept();
    await stage.untilMirrored(NAMES.length, 'north');
    await stage.untilReady('west');
    expect(await stage.mirrors('west')).toEqual([]);
  });

  test('L41 E9: a slow API server and many mirrors change nothing of that', async () => {
    await stage.restartOperator(undefined, { removalGraceMs: 0 });
    await stage.served();
    east.faults.latency(20, ({ verb }) => verb !== 'watch');
    await stage.unlink('west');
    await stage.link('west-v2');
    await stage.untilMirrored(NAMES.length);
    await stage.untilReady('west-v2');
    await stage.untilPassedBy();
    expect(await stage.mirrors()).toHaveLength(NAMES.length);
    expect(await stage.gateways()).toEqual(new Set([GATEWAY]));
  });
});
