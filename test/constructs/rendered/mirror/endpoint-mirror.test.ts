import { JsonPatch } from 'cdk8s';
import { describe, expect, test } from 'vitest';

import { EndpointMirror, type EndpointMirrorProps } from '../../../../constructs/rendered/mirror/endpoint-mirror.ts';
import { render } from '../../../../constructs/rendered/render.ts';
import { errorsOf } from '../../errors-of.ts';

const POD: EndpointMirrorProps = {
  service: 'nginx-svc',
  hostname: 'nginx-set-0',
  namespace: 'default',
  targetCluster: 'west',
  labels: { app: 'nginx', 'mirror.linkerd.io/exported': 'true' },
  annotations: { 'config.linkerd.io/opaque-ports': '8080' },
  ports: [{ name: 'http', port: 8080 }],
  remoteResourceVersion: '7',
  endpoints: { addresses: ['192.0.2.1'], port: 4143, identity: 'gateway.identity.west' },
};

const mirror = (props: Partial<EndpointMirrorProps> = {}) =>
  render((chart) => {
    new EndpointMirror(chart, 'pod', { ...POD, ...props });
  });

const portsOf = (ports: EndpointMirrorProps['ports']) => mirror({ ports })[0]!.spec;

const LABELS = {
  app: 'nginx',
  'mirror.linkerd.io/mirrored-service': 'true',
  'mirror.linkerd.io/cluster-name': 'west',
  'mirror.linkerd.io/headless-mirror-svc-name': 'nginx-svc-west',
};
const REMOTE = { 'mirror.linkerd.io/remote-svc-fq-name': 'nginx-set-0.nginx-svc.default.svc.cluster.local' };

describe('an endpoint mirror, of which a Service may have thousands', () => {
  test('has no annotation of the Service but how proxies treat its ports (B3, E10)', () => {
    const annotations = { 'example.com/notes': 'x'.repeat(250_000), 'config.linkerd.io/opaque-ports': '8080' };
    expect(Object.keys(mirror({ annotations })[0]!.metadata.annotations ?? {}).sort()).toEqual([
      'config.linkerd.io/opaque-ports',
      'mirror.linkerd.io/remote-resource-version',
      'mirror.linkerd.io/remote-svc-fq-name',
    ]);
  });

  test('has the first 64 of the labels that are copied (B2, E10)', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`l${at + 100}`, 'x']));
    const { labels = {} } = mirror({ labels: { ...many, a: 'excluded' }, excludedLabels: ['a'] })[0]!.metadata;
    const copied = Object.keys(labels).filter((key) => /^l\d/.test(key));
    expect([copied.length, copied[0], copied.at(-1), labels['a']]).toEqual([64, 'l100', 'l163', undefined]);
  });
});

describe('D1: an endpoint mirror', () => {
  test('is a Service named for the pod, and the gateway behind it', () => {
    expect(mirror()).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name: 'nginx-set-0-west',
          namespace: 'default',
          labels: LABELS,
          annotations: {
            ...REMOTE,
            'config.linkerd.io/opaque-ports': '8080',
            'mirror.linkerd.io/remote-resource-version': '7',
          },
        },
        spec: { type: 'ClusterIP', ports: [{ name: 'http', protocol: 'TCP', port: 8080, targetPort: 8080 }] },
      },
      {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: {
          name: 'nginx-set-0-west',
          namespace: 'default',
          labels: LABELS,
          annotations: { ...REMOTE, 'mirror.linkerd.io/remote-gateway-identity': 'gateway.identity.west' },
        },
        subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'http', protocol: 'TCP', port: 4143 }] }],
      },
    ]);
  });

  test('A7: takes another name where the plain one is taken, and stays the mirror of the same pod', () => {
    const [service, endpoints] = mirror({ name: 'nginx-set-0-nginx-svc-west' });

    for (const object of [service!, endpoints!]) {
      expect(object.metadata.name).toBe('nginx-set-0-nginx-svc-west');
      expect(object.metadata.labels).toEqual(LABELS);
      expect(object.metadata.annotations).toMatchObject(REMOTE);
    }
  });

  test('renders its endpoints as slices that belong to it', () => {
    const [, slice] = mirror({ endpoints: { ...POD.endpoints!, kind: 'slices', alive: false } });

    expect(slice).toMatchObject({
      kind: 'EndpointSlice',
      metadata: {
        name: 'nginx-set-0-west-ipv4',
        labels: { ...LABELS, 'kubernetes.io/service-name': 'nginx-set-0-west' },
      },
      endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: false } }],
    });
  });

  test('renders no endpoints unless they are given', () => {
    expect(mirror({ endpoints: undefined }).map(({ kind }) => kind)).toEqual(['Service']);
  });
});

describe('D6: the ports of an endpoint mirror', () => {
  test('are those of the pod, with nothing to translate', () => {
    expect(portsOf([{ name: 'http', port: 8080, appProtocol: 'http' }])).toHaveProperty('ports', [
      { name: 'http', protocol: 'TCP', port: 8080, targetPort: 8080, appProtocol: 'http' },
    ]);
  });

  test('are each number once: of two names for one port the first by name stays', () => {
    expect(
      portsOf([
        { name: 'web', port: 8080 },
        { name: 'admin', port: 9090 },
        { name: 'http', port: 8080 },
        { name: 'admin', port: 9090 },
      ]),
    ).toHaveProperty('ports', [
      { name: 'http', protocol: 'TCP', port: 8080, targetPort: 8080 },
      { name: 'admin', protocol: 'TCP', port: 9090, targetPort: 9090 },
    ]);
  });

  test('A5: leave out UDP and SCTP', () => {
    expect(
      portsOf([
        { name: 'dns', port: 8080, protocol: 'UDP' },
        { name: 'http', port: 8080 },
      ]),
    ).toHaveProperty('ports', [{ name: 'http', protocol: 'TCP', port: 8080, targetPort: 8080 }]);
    expect(errorsOf(() => mirror({ ports: [{ port: 53, protocol: 'SCTP' }] }))).toEqual([
      'ports: [{"port":53,"protocol":"SCTP"}] must have a TCP port: UDP and SCTP do not cross a gateway',
    ]);
  });
});

test('invalid props are refused with every reason at once', () => {
  expect(
    errorsOf(() =>
      mirror({ hostname: '0.pod', namespace: '', ports: [{ port: 99_999 }], endpoints: { addresses: ['a'], port: 0 } }),
    ),
  ).toEqual([
    'namespace: "" must be a valid DNS label',
    'name: "0.pod-west" must be a valid Service name',
    'hostname: "0.pod" must be a valid DNS label',
    'ports[0].port: 99999 must be between 1 and 65535',
    'endpoints.port: 0 must be between 1 and 65535',
    'endpoints.addresses[0]: "a" must be a valid IP address',
  ]);
});

test('patches to the API objects that an endpoint mirror exposes reach what is rendered', () => {
  const [service] = render((chart) => {
    new EndpointMirror(chart, 'pod', POD).service.addJsonPatch(JsonPatch.replace('/spec/ports/0/targetPort', 'http'));
  });

  expect(service!.spec).toHaveProperty('ports[0].targetPort', 'http');
});
