/**
 * The requirements of the MCS conformance suite (sigs.k8s.io/mcs-api) about DNS, slices and both IP families, by number and
 * title: rules K3 and K4 of behaviour.md, as CoreDNS with `multicluster clusterset.local` answers on dual-stack clusters.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type DnsAnswer, lookUp } from '../cluster/real/dns.ts';
import { onReal } from '../cluster/on-each-backing.ts';
import { eventually } from '../cluster/workload/index.ts';
import { type At, BOTH, ConformanceSet, type Hello, IDS, podIP, podIPv6 } from '../support/conformance.ts';
import { service } from '../support/builders.ts';
import { type McsSlice, serviceExport } from '../support/mcs.ts';
import type { ServiceObject } from '../support/objects.ts';

const familyOf = (ip: string) => (ip.includes(':') ? 'IPv6' : 'IPv4');
/** As an operator has them that no test tunes. */
const USUAL = { labelCopyMs: 2_000, statusPeriodMs: 1_000 };
const ATTEMPTS = 5;
const LIMIT_MS = 2_000;

onReal('the MCS conformance suite, DNS', () => {
  let set: ConformanceSet;
  beforeAll(async () => {
    // Of a pod on a dual-stack network.
    vi.stubEnv('POD_IPS', '10.244.0.100,fd00:244::100');
    set = await ConformanceSet.start({ backing: 'real', dns: true, tuning: USUAL });
  });
  afterAll(async () => {
    await set.stop();
    vi.unstubAllEnvs();
  });

  const ask = (at: At, name: string, type: 'A' | 'AAAA' | 'SRV'): Promise<DnsAnswer> => lookUp(set.dns(at), name, type);
  const untilAnswer = (at: At, name: string, type: 'A' | 'AAAA' | 'SRV', wanted: DnsAnswer): Promise<unknown> =>
    eventually(`${name} ${type} is ${String(wanted)} in ${IDS[at]}`, async () => {
      const answer = await ask(at, name, type);
      if (String(answer) === String(wanted)) return true;
      throw new Error(String(answer));
    });
  const untilOf = (hello: Hello, clusters: string) =>
    Promise.all(
      BOTH.map((at) =>
        set
          .view(at)
          .untilImport(
            `is of ${clusters}`,
            'hello',
            ({ status }) => status?.clusters?.map(({ cluster }) => cluster).join() === clusters,
            hello.namespace,
          ),
      ),
    );
  const endpointsOf = (slices: readonly McsSlice[], family: 'IPv4' | 'IPv6') =>
    slices
      .filter(({ addressType }) => addressType === family)
      .flatMap(({ endpoints = [] }) => endpoints)
      .filter(({ conditions }) => conditions?.ready !== false);

  describe.each(['gateway', 'flat'] as const)('%s', (reach) => {
    let hello: Hello;
    beforeAll(() => set.reach(reach));

    const fresh = async (): Promise<void> => {
      hello = await set.hello();
    };

    test('6 An IP should be allocated for a ClusterSetIP ServiceImport for each IP family', async () => {
      await fresh();
      await hello.create(0);
      await hello.export(0);
      for (const { spec } of await untilOf(hello, 'one')) {
        expect(spec.ipFamilies).toEqual(['IPv4', 'IPv6']);
        expect(spec.ips?.map(familyOf)).toEqual(spec.ipFamilies);
      }
    });

    test('17 A DNS lookup of the <service>.<ns>.svc.clusterset.local domain for a ClusterIP service should resolve to the clusterset IP', async () => {
      await fresh();
      await hello.create(0, {}, [{ hostname: 'hello-0' }]);
      await hello.export(0);
      const imports = await untilOf(hello, 'one');
      for (const at of BOTH) {
        const [v4, v6] = imports[at]?.spec.ips ?? [];
        await untilAnswer(at, hello.name, 'A', [v4!]);
        await untilAnswer(at, hello.name, 'AAAA', [v6!]);
        // There is no name for the Service of one cluster, nor for a pod.
        expect(await ask(at, `one.${hello.name}`, 'A')).toBe('NXDOMAIN');
        expect(await ask(at, `hello-0.one.${hello.name}`, 'A')).toBe('NXDOMAIN');
      }
    });

    test('18 A DNS SRV query of the <service>.<ns>.svc.clusterset.local domain for a ClusterIP service should return valid SRV records', async () => {
      await fresh();
      await hello.create(0);
      await hello.export(0);
      for (const at of BOTH) await untilAnswer(at, `_tcp._tcp.${hello.name}`, 'SRV', [`42 ${hello.name}`]);
    });

    test('19 DNS lookups of the <service>.<ns>.svc.cluster.local domain for a ClusterIP service should only resolve local services', async () => {
      await fresh();
      for (const at of BOTH) await hello.create(at);
      await hello.export(0);
      await untilOf(hello, 'one');
      const local = hello.name.replace('clusterset.local', 'cluster.local');
      for (const at of BOTH) {
        const own = await set.api(at).get<ServiceObject>(service('hello', { namespace: hello.namespace }));
        await untilAnswer(at, local, 'A', [own!.spec.clusterIP]);
      }
    });

    test('14 Connectivity to a service that is not exported should be inaccessible', async () => {
      await fresh();
      for (const at of BOTH) await hello.create(at);
      await hello.exportAnother();
      for (const at of BOTH) expect(await ask(at, hello.name, 'A')).toBe('NXDOMAIN');
    });

    test(`20 A DNS query of the <service>.<ns>.svc.clusterset.local domain for a headless service should return the ready endpoint addresses of all the backing pods${reach === 'gateway' ? ' (through gateways, one address for each)' : ''}`, async () => {
      await fresh();
      await hello.create(0, { headless: true }, [{}, {}, { ready: false }]);
      await hello.export(0);
      await untilOf(hello, 'one');
      const [v4, v6] = [podIP, podIPv6].map((ip) => [ip(0, 0), ip(0, 1)]);
      await untilAnswer(0, hello.name, 'A', v4!);
      await untilAnswer(0, hello.name, 'AAAA', v6!);
      if (reach === 'flat') {
        await untilAnswer(1, hello.name, 'A', v4!);
        await untilAnswer(1, hello.name, 'AAAA', v6!);
        return;
      }
      const addresses = await eventually('both pods have an address', async () => {
        const answer = await ask(1, hello.name, 'A');
        return answer !== 'NXDOMAIN' && answer.length === 2 && answer;
      });
      expect(addresses.filter((address) => v4!.includes(address))).toEqual([]);
    });

    test('20 A headless service of which no pod is ready has no name', async () => {
      await fresh();
      await hello.create(0, { headless: true }, [{ ready: true }]);
      await hello.export(0);
      for (const at of BOTH)
        await eventually(`the name resolves in ${IDS[at]}`, async () => (await ask(at, hello.name, 'A')).length === 1);
      await hello.pods(0, [{ ready: false }]);
      for (const at of BOTH) await untilAnswer(at, hello.name, 'A', 'NXDOMAIN');
      for (const at of BOTH) await set.view(at).untilImport('stays', 'hello', () => true, hello.namespace);
    });

    test("21 A DNS query of the <hostname>.<clusterid>.<service>.<ns>.svc.clusterset.local domain for a headless StatefulSet service should return the requested pod's endpoint address", async () => {
      await fresh();
      const pods = [{ hostname: 'hello-0' }, { hostname: 'hello-1' }];
      for (const at of BOTH) await hello.create(at, { headless: true }, pods);
      await hello.export(0);
      await untilOf(hello, 'one');
      await hello.export(1);
      await untilOf(hello, 'one,two');
      const seen = new Set<string>();
      for (const at of BOTH)
        for (const of of BOTH)
          for (const { hostname } of pods) {
            const addresses = await eventually(`${hostname} of ${IDS[of]} is in the slices of ${IDS[at]}`, async () => {
              const slices = await set.view(at).slices('hello', hello.namespace);
              const ofCluster = slices.filter(
                ({ metadata }) => metadata.labels?.['multicluster.kubernetes.io/source-cluster'] === IDS[of],
              );
              const found = endpointsOf(ofCluster, 'IPv4').filter((each) => each.hostname === hostname);
              return found.length === 1 && found[0]?.addresses;
            });
            await untilAnswer(at, `${hostname}.${IDS[of]}.${hello.name}`, 'A', addresses);
            seen.add(`${at} ${String(addresses)}`);
          }
      expect(seen.size).toBe(8);
      expect(await ask(1, `hello-2.one.${hello.name}`, 'A')).toBe('NXDOMAIN');
    });

    test('22 A DNS SRV query of the <service>.<ns>.svc.clusterset.local domain for a headless service should return valid SRV records', async () => {
      await fresh();
      await hello.create(0, { headless: true, ports: [{ name: 'tcp', port: 42, protocol: 'TCP' }] }, [
        { hostname: 'hello-0' },
        {},
      ]);
      await hello.export(0);
      for (const at of BOTH) {
        const records = await eventually(`there are records in ${IDS[at]}`, async () => {
          const answer = await ask(at, `_tcp._tcp.${hello.name}`, 'SRV');
          const targets = answer === 'NXDOMAIN' ? [] : answer.map((record) => record.split('.')[0]);
          return (
            targets.includes('42 hello-0') && targets.some((target) => /^42 10-\d+-\d+-\d+$/.test(target!)) && answer
          );
        });
        for (const record of records) expect(record).toMatch(new RegExp(`\\.one\\.${hello.name}$`));
      }
    });

    test("23 Exporting a service should create an MCS EndpointSlice in the service's namespace in each cluster with the required MCS labels. Unexporting should delete the EndpointSlice", async () => {
      await fresh();
      await hello.create(0);
      await hello.export(0);
      for (const at of BOTH) {
        const slices = await eventually(`there is a slice for each family in ${IDS[at]}`, async () => {
          const found = await set.view(at).slices('hello', hello.namespace);
          const isThere = (['IPv4', 'IPv6'] as const).every((family) => endpointsOf(found, family).length > 0);
          return isThere && found;
        });
        for (const { metadata, endpoints } of slices) {
          expect(metadata.labels?.['multicluster.kubernetes.io/source-cluster']).toBe('one');
          const { 'endpointslice.kubernetes.io/managed-by': managedBy } = metadata.labels ?? {};
          expect(managedBy).toBeDefined();
          expect(managedBy).not.toBe('endpointslice-controller.k8s.io');
          // Linkerd's, or nobody's; those of the Service itself are the two of Kubernetes alone.
          const isRouted = reach === 'gateway' || at === 0;
          expect(metadata.labels?.['kubernetes.io/service-name']).toBe(isRouted ? 'hello-clusterset' : undefined);
          expect(endpoints?.every(({ hostname }) => hostname === undefined)).toBe(true);
        }
      }
      await hello.unexport(0);
      for (const at of BOTH) await set.view(at).untilGone('hello', hello.namespace);
    });

    test(`an export is answered by DNS in each cluster within ${LIMIT_MS} ms`, async () => {
      const took: number[] = [];
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        await fresh();
        await hello.create(0);
        const began = performance.now();
        await set.api(0).create(serviceExport('hello', hello.namespace));
        for (const at of BOTH)
          await eventually('the name resolves', async () => (await ask(at, hello.name, 'A')) !== 'NXDOMAIN');
        took.push(Math.round(performance.now() - began));
      }
      console.log(`export to DNS answer in both clusters (${reach}): ${took.join(', ')} ms`);
      // A busy machine delays some.
      expect(Math.min(...took)).toBeLessThan(LIMIT_MS);
    });
  });
});
