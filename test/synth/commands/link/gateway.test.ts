import { describe, expect, it } from 'vitest';
import { type GatewayService, readGatewayService } from '../../../../synth/commands/link/gateway.ts';

const IDENTITY = 'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local';
const TITLE = 'Service linkerd-multicluster/linkerd-gateway of west';

const PORTS = [
  { name: 'mc-gateway', port: 4143, nodePort: 30143 },
  { name: 'mc-probe', port: 4191, nodePort: 30191 },
];

const gateway = ({
  type = 'LoadBalancer',
  ports = PORTS,
  annotations = {},
  ingress = [{ ip: '203.0.113.20' }],
}: {
  readonly type?: string;
  readonly ports?: typeof PORTS;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ingress?: readonly object[];
} = {}): GatewayService => ({
  metadata: {
    name: 'linkerd-gateway',
    namespace: 'linkerd-multicluster',
    annotations: {
      'mirror.linkerd.io/gateway-identity': IDENTITY,
      'mirror.linkerd.io/probe-period': '3',
      'mirror.linkerd.io/probe-path': '/ready',
      ...annotations,
    },
  },
  spec: { type, ports },
  status: { loadBalancer: { ingress } },
});

const read = (service: GatewayService, given = {}) => readGatewayService(service, TITLE, given);
const facts = (service: GatewayService, given = {}) => {
  const found = read(service, given);
  if (!found.ok) throw new Error(JSON.stringify(found.problems));
  return found.gateway;
};
const problems = (service: GatewayService, given = {}) => {
  const found = read(service, given);
  return found.ok ? [] : found.problems.map(({ reason, remedy }) => `${reason} (${remedy})`);
};

describe('the Service of a gateway', () => {
  it('says all that a Link has of the gateway', () => {
    expect(facts(gateway())).toEqual({
      addresses: ['203.0.113.20'],
      port: 4143,
      identity: IDENTITY,
      probe: { path: '/ready', port: 4191, period: '3s' },
    });
  });

  it('gives IPs, or host names where there are none, each once', () => {
    const ingress = [{ ip: '203.0.113.20', hostname: 'a.example.com' }, { hostname: 'b.example.com' }, {}];
    expect(facts(gateway({ ingress: [...ingress, ...ingress] })).addresses).toEqual(['203.0.113.20', 'b.example.com']);
  });

  it('has its node ports where it has no load balancer, and the addresses that the user names', () => {
    const found = facts(gateway({ type: 'NodePort', ingress: [] }), { addresses: ['10.0.0.1'] });
    expect(found).toMatchObject({ addresses: ['10.0.0.1'], port: 30143, probe: { port: 30191 } });
  });

  it('is overruled by the addresses and the port that the user names', () => {
    expect(facts(gateway(), { addresses: ['a.example.com'], port: 443 })).toMatchObject({
      addresses: ['a.example.com'],
      port: 443,
    });
  });

  it('may give the period of the probe as a duration', () => {
    const annotations = { 'mirror.linkerd.io/probe-period': '1m30s' };
    expect(facts(gateway({ annotations })).probe.period).toBe('1m30s');
  });

  it('is waited for only if nothing but the address of a load balancer is missing', () => {
    expect(read(gateway({ ingress: [] }))).toMatchObject({ ok: false, isPending: true });
    expect(read(gateway({ ingress: [], type: 'NodePort' }))).toMatchObject({ ok: false, isPending: false });
    const annotations = { 'mirror.linkerd.io/gateway-identity': '' };
    expect(read(gateway({ ingress: [], annotations }))).toMatchObject({ ok: false, isPending: false });
  });

  it.each([
    [{ ingress: [] }, /its load balancer has no address yet \(wait for it with --wait/],
    [{ ingress: [], type: 'ClusterIP' }, /is of type ClusterIP, .* \(name them with --gateway-addresses\)/],
    [{ ingress: [{ hostname: 'localhost:1' }] }, /address localhost:1 must be a valid IP address or host name/],
    [{ ingress: [{ ip: '127.0.0.1' }] }, /address 127.0.0.1 must not be a loopback/],
    [{ annotations: { 'mirror.linkerd.io/gateway-identity': '' } }, /has no annotation mirror.linkerd.io\/gateway-id/],
    [{ annotations: { 'mirror.linkerd.io/probe-period': 'often' } }, /is not a duration/],
    [{ ports: PORTS.slice(1) }, /has no port named mc-gateway .*--gateway-port/],
    [{ ports: PORTS.slice(0, 1) }, /has no port named mc-probe/],
  ])('is refused with the reason and the remedy: %j', (differs, message) => {
    expect(problems(gateway(differs))).toEqual([expect.stringMatching(message)]);
  });
});
