/** What the server makes of built-in kinds and of custom resources: defaults, validation, generations, versions. */
import { expect, it } from 'vitest';
import { type Any, MERGE, onEachServer, STRATEGIC, type Status } from './server.ts';

onEachServer('kinds', (server) => {
  const { unique, core, group, get, post, put, patch, apply, service, widget, owners, fieldsOf, namespace } = server;

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

  it('refuses more than 1000 endpoints in one EndpointSlice, and no number of addresses in Endpoints', async () => {
    const ips = Array.from({ length: 1001 }, (_, index) => `192.0.${2 + (index >> 8)}.${index & 255}`);
    const sliceOf = (count: number) => ({
      metadata: { name: unique() },
      addressType: 'IPv4',
      endpoints: ips.slice(0, count).map((ip) => ({ addresses: [ip] })),
      ports: [],
    });
    const path = group('discovery.k8s.io/v1', 'endpointslices');
    const { code, body } = await post<Status>(path, sliceOf(1001));
    expect([code, body.details?.causes]).toEqual([
      422,
      [{ reason: 'FieldValueTooMany', message: 'Too many: 1001: must have at most 1000 items', field: 'endpoints' }],
    ]);
    expect((await post(path, sliceOf(1000))).code).toBe(201);
    const subsets = [{ addresses: ips.map((ip) => ({ ip })), ports: [{ port: 80 }] }];
    expect((await post(core('endpoints'), { metadata: { name: unique() }, subsets })).code).toBe(201);
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
});
