/**
 * Holds the simulated API server to the real one: every expectation here is what kube-apiserver does, and runs on both.
 * Whatever the operator relies on belongs here; where the two differ, the simulation is wrong.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestCluster, startCluster } from '../index.ts';
import { onEachBacking } from '../on-each-backing.ts';
import {
  type Answer,
  type Api,
  type Kubelet,
  type ObjectRef,
  READY_ANNOTATION,
  type WatchEvent,
  api,
  eventually,
  installCrd,
  startKubelet,
} from '../workload/index.ts';

interface Status {
  readonly kind: string;
  readonly reason?: string;
  readonly message: string;
  readonly code: number;
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly group?: string;
    readonly causes?: readonly { readonly reason: string; readonly message: string; readonly field?: string }[];
    readonly retryAfterSeconds?: number;
  };
  readonly metadata: { readonly continue?: string };
}

/** Anything the server answers with; tests name the fields they read. */
interface Any {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly managedFields?: readonly {
      readonly manager: string;
      readonly operation: string;
      readonly subresource?: string;
      readonly fieldsV1: unknown;
    }[];
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
  readonly items: readonly Any[];
}

const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';

const bob = { name: 'bob', groups: ['readers'], token: 'bob-token' };

const widgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.linkspan.test' },
  spec: {
    group: 'linkspan.test',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: false,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
        subresources: { status: {} },
      },
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1 },
                  colour: { type: 'string', enum: ['red', 'green'] },
                  code: { type: 'string', pattern: '^[a-z]+$' },
                  unit: { type: 'string', default: 'mm' },
                  tags: { type: 'object', additionalProperties: { type: 'string' } },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
              status: {
                type: 'object',
                properties: {
                  phase: { type: 'string' },
                  conditions: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                    items: {
                      type: 'object',
                      required: ['type'],
                      properties: { type: { type: 'string' }, status: { type: 'string' } },
                    },
                  },
                },
              },
            },
          },
        },
        subresources: { status: {} },
      },
    ],
  },
};

onEachBacking('the API server', (backing) => {
  let cluster: TestCluster;
  let client: Api;
  let namespace: string;
  let counter = 0;

  beforeAll(async () => {
    cluster = await startCluster({ name: 'conformance', backing, controllers: ['namespace-controller'], users: [bob] });
    client = api(cluster, { userAgent: 'conformance/1.0' });
    namespace = `c-${randomUUID().slice(0, 8)}`;
    expect((await client.request('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } })).code).toBe(
      201,
    );
    await installCrd(cluster, widgets);
  });

  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });

  const unique = (prefix = 'x'): string => `${prefix}-${++counter}`;
  const core = (plural: string, name?: string): string =>
    `/api/v1/namespaces/${namespace}/${plural}${name === undefined ? '' : `/${name}`}`;
  const group = (groupVersion: string, plural: string, name?: string): string =>
    `/apis/${groupVersion}/namespaces/${namespace}/${plural}${name === undefined ? '' : `/${name}`}`;
  const get = async (path: string): Promise<Any> => (await client.request<Any>('GET', path)).body;
  const post = <T = Any>(path: string, body: object, query = {}): Promise<Answer<T>> =>
    client.request<T>('POST', path, { body, query });
  const put = <T = Any>(path: string, body: object, query = {}): Promise<Answer<T>> =>
    client.request<T>('PUT', path, { body, query });
  const patch = <T = Any>(path: string, body: object, contentType = MERGE, query = {}): Promise<Answer<T>> =>
    client.request<T>('PATCH', path, { body, contentType, query });
  const remove = <T = Status>(path: string, body: object = {}): Promise<Answer<T>> =>
    client.request<T>('DELETE', path, { body: { kind: 'DeleteOptions', apiVersion: 'v1', ...body } });
  const apply = <T = Any>(path: string, body: object, fieldManager = 'one', force = false): Promise<Answer<T>> =>
    client.request<T>('PATCH', path, { body, contentType: APPLY, query: { fieldManager, force } });

  const configMap = (name: string, data: object, metadata: object = {}): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, ...metadata },
    data,
  });
  const service = (name: string, spec: object = {}, metadata: object = {}): object => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, ...metadata },
    spec: { ports: [{ name: 'http', port: 80 }], ...spec },
  });
  const widget = (name: string, spec: object, more: object = {}, version = 'v1'): object => ({
    apiVersion: `linkspan.test/${version}`,
    kind: 'Widget',
    metadata: { name, namespace },
    spec,
    ...more,
  });
  const owners = ({ metadata }: Any): readonly string[] =>
    (metadata.managedFields ?? []).map(({ manager, operation, subresource }) =>
      [manager, operation, ...(subresource === undefined ? [] : [subresource])].join('/'),
    );
  const fieldsOf = ({ metadata }: Any, manager: string): unknown =>
    metadata.managedFields?.find((entry) => entry.manager === manager)?.fieldsV1;

  /** Collects the events of a watch until `count` have come. */
  const watch = async (
    path: { readonly kind: string; readonly labelSelector?: string },
    query: Record<string, string | number | boolean>,
    count: number,
    during: () => Promise<unknown> = async () => undefined,
  ): Promise<readonly WatchEvent<Any & Status>[]> => {
    const controller = new AbortController();
    const events: WatchEvent<Any & Status>[] = [];
    const reading = (async () => {
      for await (const event of client.watch<Any & Status>(
        { apiVersion: 'v1', namespace, ...path },
        query,
        controller.signal,
      )) {
        events.push(event);
        if (events.length === count) break;
      }
    })();
    await during();
    await Promise.race([reading, eventually('the events of the watch', async () => events.length >= count, 10_000)]);
    controller.abort();
    await reading.catch(() => undefined);
    return events;
  };
  const seen = (events: readonly WatchEvent<Any>[]): readonly string[] =>
    events.map(({ type, object }) => `${type} ${object.metadata.name}`);
  const versionNow = async (): Promise<string> => (await get(core('configmaps'))).metadata.resourceVersion;

  // Server-side apply

  it('creates by apply what does not exist, with the applier as the only owner', async () => {
    const name = unique();
    const { code, body } = await apply(core('configmaps', name), configMap(name, { a: '1' }));
    expect(code).toBe(201);
    expect(owners(body)).toEqual(['one/Apply']);
    expect(fieldsOf(body, 'one')).toEqual({ 'f:data': { 'f:a': {} } });
  });

  it('creates by apply with resourceVersion "1", and refuses that when the object exists', async () => {
    const name = unique();
    const body = configMap(name, { a: '1' }, { resourceVersion: '1' });
    expect((await apply(core('configmaps', name), body)).code).toBe(201);
    const again = await apply<Status>(core('configmaps', name), body);
    expect(again).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
    expect(again.body.message).toBe(
      `Operation cannot be fulfilled on configmaps "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    );
  });

  it('does not guard a create by apply with resourceVersion "0"', async () => {
    const name = unique();
    await apply(core('configmaps', name), configMap(name, { a: '1' }));
    expect((await apply(core('configmaps', name), configMap(name, { a: '2' }, { resourceVersion: '0' }))).code).toBe(
      200,
    );
  });

  it('refuses to create by apply an object with a uid', async () => {
    const name = unique();
    const { code, body } = await apply<Status>(core('configmaps', name), configMap(name, {}, { uid: randomUUID() }));
    expect({ code, reason: body.reason }).toEqual({ code: 409, reason: 'Conflict' });
    expect(body.message).toContain('uid mismatch: the provided object specified uid');
  });

  it('refuses an apply with the uid of another object', async () => {
    const name = unique();
    const { body: live } = await apply(core('configmaps', name), configMap(name, { a: '1' }));
    const wrong = await apply<Status>(core('configmaps', name), configMap(name, { a: '2' }, { uid: randomUUID() }));
    expect({ code: wrong.code, reason: wrong.body.reason }).toEqual({ code: 422, reason: 'Invalid' });
    expect(wrong.body.details?.causes?.[0]?.field).toBe('metadata.uid');
    const { uid, resourceVersion } = live.metadata;
    expect((await apply(core('configmaps', name), configMap(name, { a: '2' }, { uid, resourceVersion }))).code).toBe(
      200,
    );
    expect((await apply(core('configmaps', name), configMap(name, { a: '3' }, { uid, resourceVersion }))).code).toBe(
      409,
    );
  });

  it('removes by apply what the manager no longer applies and nobody else owns', async () => {
    const name = unique();
    await apply(core('configmaps', name), configMap(name, { a: '1', b: '1' }, { labels: { x: '1' } }));
    const { body } = await apply(core('configmaps', name), configMap(name, { b: '1' }));
    expect(body.data).toEqual({ b: '1' });
    expect(body.metadata.labels).toBeUndefined();
  });

  it('keeps by apply what another manager owns too', async () => {
    const name = unique();
    await apply(core('configmaps', name), configMap(name, { a: '1', b: '1' }), 'one');
    const { body: shared } = await apply(core('configmaps', name), configMap(name, { a: '1' }), 'two');
    expect(owners(shared).toSorted()).toEqual(['one/Apply', 'two/Apply']);
    const { body } = await apply(core('configmaps', name), configMap(name, {}), 'one');
    expect(body.data).toEqual({ a: '1' });
    expect(fieldsOf(body, 'two')).toEqual({ 'f:data': { 'f:a': {} } });
  });

  it('refuses an apply that changes fields of another manager, naming each, unless forced', async () => {
    const name = unique();
    await apply(core('configmaps', name), configMap(name, { a: '1', b: '1' }), 'one');
    const { code, body } = await apply<Status>(core('configmaps', name), configMap(name, { a: '2', b: '2' }), 'two');
    expect({ code, reason: body.reason }).toEqual({ code: 409, reason: 'Conflict' });
    expect(body.message).toBe('Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\n- .data.b');
    expect(body.details?.causes).toEqual([
      { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' },
      { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.b' },
    ]);
    const single = await apply<Status>(core('configmaps', name), configMap(name, { a: '2' }), 'two');
    expect(single.body.message).toBe('Apply failed with 1 conflict: conflict with "one": .data.a');
    const forced = await apply(core('configmaps', name), configMap(name, { a: '2' }), 'two', true);
    expect(forced.body.data).toEqual({ a: '2', b: '1' });
    expect(fieldsOf(forced.body, 'one')).toEqual({ 'f:data': { 'f:b': {} } });
  });

  it('does not write when an apply changes nothing', async () => {
    const name = unique();
    const { body: first } = await apply(core('services', name), service(name));
    const { body: second } = await apply(core('services', name), service(name));
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(second).toEqual(first);
  });

  it('merges the ports of a Service by port and protocol under apply', async () => {
    const name = unique();
    const ports = [
      { name: 'http', port: 80 },
      { name: 'admin', port: 81, targetPort: 'adm' },
    ];
    await apply(core('services', name), service(name, { ports }));
    const { body } = await apply(
      core('services', name),
      service(name, { ports: [{ name: 'web', port: 80, protocol: 'TCP' }] }),
    );
    expect(body.spec.ports).toEqual([{ name: 'web', port: 80, protocol: 'TCP', targetPort: 80 }]);
    expect(fieldsOf(body, 'one')).toEqual({
      'f:spec': {
        'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:name': {}, 'f:port': {}, 'f:protocol': {} } },
      },
    });
  });

  it('removes by apply an item of a keyed list that nobody else owns, with what others own inside it', async () => {
    const name = unique();
    const ports = [
      { name: 'http', port: 80 },
      { name: 'admin', port: 81 },
    ];
    await apply(core('services', name), service(name, { ports }));
    const inside = { spec: { ports: [ports[0], { ...ports[1], appProtocol: 'http' }] } };
    await patch(core('services', name), inside, MERGE, { fieldManager: 'two' });
    const { body } = await apply(core('services', name), service(name, { ports: ports.slice(0, 1) }));
    expect(body.spec.ports).toEqual([{ name: 'http', port: 80, protocol: 'TCP', targetPort: 80 }]);
  });

  it('keeps what only others have in its place, and stands the rest in the order applied', async () => {
    const name = unique();
    const port = (number: number): object => ({ name: `p${number}`, port: number });
    await apply(core('services', name), service(name, { ports: [81, 82, 80].map(port) }), 'one');
    const { body } = await apply(core('services', name), service(name, { ports: [80, 81].map(port) }), 'two');
    expect((body.spec.ports as { port: number }[]).map(({ port: number }) => number)).toEqual([82, 80, 81]);
  });

  it('leaves behind, under apply, what a create under the same manager name owns', async () => {
    const name = unique();
    await post(core('services', name).replace(`/${name}`, ''), service(name, {}, { labels: { a: '1', b: '1' } }), {
      fieldManager: 'one',
    });
    const { body } = await apply(core('services', name), service(name, {}, { labels: { a: '1' } }), 'one', true);
    expect(body.metadata.labels).toEqual({ a: '1', b: '1' });
    expect(owners(body)).toEqual(['one/Apply', 'one/Update']);
  });

  it('records what a create sets, defaults included, under the user agent', async () => {
    const name = unique();
    const { body } = await post(core('services'), service(name, { selector: { app: 'x' } }, { labels: { a: '1' } }));
    expect(owners(body)).toEqual(['conformance/Update']);
    expect(fieldsOf(body, 'conformance')).toEqual({
      'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
      'f:spec': {
        'f:internalTrafficPolicy': {},
        'f:ports': {
          '.': {},
          'k:{"port":80,"protocol":"TCP"}': {
            '.': {},
            'f:name': {},
            'f:port': {},
            'f:protocol': {},
            'f:targetPort': {},
          },
        },
        'f:selector': {},
        'f:sessionAffinity': {},
        'f:type': {},
      },
    });
  });

  it('moves ownership to who changes a field, and takes it from who loses it', async () => {
    const name = unique();
    await apply(core('configmaps', name), configMap(name, { a: '1', b: '1' }, { labels: { x: '1' } }), 'one');
    const { body } = await patch(core('configmaps', name), { data: { a: '2', b: null, c: '3' } }, MERGE, {
      fieldManager: 'editor',
    });
    expect(fieldsOf(body, 'one')).toEqual({ 'f:metadata': { 'f:labels': { 'f:x': {} } } });
    expect(fieldsOf(body, 'editor')).toEqual({ 'f:data': { 'f:a': {}, 'f:c': {} } });
  });

  it('owns the subsets of Endpoints as a whole', async () => {
    const name = unique();
    const endpoints = (...ips: string[]): object => ({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name, namespace },
      subsets: [{ addresses: ips.map((ip) => ({ ip })), ports: [{ name: 'http', port: 4143 }] }],
    });
    const { body } = await apply(core('endpoints', name), endpoints('192.0.2.1', '192.0.2.2'));
    expect(fieldsOf(body, 'one')).toEqual({ 'f:subsets': {} });
    const { body: changed } = await apply<Any & { subsets: object }>(core('endpoints', name), endpoints('192.0.2.3'));
    expect(changed.subsets).toEqual([
      { addresses: [{ ip: '192.0.2.3' }], ports: [{ name: 'http', port: 4143, protocol: 'TCP' }] },
    ]);
    const { resourceVersion: _, ...bare } = { resourceVersion: '' };
    const { body: emptied } = await apply<Any & { subsets?: object }>(core('endpoints', name), {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name, namespace, ...bare },
    });
    expect(emptied.subsets).toBeUndefined();
  });

  it('clears the record of owners on request, and takes an object without one as owned by before-first-apply', async () => {
    const name = unique();
    await apply(core('configmaps', name), configMap(name, { a: '1' }));
    const cleared = await patch(core('configmaps', name), { metadata: { managedFields: [{}] } });
    expect(cleared.body.metadata.managedFields).toBeUndefined();
    const conflict = await apply<Status>(core('configmaps', name), configMap(name, { a: '2' }));
    expect(conflict.body.message).toContain('conflict with "before-first-apply" using v1');
    const { body } = await apply(core('configmaps', name), configMap(name, { a: '2' }), 'one', true);
    expect(owners(body)).toEqual(['one/Apply', 'before-first-apply/Update']);
  });

  it('lets a client drop one owner from the record', async () => {
    const name = unique();
    await post(core('configmaps'), configMap(name, { a: '1' }), { fieldManager: 'old' });
    const { body: both } = await apply(core('configmaps', name), configMap(name, { a: '1' }), 'one');
    const kept = both.metadata.managedFields?.filter(({ manager }) => manager !== 'old');
    const { body } = await patch(core('configmaps', name), { metadata: { managedFields: kept } });
    expect(owners(body)).toEqual(['one/Apply']);
    expect((await apply(core('configmaps', name), configMap(name, {}), 'one')).body.data).toBeUndefined();
  });

  it('requires a field manager for apply, and refuses managedFields in what is applied', async () => {
    const name = unique();
    const unnamed = await patch<Status>(core('configmaps', name), configMap(name, {}), APPLY);
    expect(unnamed).toMatchObject({ code: 422, body: { reason: 'Invalid' } });
    const recorded = await apply<Status>(
      core('configmaps', name),
      configMap(name, {}, { managedFields: [{ manager: 'x' }] }),
    );
    expect(recorded).toMatchObject({ code: 400, body: { message: 'metadata.managedFields must be nil' } });
  });

  // Create, replace, patch

  it('names an object from generateName', async () => {
    const { code, body } = await post(core('configmaps'), { metadata: { generateName: 'gen-' } });
    expect(code).toBe(201);
    expect(body.metadata.name).toMatch(/^gen-[a-z0-9]{5}$/);
  });

  it('refuses to create what exists, and to read, replace, patch or delete what does not', async () => {
    const name = unique();
    await post(core('configmaps'), configMap(name, {}));
    const twice = await post<Status>(core('configmaps'), configMap(name, {}));
    expect(twice).toMatchObject({
      code: 409,
      body: { reason: 'AlreadyExists', message: `configmaps "${name}" already exists` },
    });
    expect(twice.body.details).toEqual({ name, kind: 'configmaps' });
    const gone = unique('gone');
    const refusals = [
      await client.request<Status>('GET', core('configmaps', gone)),
      await put<Status>(core('configmaps', gone), configMap(gone, {})),
      await patch<Status>(core('configmaps', gone), { data: {} }),
      await remove(core('configmaps', gone)),
    ];
    for (const { code, body } of refusals) {
      expect(code).toBe(404);
      expect(body).toMatchObject({
        kind: 'Status',
        reason: 'NotFound',
        message: `configmaps "${gone}" not found`,
        details: { name: gone, kind: 'configmaps' },
      });
    }
  });

  it('refuses to create in a namespace that does not exist', async () => {
    const { code, body } = await post<Status>('/api/v1/namespaces/nowhere/configmaps', { metadata: { name: 'x' } });
    expect({ code, message: body.message }).toEqual({ code: 404, message: 'namespaces "nowhere" not found' });
    expect(body.details).toEqual({ name: 'nowhere', kind: 'namespaces' });
    const applied = await client.request<Status>('PATCH', '/api/v1/namespaces/nowhere/services/x', {
      body: { ...service('x'), metadata: { name: 'x' } },
      contentType: APPLY,
      query: { fieldManager: 'one' },
    });
    expect(applied).toMatchObject({ code: 404, body: { message: 'namespaces "nowhere" not found' } });
  });

  it('refuses to replace from a stale resourceVersion', async () => {
    const name = unique();
    const { body: first } = await post(core('configmaps'), configMap(name, { a: '1' }));
    await put(core('configmaps', name), { ...first, data: { a: '2' } });
    const stale = await put<Status>(core('configmaps', name), { ...first, data: { a: '3' } });
    expect(stale).toMatchObject({ code: 409, body: { reason: 'Conflict', details: { name, kind: 'configmaps' } } });
    expect(stale.body.message).toBe(
      `Operation cannot be fulfilled on configmaps "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    );
    expect((await put(core('configmaps', name), configMap(name, { a: '4' }))).body.data).toEqual({ a: '4' });
  });

  it('refuses to replace another object than the one meant', async () => {
    const name = unique();
    const { body } = await post(core('configmaps'), configMap(name, {}));
    const renamed = await put<Status>(core('configmaps', name), configMap('other', {}));
    expect(renamed).toMatchObject({ code: 400, body: { reason: 'BadRequest' } });
    const other = await put<Status>(core('configmaps', name), {
      ...body,
      metadata: { ...body.metadata, uid: randomUUID() },
    });
    expect(other).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
    expect(other.body.message).toContain('Precondition failed: UID in precondition:');
  });

  it('does not write when a replace or a patch changes nothing', async () => {
    const name = unique();
    const { body } = await post(core('configmaps'), configMap(name, { a: '1' }));
    expect((await put(core('configmaps', name), body)).body).toEqual(body);
    expect((await patch(core('configmaps', name), { data: { a: '1' } })).body).toEqual(body);
  });

  it('patches by JSON patch, merge patch and strategic merge patch', async () => {
    const name = unique();
    await post(core('services'), service(name, {}, { labels: { a: '1' } }));
    const byJson = await patch(
      core('services', name),
      [{ op: 'add', path: '/metadata/labels/b~1c', value: '2' }],
      JSON_PATCH,
    );
    expect(byJson.body.metadata.labels).toEqual({ a: '1', 'b/c': '2' });
    const byMerge = await patch(core('services', name), { metadata: { labels: { a: null, d: '3' } } });
    expect(byMerge.body.metadata.labels).toEqual({ 'b/c': '2', d: '3' });
    const byStrategy = await patch(
      core('services', name),
      { spec: { ports: [{ name: 'more', port: 81 }] } },
      STRATEGIC,
    );
    expect((byStrategy.body.spec.ports as { port: number }[]).map(({ port }) => port).sort()).toEqual([80, 81]);
    const failed = await patch<Status>(
      core('services', name),
      [{ op: 'test', path: '/metadata/name', value: 'no' }],
      JSON_PATCH,
    );
    expect(failed).toMatchObject({ code: 422, body: { reason: 'Invalid' } });
    const missing = await patch<Status>(core('services', name), [{ op: 'remove', path: '/spec/nothing' }], JSON_PATCH);
    expect(missing).toMatchObject({ code: 422, body: { reason: 'Invalid' } });
    const stale = await patch<Status>(core('services', name), {
      metadata: { resourceVersion: '1', labels: { x: 'y' } },
    });
    expect(stale).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
  });

  it('refuses a patch of an unknown type', async () => {
    const name = unique();
    await post(core('configmaps'), configMap(name, {}));
    const refused = await patch<Status>(core('configmaps', name), {}, 'application/json');
    expect(refused).toMatchObject({ code: 415, body: { reason: 'UnsupportedMediaType' } });
  });

  it('stores nothing on a dry run', async () => {
    const name = unique();
    expect((await post(core('services'), service(name), { dryRun: 'All' })).code).toBe(201);
    expect((await client.request('GET', core('services', name))).code).toBe(404);
  });

  // Delete

  it('deletes only the object that the preconditions mean', async () => {
    const name = unique();
    const { body } = await post(core('configmaps'), configMap(name, {}));
    const wrong = randomUUID();
    const otherUid = await remove(core('configmaps', name), { preconditions: { uid: wrong } });
    expect(otherUid).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
    expect(otherUid.body.message).toContain(
      `the UID in the precondition (${wrong}) does not match the UID in record (${body.metadata.uid})`,
    );
    const otherVersion = await remove(core('configmaps', name), { preconditions: { resourceVersion: '1' } });
    expect(otherVersion).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
    expect(otherVersion.body.message).toContain(
      'the ResourceVersion in the precondition (1) does not match the ResourceVersion in record',
    );
    const { uid, resourceVersion } = body.metadata;
    const done = await remove(core('configmaps', name), { preconditions: { uid, resourceVersion } });
    expect(done.body).toMatchObject({ kind: 'Status', status: 'Success', details: { name, kind: 'configmaps', uid } });
  });

  it('answers the deletion of a Service with the Service', async () => {
    const name = unique();
    await post(core('services'), service(name));
    expect((await remove<Any>(core('services', name))).body).toMatchObject({ kind: 'Service', metadata: { name } });
  });

  it('holds a deleted object until its finalizers are gone', async () => {
    const name = unique();
    await post(core('configmaps'), configMap(name, {}, { finalizers: ['linkspan.test/hold'] }));
    const { code, body } = await remove<Any>(core('configmaps', name));
    expect({ code, kind: body.kind }).toEqual({ code: 200, kind: 'ConfigMap' });
    expect(body.metadata.deletionTimestamp).toBeDefined();
    expect((await get(core('configmaps', name))).metadata.deletionTimestamp).toBeDefined();
    expect((await patch(core('configmaps', name), { metadata: { finalizers: null } })).code).toBe(200);
    expect((await client.request('GET', core('configmaps', name))).code).toBe(404);
  });

  it('deletes a collection by selector', async () => {
    const label = unique('batch');
    for (const name of [unique(), unique()])
      await post(core('configmaps'), configMap(name, {}, { labels: { batch: label } }));
    const { code } = await client.request('DELETE', core('configmaps'), { query: { labelSelector: `batch=${label}` } });
    expect(code).toBe(200);
    const { items } = (
      await client.request<Any>('GET', core('configmaps'), { query: { labelSelector: `batch=${label}` } })
    ).body;
    expect(items).toEqual([]);
  });

  it('empties a namespace that is deleted, and refuses new content meanwhile', async () => {
    const name = unique('ns');
    await post('/api/v1/namespaces', { metadata: { name } });
    const path = `/api/v1/namespaces/${name}/configmaps`;
    await post(path, { metadata: { name: 'held', finalizers: ['linkspan.test/hold'] } });
    await remove(`/api/v1/namespaces/${name}`);
    const refused = await post<Status>(path, { metadata: { name: 'late' } });
    expect(refused).toMatchObject({ code: 403, body: { reason: 'Forbidden' } });
    expect(refused.body.message).toBe(
      `configmaps "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
    );
    expect(refused.body.details?.causes?.[0]).toMatchObject({
      reason: 'NamespaceTerminating',
      field: 'metadata.namespace',
    });
    await eventually(
      'the content is being deleted',
      async () => (await get(`${path}/held`)).metadata.deletionTimestamp !== undefined,
    );
    await patch(`${path}/held`, { metadata: { finalizers: null } });
    await eventually(
      'the namespace is gone',
      async () => (await client.request('GET', `/api/v1/namespaces/${name}`)).code === 404,
      40_000,
    );
  });

  it('labels a namespace with its name', async () => {
    expect((await get(`/api/v1/namespaces/${namespace}`)).metadata.labels).toEqual({
      'kubernetes.io/metadata.name': namespace,
    });
  });

  // Services and endpoints

  it('completes a Service: cluster IP, families, policies, target ports', async () => {
    const name = unique();
    const { body } = await post(core('services'), service(name));
    const { clusterIP } = body.spec;
    expect(clusterIP).toMatch(/^10\.96\./);
    expect(body.spec).toEqual({
      clusterIP,
      clusterIPs: [clusterIP],
      internalTrafficPolicy: 'Cluster',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 80 }],
      sessionAffinity: 'None',
      type: 'ClusterIP',
    });
    expect(body.status).toEqual({ loadBalancer: {} });
    expect(body.metadata.generation).toBeUndefined();
  });

  it('completes a headless Service, with a selector and without', async () => {
    const [selecting, bare] = [unique(), unique()];
    const { body } = await post(core('services'), service(selecting, { clusterIP: 'None', selector: { a: 'b' } }));
    expect(body.spec).toMatchObject({ clusterIPs: ['None'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });
    const { body: other } = await post(core('services'), service(bare, { clusterIP: 'None' }));
    expect(other.spec).toMatchObject({
      clusterIPs: ['None'],
      ipFamilies: ['IPv4', 'IPv6'],
      ipFamilyPolicy: 'RequireDualStack',
    });
  });

  it('gives a load balancer its node ports', async () => {
    const name = unique();
    const { body } = await post(core('services'), service(name, { type: 'LoadBalancer' }));
    expect(body.spec).toMatchObject({
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Cluster',
      allocateLoadBalancerNodePorts: true,
    });
    expect((body.spec.ports as { nodePort: number }[])[0]!.nodePort).toBeGreaterThanOrEqual(30_000);
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } };
    const { body: ready } = await patch(`${core('services', name)}/status`, { status });
    expect(ready.status).toMatchObject({ loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } });
  });

  it('keeps the cluster IP of a Service that is replaced without one', async () => {
    const name = unique();
    const { body } = await post(core('services'), service(name));
    const { body: replaced } = await put(core('services', name), service(name, { ports: [{ port: 81 }] }));
    expect(replaced.spec.clusterIP).toBe(body.spec.clusterIP);
  });

  it('refuses to change a cluster IP', async () => {
    const name = unique();
    await post(core('services'), service(name));
    const { code, body } = await patch<Status>(core('services', name), { spec: { clusterIP: 'None' } });
    expect({ code, reason: body.reason }).toEqual({ code: 422, reason: 'Invalid' });
    expect(body.message).toContain(`Service "${name}" is invalid: `);
    expect(body.message).toContain('spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set');
    const applied = await apply<Status>(core('services', name), service(name, { clusterIP: 'None' }), 'one', true);
    expect(applied.code).toBe(422);
  });

  it('refuses an invalid Service, naming each field', async () => {
    const refusal = async (name: string, spec: object, metadata: object = {}): Promise<readonly string[]> => {
      const { code, body } = await post<Status>(core('services'), service(name, spec, metadata));
      expect({ code, reason: body.reason, kind: body.details?.kind }).toEqual({
        code: 422,
        reason: 'Invalid',
        kind: 'Service',
      });
      expect(body.message).toMatch(new RegExp(`^Service "${name}" is invalid: `));
      return (body.details?.causes ?? []).map(
        ({ reason, field, message }) => `${reason} ${field ?? ''} ${message.slice(0, 44)}`,
      );
    };
    const long = 'a'.repeat(64);
    expect(await refusal(long, {})).toEqual([
      'FieldValueInvalid metadata.name Invalid value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    ]);
    expect(await refusal('Upper', {})).toEqual([
      'FieldValueInvalid metadata.name Invalid value: "Upper": a lowercase RFC 1123',
    ]);
    expect(await refusal('no-ports', { ports: [] })).toEqual(['FieldValueRequired spec.ports Required value']);
    expect(await refusal('unnamed', { ports: [{ port: 80 }, { port: 81 }] })).toEqual([
      'FieldValueRequired spec.ports[0].name Required value',
      'FieldValueRequired spec.ports[1].name Required value',
    ]);
    expect(
      await refusal('same-name', {
        ports: [
          { name: 'a', port: 80 },
          { name: 'a', port: 81 },
        ],
      }),
    ).toEqual(['FieldValueDuplicate spec.ports[1].name Duplicate value: "a"']);
    expect(
      await refusal('same-port', {
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 80 },
        ],
      }),
    ).toEqual(['FieldValueDuplicate spec.ports[1] Duplicate value: {"Name":"","Protocol":"TCP"']);
    expect(await refusal('bad-port', { ports: [{ port: 70_000 }] })).toContain(
      'FieldValueInvalid spec.ports[0].port Invalid value: 70000: must be between 1 and ',
    );
    expect(await refusal('bad-protocol', { ports: [{ port: 80, protocol: 'FOO' }] })).toEqual([
      'FieldValueNotSupported spec.ports[0].protocol Unsupported value: "FOO": supported values: ',
    ]);
    expect(await refusal('bad-label', {}, { labels: { 'a b': 'x' } })).toEqual([
      'FieldValueInvalid metadata.labels Invalid value: "a b": name part must consist',
    ]);
    expect(await refusal('no-name', { type: 'ExternalName' })).toEqual([
      'FieldValueRequired spec.externalName Required value',
    ]);
  });

  it('takes a Service without ports if it is headless or external', async () => {
    expect((await post(core('services'), service(unique(), { ports: [], clusterIP: 'None' }))).code).toBe(201);
    expect(
      (await post(core('services'), service(unique(), { ports: [], type: 'ExternalName', externalName: 'x.example' })))
        .code,
    ).toBe(201);
  });

  it('refuses loopback and link-local addresses in Endpoints and EndpointSlices', async () => {
    for (const ip of ['127.0.0.1', '169.254.1.1', 'nonsense']) {
      const endpoints = { metadata: { name: unique() }, subsets: [{ addresses: [{ ip }], ports: [{ port: 80 }] }] };
      const first = await post<Status>(core('endpoints'), endpoints);
      expect(first).toMatchObject({ code: 422, body: { reason: 'Invalid' } });
      expect(first.body.details?.causes?.[0]?.field).toBe('subsets[0].addresses[0].ip');
      const slice = { metadata: { name: unique() }, addressType: 'IPv4', endpoints: [{ addresses: [ip] }], ports: [] };
      const second = await post<Status>(group('discovery.k8s.io/v1', 'endpointslices'), slice);
      expect(second).toMatchObject({ code: 422, body: { reason: 'Invalid' } });
      expect(second.body.details?.causes?.[0]?.field).toBe('endpoints[0].addresses[0]');
    }
  });

  it('keeps the order of the addresses of Endpoints', async () => {
    const name = unique();
    const subsets = [
      { addresses: [{ ip: '192.0.2.9' }, { ip: '192.0.2.1' }], ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
    ];
    const { body } = await post<Any & { subsets: typeof subsets }>(core('endpoints'), { metadata: { name }, subsets });
    expect(body.subsets[0]!.addresses).toEqual([{ ip: '192.0.2.9' }, { ip: '192.0.2.1' }]);
  });

  it('counts generations of an EndpointSlice, and of a custom resource without its status', async () => {
    const name = unique();
    const path = group('discovery.k8s.io/v1', 'endpointslices');
    const { body } = await post(path, {
      metadata: { name },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.1'] }],
    });
    expect(body.metadata.generation).toBe(1);
    const { body: changed } = await patch(`${path}/${name}`, { endpoints: [{ addresses: ['192.0.2.2'] }] });
    expect(changed.metadata.generation).toBe(2);
    const { body: labelled } = await patch(`${path}/${name}`, { metadata: { labels: { a: 'b' } } });
    expect(labelled.metadata.generation).toBe(3);
    const { body: annotated } = await patch(`${path}/${name}`, { metadata: { annotations: { a: 'b' } } });
    expect(annotated.metadata.generation).toBe(3);
    const custom = group('linkspan.test/v1', 'widgets', name);
    const { body: made } = await apply(custom, widget(name, { size: 1 }));
    expect(made.metadata.generation).toBe(1);
    expect((await patch(custom, { metadata: { labels: { a: 'b' } } })).body.metadata.generation).toBe(1);
    expect((await patch(`${custom}/status`, { status: { phase: 'x' } })).body.metadata.generation).toBe(1);
    expect((await patch(custom, { spec: { size: 2 } })).body.metadata.generation).toBe(2);
  });

  // Watch

  it('watches from a list: additions, changes and deletions in order', async () => {
    const [a, b] = [unique('w'), unique('w')];
    const resourceVersion = await versionNow();
    const events = await watch({ kind: 'ConfigMap' }, { resourceVersion }, 4, async () => {
      await post(core('configmaps'), configMap(a, {}));
      await post(core('configmaps'), configMap(b, {}));
      await patch(core('configmaps', a), { data: { x: 'y' } });
      await remove(core('configmaps', a));
    });
    expect(seen(events)).toEqual([`ADDED ${a}`, `ADDED ${b}`, `MODIFIED ${a}`, `DELETED ${a}`]);
    const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).toEqual(versions.toSorted((x, y) => x - y));
    expect(new Set(versions).size).toBe(4);
    const replayed = await watch({ kind: 'ConfigMap' }, { resourceVersion: String(versions[1]) }, 2);
    expect(seen(replayed)).toEqual([`MODIFIED ${a}`, `DELETED ${a}`]);
  });

  it('begins a watch without a version with what is there', async () => {
    const name = unique('only');
    await post(core('configmaps'), configMap(name, {}, { labels: { only: name } }));
    const events = await watch({ kind: 'ConfigMap', labelSelector: `only=${name}` }, {}, 1);
    expect(seen(events)).toEqual([`ADDED ${name}`]);
  });

  it('shows objects that enter and leave a selector as added and deleted', async () => {
    const name = unique('sel');
    const resourceVersion = await versionNow();
    const events = await watch({ kind: 'ConfigMap', labelSelector: `on=${name}` }, { resourceVersion }, 4, async () => {
      await post(core('configmaps'), configMap(name, {}));
      await patch(core('configmaps', name), { metadata: { labels: { on: name } } });
      await patch(core('configmaps', name), { data: { a: 'b' } });
      await patch(core('configmaps', name), { metadata: { labels: { on: 'not' } } });
      await remove(core('configmaps', name));
      await post(core('configmaps'), configMap(name, {}, { labels: { on: name } }));
    });
    expect(seen(events)).toEqual([`ADDED ${name}`, `MODIFIED ${name}`, `DELETED ${name}`, `ADDED ${name}`]);
    const left = events[2]!.object;
    expect(left.metadata.labels).toEqual({ on: name });
    expect(Number(left.metadata.resourceVersion)).toBeGreaterThan(Number(events[1]!.object.metadata.resourceVersion));
  });

  it('ends a watch after its timeout', async () => {
    const resourceVersion = await versionNow();
    const controller = new AbortController();
    const started = performance.now();
    for await (const event of client.watch(
      { apiVersion: 'v1', kind: 'ConfigMap', namespace },
      { resourceVersion, timeoutSeconds: 1 },
      controller.signal,
    )) {
      expect.unreachable(event.type);
    }
    expect(performance.now() - started).toBeGreaterThan(900);
  });

  it('keeps a watch from a version to come silent until it comes', async () => {
    const name = unique('future');
    const resourceVersion = String(Number(await versionNow()) + 2);
    const events = await watch({ kind: 'ConfigMap' }, { resourceVersion }, 1, async () => {
      for (const value of ['1', '2', '3', '4']) await apply(core('configmaps', name), configMap(name, { value }));
    });
    expect(Number(events[0]!.object.metadata.resourceVersion)).toBeGreaterThan(Number(resourceVersion));
  });

  // Lists

  it('pages a list as it was when the first page was read', async () => {
    const label = unique('page');
    const names = [unique('p'), unique('p'), unique('p'), unique('p')].toSorted();
    for (const name of names) await post(core('configmaps'), configMap(name, {}, { labels: { page: label } }));
    const page = async (token?: string): Promise<Any> =>
      (
        await client.request<Any>('GET', core('configmaps'), {
          query: { labelSelector: `page=${label}`, limit: 2, continue: token },
        })
      ).body;
    const pages = [await page()];
    await remove(core('configmaps', names[3]));
    while (pages.at(-1)!.metadata.continue) pages.push(await page(pages.at(-1)!.metadata.continue));
    expect(pages.flatMap(({ items }) => items).map(({ metadata }) => metadata.name)).toEqual(names);
    expect(pages[0]!.items).toHaveLength(2);
    expect(new Set(pages.map(({ metadata }) => metadata.resourceVersion)).size).toBe(1);
  });

  it('says how many items are left of an unselected list', async () => {
    const { body } = await client.request<Any>('GET', core('configmaps'), { query: { limit: 1 } });
    const all = await get(core('configmaps'));
    expect(body.metadata.remainingItemCount).toBe(all.items.length - 1);
    expect(body.items[0]).not.toHaveProperty('kind');
  });

  it('refuses a version that does not exist yet, and a bad continue token', async () => {
    const ahead = await client.request<Status>('GET', core('configmaps'), { query: { resourceVersion: '999999999' } });
    expect(ahead).toMatchObject({ code: 504, body: { reason: 'Timeout', details: { retryAfterSeconds: 1 } } });
    expect(ahead.body.message).toMatch(/^Timeout: Too large resource version: 999999999, current: \d+$/);
    expect(ahead.body.details?.causes?.[0]?.reason).toBe('ResourceVersionTooLarge');
    const bad = await client.request<Status>('GET', core('configmaps'), { query: { limit: 1, continue: 'x' } });
    expect(bad).toMatchObject({ code: 400, body: { reason: 'BadRequest' } });
  });

  it('selects by labels and fields, in the whole grammar', async () => {
    const label = unique('g');
    const [a, b, c] = [unique('g'), unique('g'), unique('g')].toSorted() as [string, string, string];
    for (const [name, labels] of [
      [a, { tier: '1' }],
      [b, { tier: '2' }],
      [c, {}],
    ] as const) {
      await post(core('configmaps'), configMap(name, {}, { labels: { of: label, ...labels } }));
    }
    const select = async (selector: string, fieldSelector?: string): Promise<readonly string[]> => {
      const query = { labelSelector: `of=${label},${selector}`, fieldSelector };
      return (await client.request<Any>('GET', core('configmaps'), { query })).body.items.map(
        ({ metadata }) => metadata.name,
      );
    };
    expect(await select('tier')).toEqual([a, b]);
    expect(await select('!tier')).toEqual([c]);
    expect(await select('tier=1')).toEqual([a]);
    expect(await select('tier==1')).toEqual([a]);
    expect(await select('tier!=1')).toEqual([b, c]);
    expect(await select('tier in (1,2)')).toEqual([a, b]);
    expect(await select('tier notin (1)')).toEqual([b, c]);
    expect(await select('tier>1')).toEqual([b]);
    expect(await select(`of`, `metadata.name=${a}`)).toEqual([a]);
    expect(await select(`of`, `metadata.name!=${a}`)).toEqual([b, c]);
    const unparsable = await client.request<Status>('GET', core('configmaps'), { query: { labelSelector: 'a in' } });
    expect(unparsable).toMatchObject({ code: 400, body: { reason: 'BadRequest' } });
    const unknown = await client.request<Status>('GET', core('configmaps'), { query: { fieldSelector: 'data.x=1' } });
    expect(unknown).toMatchObject({ code: 400, body: { reason: 'BadRequest' } });
    expect(unknown.body.message).toBe(
      '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
    const other = await client.request<Status>('GET', core('secrets'), { query: { fieldSelector: 'data.x=1' } });
    expect(other.body.message).toBe('field label not supported: data.x');
  });

  it('selects Secrets by type and Events by what they are about', async () => {
    const name = unique();
    await post(core('secrets'), { metadata: { name }, type: 'linkspan.test/type', stringData: { a: 'b' } });
    const secrets = await client.request<Any>('GET', core('secrets'), {
      query: { fieldSelector: 'type=linkspan.test/type' },
    });
    expect(secrets.body.items.map(({ metadata, data }) => [metadata.name, data])).toEqual([[name, { a: 'Yg==' }]]);
    const involvedObject = { kind: 'Widget', namespace, name: 'w' };
    await post(core('events'), {
      metadata: { name },
      involvedObject,
      reason: 'Test',
      type: 'Normal',
      message: 'hello',
    });
    const query = { fieldSelector: 'involvedObject.kind=Widget,involvedObject.name=w' };
    expect((await client.request<Any>('GET', core('events'), { query })).body.items).toHaveLength(1);
  });

  // Leases

  it('refuses to renew a Lease from a stale resourceVersion, or from none', async () => {
    const name = unique('lease');
    const path = group('coordination.k8s.io/v1', 'leases');
    const lease = (holderIdentity: string): object => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace },
      spec: { holderIdentity, leaseDurationSeconds: 15 },
    });
    const { body: first } = await post(path, lease('a'));
    expect((await put(`${path}/${name}`, { ...first, spec: { ...first.spec, holderIdentity: 'b' } })).code).toBe(200);
    const stale = await put<Status>(`${path}/${name}`, { ...first, spec: { ...first.spec, holderIdentity: 'c' } });
    expect(stale).toMatchObject({
      code: 409,
      body: { reason: 'Conflict', details: { name, group: 'coordination.k8s.io', kind: 'leases' } },
    });
    expect(stale.body.message).toMatch(
      new RegExp(`^Operation cannot be fulfilled on leases.coordination.k8s.io "${name}": `),
    );
    const unconditional = await put<Status>(`${path}/${name}`, lease('d'));
    expect(unconditional).toMatchObject({ code: 422, body: { reason: 'Invalid' } });
    expect(unconditional.body.details?.causes?.[0]?.field).toBe('metadata.resourceVersion');
  });

  // Custom resources

  it('prunes unknown fields of a custom resource and fills in its defaults', async () => {
    const name = unique('widget');
    const spec = { size: 1, unknown: true, free: { any: { thing: 1 } }, tags: { x: 'y' } };
    const { body } = await post(
      group('linkspan.test/v1', 'widgets'),
      widget(name, spec, { extra: 1, status: { phase: 'no' } }),
    );
    expect(body.spec).toEqual({ size: 1, unit: 'mm', free: { any: { thing: 1 } }, tags: { x: 'y' } });
    expect(body).not.toHaveProperty('extra');
    expect(body).not.toHaveProperty('status');
  });

  it('refuses an invalid custom resource, naming each field', async () => {
    const refusal = async (spec: object | undefined): Promise<readonly string[]> => {
      const { code, body } = await post<Status>(group('linkspan.test/v1', 'widgets'), widget('bad', spec!));
      expect({ code, reason: body.reason }).toEqual({ code: 422, reason: 'Invalid' });
      expect(body.message).toMatch(/^Widget.linkspan.test "bad" is invalid: /);
      expect(body.details).toMatchObject({ name: 'bad', group: 'linkspan.test', kind: 'Widget' });
      return (body.details?.causes ?? []).map(({ reason, field, message }) => `${reason} ${field ?? ''}: ${message}`);
    };
    expect(await refusal({})).toEqual(['FieldValueRequired spec.size: Required value']);
    expect(await refusal({ size: 0 })).toEqual([
      'FieldValueInvalid spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
    ]);
    expect(await refusal({ size: 'big' })).toEqual([
      'FieldValueTypeInvalid spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
    ]);
    expect(await refusal({ size: 1, colour: 'blue' })).toEqual([
      'FieldValueNotSupported spec.colour: Unsupported value: "blue": supported values: "red", "green"',
    ]);
    expect(await refusal({ size: 1, code: '1' })).toEqual([
      `FieldValueInvalid spec.code: Invalid value: "1": spec.code in body should match '^[a-z]+$'`,
    ]);
  });

  it('refuses to apply, rather than prunes, what the schema of a custom resource does not declare', async () => {
    const name = unique('widget');
    const path = group('linkspan.test/v1', 'widgets', name);
    const { code, body } = await apply<Status>(path, widget(name, { size: 1, unknown: true }));
    expect(code).toBe(500);
    expect(body.message).toBe(
      `failed to create typed patch object (${namespace}/${name}; linkspan.test/v1, Kind=Widget): .spec.unknown: field not declared in schema`,
    );
    await apply(path, widget(name, { size: 1 }));
    const status = { ...widget(name, {}), spec: undefined, status: { phase: 'x', a: 1, b: 2 } };
    const refused = await apply<Status>(`${path}/status`, status);
    expect(refused).toMatchObject({
      code: 500,
      body: { message: expect.stringMatching(/: \.status\.[ab]: field not declared in schema$/) as string },
    });
    expect((await patch(`${path}/status`, { status: { phase: 'x', a: 1 } })).body.status).toEqual({ phase: 'x' });
  });

  it('keeps spec and status of a custom resource apart', async () => {
    const name = unique('widget');
    const path = group('linkspan.test/v1', 'widgets', name);
    await apply(path, widget(name, { size: 1 }));
    const ignored = await patch(path, { status: { phase: 'no' } });
    expect(ignored.body.status).toBeUndefined();
    const { body } = await patch(`${path}/status`, { spec: { size: 9 }, status: { phase: 'yes' } }, MERGE, {
      fieldManager: 'stat',
    });
    expect([body.spec.size, body.status]).toEqual([1, { phase: 'yes' }]);
    expect(owners(body)).toContain('stat/Update/status');
    const kept = await patch(path, { spec: { size: 2 }, status: null });
    expect(kept.body.status).toEqual({ phase: 'yes' });
  });

  it('merges conditions by type under apply of a status', async () => {
    const name = unique('widget');
    const path = group('linkspan.test/v1', 'widgets', name);
    await apply(path, widget(name, { size: 1 }));
    const status = (...types: string[]): object => ({
      ...widget(name, {}),
      spec: undefined,
      status: { conditions: types.map((type) => ({ type, status: 'True' })) },
    });
    await apply(`${path}/status`, status('A'), 'one');
    await apply(`${path}/status`, status('B'), 'two');
    const both = await get(path);
    expect((both.status.conditions as { type: string }[]).map(({ type }) => type)).toEqual(['A', 'B']);
    expect(fieldsOf(both, 'two')).toEqual({
      'f:status': { 'f:conditions': { 'k:{"type":"B"}': { '.': {}, 'f:status': {}, 'f:type': {} } } },
    });
    await apply(`${path}/status`, { ...status(), status: {} }, 'one');
    expect(((await get(path)).status.conditions as { type: string }[]).map(({ type }) => type)).toEqual(['B']);
  });

  it('serves every version of a custom resource, pruned to its schema', async () => {
    const name = unique('widget');
    await post(group('linkspan.test/v1', 'widgets'), widget(name, { size: 3, colour: 'red' }));
    const old = await get(group('linkspan.test/v1alpha1', 'widgets', name));
    expect(old).toMatchObject({ apiVersion: 'linkspan.test/v1alpha1', spec: { size: 3 } });
    expect(old.spec).toEqual({ size: 3 });
    const list = await get(group('linkspan.test/v1alpha1', 'widgets'));
    expect(list).toMatchObject({ kind: 'WidgetList', apiVersion: 'linkspan.test/v1alpha1' });
    expect(list.items[0]).toMatchObject({ kind: 'Widget', apiVersion: 'linkspan.test/v1alpha1' });
  });

  it('needs the resourceVersion to replace a custom resource, and knows no strategic merge patch of one', async () => {
    const name = unique('widget');
    const path = group('linkspan.test/v1', 'widgets', name);
    await apply(path, widget(name, { size: 1 }));
    const refused = await put<Status>(path, widget(name, { size: 2 }));
    expect(refused).toMatchObject({ code: 422, body: { reason: 'Invalid' } });
    expect(refused.body.message).toContain(
      'metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    );
    expect((await patch<Status>(path, {}, STRATEGIC)).code).toBe(415);
  });

  // Who may do what

  it('refuses an unknown token, and what no role grants', async () => {
    const stranger = api(cluster, { token: 'unknown' });
    const known = api(cluster, { token: bob.token });
    try {
      const { code, body } = await stranger.request<Status>('GET', core('services'));
      expect({ code, reason: body.reason, message: body.message }).toEqual({
        code: 401,
        reason: 'Unauthorized',
        message: 'Unauthorized',
      });
      const listed = await known.request<Status>('GET', core('services'));
      expect(listed).toMatchObject({ code: 403, body: { reason: 'Forbidden', details: { kind: 'services' } } });
      expect(listed.body.message).toBe(
        `services is forbidden: User "bob" cannot list resource "services" in API group "" in the namespace "${namespace}"`,
      );
      const one = await known.request<Status>('GET', group('coordination.k8s.io/v1', 'leases', 'x'));
      expect(one.body.message).toBe(
        `leases.coordination.k8s.io "x" is forbidden: User "bob" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "${namespace}"`,
      );
      const everywhere = await known.request<Status>('GET', '/api/v1/services', { query: { watch: true } });
      expect(everywhere.body.message).toBe(
        'services is forbidden: User "bob" cannot watch resource "services" in API group "" at the cluster scope',
      );
    } finally {
      await Promise.all([stranger.close(), known.close()]);
    }
  });

  it('allows what a role grants, and says so when asked', async () => {
    const known = api(cluster, { token: bob.token });
    const rbac = `/apis/rbac.authorization.k8s.io/v1`;
    const review = async (verb: string, resource: string, more: object = {}): Promise<boolean> => {
      const spec = { resourceAttributes: { verb, resource, namespace, ...more } };
      const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec };
      const answer = await known.request<{ status: { allowed: boolean } }>(
        'POST',
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        { body },
      );
      return answer.body.status.allowed;
    };
    const rules = [
      { apiGroups: [''], resources: ['services'], verbs: ['get', 'list'] },
      { apiGroups: ['linkspan.test'], resources: ['widgets/status'], verbs: ['patch'], resourceNames: ['mine'] },
    ];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'readers' };
    const subjects = [{ kind: 'Group', name: 'readers', apiGroup: 'rbac.authorization.k8s.io' }];
    try {
      expect((await post(`${rbac}/clusterroles`, { metadata: { name: 'readers' }, rules })).code).toBe(201);
      expect(
        (
          await post(`${rbac}/namespaces/${namespace}/rolebindings`, {
            metadata: { name: 'readers' },
            roleRef,
            subjects,
          })
        ).code,
      ).toBe(201);
      await eventually(
        'bob may list Services',
        async () => (await known.request('GET', core('services'))).code === 200,
      );
      expect((await known.request('GET', '/api/v1/services')).code).toBe(403);
      expect(await review('list', 'services')).toBe(true);
      expect(await review('create', 'services')).toBe(false);
      expect(await review('patch', 'widgets', { group: 'linkspan.test', subresource: 'status', name: 'mine' })).toBe(
        true,
      );
      expect(await review('patch', 'widgets', { group: 'linkspan.test', subresource: 'status', name: 'other' })).toBe(
        false,
      );
    } finally {
      await known.close();
    }
  });

  // Printing

  it('prints tables with the columns kubectl shows', async () => {
    const dispatcher = new Agent({ connect: { ca: Buffer.from(cluster.caData, 'base64').toString() } });
    const columns = async (path: string): Promise<readonly string[]> => {
      const headers = {
        authorization: `Bearer ${cluster.adminToken}`,
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
      };
      const { body: answer } = await request(`${cluster.server}${path}`, { headers, dispatcher });
      const body = (await answer.json()) as { columnDefinitions: { name: string; priority: number }[] };
      return body.columnDefinitions.map(({ name, priority }) => `${name}${priority > 0 ? '*' : ''}`);
    };
    const tables = {
      services: ['Name', 'Type', 'Cluster-IP', 'External-IP', 'Port(s)', 'Age', 'Selector*'],
      endpoints: ['Name', 'Endpoints', 'Age'],
      configmaps: ['Name', 'Data', 'Age'],
      secrets: ['Name', 'Type', 'Data', 'Age'],
      serviceaccounts: ['Name', 'Age'],
      pods: ['Name', 'Ready', 'Status', 'Restarts', 'Age', 'IP*', 'Node*', 'Nominated Node*', 'Readiness Gates*'],
      events: [
        'Last Seen',
        'Type',
        'Reason',
        'Object',
        'Subobject*',
        'Source*',
        'Message',
        'First Seen*',
        'Count*',
        'Name*',
      ],
    };
    for (const [plural, expected] of Object.entries(tables))
      expect(await columns(core(plural)), plural).toEqual(expected);
    expect(await columns('/api/v1/namespaces')).toEqual(['Name', 'Status', 'Age']);
    expect(await columns(group('apps/v1', 'statefulsets'))).toEqual(['Name', 'Ready', 'Age', 'Containers*', 'Images*']);
    expect(await columns(group('coordination.k8s.io/v1', 'leases'))).toEqual(['Name', 'Holder', 'Age']);
    expect(await columns(group('discovery.k8s.io/v1', 'endpointslices'))).toEqual([
      'Name',
      'AddressType',
      'Ports',
      'Endpoints',
      'Age',
    ]);
    expect(await columns(group('linkspan.test/v1', 'widgets'))).toEqual(['Name', 'Age']);
    await dispatcher.close();
  });

  // Life of the server

  it('keeps its data and its address over a kill, and has forgotten what happened before', async () => {
    const name = unique();
    const resourceVersion = await versionNow();
    const { body } = await post(core('configmaps'), configMap(name, {}));
    await cluster.kill();
    await expect(client.request('GET', core('configmaps', name))).rejects.toThrow();
    await cluster.start();
    expect((await get(core('configmaps', name))).metadata.uid).toBe(body.metadata.uid);
    const [event] = await watch({ kind: 'ConfigMap' }, { resourceVersion }, 1);
    expect(event?.type).toBe('ERROR');
    expect(event?.object).toMatchObject({ kind: 'Status', code: 410, reason: 'Expired' });
    expect(event?.object.message).toMatch(/^too old resource version: \d+ \(\d+\)$/);
  });

  it('answers nothing while paused, and all of it afterwards', async () => {
    const name = unique();
    let answered = false;
    cluster.pause();
    try {
      // A process is not stopped on the instant.
      await sleep(200);
      const answer = post(core('configmaps'), configMap(name, {})).finally(() => (answered = true));
      await sleep(300);
      expect(answered).toBe(false);
      cluster.resume();
      expect((await answer).code).toBe(201);
    } finally {
      cluster.resume();
    }
  });

  it('keeps an audit log', async () => {
    await cluster.clearAudit();
    const name = unique();
    await apply(core('services', name), service(name));
    await client.request('GET', core('services'), { query: { labelSelector: 'a=b' } });
    const entries = (await cluster.audit()).filter(({ userAgent }) => userAgent === 'conformance/1.0');
    expect(entries.map(({ verb, resource, name: of, code, user }) => [verb, resource, of, code, user === ''])).toEqual([
      ['patch', 'services', name, 201, false],
      ['list', 'services', undefined, 200, false],
    ]);
    expect(entries[0]).toMatchObject({ group: '', namespace });
  });
});

interface Slice extends Any {
  readonly addressType: string;
  readonly endpoints:
    | readonly { readonly addresses: readonly string[]; readonly hostname?: string; readonly targetRef?: object }[]
    | null;
  readonly ports: readonly object[] | null;
}

onEachBacking("Kubernetes' own controllers", (backing) => {
  const namespace = 'default';
  let cluster: TestCluster;
  let client: Api;
  let kubelet: Kubelet;

  beforeAll(async () => {
    const controllers = [
      'statefulset-controller',
      'endpoints-controller',
      'endpointslice-controller',
      'endpointslice-mirroring-controller',
    ];
    cluster = await startCluster({ name: 'controllers', backing, controllers });
    client = api(cluster);
    kubelet = await startKubelet(cluster);
  });

  afterAll(async () => {
    await kubelet.stop();
    await client.close();
    await cluster.stop();
  });

  const slicesOf = (service: string): Promise<readonly Slice[]> =>
    client.list<Slice>({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      namespace,
      labelSelector: `kubernetes.io/service-name=${service}`,
    });
  const podNames = async (app: string): Promise<readonly string[]> =>
    (await client.list({ apiVersion: 'v1', kind: 'Pod', namespace, labelSelector: `app=${app}` }))
      .map(({ metadata }) => metadata.name)
      .toSorted();

  const headless = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels: { team: 'a' } },
    spec: {
      clusterIP: 'None',
      selector: { app: name },
      ports: [{ name: 'http', port: 80, targetPort: 'web' }],
      ...more,
    },
  });
  const statefulSet = (name: string, replicas: number) => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace },
    spec: {
      replicas,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'web', image: 'nginx', ports: [{ name: 'web', containerPort: 8080 }] }] },
      },
    },
  });

  it('give a headless Service over a StatefulSet its slice, with hostnames', async () => {
    const name = 'web';
    await client.apply(headless(name));
    await client.apply(statefulSet(name, 2));
    const slice = await eventually('two endpoints are ready', async () => {
      const [found] = await slicesOf(name);
      return found?.endpoints?.length === 2 && JSON.stringify(found).split('"ready":true').length === 3
        ? found
        : undefined;
    });
    expect(slice.metadata.labels).toEqual({
      team: 'a',
      'kubernetes.io/service-name': name,
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      'service.kubernetes.io/headless': '',
    });
    expect(slice.addressType).toBe('IPv4');
    expect(slice.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
    const endpoints = slice.endpoints!.toSorted((a, b) => (a.hostname! < b.hostname! ? -1 : 1));
    expect(endpoints[0]).toEqual({
      addresses: [expect.any(String)],
      conditions: { ready: true, serving: true, terminating: false },
      hostname: 'web-0',
      nodeName: kubelet.node,
      targetRef: { kind: 'Pod', namespace, name: 'web-0', uid: expect.any(String) as string },
    });
    const endpointsObject = await eventually('the Endpoints list both', async () => {
      const found = await client.get<Any & { subsets?: { addresses?: { hostname: string }[]; ports: object[] }[] }>({
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name, namespace },
      });
      return found?.subsets?.[0]?.addresses?.length === 2 ? found : undefined;
    });
    expect(endpointsObject.subsets![0]!.addresses!.map(({ hostname }) => hostname).toSorted()).toEqual([
      'web-0',
      'web-1',
    ]);
    expect(endpointsObject.subsets![0]!.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
    expect(endpointsObject.metadata.labels).toMatchObject({ team: 'a', 'service.kubernetes.io/headless': '' });
  });

  it('show a Pod that is not ready as such, and count it again when it is', async () => {
    const name = 'flaky';
    await client.apply(headless(name));
    await client.apply(statefulSet(name, 1));
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'flaky-0', namespace } };
    const condition = async (ready: boolean): Promise<boolean> => {
      const [slice] = await slicesOf(name);
      return JSON.stringify(slice?.endpoints ?? []).includes(
        `"conditions":{"ready":${ready},"serving":${ready},"terminating":false}`,
      );
    };
    await eventually('ready', () => condition(true));
    await client.patch(pod, { metadata: { annotations: { [READY_ANNOTATION]: 'false' } } });
    await eventually('not ready', () => condition(false));
    await client.patch(pod, { metadata: { annotations: { [READY_ANNOTATION]: 'true' } } });
    await eventually('ready again', () => condition(true));
  });

  it('scale a StatefulSet up and down from its highest number', async () => {
    const name = 'scaled';
    await client.apply(headless(name));
    await client.apply(statefulSet(name, 1));
    const scaleTo = async (replicas: number): Promise<void> => {
      await client.patch(statefulSet(name, replicas), { spec: { replicas } }, { subresource: 'scale' });
      const expected = Array.from({ length: replicas }, (_, index) => `scaled-${index}`);
      await eventually(
        `${replicas} pods`,
        async () => JSON.stringify(await podNames(name)) === JSON.stringify(expected),
      );
    };
    await scaleTo(3);
    await scaleTo(1);
    await eventually(
      'the status follows',
      async () => (await client.get<Any>(statefulSet(name, 1)))?.status.readyReplicas === 1,
    );
  });

  it('leave a placeholder slice where a Service selects nothing', async () => {
    const name = 'lonely';
    await client.apply(headless(name));
    const slice = await eventually('a slice', async () => (await slicesOf(name))[0]);
    expect([slice.addressType, slice.endpoints ?? [], slice.ports ?? []]).toEqual(['IPv4', [], []]);
  });

  it('mirror hand-made Endpoints of a Service without a selector, with labels and annotations', async () => {
    const name = 'mirror-east';
    const labels = { 'mirror.linkerd.io/mirrored-service': 'true' };
    const annotations = { 'mirror.linkerd.io/remote-gateway-identity': 'gateway.id' };
    const endpoints = (subset: object) => ({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name, namespace, labels, annotations },
      subsets: [{ ...subset, ports: [{ name: 'http', port: 4143, protocol: 'TCP' }] }],
    });
    await client.apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace, labels },
      spec: { ports: [{ name: 'http', port: 80 }] },
    } as ObjectRef);
    await client.apply(endpoints({ addresses: [{ ip: '192.0.2.1', hostname: 'web-0' }] }));
    const slice = await eventually('the mirror slice', async () => (await slicesOf(name))[0]);
    expect(slice.metadata.labels).toEqual({
      ...labels,
      'kubernetes.io/service-name': name,
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    });
    expect(slice.metadata.annotations).toEqual(annotations);
    expect(slice.endpoints).toEqual([{ addresses: ['192.0.2.1'], conditions: { ready: true }, hostname: 'web-0' }]);
    expect(slice.ports).toEqual([{ name: 'http', port: 4143, protocol: 'TCP' }]);
    await client.apply(endpoints({ notReadyAddresses: [{ ip: '192.0.2.1' }] }));
    await eventually('not ready', async () =>
      JSON.stringify(await slicesOf(name)).includes('"conditions":{"ready":false}'),
    );
    await client.apply({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name, namespace, labels: { ...labels, 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    } as ObjectRef);
    await eventually('the slice is gone', async () => (await slicesOf(name)).length === 0);
  });
});
