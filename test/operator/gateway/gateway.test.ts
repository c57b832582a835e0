import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LinkSettings, probeName, readLink } from '../../../crds/index.ts';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import { Gateway, type ListedProbe } from '../../../operator/gateway/gateway.ts';
import { machineNetwork, type Network } from '../../../operator/kube/network.ts';
import { createMetrics } from '../../../operator/metrics/index.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { link } from '../../support/builders.ts';
import { TestGateway } from '../../support/gateway.ts';
import { recordingLog } from '../link/recorded.ts';

const NAMESPACE = 'linkerd-multicluster';
const SERVICE_HOST = `${probeName('west')}.${NAMESPACE}.svc`;
const IDENTITY = 'gateway.example';
const PROBE = { path: '/ready', port: '4191', period: '10ms', timeout: '1s', failureThreshold: '2' };

let remote: TestGateway;
const gateways: Gateway[] = [];

beforeEach(async () => {
  remote = new TestGateway();
  await remote.revive();
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) gateway.stop();
  await remote.die();
});

const UNPROBED = { probeSpec: { path: '' } };

/** A Link to a gateway, at a name unless it says otherwise. */
function settings(spec: object = {}): LinkSettings {
  const read = readLink(
    link('west', { gatewayAddress: 'gw.example', gatewayIdentity: IDENTITY, probeSpec: PROBE, ...spec }),
  );
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  return read.value;
}

type Resolve = (host: string) => Promise<readonly string[]>;

/** A gateway, and what it said. */
function setUp(
  resolve: Resolve = async () => ['203.0.113.1'],
  probeVia: OperatorConfig['probeVia'] = 'service',
  {
    probeAddress = () => undefined,
    listed = { addresses: [], port: undefined },
    probe = (request, signal) => machineNetwork.probe(request, signal),
    connectTo = new Map([SERVICE_HOST, '203.0.113.1'].map((host) => [host, remote.address])),
    wasAlive = () => undefined,
  }: {
    readonly probeAddress?: () => string | undefined;
    readonly listed?: ListedProbe;
    readonly probe?: Network['probe'];
    readonly connectTo?: OperatorConfig['probeConnectTo'];
    readonly wasAlive?: () => boolean | undefined;
  } = {},
) {
  const events: string[] = [];
  const lines: string[] = [];
  const said = { changes: 0, statuses: 0 };
  const metrics = createMetrics({ process: false });
  const config = {
    namespace: NAMESPACE,
    probeVia,
    probeConnectTo: connectTo,
    gatewayResolvePeriodMs: 10,
  } satisfies Partial<OperatorConfig> as unknown as OperatorConfig;
  const gateway = new Gateway({
    config,
    families: new Set(['IPv4']),
    network: { resolve: async (host) => ({ addresses: await resolve(host) }), probe },
    probeAddress,
    listed: () => listed,
    wasAlive,
    metrics,
    log: recordingLog(lines),
    report: {
      event: (type, reason) => events.push(`${type} ${reason}`),
      statusChanged: () => (said.statuses += 1),
    },
    listener: { gatewayChanged: () => void (said.changes += 1) },
  });
  gateways.push(gateway);
  const metric = async (name: string): Promise<readonly number[] | undefined> =>
    (await metrics.registry.getSingleMetric(name)?.get())?.values.map(({ value }) => value);
  const judged = (alive: boolean) => eventually(`the verdict is ${alive}`, async () => gateway.view!.alive === alive);
  return { gateway, events, lines, said, metric, judged };
}

/** A promise that a test fulfils. */
const later = () => Promise.withResolvers<readonly string[]>();

describe('a gateway that is probed (F1)', () => {
  it('is measured no more once it is not probed any more, or is another', async () => {
    const { gateway, metric, judged } = setUp();
    gateway.start(settings());
    await judged(true);
    expect([await metric('gateway_alive'), (await metric('gateway_latency'))?.length]).toEqual([[1], 1]);
    gateway.start(settings(UNPROBED));
    expect([await metric('gateway_alive'), await metric('gateway_latency')]).toEqual([[], []]);
    expect(await metric('gateway_enabled')).toEqual([0]);
  });

  it('is alive or not as its probes find it, and says so each time (F3)', async () => {
    const { gateway, events, lines, said, metric, judged } = setUp();
    gateway.start(settings());
    await judged(true);
    expect(gateway.findings()).toMatchObject({
      resolved: { status: 'True' },
      gatewayAlive: { status: 'True', reason: 'ProbeSucceeded' },
      gateway: { addresses: ['203.0.113.1'], alive: true },
    });
    expect([await metric('gateway_alive'), await metric('gateway_enabled')]).toEqual([[1], [1]]);
    const { changes, statuses } = said;
    await remote.die();
    await judged(false);
    expect(gateway.findings().gatewayAlive).toMatchObject({ status: 'False', reason: 'ProbeFailed' });
    expect(gateway.view!.addresses).toEqual(['203.0.113.1']);
    expect(said).toEqual({ changes: changes + 1, statuses: statuses + 1 });
    expect(await metric('gateway_alive')).toEqual([0]);
    expect((await metric('gateway_probes'))?.every((count) => count > 0)).toBe(true);
    expect(await metric('gateway_probes')).toHaveLength(2);
    expect(events).toEqual(['Normal GatewayAlive', 'Warning GatewayNotAlive']);
    expect(lines).toEqual(['info the gateway is alive', 'warn the gateway is not alive']);
  });

  it('is neither before the first verdict (F2)', () => {
    const { gateway } = setUp(() => later().promise);
    gateway.start(settings());
    expect(gateway.view).toMatchObject({ addresses: [], alive: undefined });
    expect(gateway.findings()).toMatchObject({ resolved: undefined, gatewayAlive: undefined });
  });

  it('is until then what it was found to be before a restart (C1)', () => {
    const { gateway } = setUp(() => later().promise, 'service', { wasAlive: () => false });
    gateway.start(settings());
    expect(gateway.view).toMatchObject({ alive: undefined, wasAlive: false });
  });

  it('is neither again when it becomes another: a verdict holds for the gateway that was probed (F2)', async () => {
    const { gateway, judged } = setUp();
    gateway.start(settings());
    await judged(true);
    gateway.start(settings({ gatewayAddress: '203.0.113.2' }));
    expect(gateway.view!.alive).toBeUndefined();
    expect(gateway.findings().gatewayAlive).toMatchObject({ status: 'Unknown' });
  });

  it('is alive when it is not to be probed any more, whatever was found before', async () => {
    const { gateway, judged, metric } = setUp();
    await remote.die();
    gateway.start(settings());
    await judged(false);
    gateway.start(settings(UNPROBED));
    expect(gateway.view!.alive).toBe(true);
    expect(gateway.findings().gatewayAlive).toMatchObject({ status: 'True', reason: 'NotProbed' });
    expect(await metric('gateway_enabled')).toEqual([0]);
  });

  it.each([
    ['its probe Service', 'service', `${SERVICE_HOST}:4191`],
    ['its addresses', 'address', '203.0.113.1:4191'],
  ] as const)('may be asked through %s (F4)', async (_, via, host) => {
    const { gateway, judged } = setUp(undefined, via);
    gateway.start(settings());
    await judged(true);
    expect(remote.hosts).toEqual([host]);
  });
});

describe('the probe Service of a gateway (F4)', () => {
  /** A gateway that is probed through a Service, and where its probes went. */
  function throughService(address: () => string | undefined) {
    const probes: unknown[] = [];
    const { gateway, metric } = setUp(undefined, 'service', {
      probeAddress: address,
      connectTo: new Map(),
      probe: async (request) => {
        probes.push([request.host, request.port, request.headers['host']]);
        return 200;
      },
    });
    return { gateway, metric, probes };
  }

  it('is reached at its ClusterIP, so that no name is resolved, under its name', async () => {
    const { gateway, probes } = throughService(() => '10.96.0.7');
    gateway.start(settings());
    await eventually('a probe', async () => probes.length > 0);
    expect(probes[0]).toEqual(['10.96.0.7', 4191, `${SERVICE_HOST}:4191`]);
  });

  it('is waited for, which says nothing about the gateway', async () => {
    const service: { address?: string } = {};
    const { gateway, metric, probes } = throughService(() => service.address);
    gateway.start(settings({ probeSpec: { ...PROBE, failureThreshold: '1' } }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(gateway.view!.alive).toBeUndefined();
    expect(await metric('gateway_probes')).toEqual([]);
    service.address = '10.96.0.7';
    await eventually('it is alive', async () => gateway.view!.alive === true);
    expect(probes.length).toBeGreaterThan(0);
  });

  it.each([
    ['after a verdict', true],
    ['from the start', false],
  ])('is missed %s: nothing is known of the gateway, and endpoints stay as they are (L254)', async (_, wasThere) => {
    const service: { address?: string | undefined } = wasThere ? { address: '10.96.0.7' } : {};
    const { gateway, metric } = throughService(() => service.address);
    gateway.start(settings());
    if (wasThere) await eventually('it is alive', async () => gateway.view!.alive === true);
    service.address = undefined;
    await eventually('the verdict holds no longer', async () => gateway.findings().gatewayAlive?.status === 'Unknown');
    expect(gateway.findings().gatewayAlive?.message).toContain(`Service ${NAMESPACE}/${probeName('west')}`);
    expect(gateway.view).toMatchObject({ alive: undefined, ...(wasThere && { wasAlive: true }) });
    expect(await metric('gateway_alive')).toEqual([]);
    service.address = '10.96.0.7';
    await eventually('it is alive again', async () => gateway.findings().gatewayAlive?.status === 'True');
  });

  it('may be made anew before as many probes would have failed as make a gateway not alive (L254)', async () => {
    const service: { address?: string | undefined } = { address: '10.96.0.7' };
    const { gateway } = throughService(() => service.address);
    gateway.start(settings({ probeSpec: { ...PROBE, failureThreshold: '1000' } }));
    await eventually('it is alive', async () => gateway.view!.alive === true);
    service.address = undefined;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(gateway.findings().gatewayAlive?.status).toBe('True');
  });
});

describe('a gateway whose name is not answered after a restart, and that is probed at its addresses (L126)', () => {
  /** Fails every lookup until there is an answer. */
  function unanswered(listed: readonly string[]) {
    const dns: { answer?: readonly string[] } = {};
    const resolve = async () => dns.answer ?? Promise.reject(new Error('SERVFAIL'));
    const probe: Network['probe'] = (request, signal) =>
      request.host === '203.0.113.9' ? Promise.reject(new Error('no route')) : machineNetwork.probe(request, signal);
    const judging = setUp(resolve, 'address', { listed: { addresses: listed, port: 4191 }, probe });
    judging.gateway.start(settings({ probeSpec: { ...PROBE, failureThreshold: '1' } }));
    return { dns, ...judging };
  }

  it('has no verdict while no address is known: nothing is probed', async () => {
    const { dns, gateway, metric, judged } = unanswered([]);
    await eventually('the lookup has failed', async () => gateway.findings().resolved?.status === 'False');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(gateway.view!.alive).toBeUndefined();
    expect(await metric('gateway_probes')).toEqual([]);
    dns.answer = ['203.0.113.1'];
    await judged(true);
  });

  it('is probed at the addresses that its endpoints have from before, and is found dead there', async () => {
    const { judged } = unanswered(['203.0.113.1']);
    await judged(true);
    expect(remote.hosts).toContain('203.0.113.1:4191');
    await remote.die();
    await judged(false);
  });

  it.each([
    ['address', '203.0.113.1'],
    ['service', '10.96.0.7'],
  ] as const)('is probed at the port of the probe Service, until its own is known (L157): %s', async (via, host) => {
    const dns: { answer?: readonly string[] } = {};
    const probes: string[] = [];
    const { gateway, judged } = setUp(async () => dns.answer ?? Promise.reject(new Error('SERVFAIL')), via, {
      connectTo: new Map(),
      listed: { addresses: ['203.0.113.1'], port: 4191 },
      probeAddress: () => '10.96.0.7',
      probe: async (request) => {
        probes.push(`${request.host}:${request.port} ${request.headers['host']!.split(':')[1]}`);
        return 200;
      },
    });
    gateway.start(settings({ probeSpec: { ...PROBE, port: '5191' } }));
    await judged(true);
    expect(new Set(probes)).toEqual(new Set([`${host}:4191 4191`]));
    dns.answer = ['203.0.113.1'];
    await eventually('its own port is probed', async () => probes.includes(`${host}:5191 5191`));
  });

  it('is probed at the addresses that are found, once there are any', async () => {
    const { dns, judged } = unanswered(['203.0.113.9']);
    await judged(false);
    dns.answer = ['203.0.113.1'];
    await judged(true);
  });
});

describe("a gateway's addresses (C2)", () => {
  it('stay in use while lookups fail, which is an Event once and in the findings', async () => {
    let lookups = 0;
    let answer: readonly string[] | undefined = ['203.0.113.1'];
    const { gateway, events, said } = setUp(async () => {
      lookups += 1;
      if (answer === undefined) throw new Error(`SERVFAIL ${lookups}`);
      return answer;
    });
    const resolved = (status: string) =>
      eventually(`the lookup is ${status}`, async () => gateway.findings().resolved?.status === status);
    gateway.start(settings(UNPROBED));
    await resolved('True');
    const { changes } = said;
    answer = undefined;
    await resolved('False');
    const failed = lookups;
    await eventually('it has failed more often', async () => lookups > failed + 3);
    expect(gateway.findings().resolved).toMatchObject({ reason: 'LookupFailed' });
    expect(gateway.findings().resolved?.message).toMatch(/SERVFAIL \d+; in use: 203\.0\.113\.1$/);
    expect(gateway.view!.addresses).toEqual(['203.0.113.1']);
    expect(said.changes).toBe(changes);
    expect(events).toEqual(['Warning GatewayNotResolved']);
    answer = ['203.0.113.1', '203.0.113.2'];
    await resolved('True');
    expect(gateway.view!.addresses).toEqual(['203.0.113.1', '203.0.113.2']);
    expect(said.changes).toBe(changes + 1);
  });

  it('never stand beside the port or the identity of another gateway (C4)', async () => {
    let names = later();
    const { gateway, said } = setUp(() => names.promise);
    gateway.start(settings({ ...UNPROBED, gatewayAddress: '203.0.113.1' }));
    await eventually('they are known', async () => gateway.view!.addresses.length > 0);
    const before = said.changes;
    gateway.start(settings({ ...UNPROBED, gatewayPort: '5143', gatewayIdentity: 'other.example' }));
    names.reject(new Error('NXDOMAIN'));
    names = later();
    await eventually('the lookup has failed', async () => gateway.findings().resolved?.status === 'False');
    expect(gateway.view!.addresses).toEqual(['203.0.113.1']);
    expect(gateway.view).toMatchObject({ port: 4143, identity: IDENTITY });
    expect(said.changes).toBe(before);
    names.resolve(['203.0.113.2']);
    await eventually('they are found', async () => gateway.view!.addresses[0] === '203.0.113.2');
    expect(gateway.view).toMatchObject({ port: 5143, identity: 'other.example' });
    expect(said.changes).toBe(before + 1);
  });

  describe('stay in use while the name of the next gateway does not resolve, and', () => {
    const NEXT = { gatewayAddress: 'next.example', gatewayPort: '5143', gatewayIdentity: 'other.example' };

    /** A gateway in use that answers its probes, whose Link now names another one, which no name leads to yet. */
    async function superseded(
      former: object,
      next: object,
      via: OperatorConfig['probeVia'] = 'address',
    ): Promise<ReturnType<typeof setUp> & { readonly probes: string[]; readonly dns: { next?: readonly string[] } }> {
      const dns: { next?: readonly string[] } = {};
      const probes: string[] = [];
      const found = setUp(
        async (host) => (host === 'gw.example' ? ['203.0.113.1'] : (dns.next ?? Promise.reject(new Error('NXDOMAIN')))),
        via,
        {
          connectTo: new Map(),
          probeAddress: () => '10.96.0.7',
          probe: async ({ host, port, path }) => {
            probes.push(`${host}:${port}${path}`);
            return port === 4191 && path === '/ready' ? 200 : 503;
          },
        },
      );
      const { gateway } = found;
      gateway.start(settings(former));
      await eventually('it is in use', async () => gateway.view!.alive === true && gateway.isKnown);
      probes.length = 0;
      gateway.start(settings({ ...NEXT, ...next }));
      await eventually('the lookup has failed', async () => gateway.findings().resolved?.status === 'False');
      return { ...found, probes, dns };
    }

    it.each([
      ['at its address', 'address', '203.0.113.1'],
      ['through its probe Service', 'service', '10.96.0.7'],
    ] as const)('it is probed as it was, %s (L156)', async (_, via, host) => {
      const next = { probeSpec: { ...PROBE, port: '5191', path: '/live', failureThreshold: '1' } };
      const { gateway, judged, probes, dns } = await superseded({}, next, via);
      await eventually('it has been probed', async () => probes.length > 2);
      expect(new Set(probes)).toEqual(new Set([`${host}:4191/ready`]));
      await judged(true);
      expect(gateway.view).toMatchObject({ port: 4143, identity: IDENTITY, probe: { port: 4191, path: '/ready' } });
      dns.next = ['203.0.113.2'];
      await judged(false);
      expect(gateway.view).toMatchObject({ port: 5143, identity: 'other.example', probe: { port: 5191 } });
      expect(probes.at(-1)).toBe(`${via === 'address' ? '203.0.113.2' : host}:5191/live`);
    });

    it('the next one is not applied before there is its address (L156, G1)', async () => {
      const { gateway, dns } = await superseded({}, {});
      expect(gateway.isKnown).toBe(false);
      dns.next = ['203.0.113.2'];
      await eventually('it is', async () => gateway.isKnown);
      expect(gateway.view!.addresses).toEqual(['203.0.113.2']);
    });

    it('are probed although the next one will not be, and the other way round (L156, C1)', async () => {
      const { gateway, judged, metric } = await superseded({}, UNPROBED);
      await judged(true);
      expect(gateway.findings().gatewayAlive).toMatchObject({ reason: 'ProbeSucceeded' });
      expect(await metric('gateway_enabled')).toEqual([1]);
      const unprobed = await superseded(UNPROBED, {});
      expect(unprobed.gateway.view!.alive).toBe(true);
      expect(unprobed.gateway.findings().gatewayAlive).toBeUndefined();
      expect(unprobed.probes).toEqual([]);
    });

    it('a verdict on the former one says nothing about the next (L156, F2)', async () => {
      const next = { probeSpec: { ...PROBE, port: '5191', failureThreshold: '1000000' } };
      const { gateway, judged, probes, dns, metric } = await superseded({}, next);
      await judged(true);
      dns.next = ['203.0.113.2'];
      await eventually('the next one is probed', async () => probes.includes('203.0.113.2:5191/ready'));
      expect(gateway.view).toMatchObject({ alive: undefined, wasAlive: true });
      // The status of this generation has the former one's.
      expect(gateway.findings().gatewayAlive).toMatchObject({ status: 'Unknown' });
      expect(await metric('gateway_alive')).toEqual([]);
    });
  });

  it('are probed as the Link says at once where only the probe is another, whatever DNS says (L156)', async () => {
    let isAnswered = true;
    const probes: number[] = [];
    const { gateway, judged } = setUp(
      async () => (isAnswered ? ['203.0.113.1'] : Promise.reject(new Error('SERVFAIL'))),
      'address',
      {
        connectTo: new Map(),
        probe: async ({ port }) => {
          probes.push(port);
          return port === 5191 ? 200 : 503;
        },
      },
    );
    gateway.start(settings());
    await judged(false);
    isAnswered = false;
    gateway.start(settings({ probeSpec: { ...PROBE, port: '5191' } }));
    expect(gateway.isKnown).toBe(true);
    await judged(true);
    expect(probes.at(-1)).toBe(5191);
  });

  it('are not those of a lookup that was begun for another gateway', async () => {
    const names = later();
    const { gateway, events } = setUp(() => names.promise);
    gateway.start(settings(UNPROBED));
    gateway.start(settings({ ...UNPROBED, gatewayAddress: '203.0.113.9' }));
    await eventually('they are known', async () => gateway.view!.addresses.length > 0);
    names.resolve(['203.0.113.1']);
    await new Promise(setImmediate);
    expect(gateway.view!.addresses).toEqual(['203.0.113.9']);
    expect(events).toEqual([]);
  });

  it('say nothing any more once it is stopped', async () => {
    const names = later();
    const { gateway, said } = setUp(() => names.promise);
    gateway.start(settings());
    gateway.stop();
    names.resolve(['203.0.113.1']);
    await new Promise(setImmediate);
    expect(said).toEqual({ changes: 0, statuses: 0 });
  });
});

describe('a Link without a gateway', () => {
  it('has no addresses, and nothing is wrong with that, also if it had one', async () => {
    const { gateway, judged, metric } = setUp();
    gateway.start(settings());
    await judged(true);
    gateway.start(settings({ gatewayAddress: '' }));
    expect(gateway.view).toBeUndefined();
    expect(gateway.findings()).toMatchObject({
      resolved: { status: 'True', reason: 'NoGateway' },
      gatewayAlive: { status: 'True', reason: 'NoGateway' },
      gateway: undefined,
    });
    expect(await metric('gateway_enabled')).toEqual([0]);
  });
});
