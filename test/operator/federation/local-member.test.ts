/** The source cluster's own part in federated Services, on a simulated API server with the real controller of federations. */
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ALWAYS_GONE } from '../../../operator/target/aspect.ts';
import type { TargetParty } from '../../../operator/federation/observed.ts';
import type { Environment } from '../../../operator/link/environment.ts';
import { Federations } from '../../../operator/federation/federations.ts';
import { LocalMember } from '../../../operator/federation/local-member.ts';
import { LOCAL_WRITE_LEASE } from '../../../crds/wire.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import type { ObjectRef } from '../../cluster/workload/index.ts';
import { LINKS_NAMESPACE, service, slice } from '../../support/builders.ts';
import { linkerds, target, throughGateway } from './observed.ts';
import { Stage, type StageOptions } from '../link/stage.ts';

const MEMBER = { 'mirror.linkerd.io/federated': 'member' };
const REMOTE = 'multicluster.linkerd.io/remote-discovery';
const LOCAL = 'multicluster.linkerd.io/local-discovery';

interface Live extends ObjectRef {
  readonly metadata: ObjectRef['metadata'] & {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

describe('the local member of federated Services', () => {
  let stage: Stage;
  let env: Environment;
  let member: LocalMember;
  let federations: Federations;
  let events: string[];
  let stop: AbortController;
  let running: Promise<void>;

  const open = async (flags: StageOptions['flags'] = {}): Promise<void> => {
    stage = await Stage.start({
      flags,
      tuning: { retryBackoff: { baseMs: 5, capMs: 20 }, conflictRetryMs: 10, labelCopyMs: 50 },
    });
    stop = new AbortController();
    events = [];
    running = Promise.resolve();
  };
  const start = async (...parties: readonly TargetParty[]): Promise<void> => {
    env = await stage.environment();
    member = new LocalMember({
      env,
      events: {
        record: ({ namespace = '', name, uid }, type, reason) => {
          expect(uid).toBe(stage.east.store.get('v1', 'Service', namespace, name)?.metadata.uid);
          events.push(`${namespace}/${name} ${type} ${reason}`);
        },
      },
    });
    federations = new Federations({
      env,
      local: member,
      mayHaveLink: () => false,
      isLinked: () => true,
      seniorityOf: () => undefined,
      selecting: () => [],
    });
    for (const party of parties) {
      federations.join({
        cluster: party.link.cluster,
        keys: () => ['shop/web'],
        observe: (key) => (key === 'shop/web' ? party : { ...party, service: undefined }),
        members: ALWAYS_GONE,
        mayWrite: () => true,
        report: () => undefined,
      });
    }
    running = federations.run(stop.signal);
    member.start(federations);
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
    await member.stop();
  };
  afterEach(async () => {
    await end();
    await stage.stop();
  });

  const get = (name: string) => stage.east.store.get('v1', 'Service', 'shop', name) as Live | undefined;
  const annotation = (key: string, name = 'web'): string | undefined =>
    get(`${name}-federated`)?.metadata.annotations?.[key];
  const joins = (name = 'web') =>
    eventually(`${name} joins`, async () => annotation(LOCAL, name) === name && lease() !== '');
  const lease = (): string | undefined => {
    const found = stage.east.store.get('coordination.k8s.io/v1', 'Lease', LINKS_NAMESPACE, LOCAL_WRITE_LEASE);
    return (found as { readonly spec?: { readonly holderIdentity?: string } } | undefined)?.spec?.holderIdentity;
  };
  const heldBy = (holder: string): void => stage.lease('', holder, undefined, LOCAL_WRITE_LEASE);
  const gauge = async (): Promise<Readonly<Record<string, number>>> => {
    const { values } = await stage.metrics.target.federatedMembers.get();
    return Object.fromEntries(
      values
        .filter(({ labels }) => labels.target_cluster_name === '')
        .map(({ labels, value }) => [String(labels.state), value] as const),
    );
  };
  const slices = (): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      stage.east.store
        .list('discovery.k8s.io/v1', 'EndpointSlice', 'shop')
        .filter(({ metadata }) => metadata.name.startsWith('web-federated'))
        .map((each) => [each.metadata.name, (each as unknown as { readonly endpoints: unknown }).endpoints]),
    );
  const audited = async (): Promise<readonly string[]> =>
    (await stage.east.audit()).map(({ verb, resource, name }) => `${verb} ${resource} ${name ?? ''}`);
  const endpoint = (name: string, at: number) => ({
    addresses: [`10.1.0.${at}`],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: 'node-1',
    zone: 'a',
    targetRef: { kind: 'Pod', name, namespace: 'shop', uid: name },
  });
  const pods = (labels: Readonly<Record<string, string>>, ...names: readonly string[]) => ({
    ...slice('web', { labels }),
    endpoints: names.map((name, at) => endpoint(name, at + 1)),
  });

  describe('with the selector that there is by default', () => {
    beforeEach(() => open());

    it('joins, and leaves when it is selected no longer (I1)', async () => {
      stage.put(service('web', { labels: MEMBER }));
      stage.put(service('other'));
      await start(target('a'));
      await joins();
      expect(annotation(REMOTE)).toBe('web@a');
      expect(lease()).toBe('linkspan-0');
      await eventually('it is counted', async () => (await gauge()).joined === 1);
      stage.put(service('web'));
      await eventually('it has left', async () => annotation(LOCAL) === undefined);
      expect(annotation(REMOTE)).toBe('web@a');
      await eventually('that is counted', async () => (await gauge()).joined === 0);
      expect(events).toEqual([]);
    });

    it('is reported by Events when it joins, and when and why it cannot (I8)', async () => {
      stage.put(service('before', { labels: MEMBER }));
      stage.put(service('wrong', { labels: MEMBER, spec: { type: 'ExternalName', externalName: 'a.example' } }));
      await start();
      await joins('before');
      await eventually('what is wrong is reported', async () => events.length === 1);
      stage.put(service('web', { labels: MEMBER }));
      await eventually('what is new is reported', async () => events.length === 2);
      expect(events).toEqual(['shop/wrong Warning InvalidService', 'shop/web Normal Federated']);
      expect(await gauge()).toEqual({ joined: 2, refused: 1 });
      stage.put(service('wrong', { labels: MEMBER }));
      await eventually('that it is mended is reported', async () => events.length === 3);
      expect(events.at(-1)).toBe('shop/wrong Normal Federated');
      expect(await gauge()).toEqual({ joined: 3, refused: 0 });
    });

    it('writes and reports nothing when it starts beside what is right (C5)', async () => {
      stage.put(service('web', { labels: MEMBER }));
      await start(target('a'));
      await joins();
      await end();
      expect(lease()).toBe('');
      await stage.east.clearAudit();
      stop = new AbortController();
      await start(target('a'));
      await eventually('it is known', async () => (await gauge()).joined === 1);
      const written = (await audited()).filter((each) => !/^(get|list|watch) | leases /.test(each));
      expect([written, events]).toEqual([[], []]);
    });

    it('leads to its pods by slices that name them, while others are reached through gateways (I5)', async () => {
      stage.put(service('web', { labels: MEMBER }));
      stage.put(pods(MEMBER, 'web-0', 'web-1'));
      await start(throughGateway('a'));
      await eventually('it leads to them', async () => Object.keys(slices()).length === 2);
      expect(slices()['web-federated.local.web-abcde']).toEqual([endpoint('web-0', 1), endpoint('web-1', 2)]);
      stage.put(pods(MEMBER, 'web-2'));
      await eventually('it follows them', async () =>
        isDeepStrictEqual(slices()['web-federated.local.web-abcde'], [endpoint('web-2', 1)]),
      );
    });

    it('finds the pods of a Service whose slices somebody else writes, without its labels (D8)', async () => {
      stage.put(service('web', { labels: MEMBER, selector: null }));
      stage.put(pods({}, 'web-0'));
      await start(throughGateway('a'));
      await eventually('it leads to them', async () => Object.keys(slices()).length === 2);
    });

    it('is nothing that was made of a Service elsewhere (I1, N7)', async () => {
      const mirrored = { ...MEMBER, 'mirror.linkerd.io/mirrored-service': 'true' };
      stage.put(service('web-west', { labels: { ...mirrored, 'mirror.linkerd.io/cluster-name': 'west' } }));
      stage.put(service('own', { labels: MEMBER }));
      await start();
      await joins('own');
      await federations.idle();
      expect(stage.services()).toEqual(['own', 'own-federated', 'web-west']);
      expect([events, await gauge()]).toEqual([[], { joined: 1, refused: 0 }]);
    });

    it('is left to whoever holds the Lease, and taken over when that is free (I7)', async () => {
      heldBy('linkerd-local');
      stage.put({ ...linkerds('web@a', { local: true }), apiVersion: 'v1', kind: 'Service' });
      stage.put(service('mine', { labels: MEMBER }));
      await start(target('a'), target('b'));
      await eventually('others join beside it', async () => annotation(REMOTE) === 'web@a,web@b');
      await federations.idle();
      expect([annotation(LOCAL), get('mine-federated')]).toEqual(['web', undefined]);
      await eventually('that is logged', async () =>
        stage.lines.some((line) => line.startsWith('info another holds the Lease of local memberships')),
      );
      heldBy('');
      await joins('mine');
      await eventually('what is no member goes', async () => annotation(LOCAL) === undefined);
    });
  });

  it('is not written by what was decided before the Lease was lost (I7)', async () => {
    // Renewed every second.
    await open({ leaseDuration: '3s', renewDeadline: '2s' });
    stage.put(service('web', { labels: MEMBER }));
    await start(target('a'));
    await joins();
    const places = Array.from({ length: stage.client.connections }, () => Promise.withResolvers<void>());
    const taken = places.map(({ promise }) => env.writes.run('test', undefined, () => promise));
    stage.put(service('web'));
    await eventually('it is to leave', async () => member.observe('shop/web').service === undefined);
    heldBy('linkerd-local');
    await eventually('the Lease is lost', async () => !member.observe('shop/web').isHeld);
    for (const { resolve } of places) resolve();
    await Promise.all(taken);
    await federations.idle();
    expect(annotation(LOCAL)).toBe('web');
  });

  it('is read in the namespaces only that the operator is limited to', async () => {
    await open({ mirrorNamespaces: 'shop' });
    stage.put(service('web', { labels: MEMBER }));
    stage.put(service('web', { namespace: 'kube-system', labels: MEMBER }));
    await start();
    await joins();
    expect([...member.keys()]).toEqual(['shop/web']);
    expect(await audited()).not.toContainEqual(expect.stringContaining('kube-system'));
  });

  it('is not there without a selector, and costs nothing; what others have written stays (I1, I7)', async () => {
    await open({ federatedSelector: '' });
    stage.put(service('web', { labels: MEMBER }));
    stage.put({ ...linkerds('web@a', { local: true }), apiVersion: 'v1', kind: 'Service' });
    await stage.east.clearAudit();
    await start(target('b'));
    await eventually('another joins', async () => annotation(REMOTE) === 'web@b');
    expect([annotation(LOCAL), lease()]).toEqual(['web', undefined]);
    const requests = (await stage.east.audit()).map(({ uri }) => uri);
    expect(requests.filter((uri) => uri.includes('federated%3D'))).toEqual([]);
  });
});
