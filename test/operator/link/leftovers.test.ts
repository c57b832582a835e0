import { afterEach, describe, expect, it } from 'vitest';
import type { Environment } from '../../../operator/link/environment.ts';
import { Federations } from '../../../operator/federation/federations.ts';
import { WriteLease } from '../../../operator/link/lease/write-lease.ts';
import { Removal, type RemovalResult } from '../../../operator/link/leftovers.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { LINKS_NAMESPACE, service } from '../../support/builders.ts';
import { linkerds, local } from '../federation/observed.ts';
import { RecordedReport } from './recorded.ts';
import { Stage, type StageOptions } from './stage.ts';

const PROBE = { 'mirror.linkerd.io/mirrored-gateway': 'true', 'mirror.linkerd.io/cluster-name': 'west' };

describe('the removal of what a Link left (E5)', () => {
  let stage: Stage;
  let env: Environment;
  let removal: Removal;
  let result: Promise<RemovalResult>;
  afterEach(async () => {
    await removal.stop();
    await stage.stop();
  });

  /**
   * Starts a removal of what there is of cluster west.
   * @param prepare done before the source cluster is read
   * @param then done after that
   */
  const start = async (
    prepare: () => void,
    options: StageOptions = {},
    then: () => unknown = () => undefined,
  ): Promise<void> => {
    stage = await Stage.start(options);
    prepare();
    env = await stage.environment();
    await then();
    removal = new Removal('old', 'west', env, new RecordedReport());
    result = removal.run();
  };
  const refuse = (what: string, of: string) =>
    stage.east.faults.refuse({
      failure: { kind: 'status', code: 503 },
      match: ({ verb, resource }) => verb === what && resource === of,
    });
  const refuseDeletions = () => refuse('delete', 'services');
  /** Makes a mirror that no watch shows. */
  const unseen = async (name: string, cluster?: string): Promise<void> => {
    const { services, endpoints } = env.source;
    stage.mirror('seen', 'north');
    await eventually('the watches are open', async () =>
      [services, endpoints].every((store) => store.get('shop/seen-north') !== undefined),
    );
    stage.east.faults.silenceWatches();
    stage.mirror(name, cluster);
  };

  it('takes mirrors, their endpoints, the probe Service and the Lease, and nothing else', async () => {
    await start(() => {
      for (const name of ['a', 'b']) stage.mirror(name);
      stage.mirror('a', 'north');
      stage.put(service('own-west'));
      stage.put(service('probe-old', { namespace: LINKS_NAMESPACE, labels: PROBE }));
      stage.lease('old', '', 'west');
      stage.lease('other', '', 'north');
    });
    expect(await result).toBe('complete');
    expect(stage.services()).toEqual(['a-north', 'own-west']);
    expect(stage.services(LINKS_NAMESPACE)).toEqual([]);
    expect(stage.east.store.list('v1', 'Endpoints').map(({ metadata }) => metadata.name)).toEqual(['a-north']);
    expect(Object.keys(stage.leases())).toEqual(['other']);
    expect(stage.lines).toContain('info the mirrors that the Link left are removed');
  });

  it('takes the probe Service of its Link also with the label of the cluster that this named before, and no other (L88)', async () => {
    const ofNorth = { namespace: LINKS_NAMESPACE, labels: { ...PROBE, 'mirror.linkerd.io/cluster-name': 'north' } };
    await start(() => {
      for (const name of ['probe-old', 'probe-north']) stage.put(service(name, ofNorth));
      stage.lease('old', '', 'west');
    });
    expect(await result).toBe('complete');
    expect(stage.services(LINKS_NAMESPACE)).toEqual(['probe-north']);
  });

  it('takes its memberships of federated Services, and keeps the Lease until they are gone (E5, I6)', async () => {
    const stop = new AbortController();
    let running: Promise<void> | undefined;
    const nobody = { keys: () => [], observe: () => local(), mayWrite: () => true, report: () => undefined };
    const accept = { now: (): void => undefined };
    await start(
      () => {
        stage.put({ ...linkerds('web@north,web@west'), apiVersion: 'v1', kind: 'Service' });
        stage.lease('old', '', 'west');
        accept.now = stage.east.faults.refuse({
          failure: { kind: 'status', code: 503 },
          match: ({ verb, resource }) => verb === 'patch' && resource === 'services',
        });
      },
      {},
      () => {
        const federations = new Federations({
          env,
          local: nobody,
          mayHaveLink: () => true,
          isLinked: (cluster) => cluster === 'west',
          seniorityOf: () => undefined,
          selecting: () => [],
        });
        running = federations.run(stop.signal);
        env = { ...env, federations };
      },
    );
    const tries = async () => (await stage.east.audit()).filter(({ code }) => code === 503).length;
    await eventually('it has been tried', async () => (await tries()) > 1);
    expect(Object.keys(stage.leases())).toEqual(['old']);
    accept.now();
    expect(await result).toBe('complete');
    const live = stage.east.store.get('v1', 'Service', 'shop', 'web-federated');
    expect(live?.metadata.annotations).toEqual({ 'multicluster.linkerd.io/remote-discovery': 'web@north' });
    expect(stage.leases()).toEqual({});
    stop.abort();
    await running;
  });

  it('waits for no membership of a federated Service that another operator serves (I9)', async () => {
    await start(() => {
      stage.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } });
      stage.put({ ...linkerds('web@west', { operator: 'other' }), apiVersion: 'v1', kind: 'Service' });
      stage.lease('old', '', 'west');
    });
    expect(await result).toBe('complete');
  });

  it('takes its part in ServiceImports, and keeps the Lease until that is gone (E5, K5)', async () => {
    const joined: string[] = [];
    let ending: readonly string[] = ['shop/web'];
    let asked = 0;
    const imports: NonNullable<Environment['imports']> = {
      join: (party) => joined.push(`join ${party.cluster} ${party.exports.confirms('shop/web')}`),
      leave: (cluster) => Promise.resolve(void joined.push(`leave ${cluster}`)),
      add: () => undefined,
      addAll: () => undefined,
      partsOf: () => new Set(ending),
      underWayOf: () => [],
      endingOf: () => ((asked += 1), ending),
      keptOf: () => [],
    };
    await start(
      () => stage.lease('old', '', 'west'),
      {},
      () => (env = { ...env, imports }),
    );
    await eventually('it has been looked at', async () => asked > 2);
    expect([joined, Object.keys(stage.leases())]).toEqual([['join west true'], ['old']]);
    ending = [];
    expect(await result).toBe('complete');
    expect([joined, stage.leases()]).toEqual([['join west true', 'leave west'], {}]);
  });

  it('leaves the Lease as a record of parts in ServiceImports that cannot be read (E5, K5)', async () => {
    const imports = {
      join: () => undefined,
      leave: () => undefined,
      endingOf: () => [],
      keptOf: () => ['shop/web'],
    } as unknown as NonNullable<Environment['imports']>;
    await start(
      () => {
        stage.mirror('a');
        stage.lease('old', '', 'west');
      },
      {},
      () => (env = { ...env, imports }),
    );
    expect(await result).toBe('incomplete');
    expect([stage.has(), stage.leases()]).toEqual([true, { old: { holder: '', cluster: 'west' } }]);
    expect(stage.lines).toContain(
      'warn the Lease of the Link stays: ServiceImports that it has a part in cannot be read',
    );
  });

  it('is over at once where nothing is left, and takes the Lease', async () => {
    await start(() => stage.lease('old', '', 'west'));
    expect(await result).toBe('complete');
    expect(stage.leases()).toEqual({});
  });

  it('is complete if its Lease cannot be deleted, which the next Link of that name gets (E5, H1)', async () => {
    await start(() => {
      stage.mirror('a');
      stage.east.faults.refuse({
        failure: { kind: 'status', code: 403 },
        match: ({ verb, resource }) => verb === 'delete' && resource === 'leases',
      });
    });
    expect(await result).toBe('complete');
    expect(stage.lines).toContain('warn the Lease of the Link cannot be given up; it expires');
    const next = new WriteLease('old', 'west', env, new RecordedReport());
    next.run(() => Promise.resolve());
    await eventually('the next Link has it', async () => next.mayWrite);
    await next.release();
    expect([removal.lease.mayWrite, stage.leases()]).toEqual([false, { old: { holder: '', cluster: 'west' } }]);
  });

  it('takes a mirror that no watch has shown, as one whose creation was not answered (L57)', async () => {
    await start(
      () => stage.lease('old', '', 'west'),
      {},
      () => unseen('late'),
    );
    expect(await result).toBe('complete');
    expect([stage.services(), stage.leases()]).toEqual([['seen-north'], {}]);
  });

  it('takes what a restored source cluster has again under the name of what another cluster had since (L57)', async () => {
    await start(
      () => {
        // The same name.
        stage.mirror('web', 'far-west');
        stage.lease('old', '', 'west');
      },
      {},
      () => unseen('web-far', 'west'),
    );
    const lists = async () =>
      (await stage.east.audit()).filter(({ verb, resource }) => verb === 'list' && resource === 'services').length;
    await eventually('it is read anew', async () => (await lists()) > 1);
    stage.east.faults.dropWatches();
    expect(await result).toBe('complete');
    expect(stage.services()).toEqual(['seen-north']);
  });

  it('takes what it was shown also if the rest could not be listed then (L57, L183)', async () => {
    const unlisted = async () => {
      await unseen('late');
      refuse('list', 'endpoints');
    };
    await start(() => stage.lease('old', '', 'west'), {}, unlisted);
    await eventually('it is gone', async () => !stage.services().includes('late-west'));
    stage.east.faults.clear();
    expect(await result).toBe('complete');
    expect([stage.services(), stage.leases()]).toEqual([['seen-north'], {}]);
  });

  it('leaves the Lease while the API server cannot be asked what is left (L57)', async () => {
    await start(
      () => stage.lease('old', '', 'west'),
      {},
      () => refuse('list', 'endpoints'),
    );
    await eventually('it has asked', async () =>
      stage.lines.includes('warn cannot list what is left of the mirrors of the Link'),
    );
    await removal.stop();
    expect(await result).toBe('stopped');
    expect(stage.leases()).toEqual({ old: { holder: '', cluster: 'west' } });
  });

  it('finds at once what a restored source cluster has again of what was seen to be deleted (L58, L181)', async () => {
    await start(() => stage.mirror('again', 'north'));
    const { services } = env.source;
    await eventually('it is shown', async () => services.get('shop/again-north') !== undefined);
    const backup = stage.east.store.snapshot();
    for (const kind of ['Service', 'Endpoints']) stage.east.store.delete('v1', kind, 'shop', 'again-north');
    await eventually('it is gone', async () => services.get('shop/again-north') === undefined);
    const { signal } = new AbortController();
    expect(await env.source.readAnew('north', signal)).toBe(true);
    stage.east.faults.restoreFrom(backup);
    expect(await env.source.readAnew('north', signal)).toBe(true);
    expect([...env.source.keysOf('north')]).toEqual(['shop/again']);
  });

  it('touches nothing where mirrors may not be written (A3, E8)', async () => {
    await start(() => stage.mirror('a', 'west', 'kube-system'));
    expect(await result).toBe('complete');
    expect(stage.services('kube-system')).toEqual(['a-west']);
  });

  it('waits while another holds the Lease, and names it (H1)', async () => {
    await start(() => {
      stage.mirror('a');
      stage.lease('old', 'linkerd-0', 'west');
    });
    await eventually('it waits', async () => removal.findings().heldBy === 'linkerd-0');
    expect(stage.services()).toEqual(['a-west']);
    stage.lease('old', '', 'west');
    expect(await result).toBe('complete');
    expect(stage.has()).toBe(true);
  });

  it('goes on until what is refused is accepted, and the Lease stays until then (H4)', async () => {
    await start(() => {
      stage.mirror('a');
      refuseDeletions();
    });
    const deletions = async () =>
      (await stage.east.audit()).filter(({ verb, resource }) => verb === 'delete' && resource === 'services').length;
    await eventually('it has tried several times', async () => (await deletions()) > 5);
    expect(stage.leases()).toMatchObject({ old: { holder: 'linkspan-0', cluster: 'west' } });
    stage.east.faults.clear();
    expect(await result).toBe('complete');
    expect([stage.has(), stage.leases()]).toEqual([true, {}]);
  });

  it('leaves what it has not deleted when it is stopped, and the Lease as the record of it', async () => {
    await start(() => {
      stage.mirror('a');
      refuseDeletions();
    });
    await eventually('it works', async () => stage.leases()['old']?.holder === 'linkspan-0');
    await removal.stop();
    expect(await result).toBe('stopped');
    expect(stage.services()).toEqual(['a-west']);
    expect(stage.leases()).toEqual({ old: { holder: '', cluster: 'west' } });
    stage.east.faults.clear();
    // The cluster can be served: nothing listens for its mirrors any more.
    env.source.subscribe('west', () => undefined)();
  });

  it('releases the Lease only when no federated Service is being written under it (H1, L69)', async () => {
    const ended = Promise.withResolvers<void>();
    let isInterrupted = false;
    const interrupt = (): Promise<void> => {
      isInterrupted = true;
      return ended.promise;
    };
    await start(
      () => {
        stage.mirror('a');
        refuseDeletions();
      },
      {},
      () => (env = { ...env, federations: { ...env.federations, interrupt } }),
    );
    await eventually('it works', async () => removal.lease.isHeld);
    const stopped = removal.stop();
    await eventually('federations are interrupted', async () => isInterrupted);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(stage.leases()['old']?.holder).toBe('linkspan-0');
    ended.resolve();
    await stopped;
    expect(stage.leases()['old']?.holder).toBe('');
  });

  it('leaves the Lease as a record where a namespace that cannot be read may hold more', async () => {
    const isBank = ({ namespace = '' }: { readonly namespace?: string }): boolean => namespace === 'bank';
    await start(
      () => {
        stage.mirror('a');
        stage.lease('old', '', 'west');
        stage.east.faults.refuse({ failure: { kind: 'status', code: 403 }, match: isBank });
      },
      { flags: { mirrorNamespaces: ['shop', 'bank'] } },
    );
    expect(await result).toBe('incomplete');
    expect([stage.has(), stage.leases()]).toEqual([true, { old: { holder: '', cluster: 'west' } }]);
  });

  it('is what the Link reports that has moved on and waits for it', async () => {
    await start(() => stage.mirror('a'));
    expect(removal.findings().synced).toMatchObject({
      status: 'False',
      reason: 'RemovingMirrors',
      message: expect.stringContaining('cluster west') as string,
    });
    expect(await result).toBe('complete');
  });
});
