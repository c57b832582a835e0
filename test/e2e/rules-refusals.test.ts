/** What is mirrored where, what is not and why, and who gets a name: rules A3 to A7, on every backing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { type Collection, eventually, type KubeObject } from '../cluster/workload/index.ts';
import { EXPORTED, link, namespace, service, type ServiceOptions, slice, statefulSlice } from '../support/builders.ts';
import { type LinkCondition, type LinkObject, LINKS_NAMESPACE, type ServiceObject, World } from '../support/world.ts';

const DEADLINE_MS = 40_000;

interface EventObject extends KubeObject {
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

/** What a Link says of one target Service. */
const saidOf = async (
  world: World,
  link: string,
  name: string,
  within = 'shop',
): Promise<LinkCondition | undefined> => {
  const found = await world.get<LinkObject>('Link', link, LINKS_NAMESPACE);
  const ofIt = found?.status?.mirrorServices?.find(
    ({ remoteRef }) => remoteRef.name === name && remoteRef.namespace === within,
  );
  return ofIt?.conditions[0];
};

const refused = (world: World, reason: string, name: string, within = 'shop', link = 'west'): Promise<LinkCondition> =>
  eventually(
    `${within}/${name} is refused with ${reason}`,
    async () => {
      const said = await saidOf(world, link, name, within);
      return said?.reason === reason && said.status === 'False' ? said : undefined;
    },
    DEADLINE_MS,
  );

const mirrored = (world: World, name: string, within = 'shop', link = 'west'): Promise<LinkCondition> =>
  eventually(
    `${within}/${name} is mirrored`,
    async () => {
      const said = await saidOf(world, link, name, within);
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

const exported = async (world: World, name: string, options: ServiceOptions = {}): Promise<void> => {
  await world.west.apply(service(name, { labels: EXPORTED, ...options }));
  await world.west.apply(slice(name, { namespace: options.namespace ?? 'shop' }));
};

onEachBacking('namespaces', (backing) => {
  let world: World;
  const services: Collection = { apiVersion: 'v1', kind: 'Service' };
  beforeAll(async () => {
    world = await World.start({ backing, namespaces: ['shop', 'barred'] });
    await Promise.all(['linkerd', 'late', 'made'].map((name) => world.west.apply(namespace(name))));
    await world.link();
    await world.east.apply(another('maker', { enableNamespaceCreation: true }));
    world.operator();
  });
  afterAll(() => world.stop());

  test('a Service whose namespace does not exist waits for it, and says so on the Link (A3)', async () => {
    await exported(world, 'web', { namespace: 'late' });
    const said = await refused(world, 'MissingNamespace', 'web', 'late');
    expect(said.message).toContain('late');
    await eventually('an Event says so', async () => {
      const events = await world.east.list<EventObject>({
        apiVersion: 'v1',
        kind: 'Event',
        namespace: LINKS_NAMESPACE,
      });
      return events.some(
        ({ reason, involvedObject }) => reason === 'MissingNamespace' && involvedObject.name === 'west',
      );
    });
    await world.east.apply(namespace('late'));
    await mirrored(world, 'web', 'late');
    expect(await world.get('Service', 'web-west', 'late')).toBeDefined();
  });

  test('with creation enabled the namespace is made, labelled, and never deleted (A3, A6)', async () => {
    await exported(world, 'web', { namespace: 'made', labels: { via: 'maker' } });
    await mirrored(world, 'web', 'made', 'maker');
    const labels = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'maker' };
    const made = await eventually<KubeObject>('the namespace', () => world.east.get(namespace('made')));
    expect(made.metadata.labels).toMatchObject(labels);
    await world.west.delete(service('web', { namespace: 'made' }));
    await eventually('the mirror is gone', async () => (await world.get('Service', 'web-maker', 'made')) === undefined);
    expect((await world.east.get(namespace('made')))?.metadata.deletionTimestamp).toBeUndefined();
  });

  test("the control plane's namespace is neither written to nor created, even with creation enabled (A3, E8)", async () => {
    await exported(world, 'web', { namespace: 'linkerd', labels: { via: 'maker' } });
    await refused(world, 'NamespaceNotAllowed', 'web', 'linkerd', 'maker');
    expect(await world.east.get(namespace('linkerd'))).toBeUndefined();
    await world.east.apply(namespace('linkerd'));
    await exported(world, 'other', { namespace: 'linkerd', labels: { via: 'maker' } });
    await refused(world, 'NamespaceNotAllowed', 'other', 'linkerd', 'maker');
    expect(await world.east.list({ ...services, namespace: 'linkerd' })).toEqual([]);
  });

  test('with --mirror-namespaces no other is written to (A3)', async () => {
    const second = await World.start({ backing, namespaces: ['shop', 'barred'] });
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
  let world: World;
  beforeAll(async () => {
    world = await World.start({ backing });
    await world.link();
    world.operator();
  });
  afterAll(() => world.stop());

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
    await exported(world, name, options);
    const said = await refused(world, reason, name);
    expect(said.message).not.toBe('');
    expect(await world.get('Service', `${name}-west`)).toBeUndefined();
    // The reason goes with the export.
    await world.west.delete(service(name));
    await eventually('it is forgotten', async () => (await saidOf(world, 'west', name)) === undefined);
  });

  test('a Service that becomes valid is mirrored, and one that becomes invalid no longer (A4)', async () => {
    await exported(world, 'turning', { ports: udp });
    await refused(world, 'InvalidService', 'turning');
    await exported(world, 'turning');
    await mirrored(world, 'turning');
    await world.west.replace(await withPorts(world, 'turning', udp));
    await refused(world, 'InvalidService', 'turning');
    await eventually('its mirror is gone', async () => (await world.get('Service', 'turning-west')) === undefined);
  });

  test('ports that do not cross a gateway are left out, and named in the status (A5)', async () => {
    await exported(world, 'mixed', {
      ports: [{ name: 'http', port: 80 }, ...udp, { name: 'sig', port: 99, protocol: 'SCTP' }],
    });
    const said = await mirrored(world, 'mixed');
    expect(said.message).toContain('dns/UDP');
    expect(said.message).toContain('sig/SCTP');
    const mirror = await world.get<ServiceObject>('Service', 'mixed-west');
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
    const made = await world.east.create(charted);
    await world.east.apply(another('charted', { probeSpec: { path: '/ready', port: '4191', period: '10s' } }));
    const now = await eventually('it has the port of the Link', async () => {
      const found = await world.get<ServiceObject>('Service', 'probe-charted', LINKS_NAMESPACE);
      return found?.spec.ports[0]?.port === 4191 ? found : undefined;
    });
    expect(now.metadata.uid).toBe(made.metadata.uid);
    expect(now.metadata.labels).toHaveProperty(['app.kubernetes.io/managed-by'], 'Helm');
  });

  test("a user's own Service under the name of the probe is left alone (A6)", async () => {
    const own = { ...service('probe-taken', { namespace: LINKS_NAMESPACE }) };
    await world.east.create(own);
    await world.east.apply(another('taken', { probeSpec: { path: '/ready', port: '4191', period: '10s' } }));
    await exported(world, 'beside', { labels: { via: 'taken' } });
    await mirrored(world, 'beside', 'shop', 'taken');
    const now = await world.get<ServiceObject>('Service', 'probe-taken', LINKS_NAMESPACE);
    expect(now?.spec.ports.map(({ port }) => port)).toEqual([80]);
    expect(await world.get('Endpoints', 'probe-taken', LINKS_NAMESPACE)).toBeUndefined();
  });
});

const withPorts = async (world: World, name: string, ports: readonly object[]) => {
  const found = (await world.west.get<ServiceObject>(service(name)))!;
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
  let world: World;
  beforeAll(async () => {
    world = await World.start({ backing });
    await world.link();
    for (const name of ['b', 'a-b']) await world.east.apply(another(name));
    world.operator();
  });
  afterAll(() => world.stop());

  const orders = ['the older one first', 'the younger one first'] as const;

  test.each(orders)('goes to the older of foo-a on b and foo on a-b, exported %s', async (order) => {
    const base = order === orders[0] ? 'foo' : 'bar';
    const [older, younger] = [`${base}-a`, base];
    await inTurn(
      () => world.west.create(service(older)),
      () => world.west.create(service(younger)),
    );
    const exports = [
      () => world.west.apply(service(older, { labels: { via: 'b' } })),
      () => world.west.apply(service(younger, { labels: { via: 'a-b' } })),
    ];
    if (order === orders[1]) exports.reverse();
    await exports[0]!();
    await eventually('it is there', () => world.get('Service', `${base}-a-b`), DEADLINE_MS);
    await exports[1]!();
    await mirrored(world, older, 'shop', 'b');
    await refused(world, 'NameConflict', younger, 'shop', 'a-b');
    const mirror = await world.get('Service', `${base}-a-b`);
    expect(mirror?.metadata.labels).toMatchObject({ 'mirror.linkerd.io/cluster-name': 'b' });

    await world.west.delete(service(older));
    await mirrored(world, younger, 'shop', 'a-b');
    const next = await world.get('Service', `${base}-a-b`);
    expect(next?.metadata.labels).toMatchObject({ 'mirror.linkerd.io/cluster-name': 'a-b' });
  });

  test.each(orders)(
    'a Service that is older than a pod of its name keeps it, exported %s; the pod gets a longer one',
    async (order) => {
      const base = order === orders[0] ? 'db' : 'kv';
      await inTurn(
        () => world.west.create(service(`${base}-0`)),
        () => world.west.create(service(base, { headless: true })),
      );
      const exports = [() => exported(world, `${base}-0`), () => exportedPods(world, base, [`${base}-0`])];
      if (order === orders[1]) exports.reverse();
      await exports[0]!();
      await eventually('the first is there', () => world.get('Service', `${base}-0-west`), DEADLINE_MS);
      await exports[1]!();
      await mirrored(world, base);
      await mirrored(world, `${base}-0`);
      const plain = await world.get('Service', `${base}-0-west`);
      expect(plain?.metadata.labels).not.toHaveProperty(['mirror.linkerd.io/headless-mirror-svc-name']);
      const pod = await eventually('the pod is there', () =>
        world.get<ServiceObject>('Service', `${base}-0-${base}-west`),
      );
      await eventually('the headless mirror points at it', async () =>
        (await world.addresses(`${base}-west`))?.includes(pod.spec.clusterIP ?? ''),
      );
    },
  );

  test.each(orders)('a Service that is younger than the pod of its name has none, exported %s', async (order) => {
    const base = order === orders[0] ? 'mq' : 'fs';
    await inTurn(
      () => world.west.create(service(base, { headless: true })),
      () => world.west.create(service(`${base}-0`)),
    );
    const exports = [() => exportedPods(world, base, [`${base}-0`]), () => exported(world, `${base}-0`)];
    if (order === orders[1]) exports.reverse();
    await exports[0]!();
    await eventually('the first is there', () => world.get('Service', `${base}-0-west`), DEADLINE_MS);
    await exports[1]!();
    await mirrored(world, base);
    await refused(world, 'NameConflict', `${base}-0`);
    const plain = await world.get('Service', `${base}-0-west`);
    expect(plain?.metadata.labels).toMatchObject({ 'mirror.linkerd.io/headless-mirror-svc-name': `${base}-west` });
  });
});

const exportedPods = async (world: World, name: string, hostnames: readonly string[]): Promise<void> => {
  await world.west.apply(service(name, { headless: true, labels: EXPORTED }));
  await world.west.apply(statefulSlice(name, hostnames));
};
