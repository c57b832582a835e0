/** What is mirrored where, what is not and why, and who gets a name: rules A3 to A7, on every backing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { type Collection, eventually, type KubeObject } from '../cluster/workload/index.ts';
import {
  EXPORTED,
  link,
  LINKS_NAMESPACE,
  namespace,
  service,
  type ServiceOptions,
  slice,
  statefulSlice,
} from '../support/builders.ts';
import type { LinkCondition, LinkObject, ServiceObject } from '../support/objects.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const DEADLINE_MS = 40_000;

interface EventObject extends KubeObject {
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

/** What a Link says of one target Service. */
const saidOf = async (
  clusters: TwoClusters,
  link: string,
  name: string,
  within = 'shop',
): Promise<LinkCondition | undefined> => {
  const found = await clusters.get<LinkObject>('Link', link, LINKS_NAMESPACE);
  const ofIt = found?.status?.mirrorServices?.find(
    ({ remoteRef }) => remoteRef.name === name && remoteRef.namespace === within,
  );
  return ofIt?.conditions[0];
};

const refused = (
  clusters: TwoClusters,
  reason: string,
  name: string,
  within = 'shop',
  link = 'west',
): Promise<LinkCondition> =>
  eventually(
    `${within}/${name} is refused with ${reason}`,
    async () => {
      const said = await saidOf(clusters, link, name, within);
      return said?.reason === reason && said.status === 'False' ? said : undefined;
    },
    DEADLINE_MS,
  );

const mirrored = (clusters: TwoClusters, name: string, within = 'shop', link = 'west'): Promise<LinkCondition> =>
  eventually(
    `${within}/${name} is mirrored`,
    async () => {
      const said = await saidOf(clusters, link, name, within);
      return said?.status === 'True' ? said : undefined;
    },
    DEADLINE_MS,
  );

/** A Link to west under another name, without a probe, that mirrors what carries `via: <name>`. */
const another = (name: string, spec: object = {}) =>
  link(name, {
    clusterCredentialsSecret: 'cluster-credentials-west',
    probeSpec: undefined,
    selector: { matchLabels: { via: name } },
    remoteDiscoverySelector: undefined,
    ...spec,
  });

const exported = async (clusters: TwoClusters, name: string, options: ServiceOptions = {}): Promise<void> => {
  await clusters.west.apply(service(name, { labels: EXPORTED, ...options }));
  await clusters.west.apply(slice(name, { namespace: options.namespace ?? 'shop' }));
};

onEachBacking('namespaces', (backing) => {
  let clusters: TwoClusters;
  const services: Collection = { apiVersion: 'v1', kind: 'Service' };
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, namespaces: ['shop', 'barred'] });
    await Promise.all(['linkerd', 'late', 'made'].map((name) => clusters.west.apply(namespace(name))));
    await clusters.link();
    await clusters.east.apply(another('maker', { enableNamespaceCreation: true }));
    clusters.operator();
  });
  afterAll(() => clusters.stop());

  test('a Service whose namespace does not exist waits for it, and says so on the Link (A3)', async () => {
    await exported(clusters, 'web', { namespace: 'late' });
    const said = await refused(clusters, 'MissingNamespace', 'web', 'late');
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
    await mirrored(clusters, 'web', 'late');
    expect(await clusters.get('Service', 'web-west', 'late')).toBeDefined();
  });

  test('with creation enabled the namespace is made, labelled, and never deleted (A3, A6)', async () => {
    await exported(clusters, 'web', { namespace: 'made', labels: { via: 'maker' } });
    await mirrored(clusters, 'web', 'made', 'maker');
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
    await exported(clusters, 'web', { namespace: 'linkerd', labels: { via: 'maker' } });
    await refused(clusters, 'NamespaceNotAllowed', 'web', 'linkerd', 'maker');
    expect(await clusters.east.get(namespace('linkerd'))).toBeUndefined();
    await clusters.east.apply(namespace('linkerd'));
    await exported(clusters, 'other', { namespace: 'linkerd', labels: { via: 'maker' } });
    await refused(clusters, 'NamespaceNotAllowed', 'other', 'linkerd', 'maker');
    expect(await clusters.east.list({ ...services, namespace: 'linkerd' })).toEqual([]);
  });

  test('with --mirror-namespaces no other is written to (A3)', async () => {
    const second = await TwoClusters.start({ backing, namespaces: ['shop', 'barred'] });
    try {
      await second.link();
      second.operator({ flags: { mirrorNamespaces: 'shop' } });
      await exported(second, 'web', { namespace: 'barred' });
      await exported(second, 'web');
      await mirrored(second, 'web');
      expect((await refused(second, 'NamespaceNotAllowed', 'web', 'barred')).message).toContain('--mirror-namespaces');
      expect(await second.get('Service', 'web-west', 'barred')).toBeUndefined();
    } finally {
      await second.stop();
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
    await exported(clusters, name, options);
    const said = await refused(clusters, reason, name);
    expect(said.message).not.toBe('');
    expect(await clusters.get('Service', `${name}-west`)).toBeUndefined();
    // The reason goes with the export.
    await clusters.west.delete(service(name));
    await eventually('it is forgotten', async () => (await saidOf(clusters, 'west', name)) === undefined);
  });

  test('a Service that becomes valid is mirrored, and one that becomes invalid no longer (A4)', async () => {
    await exported(clusters, 'turning', { ports: udp });
    await refused(clusters, 'InvalidService', 'turning');
    await exported(clusters, 'turning');
    await mirrored(clusters, 'turning');
    await clusters.west.replace(await withPorts(clusters, 'turning', udp));
    await refused(clusters, 'InvalidService', 'turning');
    await eventually('its mirror is gone', async () => (await clusters.get('Service', 'turning-west')) === undefined);
  });

  test('ports that do not cross a gateway are left out, and named in the status (A5)', async () => {
    await exported(clusters, 'mixed', {
      ports: [{ name: 'http', port: 80 }, ...udp, { name: 'sig', port: 99, protocol: 'SCTP' }],
    });
    const said = await mirrored(clusters, 'mixed');
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
    await clusters.east.apply(another('charted', { probeSpec: { path: '/ready', port: '4191', period: '10s' } }));
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
    await clusters.east.apply(another('taken', { probeSpec: { path: '/ready', port: '4191', period: '10s' } }));
    await exported(clusters, 'beside', { labels: { via: 'taken' } });
    await mirrored(clusters, 'beside', 'shop', 'taken');
    const now = await clusters.get<ServiceObject>('Service', 'probe-taken', LINKS_NAMESPACE);
    expect(now?.spec.ports.map(({ port }) => port)).toEqual([80]);
    expect(await clusters.get('Endpoints', 'probe-taken', LINKS_NAMESPACE)).toBeUndefined();
  });
});

const withPorts = async (clusters: TwoClusters, name: string, ports: readonly object[]) => {
  const found = (await clusters.west.get<ServiceObject>(service(name)))!;
  return { ...found, spec: { ...found.spec, ports } };
};

/** Creates both, the first one older by the clock of the API server, which counts seconds. */
const inTurn = async (...objects: readonly (() => Promise<KubeObject>)[]): Promise<void> => {
  for (const create of objects) {
    const { metadata } = await create();
    await eventually('the next second', async () => Date.now() - Date.parse(metadata.creationTimestamp) >= 1100);
  }
};

onEachBacking('a name that two want (A7)', (backing) => {
  let clusters: TwoClusters;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    for (const name of ['b', 'a-b']) await clusters.east.apply(another(name));
    clusters.operator();
  });
  afterAll(() => clusters.stop());

  const orders = ['the older one first', 'the younger one first'] as const;

  test.each(orders)('goes to the older of foo-a on b and foo on a-b, exported %s', async (order) => {
    const base = order === orders[0] ? 'foo' : 'bar';
    const [older, younger] = [`${base}-a`, base];
    await inTurn(
      () => clusters.west.create(service(older)),
      () => clusters.west.create(service(younger)),
    );
    const exports = [
      () => clusters.west.apply(service(older, { labels: { via: 'b' } })),
      () => clusters.west.apply(service(younger, { labels: { via: 'a-b' } })),
    ];
    if (order === orders[1]) exports.reverse();
    await exports[0]!();
    await eventually('it is there', () => clusters.get('Service', `${base}-a-b`), DEADLINE_MS);
    await exports[1]!();
    await mirrored(clusters, older, 'shop', 'b');
    await refused(clusters, 'NameConflict', younger, 'shop', 'a-b');
    const mirror = await clusters.get('Service', `${base}-a-b`);
    expect(mirror?.metadata.labels).toMatchObject({ 'mirror.linkerd.io/cluster-name': 'b' });

    await clusters.west.delete(service(older));
    await mirrored(clusters, younger, 'shop', 'a-b');
    const next = await clusters.get('Service', `${base}-a-b`);
    expect(next?.metadata.labels).toMatchObject({ 'mirror.linkerd.io/cluster-name': 'a-b' });
  });

  test.each(orders)(
    'a Service that is older than a pod of its name keeps it, exported %s; the pod gets a longer one',
    async (order) => {
      const base = order === orders[0] ? 'db' : 'kv';
      await inTurn(
        () => clusters.west.create(service(`${base}-0`)),
        () => clusters.west.create(service(base, { headless: true })),
      );
      const exports = [() => exported(clusters, `${base}-0`), () => exportedPods(clusters, base, [`${base}-0`])];
      if (order === orders[1]) exports.reverse();
      await exports[0]!();
      await eventually('the first is there', () => clusters.get('Service', `${base}-0-west`), DEADLINE_MS);
      await exports[1]!();
      await mirrored(clusters, base);
      await mirrored(clusters, `${base}-0`);
      const plain = await clusters.get('Service', `${base}-0-west`);
      expect(plain?.metadata.labels).not.toHaveProperty(['mirror.linkerd.io/headless-mirror-svc-name']);
      const pod = await eventually('the pod is there', () =>
        clusters.get<ServiceObject>('Service', `${base}-0-${base}-west`),
      );
      await eventually('the headless mirror points at it', async () =>
        (await clusters.addresses(`${base}-west`))?.includes(pod.spec.clusterIP ?? ''),
      );
    },
  );

  test.each(orders)('a Service that is younger than the pod of its name has none, exported %s', async (order) => {
    const base = order === orders[0] ? 'mq' : 'fs';
    await inTurn(
      () => clusters.west.create(service(base, { headless: true })),
      () => clusters.west.create(service(`${base}-0`)),
    );
    const exports = [() => exportedPods(clusters, base, [`${base}-0`]), () => exported(clusters, `${base}-0`)];
    if (order === orders[1]) exports.reverse();
    await exports[0]!();
    await eventually('the first is there', () => clusters.get('Service', `${base}-0-west`), DEADLINE_MS);
    await exports[1]!();
    await mirrored(clusters, base);
    await refused(clusters, 'NameConflict', `${base}-0`);
    const plain = await clusters.get('Service', `${base}-0-west`);
    expect(plain?.metadata.labels).toMatchObject({ 'mirror.linkerd.io/headless-mirror-svc-name': `${base}-west` });
  });
});

const exportedPods = async (clusters: TwoClusters, name: string, hostnames: readonly string[]): Promise<void> => {
  await clusters.west.apply(service(name, { headless: true, labels: EXPORTED }));
  await clusters.west.apply(statefulSlice(name, hostnames));
};
