/** The controller of the gateway's policy over a simulated cluster that has no Link, with Linkerd's policy controller played. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mcsCrds } from '../../../crds/index.ts';
import { GatewayAccess } from '../../../operator/access/access.ts';
import type { GatewayAccess as Mode } from '../../../operator/access/exports.ts';
import { render } from '../../../constructs/rendered/index.ts';
import { GatewayPolicy } from '../../../constructs/gateway/gateway-policy.ts';
import type { Manifest } from '../../cluster/simulated/store.ts';
import { eventually, installCrd, type ObjectRef } from '../../cluster/workload/index.ts';
import { LINKS_NAMESPACE, service } from '../../support/builders.ts';
import { policyCrds } from '../../support/policy-crds.ts';
import { Stage } from '../link/stage.ts';
import { GatewayModel, type PolicyObject } from './model.ts';

const POLICY = 'policy.linkerd.io';
const identity = (name: string, domain = 'cluster.local'): string =>
  `${name}.serviceaccount.identity.linkerd.${domain}`;

describe('the policy of the gateway', () => {
  let stage: Stage;
  let stop: AbortController;
  let running: Promise<void>;
  /** `namespace/name reason` of each Event. */
  let events: string[];
  /** What they say. */
  let messages: string[];

  beforeEach(async () => {
    stage = await Stage.start();
    for (const crd of [...policyCrds(), ...(mcsCrds as unknown as readonly ObjectRef[])])
      await installCrd(stage.east, crd);
    events = [];
    messages = [];
    running = Promise.resolve();
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await stage.stop();
  });

  const start = async (mode: Mode, settings: Partial<Stage['config']> = {}): Promise<void> => {
    stop = new AbortController();
    const env = await stage.environment();
    const access = new GatewayAccess({
      env: { ...env, config: { ...env.config, ...settings } },
      mode,
      events: {
        record: ({ namespace, name }, _, reason, message) => {
          events.push(`${namespace}/${name} ${reason}`);
          messages.push(message);
        },
      },
    });
    running = access.run(stop.signal);
  };
  /** The gateway's policy, as the construct renders it. */
  const apply = (gatewayAccess: Mode): void => {
    const objects = render(
      (chart) => new GatewayPolicy(chart, 'policy', { namespace: LINKS_NAMESPACE, gatewayAccess }),
    );
    for (const each of objects) stage.east.store.upsert(each);
  };
  const exported = (name: string, clients?: string, ports?: readonly object[]): void => {
    const object = service(name);
    stage.put({
      ...object,
      metadata: {
        ...object.metadata,
        labels: { 'mirror.linkerd.io/exported': 'true' },
        ...(clients !== undefined && { annotations: { 'linkspan.dev/clients': clients } }),
      },
      ...(ports !== undefined && { spec: { ...object.spec, ports } }),
    } as typeof object);
  };
  const list = (version: string, kind: string): readonly PolicyObject[] =>
    stage.east.store.list(`${POLICY}/${version}`, kind, LINKS_NAMESPACE);
  const policy = (): readonly PolicyObject[] => [
    ...list('v1beta3', 'HTTPRoute'),
    ...list('v1alpha1', 'AuthorizationPolicy'),
    ...list('v1alpha1', 'MeshTLSAuthentication'),
    ...list('v1alpha1', 'NetworkAuthentication'),
  ];
  /** Linkerd's policy controller takes all routes. */
  const accept = (): void => {
    for (const route of list('v1beta3', 'HTTPRoute')) {
      if ('status' in route) continue;
      const parentRef = { kind: 'Server', name: 'linkerd-gateway' };
      const status = { parents: [{ parentRef, conditions: [{ type: 'Accepted', status: 'True' }] }] };
      stage.east.store.upsert({ ...route, status } as unknown as Manifest);
    }
  };
  const ask = (client: string, name: string): number => {
    const accepted = list('v1beta3', 'HTTPRoute').filter((each) => 'status' in each);
    const model = new GatewayModel(policy(), new Set(accepted.map(({ metadata }) => metadata.name)));
    return model.request(client, `${name}.shop.svc.cluster.local`);
  };
  /** Waits until something holds, while the policy controller takes all routes. */
  const comes = (what: string, holds: () => boolean | Promise<boolean>): Promise<unknown> =>
    eventually(what, () => {
      accept();
      return Promise.resolve(holds());
    });
  const becomes = async (answers: Readonly<Record<string, number>>): Promise<void> => {
    const found = (): Readonly<Record<string, number>> =>
      Object.fromEntries(
        Object.keys(answers).map((each) => {
          const [client = '', name = ''] = each.split(' asks ');
          return [each, ask(identity(client, client === 'far.shop' ? 'east.example' : undefined), name)];
        }),
      );
    await comes(JSON.stringify(answers), () => JSON.stringify(found()) === JSON.stringify(answers)).catch(() =>
      expect(found()).toEqual(answers),
    );
  };

  it('M2 lets every meshed client reach what is exported, and nothing else, in a cluster that has no Link', async () => {
    apply('exported');
    exported('web');
    stage.put(service('secret'));
    await start('exported');
    await becomes({ 'a.shop asks web': 200, 'b.shop asks web': 200, 'a.shop asks secret': 404 });
    exported('secret');
    await becomes({ 'a.shop asks secret': 200 });
    stage.put(service('web'));
    await becomes({ 'a.shop asks web': 404, 'a.shop asks secret': 200 });
  });

  it('M3 lets in whom an export names, by its own cluster, and nobody for an export that names nobody', async () => {
    apply('clients');
    exported('web', 'shop/a, shop/far@east.example');
    exported('silent');
    exported('wrong', 'shop/a, shop');
    await start('clients');
    await becomes({
      'a.shop asks web': 200,
      'b.shop asks web': 403,
      'far.shop asks web': 200,
      'a.shop asks silent': 404,
      'a.shop asks wrong': 404,
    });
    await comes('it is said', () => events.length >= 2);
    expect([...events].sort()).toEqual(['shop/silent NoClients', 'shop/wrong InvalidClients']);
    exported('web', 'shop/b');
    await becomes({ 'a.shop asks web': 403, 'b.shop asks web': 200 });
  });

  it('M7 says nothing of a policy that was read too late to be written over, and writes it (L174)', async () => {
    apply('exported');
    exported('web');
    await start('exported');
    await becomes({ 'a.shop asks web': 200 });
    const match = ({ verb, resource }: { readonly verb: string; readonly resource: string }): boolean =>
      verb === 'patch' && resource === 'httproutes';
    stage.east.faults.refuse({ failure: { kind: 'status', code: 409 }, match, times: 3 });
    exported('late');
    await becomes({ 'a.shop asks late': 200 });
    expect(events).toEqual([]);
    expect(stage.lines.filter((line) => line.includes('cannot be written'))).toEqual([]);
  });

  it('M4 replaces sets with shorter names, as an older operator left them, and refuses nobody meanwhile', async () => {
    apply('clients');
    exported('web', 'shop/a');
    await start('clients');
    await becomes({ 'a.shop asks web': 200, 'b.shop asks web': 403 });
    await comes('it is closed', () => policy().every(({ metadata }) => metadata.name !== 'linkspan-all'));
    stop.abort();
    await running;
    for (const object of policy()) {
      const older = JSON.stringify(object).replaceAll(/\b([\da-f]{12})[\da-f]{20}\b/g, '$1');
      if (older === JSON.stringify(object)) continue;
      const { apiVersion, kind, ...rest } = JSON.parse(older) as Manifest;
      stage.east.store.delete(apiVersion, kind, LINKS_NAMESPACE, object.metadata.name);
      stage.east.store.upsert({ apiVersion, kind, ...rest });
    }
    const names = (): string =>
      policy()
        .map(({ metadata }) => metadata.name)
        .join(' ');
    expect(names()).toMatch(/linkspan-[\da-f]{12}-0/);
    await start('clients');
    await comes('the names are long', () => {
      expect([ask(identity('a.shop'), 'web'), ask(identity('b.shop'), 'web')]).toEqual([200, 403]);
      return !/linkspan-[\da-f]{12}\b/.test(names());
    });
    expect(events).toEqual([]);
  });

  it('M4 closes a gateway that was open, and deletes the policy for everyone last; and opens it again', async () => {
    apply('open');
    for (let at = 0; at < 40; at += 1) exported(`web-${at}`);
    await start('exported');
    await becomes({ 'a.shop asks web-0': 200, 'a.shop asks web-39': 200, 'a.shop asks secret': 404 });
    await comes(
      'the policy for everyone goes',
      () =>
        !policy().some(({ kind, metadata }) => kind === 'AuthorizationPolicy' && metadata.name === 'linkerd-gateway'),
    );
    expect(list('v1beta3', 'HTTPRoute').length).toBe(Math.ceil(40 / 16) + 1);
    stop.abort();
    await running;
    await start('open');
    await comes('it is said', () => stage.lines.some((line) => line.includes('stays closed')));
    expect(ask(identity('a.shop'), 'secret')).toBe(404);
    apply('open');
    await becomes({ 'a.shop asks secret': 200 });
    await comes(
      'nothing is left',
      () => list('v1beta3', 'HTTPRoute').length === 0 && list('v1alpha1', 'AuthorizationPolicy').length === 2,
    );
  });

  it('M2 does not open a gateway for a policy of somebody else that lets in some alone, and opens it for one that lets in all (L234)', async () => {
    apply('exported');
    exported('web');
    await start('exported');
    await becomes({ 'a.shop asks web': 200, 'a.shop asks secret': 404 });
    stop.abort();
    await running;
    const upsert = (kind: string, name: string, spec: object): void =>
      void stage.east.store.upsert({
        apiVersion: `${POLICY}/v1alpha1`,
        kind,
        metadata: { name, namespace: LINKS_NAMESPACE },
        spec,
      });
    const authorize = (name: string, ...requiredAuthenticationRefs: readonly object[]): void =>
      upsert('AuthorizationPolicy', name, {
        targetRef: { group: POLICY, kind: 'Server', name: 'linkerd-gateway' },
        requiredAuthenticationRefs,
      });
    upsert('MeshTLSAuthentication', 'only-b', { identities: [identity('b.shop')] });
    upsert('NetworkAuthentication', 'office', { networks: [{ cidr: '192.0.2.0/24' }] });
    const anyMeshed = { group: POLICY, kind: 'MeshTLSAuthentication', name: 'any-meshed' };
    authorize('for-b', { ...anyMeshed, name: 'only-b' });
    authorize('for-prometheus', { kind: 'ServiceAccount', name: 'prometheus', namespace: 'linkerd-viz' });
    authorize('for-the-office', anyMeshed, { group: POLICY, kind: 'NetworkAuthentication', name: 'office' });
    authorize('for-those-of-another-namespace', { ...anyMeshed, namespace: 'shop' });
    await start('open');
    await said('stays closed');
    expect([ask(identity('a.shop'), 'web'), list('v1beta3', 'HTTPRoute').length]).toEqual([200, 2]);
    // As Linkerd's chart makes it, without a label of ours.
    authorize('linkerd-gateway', anyMeshed, { group: POLICY, kind: 'NetworkAuthentication', name: 'source-cluster' });
    await becomes({ 'a.shop asks web': 200, 'a.shop asks secret': 200 });
    await comes('nothing is left', () => list('v1beta3', 'HTTPRoute').length === 0);
  });

  it("M4 leaves the policy of Linkerd's chart, which is not ours, and says so", async () => {
    apply('open');
    const [chart] = list('v1alpha1', 'AuthorizationPolicy').filter(
      ({ metadata }) => metadata.name === 'linkerd-gateway',
    );
    const { 'linkspan.dev/gateway-access': _ours, ...labels } = (
      chart as unknown as { readonly metadata: { readonly labels: Readonly<Record<string, string>> } }
    ).metadata.labels;
    stage.east.store.upsert({ ...chart, metadata: { ...chart?.metadata, labels } } as unknown as Manifest);
    exported('web');
    await start('exported');
    await comes('it is said', () => stage.lines.some((line) => line.includes('policies that are not ours')));
    expect(policy().some(({ metadata }) => metadata.name === 'linkerd-gateway')).toBe(true);
    await becomes({ 'a.shop asks web': 200, 'a.shop asks secret': 404 });
  });

  const networks = (name = 'source-cluster') =>
    list('v1alpha1', 'NetworkAuthentication').find(({ metadata }) => metadata.name === name);
  const takeNetworks = (): void => {
    stage.east.store.delete(`${POLICY}/v1alpha1`, 'NetworkAuthentication', LINKS_NAMESPACE, 'source-cluster');
  };
  const said = (text: string) => comes(`"${text}" is said`, () => stage.lines.some((line) => line.includes(text)));

  it('M4 keeps what is exported reachable when the networks of the gateway vanish, from those it named last, and says so', async () => {
    apply('exported');
    exported('web');
    await start('exported');
    await becomes({ 'a.shop asks web': 200, 'a.shop asks secret': 404 });
    stage.east.store.upsert({ ...networks(), spec: { networks: [{ cidr: '10.1.0.0/16' }] } } as unknown as Manifest);
    const kept = (): string => JSON.stringify(networks('linkspan-source-networks')?.spec);
    await comes('the copy follows', () => kept() === '{"networks":[{"cidr":"10.1.0.0/16"}]}');
    takeNetworks();
    await said('clients have no networks to come from');
    exported('secret');
    await becomes({ 'a.shop asks web': 200, 'a.shop asks secret': 200 });
    expect(kept()).toContain('10.1.0.0/16');
    expect(events).toEqual([`${LINKS_NAMESPACE}/linkerd-gateway NoSourceNetworks`]);
    apply('exported');
    await comes('the copy follows again', () => kept().includes('0.0.0.0/0'));
  });

  it('M4 does not close a gateway while its networks are missing, and names the remedy', async () => {
    apply('open');
    exported('web');
    takeNetworks();
    await start('exported');
    await said('clients have no networks to come from');
    expect(messages.every((each) => each.includes('apply the GatewayPolicy'))).toBe(true);
    expect(
      policy()
        .filter(({ kind }) => kind !== 'MeshTLSAuthentication')
        .map(({ metadata }) => metadata.name),
    ).toEqual(['linkerd-admin', 'linkerd-gateway']);
    expect([...events].sort()).toEqual([
      `${LINKS_NAMESPACE}/linkerd-gateway NoSourceNetworks`,
      'shop/web GatewayPolicyNotWritten',
    ]);
    apply('open');
    await becomes({ 'a.shop asks web': 200, 'a.shop asks secret': 404 });
  });

  it('M3 names everyone once who may reach an export and open opaque connections, and is refused no write', async () => {
    apply('exported');
    exported('web');
    await start('exported', { gatewayTcp: 'meshed' });
    await becomes({ 'a.shop asks web': 200 });
    exported('db');
    await becomes({ 'a.shop asks db': 200 });
    const refused = (await stage.east.audit()).filter(({ code }) => code === 409);
    expect(refused).toEqual([]);
    expect(events).toEqual([]);
  });

  it('M7 does not measure as closed what it cannot read any more', async () => {
    const state = async (): Promise<readonly unknown[] | undefined> =>
      (await stage.metrics.registry.getSingleMetric('linkspan_gateway_access_state')?.get())?.values.map(
        ({ labels }) => labels['state'],
      );
    apply('exported');
    exported('web');
    await start('exported');
    await comes('it is closed', async () => (await state())?.join() === 'closed');
    stage.east.faults.refuse({
      failure: { kind: 'status', code: 403 },
      match: ({ resource }) => resource === 'httproutes',
    });
    stage.east.faults.dropWatches();
    await comes('it is pending', async () => (await state())?.join() === 'pending');
    expect(events).toEqual(['shop/web GatewayPolicyNotWritten']);
  });

  it('M5 takes back who may open opaque connections, whatever the label of that policy says (L136)', async () => {
    apply('exported');
    exported('db', 'shop/a', [{ name: 'mysql', port: 3306 }]);
    await start('exported', { gatewayTcp: 'clients' });
    const tcp = () =>
      list('v1alpha1', 'AuthorizationPolicy').find(({ metadata }) => metadata.name === 'linkspan-opaque-tcp');
    await comes('they may', () => tcp() !== undefined);
    stop.abort();
    await running;
    const relabelled = JSON.stringify(tcp()).replace(
      '"linkspan.dev/gateway-access":"tcp"',
      '"linkspan.dev/gateway-access":"open"',
    );
    stage.east.store.upsert(JSON.parse(relabelled) as Manifest);
    await start('exported');
    await comes('they may not', () => tcp() === undefined);
  });

  it('M4 is held back by no policy of somebody else that has the name of ours for opaque connections, and says so (L235)', async () => {
    apply('open');
    const [chart] = list('v1alpha1', 'AuthorizationPolicy').filter(
      ({ metadata }) => metadata.name === 'linkerd-gateway',
    );
    exported('web', 'shop/a');
    await start('exported');
    await becomes({ 'a.shop asks web': 200, 'b.shop asks web': 403 });
    const [set] = list('v1alpha1', 'MeshTLSAuthentication').filter(({ metadata }) =>
      /[\da-f]{32}$/.test(metadata.name),
    );
    const authentication = { group: POLICY, kind: 'MeshTLSAuthentication', name: set?.metadata.name };
    stop.abort();
    await running;
    stage.east.store.upsert({
      ...chart,
      metadata: {
        name: 'linkspan-opaque-tcp',
        namespace: LINKS_NAMESPACE,
        labels: { 'linkspan.dev/gateway-access': 'tcp' },
      },
      spec: { ...chart?.spec, requiredAuthenticationRefs: [authentication] },
    } as unknown as Manifest);
    apply('open');
    await start('exported');
    await said('policies that are not ours');
    exported('late');
    await becomes({ 'b.shop asks late': 200, 'b.shop asks web': 403 });
    await comes('the gateway is closed', () => policy().every(({ metadata }) => metadata.name !== 'linkerd-gateway'));
    expect(policy().some(({ metadata }) => metadata.name === 'linkspan-opaque-tcp')).toBe(true);
  });

  it('M5 says of an export with opaque ports that they are not admitted', async () => {
    apply('exported');
    exported('db', undefined, [{ name: 'mysql', port: 3306 }]);
    await start('exported');
    await comes('it is said', () => events.includes('shop/db OpaqueNotAdmitted'));
  });
});
