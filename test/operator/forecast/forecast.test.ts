/** The steps that a forecast makes, each case as a value: what is there, and what would become of it. */
import { describe, expect, test } from 'vitest';
import { readLink, type LinkSettings } from '../../../crds/index.ts';
import { parseOperatorConfig } from '../../../operator/config/config.ts';
import {
  type ExportLists,
  type FederationFacts,
  forecast,
  type ForecastOptions,
  type ImportFacts,
  type Listed,
  ListedExports,
  ListedTarget,
  ModelCluster,
  type ServedLink,
} from '../../../operator/forecast/index.ts';
import {
  apiVersionOf,
  type EndpointSlice,
  type KubeObject,
  type Resource,
  type Service,
} from '../../../operator/kube/objects.ts';
import type { ObjectRef } from '../../cluster/workload/index.ts';
import { EXPORTED, link, namespace, service, slice, statefulSlice } from '../../support/builders.ts';
import { mirrorFirst } from '../../support/failovers.ts';
import { serviceExport } from '../../support/mcs.ts';
import { linkerdEndpoints, linkerdMirror } from '../../support/linkerd-controller.ts';

const PORTS = [{ name: 'http', port: 80, targetPort: 8080 }];
const parsed = parseOperatorConfig({ enableHeadlessServices: true }, {});
if (!parsed.ok) throw new Error('the defaults are invalid');
const config = parsed.value;

/** As an API server sends it. */
const stored = <T extends KubeObject>(object: ObjectRef): T => {
  const metadata = { uid: `${object.kind}-${object.metadata.name}`, resourceVersion: '1', ...object.metadata };
  const { spec } = object as { readonly spec?: object };
  const filled = object.kind === 'Service' ? { spec: { clusterIP: '10.96.0.9', ...spec } } : {};
  return { ...object, ...filled, metadata } as unknown as T;
};

const of = (objects: readonly ObjectRef[], kind: string) => objects.filter((each) => each.kind === kind);

/** What the model finds by itself; a kind that is not installed is named. */
const findingIn = (objects: readonly ObjectRef[], missing: readonly string[] = []) => ({
  namespace: config.namespace,
  findEndpoints: () => Promise.resolve(undefined),
  findSlices: () => Promise.resolve([stored<EndpointSlice>(slice('web'))]),
  list: async (resource: Resource): Promise<Listed> => {
    if (missing.includes(resource.kind)) return 'missing';
    return of(objects, resource.kind)
      .filter(({ apiVersion }) => apiVersion === apiVersionOf(resource))
      .map(stored<KubeObject>);
  },
});

const modelOf = (...objects: readonly ObjectRef[]): ModelCluster => modelWithout([], ...objects);

/** @param missing kinds that are not installed */
const modelWithout = (missing: readonly string[], ...objects: readonly ObjectRef[]): ModelCluster =>
  new ModelCluster({
    ...findingIn(objects, missing),
    objects: {
      namespaces: of([namespace('shop'), namespace(config.namespace), ...objects], 'Namespace').map(stored<KubeObject>),
      services: of(objects, 'Service').map(stored<Service>),
      endpoints: of(objects, 'Endpoints').map(stored<KubeObject>),
      slices: [],
    },
  });

/** A cluster that holds what an operator has written. */
const modelWith = (objects: readonly ObjectRef[]): ModelCluster =>
  new ModelCluster({
    ...findingIn(objects),
    objects: {
      namespaces: [namespace('shop'), namespace(config.namespace)].map(stored<KubeObject>),
      services: of(objects, 'Service').map(stored<Service>),
      endpoints: of(objects, 'Endpoints').map(stored<KubeObject>),
      slices: of(objects, 'EndpointSlice').map(stored<EndpointSlice>),
    },
  });

const served = (name: string, at: string, ...exports: readonly ObjectRef[]): ServedLink => {
  const read = readLink(link(name, { probeSpec: undefined }, { creationTimestamp: at }));
  if (!read.ok) throw new Error('the Link is invalid');
  const settings: LinkSettings = read.value;
  const target = new ListedTarget(
    {
      services: of(exports, 'Service').map(stored<Service>),
      slices: of(exports, 'EndpointSlice').map(stored<EndpointSlice>),
      namespaces: undefined,
    },
    { gateway: settings.selector, flat: settings.remoteDiscoverySelector },
  );
  return {
    settings,
    target,
    gateway: { port: 4143, identity: settings.gateway?.identity, addresses: ['203.0.113.10'], alive: true },
  };
};

const mirrorOf = (name: string, cluster = 'west'): readonly ObjectRef[] => [
  linkerdMirror(cluster, { name, namespace: 'shop' }, PORTS),
  linkerdEndpoints(cluster, { name, namespace: 'shop' }, PORTS, ['203.0.113.10']),
];

const NOT_FEDERATED: FederationFacts = {
  localSlices: [],
  isLocalHeld: false,
  mayHaveLink: () => true,
  isLinked: () => true,
  seniorityOf: () => undefined,
  isDiscoverable: () => undefined,
};

const LINKED: FederationFacts = { ...NOT_FEDERATED, isLocalHeld: true };

const run = async (
  model: ModelCluster,
  serve: readonly ServedLink[],
  remove: readonly string[] = [],
  federation: FederationFacts = NOT_FEDERATED,
  more: Pick<ForecastOptions, 'imports'> = {},
) => {
  const left = remove.map((cluster) => ({ cluster, link: cluster }));
  const { changes, links, findings } = await forecast({ config, model, serve, remove: left, federation, ...more });
  const shown = changes.map(({ of: { kind }, before, after }) => {
    const what = before === undefined ? 'create' : after === undefined ? 'delete' : 'change';
    const isNew = before !== undefined && after !== undefined && before.metadata.uid !== after.metadata.uid;
    return `${isNew ? 'replace' : what} ${kind} ${(after ?? before)?.metadata.name ?? ''}`;
  });
  return { changes: shown.sort(), links, findings };
};

describe('a forecast', () => {
  test('makes a ClusterIP mirror headless, and its Endpoints go with the Service (D3)', async () => {
    const exports = [service('db', { labels: EXPORTED, headless: true }), statefulSlice('db', ['db-0'])];
    const { changes } = await run(modelOf(...mirrorOf('db')), [served('west', '2026-01-01T00:00:00Z', ...exports)]);
    expect(changes).toEqual([
      'create Endpoints db-0-west',
      'create Service db-0-west',
      'replace Endpoints db-west',
      'replace Service db-west',
    ]);
  });

  test('holds the deletions that the operator would hold (E6)', async () => {
    const names = Array.from({ length: 12 }, (_, at) => `web-${at}`);
    const model = modelOf(...names.flatMap((name) => mirrorOf(name)));
    const { changes, links } = await run(model, [served('west', '2026-01-01T00:00:00Z')]);
    expect(changes).toEqual([]);
    expect(links).toMatchObject([{ link: 'west', held: 12 }]);
  });

  test('removes what a Link has left (E5)', async () => {
    const { changes } = await run(modelOf(...mirrorOf('web')), [], ['west']);
    expect(changes).toEqual(['delete Endpoints web-west', 'delete Service web-west']);
  });

  test('gives a name that one Link gives up to the other, in a later step (A7)', async () => {
    // Both want foo-a-west; the younger has it.
    const older = served('a-west', '2026-01-01T00:00:00Z', service('foo', { labels: EXPORTED }), slice('foo'));
    const younger = served('west', '2026-01-02T00:00:00Z', service('foo-a', { labels: EXPORTED }), slice('foo-a'));
    const { changes, links } = await run(modelOf(...mirrorOf('foo-a')), [older, younger]);
    expect(changes).toEqual(['replace Endpoints foo-a-west', 'replace Service foo-a-west']);
    expect(links.map(({ link: name, statuses }) => [name, statuses[0]?.reason])).toEqual([
      ['a-west', 'Mirrored'],
      ['west', 'NameConflict'],
    ]);
  });

  test('changes nothing that is right, and nothing a second time', async () => {
    const west = served(
      'west',
      '2026-01-01T00:00:00Z',
      service('web', { labels: EXPORTED, ports: PORTS }),
      slice('web'),
    );
    const first = modelOf();
    expect((await run(first, [west])).changes).toEqual(['create Endpoints web-west', 'create Service web-west']);
    const { writes } = first;
    const objects = first.touched.flatMap(({ of: { kind }, after }) =>
      after === undefined ? [] : [{ ...after, kind }],
    );
    const second = modelOf(...(objects as unknown as ObjectRef[]));
    expect((await run(second, [west])).changes).toEqual([]);
    expect([writes, second.writes]).toEqual([2, 0]);
  });
});

describe('a forecast of federated Services', () => {
  const MEMBER = { 'mirror.linkerd.io/federated': 'member' };
  const federating = (name: string, mode: 'gateway' | 'flat', ...members: readonly ObjectRef[]): ServedLink => {
    const spec = { probeSpec: undefined, federation: mode, federatedServiceSelector: { matchLabels: MEMBER } };
    const read = readLink(link(name, spec, { creationTimestamp: '2026-01-01T00:00:00Z' }));
    if (!read.ok) throw new Error('the Link is invalid');
    const target = new ListedTarget(
      {
        services: of(members, 'Service').map(stored<Service>),
        slices: of(members, 'EndpointSlice').map(stored<EndpointSlice>),
        namespaces: undefined,
      },
      { gateway: undefined, flat: undefined, members: read.value.federatedServiceSelector, readsMemberSlices: true },
    );
    return {
      settings: read.value,
      target,
      gateway: { port: 4143, identity: 'gw', addresses: ['203.0.113.10'], alive: true },
    };
  };
  const web = service('web', { labels: MEMBER });
  const KNOWN = { ...NOT_FEDERATED, isLocalHeld: true, mayHaveLink: () => false, isDiscoverable: () => true };

  test('joins the members of targets and the local one, on a flat network (I4)', async () => {
    const { changes, links } = await run(modelOf(web), [federating('west', 'flat', web)], [], KNOWN);
    expect(changes).toEqual(['create Service web-federated']);
    expect(links[0]?.members).toMatchObject([{ mirrored: true, local: 'web-federated' }]);
  });

  test('leads through gateways, with slices of each member (I5)', async () => {
    const { changes } = await run(
      modelOf(),
      [federating('west', 'gateway', web, slice('web', { labels: MEMBER }))],
      [],
      KNOWN,
    );
    expect(changes).toEqual(['create EndpointSlice web-federated.west-ipv4', 'create Service web-federated']);
  });

  test('says why a member does not join (I4)', async () => {
    const unknown = { ...KNOWN, isDiscoverable: () => false };
    const { changes, links } = await run(modelOf(), [federating('west', 'flat', web)], [], unknown);
    expect(changes).toEqual([]);
    expect(links[0]?.members).toMatchObject([{ mirrored: false, reason: 'WaitingForCredentials' }]);
  });

  test('leaves the members of Links that are not planned as they are, and removes those of clusters without a Link (I6)', async () => {
    const federated = service('web-federated', {
      labels: { 'mirror.linkerd.io/mirrored-service': 'true' },
      annotations: { 'multicluster.linkerd.io/remote-discovery': 'web@north' },
      selector: null,
    });
    const kept = await run(modelOf(federated), [], [], { ...KNOWN, mayHaveLink: () => true });
    expect(kept.changes).toEqual([]);
    expect((await run(modelOf(federated), [], [], KNOWN)).changes).toEqual(['delete Service web-federated']);
  });

  test('lets the local one join beside the member of a Link that is not planned, and of none of another operator (I9, L110)', async () => {
    const federated = service('web-federated', {
      labels: { 'mirror.linkerd.io/mirrored-service': 'true' },
      annotations: { 'multicluster.linkerd.io/remote-discovery': 'web@north' },
      selector: null,
    });
    const joining = async (isLinked: boolean) =>
      (await run(modelOf(web, federated), [], [], { ...KNOWN, mayHaveLink: () => true, isLinked: () => isLinked }))
        .changes;
    expect(await joining(true)).toEqual(['change Service web-federated']);
    expect(await joining(false)).toEqual([]);
  });

  test('says that memberships which are held are not ready once their Link has lost its gateway (I5, E6)', async () => {
    const names = Array.from({ length: 12 }, (_, at) => `web-${at + 10}`);
    const members = names.flatMap((name) => [service(name, { labels: MEMBER }), slice(name, { labels: MEMBER })]);
    const made = await forecast({
      ...{ config, model: modelOf(), serve: [federating('west', 'gateway', ...members)], remove: [] },
      federation: KNOWN,
    });
    const there = made.changes.map(({ of: { kind }, after }) => ({ ...after, kind }) as ObjectRef);
    const without = { ...federating('west', 'gateway'), gateway: undefined };
    const { changes, links } = await run(modelWith(there), [without], [], KNOWN);
    expect(links[0]?.held).toBe(12);
    expect(changes).toEqual(names.map((name) => `change EndpointSlice ${name}-federated.west-ipv4`));
  });
});

describe('a forecast of ServiceImports', () => {
  const exporting = (...exported: readonly ObjectRef[]): ServedLink => ({
    ...served('west', '2026-01-01T00:00:00Z'),
    exports: new ListedExports(exportsOf(exported)),
  });
  const exportsOf = (objects: readonly ObjectRef[], isInstalled = true): ExportLists => ({
    exports: isInstalled ? of(objects, 'ServiceExport').map(exported) : 'missing',
    services: of(objects, 'Service').map(stored<Service>),
    slices: of(objects, 'EndpointSlice').map(stored<EndpointSlice>),
    properties: 'missing',
    namespaces: undefined,
  });
  const exported = (object: ObjectRef): KubeObject =>
    stored({ ...object, metadata: { creationTimestamp: '2026-01-01T00:00:00Z', ...object.metadata } } as ObjectRef);
  const imports: ImportFacts = {
    local: exportsOf([]),
    families: new Set(['IPv4']),
    exporting: ['west'],
    serving: ['west'],
  };
  const WEB = [serviceExport('web'), service('web', { ports: PORTS }), slice('web')];

  test('imports what a target exports, with the Service that leads there (K1, K3)', async () => {
    const model = modelOf();
    const { changes, findings } = await run(model, [exporting(...WEB)], [], LINKED, { imports });
    expect(changes).toEqual([
      'create EndpointSlice web-clusterset.from-west-ipv4',
      'create Service web-clusterset',
      'create ServiceImport web',
    ]);
    expect(findings).toEqual([]);
    const [import_] = model.touched.flatMap(({ of: { kind }, after }) => (kind === 'ServiceImport' ? [after] : []));
    expect(import_).toMatchObject({ spec: { ips: [expect.stringMatching(/^0\./)], type: 'ClusterSetIP' } });
  });

  test('changes nothing that is right, and takes away what is exported no longer (K2)', async () => {
    const first = modelOf();
    await run(first, [exporting(...WEB)], [], LINKED, { imports });
    const written = first.touched.flatMap(({ of: { kind }, after }) =>
      after === undefined ? [] : [{ ...after, kind }],
    );
    const again = () => modelWith(written as unknown as readonly ObjectRef[]);
    expect((await run(again(), [exporting(...WEB)], [], LINKED, { imports })).changes).toEqual([]);
    const { changes } = await run(again(), [exporting()], [], LINKED, { imports });
    expect(changes).toEqual([
      'delete EndpointSlice web-clusterset.from-west-ipv4',
      'delete Service web-clusterset',
      'delete ServiceImport web',
    ]);
    // What it exports is not known where its CRD is not installed.
    const away = { ...exporting(), exports: new ListedExports(exportsOf([], false)) };
    expect((await run(again(), [away], [], LINKED, { imports })).changes).toEqual([]);
    const left = await run(again(), [], ['west'], { ...LINKED, mayHaveLink: () => false }, { imports });
    expect(left.changes).toHaveLength(3);
  });

  test('says that somebody else has the ServiceImport (K5)', async () => {
    const foreign = { ...serviceExport('web'), kind: 'ServiceImport' };
    const { changes, findings } = await run(modelOf(foreign), [exporting(...WEB)], [], LINKED, { imports });
    expect(changes).toEqual([]);
    expect(findings).toMatchObject([{ of: { kind: 'ServiceImport' }, key: 'shop/web', reason: 'NameConflict' }]);
  });
});

describe('a forecast of ServiceFailovers', () => {
  const failover = mirrorFirst('web', 'west');
  const web = service('web', { ports: PORTS });
  const target = [service('web', { labels: EXPORTED, ports: PORTS }), slice('web')];
  const west = () => served('west', '2026-01-01T00:00:00Z', ...target);

  test('leads requests to a mirror that is made with it (J1, J2)', async () => {
    const model = modelOf(web, failover);
    const { changes, findings } = await run(model, [west()]);
    expect(changes).toEqual(['create Endpoints web-west', 'create HTTPRoute web-80', 'create Service web-west']);
    expect(findings).toEqual([]);
    const [route] = model.touched.flatMap(({ of: { kind }, after }) => (kind === 'HTTPRoute' ? [after] : []));
    expect(weightsOf(route)).toEqual({ 'web-west': 1, web: 0 });
  });

  test('leads them back where the gateway is dead, in a route that stays (J3)', async () => {
    const first = modelOf(web, failover);
    await run(first, [west()]);
    const written = first.touched.flatMap(({ of: { kind }, after }) =>
      after === undefined ? [] : [{ ...after, kind }],
    );
    const model = modelWith([web, failover, ...(written as unknown as readonly ObjectRef[])]);
    const dead = west();
    const gateway = { ...dead.gateway!, alive: false };
    const { changes } = await run(model, [{ ...dead, gateway }]);
    expect(changes).toContain('change HTTPRoute web-80');
    const [route] = model.touched.flatMap(({ of: { kind }, after }) => (kind === 'HTTPRoute' ? [after] : []));
    expect(weightsOf(route)).toEqual({ 'web-west': 0, web: 1 });
  });

  test('leaves them with a Service that is derived from a ServiceImport on a flat network, whose slices do not name it (J3, K4, L237)', async () => {
    const labels = { 'linkspan.dev/service-import': 'web', 'multicluster.kubernetes.io/service-name': 'web' };
    const imported = [
      service('web-clusterset', { labels: { 'linkspan.dev/service-import': 'web' }, ports: PORTS }),
      {
        ...slice('web-clusterset.from-west-ipv4'),
        metadata: { name: 'web-clusterset.from-west-ipv4', namespace: 'shop', labels },
      },
    ];
    const toImported = {
      ...failover,
      spec: { service: 'web', backends: [{ service: 'web-clusterset' }, { service: 'web' }], holdDown: '0' },
    } as ObjectRef;
    const model = modelWith([web, toImported, ...imported]);
    await run(model, []);
    const [route] = model.touched.flatMap(({ of: { kind }, after }) => (kind === 'HTTPRoute' ? [after] : []));
    expect(weightsOf(route)).toEqual({ 'web-clusterset': 1, web: 0 });
  });

  test('counts the pods of a flat Service as the policy of its Link admits them (J3, N1)', async () => {
    const labels = { 'mirror.linkerd.io/exported': 'remote-discovery' };
    const spec = { probeSpec: undefined, importPolicy: { ports: ['80'] } };
    const read = readLink(link('west', spec, { creationTimestamp: '2026-01-01T00:00:00Z' }));
    if (!read.ok) throw new Error('the Link is invalid');
    const settings = read.value;
    const exports = [service('web', { labels, ports: PORTS, headless: true }), slice('web', { labels })];
    const flat = new ListedTarget(
      {
        services: of(exports, 'Service').map(stored<Service>),
        slices: of(exports, 'EndpointSlice').map(stored<EndpointSlice>),
        namespaces: undefined,
      },
      { gateway: settings.selector, flat: settings.remoteDiscoverySelector, readsFlatSlices: true },
    );
    const routed = async (each: ServedLink) => {
      const model = modelOf(web, failover);
      await run(model, [each], [], LINKED);
      const [route] = model.touched.flatMap(({ of: { kind }, after }) => (kind === 'HTTPRoute' ? [after] : []));
      return weightsOf(route);
    };
    const { importPolicy: _, ...open } = settings;
    const gateway = undefined;
    expect(await routed({ settings: open, target: flat, gateway })).toEqual({ 'web-west': 1, web: 0 });
    expect(await routed({ settings, target: flat, gateway })).toEqual({ 'web-west': 0, web: 1 });
  });

  test('says what stands in the way, and deletes the routes of one that is gone (J4)', async () => {
    const { findings } = await run(modelWithout(['HTTPRoute', 'TCPRoute'], web, failover), [west()]);
    expect(findings).toMatchObject([{ of: { kind: 'ServiceFailover' }, key: 'shop/web', reason: 'RouteKindMissing' }]);

    const first = modelOf(web, failover);
    await run(first, [west()]);
    const written = first.touched.flatMap(({ of: { kind }, after }) =>
      kind === 'HTTPRoute' && after ? [{ ...after, kind } as unknown as ObjectRef] : [],
    );
    const { changes } = await run(modelOf(web, ...written), []);
    expect(changes).toEqual(['delete HTTPRoute web-80']);
  });
});

/** The weight of each backend in the first rule of a route. */
const weightsOf = (route: KubeObject | undefined): object => {
  const { spec } = route as unknown as {
    readonly spec: { readonly rules: readonly { readonly backendRefs: readonly { name: string; weight: number }[] }[] };
  };
  return Object.fromEntries(spec.rules[0]!.backendRefs.map(({ name, weight }) => [name, weight]));
};
