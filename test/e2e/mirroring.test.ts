/** Which Services are mirrored, where, and what is reported of those that are not: section A of behaviour.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { type Collection, eventually, type KubeObject } from '../cluster/workload/index.ts';
import {
  EXPORTED,
  EXPORTED_FLAT,
  GATEWAY,
  LINKS_NAMESPACE,
  namespace,
  service,
  type ServiceOptions,
  slice,
} from '../support/builders.ts';
import { exportHeadless, exportReady, exportService, linkTo } from '../support/exports.ts';
import { inventory } from '../support/inventory.ts';
import type { ServiceObject } from '../support/objects.ts';
import type { TestOperator } from '../support/operator.ts';
import { linkVia, untilMirrored, untilRefused } from '../support/reports.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const EXPORT_LABEL = 'mirror.linkerd.io/exported';
const unexport = { metadata: { labels: { [EXPORT_LABEL]: null } } };

interface EventObject extends KubeObject {
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

onEachBacking('an export', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    operator = clusters.operator();
  });
  afterAll(() => clusters.stop());

  const isReady = (name: string) =>
    eventually(`${name} is ready`, async () => (await clusters.addresses(name))?.[0] === GATEWAY);
  const isGone = (name: string) =>
    eventually(`${name} is gone`, async () => {
      return (
        (await clusters.get('Service', name)) === undefined && (await clusters.get('Endpoints', name)) === undefined
      );
    });

  test('L3 A1: an empty or absent selector selects nothing, in either mode', async () => {
    await exportReady(clusters, 'chosen');
    await clusters.west.apply(service('unlabelled'));
    await linkTo(clusters, 'half', { remoteDiscoverySelector: {} });
    await linkTo(clusters, 'none', { selector: {}, remoteDiscoverySelector: {} });
    await linkTo(clusters, 'absent', { selector: undefined, remoteDiscoverySelector: undefined });

    await isReady('chosen-half');
    const mirror = await clusters.get('Service', 'chosen-half');
    expect(mirror?.metadata.labels).not.toHaveProperty(['multicluster.linkerd.io/remote-discovery']);
    expect(await clusters.get('Service', 'unlabelled-half')).toBeUndefined();
    expect(await inventory(clusters, 'none')).toEqual({});
    expect(await inventory(clusters, 'absent')).toEqual({});
  });

  test('L4 A1: `exported: "false"` is selected by an Exists selector and not by one for the value', async () => {
    await linkTo(clusters, 'exists', { selector: { matchExpressions: [{ key: EXPORT_LABEL, operator: 'Exists' }] } });
    const off = { [EXPORT_LABEL]: 'false' };
    await clusters.west.apply(service('refused', { labels: off }));
    await clusters.west.apply(slice('refused', { labels: off }));
    await isReady('refused-exists');
    await exportReady(clusters, 'turned');
    await isReady('turned-exists');
    expect(await clusters.get('Service', 'refused-west')).toBeUndefined();

    const before = await clusters.get('Service', 'turned-exists');
    await clusters.west.patch(service('turned'), { metadata: { labels: off } });
    await clusters.west.patch(slice('turned'), { metadata: { labels: off } });
    await isGone('turned-west');
    await exportReady(clusters, 'after-turned');
    await isReady('after-turned-exists');
    expect((await clusters.get('Service', 'turned-exists'))?.metadata.uid).toBe(before?.metadata.uid);
    expect(await clusters.addresses('turned-exists')).toEqual([GATEWAY]);
  });

  test('L6 A2: endpoint events after the export has ended bring nothing back', async () => {
    await exportReady(clusters, 'ended');
    await exportHeadless(clusters, 'ended-db', ['ended-db-0', 'ended-db-1']);
    // Kubernetes takes the label off the slices only later.
    await clusters.west.patch(service('ended'), unexport);
    await clusters.west.patch(service('ended-db'), unexport);
    for (const name of ['ended-west', 'ended-db-west', 'ended-db-0-west', 'ended-db-1-west']) await isGone(name);
    await eventually('the operator is at rest', () => operator.settled());
    await clusters.eastCluster.clearAudit();

    await clusters.west.patch(slice('ended'), {
      endpoints: [{ addresses: ['10.244.9.1'], conditions: { ready: true } }],
    });
    await clusters.west.patch(slice('ended-db'), {
      endpoints: [{ addresses: ['10.244.9.2'], conditions: { ready: true }, hostname: 'ended-db-2' }],
    });
    await clusters.west.patch(slice('ended'), unexport);
    await exportReady(clusters, 'after-ended');
    await eventually('the operator is at rest', () => operator.settled());
    expect((await clusters.writes()).filter((write) => write.includes('/ended'))).toEqual([]);
    expect(Object.keys(await inventory(clusters)).filter((name) => name.includes('/ended'))).toEqual([]);
  });
});

onEachBacking('namespaces', (backing) => {
  let clusters: TwoClusters;
  const services: Collection = { apiVersion: 'v1', kind: 'Service' };
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, namespaces: ['shop', 'barred'] });
    await Promise.all(['linkerd', 'late', 'made'].map((name) => clusters.west.apply(namespace(name))));
    await clusters.link();
    await clusters.east.apply(linkVia('maker', { enableNamespaceCreation: true }));
    clusters.operator();
  });
  afterAll(() => clusters.stop());

  test('a Service whose namespace does not exist waits for it, and says so on the Link (A3)', async () => {
    await exportService(clusters, 'web', { namespace: 'late' });
    const said = await untilRefused(clusters, 'MissingNamespace', 'web', 'late');
    expect(said.message).toContain('late');
    await eventually('an Event says so', async () => {
      const events = await clusters.east.list<EventObject>({
        apiVersion: 'v1',
        kind: 'Event',
        namespace: LINKS_NAMESPACE,
      });
      return events.some(
        ({ reason, involvedObject }) => reason === 'MissingNamespace' && involvedObject.name === 'west',
      );
    });
    await clusters.east.apply(namespace('late'));
    await untilMirrored(clusters, 'web', 'late');
    expect(await clusters.get('Service', 'web-west', 'late')).toBeDefined();
  });

  test('with creation enabled the namespace is made, labelled, and never deleted (A3, A6)', async () => {
    await exportService(clusters, 'web', { namespace: 'made', labels: { via: 'maker' } });
    await untilMirrored(clusters, 'web', 'made', 'maker');
    const labels = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'maker' };
    const made = await eventually<KubeObject>('the namespace', () => clusters.east.get(namespace('made')));
    expect(made.metadata.labels).toMatchObject(labels);
    await clusters.west.delete(service('web', { namespace: 'made' }));
    await eventually(
      'the mirror is gone',
      async () => (await clusters.get('Service', 'web-maker', 'made')) === undefined,
    );
    expect((await clusters.east.get(namespace('made')))?.metadata.deletionTimestamp).toBeUndefined();
  });

  test("the control plane's namespace is neither written to nor created, even with creation enabled (A3, E8)", async () => {
    await exportService(clusters, 'web', { namespace: 'linkerd', labels: { via: 'maker' } });
    await untilRefused(clusters, 'NamespaceNotAllowed', 'web', 'linkerd', 'maker');
    expect(await clusters.east.get(namespace('linkerd'))).toBeUndefined();
    await clusters.east.apply(namespace('linkerd'));
    await exportService(clusters, 'other', { namespace: 'linkerd', labels: { via: 'maker' } });
    await untilRefused(clusters, 'NamespaceNotAllowed', 'other', 'linkerd', 'maker');
    expect(await clusters.east.list({ ...services, namespace: 'linkerd' })).toEqual([]);
  });
});

onEachBacking('an operator with --mirror-namespaces', (backing) => {
  test('with --mirror-namespaces no other is written to (A3)', async () => {
    const clusters = await TwoClusters.start({ backing, namespaces: ['shop', 'barred'] });
    try {
      await clusters.link();
      clusters.operator({ flags: { mirrorNamespaces: 'shop' } });
      await exportService(clusters, 'web', { namespace: 'barred' });
      await exportService(clusters, 'web');
      await untilMirrored(clusters, 'web');
      expect((await untilRefused(clusters, 'NamespaceNotAllowed', 'web', 'barred')).message).toContain(
        '--mirror-namespaces',
      );
      expect(await clusters.get('Service', 'web-west', 'barred')).toBeUndefined();
    } finally {
      await clusters.stop();
    }
  });
});

onEachBacking('refusals', (backing) => {
  let clusters: TwoClusters;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    clusters.operator();
  });
  afterAll(() => clusters.stop());

  const udp = [{ name: 'dns', port: 53, protocol: 'UDP' }];
  test.each<[string, string, ServiceOptions, string]>([
    [
      'of type ExternalName',
      'external',
      { selector: null, ports: [], spec: { type: 'ExternalName', externalName: 'x.example' } },
      'InvalidService',
    ],
    ['without ports', 'portless', { headless: true, ports: [] }, 'InvalidService'],
    [
      'that is itself a mirror',
      'mirrored',
      { labels: { ...EXPORTED, 'mirror.linkerd.io/mirrored-service': 'true' } },
      'InvalidService',
    ],
    ['whose mirror would have too long a name', 'x'.repeat(59), {}, 'InvalidName'],
    ['with no port that crosses a gateway (A5)', 'datagrams', { ports: udp }, 'InvalidService'],
  ])('a Service %s is not mirrored, and its status says why (A4)', async (_, name, options, reason) => {
    await exportService(clusters, name, options);
    const said = await untilRefused(clusters, reason, name);
    expect(said.message).not.toBe('');
    expect(await clusters.get('Service', `${name}-west`)).toBeUndefined();
    // The reason goes with the export.
    await clusters.west.delete(service(name));
    await eventually('it is forgotten', async () => (await clusters.mirrorCondition(name)) === undefined);
  });

  test('a Service that becomes valid is mirrored, and one that becomes invalid no longer (A4)', async () => {
    await exportService(clusters, 'turning', { ports: udp });
    await untilRefused(clusters, 'InvalidService', 'turning');
    await exportService(clusters, 'turning');
    await untilMirrored(clusters, 'turning');
    await clusters.west.replace(await withPorts(clusters, 'turning', udp));
    await untilRefused(clusters, 'InvalidService', 'turning');
    await eventually('its mirror is gone', async () => (await clusters.get('Service', 'turning-west')) === undefined);
  });

  test('ports that do not cross a gateway are left out, and named in the status (A5)', async () => {
    await exportService(clusters, 'mixed', {
      ports: [{ name: 'http', port: 80 }, ...udp, { name: 'sig', port: 99, protocol: 'SCTP' }],
    });
    const said = await untilMirrored(clusters, 'mixed');
    expect(said.message).toContain('dns/UDP');
    expect(said.message).toContain('sig/SCTP');
    const mirror = await clusters.get<ServiceObject>('Service', 'mixed-west');
    expect(mirror?.spec.ports.map(({ name }) => name)).toEqual(['http']);
  });

  test("the probe Service that Linkerd's chart made is taken over in place, with what the chart put on it (A6)", async () => {
    const labels = {
      'mirror.linkerd.io/mirrored-gateway': 'true',
      'mirror.linkerd.io/cluster-name': 'charted',
      'app.kubernetes.io/managed-by': 'Helm',
    };
    const ports = [{ name: 'mc-probe', port: 1234 }];
    const charted = service('probe-charted', { namespace: LINKS_NAMESPACE, labels, selector: null, ports });
    const made = await clusters.east.create(charted);
    await clusters.east.apply(linkVia('charted', { probeSpec: { path: '/ready', port: '4191', period: '10s' } }));
    const now = await eventually('it has the port of the Link', async () => {
      const found = await clusters.get<ServiceObject>('Service', 'probe-charted', LINKS_NAMESPACE);
      return found?.spec.ports[0]?.port === 4191 ? found : undefined;
    });
    expect(now.metadata.uid).toBe(made.metadata.uid);
    expect(now.metadata.labels).toHaveProperty(['app.kubernetes.io/managed-by'], 'Helm');
  });

  test("a user's own Service under the name of the probe is left alone (A6)", async () => {
    const own = { ...service('probe-taken', { namespace: LINKS_NAMESPACE }) };
    await clusters.east.create(own);
    await clusters.east.apply(linkVia('taken', { probeSpec: { path: '/ready', port: '4191', period: '10s' } }));
    await exportService(clusters, 'beside', { labels: { via: 'taken' } });
    await untilMirrored(clusters, 'beside', 'shop', 'taken');
    const now = await clusters.get<ServiceObject>('Service', 'probe-taken', LINKS_NAMESPACE);
    expect(now?.spec.ports.map(({ port }) => port)).toEqual([80]);
    expect(await clusters.get('Endpoints', 'probe-taken', LINKS_NAMESPACE)).toBeUndefined();
  });
});

const withPorts = async (clusters: TwoClusters, name: string, ports: readonly object[]) => {
  const found = (await clusters.west.get<ServiceObject>(service(name)))!;
  return { ...found, spec: { ...found.spec, ports } };
};

onEachBacking('what is not mirrored', (backing) => {
  let clusters: TwoClusters;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    clusters.operator({ flags: { enableNamespaceCreation: true } });
    await clusters.ready();
  });
  afterAll(() => clusters.stop());

  test.each([
    ['a flat-mode mirror', 'flatmirror', { 'multicluster.linkerd.io/remote-discovery': 'north' }, {}],
    ['a mirror', 'gatewaymirror', { 'mirror.linkerd.io/mirrored-service': 'true' }, {}],
    ['a federated Service', 'federated', {}, { 'multicluster.linkerd.io/remote-discovery': 'web@north' }],
    ['a local federated Service', 'localfed', {}, { 'multicluster.linkerd.io/local-discovery': 'web' }],
  ])('L33 A4 %s of the target is not mirrored on, in either mode', async (_, name, labels, annotations) => {
    for (const [mode, exported] of [
      ['gateway', EXPORTED],
      ['flat', EXPORTED_FLAT],
    ] as const) {
      const each = `${name}-${mode}`;
      await clusters.west.apply(service(each, { labels: { ...labels, ...exported }, annotations }));
      await clusters.west.apply(slice(each));
      const condition = await eventually(`${each} is reported on`, () => clusters.mirrorCondition(each));
      expect(condition).toMatchObject({ status: 'False', reason: 'InvalidService' });
      expect(await clusters.get('Service', `${each}-west`)).toBeUndefined();
    }
  });

  test('L39 A3 E8 nothing is written to the namespaces of Kubernetes, of the control plane or of the operator', async () => {
    const forbidden = ['kube-system', 'kube-public', 'linkerd', LINKS_NAMESPACE];
    await clusters.eastCluster.clearAudit();
    for (const name of forbidden) {
      await clusters.west.apply(namespace(name));
      await clusters.west.apply(service('intruder', { namespace: name, labels: EXPORTED }));
      await clusters.west.apply(slice('intruder', { namespace: name }));
    }
    // What is allowed is written meanwhile, so the operator has seen them all by the time they are reported on.
    await exportReady(clusters, service('guest', { labels: EXPORTED }));
    for (const name of forbidden) {
      const condition = await eventually(`${name} is reported on`, () => clusters.mirrorCondition('intruder', name));
      expect(condition).toMatchObject({ status: 'False', reason: 'NamespaceNotAllowed' });
      expect(await clusters.get('Service', 'intruder-west', name)).toBeUndefined();
      expect(await clusters.get('Endpoints', 'intruder-west', name)).toBeUndefined();
    }
    expect(await clusters.east.get(namespace('linkerd'))).toBeUndefined();
    expect(
      (await clusters.writes()).filter((write) => write.includes('intruder') || write.includes('namespaces')),
    ).toEqual([]);
    for (const name of forbidden) await clusters.west.delete(service('intruder', { namespace: name }));
  });
});
