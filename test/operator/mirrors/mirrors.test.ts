import { afterEach, describe, expect, it, test, vi } from 'vitest';
import type { Environment } from '../../../operator/link/environment.ts';
import { Mirrors } from '../../../operator/mirrors/mirrors.ts';
import { namespaceStateOf } from '../../../operator/source/write-scope.ts';
import { SERVICES, splitKey } from '../../../operator/kube/objects.ts';
import { type Manifests, NOTHING } from '../../../operator/mirror/manifests.ts';
import type { Observed } from '../../../operator/mirror/observed.ts';
import { PROBE_KEY } from '../../../operator/source/owner.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import type { ObjectRef } from '../../cluster/workload/index.ts';
import { service } from '../../support/builders.ts';
import { observed, targetService, targetSlice } from '../mirror/observed.ts';
import { RecordedReport } from '../link/recorded.ts';
import { Stage } from '../link/stage.ts';

const OLDER = '2026-01-01T00:00:00Z';
const WEB = { cluster: 'west', key: 'shop/web' };

describe('the mirrors of a target cluster', () => {
  let stage: Stage;
  let env: Environment;
  let report: RecordedReport;
  let mirrors: Mirrors;
  /** What the target exports, by name in namespace shop; what is not here is not exported. */
  let exported: Map<string, Partial<Observed>>;
  let probe: Manifests | undefined;
  /** What was asked of the target, and which answers were forgotten. */
  let questions: string[];
  /** The same of the pods behind Services. */
  let podQuestions: string[];
  /** The Services of which failovers have heard that they have changed. */
  let heard: string[];
  /** Called when the target answers about a Service, which it does at once, and when the answer is forgotten. */
  let answer: ((name: string, isConfirmed: boolean) => void) | undefined;
  let stop: AbortController;
  let running: Promise<void>;
  afterEach(async () => {
    stop.abort();
    await running;
    await stage.stop();
  });

  const observe = (key: string): Observed => {
    const { namespace, name } = splitKey(key);
    const { target: _, ...nothing } = observed({ service: null });
    return {
      ...nothing,
      namespace,
      name,
      namespaceState: namespaceStateOf(namespace, env),
      owned: env.source.ownedBy({ cluster: 'west', key }),
      isForeign: (wanted) => env.source.isTaken(namespace, wanted, 'west'),
      ...exported.get(name),
    };
  };
  const exports = (name: string, over: Partial<Observed> = {}): void => {
    const target = { service: targetService({}, { name, creationTimestamp: OLDER }), mode: 'gateway' as const };
    exported.set(name, { target, ...over });
  };
  const start = async (prepare: () => void = () => undefined): Promise<void> => {
    stage = await Stage.start({ tuning: { retryBackoff: { baseMs: 5, capMs: 20 } } });
    exported = new Map();
    probe = NOTHING;
    questions = [];
    podQuestions = [];
    heard = [];
    answer = undefined;
    stop = new AbortController();
    running = Promise.resolve();
    prepare();
    env = { ...(await stage.environment()), failovers: { mirrorChanged: (key) => void heard.push(key) } };
    report = new RecordedReport();
    const from = {
      keys,
      observe,
      probe: () => probe,
      target: {
        mirrored: {
          ask: (key: string) => {
            questions.push(`ask ${key}`);
            answer?.(splitKey(key).name, true);
            if (answer !== undefined) mirrors.add(key);
          },
          forget: (key: string) => {
            questions.push(`forget ${key}`);
            answer?.(splitKey(key).name, false);
          },
        },
        pods: {
          ask: (key: string) => podQuestions.push(`ask ${key}`),
          forget: (key: string) => podQuestions.push(`forget ${key}`),
        },
      },
    };
    mirrors = new Mirrors({ link: 'west', cluster: 'west', from, mayWrite: () => true, env, report });
    env.claims.join('west', { createdAt: OLDER, name: 'west' }, (key) => mirrors.add(key));
  };
  const keys = (): ReadonlySet<string> => new Set([...exported.keys()].map((name) => `shop/${name}`));
  const run = (): void => void (running = mirrors.run(stop.signal));
  /** Reconciles the keys, and waits until that is done. */
  const reconcile = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) mirrors.add(key);
    await mirrors.idle();
  };
  const statusOf = (name: string) => mirrors.statuses.get(`shop/${name}`);
  const refuse = (code: number, verb: string, times?: number) =>
    stage.east.faults.refuse({
      failure: { kind: 'status', code },
      match: (request) => request.verb === verb && request.resource !== 'leases',
      ...(times === undefined ? {} : { times }),
    });

  it('are written, each with its endpoints, and that is reported', async () => {
    await start();
    run();
    exports('web');
    await reconcile('shop/web');
    expect(stage.services()).toEqual(['web-west']);
    expect(stage.addresses('web-west')).toEqual(['203.0.113.1', '203.0.113.2']);
    expect(statusOf('web')).toMatchObject({ mirrored: true, local: 'web-west' });
    expect(report.statusChanges).toBeGreaterThan(0);
    expect(report.events).toEqual([]);
  });

  it('that a finalizer holds after their deletion are reported, and come back once it lets go (L131)', async () => {
    await start();
    run();
    exports('web');
    await reconcile('shop/web');
    type Held = ObjectRef & { readonly metadata: { readonly finalizers?: readonly string[] } };
    const mirror = () => stage.east.store.get('v1', 'Service', 'shop', 'web-west') as Held | undefined;
    const hold = (finalizers: readonly string[]): void => {
      const { metadata, ...rest } = mirror()!;
      stage.put({ ...rest, metadata: { ...metadata, finalizers } } as ObjectRef);
    };
    hold(['example.com/late']);
    await eventually('it is seen', async () => env.source.services.get('shop/web-west') !== undefined);
    exported.delete('web');
    await eventually('it is being deleted', async () => {
      await reconcile('shop/web');
      return 'deletionTimestamp' in mirror()!.metadata;
    });
    exports('web');
    mirrors.add('shop/web');
    await eventually('it is reported', async () => statusOf('web')?.message?.includes('example.com/late') === true);
    expect(statusOf('web')).toMatchObject({ mirrored: false, reason: 'Error' });
    // The update that takes the last finalizer off deletes it.
    expect(() => hold([])).toThrow('not found');
    await eventually('it is back', async () => statusOf('web')?.mirrored === true);
    expect(mirror()!.metadata).not.toHaveProperty('deletionTimestamp');
  });

  it('may have names that begin with a digit, unless the API server is too old, which is no error (A4, E8)', async () => {
    await start();
    run();
    const allow = stage.east.faults.refuseDigits();
    exports('0web');
    await stage.east.clearAudit();
    await reconcile('shop/0web');
    expect(stage.services()).toEqual([]);
    expect(statusOf('0web')).toMatchObject({
      mirrored: false,
      reason: 'InvalidName',
      message: expect.stringMatching(/Service shop\/0web-west: before Kubernetes 1.36/) as string,
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const writes = (await stage.east.audit()).filter(({ verb }) => verb === 'patch' || verb === 'create');
    expect(writes.filter(({ resource }) => resource === 'services')).toHaveLength(1);
    allow();
    await reconcile('shop/0web');
    expect(stage.services()).toEqual(['0web-west']);
    expect(stage.addresses('0web-west')).toEqual(['203.0.113.1', '203.0.113.2']);
    expect(statusOf('0web')).toMatchObject({ mirrored: true });
  });

  it('are those of the other pods, where the name of one is refused (A4, D5)', async () => {
    await start();
    run();
    stage.east.faults.refuseDigits();
    exports('web', {
      target: {
        service: targetService({ clusterIP: 'None' }, { name: 'web', creationTimestamp: OLDER }),
        mode: 'gateway',
      },
      slices: [targetSlice([{ hostname: '0' }, { hostname: 'web-1' }])],
    });
    await reconcile('shop/web');
    expect(stage.services()).toEqual(['web-1-west', 'web-west']);
    expect(stage.addresses('web-1-west')).toEqual(['203.0.113.1', '203.0.113.2']);
    expect(stage.addresses('web-west')).toHaveLength(1);
    expect(statusOf('web')).toMatchObject({ reason: 'InvalidName' });
  });

  it('take turns with the writes of other Links, however many these are (H7)', async () => {
    await start();
    run();
    const ends: (() => void)[] = [];
    const another = (): Promise<void> =>
      env.writes.run('north', undefined, () => new Promise<void>((resolve) => ends.push(resolve)));
    const others = Array.from({ length: env.client.connections + 50 }, another);
    exports('web');
    await stage.east.clearAudit();
    mirrors.add('shop/web');
    // Time enough for a write, as these reads are answered one after the other.
    for (let reads = 0; reads < 5; reads += 1) await env.client.list(SERVICES, { namespace: 'shop' }, undefined);
    expect((await stage.east.audit()).filter(({ verb }) => verb !== 'list')).toEqual([]);
    // Of those of north, 50 more have waited for longer: one of them is next, and then it is the turn of west.
    for (let place = 0; place < 2; place += 1) ends.shift()?.();
    await eventually('it has its turn', async () => (await stage.east.audit()).some(({ verb }) => verb === 'patch'));
    const rest = setInterval(() => ends.shift()?.(), 1);
    await Promise.all(others);
    clearInterval(rest);
    await mirrors.idle();
    expect(stage.services()).toEqual(['web-west']);
  });

  it('cost two writes each, and no read', async () => {
    await start();
    run();
    exports('web');
    await stage.east.clearAudit();
    await reconcile('shop/web');
    const made = (await stage.east.audit()).filter(({ verb }) => verb !== 'watch');
    expect(made.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(['patch endpoints', 'patch services']);
  });

  it('go when their Service is exported no more, and are no longer reported on (A2)', async () => {
    await start();
    run();
    exports('web');
    await reconcile('shop/web');
    exported.clear();
    await reconcile('shop/web');
    expect([stage.has(), statusOf('web')]).toEqual([true, undefined]);
  });

  it('that cannot be removed are reported with the reason', async () => {
    await start(() => stage.mirror('web'));
    run();
    refuse(403, 'delete');
    await reconcile('shop/web');
    expect(statusOf('web')).toMatchObject({
      mirrored: false,
      reason: 'Error',
      message: expect.stringContaining('no longer exported') as string,
    });
  });

  it('that are refused are reported with an Event, once for each reason (G3)', async () => {
    await start();
    run();
    exports('web', { target: { service: targetService({ ports: [] }), mode: 'gateway' } });
    await reconcile('shop/web');
    await reconcile('shop/web');
    expect(statusOf('web')).toMatchObject({ mirrored: false, reason: 'InvalidService' });
    expect(report.events).toEqual([
      expect.stringMatching(/^Warning InvalidService Service shop\/web: it has no ports/),
    ]);
  });

  it('are counted when they are created and deleted, and when they fail', async () => {
    await start();
    run();
    const series = async (): Promise<readonly string[]> =>
      (await stage.metrics.registry.metrics())
        .split('\n')
        .filter((line) => /^linkspan_mirror(s_created|s_deleted|_failures)_total\{/.test(line))
        .map((line) => line.replace('target_cluster_name="west"', ''));
    const counts = (created: number, deleted: number) => [
      `linkspan_mirrors_created_total{} ${created}`,
      `linkspan_mirrors_deleted_total{} ${deleted}`,
    ];
    expect(await series()).toEqual(counts(0, 0));
    exports('web');
    await reconcile('shop/web');
    await reconcile('shop/web');
    expect(await series()).toEqual(counts(1, 0));
    exported.clear();
    exports('odd', { target: { service: targetService({ ports: [] }), mode: 'gateway' } });
    await reconcile('shop/web', 'shop/odd');
    await reconcile('shop/odd');
    expect(await series()).toEqual(['linkspan_mirror_failures_total{,reason="InvalidService"} 1', ...counts(1, 1)]);
  });

  describe('are logged (G6)', () => {
    const logged = (message: string) =>
      stage.records.filter((record) => record.message === message).map(({ level, fields }) => ({ level, ...fields }));
    const web = { link: 'west', service: 'shop/web', mirror: 'shop/web-west' };

    it('one by one, with the cause, when they are created, replaced and deleted', async () => {
      await start();
      run();
      exports('web');
      await reconcile('shop/web');
      expect(logged('mirror created')).toEqual([{ level: 'info', ...web, cause: 'the target exports the Service' }]);
      stage.east.store.delete('v1', 'Service', 'shop', 'web-west');
      await eventually('that is seen', async () => env.source.ownedBy(WEB).services.length === 0);
      await reconcile('shop/web');
      expect(logged('mirror created')[1]).toMatchObject({ cause: 'it was missing' });
      await reconcile('shop/web');
      exported.clear();
      await reconcile('shop/web');
      expect(logged('mirror deleted')).toEqual([
        { level: 'info', ...web, cause: 'the target no longer exports the Service' },
      ]);
      expect(logged('mirror created')).toHaveLength(2);
      expect(logged('written')).toContainEqual({
        level: 'debug',
        ...{ link: 'west', service: 'shop/web', op: 'delete', object: 'Service shop/web-west' },
      });
    });

    it('as given up, with the reason, which is warned of when it is another', async () => {
      await start(() => stage.mirror('web'));
      run();
      exports('web', { target: { service: targetService({ ports: [] }), mode: 'gateway' } });
      await reconcile('shop/web');
      await reconcile('shop/web');
      expect(logged('mirror given up')).toEqual([
        { level: 'info', ...web, cause: expect.stringMatching(/^InvalidService: it has no ports/) as string },
      ]);
      expect(logged('the Service is not mirrored')).toEqual([
        {
          level: 'warn',
          ...{ link: 'west', service: 'shop/web', reason: 'InvalidService' },
          error: expect.stringMatching(/^it has no ports/) as string,
        },
      ]);
    });
  });

  it('that somebody keeps adding metadata to stay mirrored, which is reported (C3)', async () => {
    await start();
    run();
    exports('web');
    await reconcile('shop/web');
    const annotate = (): void => {
      const there = stage.east.store.get('v1', 'Service', 'shop', 'web-west')!;
      const annotations = { ...there.metadata.annotations, 'field.example.com/added': 'x' };
      stage.put({ ...there, metadata: { ...there.metadata, annotations } } as ObjectRef);
    };
    await eventually('that is reported', async () => {
      annotate();
      await reconcile('shop/web');
      return report.events.length > 0;
    });
    expect(statusOf('web')).toMatchObject({
      mirrored: true,
      message: expect.stringContaining('keeps adding field.example.com/added') as string,
    });
    expect(report.events).toEqual([expect.stringMatching(/^Warning MirrorContested Service shop\/web: somebody/)]);
  });

  it('that wait for endpoints are reported without an Event (D2)', async () => {
    await start();
    run();
    exports('web', { target: { service: targetService({ clusterIP: 'None' }), mode: 'gateway' }, slices: [] });
    await reconcile('shop/web');
    expect([statusOf('web')?.reason, report.events]).toEqual(['WaitingForEndpoints', []]);
  });

  it('are deleted when the target has confirmed that the Service is gone, and are not applied before (A2, L65)', async () => {
    await start(() => stage.mirror('web'));
    run();
    exported.set('web', { isConfirmed: false });
    mirrors.progress.start(['shop/web']);
    await reconcile('shop/web');
    expect([stage.services(), questions]).toEqual([['web-west'], ['ask shop/web']]);
    expect([mirrors.progress.hasSeenAll, mirrors.progress.isCaughtUp]).toEqual([true, false]);
    exported.delete('web');
    await reconcile('shop/web');
    expect([stage.services(), questions]).toEqual([[], ['ask shop/web', 'forget shop/web']]);
    expect(mirrors.progress.isCaughtUp).toBe(true);
  });

  it('have a deletion that failed confirmed again (H4)', async () => {
    await start(() => stage.mirror('web'));
    exported.set('web', { isConfirmed: false });
    answer = (name, isConfirmed) => exported.set(name, { isConfirmed });
    const accept = refuse(500, 'delete');
    run();
    await reconcile('shop/web');
    await eventually('it is tried again', async () => questions.length >= 6);
    expect(questions.slice(0, 4)).toEqual(['ask shop/web', 'forget shop/web', 'ask shop/web', 'forget shop/web']);
    accept();
    await eventually('it is gone', async () => stage.services().length === 0);
  });

  it('that wait for two answers of the target keep each until both are there, and do not ask for ever (E11)', async () => {
    await start(() => stage.mirror('web'));
    run();
    const unconfirmed = { departed: new Map([['web-0', Infinity]]), arePodsUnconfirmed: true };
    exports('web', { ...unconfirmed, isConfirmed: true });
    await reconcile('shop/web');
    expect([questions, new Set(podQuestions)]).toEqual([[], new Set(['ask shop/web'])]);
    podQuestions.length = 0;
    exported.set('web', { isConfirmed: false });
    await reconcile('shop/web');
    expect([questions, podQuestions]).toEqual([['ask shop/web'], []]);
  });

  it('that lead nowhere, since no slice of the target is listed yet, are not applied before they do (G1, L98)', async () => {
    await start();
    run();
    exports('web', { slices: undefined });
    mirrors.progress.start(['shop/web']);
    await reconcile('shop/web');
    expect([stage.services(), stage.addresses('web-west')]).toEqual([['web-west'], []]);
    expect([mirrors.progress.hasSeenAll, mirrors.progress.isCaughtUp]).toEqual([true, false]);
    exports('web');
    await reconcile('shop/web');
    expect(stage.addresses('web-west')).toEqual(['203.0.113.1', '203.0.113.2']);
    expect(mirrors.progress.isCaughtUp).toBe(true);
    exports('web', { slices: undefined });
    mirrors.progress.start(['shop/web']);
    await reconcile('shop/web');
    expect(mirrors.progress.isCaughtUp).toBe(true);
  });

  it('of pods that are gone wait for the answer of the target, and are not applied before (D5)', async () => {
    await start();
    run();
    const unconfirmed = { departed: new Map([['web-0', Infinity]]), arePodsUnconfirmed: true };
    exports('web', unconfirmed);
    mirrors.progress.start(['shop/web']);
    await reconcile('shop/web');
    expect([new Set(podQuestions), mirrors.progress.isCaughtUp]).toEqual([new Set(['ask shop/web']), false]);
    exports('web');
    await reconcile('shop/web');
    expect([podQuestions.at(-1), mirrors.progress.isCaughtUp]).toEqual(['forget shop/web', true]);
  });

  it('are looked at by failovers when their Service changes, which hear of it once, however many pods it has (J3)', async () => {
    await start();
    run();
    const service = targetService({ clusterIP: 'None' }, { creationTimestamp: OLDER });
    const slices = [targetSlice([{ hostname: 'web-0' }, { hostname: 'web-1' }])];
    exported.set('web', { target: { service, mode: 'gateway' }, slices });
    await reconcile('shop/web');
    heard = [];
    mirrors.changed(['shop/web']);
    expect(heard).toEqual(['shop/web-west']);
  });

  it('of pods that are back stay, although they were gone when a write began that then had no answer (D11, L119)', async () => {
    await start();
    run();
    const show = (...hostnames: readonly string[]): void => {
      const slices = [targetSlice(hostnames.map((hostname) => ({ hostname })))];
      const service = targetService({ clusterIP: 'None' }, { creationTimestamp: OLDER });
      exported.set('web', { target: { service, mode: 'gateway' }, slices });
    };
    show('web-0', 'web-1');
    await reconcile('shop/web');
    const live = (name: string) => stage.east.store.get('v1', 'Service', 'shop', name)!;
    const { uid } = live('web-1-west').metadata;
    const { metadata, ...rest } = live('web-0-west');
    const labels = { ...metadata.labels, added: 'x' };
    stage.put({ ...rest, metadata: { ...metadata, labels } } as ObjectRef);
    const owned = () => env.source.ownedBy(WEB).services;
    await eventually('the label is seen', async () => owned().some((each) => each.metadata.labels?.['added'] === 'x'));
    stage.east.faults.refuse({
      failure: { kind: 'status', code: 500 },
      match: ({ verb, name }) => {
        const isRepair = verb === 'patch' && name === 'web-0-west';
        if (isRepair) show('web-0', 'web-1');
        return isRepair;
      },
    });
    show('web-0');
    await reconcile('shop/web');
    expect(statusOf('web')).toMatchObject({ reason: 'Error' });
    expect(stage.east.store.get('v1', 'Service', 'shop', 'web-1-west')?.metadata.uid).toBe(uid);
  });

  it('keep the last status while nothing can be decided (E4, E6)', async () => {
    await start(() => stage.mirror('web'));
    run();
    exports('bad', { target: { service: targetService({ ports: [] }), mode: 'gateway' } });
    await reconcile('shop/bad');
    for (const name of ['web', 'bad']) exported.set(name, { decidable: false });
    await reconcile('shop/web', 'shop/bad');
    expect([stage.services(), statusOf('web'), statusOf('bad')?.reason]).toEqual([
      ['web-west'],
      undefined,
      'InvalidService',
    ]);
  });

  test.each<[string, () => void]>([
    ['of an object that is there', () => stage.mirror('web')],
    ['with an object that was there a moment ago', () => undefined],
  ])('do not report a conflict that passes: %s', async (_, prepare) => {
    await start(prepare);
    run();
    exports('web');
    refuse(409, 'patch', 1);
    await reconcile('shop/web');
    await eventually('it is mirrored', async () => statusOf('web')?.mirrored);
    expect(report.events).toEqual([]);
  });

  it('are tried again after an error, which is reported until then (H4)', async () => {
    await start();
    run();
    exports('web');
    const accept = refuse(500, 'patch');
    await reconcile('shop/web');
    expect(statusOf('web')).toMatchObject({ mirrored: false, reason: 'Error' });
    accept();
    await eventually('it is mirrored', async () => statusOf('web')?.mirrored);
  });

  test.each([
    ['what they said before', 'web'],
    ['nothing, as before', 'db'],
  ])('that are kept and cannot be put right say so, and then %s (C3, H4)', async (_, name) => {
    await start(() => stage.mirror('db'));
    run();
    exports('web');
    await reconcile('shop/web');
    const before = statusOf(name);
    expect(before?.mirrored).toBe(name === 'web' ? true : undefined);
    exported.set(name, { decidable: false });
    const accept = refuse(403, 'patch');
    const labels = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
    stage.put(service(`${name}-west`, { labels, selector: { app: 'local' } }));
    await eventually('the selector is seen', async () => {
      await reconcile(`shop/${name}`);
      return statusOf(name)?.mirrored === false;
    });
    expect(statusOf(name)).toMatchObject({ reason: 'Error', local: `${name}-west` });
    expect(report.events).toEqual([expect.stringMatching(`^Warning Error Service shop/${name}: .*403`)]);
    accept();
    await eventually('they are put right', async () => statusOf(name)?.mirrored !== false);
    expect(statusOf(name)).toEqual(before);
    expect(stage.east.store.get('v1', 'Service', 'shop', `${name}-west`)).not.toHaveProperty('spec.selector');
  });

  it('have their namespace checked again after a write that is not allowed', async () => {
    await start();
    run();
    const recheck = vi.spyOn(env.source, 'recheck');
    exports('web');
    refuse(403, 'patch', 1);
    await reconcile('shop/web');
    expect(recheck).toHaveBeenCalledWith('shop');
  });

  it('that a construct refuses are kept as they are, with the reason', async () => {
    await start(() => stage.mirror('web'));
    run();
    exports('web', { target: { service: targetService({ ports: [{ port: 70_000 }] }), mode: 'gateway' } });
    await reconcile('shop/web');
    expect(statusOf('web')).toMatchObject({ mirrored: false, reason: 'InvalidService' });
    expect(stage.services()).toEqual(['web-west']);
  });

  it('that cannot be observed do not end the loop', async () => {
    await start();
    run();
    exports('web');
    exported.set('bad', {
      get owned(): never {
        throw new Error('a defect');
      },
    });
    await reconcile('shop/bad', 'shop/web');
    expect(stage.services()).toEqual(['web-west']);
    expect(stage.lines).toContain('warn reconcile failed');
  });

  it('follow when a name in the way is given up, after a while at the latest (A6)', async () => {
    await start(() => stage.put(service('web-west')));
    run();
    exports('web');
    await reconcile('shop/web');
    expect(statusOf('web')).toMatchObject({ mirrored: false, reason: 'NameConflict' });
    stage.east.store.delete('v1', 'Service', 'shop', 'web-west');
    await eventually('it is mirrored', async () => statusOf('web')?.mirrored);
  });

  describe('claim names (A7)', () => {
    const pod = { owner: { cluster: 'east', key: 'shop/other' }, names: ['web-west'], since: '' };

    it('all of them before any is acted on', async () => {
      await start();
      exports('web');
      exports('db');
      mirrors.listed();
      env.claims.join('east', { createdAt: '2027-01-01T00:00:00Z', name: 'east' }, () => undefined);
      for (const name of ['web-west', 'db-west']) {
        const found = env.claims.resolve('shop', { ...pod, names: [name] });
        expect(found).toHaveProperty('lostTo');
      }
    });

    it('and are not written where another has them', async () => {
      await start();
      env.claims.join('east', { createdAt: '2025-01-01T00:00:00Z', name: 'east' }, () => undefined);
      env.claims.replace(pod.owner, 'shop', [pod]);
      run();
      exports('web');
      await reconcile('shop/web');
      expect([statusOf('web')?.reason, stage.has()]).toEqual(['NameConflict', true]);
      env.claims.withdraw(pod.owner);
      await eventually('it is mirrored when the other gives it up', async () => statusOf('web')?.mirrored);
    });

    it('and keep them while nothing can be decided', async () => {
      await start();
      run();
      exports('web');
      await reconcile('shop/web');
      exported.set('web', { decidable: false });
      await reconcile('shop/web');
      env.claims.join('east', { createdAt: '2027-01-01T00:00:00Z', name: 'east' }, () => undefined);
      expect(env.claims.resolve('shop', pod)).toHaveProperty('lostTo');
    });

    test.each<[string, Partial<Observed>, boolean]>([
      ['their deletion is held', { decidable: false }, false],
      ['their Service is gone, which the target has yet to confirm', { isConfirmed: false }, false],
      ['their Link has no gateway any more', { gateway: undefined }, true],
      ['their slices have yet to be listed', { slices: undefined }, true],
    ])('and have those of what is kept after a restart, while %s (L14, L121)', async (_, kept, isExported) => {
      await start();
      run();
      const headless = (name: string, creationTimestamp: string, over: Partial<Observed> = {}): void => {
        const service = targetService({ clusterIP: 'None' }, { name, creationTimestamp });
        exported.set(name, {
          target: { service, mode: 'gateway' },
          slices: [targetSlice([{ hostname: 'db-0' }])],
          ...over,
        });
      };
      headless('db', OLDER);
      headless('read', '2026-02-01T00:00:00Z');
      mirrors.listed();
      await mirrors.idle();
      const all = ['db-0-read-west', 'db-0-west', 'db-west', 'read-west'];
      await eventually('both are mirrored', async () => stage.services().join() === all.join());
      const uid = () => stage.east.store.get('v1', 'Service', 'shop', 'db-0-read-west')?.metadata.uid;
      const before = uid();
      env.claims.leave('west');
      env.claims.join('west', { createdAt: OLDER, name: 'west' }, (key) => mirrors.add(key));
      if (isExported) headless('db', OLDER, kept);
      else exported.set('db', kept);
      mirrors.listed();
      await mirrors.idle();
      expect([stage.services(), uid(), statusOf('read')?.mirrored]).toEqual([all, before, true]);
    });

    it('and keep a former one, which is listed and follows the gateway, until there is another (L120)', async () => {
      await start();
      run();
      const pods = { slices: [targetSlice([{ hostname: 'db-0' }])] };
      const service = targetService({ clusterIP: 'None' }, { name: 'read', creationTimestamp: OLDER });
      const read = { target: { service, mode: 'gateway' as const }, ...pods };
      const other = { owner: { cluster: 'east', key: 'shop/db' }, names: ['db-0-west'], since: '' };
      env.claims.join('east', { createdAt: '2025-01-01T00:00:00Z', name: 'east' }, () => undefined);
      env.claims.replace(other.owner, 'shop', [other]);
      exported.set('read', read);
      await reconcile('shop/read');
      await eventually('it is mirrored', async () => stage.has('db-0-read-west', 'read-west'));
      await eventually('it is listed', async () => stage.addresses('read-west').length === 1);
      const listed = stage.addresses('read-west');
      const accept = stage.east.faults.refuse({
        failure: { kind: 'status', code: 403 },
        match: ({ verb, resource, name }) => verb === 'patch' && resource === 'services' && name === 'db-0-west',
      });
      exported.set('read', { ...read, gateway: { ...observed().gateway!, alive: false } });
      env.claims.withdraw(other.owner);
      await eventually('that is reported', async () => statusOf('read')?.reason === 'Error');
      await eventually('it follows the gateway', async () => stage.addresses('db-0-read-west')[0] === '!203.0.113.1');
      expect([stage.services(), stage.addresses('read-west')]).toEqual([['db-0-read-west', 'read-west'], listed]);
      accept();
      mirrors.add('shop/read');
      await eventually('it has the other name', async () => stage.has('db-0-west', 'read-west'));
    });

    it('and give them up when their Service is exported no more', async () => {
      await start();
      run();
      exports('web');
      await reconcile('shop/web');
      exported.clear();
      await reconcile('shop/web');
      env.claims.join('east', { createdAt: '2027-01-01T00:00:00Z', name: 'east' }, () => undefined);
      env.claims.replace(pod.owner, 'shop', [pod]);
      expect(env.claims.resolve('shop', pod)).toEqual({ name: 'web-west' });
    });
  });

  test('a pass is over when each key has been looked at, and all is applied when what failed has been written (G1)', async () => {
    await start();
    exports('web');
    exports('db');
    const accept = refuse(500, 'patch');
    mirrors.progress.start(['shop/web', 'shop/db', PROBE_KEY]);
    run();
    await reconcile('shop/web', 'shop/db');
    expect(mirrors.progress.hasSeenAll).toBe(false);
    await reconcile(PROBE_KEY);
    expect([mirrors.progress.hasSeenAll, mirrors.progress.isCaughtUp]).toEqual([true, false]);
    accept();
    await eventually('all is applied', async () => mirrors.progress.isCaughtUp);
    expect(stage.has('db-west', 'web-west')).toBe(true);
  });

  test('all is applied although something is refused for good (H4)', async () => {
    await start();
    exports('web');
    refuse(403, 'patch');
    mirrors.progress.start(['shop/web']);
    run();
    await reconcile('shop/web');
    expect(mirrors.progress.isCaughtUp).toBe(true);
  });

  describe('and the probe Service (F4)', () => {
    const metadata = { name: 'probe-west', namespace: 'linkerd-multicluster' };

    it('stays as it is while nothing is known of it', async () => {
      await start(() =>
        stage.put(
          service('probe-west', {
            namespace: metadata.namespace,
            labels: { 'mirror.linkerd.io/mirrored-gateway': 'true', 'mirror.linkerd.io/cluster-name': 'west' },
          }),
        ),
      );
      probe = undefined;
      run();
      await reconcile(PROBE_KEY);
      expect(stage.services(metadata.namespace)).toEqual(['probe-west']);
      probe = NOTHING;
      await reconcile(PROBE_KEY);
      expect(stage.services(metadata.namespace)).toEqual([]);
    });

    it("that somebody else's Service stands in the way of is reported by an Event", async () => {
      await start();
      probe = { ...NOTHING, refusals: [{ reason: 'NameConflict', message: '' }], isBlocked: true };
      run();
      await reconcile(PROBE_KEY);
      expect(report.events).toEqual([
        'Warning NameConflict Service linkerd-multicluster/probe-west exists and is not the probe Service of this Link; rename or delete it',
      ]);
      expect(mirrors.statuses.size).toBe(0);
    });
  });
});
