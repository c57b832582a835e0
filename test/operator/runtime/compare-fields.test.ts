/** Each field of each kind that is compared: it counts, and its default is the same as its absence. */
import { describe, expect, test } from 'vitest';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  type KubeObject,
  type Resource,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import { isCopy, isEquivalent } from '../../../operator/runtime/compare.ts';

type Fields = Readonly<Record<string, unknown>>;

const kind = (name: string): Resource => ({ ...SERVICES, kind: name });
const object = (fields: Fields, labels: Readonly<Record<string, string>> = {}): KubeObject => ({
  metadata: { name: 'web', namespace: 'shop', labels },
  ...fields,
});

const TARGET_REF = { kind: 'Pod', name: 'web-0' };
const ENDPOINT = {
  addresses: ['203.0.113.1', '203.0.113.2'],
  conditions: { ready: false, serving: true, terminating: true },
  ...{ hostname: 'web-0', nodeName: 'node-1', zone: 'a', targetRef: TARGET_REF },
};
const ADDRESS = { ip: '203.0.113.1', hostname: 'web-0', nodeName: 'node-1', targetRef: TARGET_REF };
const PORT = { name: 'http', protocol: 'UDP', port: 80, appProtocol: 'h2c' };
const route = { name: 'web', sectionName: 'http', group: 'core', kind: 'Service' };

/** Of each kind, an object in which every field has another value than its default. */
const WHOLE: readonly (readonly [Resource, Fields])[] = [
  [
    SERVICES,
    {
      spec: {
        ...{ type: 'ExternalName', clusterIP: 'None', selector: { app: 'web' }, externalName: 'web.example' },
        ...{ externalIPs: ['203.0.113.9'], internalTrafficPolicy: 'Local', sessionAffinity: 'ClientIP' },
        ...{ publishNotReadyAddresses: true, ports: [{ ...PORT, targetPort: 'http' }] },
      },
    },
  ],
  [ENDPOINTS, { subsets: [{ addresses: [ADDRESS], notReadyAddresses: [{ ...ADDRESS, ip: '::1' }], ports: [PORT] }] }],
  [ENDPOINT_SLICES, { addressType: 'IPv6', endpoints: [ENDPOINT], ports: [PORT] }],
  [kind('ServiceImport'), { spec: { type: 'Headless', ips: ['10.0.0.1'], ports: [PORT] } }],
  ...['HTTPRoute', 'GRPCRoute', 'TCPRoute'].map((name): readonly [Resource, Fields] => [
    kind(name),
    {
      spec: {
        parentRefs: [route],
        hostnames: ['web.example'],
        rules: [
          {
            name: 'all',
            matches: [{ method: 'GET' }],
            backendRefs: [{ ...route, kind: 'ServiceImport', port: 80, weight: 7 }],
          },
        ],
      },
    },
  ]),
  ...['MeshTLSAuthentication', 'NetworkAuthentication', 'AuthorizationPolicy'].map(
    (name): readonly [Resource, Fields] => [kind(name), { spec: { identities: ['*'] } }],
  ),
];

/** The same object without one of its fields, for each, by its path. */
const without = (value: unknown, path = ''): readonly (readonly [path: string, value: unknown])[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((key) => {
    const { [key]: field, ...others } = value as Fields;
    const here = `${path}.${key}`;
    const rest = Array.isArray(value) ? value.filter((_, at) => String(at) !== key) : others;
    const put = (changed: unknown): unknown =>
      Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed };
    const inner = without(field, here).map(([at, changed]): readonly [string, unknown] => [at, put(changed)]);
    return [[here, rest] as const, ...inner];
  });
};

describe.each(WHOLE)('$kind', (of, fields) => {
  // A slice has addresses, always.
  const gone = without(fields).filter(([path]) => of !== ENDPOINT_SLICES || !path.endsWith('.addresses'));
  test.each(gone)('is another without %s', (_, changed) => {
    expect(isEquivalent(of, object(fields), object(changed as Fields))).toBe(false);
    expect(isEquivalent(of, object(changed as Fields), object(fields))).toBe(false);
  });
});

/** Of each kind, what an API server fills in. */
const DEFAULTS: readonly (readonly [Resource, bare: Fields, filled: Fields])[] = [
  [
    SERVICES,
    { spec: { ports: [{ port: 80 }] } },
    {
      spec: {
        ...{ type: 'ClusterIP', clusterIP: '10.0.0.1', selector: {}, externalName: '', externalIPs: [] },
        ...{ internalTrafficPolicy: 'Cluster', sessionAffinity: 'None', publishNotReadyAddresses: false },
        ports: [{ name: '', protocol: 'TCP', port: 80, targetPort: 80, appProtocol: '' }],
      },
    },
  ],
  [SERVICES, {}, { spec: { ports: [] } }],
  [ENDPOINTS, {}, { subsets: [] }],
  [ENDPOINTS, { subsets: [{}] }, { subsets: [{ addresses: [], notReadyAddresses: [], ports: [] }] }],
  [
    ENDPOINTS,
    { subsets: [{ notReadyAddresses: [{ ip: '::1' }], ports: [{ port: 80 }] }] },
    {
      subsets: [
        {
          addresses: [],
          notReadyAddresses: [{ ip: '::1', hostname: '', nodeName: '', targetRef: null }],
          ports: [{ name: '', protocol: 'TCP', port: 80, appProtocol: '' }],
        },
      ],
    },
  ],
  [ENDPOINT_SLICES, { addressType: 'IPv4' }, { addressType: 'IPv4', endpoints: [], ports: [] }],
  [
    ENDPOINT_SLICES,
    { addressType: 'IPv4', endpoints: [{ addresses: ['::2', '::1'] }], ports: [{}] },
    {
      addressType: 'IPv4',
      endpoints: [
        {
          addresses: ['::1', '::2'],
          conditions: { ready: true, serving: null, terminating: null },
          ...{ hostname: '', nodeName: '', zone: '', targetRef: null },
        },
      ],
      ports: [{ name: '', protocol: 'TCP', port: null, appProtocol: '' }],
    },
  ],
  [kind('ServiceImport'), {}, { spec: { ports: [] } }],
  [
    kind('HTTPRoute'),
    { spec: { parentRefs: [{ name: 'gate' }], rules: [{ backendRefs: [{ name: 'web' }] }] } },
    {
      spec: {
        parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gate' }],
        rules: [
          {
            matches: [{ path: { type: 'PathPrefix', value: '/' } }],
            backendRefs: [{ group: '', kind: 'Service', weight: 1, name: 'web' }],
          },
        ],
      },
    },
  ],
  ...['HTTPRoute', 'GRPCRoute', 'TCPRoute'].map((name): readonly [Resource, Fields, Fields] => [
    kind(name),
    {},
    { spec: { parentRefs: [], rules: [] } },
  ]),
  [kind('TCPRoute'), { spec: { rules: [{}] } }, { spec: { rules: [{ backendRefs: [] }] } }],
  [kind('ConfigMap'), { data: { a: 'b' } }, { data: { c: 'd' } }],
];

test.each(DEFAULTS)('what is left out of $kind is its default', (of, bare, filled) => {
  expect(isEquivalent(of, object(bare), object(filled))).toBe(true);
});

test('a copy has the label by which its Service is ours, with its value', () => {
  const proof = { 'mirror.linkerd.io/mirrored-service': 'true' };
  const imported = { 'multicluster.kubernetes.io/service-name': 'web' };
  expect(isCopy(object({}, proof), object({}, { ...proof, app: 'web' }))).toBe(true);
  expect(isCopy(object({}, { 'mirror.linkerd.io/mirrored-service': 'false' }), object({}, proof))).toBe(false);
  expect(isCopy(object({}), object({}))).toBe(false);
  expect(isCopy(object({}, imported), object({}, proof))).toBe(false);
  expect(isCopy({ metadata: { name: 'web' } }, { metadata: { name: 'web' } })).toBe(false);
});
