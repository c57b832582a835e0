/**
 * What a cluster exports is not known: its CRD is missing or of another version, its API server is down, or it refuses to
 * answer. Nothing is deleted because of that: rule K5 of behaviour.md.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { serviceExportCrd, serviceImportCrd } from '../../crds/index.ts';
import { READERS } from '../cluster/guests.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, installCrd, type ObjectRef } from '../cluster/workload/index.ts';
import { credentials, EXPORTED, GATEWAY, LINKS_NAMESPACE, objectRef, service, slice } from '../support/builders.ts';
import { FullMesh } from '../support/full-mesh.ts';
import { installMcs, McsView, podSlices, serviceExport } from '../support/mcs.ts';

const EXPORTS = serviceExportCrd as unknown as Definition;
const IMPORTS = serviceImportCrd as unknown as Definition;
const LOCAL_POD = 'local 10.244.0.1';
const EAST = 'east 203.0.113.20';
const WEST = `west ${GATEWAY}`;

interface Definition extends ObjectRef {
  readonly spec: { readonly versions: readonly { readonly name: string; readonly served: boolean }[] };
}

/** The definition with none of its versions served, but for one that the operator does not know. */
const ofAnotherVersion = (crd: Definition): Definition => {
  const versions = crd.spec.versions.map((version) => ({ ...version, served: false }));
  const unknown = { ...versions[0]!, name: 'v2', served: true, storage: false };
  return { ...crd, spec: { ...crd.spec, versions: [...versions, unknown] } };
};

onEachBacking('exports that are not known', (backing) => {
  let mesh: FullMesh;
  let east: McsView;
  let west: McsView;
  beforeAll(async () => {
    mesh = await FullMesh.start(backing, 'east', 'west');
    east = new McsView(mesh.peer('east').api);
    west = new McsView(mesh.peer('west').api);
    await linkEast();
    await mesh.link('west', 'east', { federation: 'gateway', gatewayAddress: '203.0.113.20' });
  });
  afterAll(() => mesh.stop());
  beforeEach(async () => {
    for (const { cluster, name } of mesh.peers) {
      await installMcs(cluster);
      await mesh.stopOperator(name);
      mesh.operate([name]);
    }
    for (const { name } of mesh.peers) await mesh.ready(name);
  });

  const linkEast = (): Promise<void> => mesh.link('east', 'west', { federation: 'gateway' });
  const remove = async (at: McsView, crd: ObjectRef): Promise<void> => {
    await at.api.delete(crd);
    await eventually(`${crd.metadata.name} is gone`, async () => (await at.api.get(crd)) === undefined);
  };
  const exported = async (from: McsView, name: string): Promise<void> => {
    await from.api.apply(service(name));
    for (const each of podSlices(name, [{ ip: '10.244.0.1' }])) await from.api.apply(each);
    await from.api.apply(serviceExport(name));
  };
  /** Exports a Service from both, and returns when both have imported that. */
  const exportedByBoth = async (name: string): Promise<void> => {
    for (const from of [east, west]) await exported(from, name);
    await east.untilAddresses(name, LOCAL_POD, WEST);
    await west.untilAddresses(name, EAST, LOCAL_POD);
    await east.untilClusters(name, 'local,west');
    await west.untilClusters(name, 'east,local');
  };
  const derivedOf = async (at: McsView, name: string) => {
    const found = await at.derived(name);
    return { uid: found?.metadata.uid, ip: found?.spec.clusterIP };
  };
  const identity = async (at: McsView, name: string) => {
    const found = await at.serviceImport(name);
    return { uid: found?.metadata.uid, ips: found?.spec.ips, derived: await derivedOf(at, name) };
  };
  /** A sign that the operator of east reads west, and has acted since. */
  const mirrored = async (name: string): Promise<void> => {
    await west.api.apply(service(name, { labels: EXPORTED }));
    await west.api.apply(slice(name));
    const mirror = objectRef('v1', 'Service', `${name}-west`, 'shop');
    await eventually(`${name} is mirrored`, async () => (await east.api.get(mirror)) !== undefined);
    await eventually('it is at rest', () => mesh.operator('east').settled());
  };
  /** A sign that the operator of east has looked at the exports of its own cluster since. */
  const imported = async (name: string): Promise<void> => {
    await exported(east, name);
    await east.untilClusters(name, 'local');
  };
  const untilLogged = (at: string, pattern: RegExp): Promise<unknown> =>
    eventually(`the operator of ${at} logs ${pattern}`, async () =>
      mesh.operator(at).lines.some(({ message, fields }) => pattern.test(`${message} ${JSON.stringify(fields)}`)),
    );

  test('K5 an operator without the CRDs logs that once, mirrors, and imports once they are there', async () => {
    for (const crd of [EXPORTS, IMPORTS]) await remove(east, crd);
    await mesh.stopOperator('east');
    mesh.operate(['east']);
    await mesh.ready('east');
    await exported(west, 'early');
    await mirrored('mirrored');
    await untilLogged('east', /serviceimports/i);
    const reports = mesh
      .operator('east')
      .lines.filter(
        ({ message, level, fields }) =>
          level !== 'debug' && /serviceimports/i.test(`${message} ${JSON.stringify(fields)}`),
      );
    expect(reports.map(({ level, message }) => `${level} ${message}`)).toHaveLength(1);
    expect(
      (await east.api.list({ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', namespace: 'shop' })).filter(
        ({ metadata }) => metadata.labels?.['linkspan.dev/service-import'] !== undefined,
      ),
    ).toEqual([]);
    await installMcs(mesh.peer('east').cluster);
    await east.untilAddresses('early', WEST);
    await east.untilClusters('early', 'west');
  });

  test('K5 ServiceImports that vanish with their CRD leave their Services and slices, and come back with their addresses', async () => {
    await exportedByBoth('kept');
    const before = await derivedOf(east, 'kept');
    await remove(east, IMPORTS);
    await mirrored('sign-of-life');
    expect(await derivedOf(east, 'kept')).toEqual(before);
    await east.untilAddresses('kept', LOCAL_POD, WEST);
    await mesh.stopOperator('east');
    mesh.operate(['east']);
    await mirrored('sign-of-another');
    expect(await derivedOf(east, 'kept')).toEqual(before);
    await east.untilAddresses('kept', LOCAL_POD, WEST);
    await installCrd(mesh.peer('east').cluster, IMPORTS);
    await east.untilClusters('kept', 'local,west');
    expect(await identity(east, 'kept')).toMatchObject({ ips: [before.ip], derived: before });
  });

  test('K5 parts in ServiceImports that cannot be read outlive their Link, and go when they can be', async () => {
    await exportedByBoth('left');
    await remove(east, IMPORTS);
    await untilLogged('east', /ServiceImports are not served here/);
    await east.api.delete(objectRef('multicluster.linkerd.io/v1alpha3', 'Link', 'west', LINKS_NAMESPACE));
    await untilLogged('east', /the Lease of the Link stays: ServiceImports/);
    await east.untilAddresses('left', LOCAL_POD, WEST);
    await mesh.stopOperator('east');
    mesh.operate(['east']);
    await untilLogged('east', /the Lease of the Link stays: ServiceImports/);
    await installCrd(mesh.peer('east').cluster, IMPORTS);
    await east.untilAddresses('left', LOCAL_POD);
    const lease = objectRef('coordination.k8s.io/v1', 'Lease', 'service-mirror-write-west', LINKS_NAMESPACE);
    await eventually('the Lease is gone', async () => (await east.api.get(lease)) === undefined);
    await linkEast();
    await east.untilAddresses('left', LOCAL_POD, WEST);
  });

  test('K5 ServiceExports that vanish with their CRD stay imported, here and in other clusters', async () => {
    const restart = async (): Promise<void> => {
      for (const { name } of mesh.peers) await mesh.stopOperator(name);
      mesh.operate(undefined, { tuning: { returnGraceMs: 60_000 } });
    };
    await restart();
    await exportedByBoth('exported');
    const before = [await identity(east, 'exported'), await identity(west, 'exported')];
    const stays = async (sign: string): Promise<void> => {
      await imported(`east-${sign}`);
      await mirrored(`west-${sign}`);
      expect([await identity(east, 'exported'), await identity(west, 'exported')]).toEqual(before);
      await east.untilAddresses('exported', LOCAL_POD, WEST);
      await west.untilAddresses('exported', EAST, LOCAL_POD);
      await east.untilClusters('exported', 'local,west');
    };
    await remove(west, EXPORTS);
    await stays('gone');
    await restart();
    await stays('still-gone');
    // The kind is back before its objects are.
    await installCrd(mesh.peer('west').cluster, EXPORTS);
    await exported(west, 'sign-of-the-kind');
    for (const [at, cluster] of [
      [east, 'west'],
      [west, 'local'],
    ] as const)
      await at.untilClusters('sign-of-the-kind', cluster);
    await stays('back');
    await west.api.apply(serviceExport('exported'));
    await west.untilCondition('Valid', 'Valid', 'exported');
    await exported(west, 'second-sign-of-the-kind');
    await east.untilClusters('second-sign-of-the-kind', 'west');
    await stays('exported-again');
    // What has been seen since goes when it is deleted.
    await west.api.delete(serviceExport('exported'));
    await east.untilAddresses('exported', LOCAL_POD);
    await west.untilAddresses('exported', EAST);
  });

  test('K5 a version that is not known is as none', async () => {
    await exportedByBoth('versioned');
    const before = [await identity(east, 'versioned'), await identity(west, 'versioned')];
    await installCrd(mesh.peer('west').cluster, ofAnotherVersion(EXPORTS));
    await imported('east-sign');
    await mesh.stopOperator('east');
    mesh.operate(['east']);
    await imported('another-east-sign');
    await mesh.ready('east');
    expect([await identity(east, 'versioned'), await identity(west, 'versioned')]).toEqual(before);
    await east.untilAddresses('versioned', LOCAL_POD, WEST);
    await east.untilClusters('versioned', 'local,west');

    await installCrd(mesh.peer('east').cluster, ofAnotherVersion(IMPORTS));
    await mirrored('sign-of-versions');
    expect(await derivedOf(east, 'versioned')).toEqual(before[0]?.derived);
    for (const [at, crd] of [
      ['west', EXPORTS],
      ['east', IMPORTS],
    ] as const)
      await installCrd(mesh.peer(at).cluster, crd);
    // What is not there once the kind is back may have gone with it, if it has not been seen since.
    await exported(west, 'sign-of-west');
    await east.untilClusters('sign-of-west', 'west');
    await west.api.delete(serviceExport('versioned'));
    await east.untilAddresses('versioned', LOCAL_POD);
    expect(await identity(east, 'versioned')).toEqual(before[0]);
  });

  test('K5 a target that is down when the operator starts keeps its part of all imports', async () => {
    await exportedByBoth('down');
    await exported(west, 'down-alone');
    await east.untilAddresses('down-alone', WEST);
    await east.untilClusters('down-alone', 'west');
    const names = ['down', 'down-alone'];
    const before = await Promise.all(names.map((name) => identity(east, name)));
    await mesh.stopOperator('east');
    await mesh.peer('west').cluster.kill();
    mesh.operate(['east']);
    await eventually('that is reported', async () => {
      return (await mesh.condition('east', 'west', 'TargetReachable'))?.status === 'False';
    });
    await imported('sign-with-west-down');
    expect(await Promise.all(names.map((name) => identity(east, name)))).toEqual(before);
    await east.untilAddresses('down', LOCAL_POD, WEST);
    await east.untilAddresses('down-alone', WEST);
    await mesh.peer('west').cluster.start();
    await mesh.ready('east');
    expect(await Promise.all(names.map((name) => identity(east, name)))).toEqual(before);
    await west.api.delete(serviceExport('down-alone'));
    await east.untilGone('down-alone');
  });

  test.each([
    ['exports', 'restored', serviceExport],
    ['Services of exports', 'emptied', service],
  ])(
    'E6 %s that are all gone when they are listed again are held, and imported on when they come back',
    async (_, prefix, lost) => {
      const names = Array.from({ length: 12 }, (_, index) => `${prefix}-${index}`);
      for (const name of names) await exported(west, name);
      const identities = () => Promise.all(names.map((name) => identity(east, name)));
      for (const name of names) await east.untilClusters(name, 'west');
      for (const name of names) await east.untilAddresses(name, WEST);
      const before = await identities();
      await mesh.stopOperator('east');
      for (const name of names) await west.api.delete(lost(name));
      mesh.operate(['east']);
      const held = await eventually('they are held', async () => {
        const found = await mesh.condition('east', 'west', 'PruneHeld');
        return found?.status === 'True' && found;
      });
      expect(held.message).toMatch(/"12-[0-9a-f]+"/);
      await imported('sign-of-holding');
      expect(await identities()).toEqual(before);
      for (const name of names) await east.untilAddresses(name, WEST);
      for (const name of names) await west.api.apply(lost(name));
      await eventually('nothing is held', async () => {
        return (await mesh.condition('east', 'west', 'PruneHeld'))?.status === 'False';
      });
      expect(await identities()).toEqual(before);
      // What goes before the eyes of the operator is not held.
      for (const name of names) await west.api.delete(lost(name));
      for (const name of names) await east.untilGone(name);
    },
  );

  test('K5 a target that does not let its exports be read keeps its part, and its Link is Ready', async () => {
    await exportedByBoth('forbidden');
    const before = await identity(east, 'forbidden');
    const { api: own, cluster } = mesh.peer('west');
    const [reader] = READERS;
    const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reads-services' };
    const rules = [
      { apiGroups: [''], resources: ['services', 'configmaps'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] },
    ];
    const rbac = 'rbac.authorization.k8s.io/v1';
    await own.apply({ ...objectRef(rbac, 'ClusterRole', role.name), rules } as ObjectRef);
    await own.apply({
      ...objectRef(rbac, 'ClusterRoleBinding', role.name),
      roleRef: role,
      subjects: [{ kind: 'User', name: reader.name, apiGroup: 'rbac.authorization.k8s.io' }],
    } as ObjectRef);
    await mesh.peer('east').api.apply(credentials('west', cluster.kubeconfigFor(reader.token)));
    await mesh.stopOperator('east');
    mesh.operate(['east']);
    await mirrored('sign-of-the-reader');
    await mesh.ready('east');
    await imported('sign-of-the-reader-east');
    expect(await identity(east, 'forbidden')).toEqual(before);
    await east.untilAddresses('forbidden', LOCAL_POD, WEST);
    await west.api.delete(serviceExport('forbidden'));
    await linkEast();
    await east.untilAddresses('forbidden', LOCAL_POD);
  });
});
