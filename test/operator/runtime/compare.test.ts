import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { SERVICE_IMPORTS } from '../../../operator/mcs/objects.ts';
import { additions, isEquivalent, type Comparison } from '../../../operator/runtime/compare.ts';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  type Endpoints,
  type EndpointSlice,
  type KubeObject,
  NAMESPACES,
  type Resource,
  type Service,
  SERVICES,
} from '../../../operator/kube/objects.ts';

const metadata = { name: 'web-west', namespace: 'shop', labels: { a: '1' }, annotations: { b: '2' } };
const service = (spec: Service['spec'] = {}, meta: object = {}): Service => ({
  metadata: { ...metadata, ...meta },
  spec: { ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }], ...spec },
});
const endpoints = (subsets: Endpoints['subsets'], meta: object = {}): Endpoints => ({
  metadata: { ...metadata, ...meta },
  ...(subsets === undefined ? {} : { subsets }),
});
const slice = (fields: Partial<EndpointSlice> = {}): EndpointSlice => ({
  metadata,
  addressType: 'IPv4',
  endpoints: [{ addresses: ['203.0.113.1'], conditions: { ready: true } }],
  ports: [{ name: 'http', port: 4143, protocol: 'TCP' }],
  ...fields,
});

const serviceImport = (spec: object): KubeObject & { readonly spec: object } => ({ metadata, spec });

const one = { addresses: [{ ip: '203.0.113.1' }], ports: [{ name: 'http', port: 4143 }] };
const two = { addresses: [{ ip: '203.0.113.2' }], ports: [{ name: 'grpc', port: 4143 }] };

type Row = [what: string, of: Resource, desired: KubeObject, live: KubeObject, how?: Comparison];

describe('two objects say the same', () => {
  test.each<Row>([
    [
      'when the API server has filled in its defaults',
      SERVICES,
      service(),
      {
        ...service({
          type: 'ClusterIP',
          clusterIP: '10.0.0.7',
          sessionAffinity: 'None',
          internalTrafficPolicy: 'Cluster',
        }),
        apiVersion: 'v1',
        kind: 'Service',
      },
    ],
    [
      'when the CRD of somebody else has filled in its defaults',
      SERVICE_IMPORTS,
      serviceImport({ ports: [{ name: 'http', port: 80 }] }),
      serviceImport({ ports: [{ protocol: 'TCP', port: 80, name: 'http' }] }),
    ],
    [
      'when a targetPort is the port itself',
      SERVICES,
      service({ ports: [{ port: 80 }] }),
      service({
        ports: [{ port: 80, targetPort: 80, protocol: 'TCP' }],
      }),
    ],
    [
      'when a node port is allocated',
      SERVICES,
      service(),
      service({
        ports: [{ name: 'http', port: 80, targetPort: 8080, nodePort: 30_000 }],
      }),
    ],
    ['without labels and with none', NAMESPACES, { metadata: { name: 'x' } }, { metadata: { name: 'x', labels: {} } }],
    ['without subsets and with none', ENDPOINTS, endpoints(undefined), endpoints([])],
    ['when subsets stand in another order', ENDPOINTS, endpoints([one, two]), endpoints([two, one])],
    [
      'when a protocol is the default',
      ENDPOINTS,
      endpoints([one]),
      endpoints([{ ...one, ports: [{ name: 'http', port: 4143, protocol: 'TCP' }] }]),
    ],
    [
      'when a slice is not told of readiness, which is ready',
      ENDPOINT_SLICES,
      slice(),
      slice({
        endpoints: [{ addresses: ['203.0.113.1'] }],
      }),
    ],
    [
      'when an unnamed port is named ""',
      ENDPOINT_SLICES,
      slice({ ports: [{ port: 1 }] }),
      slice({
        ports: [{ name: '', port: 1, protocol: 'TCP' }],
      }),
    ],
    [
      "when Kubernetes' controllers have left a note",
      ENDPOINTS,
      endpoints([one]),
      endpoints([one], {
        annotations: { b: '2', 'endpoints.kubernetes.io/last-change-trigger-time': 'x' },
      }),
    ],
    [
      'when an ignored annotation differs (B4)',
      SERVICES,
      service({}, { annotations: { b: '2', v: '1' } }),
      service({}, { annotations: { b: '2', v: '2' } }),
      { ignoredAnnotations: new Set(['v']) },
    ],
    [
      'when others have added metadata that may stay',
      SERVICES,
      service(),
      service({}, { labels: { a: '1', x: 'y' }, annotations: { b: '2', x: 'y' } }),
      { extraMetadata: 'ignored' },
    ],
  ])('%s', (_, of, desired, live, how) => {
    expect(isEquivalent(of, desired, live, how)).toBe(true);
  });
});

describe('two objects do not say the same', () => {
  const differs = (spec: Service['spec']): readonly [Resource, KubeObject, KubeObject] => [
    SERVICES,
    service(),
    service(spec),
  ];
  test.each<Row>([
    [
      'when a ServiceImport has another address',
      SERVICE_IMPORTS,
      serviceImport({ ips: ['10.0.0.1'] }),
      serviceImport({ ips: ['10.0.0.2'] }),
    ],
    ['when a label differs', SERVICES, service(), service({}, { labels: { a: '2' } })],
    ['when a label is too many', SERVICES, service(), service({}, { labels: { a: '1', c: '3' } })],
    ['when an annotation is missing', SERVICES, service(), service({}, { annotations: {} })],
    [
      'when metadata of ours is gone although others may add theirs',
      SERVICES,
      service(),
      service({}, { labels: {} }),
      {
        extraMetadata: 'ignored',
      },
    ],
    ['when it has a selector', ...differs({ selector: { app: 'x' } })],
    ['when it is headless', ...differs({ clusterIP: 'None' })],
    [
      'when traffic is kept local, which drops every address of a mirror',
      ...differs({ internalTrafficPolicy: 'Local' }),
    ],
    ['when a port number differs', ...differs({ ports: [{ name: 'http', port: 81, targetPort: 8080 }] })],
    ['when a targetPort differs', ...differs({ ports: [{ name: 'http', port: 80, targetPort: 'web' }] })],
    [
      'when an appProtocol is there (B1)',
      ...differs({
        ports: [{ name: 'http', port: 80, targetPort: 8080, appProtocol: 'kubernetes.io/h2c' }],
      }),
    ],
    ['when the type is another', ...differs({ type: 'NodePort' })],
    ['when there are external IPs', ...differs({ externalIPs: ['203.0.113.1'] })],
    ['when sessions are sticky', ...differs({ sessionAffinity: 'ClientIP' })],
    [
      'when addresses are not ready',
      ENDPOINTS,
      endpoints([one]),
      endpoints([{ notReadyAddresses: one.addresses, ports: one.ports }]),
    ],
    [
      'when an address has a hostname',
      ENDPOINTS,
      endpoints([one]),
      endpoints([{ ...one, addresses: [{ ip: '203.0.113.1', hostname: 'web-0' }] }]),
    ],
    [
      'when an address has a targetRef',
      ENDPOINTS,
      endpoints([one]),
      endpoints([{ ...one, addresses: [{ ip: '203.0.113.1', targetRef: { kind: 'Pod' } }] }]),
    ],
    [
      'when another address is not ready (C1)',
      ENDPOINTS,
      endpoints([{ ...one, notReadyAddresses: [{ ip: '203.0.113.8' }] }]),
      endpoints([{ ...one, notReadyAddresses: [{ ip: '203.0.113.9' }] }]),
    ],
    ['when a port of endpoints differs', ENDPOINTS, endpoints([one]), endpoints([{ ...one, ports: two.ports }])],
    [
      'when an endpoint of a slice is not ready',
      ENDPOINT_SLICES,
      slice(),
      slice({
        endpoints: [{ addresses: ['203.0.113.1'], conditions: { ready: false } }],
      }),
    ],
    ...[
      { conditions: { serving: false } },
      { conditions: { terminating: true } },
      { nodeName: 'node-1' },
      { zone: 'a' },
    ].map((more): Row => [
      `when an endpoint of a slice has ${JSON.stringify(more)}`,
      ENDPOINT_SLICES,
      slice(),
      slice({ endpoints: [{ addresses: ['203.0.113.1'], ...more }] }),
    ]),
    ['when a slice is of another family', ENDPOINT_SLICES, slice(), slice({ addressType: 'IPv6' })],
  ])('%s', (_, of, desired, live, how) => {
    expect(isEquivalent(of, desired, live, how)).toBe(false);
  });
});

describe('whatever the objects', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'x/y', '__proto__', 'constructor');
  const map = fc.dictionary(key, fc.constantFrom('', '1', '2'));
  const port = fc.record({
    name: fc.constantFrom('', 'http', 'grpc'),
    port: fc.constantFrom(80, 4143),
    protocol: fc.constantFrom('TCP', 'UDP'),
  });
  const addresses = fc.array(
    fc.record({ ip: fc.constantFrom('192.0.2.1', '192.0.2.2'), hostname: fc.constantFrom('', 'h') }),
  );
  const subset = fc.record({ addresses, notReadyAddresses: addresses, ports: fc.array(port) });
  const object = fc
    .record({ labels: map, annotations: map, subsets: fc.array(subset, { maxLength: 3 }) })
    .map(({ labels, annotations, subsets }): Endpoints => ({
      metadata: { ...metadata, labels, annotations },
      subsets,
    }));

  it('the order of what has no order means nothing', () => {
    fc.assert(
      fc.property(object, (given) => {
        const turned = (list: readonly unknown[] | null | undefined): never => [...(list ?? [])].reverse() as never;
        const backwards = {
          metadata: {
            ...given.metadata,
            labels: Object.fromEntries(Object.entries(given.metadata.labels ?? {}).reverse()),
          },
          subsets: turned(
            given.subsets?.map((each) => ({
              ports: turned(each.ports),
              notReadyAddresses: turned(each.notReadyAddresses),
              addresses: turned(each.addresses),
            })),
          ),
        };
        return isEquivalent(ENDPOINTS, given, backwards);
      }),
    );
  });

  it('comparing is symmetric', () => {
    fc.assert(fc.property(object, object, (a, b) => isEquivalent(ENDPOINTS, a, b) === isEquivalent(ENDPOINTS, b, a)));
  });
});

describe('what somebody added', () => {
  const added = { labels: { a: '1', theirs: 'x' }, annotations: { b: '2', 'example.com/theirs': 'y' } };

  it('is known by its keys where nothing else differs', () => {
    expect(additions(SERVICES, service(), service({}, added))).toEqual(['theirs', 'example.com/theirs']);
    expect(additions(SERVICES, service(), service())).toEqual([]);
  });

  it('does not include annotations that are not compared', () => {
    const ignored = { b: '2', 'endpoints.kubernetes.io/last-change-trigger-time': 'now', version: '7' };
    const how = { ignoredAnnotations: new Set(['version']) };
    expect(additions(SERVICES, service(), service({}, { annotations: ignored }), how)).toEqual([]);
  });

  test.each<[string, Service]>([
    ['a label is missing', service({}, { ...added, labels: { theirs: 'x' } })],
    ['an annotation has another value', service({}, { annotations: { ...added.annotations, b: '3' } })],
    ['a port differs', service({ ports: [{ name: 'http', port: 81 }] }, added)],
  ])('is not all where %s', (_, live) => {
    expect(additions(SERVICES, service(), live)).toBeUndefined();
  });
});
