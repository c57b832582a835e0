/** The steps that a forecast makes, each case as a value: what is there, and what would become of it. */
import { describe, expect, test } from 'vitest';
import { readLink, type LinkSettings } from '../../../crds/index.ts';
import { parseOperatorConfig } from '../../../operator/config/config.ts';
import {
  type FederationFacts,
  forecast,
  ListedTarget,
  ModelCluster,
  type ServedLink,
} from '../../../operator/forecast/index.ts';
import type { EndpointSlice, KubeObject, Service } from '../../../operator/kube/objects.ts';
import type { ObjectRef } from '../../cluster/workload/index.ts';
import { EXPORTED, link, namespace, service, slice, statefulSlice } from '../../support/builders.ts';
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

const modelOf = (...objects: readonly ObjectRef[]): ModelCluster =>
  new ModelCluster({
    namespace: config.namespace,
    objects: {
      namespaces: of([namespace('shop'), namespace(config.namespace), ...objects], 'Namespace').map(stored<KubeObject>),
      services: of(objects, 'Service').map(stored<Service>),
      endpoints: of(objects, 'Endpoints').map(stored<KubeObject>),
      slices: [],
    },
    findEndpoints: () => Promise.resolve(undefined),
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
  isDiscoverable: () => undefined,
};

const run = async (
  model: ModelCluster,
  serve: readonly ServedLink[],
  remove: readonly string[] = [],
  federation: FederationFacts = NOT_FEDERATED,
) => {
  const left = remove.map((cluster) => ({ cluster, link: cluster }));
  const { changes, links } = await forecast({ config, model, serve, remove: left, federation });
  const shown = changes.map(({ of: { kind }, before, after }) => {
    const what = before === undefined ? 'create' : after === undefined ? 'delete' : 'change';
    const isNew = before !== undefined && after !== undefined && before.metadata.uid !== after.metadata.uid;
    return `${isNew ? 'replace' : what} ${kind} ${(after ?? before)?.metadata.name ?? ''}`;
  });
  return { changes: shown.sort(), links };
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
});
