import { isDeepStrictEqual } from 'node:util';
import { afterEach, describe, expect, it, test } from 'vitest';
import { linkCrd, serviceExportCrd, serviceImportCrd } from '../../../crds/index.ts';
import { Manager } from '../../../operator/link/manager.ts';
import { verdict } from '../../../operator/kube/conditions.ts';
import { linkStatus, type LinkStatusPatch, NO_FINDINGS } from '../../../operator/link/status/status.ts';
import { mirrored } from '../../../operator/mirror/status.ts';
import type { EventRecorder } from '../../../operator/runtime/events.ts';
import type { Lease } from '../../../operator/kube/objects.ts';
import { Interruptions } from '../../../operator/runtime/interruptions.ts';
import type { RequestInfo } from '../../cluster/simulated/request.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { installCrd, type ObjectRef } from '../../cluster/workload/index.ts';
import { credentials, GATEWAY, link, LINKS_NAMESPACE, namespace } from '../../support/builders.ts';
import { Stage, type StageOptions } from './stage.ts';

/** Long enough that a test is over before. */
const FOR_EVER_MS = 600_000;

describe('the manager of Links', () => {
  let stage: Stage;
  /** Events: the Link and the reason. */
  let said: string[];
  let stop: AbortController;
  let running: Promise<void>;
  let manager: Manager;
  afterEach(async () => {
    stop.abort();
    await running;
    await stage.stop();
  });

  /** Starts a manager over what is there. */
  const start = async (prepare: () => void = () => undefined, options: StageOptions = {}): Promise<void> => {
    stage = await Stage.start(options);
    prepare();
    run();
  };
  const run = (): void => {
    said = [];
    stop = new AbortController();
    const recorder = {
      record: ({ name }: { readonly name: string }, _type: string, reason: string) => said.push(`${name} ${reason}`),
    };
    const { client, config, tuning, metrics, log } = stage;
    const events = recorder as unknown as EventRecorder;
    const { mayWrite, hasCeased } = stage;
    const rest = { mayWrite, hasCeased, interruptions: new Interruptions() };
    manager = new Manager({ client, config, tuning, metrics, log, events, ...rest });
    running = manager.run(stop.signal);
  };
  const restart = async (meanwhile: () => void): Promise<void> => {
    stop.abort();
    await running;
    meanwhile();
    run();
  };

  /** A Link that has no credentials, so that nothing is known of its target. */
  const put = (name: string, spec: object = {}, metadata: object = {}): void =>
    stage.put(link(name, { targetClusterName: 'west', probeSpec: undefined, ...spec }, metadata));
  const remove = (name: string): void =>
    void stage.east.store.delete('multicluster.linkerd.io/v1alpha3', 'Link', LINKS_NAMESPACE, name);
  const statusOf = (name: string): Partial<LinkStatusPatch> | undefined => {
    const found = stage.east.store.get('multicluster.linkerd.io/v1alpha3', 'Link', LINKS_NAMESPACE, name) as
      { readonly status?: Partial<LinkStatusPatch> } | undefined;
    return found?.status;
  };
  const condition = (name: string, type: string): LinkStatusPatch['conditions'][number] | undefined =>
    statusOf(name)?.conditions?.find((each) => each.type === type);
  const until = (name: string, type: string, reason: string): Promise<unknown> =>
    eventually(`${type} of ${name} is ${reason}`, async () => condition(name, type)?.reason === reason);
  /** Waits until these Links, and no others, hold Leases, for the clusters given. */
  const untilServed = (served: Readonly<Record<string, string>>): Promise<unknown> =>
    eventually(`Leases are ${JSON.stringify(served)}`, async () => {
      const held = Object.entries(stage.leases()).map(([name, { holder, cluster }]) => [name, holder && cluster]);
      return JSON.stringify(Object.fromEntries(held.sort())) === JSON.stringify(served);
    });
  const untilGone = (...left: readonly string[]): Promise<unknown> =>
    eventually(`only ${left.join(', ')} is left`, async () => stage.has(...left));
  /** Waits until what the manager had to do before is done, as far as it is done in order. */
  const untilPassed = async (): Promise<void> => {
    put('z-passing', { targetClusterName: 'passing' });
    await eventually('another Link is served', async () => stage.leases()['z-passing']?.holder === 'linkspan-0');
    remove('z-passing');
    await eventually('and removed', async () => stage.leases()['z-passing'] === undefined);
  };
  const mirrors = (...names: readonly string[]) => {
    for (const name of names) stage.mirror(name);
  };

  it('serves a Link under its Lease, and leaves its mirrors while its target cannot be read (E4)', async () => {
    await start(() => {
      mirrors('a', 'b');
      put('west');
    });
    await untilServed({ west: 'west' });
    await until('west', 'Accepted', 'Accepted');
    await until('west', 'CredentialsValid', 'SecretNotFound');
    await untilPassed();
    expect(stage.services()).toEqual(['a-west', 'b-west']);
  });

  it('keeps the gateway of mirrors up to date whatever is known of the target (C1, C4)', async () => {
    await start(() => {
      mirrors('a');
      put('west');
    });
    await untilServed({ west: 'west' });
    put('west', { gatewayAddress: '203.0.113.77' });
    await eventually('it is up to date', async () => stage.addresses('a-west').join() === '203.0.113.77');
  });

  it('is not ready while it may not read what it has read before (H5)', async () => {
    await start(() => put('west'));
    await eventually('it is ready', async () => manager.check().ok);
    const isRead = ({ resource, verb }: { readonly resource: string; readonly verb: string }): boolean =>
      resource === 'endpoints' && (verb === 'list' || verb === 'watch');
    const allow = stage.east.faults.refuse({ failure: { kind: 'status', code: 403 }, match: isRead });
    stage.east.faults.dropWatches(isRead);
    await eventually('it is not', async () => !manager.check().ok);
    expect(manager.check().message).toContain('endpoints');
    allow();
    await eventually('it is ready again', async () => manager.check().ok);
  });

  it('removes what a deleted Link leaves, and its Lease (E5)', async () => {
    await start(() => {
      mirrors('a', 'b');
      stage.mirror('a', 'north');
      put('west');
    });
    await untilServed({ west: 'west' });
    remove('west');
    await untilGone('a-north');
    await untilServed({});
  });

  describe('when all Links vanish (L56, E5)', () => {
    const crd = linkCrd as unknown as ObjectRef;
    const deleteCrd = () =>
      stage.east.store.delete('apiextensions.k8s.io/v1', 'CustomResourceDefinition', undefined, crd.metadata.name);
    const hasLogged = (text: string) => eventually(text, async () => stage.lines.some((line) => line.includes(text)));
    const HELD = 'their mirrors stay';

    /** A manager that serves two Links with mirrors, which would be removed at once. */
    const serve = async (): Promise<void> => {
      await start(
        () => {
          mirrors('a', 'b');
          stage.mirror('a', 'north');
          put('west');
          put('north', { targetClusterName: 'north' });
        },
        { tuning: { returnGraceMs: FOR_EVER_MS } },
      );
      await untilServed({ north: 'north', west: 'west' });
    };

    it('with their CRD, keeps their mirrors, and hands them to the Links that come again', async () => {
      await serve();
      const before = stage.east.store.list('v1', 'Service', 'shop');
      deleteCrd();
      await hasLogged(HELD);
      stage.put(crd);
      put('west');
      await until('west', 'CredentialsValid', 'SecretNotFound');
      put('z', { targetClusterName: 'z' });
      await untilServed({ north: 'north', west: 'west', z: 'z' });
      expect(stage.east.store.list('v1', 'Service', 'shop')).toEqual(before);
    });

    it('with their CRD, while no operator ran, keeps their mirrors', async () => {
      await serve();
      await restart(() => {
        deleteCrd();
        stage.put(crd);
      });
      await hasLogged('there is no Link any more');
      put('z', { targetClusterName: 'z' });
      await untilServed({ north: '', west: '', z: 'z' });
      expect(stage.services()).toHaveLength(3);
    });

    it('with their CRD, removes the mirrors of one that is unlinked then, whose session renews its Lease (L151)', async () => {
      await serve();
      deleteCrd();
      await hasLogged(HELD);
      stage.put(crd);
      const lease = stage.east.store.get(
        'coordination.k8s.io/v1',
        'Lease',
        LINKS_NAMESPACE,
        'service-mirror-write-west',
      ) as unknown as Lease;
      const annotations = { ...lease.metadata.annotations, 'linkspan.dev/unlinked': new Date().toISOString() };
      const renewTime = new Date(Date.now() + 1000).toISOString().replace('Z', '000Z');
      const renewed = { ...lease, metadata: { ...lease.metadata, annotations }, spec: { ...lease.spec, renewTime } };
      stage.put(renewed as unknown as ObjectRef);
      // Mirrors that wait are looked at when a namespace is created.
      stage.put(namespace('new'));
      await untilServed({ north: 'north' });
      expect(stage.services()).toEqual(['a-north']);
    });

    it('with their namespace, keeps their mirrors', async () => {
      await serve();
      // What finalizers hold keeps a namespace from going.
      stage.put({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'held', namespace: LINKS_NAMESPACE, finalizers: ['example.com/held'] },
      } as ObjectRef);
      stage.east.store.delete('v1', 'Namespace', undefined, LINKS_NAMESPACE);
      await hasLogged(HELD);
      expect(stage.services()).toHaveLength(3);
    });
  });

  it('removes what a Link left that was deleted while no operator ran (E5)', async () => {
    await start(() => {
      mirrors('a');
      stage.lease('west', '', 'west');
    });
    await untilGone();
    await untilServed({});
  });

  it('reads ServiceImports, and takes exports, unless it is told to leave the MCS API alone (K1)', async () => {
    const lists = async (plural: string): Promise<number> =>
      (await stage.east.audit()).filter(({ verb, resource }) => verb === 'list' && resource === plural).length;
    await start(() => put('west'));
    await eventually('ServiceImports are looked for', async () => (await lists('serviceimports')) > 0);
    expect(await lists('serviceexports')).toBe(0);
    for (const crd of [serviceExportCrd, serviceImportCrd]) await installCrd(stage.east, crd);
    await eventually('exports are looked for', async () => (await lists('serviceexports')) > 0);
    stop.abort();
    await running;
    await stage.stop();
    await start(() => put('west'), { flags: { serviceImports: false } });
    await untilServed({ west: 'west' });
    expect(await lists('serviceimports')).toBe(0);
  });

  it('releases the Leases of its Links when it ends, and they record the clusters still (H2)', async () => {
    await start(() => put('west'));
    await untilServed({ west: 'west' });
    stop.abort();
    await running;
    expect(stage.leases()).toEqual({ west: { holder: '', cluster: 'west' } });
  });

  describe('of a Link that is renamed (L41, E5, E9)', () => {
    const versions = (): readonly unknown[] =>
      stage.east.store.list('v1', 'Service', 'shop').map(({ metadata }) => metadata.resourceVersion);

    it('loses nothing when the new one is made first', async () => {
      await start(() => {
        mirrors('a', 'b');
        put('old');
      });
      await untilServed({ old: 'west' });
      const before = versions();
      put('new');
      await until('new', 'Accepted', 'DuplicateCluster');
      remove('old');
      await untilServed({ new: 'west' });
      await until('new', 'Accepted', 'Accepted');
      expect(versions()).toEqual(before);
    });

    it('loses nothing when the new one is there in time, and the watch shows it late', async () => {
      const prepare = (): void => {
        mirrors('a', 'b');
        put('old');
      };
      await start(prepare, { tuning: { removalGraceMs: 300 } });
      await untilServed({ old: 'west' });
      const before = versions();
      await stage.east.clearAudit();
      remove('old');
      await eventually('that is seen', async () =>
        (await stage.east.audit()).some(({ uri }) => uri.split('?')[0] === '/apis/multicluster.linkerd.io/v1alpha3'),
      );
      const isOfLinks = ({ resource }: { readonly resource?: string | undefined }): boolean => resource === 'links';
      const hear = stage.east.faults.silenceWatches(isOfLinks);
      put('new');
      await eventually('Links are listed', async () =>
        (await stage.east.audit()).some((request) => isOfLinks(request) && request.verb === 'list'),
      );
      hear();
      stage.east.faults.dropWatches(isOfLinks);
      await untilServed({ new: 'west' });
      expect(versions()).toEqual(before);
    });

    it('loses nothing when the old one is deleted a moment before', async () => {
      await start(
        () => {
          mirrors('a', 'b');
          put('old');
        },
        { tuning: { removalGraceMs: FOR_EVER_MS } },
      );
      await untilServed({ old: 'west' });
      const before = versions();
      remove('old');
      put('z', { targetClusterName: 'north' });
      await untilServed({ old: 'west', z: 'north' });
      put('new');
      await untilServed({ new: 'west', z: 'north' });
      expect(versions()).toEqual(before);
    });

    it('leaves no Lease of the old one when that is deleted first, and is being removed', async () => {
      await start(() => put('old'));
      await untilServed({ old: 'west' });
      remove('old');
      put('new');
      await untilServed({ new: 'west' });
    });

    it('stops a removal that is under way, and what it has not deleted stays', async () => {
      await start(() => {
        mirrors('a', 'b');
        stage.lease('old', '', 'west');
        stage.east.faults.refuse({
          failure: { kind: 'status', code: 503 },
          match: ({ verb, name }) => verb === 'delete' && name === 'a-west',
        });
      });
      await untilGone('a-west');
      put('new');
      await untilServed({ new: 'west' });
      stage.east.faults.clear();
      await untilPassed();
      expect(stage.services()).toEqual(['a-west']);
    });

    it('loses nothing while no operator runs, and the Lease of the old one goes', async () => {
      await start(() => {
        mirrors('a');
        put('old');
      });
      await untilServed({ old: 'west' });
      const before = versions();
      await restart(() => {
        remove('old');
        put('new');
      });
      await untilServed({ new: 'west' });
      expect(versions()).toEqual(before);
    });

    it('forgets the Lease that another record of its cluster is, however often that is refused', async () => {
      await start(() => {
        mirrors('a');
        put('new');
        stage.lease('old', '', 'west');
        stage.east.faults.refuse({
          failure: { kind: 'status', code: 503 },
          match: ({ verb, name }) => verb === 'delete' && name === 'service-mirror-write-old',
          times: 2,
        });
      });
      await untilServed({ new: 'west' });
      expect(stage.services()).toEqual(['a-west']);
    });
  });

  describe('of two Links for one cluster (L42, E9)', () => {
    it('serves the one that it serves, when an older one comes to name the cluster', async () => {
      await start(() => put('b', {}, { creationTimestamp: '2026-01-02T00:00:00Z' }));
      await untilServed({ b: 'west' });
      put('a', {}, { creationTimestamp: '2026-01-01T00:00:00Z' });
      await until('a', 'Accepted', 'DuplicateCluster');
      await untilPassed();
      await untilServed({ b: 'west' });
      expect(said).toContain('a DuplicateCluster');
    });

    it('serves one, of those that it finds equally old (M2)', async () => {
      await start(() => {
        for (const name of ['b', 'a']) put(name, {}, { creationTimestamp: '2026-01-01T00:00:00Z' });
      });
      await untilServed({ a: 'west' });
      await until('b', 'Accepted', 'DuplicateCluster');
      expect(stage.lines.filter((line) => line === 'info serving the Link')).toHaveLength(1);
    });

    it('ends a session whose Link comes to name the cluster of another, and gives up its Lease', async () => {
      await start(() => {
        put('a', { targetClusterName: 'north' });
        put('b');
        stage.mirror('x', 'north');
        stage.mirror('x', 'west');
      });
      await untilServed({ a: 'north', b: 'west' });
      put('a');
      await until('a', 'Accepted', 'DuplicateCluster');
      await untilServed({ b: 'west' });
      expect(stage.services()).toEqual(['x-west']);
    });

    it('serves the other at once when the one that it serves names another cluster', async () => {
      await start(() => {
        mirrors('x');
        put('a');
        put('b');
      });
      await untilServed({ a: 'west' });
      put('a', { targetClusterName: 'north' });
      await untilServed({ a: 'north', b: 'west' });
      await until('b', 'Accepted', 'Accepted');
      expect(stage.services()).toEqual(['x-west']);
    });
  });

  describe('of a Link that turns invalid (E7, L44)', () => {
    const INVALID = { gatewayPort: 'none' };

    it('goes on by its last valid spec, and says what is wrong', async () => {
      await start(() => {
        mirrors('a');
        put('west');
      });
      await untilServed({ west: 'west' });
      put('west', { ...INVALID, gatewayAddress: '203.0.113.77' });
      await until('west', 'Accepted', 'InvalidLink');
      await untilPassed();
      await untilServed({ west: 'west' });
      expect(stage.addresses('a-west')).toEqual([GATEWAY]);
      expect(stage.lines.filter((line) => line === 'info serving the Link')).toHaveLength(2);
    });

    it('keeps its cluster from another Link', async () => {
      await start(() => put('west'));
      await untilServed({ west: 'west' });
      put('west', INVALID);
      put('another');
      await until('another', 'Accepted', 'DuplicateCluster');
      await untilServed({ west: 'west' });
      remove('west');
      await untilServed({ another: 'west' });
    });

    it('removes nothing at start, and nothing of a cluster that it names (M1, r03)', async () => {
      await start(() => {
        mirrors('a');
        stage.lease('renamed', '', 'west');
        stage.lease('west', '', 'west');
        put('west', INVALID);
      });
      await until('west', 'Accepted', 'InvalidLink');
      await untilPassed();
      expect(stage.services()).toEqual(['a-west']);
      put('west');
      await untilServed({ west: 'west' });
      expect(stage.services()).toEqual(['a-west']);
    });

    it('removes what it leaves when it is deleted (M8)', async () => {
      await start(() => {
        mirrors('a');
        stage.lease('west', '', 'west');
        put('west', INVALID);
      });
      await until('west', 'Accepted', 'InvalidLink');
      remove('west');
      await untilGone();
      await untilServed({});
    });

    it('stops no other', async () => {
      await start(() => {
        put('a', { ...INVALID, targetClusterName: 'north' });
        put('b');
      });
      await untilServed({ b: 'west' });
      await until('a', 'Accepted', 'InvalidLink');
    });
  });

  it('reports of a Link that was made anew nothing of the former one, which no watch showed to go (G1, L175)', async () => {
    await start(() => {
      stage.put(credentials('west', 'no kubeconfig'));
      put('west');
    });
    await until('west', 'CredentialsValid', 'KubeconfigInvalid');
    const isOfLinks = ({ resource }: { readonly resource: string }): boolean => resource === 'links';
    // The session of the former one takes a while to end.
    stage.east.faults.latency(500, ({ resource }) => resource === 'leases');
    const hear = stage.east.faults.silenceWatches(isOfLinks);
    remove('west');
    put('west', { clusterCredentialsSecret: 'others' });
    hear();
    stage.east.faults.dropWatches(isOfLinks);
    const reasons = new Set<string | undefined>();
    await eventually('it is reported of', async () => {
      const reason = condition('west', 'CredentialsValid')?.reason;
      reasons.add(reason);
      return reason === 'SecretNotFound';
    });
    expect(reasons).not.toContain('KubeconfigInvalid');
  });

  describe('of a Link that names another cluster (L43, E5)', () => {
    it('removes the mirrors of the former first, and says so', async () => {
      await start(() => {
        mirrors('a');
        put('west');
      });
      await untilServed({ west: 'west' });
      stage.east.faults.refuse({ failure: { kind: 'status', code: 503 }, match: ({ verb }) => verb === 'delete' });
      put('west', { targetClusterName: 'north' });
      await until('west', 'Synced', 'RemovingMirrors');
      expect(stage.leases()).toEqual({ west: { holder: 'linkspan-0', cluster: 'west' } });
      stage.east.faults.clear();
      await untilServed({ west: 'north' });
      expect(stage.has()).toBe(true);
      await eventually('none is listed (L143)', async () => statusOf('west')?.mirrors?.total === 0);
    });

    it('says so of a Link that was made anew meanwhile as well (L145)', async () => {
      await start(() => {
        mirrors('a');
        put('west');
      });
      await untilServed({ west: 'west' });
      let isRemoving = false;
      const match = ({ verb }: { readonly verb: string }): boolean => {
        isRemoving ||= verb === 'delete';
        return verb === 'delete';
      };
      stage.east.faults.refuse({ failure: { kind: 'status', code: 503 }, match });
      remove('west');
      await eventually('its mirrors are being removed', async () => isRemoving);
      put('west', { targetClusterName: 'north' });
      await until('west', 'Synced', 'RemovingMirrors');
      stage.east.faults.clear();
      await untilServed({ west: 'north' });
      expect(stage.has()).toBe(true);
    });

    it('serves it again for the former when it comes back meanwhile', async () => {
      await start(() => {
        mirrors('a');
        put('west');
      });
      await untilServed({ west: 'west' });
      stage.east.faults.refuse({ failure: { kind: 'status', code: 503 }, match: ({ verb }) => verb === 'delete' });
      put('west', { targetClusterName: 'north' });
      await until('west', 'Synced', 'RemovingMirrors');
      put('west');
      await eventually('it is served again', async () => condition('west', 'Synced')?.reason !== 'RemovingMirrors');
      stage.east.faults.clear();
      await untilPassed();
      await untilServed({ west: 'west' });
      expect(stage.services()).toEqual(['a-west']);
    });

    it('removes the mirrors of the former also when that happened while no operator ran', async () => {
      await start(() => {
        mirrors('a');
        stage.lease('west', '', 'west');
        put('west', { targetClusterName: 'north' });
      });
      await untilServed({ west: 'north' });
      expect(stage.has()).toBe(true);
    });
  });

  it('looks at a Link anew that was deleted and made again unseen, with the same generation (L20, M4)', async () => {
    await start(
      () => {
        mirrors('a');
        put('west');
      },
      { tuning: { removalGraceMs: FOR_EVER_MS } },
    );
    await untilServed({ west: 'west' });
    remove('west');
    put('west', { gatewayAddress: '203.0.113.77' });
    await eventually('its gateway is in use', async () => stage.addresses('a-west').join() === '203.0.113.77');
    await untilServed({ west: 'west' });
    expect(stage.lines.filter((line) => line === 'info serving the Link')).toHaveLength(2);
  });

  it('takes up another Secret that a Link names, and what becomes of it (E2, M5)', async () => {
    await start(() => put('west'));
    const says = (text: string) =>
      eventually(`credentials: ${text}`, async () => condition('west', 'CredentialsValid')?.message.includes(text));
    await says('Secret cluster-credentials-west does not exist');
    put('west', { clusterCredentialsSecret: 'other' });
    await says('Secret other does not exist');
    stage.put({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'mirror.linkerd.io/remote-kubeconfig',
      metadata: { name: 'other', namespace: LINKS_NAMESPACE },
      data: {},
    } as ObjectRef);
    await says('Secret other has no data key');
  });

  it('goes on when Leases cannot be listed, and lists them until they can', async () => {
    let allow = (): void => undefined;
    await start(() => {
      mirrors('a');
      stage.lease('old', '', 'west');
      put('north', { targetClusterName: 'north' });
      allow = stage.east.faults.refuse({
        failure: { kind: 'status', code: 403 },
        match: ({ verb, resource }) => verb === 'list' && resource === 'leases',
      });
    });
    await eventually('the Link is served', async () => stage.leases()['north']?.holder === 'linkspan-0');
    expect(stage.lines).toContain('warn Leases cannot be listed; mirrors that deleted Links left are not removed yet');
    expect(stage.services()).toEqual(['a-west']);
    allow();
    await eventually('they are removed', async () => stage.services().length === 0);
  });

  it('does not try a removal again and again that a namespace which cannot be read keeps from its end', async () => {
    await start(
      () => {
        mirrors('a');
        stage.lease('old', '', 'west');
        stage.east.faults.refuse({
          failure: { kind: 'status', code: 403 },
          match: ({ namespace = '' }) => namespace === 'bank',
        });
      },
      { flags: { mirrorNamespaces: ['shop', 'bank'] } },
    );
    await eventually('it has ended', async () =>
      stage.lines.some((line) => line.includes('the Lease of the Link stays')),
    );
    // Time enough for several, in what else the manager does.
    for (const name of ['a', 'b', 'c', 'd']) {
      put(name, { targetClusterName: name });
      await until(name, 'Accepted', 'Accepted');
    }
    expect(stage.lines.filter((line) => line.includes('the Lease of the Link stays'))).toHaveLength(1);
    expect(stage.leases()).toMatchObject({ old: { holder: '', cluster: 'west' } });
  });

  it('writes a status that others changed again, and reconciles no cluster for that (G2)', async () => {
    await start(() => put('west'));
    await untilServed({ west: 'west' });
    const reconciles = async (): Promise<readonly string[]> =>
      (await stage.metrics.registry.metrics())
        .split('\n')
        .filter((line) => line.startsWith('controller_runtime_reconcile_total{controller="links"'));
    const untilWrittenAgain = async (): Promise<void> => {
      const found = stage.east.store.get('multicluster.linkerd.io/v1alpha3', 'Link', LINKS_NAMESPACE, 'west');
      stage.put({ ...found, status: {} } as ObjectRef);
      expect(condition('west', 'Accepted')).toBeUndefined();
      await until('west', 'Accepted', 'Accepted');
    };
    // By then the cluster is at rest.
    await untilWrittenAgain();
    const before = await reconciles();
    expect(before).not.toEqual([]);
    await untilWrittenAgain();
    expect(await reconciles()).toEqual(before);
  });

  it('ends although it is to end before it has begun to serve Links (H2, L77)', async () => {
    let isAsked = false;
    await start(() => {
      put('west');
      stage.east.faults.latency(300, ({ verb, resource }) => {
        const isOfLeases = resource === 'leases' && verb === 'list';
        isAsked ||= isOfLeases;
        return isOfLeases;
      });
    });
    await eventually('Leases are listed', async () => isAsked);
    stop.abort();
    let hasEnded = false;
    void running.then(() => (hasEnded = true));
    await eventually('it has ended', async () => hasEnded);
  });

  it('forgets what was confirmed before a Link was suspended, although no session has seen that (E6, L191)', async () => {
    const lease = (): Lease =>
      stage.east.store.get(
        'coordination.k8s.io/v1',
        'Lease',
        LINKS_NAMESPACE,
        'service-mirror-write-west',
      ) as unknown as Lease;
    let restore = (): void => undefined;
    await start(() => {
      stage.lease('west', '', 'west');
      const annotations = { ...lease().metadata.annotations, 'linkspan.dev/confirmed': 'x' };
      stage.put({ ...lease(), metadata: { ...lease().metadata, annotations } } as unknown as ObjectRef);
      mirrors('a');
      put('west', {}, { annotations: { 'linkspan.dev/suspended': 'true' } });
      // What keeps the Lease from being read keeps nothing from being said.
      const match = ({ verb, name }: RequestInfo): boolean => verb === 'get' && name === 'service-mirror-write-west';
      restore = stage.east.faults.refuse({ failure: { kind: 'status', code: 403 }, match });
    });
    await until('west', 'Ready', 'Suspended');
    expect(lease().metadata.annotations).toHaveProperty(['linkspan.dev/confirmed']);
    restore();
    const is = { 'linkspan.dev/target-cluster': 'west' };
    await eventually('it is forgotten', async () => isDeepStrictEqual(lease().metadata.annotations, is));
    expect(stage.services()).toEqual(['a-west']);
  });

  it('removes nothing for a suspended Link that comes to name another cluster, until it is deleted (H9, L192)', async () => {
    const suspended = { annotations: { 'linkspan.dev/suspended': 'true' } };
    await start(() => {
      mirrors('a');
      stage.lease('west', 'linkerd-0', 'west');
      put('west', {}, suspended);
    });
    await until('west', 'Ready', 'Suspended');
    put('west', { targetClusterName: 'north' }, suspended);
    stage.lease('west', '', 'west');
    await untilPassed();
    expect(stage.services()).toEqual(['a-west']);
    expect(condition('west', 'Ready')?.reason).toBe('Suspended');
    remove('west');
    await untilServed({});
    expect(stage.services()).toEqual([]);
  });

  it('lists no mirror any more that another Link has taken over with the cluster (G2, L194)', async () => {
    await start(() => {
      put('a', {}, { creationTimestamp: '2026-01-01T00:00:00Z' });
      put('b', {}, { creationTimestamp: '2026-01-02T00:00:00Z' });
    });
    await untilServed({ a: 'west' });
    await until('b', 'Accepted', 'DuplicateCluster');
    const { mirrorServices } = linkStatus(
      {
        ...{ ...NO_FINDINGS, namespace: LINKS_NAMESPACE, name: 'a', generation: 1, isServed: true },
        accepted: verdict('True', 'Accepted', ''),
        mirrors: new Map([['shop/web', mirrored({ namespace: 'shop', name: 'web' }, 'west', '')]]),
      },
      {},
      new Date(0),
    );
    const status = { ...statusOf('a'), mirrors: { total: 1, ready: 1, failed: 0 }, mirrorServices };
    stage.put({ ...link('a', { targetClusterName: 'north', probeSpec: undefined }), status } as ObjectRef);
    await untilServed({ a: 'north', b: 'west' });
    await eventually('it lists none', async () => isDeepStrictEqual(statusOf('a')?.mirrorServices, []));
    expect(statusOf('a')?.mirrors).toMatchObject({ total: 0, ready: 0 });
  });

  it('ends when no status is being written any more, which would replace that of the next leader (H1, L75)', async () => {
    let sent = 0;
    await start(() => {
      put('west');
      stage.east.faults.latency(300, ({ subresource }) => {
        if (subresource === 'status') sent += 1;
        return subresource === 'status';
      });
    });
    await eventually('a status is sent', async () => sent === 1);
    stop.abort();
    await running;
    const answered = (await stage.east.audit()).filter(
      ({ subresource, code }) => subresource === 'status' && code === 200,
    );
    expect(answered).toHaveLength(sent);
  });

  test('removes a metric of each Link and cluster that is gone', async () => {
    await start(() => put('old'));
    await untilServed({ old: 'west' });
    remove('old');
    await untilServed({});
    const series = async (): Promise<readonly string[]> =>
      (await stage.metrics.registry.metrics()).split('\n').filter((line) => /"(old|west|link\/old)"/.test(line));
    await eventually('nothing is measured of it', async () => (await series()).length === 0);
  });
});
