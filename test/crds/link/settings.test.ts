import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { LinkSpec } from '../../../crds/link/types.gen.ts';
import { type LinkSettings, readLink } from '../../../crds/link/settings.ts';
import { formatFieldErrors } from '../../../crds/field-error.ts';

/** A Link as `linkerd multicluster link-gen` writes it. */
const SPEC: LinkSpec = {
  targetClusterName: 'west',
  targetClusterDomain: 'cluster.local',
  targetClusterLinkerdNamespace: 'linkerd',
  clusterCredentialsSecret: 'cluster-credentials-west',
  gatewayAddress: '192.0.2.1',
  gatewayPort: '4143',
  gatewayIdentity: 'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local',
  probeSpec: { path: '/ready', port: '4191', period: '3s', timeout: '30s', failureThreshold: '3' },
  selector: { matchLabels: { 'mirror.linkerd.io/exported': 'true' } },
  remoteDiscoverySelector: { matchLabels: { 'mirror.linkerd.io/exported': 'remote-discovery' } },
  federatedServiceSelector: { matchLabels: { 'mirror.linkerd.io/federated': 'member' } },
};

const link = (spec: object, metadata: object = {}): unknown => ({
  apiVersion: 'multicluster.linkerd.io/v1alpha3',
  kind: 'Link',
  metadata: { name: 'west', namespace: 'linkerd-multicluster', ...metadata },
  spec,
});

const read = (object: unknown): LinkSettings => {
  const settings = readLink(object);
  if (!settings.ok) throw new Error(formatFieldErrors(settings.errors));
  return settings.value;
};

const complaint = (object: unknown): string => {
  const settings = readLink(object);
  return settings.ok ? '' : formatFieldErrors(settings.errors);
};

describe('readLink', () => {
  it('accepts a selector without a gateway, as Linkerd does: each Service that it selects is reported on instead', () => {
    const { gatewayAddress: _, ...spec } = SPEC;
    expect(complaint(link(spec))).toBe('');
  });

  it('reads the namespaces that a Link is limited to', () => {
    expect(read(link({ ...SPEC, targetNamespaces: ['shop', 'bank'] })).targetNamespaces).toEqual(['shop', 'bank']);
    expect(read(link(SPEC))).not.toHaveProperty('targetNamespaces');
  });

  it('reads how the members of federated Services are reached', () => {
    expect(read(link({ ...SPEC, federation: 'gateway' })).federation).toBe('gateway');
    expect(read(link({ ...SPEC, federation: 'flat' })).federation).toBe('flat');
  });

  it('K1: reads whether ServiceExports of the target are imported, which they are by default', () => {
    expect(read(link(SPEC)).serviceExports).toBe(true);
    expect(read(link({ ...SPEC, serviceExports: true })).serviceExports).toBe(true);
    expect(read(link({ ...SPEC, federation: 'flat' })).importsThrough).toBe('flat');
    expect(read(link({ ...SPEC, serviceExports: false })).serviceExports).toBe(false);
  });

  it('reads what Linkerd writes', () => {
    const metadata = { uid: 'u-1', generation: 4, creationTimestamp: '2026-08-01T10:00:00Z' };
    expect(read(link(SPEC, metadata))).toEqual({
      name: 'west',
      namespace: 'linkerd-multicluster',
      uid: 'u-1',
      generation: 4,
      createdAt: '2026-08-01T10:00:00Z',
      cluster: 'west',
      clusterDomain: 'cluster.local',
      linkerdNamespace: 'linkerd',
      credentialsSecret: 'cluster-credentials-west',
      gateway: { addresses: ['192.0.2.1'], port: 4143, identity: SPEC.gatewayIdentity },
      probe: { path: '/ready', port: 4191, periodMs: 3_000, timeoutMs: 30_000, failureThreshold: 3 },
      selector: expect.objectContaining({ query: 'mirror.linkerd.io/exported=true' }) as unknown,
      remoteDiscoverySelector: expect.objectContaining({
        query: 'mirror.linkerd.io/exported=remote-discovery',
      }) as unknown,
      federatedServiceSelector: expect.objectContaining({ query: 'mirror.linkerd.io/federated=member' }) as unknown,
      federation: 'flat',
      serviceExports: true,
      importsThrough: 'gateway',
      excludedLabels: [],
      excludedAnnotations: [],
    });
  });

  it('needs no more than the name of the target cluster', () => {
    expect(read(link({ targetClusterName: 'west' }))).toEqual({
      name: 'west',
      namespace: 'linkerd-multicluster',
      uid: '',
      generation: 0,
      createdAt: '',
      cluster: 'west',
      clusterDomain: 'cluster.local',
      linkerdNamespace: 'linkerd',
      credentialsSecret: 'cluster-credentials-west',
      federation: 'flat',
      serviceExports: true,
      importsThrough: 'flat',
      excludedLabels: [],
      excludedAnnotations: [],
    });
  });

  it('takes the defaults of gateway and probe where a field is absent or empty', () => {
    const probeSpec = { path: '/ready', port: '4191', period: '3s' };
    for (const empty of [{}, { gatewayPort: '', gatewayIdentity: '' }]) {
      const { gateway, probe } = read(
        link({ targetClusterName: 'west', gatewayAddress: '192.0.2.1', probeSpec, ...empty }),
      );
      expect(gateway).toEqual({ addresses: ['192.0.2.1'], port: 4143 });
      expect(probe).toMatchObject({ timeoutMs: 30_000, failureThreshold: 3 });
    }
  });

  it('accepts a Link without a gateway, as older tools of Linkerd write it', () => {
    const probeSpec = { path: '', port: '0', period: '0s', timeout: '0s', failureThreshold: '0' };
    const settings = read(
      link({ ...SPEC, gatewayAddress: '', gatewayPort: '0', gatewayIdentity: '', selector: {}, probeSpec }),
    );
    expect(settings.gateway).toBeUndefined();
    expect(settings.probe).toBeUndefined();
    expect(settings.selector).toBeUndefined();
  });

  it('does not probe a gateway without a probe path, and no gateway at all', () => {
    const unprobed = read(link({ ...SPEC, probeSpec: { path: '', period: 'abc' } }));
    expect(unprobed.gateway).toBeDefined();
    expect(unprobed.probe).toBeUndefined();
    expect(read(link({ targetClusterName: 'west', probeSpec: SPEC.probeSpec })).probe).toBeUndefined();
  });

  it('keeps gateway addresses in order, trimmed, each once', () => {
    const gatewayAddress = ' 192.0.2.2,gw.example.com , 192.0.2.1,,2001:db8::1,192.0.2.2';
    expect(read(link({ ...SPEC, gatewayAddress })).gateway?.addresses).toEqual([
      '192.0.2.2',
      'gw.example.com',
      '192.0.2.1',
      '2001:db8::1',
    ]);
  });

  it('passes on what is excluded and switched on', () => {
    const said = {
      excludedLabels: ['a', 'x.io/*'],
      excludedAnnotations: ['b'],
      enableHeadlessServices: true,
      enableNamespaceCreation: false,
    };
    expect(read(link({ ...SPEC, ...said }))).toMatchObject(said);
  });

  it('takes the annotation confirm-prune for what is confirmed (E6)', () => {
    const annotations = { 'linkspan.dev/confirm-prune': '12-0a1b2c3d' };
    expect(read(link(SPEC, { annotations })).confirmPrune).toBe('12-0a1b2c3d');
    expect(read(link(SPEC)).confirmPrune).toBeUndefined();
  });

  it('does not read what a status says', () => {
    expect(readLink({ ...(link(SPEC) as object), status: { mirrorServices: 'garbage' } }).ok).toBe(true);
  });
});

const LABEL = '(write at most 63 lower-case letters, digits and -, a letter or digit first and last)';
const SUBDOMAIN = '(write lower-case letters, digits, - and ., a letter or digit first and last)';
const ADDRESS = '(write IP addresses and host names, comma separated)';
const PORT = '(write a number from 1 to 65535, as a string)';
const DURATION = '(write a duration such as 3s or 1m30s)';
const URL_PATH =
  'must not have spaces, control characters or characters beyond ASCII (percent-encode them: a space is %20)';
const THRESHOLD = '(write a whole number of 1 or more, as a string)';

const probe = (field: object): LinkSpec => ({ ...SPEC, probeSpec: { ...SPEC.probeSpec, ...field } });

describe('readLink refuses a Link, naming field, value, reason and remedy (E7)', () => {
  it.each<[object, string]>([
    [{ ...SPEC, targetClusterName: undefined }, `spec.targetClusterName: is required ${LABEL}`],
    [{ ...SPEC, targetClusterName: '' }, `spec.targetClusterName: "" is required ${LABEL}`],
    [{ ...SPEC, targetClusterName: 'West.1' }, `spec.targetClusterName: "West.1" must be a valid DNS label ${LABEL}`],
    [
      { ...SPEC, targetClusterName: 'a'.repeat(64) },
      `spec.targetClusterName: "${'a'.repeat(62)}… must be a valid DNS label ${LABEL}`,
    ],
    [
      { ...SPEC, targetClusterDomain: 'cluster.local.' },
      `spec.targetClusterDomain: "cluster.local." must be a valid DNS subdomain ${SUBDOMAIN}`,
    ],
    [
      { ...SPEC, targetClusterLinkerdNamespace: 'a/b' },
      `spec.targetClusterLinkerdNamespace: "a/b" must be a valid DNS label ${LABEL}`,
    ],
    [
      { ...SPEC, clusterCredentialsSecret: '../x' },
      `spec.clusterCredentialsSecret: "../x" must be a valid DNS subdomain ${SUBDOMAIN}`,
    ],
    [{ ...SPEC, gatewayAddress: ' , ' }, `spec.gatewayAddress: " , " must name at least one address ${ADDRESS}`],
    [
      { ...SPEC, gatewayAddress: '192.0.2.1;gw' },
      `spec.gatewayAddress: "192.0.2.1;gw" must be a valid IP address or host name ${ADDRESS}`,
    ],
    [
      { ...SPEC, gatewayAddress: 'a b,127.0.0.1' },
      `spec.gatewayAddress: "a b" must be a valid IP address or host name ${ADDRESS}; ` +
        `spec.gatewayAddress: "127.0.0.1" must not be a loopback, link-local or unspecified address: Endpoints cannot hold one ${ADDRESS}`,
    ],
    [{ ...SPEC, gatewayPort: 'http' }, `spec.gatewayPort: "http" must be between 1 and 65535 ${PORT}`],
    [{ ...SPEC, gatewayPort: '0' }, `spec.gatewayPort: "0" must be between 1 and 65535 ${PORT}`],
    [{ ...SPEC, gatewayPort: 4143 }, 'spec.gatewayPort: 4143 must be a string (put it in quotes: "4143")'],
    [probe({ path: 'ready' }), 'spec.probeSpec.path: "ready" must start with a slash (write /ready)'],
    [probe({ path: '/a b' }), `spec.probeSpec.path: "/a b" ${URL_PATH}`],
    [probe({ path: '/a\r\nx: y' }), `spec.probeSpec.path: "/a\\r\\nx: y" ${URL_PATH}`],
    [probe({ path: '/ä' }), `spec.probeSpec.path: "/ä" ${URL_PATH}`],
    [probe({ port: '' }), `spec.probeSpec.port: is required ${PORT}`],
    [probe({ port: '70000' }), `spec.probeSpec.port: "70000" must be between 1 and 65535 ${PORT}`],
    [probe({ period: undefined }), `spec.probeSpec.period: is required ${DURATION}`],
    [probe({ period: '0s' }), `spec.probeSpec.period: "0s" must be between 1ms and 480h ${DURATION}`],
    [probe({ period: '-3s' }), `spec.probeSpec.period: "-3s" must be between 1ms and 480h ${DURATION}`],
    [probe({ period: '481h' }), `spec.probeSpec.period: "481h" must be between 1ms and 480h ${DURATION}`],
    [probe({ period: 'abc' }), `spec.probeSpec.period: "abc" must be a valid duration ${DURATION}`],
    [probe({ period: '3' }), `spec.probeSpec.period: "3" must have a unit ${DURATION}`],
    [probe({ period: '1d' }), `spec.probeSpec.period: "1d" must have units ns, us, ms, s, m or h, not "d" ${DURATION}`],
    [probe({ timeout: '0s' }), `spec.probeSpec.timeout: "0s" must be between 1ms and 480h ${DURATION}`],
    [
      probe({ failureThreshold: '0' }),
      `spec.probeSpec.failureThreshold: "0" must be a whole number between 1 and 4294967295 ${THRESHOLD}`,
    ],
    [
      probe({ failureThreshold: '1.5' }),
      `spec.probeSpec.failureThreshold: "1.5" must be a whole number between 1 and 4294967295 ${THRESHOLD}`,
    ],
    [{ ...SPEC, selector: [] }, 'spec.selector: [] must be an object'],
    [
      { ...SPEC, remoteDiscoverySelector: { matchLabels: { a: 1 } } },
      'spec.remoteDiscoverySelector.matchLabels.a: 1 must be a string (put it in quotes: "1")',
    ],
    [
      { ...SPEC, federatedServiceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      'spec.federatedServiceSelector.matchExpressions[0].values: must not be empty for In (name at least one value)',
    ],
    [
      { ...SPEC, targetNamespaces: [] },
      'spec.targetNamespaces: [] must not be empty (name namespaces, or leave it out for all)',
    ],
    [
      { ...SPEC, targetNamespaces: ['Shop', 'bank', 'bank'] },
      `spec.targetNamespaces[0]: "Shop" must be a valid DNS label ${LABEL}; spec.targetNamespaces[2]: "bank" must be unique (name it once)`,
    ],
    [
      { ...SPEC, targetNamespaces: 'shop' },
      'spec.targetNamespaces: "shop" must be an array (put it in a list: ["shop"])',
    ],
    [{ ...SPEC, federation: 'mesh' }, 'spec.federation: "mesh" must be one of gateway, flat'],
    [{ ...SPEC, excludedLabels: 'a' }, 'spec.excludedLabels: "a" must be an array (put it in a list: ["a"])'],
    [
      { ...SPEC, enableHeadlessServices: 'true' },
      'spec.enableHeadlessServices: "true" must be a boolean (write true, without quotes)',
    ],
  ])('%j', (spec, message) => {
    expect(complaint(link(JSON.parse(JSON.stringify(spec)) as object))).toBe(message);
  });

  it('whose name cannot name a probe Service', () => {
    const remedy = '(name the Link so that probe-<name> is a DNS label: at most 57 lower-case letters, digits and -)';
    expect(complaint(link(SPEC, { name: 'to.west' }))).toBe(
      `metadata.name: "to.west" must make a valid name for the probe Service ${remedy}`,
    );
    expect(complaint(link({ ...SPEC, probeSpec: {} }, { name: 'to.west' }))).toBe('');
  });

  it('must have a name that its Lease can have', () => {
    const named = (length: number) => complaint(link({ ...SPEC, probeSpec: {} }, { name: 'a'.repeat(length) }));
    expect(named(232)).toBe('');
    expect(named(235)).toMatch(/must make a valid name for the Lease of the Link .*3 characters shorter\)$/);
  });

  it('that has no spec, or no object for one', () => {
    expect(complaint({ metadata: { name: 'west' } })).toBe(`spec.targetClusterName: is required ${LABEL}`);
    expect(complaint(link('west' as unknown as object))).toBe('spec: "west" must be an object');
    expect(complaint({ metadata: null, spec: null })).toBe(`spec.targetClusterName: is required ${LABEL}`);
    expect(complaint(undefined)).toBe(`spec.targetClusterName: is required ${LABEL}`);
  });

  it('with all that is wrong at once, each field once', () => {
    const settings = readLink(
      link({
        targetClusterName: 7,
        gatewayAddress: '192.0.2.1',
        gatewayPort: '0',
        probeSpec: { path: '/ready', port: 'x', period: '0s', failureThreshold: '0' },
        selector: { matchExpressions: [{ key: '-', operator: 'Is' }] },
      }),
    );
    expect(settings.ok ? [] : settings.errors.map(({ path }) => path).sort()).toEqual([
      'spec.gatewayPort',
      'spec.probeSpec.failureThreshold',
      'spec.probeSpec.period',
      'spec.probeSpec.port',
      'spec.selector.matchExpressions[0].key',
      'spec.selector.matchExpressions[0].operator',
      'spec.targetClusterName',
    ]);
  });

  it('or accepts it, and never throws, whatever the spec holds', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('', '0', 'west', '192.0.2.1', '/ready', '3s', '4143'));
    const value = fc.oneof(text, fc.jsonValue());
    const spec = fc.record(Object.fromEntries(Object.keys(SPEC).map((field) => [field, value])), { requiredKeys: [] });
    fc.assert(
      fc.property(spec, (fields) => {
        const settings = readLink(link(fields));
        if (!settings.ok) expect(settings.errors).not.toEqual([]);
      }),
    );
  });
});
