/** Gateways: dead ones, behind names that cannot be looked up, behind several addresses or node ports. Section F of behaviour.md, and C2. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ResolvedHost } from '../../operator/kube/names.ts';
import { machineNetwork } from '../../operator/kube/network.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually } from '../cluster/workload/index.ts';
import { GATEWAY, link, LINKS_NAMESPACE, service, slice } from '../support/builders.ts';
import { EndpointsHistory } from '../support/endpoints-history.ts';
import { exportReady, exportService } from '../support/exports.ts';
import type { EndpointsObject, ServiceObject } from '../support/objects.ts';
import type { TestOperator } from '../support/operator.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const WEST_CREDENTIALS = { clusterCredentialsSecret: 'cluster-credentials-west' };

onEachBacking('the gateway', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator | undefined;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
  });
  beforeEach(() => clusters.gateway.revive());
  afterEach(() => operator?.stop());
  afterAll(() => clusters.stop());

  const alive = (status: string) =>
    eventually(`GatewayAlive is ${status}`, async () => (await clusters.condition('GatewayAlive'))?.status === status);
  const shows = (name: string, ...addresses: readonly string[]) =>
    eventually(`${name} has ${addresses.join()}`, async () => {
      return (await clusters.addresses(name))?.join() === addresses.join();
    });

  test('L9 F1: dead when the operator starts, it makes mirrors not ready, and ready once it lives', async () => {
    await clusters.gateway.die();
    await clusters.link();
    operator = clusters.operator();
    await exportService(clusters, 'cold');
    await alive('False');
    await shows('cold-west', `!${GATEWAY}`);
    await clusters.gateway.revive();
    await alive('True');
    await shows('cold-west', GATEWAY);
  });

  test('L9 F2 C1: dead over a restart, its mirrors are not ready for a moment, and neither are new ones', async () => {
    await clusters.link();
    operator = clusters.operator();
    await exportReady(clusters, 'dead');
    await clusters.gateway.die();
    await shows('dead-west', `!${GATEWAY}`);
    await operator.stop();

    // Slow probes, so that there is a time before the verdict.
    await clusters.link({
      probeSpec: { path: '/ready', port: '4191', period: '1s', timeout: '1s', failureThreshold: '3' },
    });
    const history = await EndpointsHistory.start(clusters);
    operator = clusters.operator();
    await exportService(clusters, 'born');
    await eventually('the verdict reaches the new mirror', async () => {
      return history.states('born-west').at(-1) === `!${GATEWAY}`;
    });
    expect(history.states('born-west')).not.toContain(GATEWAY);
    expect(history.states('dead-west')).not.toContain(GATEWAY);
    expect(history.states('dead-west')).not.toContain('');
    await history.stop();
  });

  test('L10 C2: a failing lookup keeps the addresses, and stops neither death nor life from reaching the mirrors', async () => {
    let answer: readonly string[] | undefined = ['203.0.113.21', '203.0.113.20'];
    const resolve = async (): Promise<ResolvedHost> => {
      if (answer === undefined) throw new Error('the name is not found in DNS');
      return { addresses: answer };
    };
    const tuning = { network: { ...machineNetwork, resolve } };
    const options = { flags: { gatewayResolvePeriod: '1s' }, tuning };
    await clusters.link({ gatewayAddress: 'gateway.west.example' });
    operator = clusters.operator(options);
    await exportService(clusters, 'named');
    await shows('named-west', '203.0.113.20', '203.0.113.21');

    // Death, then the lookup; life while the lookup fails; death again while it fails.
    await clusters.gateway.die();
    answer = undefined;
    await shows('named-west', '!203.0.113.20', '!203.0.113.21');
    const failed = await eventually('the failing lookup is reported', async () => {
      const condition = await clusters.condition('GatewayResolved');
      return condition?.status === 'False' ? condition : undefined;
    });
    expect(failed.message).toContain('gateway.west.example');
    await clusters.gateway.revive();
    await shows('named-west', '203.0.113.20', '203.0.113.21');
    await clusters.gateway.die();
    await shows('named-west', '!203.0.113.20', '!203.0.113.21');

    // A restart knows no answer at all: what the mirrors have stays, and still follows the gateway.
    await operator.stop();
    operator = clusters.operator(options);
    await clusters.gateway.revive();
    await shows('named-west', '203.0.113.20', '203.0.113.21');
    await clusters.gateway.die();
    await shows('named-west', '!203.0.113.20', '!203.0.113.21');

    answer = ['203.0.113.22'];
    await shows('named-west', '!203.0.113.22');
    await eventually('the lookup is reported as working', async () => {
      return (await clusters.condition('GatewayResolved'))?.status === 'True';
    });
  });
});

onEachBacking('a gateway of another kind', (backing) => {
  let clusters: TwoClusters;
  const answers = ['2001:db8::10', '203.0.113.77', '203.0.113.20'];
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    const { host, port } = clusters.gateway.address;
    const probeConnectTo = ['west', 'nodeport'].map((name) => `probe-${name}.${LINKS_NAMESPACE}.svc=${host}:${port}`);
    const network = { ...machineNetwork, resolve: async () => ({ addresses: answers }) };
    clusters.operator({ flags: { probeConnectTo }, tuning: { network } });
  });
  afterAll(() => clusters.stop());

  test('L25 C2 of a gateway behind a host name, only the addresses that this cluster can reach are used, sorted', async () => {
    const labels = { lesson: 'L25' };
    const selector = { matchLabels: labels };
    await clusters.east.apply(
      link('named', { ...WEST_CREDENTIALS, gatewayAddress: 'gateway.example.com', probeSpec: {}, selector }),
    );
    await clusters.west.apply(service('dual', { labels }));
    await clusters.west.apply(slice('dual', { labels }));
    const addresses = await eventually('the mirror has addresses', async () => {
      const found = await clusters.addresses('dual-named');
      return found !== undefined && found.length > 0 && found;
    });
    expect(addresses).toEqual(['203.0.113.20', '203.0.113.77']);
    await eventually('and that is well', async () => (await clusters.condition('Ready', 'named'))?.status === 'True');
    expect(await clusters.condition('GatewayResolved', 'named')).toMatchObject({ status: 'True' });
  });

  test('L31 F4 a gateway behind node ports is probed on the port of the Link, and reached on its gateway port', async () => {
    await clusters.east.apply(
      link('nodeport', {
        clusterCredentialsSecret: 'cluster-credentials-west',
        gatewayAddress: '203.0.113.31,203.0.113.32',
        gatewayPort: '30143',
        probeSpec: { path: '/ready', port: '30191', period: '100ms' },
        selector: { matchLabels: { lesson: 'L31' } },
      }),
    );
    await clusters.west.apply(service('noded', { labels: { lesson: 'L31' } }));
    await clusters.west.apply(slice('noded', { labels: { lesson: 'L31' } }));
    const endpoints = await eventually('the mirror is ready', async () => {
      const found = await clusters.get<EndpointsObject>('Endpoints', 'noded-nodeport');
      return found?.subsets?.[0]?.addresses === undefined ? undefined : found;
    });
    expect(endpoints.subsets).toEqual([
      {
        addresses: [{ ip: '203.0.113.31' }, { ip: '203.0.113.32' }],
        ports: [{ name: 'http', port: 30143, protocol: 'TCP' }],
      },
    ]);
    await eventually(
      'the gateway is alive',
      async () => (await clusters.condition('GatewayAlive', 'nodeport'))?.status === 'True',
    );
    // The gateway of this test answers probes before they have a Service.
    const probe = await eventually('the probe has its Service', () =>
      clusters.get<ServiceObject>('Service', 'probe-nodeport', LINKS_NAMESPACE),
    );
    expect(probe.spec.ports).toMatchObject([{ name: 'mc-probe', port: 30191 }]);
    const behind = await eventually('and its Endpoints', () =>
      clusters.get<EndpointsObject>('Endpoints', 'probe-nodeport', LINKS_NAMESPACE),
    );
    expect(behind.subsets?.[0]?.ports).toMatchObject([{ name: 'mc-probe', port: 30191 }]);
    expect(clusters.gateway.hosts).toContain(`probe-nodeport.${LINKS_NAMESPACE}.svc:30191`);
  });
});
