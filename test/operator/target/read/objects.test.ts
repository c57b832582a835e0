import { describe, expect, it, test } from 'vitest';
import { countSlice } from '../../../../operator/failover/readiness.ts';
import type { EndpointSlice, Service } from '../../../../operator/kube/objects.ts';
import {
  readExportedService,
  readExportedSlice,
  readLocalSlice,
  readService,
  readSlice,
  serviceKeys,
} from '../../../../operator/target/read/objects.ts';

const metadata = { name: 'web', namespace: 'shop', uid: 'u1', resourceVersion: '7' };
const service = (spec: object = {}, meta: object = {}): Service => ({
  metadata: { ...metadata, ...meta },
  spec: { ports: [{ name: 'http', port: 80 }], ...spec },
});
const slice = (fields: object = {}, meta: object = {}): EndpointSlice => ({
  metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'web', other: 'x' }, ...meta },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'], hostname: 'web-0', conditions: { ready: true }, nodeName: 'n1' }],
  ports: [{ name: 'http', port: 8080 }],
  ...fields,
});

describe('a Service of a target', () => {
  it('is cut to what is read of it', () => {
    const read = readService({
      ...service({ clusterIP: 'None', loadBalancerClass: 'x' }, { managedFields: [{ manager: 'm' }] }),
      status: { loadBalancer: {} },
    } as Service);
    expect(read).toEqual({
      object: {
        metadata: { ...metadata, creationTimestamp: undefined, labels: undefined, annotations: undefined },
        spec: {
          type: undefined,
          clusterIP: 'None',
          selector: undefined,
          ports: [{ name: 'http', port: 80 }],
          publishNotReadyAddresses: undefined,
        },
      },
    });
  });

  test.each<[string, unknown]>([
    ['no object', null],
    ['without metadata', {}],
    ['with a name that leads elsewhere', service({}, { name: '../kube-system' })],
    ['with an escaped name', service({}, { name: 'a%2fb' })],
    ['without a name', service({}, { name: '' })],
    ['in a namespace of no possible name', service({}, { namespace: '../kube-system' })],
    ['in no namespace', service({}, { namespace: undefined })],
    ['with a port of no possible number', service({ ports: [{ port: 65_536 }] })],
    ['with a port that is text', service({ ports: [{ port: '80' }] })],
    ['with more ports than any has', service({ ports: Array.from({ length: 1001 }, () => ({ port: 1 })) })],
    ['with an unknown protocol', service({ ports: [{ port: 1, protocol: 'QUIC' }] })],
    ['with labels that are no text', service({}, { labels: { a: { b: 'c' } } })],
    ['with an endless age', service({}, { creationTimestamp: 'x'.repeat(1000) })],
  ])('is refused: %s (E8)', (_, object) => {
    expect(readService(object as Service)).toHaveProperty('malformed');
  });

  it('keeps nothing of a port or an endpoint but what is read', () => {
    const nested = { deep: [[[]]] };
    const port = { name: 'http', port: 80, targetPort: 'web' };
    const read = readService(service({ ports: [{ ...port, nodePort: 3, nested }] }));
    expect('object' in read && read.object.spec?.ports).toEqual([port]);
    const endpoints = [{ conditions: { ready: true, nested } }];
    expect(JSON.stringify(readSlice(slice({ ports: [{ port: 1, nested }], endpoints })))).not.toContain('nested');
  });

  it('with any number of errors is refused for the first, without delay (L50)', () => {
    const labels = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`k${at}`, at]));
    expect(readService(service({}, { labels }))).toEqual({
      malformed: 'Service shop/web: metadata.labels.k0 must be a string',
    });
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, 'v']));
    expect(readService(service({}, { labels: many }))).toMatchObject({
      malformed: expect.stringContaining('metadata.labels') as string,
    });
  });

  it('that is refused is named without control characters, and shortly', () => {
    const read = readService(service({}, { labels: { [`\u001B[31m${'x'.repeat(1000)}`]: 1 } }));
    expect(read).toEqual({ malformed: expect.stringMatching(/^[^\u001B]{1,256}$/) as string });
  });

  it('that is refused is named, with what is wrong, shortly', () => {
    expect(readService(service({ ports: [{ port: -1 }] }))).toEqual({
      malformed: expect.stringMatching(/^Service shop\/web: \S*ports\S* /) as string,
    });
    const long = readService(service({}, { name: 'x'.repeat(100_000) })) as { readonly malformed: string };
    expect(long.malformed.length).toBeLessThan(1000);
  });
});

describe('a Service that may be exported by the MCS API (K1)', () => {
  const imported = {
    ipFamilies: ['IPv4', 'IPv6'],
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
    internalTrafficPolicy: 'Local',
    trafficDistribution: 'PreferClose',
  };

  it('is cut to what counts if it is exported', () => {
    const labels = {
      'mirror.linkerd.io/mirrored-service': 'true',
      'multicluster.linkerd.io/remote-discovery': 'west',
      'linkspan.dev/service-import': 'web',
    };
    const annotations = {
      'config.linkerd.io/opaque-ports': '80',
      'multicluster.linkerd.io/remote-discovery': 'web@west',
      'multicluster.linkerd.io/local-discovery': 'web',
    };
    const spec = { type: 'ClusterIP', clusterIP: 'None', publishNotReadyAddresses: true, ...imported };
    const whole = service(
      { ...spec, selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080, nodePort: 30_000 }] },
      { labels: { ...labels, other: 'x' }, annotations: { ...annotations, other: 'x'.repeat(1000) } },
    );
    const { name, namespace, resourceVersion } = metadata;
    expect(readExportedService(whole)).toEqual({
      object: {
        metadata: { name, namespace, resourceVersion, labels, annotations },
        spec: { ...spec, ports: [{ name: 'http', port: 80 }] },
      },
    });
  });

  test.each<[string, object]>([
    ['more IP families than there are', { ipFamilies: ['IPv4', 'IPv6', 'IPv4'] }],
    ['a session that does not end', { sessionAffinityConfig: { clientIP: { timeoutSeconds: 'never' } } }],
    ['an affinity that is no text', { sessionAffinity: { deep: [] } }],
    ['an endless traffic policy', { internalTrafficPolicy: 'x'.repeat(1000) }],
    ['an endless distribution', { trafficDistribution: 'x'.repeat(1000) }],
    ['a port of no possible number', { ports: [{ port: 70_000 }] }],
  ])('is refused with %s (E8)', (_, fields) => {
    expect(readExportedService(service(fields))).toHaveProperty('malformed');
  });
});

describe('a slice of such a Service (K3)', () => {
  const endpointsOf = (fields: object) => {
    const read = readExportedSlice(slice(fields));
    return 'object' in read ? read.object.endpoints : undefined;
  };

  it('keeps addresses, hostnames and conditions', () => {
    const conditions = { ready: true, serving: true, terminating: false };
    const endpoint = { addresses: ['10.0.0.1', '10.0.0.2'], conditions, hostname: 'web-0' };
    const whole = { ...endpoint, nodeName: 'n1', zone: 'a', targetRef: { kind: 'Pod' } };
    expect(endpointsOf({ endpoints: [whole] })).toEqual([endpoint]);
    expect(endpointsOf({ addressType: 'IPv6', endpoints: [{ addresses: ['fd00::1', '10.0.0.1'] }] })).toEqual([
      { addresses: ['fd00::1'] },
    ]);
    expect(endpointsOf({ endpoints: null })).toEqual([]);
  });

  test.each<[string, object]>([
    ['of the node', { addresses: ['127.0.0.1'] }],
    ['of its link', { addresses: ['169.254.169.254'] }],
    ['of another family', { addresses: ['::1', 'fd00::1'] }],
    ['that are names', { addresses: ['db.example.org'] }],
    ['that are no text', { addresses: [7, null, {}] }],
    ['that are no list', { addresses: '10.0.0.1' }],
    ['without end', { addresses: Array.from({ length: 101 }, () => '10.0.0.1') }],
    ['that are missing', {}],
  ])('has no endpoint with addresses %s (E1)', (_, endpoint) => {
    expect(endpointsOf({ endpoints: [endpoint, { addresses: ['10.0.0.1'] }] })).toEqual([{ addresses: ['10.0.0.1'] }]);
  });

  it('has no hostname that is none (E1)', () => {
    const endpoints = ['web-0', 'Web_0', 'a.b', ''].map((hostname) => ({ addresses: ['10.0.0.1'], hostname }));
    expect(endpointsOf({ endpoints })?.map(({ hostname }) => hostname)).toEqual([
      'web-0',
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('that lists names still says how many of them are ready', () => {
    const endpoints = [{ addresses: ['db.example.org'], conditions: { ready: false } }];
    expect(endpointsOf({ addressType: 'FQDN', endpoints })).toEqual([{ addresses: [], conditions: { ready: false } }]);
  });

  it('is refused with a condition that is text (E8)', () => {
    expect(endpointsOf({ endpoints: [{ addresses: [], conditions: { serving: 'yes' } }] })).toBeUndefined();
  });
});

describe('a slice of a target', () => {
  it('is cut to hostnames, readiness and ports: its addresses mean nothing here', () => {
    expect(readSlice(slice())).toEqual({
      object: {
        metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'web' } },
        addressType: 'IPv4',
        endpoints: [{ addresses: [], hostname: 'web-0', conditions: { ready: true } }],
        ports: [{ name: 'http', port: 8080 }],
      },
    });
  });

  it('says which of its endpoints terminate: a rollout there takes none away (J3)', () => {
    const conditions = [{ ready: true }, { ready: false, terminating: true }, { ready: false, terminating: null }];
    const read = readSlice(slice({ endpoints: conditions.map((each) => ({ addresses: [], conditions: each })) }));
    expect('object' in read && countSlice(read.object)).toMatchObject({ ready: 1, total: 2 });
  });

  it('of the source cluster keeps the addresses of its pods and the references to them (I5)', () => {
    const endpoint = {
      addresses: ['10.0.0.1'],
      conditions: { ready: true, serving: true, terminating: false },
      targetRef: { kind: 'Pod', name: 'web-0', namespace: 'shop' },
      nodeName: 'n1',
      zone: 'a',
    };
    const whole = slice({ endpoints: [{ ...endpoint, hostname: 'web-0', hints: { forZones: [{ name: 'a' }] } }] });
    expect(readLocalSlice(whole)).toMatchObject({
      object: { ...slice(), metadata, endpoints: [{ ...endpoint, hostname: 'web-0' }] },
    });
    expect(readLocalSlice(slice({ endpoints: null }))).toMatchObject({ object: { endpoints: [] } });
  });

  test.each<[string, object]>([
    ['a list of endpoints that is null', { endpoints: null }],
    ['as many endpoints as an API server allows', { endpoints: Array.from({ length: 1_000 }, () => ({})) }],
    ['ports that are null', { ports: null }],
    ['a port without a number', { ports: [{ name: 'http', port: null }] }],
    ['an endpoint whose hostname is null', { endpoints: [{ addresses: [], hostname: null }] }],
    ['an endpoint whose readiness is null', { endpoints: [{ addresses: [], conditions: { ready: null } }] }],
  ])('may have %s', (_, fields) => {
    expect(readSlice(slice(fields))).toHaveProperty('object');
  });

  test.each<[string, object]>([
    ['more endpoints than any has (L242)', { endpoints: Array.from({ length: 1_001 }, () => ({})) }],
    ['an end that is text', { endpoints: [{ conditions: { terminating: 'yes' } }] }],
    ['readiness that is text', { endpoints: [{ conditions: { ready: 'yes' } }] }],
    ['a hostname that is a number', { endpoints: [{ hostname: 7 }] }],
    ['a port of no possible number', { ports: [{ port: 70_000 }] }],
    ['no address type', { addressType: undefined }],
  ])('is refused with %s (E8)', (_, fields) => {
    expect(readSlice(slice(fields))).toHaveProperty('malformed');
  });

  it('belongs to the Service that it names, in its own namespace (D8)', () => {
    expect(serviceKeys(slice())).toEqual(['shop/web']);
    expect(serviceKeys(slice({}, { labels: {} }))).toEqual([]);
    expect(serviceKeys(undefined)).toEqual([]);
  });
});
