/**
 * The requirements of the MCS conformance suite (sigs.k8s.io/mcs-api), by number and title, through gateways and on a flat
 * network: rules K1 to K4 of behaviour.md. Those about DNS and both IP families are in mcs-conformance-dns.test.ts. Where
 * requests go is read from what Linkerd reads.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually } from '../cluster/workload/index.ts';
import { BOTH, ConformanceSet, type Hello, HELLO_PORTS, IDS } from '../support/conformance.ts';
import type { ServiceImportObject } from '../support/mcs.ts';

/** What every ServiceImport with an address says, whatever is exported. */
/** Annotations of a ServiceImport without those by which operators know what it is made of, and whose it is. */
const exportedIn = ({ annotations = {} }: { readonly annotations?: Readonly<Record<string, string>> }): object =>
  Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith('linkspan.dev/')));

const DERIVED = { 'multicluster.kubernetes.io/derived-service': 'hello-clusterset' };

onEachBacking('the MCS conformance suite', (backing) => {
  let set: ConformanceSet;
  beforeAll(async () => {
    set = await ConformanceSet.start({ backing });
  });
  afterAll(() => set.stop());

  const untilImports = (
    hello: Hello,
    what: string,
    isSo: (found: ServiceImportObject) => boolean,
  ): Promise<readonly ServiceImportObject[]> =>
    Promise.all(BOTH.map((at) => set.view(at).untilImport(what, 'hello', isSo, hello.namespace)));
  const untilOf = (hello: Hello, clusters: string): Promise<readonly ServiceImportObject[]> =>
    untilImports(
      hello,
      `is of ${clusters}`,
      ({ status }) => (status?.clusters ?? []).map(({ cluster }) => cluster).join() === clusters,
    );
  const untilGone = (hello: Hello): Promise<unknown> =>
    Promise.all(BOTH.map((at) => set.view(at).untilGone('hello', hello.namespace)));
  const untilConflict = (hello: Hello, reason: string): Promise<unknown> =>
    Promise.all(
      BOTH.map(async (at) => {
        const { status } = await set.view(at).untilCondition('Conflict', reason, 'hello', hello.namespace);
        expect(status).toBe('True');
      }),
    );
  const untilRoutes = (hello: Hello, port: number, exporters: readonly (0 | 1)[]): Promise<unknown> =>
    Promise.all(
      BOTH.map((at) =>
        eventually(`requests in ${IDS[at]} go to ${exporters.map((each) => IDS[each]).join()}`, async () => {
          const routes = await set.view(at).routes('hello', port, hello.namespace);
          return routes?.join() === set.routes(at, exporters).join();
        }),
      ),
    );
  /** Exports the Service from the first cluster, then from the other. */
  /** Of two exports of one second, which is the older cannot be told: the uid decides. */
  const nextSecond = (): Promise<void> => sleep(1_000 - (Date.now() % 1_000));
  const exportBoth = async (hello: Hello): Promise<readonly ServiceImportObject[]> => {
    await hello.export(0);
    await untilOf(hello, 'one');
    await nextSecond();
    await hello.export(1);
    return untilImports(hello, 'is there', () => true);
  };

  describe.each(['gateway', 'flat'] as const)('%s', (reach) => {
    let hello: Hello;
    beforeAll(() => set.reach(reach));

    const fresh = async (): Promise<void> => {
      hello = await set.hello();
    };

    test("1 A ServiceImport should only exist as long as there's at least one exporting cluster", async () => {
      await fresh();
      for (const at of BOTH) await hello.create(at);
      await exportBoth(hello);
      const before = await untilOf(hello, 'one,two');
      await untilRoutes(hello, 42, [0, 1]);
      await hello.unexport(0);
      const after = await untilOf(hello, 'two');
      await untilRoutes(hello, 42, [1]);
      const identities = (of: readonly ServiceImportObject[]) =>
        of.map(({ metadata, spec }) => [metadata.uid, spec.ips]);
      expect(identities(after)).toEqual(identities(before));
      await hello.unexport(1);
      await untilGone(hello);
    });

    test("2 Exporting a ClusterIP service should create a ServiceImport of type ClusterSetIP in the service's namespace in each cluster. Unexporting should delete the ServiceImport", async () => {
      await fresh();
      await hello.create(0);
      await hello.export(0);
      expect((await set.view(0).untilCondition('Valid', 'Valid', 'hello', hello.namespace)).status).toBe('True');
      const imports = await untilImports(hello, 'is there', () => true);
      expect(imports.map(({ spec }) => spec.type)).toEqual(['ClusterSetIP', 'ClusterSetIP']);
      await hello.unexport(0);
      await untilGone(hello);
    });

    test("3 The SessionAffinity for a ClusterSetIP ServiceImport should match the exported service's SessionAffinity", async () => {
      await fresh();
      await hello.create(0);
      await hello.export(0);
      for (const { spec } of await untilImports(hello, 'is there', () => true)) {
        expect(spec.sessionAffinity).toBe('ClientIP');
        expect(spec.sessionAffinityConfig).toEqual({ clientIP: { timeoutSeconds: 10 } });
      }
    });

    test("4 The InternalTrafficPolicy for a ClusterSetIP ServiceImport should match the exported service's InternalTrafficPolicy", async () => {
      await fresh();
      await hello.create(0, { spec: { internalTrafficPolicy: 'Cluster' } });
      await hello.export(0);
      for (const { spec } of await untilImports(hello, 'is there', () => true))
        expect(spec.internalTrafficPolicy).toBe('Cluster');
    });

    test("5 The TrafficDistribution for a ClusterSetIP ServiceImport should match the exported service's TrafficDistribution", async () => {
      await fresh();
      await hello.create(0, { spec: { trafficDistribution: 'PreferClose' } });
      await hello.export(0);
      for (const { spec } of await untilImports(hello, 'is there', () => true))
        expect(spec.trafficDistribution).toBe('PreferClose');
    });

    test('7 The ports for a ClusterSetIP ServiceImport should match those of the exported service', async () => {
      await fresh();
      const ports = [{ name: 'tcp', port: 42, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' }, HELLO_PORTS[1]!];
      await hello.create(0, { ports });
      await hello.export(0);
      for (const { spec } of await untilImports(hello, 'is there', () => true)) expect(spec.ports).toEqual(ports);
    });

    test('8 A ClusterIP service exported on two clusters should expose the union of the constituent service ports and raise a conflict', async () => {
      await fresh();
      const sctp = { name: 'sctp', port: 142, protocol: 'SCTP' };
      await hello.create(0);
      await hello.create(1, { ports: [HELLO_PORTS[0]!, sctp] });
      await exportBoth(hello);
      await untilConflict(hello, 'PortConflict');
      for (const { spec } of await untilOf(hello, 'one,two')) expect(spec.ports).toEqual([...HELLO_PORTS, sctp]);
    });

    test('9 A ClusterIP service exported on two clusters with conflicting ports should apply the conflict resolution policy and report a Conflict condition on each ServiceExport', async () => {
      await fresh();
      await hello.create(0);
      // One by its name, the other by its number.
      const ports = [
        { name: 'tcp', port: 4242, protocol: 'TCP' },
        { name: 'other', port: 42, protocol: 'UDP' },
      ];
      await hello.create(1, { ports });
      await exportBoth(hello);
      await untilConflict(hello, 'PortConflict');
      for (const { spec } of await untilOf(hello, 'one,two')) expect(spec.ports).toEqual(HELLO_PORTS);
    });

    test("10 Exporting a headless service should create a ServiceImport of type Headless in the service's namespace in each cluster. Unexporting should delete the ServiceImport", async () => {
      await fresh();
      await hello.create(0, { headless: true });
      await hello.export(0);
      for (const { spec } of await untilOf(hello, 'one')) {
        expect(spec.type).toBe('Headless');
        expect(spec.ipFamilies).toEqual(['IPv4']);
      }
      await hello.unexport(0);
      await untilGone(hello);
    });

    test('11 No clusterset IP should be allocated for a Headless ServiceImport', async () => {
      await fresh();
      await hello.create(0, { headless: true });
      await hello.export(0);
      for (const { spec } of await untilOf(hello, 'one')) expect(spec.ips).toBeUndefined();
      for (const at of BOTH) expect(await set.view(at).derived('hello', hello.namespace)).toBeUndefined();
    });

    test('12 Exporting an ExternalName service should set ServiceExport Valid condition to False', async () => {
      await fresh();
      const { namespace } = hello;
      await set.api(0).create({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'hello', namespace },
        spec: { type: 'ExternalName', externalName: 'example.com' },
      } as never);
      await hello.export(0);
      const valid = await set.view(0).untilCondition('Valid', 'InvalidServiceType', 'hello', namespace);
      expect(valid.status).toBe('False');
      await hello.exportAnother();
      for (const at of BOTH) expect(await set.view(at).serviceImport('hello', namespace)).toBeUndefined();
    });

    test('13 A service exported on two clusters with conflicting headlessness should apply the conflict resolution policy and report a Conflict condition on the ServiceExport', async () => {
      await fresh();
      await hello.create(0);
      await hello.create(1, { headless: true, ports: [...HELLO_PORTS, { name: 'more', port: 43, protocol: 'TCP' }] });
      await exportBoth(hello);
      await untilConflict(hello, 'PortConflict,TypeConflict');
      for (const { spec } of await untilOf(hello, 'one')) {
        expect(spec.type).toBe('ClusterSetIP');
        expect(spec.ports).toEqual(HELLO_PORTS);
      }
      await untilRoutes(hello, 42, [0]);
    });

    test('14 Connectivity to a service that is not exported should be inaccessible', async () => {
      await fresh();
      for (const at of BOTH) await hello.create(at);
      await hello.exportAnother();
      for (const at of BOTH) {
        expect(await set.view(at).serviceImport('hello', hello.namespace)).toBeUndefined();
        expect(await set.view(at).derived('hello', hello.namespace)).toBeUndefined();
        expect(await set.view(at).slices('hello', hello.namespace)).toEqual([]);
      }
    });

    test('15 Only labels and annotations specified as exported in the ServiceExport should be propagated to the ServiceImport', async () => {
      await fresh();
      await hello.create(0, { labels: { own: 'a' }, annotations: { own: 'b' } });
      await hello.export(0, { exportedLabels: { team: 'c' }, exportedAnnotations: { 'example.com/why': 'd' } });
      for (const { metadata } of await untilImports(hello, 'is there', () => true)) {
        expect(metadata.labels).toEqual({ team: 'c', 'linkspan.dev/service-import': 'hello' });
        expect(exportedIn(metadata)).toEqual({ ...DERIVED, 'example.com/why': 'd' });
      }
    });

    test('16 A ClusterIP service exported on two clusters with conflicting annotations and labels should apply the conflict resolution policy and report a Conflict condition on each ServiceExport', async () => {
      await fresh();
      for (const at of BOTH) await hello.create(at);
      await hello.export(0, { exportedLabels: { team: 'a' }, exportedAnnotations: { why: 'b' } });
      await untilOf(hello, 'one');
      await nextSecond();
      await hello.export(1, { exportedLabels: { team: 'x' }, exportedAnnotations: { why: 'y', more: 'z' } });
      await untilConflict(hello, 'LabelsConflict,AnnotationsConflict');
      for (const { metadata } of await untilOf(hello, 'one,two')) {
        expect(metadata.labels).toEqual({ team: 'a', 'linkspan.dev/service-import': 'hello' });
        expect(exportedIn(metadata)).toEqual({ ...DERIVED, why: 'b' });
      }
    });

    test('24 Connectivity to an exported ClusterIP service should be accessible through DNS', async () => {
      await fresh();
      await hello.create(0);
      await hello.export(0);
      await untilRoutes(hello, 42, [0]);
      // The name leads to the address of the Service whose endpoints these are.
      for (const at of BOTH) {
        const { spec } = await set.view(at).untilImport('is there', 'hello', () => true, hello.namespace);
        expect(spec.ips).toEqual([(await set.view(at).derived('hello', hello.namespace))?.spec.clusterIP]);
      }
    });

    test('25 Connectivity to a ClusterIP service existing in two clusters but exported from one should only access the exporting cluster', async () => {
      await fresh();
      for (const at of BOTH) await hello.create(at);
      await hello.export(0);
      await hello.exportAnother();
      await untilRoutes(hello, 42, [0]);
    });

    test(`26 Connectivity to a ClusterIP service existing in two clusters with the same port name but different port numbers should only route traffic to the cluster that exposes the port${reach === 'flat' ? ' (not on a flat network)' : ''}`, async () => {
      await fresh();
      await hello.create(0, { ports: [{ name: 'tcp', port: 42 }] });
      await hello.create(1, { ports: [{ name: 'tcp', port: 4242 }] });
      await exportBoth(hello);
      await untilOf(hello, 'one,two');
      // On a flat network Linkerd is given clusters, not ports.
      await untilRoutes(hello, 42, reach === 'gateway' ? [0] : [0, 1]);
      for (const at of BOTH) expect(await set.view(at).routes('hello', 4242, hello.namespace)).toBeUndefined();
    });

    test(`27 Connectivity to a ClusterIP service existing in two clusters with different port names should route traffic to each port only to the cluster that exposes it${reach === 'flat' ? ' (not on a flat network)' : ''}`, async () => {
      await fresh();
      await hello.create(0, { ports: [{ name: 'tcp', port: 42 }] });
      await hello.create(1, { ports: [{ name: 'tcp-2', port: 4242 }] });
      await exportBoth(hello);
      await untilOf(hello, 'one,two');
      await untilRoutes(hello, 42, reach === 'gateway' ? [0] : [0, 1]);
      await untilRoutes(hello, 4242, reach === 'gateway' ? [1] : [0, 1]);
    });
  });
});
