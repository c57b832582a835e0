/** Server-side apply, and the record of who owns which field. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { eventually, installCrd } from '../workload/index.ts';
import { type Any, APPLY, MERGE, onEachServer, type Status } from './server.ts';

/** A kind with a map that is merged field by field, or replaced as a whole. */
const gadgets = (type: 'granular' | 'atomic') => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.linkspan.test' },
  spec: {
    group: 'linkspan.test',
    scope: 'Namespaced',
    names: { kind: 'Gadget', plural: 'gadgets', singular: 'gadget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  selector: {
                    type: 'object',
                    'x-kubernetes-map-type': type,
                    properties: { matchLabels: { type: 'object', additionalProperties: { type: 'string' } } },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
});

onEachServer('server-side apply', (server) => {
  const { unique, core, post, patch, apply, configMap, service, owners, fieldsOf, namespace } = server;

  it('creates by apply what does not exist, with the applier as the only owner', async () => {
    const name = unique();
    const { code, body } = await apply(core('configmaps', name), configMap(name, { a: '1' }));
    expect(code).toBe(201);
    expect(owners(body)).toEqual(['one/Apply']);
    expect(fieldsOf(body, 'one')).toEqual({ 'f:data': { 'f:a': {} } });
  });

  it('owns an empty list that is merged item by item by nobody', async () => {
    const name = unique();
    const { body } = await apply(core('configmaps', name), configMap(name, { a: '1' }, { finalizers: [] }));
    expect(fieldsOf(body, 'one')).toEqual({ 'f:data': { 'f:a': {} } });
    const finalizers = ['linkspan.test/a'];
    const { body: kept } = await apply(core('configmaps', name), configMap(name, { a: '1' }, { finalizers }));
    expect(fieldsOf(kept, 'one')).toMatchObject({ 'f:metadata': { 'f:finalizers': { 'v:"linkspan.test/a"': {} } } });
    await apply(core('configmaps', name), configMap(name, { a: '1' }));
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

  it('replaces by apply a map that is atomic, also if it was not so when somebody wrote it', async () => {
    const labels = (matchLabels: object, name = 'selector') => ({
      apiVersion: 'linkspan.test/v1',
      kind: 'Gadget',
      metadata: { name, namespace },
      spec: { selector: { matchLabels } },
    });
    const path = (name: string) => server.group('linkspan.test/v1', 'gadgets', name);
    await installCrd(server.cluster, gadgets('granular'));
    await apply(path('old'), labels({ a: '1' }, 'old'));
    const { body: joined } = await apply(path('old'), labels({ b: '1' }, 'old'), 'two');
    expect(joined.spec).toEqual({ selector: { matchLabels: { a: '1', b: '1' } } });

    await installCrd(server.cluster, gadgets('atomic'));
    await eventually('the map is atomic', async () => {
      await server.remove(path('new'));
      const { body } = await apply(path('new'), labels({ a: '1' }, 'new'));
      return JSON.stringify(fieldsOf(body, 'one')) === '{"f:spec":{"f:selector":{}}}';
    });
    for (const name of ['new', 'old']) {
      const refused = await apply<Status>(path(name), labels({ c: '1' }, name), 'three');
      expect(refused.code).toBe(409);
      expect(refused.body.details?.causes?.map(({ field }) => field)).toEqual(
        name === 'new' ? ['.spec.selector'] : ['.spec.selector', '.spec.selector'],
      );
      const { body } = await apply(path(name), labels({ c: '1' }, name), 'three', true);
      expect(body.spec).toEqual({ selector: { matchLabels: { c: '1' } } });
      expect(owners(body)).toEqual(['three/Apply']);
      const empty = { ...labels({}, name), spec: { selector: {} } };
      expect((await apply(path(name), empty, 'three')).body.spec).toEqual({ selector: {} });
    }
  });
});
