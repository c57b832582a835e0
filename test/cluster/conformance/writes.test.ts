/** Creating, replacing, patching and deleting, with their preconditions. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { type Any, APPLY, JSON_PATCH, onEachServer, STRATEGIC, type Status } from './server.ts';

onEachServer('writes', (server) => {
  const { unique, core, group, get, post, put, patch, remove, configMap, service, namespace } = server;

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
      await server.client.request<Status>('GET', core('configmaps', gone)),
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
    const applied = await server.client.request<Status>('PATCH', '/api/v1/namespaces/nowhere/services/x', {
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
    expect((await server.client.request('GET', core('services', name))).code).toBe(404);
  });

  it('deletes nothing on a dry run, which a deletion with a body says there', async () => {
    const name = unique();
    await post(core('configmaps'), configMap(name, {}));
    const exists = async () => (await server.client.request('GET', core('configmaps', name))).code === 200;
    expect((await remove(core('configmaps', name), { dryRun: ['All'] })).code).toBe(200);
    expect(await exists()).toBe(true);
    expect((await server.client.request('DELETE', core('configmaps', name), { query: { dryRun: 'All' } })).code).toBe(
      200,
    );
    expect(await exists()).toBe(true);
    const ignored = { query: { dryRun: 'All' }, body: { apiVersion: 'v1', kind: 'DeleteOptions' } };
    expect((await server.client.request('DELETE', core('configmaps', name), ignored)).code).toBe(200);
    expect(await exists()).toBe(false);
  });

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
    expect((await server.client.request('GET', core('configmaps', name))).code).toBe(404);
  });

  it('deletes a collection by selector', async () => {
    const label = unique('batch');
    for (const name of [unique(), unique()])
      await post(core('configmaps'), configMap(name, {}, { labels: { batch: label } }));
    const { code } = await server.client.request('DELETE', core('configmaps'), {
      query: { labelSelector: `batch=${label}` },
    });
    expect(code).toBe(200);
    const { items } = (
      await server.client.request<Any>('GET', core('configmaps'), { query: { labelSelector: `batch=${label}` } })
    ).body;
    expect(items).toEqual([]);
  });

  it('labels a namespace with its name', async () => {
    expect((await get(`/api/v1/namespaces/${namespace}`)).metadata.labels).toEqual({
      'kubernetes.io/metadata.name': namespace,
    });
  });

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
});
