import { JsonPatch } from 'cdk8s';
import { expect, test } from 'vitest';

import { GatewayProbe, type GatewayProbeProps } from '../../../../constructs/rendered/mirror/gateway-probe.ts';
import { render } from '../../../../constructs/rendered/render.ts';
import { errorsOf } from '../../errors-of.ts';

const WEST: GatewayProbeProps = {
  link: 'west-link',
  targetCluster: 'west',
  port: 30191,
  addresses: ['198.51.100.9', '192.0.2.1'],
  identity: 'gateway.identity.west',
};

const probe = (props: Partial<GatewayProbeProps> = {}) =>
  render((chart) => {
    new GatewayProbe(chart, 'probe', { ...WEST, ...props });
  });

const ENDPOINTS_METADATA = {
  name: 'probe-west-link',
  namespace: 'linkerd-multicluster',
  labels: { 'mirror.linkerd.io/cluster-name': 'west' },
  annotations: { 'mirror.linkerd.io/remote-gateway-identity': 'gateway.identity.west' },
};

test("F4: a probe is the gateway on the Link's own probe port, always ready", () => {
  expect(probe()).toEqual([
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: 'probe-west-link',
        namespace: 'linkerd-multicluster',
        labels: {
          'mirror.linkerd.io/mirrored-gateway': 'true',
          'mirror.linkerd.io/cluster-name': 'west',
          'linkerd.io/extension': 'multicluster',
        },
      },
      spec: { type: 'ClusterIP', ports: [{ name: 'mc-probe', protocol: 'TCP', port: 30191, targetPort: 30191 }] },
    },
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: ENDPOINTS_METADATA,
      subsets: [
        {
          addresses: [{ ip: '192.0.2.1' }, { ip: '198.51.100.9' }],
          ports: [{ name: 'mc-probe', protocol: 'TCP', port: 30191 }],
        },
      ],
    },
  ]);
});

test('a probe renders its addresses as slices if asked to', () => {
  expect(probe({ kind: 'slices', addresses: ['192.0.2.1'] })[1]).toEqual({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...ENDPOINTS_METADATA,
      name: 'probe-west-link-ipv4',
      labels: {
        'mirror.linkerd.io/cluster-name': 'west',
        'kubernetes.io/service-name': 'probe-west-link',
        'endpointslice.kubernetes.io/managed-by': 'linkspan.dev',
      },
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
    ports: [{ name: 'mc-probe', protocol: 'TCP', port: 30191 }],
  });
});

test('a probe without addresses or identity has neither subsets nor annotations', () => {
  const [, endpoints] = probe({ addresses: [], identity: undefined });

  expect(endpoints).not.toHaveProperty('subsets');
  expect(endpoints!.metadata).not.toHaveProperty('annotations');
});

test('a probe with invalid props is refused with every reason at once', () => {
  expect(
    errorsOf(() =>
      probe({ link: 'West', targetCluster: 'We', namespace: 'a.b', port: 0, addresses: ['west.example'] }),
    ),
  ).toEqual([
    'name: "probe-West" must be a valid Service name',
    'targetCluster: "We" must be a valid DNS label',
    'namespace: "a.b" must be a valid DNS label',
    'port: 0 must be between 1 and 65535',
    'addresses[0]: "west.example" must be a valid IP address',
  ]);
});

test('patches to the API objects that a probe exposes reach what is rendered', () => {
  const [service] = render((chart) => {
    new GatewayProbe(chart, 'probe', WEST).service.addJsonPatch(JsonPatch.add('/metadata/labels/extra', 'yes'));
  });

  expect(service!.metadata.labels).toHaveProperty('extra', 'yes');
});
