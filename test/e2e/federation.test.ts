/** Federated Services over three clusters, each with Links to the others and an operator: rules I1 to I8 of behaviour.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type ObjectRef } from '../cluster/workload/index.ts';
import { GATEWAY, link, LINKS_NAMESPACE, namespace, service, slice } from '../support/builders.ts';
import { discoveryCredentials, FullMesh } from '../support/full-mesh.ts';

const MEMBER = { 'mirror.linkerd.io/federated': 'member' };
const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Writes of an operator in its own cluster, but for Leases and Events. */
const writesIn = async (mesh: FullMesh, at: string): Promise<readonly string[]> =>
  (await mesh.peer(at).cluster.audit())
    .filter(({ verb, userAgent }) => WRITES.has(verb) && userAgent.startsWith('linkspan-operator'))
    .filter(({ resource }) => resource !== 'leases' && resource !== 'events')
    .map(({ verb, resource, subresource = '', name = '' }) => `${verb} ${resource} ${subresource} ${name}`);

onEachBacking('federated Services in a full mesh', (backing) => {
  let mesh: FullMesh;
  beforeAll(async () => {
    mesh = await FullMesh.start(backing, 'east', 'west', 'north');
    mesh.operate();
  });
  afterAll(() => mesh.stop());

  const apply = async (at: string, name: string, options: Parameters<typeof service>[1] = {}): Promise<void> => {
    await mesh.peer(at).api.apply(service(name, { labels: MEMBER, ...options }));
    await mesh.peer(at).api.apply(slice(name, { labels: MEMBER }));
  };
  const untilMembers = (at: string, name: string, members: string | undefined): Promise<unknown> =>
    eventually(
      `${name} has members ${members ?? 'none'} in ${at}`,
      async () => (await mesh.members(at, name)) === members,
    );
  const untilReason = (at: string, of: string, name: string, reason: string | undefined): Promise<unknown> =>
    eventually(
      `${name} of ${of} is ${reason ?? 'unknown'} in ${at}`,
      async () => (await mesh.memberCondition(at, of, name))?.reason === reason,
    );

  test('I1 I2 the Services of all clusters are members in each of them', async () => {
    for (const { name } of mesh.peers) await apply(name, 'web');
    await untilMembers('east', 'web', '(local),web@north,web@west');
    await untilMembers('west', 'web', '(local),web@east,web@north');
    await untilMembers('north', 'web', '(local),web@east,web@west');
    const { metadata, spec } = (await mesh.federated('east', 'web'))!;
    expect(metadata.labels).toEqual({ 'mirror.linkerd.io/mirrored-service': 'true' });
    expect(spec.ports.map(({ port }) => port)).toEqual([80]);
    expect(await mesh.slices('east', 'web')).toEqual({});
    await untilReason('east', 'west', 'web', 'Mirrored');
    const joined = () => mesh.operator('east').metric('linkspan_federated_members', { state: 'joined' });
    await eventually('that is measured', async () => (await joined()) === 3);
    // The federated Services of others carry the label too (N7).
    expect(await mesh.members('east', 'web-federated')).toBeUndefined();
  });

  test('I1 a Service leaves by its label, and the last takes the federated Service with it', async () => {
    for (const at of ['west', 'north']) await apply(at, 'leaving');
    await untilMembers('east', 'leaving', 'leaving@north,leaving@west');
    const { uid } = (await mesh.federated('east', 'leaving'))!.metadata;
    await mesh
      .peer('west')
      .api.patch(service('leaving'), { metadata: { labels: { 'mirror.linkerd.io/federated': null } } });
    await untilMembers('east', 'leaving', 'leaving@north');
    expect((await mesh.federated('east', 'leaving'))?.metadata.uid).toBe(uid);
    await mesh.peer('north').api.delete(service('leaving'));
    await untilMembers('east', 'leaving', undefined);
    await untilReason('east', 'north', 'leaving', undefined);
  });

  test('I4 a member that lacks a port stays out, says so, and joins once it has it', async () => {
    const ports = [
      { name: 'http', port: 80, targetPort: 8080 },
      { name: 'admin', port: 81, targetPort: 8081 },
    ];
    await apply('north', 'ported', { ports });
    await untilMembers('east', 'ported', 'ported@north');
    await apply('west', 'ported');
    await untilReason('east', 'west', 'ported', 'PortMismatch');
    expect(await mesh.members('east', 'ported')).toBe('ported@north');
    await eventually('that is an Event', async () => {
      const events = await mesh.peer('east').api.list<ObjectRef & { readonly reason: string }>({
        apiVersion: 'v1',
        kind: 'Event',
        namespace: LINKS_NAMESPACE,
      });
      return events.some(({ reason }) => reason === 'PortMismatch');
    });
    await apply('west', 'ported', { ports });
    await untilMembers('east', 'ported', 'ported@north,ported@west');
    await untilReason('east', 'west', 'ported', 'Mirrored');
  });

  test("I8 a user's own Service of that name is left alone, and said so", async () => {
    const own = service('taken-federated');
    await mesh.peer('east').api.apply(own);
    await apply('west', 'taken');
    await untilReason('east', 'west', 'taken', 'NameConflict');
    expect((await mesh.federated('east', 'taken'))?.metadata.labels).toBeUndefined();
    await mesh.peer('east').api.delete(own);
    await untilMembers('east', 'taken', 'taken@west');
  });

  test('I4 a cluster is listed only while the control plane has its credentials', async () => {
    await apply('west', 'found');
    await apply('north', 'found');
    await untilMembers('east', 'found', 'found@north,found@west');
    await mesh.peer('east').api.delete(discoveryCredentials('west'));
    await untilMembers('east', 'found', 'found@north');
    await untilReason('east', 'west', 'found', 'WaitingForCredentials');
    await mesh.peer('east').api.apply(discoveryCredentials('west'));
    await untilMembers('east', 'found', 'found@north,found@west');
  });

  test('A3 a member waits for its namespace', async () => {
    for (const at of ['west', 'north']) await mesh.peer(at).api.apply(namespace('bank'));
    await mesh.peer('west').api.apply(service('waiting', { namespace: 'bank', labels: MEMBER }));
    await untilReason('east', 'west', 'waiting', 'MissingNamespace');
    await mesh.peer('east').api.apply(namespace('bank'));
    await untilReason('east', 'west', 'waiting', 'Mirrored');
  });

  test('I5 through gateways there is a slice for each cluster, out at once when its gateway dies', async () => {
    await apply('west', 'routed');
    await apply('north', 'routed');
    await apply('east', 'routed');
    await untilMembers('east', 'routed', '(local),routed@north,routed@west');
    const { uid } = (await mesh.federated('east', 'routed'))!.metadata;
    const probeSpec = { path: '/ready', port: '4191', period: '100ms', timeout: '1s', failureThreshold: '1' };
    await mesh.link('east', 'west', { federation: 'gateway', probeSpec });
    await mesh.link('east', 'north', { gatewayAddress: '203.0.113.20' });
    const listed = async (of: string): Promise<string | undefined> =>
      (await mesh.slices('east', 'routed'))[`routed-federated.${of}-ipv4`]?.join();
    const here = async (): Promise<string | undefined> =>
      (await mesh.slices('east', 'routed'))['routed-federated.local.routed-abcde']?.join();
    await eventually('the pods here are listed', async () => (await here()) === '10.244.0.1');
    await eventually('west is listed by its gateway', async () => (await listed('west')) === GATEWAY);
    await eventually('north is listed by its own', async () => (await listed('north')) === '203.0.113.20');
    await untilMembers('east', 'routed', '');
    expect((await mesh.federated('east', 'routed'))?.metadata.uid).toBe(uid);
    await mesh.gateway.die();
    await eventually('the dead one is out', async () => (await listed('west')) === `!${GATEWAY}`);
    await mesh.gateway.revive();
    await eventually('it is back', async () => (await listed('west')) === GATEWAY);
    await mesh.peer('west').api.apply(slice('routed', { labels: MEMBER, endpoints: [{ ready: false }] }));
    await eventually('without pods it is out', async () => (await listed('west')) === '');
    await mesh.link('east', 'west');
    await mesh.link('east', 'north');
    await untilMembers('east', 'routed', '(local),routed@north,routed@west');
    await eventually('no slice is left', async () => Object.keys(await mesh.slices('east', 'routed')).length === 0);
    expect((await mesh.federated('east', 'routed'))?.metadata.uid).toBe(uid);
  });

  test('C5 I6 a restart writes nothing, and the members of a target that is down stay', async () => {
    for (const { name } of mesh.peers) await apply(name, 'staying');
    await untilMembers('east', 'staying', '(local),staying@north,staying@west');
    for (const of of ['north', 'west']) await untilReason('east', of, 'staying', 'Mirrored');
    await mesh.ready('east');
    await eventually('it is at rest', () => mesh.operator('east').settled());
    await mesh.stopOperator('east');
    await mesh.peer('east').cluster.clearAudit();
    mesh.operate(['east']);
    await mesh.ready('east');
    await eventually('it is at rest', () => mesh.operator('east').settled());
    expect(await writesIn(mesh, 'east')).toEqual([]);

    await mesh.stopOperator('east');
    await mesh.peer('west').cluster.kill();
    mesh.operate(['east']);
    await eventually('north is read', async () => {
      await apply('north', 'during');
      return (await mesh.members('east', 'during')) === 'during@north';
    });
    expect(await mesh.members('east', 'staying')).toBe('(local),staying@north,staying@west');
    expect((await mesh.memberCondition('east', 'west', 'staying'))?.reason).toBe('Mirrored');
    await mesh.peer('west').cluster.start();
    await mesh.ready('east');
    expect(await mesh.members('east', 'staying')).toBe('(local),staying@north,staying@west');
  });

  test('L68 I6 a Link that moves keeps the federated Service of its only member, until there is none for certain', async () => {
    await apply('west', 'moved');
    await untilMembers('east', 'moved', 'moved@west');
    const { uid } = (await mesh.federated('east', 'moved'))!.metadata;
    const name = async (targetClusterName: string): Promise<void> => {
      await mesh.peer('east').api.apply(discoveryCredentials(targetClusterName));
      await mesh.peer('east').api.patch(link('west'), { spec: { targetClusterName } });
    };
    await name('occident');
    await untilMembers('east', 'moved', 'moved@occident');
    expect((await mesh.federated('east', 'moved'))?.metadata.uid).toBe(uid);
    await mesh.peer('west').cluster.kill();
    await name('west');
    await untilMembers('east', 'moved', '');
    await eventually('the Link says that it is kept', async () =>
      /\d+ federated Services that have no member now are kept/.test(
        (await mesh.condition('east', 'west', 'TargetReachable'))?.message ?? '',
      ),
    );
    await mesh.peer('west').cluster.start();
    await untilMembers('east', 'moved', 'moved@west');
    expect((await mesh.federated('east', 'moved'))?.metadata.uid).toBe(uid);
    await mesh.peer('west').api.delete(service('moved'));
    await untilMembers('east', 'moved', undefined);
    await mesh.peer('east').api.delete(discoveryCredentials('occident'));
  });

  test('H9 I6 the memberships of a suspended Link stay, whatever becomes of its members', async () => {
    for (const at of ['west', 'north']) await apply(at, 'left');
    await untilMembers('east', 'left', 'left@north,left@west');
    const suspend = (value: string | null) =>
      mesh.peer('east').api.patch(link('west'), { metadata: { annotations: { 'linkspan.dev/suspended': value } } });
    await suspend('true');
    await eventually(
      'it is suspended',
      async () => (await mesh.condition('east', 'west', 'Ready'))?.reason === 'Suspended',
    );
    for (const at of ['west', 'north']) await mesh.peer(at).api.delete(service('left'));
    await untilMembers('east', 'left', 'left@west');
    await suspend(null);
    await untilMembers('east', 'left', undefined);
  });

  test('E5 a Link that is deleted takes its memberships with it, also while no operator runs', async () => {
    for (const at of ['west', 'north']) await apply(at, 'linked');
    await untilMembers('east', 'linked', 'linked@north,linked@west');
    await mesh.peer('east').api.delete(link('north'));
    await untilMembers('east', 'linked', 'linked@west');
    await mesh.link('east', 'north');
    await untilMembers('east', 'linked', 'linked@north,linked@west');
    await mesh.stopOperator('east');
    await mesh.peer('east').api.delete(link('north'));
    mesh.operate(['east']);
    await untilMembers('east', 'linked', 'linked@west');
    await mesh.peer('east').api.delete(link('west'));
    await untilMembers('east', 'linked', undefined);
    await eventually('their Leases are gone', async () => {
      const leases = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: LINKS_NAMESPACE };
      return (await mesh.peer('east').api.list(leases)).every(({ metadata }) => !metadata.name.startsWith('service-'));
    });
  });
});
