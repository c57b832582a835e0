import { describe, expect, it, test, vi } from 'vitest';
import { Applier, type Outcome } from '../../../operator/runtime/applier.ts';
import type { Action, Desired, Owned } from '../../../operator/runtime/plan.ts';
import type { Preconditions } from '../../../operator/kube/client.ts';
import { ApiError } from '../../../operator/kube/errors.ts';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  type Endpoints,
  type KubeObject,
  type Service,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import { fenceable } from '../../support/fenced.ts';
import { planned } from '../../support/planned.ts';

const OURS = { owner: 'us' };

const service = (
  name: string,
  port: number,
  extra: { labels?: Record<string, string>; clusterIP?: string } = {},
): Service => ({
  metadata: { namespace: 'shop', name, labels: { ...OURS, ...extra.labels } },
  spec: { ports: [{ port }], ...(extra.clusterIP === undefined ? {} : { clusterIP: extra.clusterIP }) },
});
const live = (object: Service, resourceVersion = '7', uid = 'u1'): Service => ({
  ...object,
  metadata: { ...object.metadata, uid, resourceVersion },
});
const want = (object: KubeObject): Desired => ({ of: SERVICES, object });
const own = (object: KubeObject): Owned => ({ of: SERVICES, object });
const slice = (name: string, addressType: string): KubeObject & { addressType: string } => ({
  metadata: { name },
  addressType,
});

describe('plan', () => {
  test.each<[string, readonly Desired[], readonly Owned[], readonly string[]]>([
    ['nothing, of nothing', [], [], []],
    ['nothing, when all is as it should be (C5)', [want(service('a', 80))], [own(live(service('a', 80)))], []],
    ['a creation', [want(service('a', 80))], [], ['create a']],
    ['a change', [want(service('a', 81))], [own(live(service('a', 80)))], ['update a']],
    ['a deletion', [], [own(live(service('a', 80)))], ['delete a']],
    [
      'a replacement, as a clusterIP is for life (D3)',
      [want(service('a', 80, { clusterIP: 'None' }))],
      [own(live(service('a', 80)))],
      ['replace a'],
    ],
    [
      'no replacement for an allocated clusterIP',
      [want(service('a', 80))],
      [own(live(service('a', 80, { clusterIP: '10.0.0.9' })))],
      [],
    ],
    [
      'deletions after all else',
      [want(service('b', 80)), want(service('c', 81))],
      [own(live(service('a', 80))), own(live(service('c', 80)))],
      ['create b', 'update c', 'delete a'],
    ],
    [
      'a replacement of a slice of another family',
      [{ of: ENDPOINT_SLICES, object: slice('a', 'IPv6') }],
      [{ of: ENDPOINT_SLICES, object: slice('a', 'IPv4') }],
      ['replace a'],
    ],
    [
      'by kind and name: a slice is no Service',
      [{ of: ENDPOINT_SLICES, object: slice('a', 'IPv4') }],
      [own(live(service('a', 80)))],
      ['create a', 'delete a'],
    ],
  ])('is %s', (_, desired, owned, expected) => {
    expect(planned(desired, owned).map(({ op, object }) => `${op} ${object.metadata.name}`)).toEqual(expected);
  });
});

/** A store-like API server with one Service, by the rules that apply relies on. */
class Server {
  readonly calls: string[] = [];
  object: Service | undefined;
  /** Of the Service's name. */
  endpoints: KubeObject | undefined;
  /** Whether what is applied does not go together with what other managers own. */
  clashes = false;
  /** The Service of `object`, if that is a slice. */
  service: Service | undefined;
  /** What admission makes of each write. */
  admission: (object: Service) => Service = (object) => object;
  /** What the API server answers when it is asked whether it would take an object. */
  denial: ApiError | undefined;
  /** Whether the Lease is held. */
  mayWrite = true;
  #version = 100;

  namespaceUid = 'ns';

  readonly client = fenceable({
    fieldManager: 'linkspan',
    apply: async (_of: unknown, object: Service) => {
      const { uid, resourceVersion, name } = object.metadata;
      this.calls.push(`apply ${name} ${uid ?? '-'} ${resourceVersion ?? '-'}`);
      const there = this.object;
      if (
        there === undefined
          ? uid !== undefined
          : resourceVersion !== there.metadata.resourceVersion || (uid ?? there.metadata.uid) !== there.metadata.uid
      ) {
        throw new ApiError(409, { reason: 'Conflict' }, 'apply');
      }
      if (this.clashes) throw new ApiError(422, { reason: 'Invalid' }, 'apply');
      // Labels that other managers own stay.
      const kept = Object.fromEntries(
        Object.entries(there?.metadata.labels ?? {}).filter(([key]) => this.#ownedByOthers(there!, key)),
      );
      return this.#write({
        ...object,
        metadata: {
          ...object.metadata,
          uid: there?.metadata.uid ?? 'u-new',
          labels: { ...kept, ...object.metadata.labels },
          managedFields: there?.metadata.managedFields ?? [],
        },
      });
    },
    tryApply: async (_of: unknown, { metadata, spec }: Service) => {
      this.calls.push(`try ${metadata.name}`);
      if (this.denial !== undefined) throw this.denial;
      return { metadata, spec };
    },
    patch: async (
      _of: unknown,
      _target: unknown,
      { metadata }: { readonly metadata: Partial<Service['metadata']> },
    ) => {
      this.calls.push('claim');
      const there = this.object!;
      this.clashes = false;
      if (metadata.resourceVersion !== there.metadata.resourceVersion || metadata.uid !== there.metadata.uid)
        throw new ApiError(409, { reason: 'Conflict' }, 'patch');
      return this.#write({ ...there, metadata: { ...there.metadata, managedFields: metadata.managedFields ?? [] } });
    },
    read: async (of: unknown) => {
      this.calls.push('read');
      if (of === SERVICES && this.service !== undefined) return this.service;
      return of === ENDPOINTS ? this.endpoints : this.object!;
    },
    delete: async (_of: unknown, { name }: { name: string }, { uid, resourceVersion }: Preconditions) => {
      this.calls.push(`delete ${name} ${uid ?? '-'}`);
      if (this.object === undefined) throw new ApiError(404, {}, 'delete');
      const { metadata } = this.object;
      if (uid !== metadata.uid || resourceVersion !== metadata.resourceVersion) throw new ApiError(409, {}, 'delete');
      this.object = undefined;
    },
  });

  #ownedByOthers({ metadata: { managedFields = [] } }: Service, label: string): boolean {
    return managedFields.some(({ manager, fieldsV1 }) => {
      const labels = fieldsV1?.['f:metadata']?.['f:labels'];
      return manager !== 'linkspan' && labels !== undefined && `f:${label}` in labels;
    });
  }

  #write(object: Service): Service {
    this.#version += 1;
    const admitted = this.admission(object);
    this.object = { ...admitted, metadata: { ...admitted.metadata, resourceVersion: String(this.#version) } };
    return this.object;
  }
}

/** @param slice that the store shows */
function setUp(object?: Service, slice?: KubeObject) {
  const server = new Server();
  server.object = object;
  const told: string[] = [];
  const applier = new Applier({
    client: server.client,
    stores: {
      services: {
        get: () => undefined,
        wrote: ({ metadata }, basedOn) =>
          told.push(`wrote ${metadata.name} on ${basedOn?.metadata.resourceVersion ?? '-'}`),
        deleted: ({ metadata }) => told.push(`deleted ${metadata.name}`),
      },
      endpointslices: {
        get: () => slice,
        wrote: ({ metadata }, basedOn, sentMs) => {
          if (basedOn === undefined && sentMs !== undefined) told.push(`wrote ${metadata.name} on -, sent then`);
        },
        deleted: () => undefined,
      },
    },
    isOurs: ({ metadata }) => metadata.labels?.['owner'] === 'us',
    mayWrite: () => server.mayWrite,
    namespaceUid: () => server.namespaceUid,
  });
  const execute = (action: Action) => applier.execute(action, new AbortController().signal);
  /** What a reconcile does: from what there is to what is wanted. */
  const make = async (...wanted: readonly Service[]) => {
    const there = server.object;
    const results: string[] = [];
    for (const action of planned(wanted.map(want), there === undefined ? [] : [own(there)])) {
      results.push((await execute(action)).result);
    }
    return results;
  };
  return { server, applier, told, execute, make };
}

describe('a Lease that may have expired (H2, L54)', () => {
  it.each([
    ['creation', undefined, { op: 'create', ...want(service('a', 80)), endpointsProven: true }],
    ['update', service('a', 80), { op: 'update', ...want(service('a', 81)), live: own(service('a', 80)).object }],
    ['deletion', service('a', 80), { op: 'delete', ...own(service('a', 80)) }],
  ] as readonly (readonly [string, Service | undefined, Action])[])('stops a %s', async (_, there, action) => {
    const { server, execute, told } = setUp(there);
    server.mayWrite = false;
    await expect(execute(action)).rejects.toThrow('nothing is written until the Lease is renewed');
    expect([server.calls, told]).toEqual([[], []]);
    server.mayWrite = true;
    await expect(execute(action)).resolves.toBeDefined();
  });

  it('stops a replacement between its deletion and its creation', async () => {
    const { server, execute } = setUp(service('a', 80));
    const deleted = server.client.delete.bind(server.client);
    server.client.delete = async (...all) => {
      await deleted(...all);
      server.mayWrite = false;
    };
    const replacement: Action = { op: 'replace', ...want(service('a', 81)), live: own(service('a', 80)).object };
    await expect(execute(replacement)).rejects.toThrow('until the Lease is renewed');
    expect(server.calls.filter((call) => call.startsWith('apply'))).toEqual([]);
  });
});

describe('an action', () => {
  it('to create insists that there is nothing', async () => {
    const { server, execute, told } = setUp();
    expect((await execute({ op: 'create', ...want(service('a', 80)) })).result).toBe('written');
    expect(server.calls).toEqual(['read', 'apply a - 1']);
    expect(told).toEqual(['wrote a on -']);
  });

  it('to create a Service whose Endpoints are known to be ours costs one request', async () => {
    const { server, execute } = setUp();
    const action: Action = { op: 'create', ...want(service('a', 80)), endpointsProven: true };
    expect((await execute(action)).result).toBe('written');
    expect(server.calls).toEqual(['apply a - 1']);
  });

  it("to create never touches somebody else's object, and names it (A6)", async () => {
    const theirs = live({ ...service('a', 80), metadata: { namespace: 'shop', name: 'a' } });
    const { server, execute } = setUp(theirs);
    expect(await execute({ op: 'create', ...want(service('a', 81)) })).toMatchObject({
      result: 'foreign',
      object: theirs,
    });
    expect(server.object).toBe(theirs);
  });

  it("to create a Service leaves be somebody else's Endpoints of its name, and names them (A6)", async () => {
    const { server, execute } = setUp();
    server.endpoints = { metadata: { namespace: 'shop', name: 'a' } };
    expect(await execute({ op: 'create', ...want(service('a', 80)) })).toEqual({
      result: 'foreign',
      of: ENDPOINTS,
      object: server.endpoints,
    });
    expect(server.object).toBeUndefined();
  });

  it('to create that finds an object of ours fails, to be planned anew', async () => {
    const { execute } = setUp(live(service('a', 80)));
    await expect(execute({ op: 'create', ...want(service('a', 81)) })).rejects.toMatchObject({ code: 409 });
  });

  it.each([['Service', SERVICES] as const, ['EndpointSlice', ENDPOINT_SLICES] as const])(
    'to create a %s of ours that a finalizer holds fails, and says by which it is held (L131)',
    async (kind, of) => {
      const there = live(service('a', 80));
      const { server, execute } = setUp({
        ...there,
        metadata: { ...there.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x.example/y', 'z'] },
      });
      await expect(execute({ op: 'create', of, object: service('a', 81) })).rejects.toThrow(
        `${kind} shop/a is being deleted, and finalizers hold it; have whoever set them remove them: x.example/y, z`,
      );
      expect(server.object?.spec?.ports).toEqual(there.spec?.ports);
    },
  );

  it('to create a slice of ours that no watch shows changes that one (C3)', async () => {
    const by = (who: string): Service => service('a', 80, { labels: { by: who } });
    const hidden = live(by('somebody'));
    const create = (shown?: KubeObject) => {
      const { server, execute, told } = setUp(hidden, shown);
      const action = { op: 'create', of: ENDPOINT_SLICES, object: by('us') } as const;
      return execute(action).then(() => [server.object?.metadata.labels, ...told]);
    };
    // It is shown at once: a watch may not be heard for a while.
    expect(await create()).toEqual([{ owner: 'us', by: 'us' }, 'wrote a on -, sent then']);
    await expect(create(hidden)).rejects.toMatchObject({ code: 409 });
  });

  describe('to create a slice whose name one has that is not ours', () => {
    const labels = {
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    };
    const ofOthers = (over: Readonly<Record<string, string>> = {}): Service => ({
      ...live(service('a', 80)),
      metadata: { ...live(service('a', 80)).metadata, labels: { ...labels, ...over } },
    });
    const create = async (there: Service, web: Service) => {
      const { server, execute } = setUp(there);
      server.service = web;
      const action = { op: 'create', of: ENDPOINT_SLICES, object: service('a', 80, { labels }) } as const;
      const result = await execute(action).then(
        (outcome) => outcome.result,
        (error: unknown) => (error instanceof ApiError ? error.code : error),
      );
      return [result, server.object === undefined];
    };

    it('deletes that, which is of the Service and shown by no watch, to plan anew (C3)', async () => {
      expect(await create(ofOthers(), live(service('web', 80)))).toEqual([409, true]);
    });

    test.each<[string, Service, Service]>([
      ['which is of another Service', ofOthers({ 'kubernetes.io/service-name': 'db' }), live(service('web', 80))],
      [
        'which Kubernetes makes of Endpoints',
        ofOthers({ 'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io' }),
        live(service('web', 80)),
      ],
      ['whose Service has a selector', ofOthers(), { ...live(service('web', 80)), spec: { selector: { app: 'web' } } }],
      ['whose Service is not ours', ofOthers(), live(service('web', 80, { labels: { owner: 'them' } }))],
    ])('leaves that alone, %s (A6)', async (_, there, web) => {
      expect(await create(there, web)).toEqual(['foreign', false]);
    });
  });

  it('to change insists on the very object and version that were seen', async () => {
    const { server, make, told } = setUp(live(service('a', 80)));
    await make(service('a', 81));
    expect(server.calls).toEqual(['apply a u1 7']);
    expect(told).toEqual(['wrote a on 7']);
  });

  it('to change an object that has changed since fails', async () => {
    const { server, execute } = setUp(live(service('a', 80)));
    const action: Action = { op: 'update', live: live(service('a', 80), '6'), ...want(service('a', 81)) };
    await expect(execute(action)).rejects.toMatchObject({ code: 409 });
    expect(server.object?.spec?.ports).toEqual([{ port: 80 }]);
  });

  it('to delete insists on the uid, and is content if it is gone', async () => {
    const { server, execute, told } = setUp(live(service('a', 80)));
    const action: Action = { op: 'delete', ...own(live(service('a', 80))) };
    await execute(action);
    await execute(action);
    expect(server.calls).toEqual(['delete a u1', 'delete a u1']);
    expect(told).toEqual(['deleted a', 'deleted a']);
  });

  it('to delete what has become another object fails', async () => {
    const { server, execute } = setUp(live(service('a', 80), '9', 'u2'));
    await expect(execute({ op: 'delete', ...own(live(service('a', 80))) })).rejects.toMatchObject({ code: 409 });
    expect(server.object?.metadata.uid).toBe('u2');
  });

  it('to delete what has changed since it was seen, and may not be ours any more, fails (A6)', async () => {
    const { server, execute, told } = setUp(live(service('a', 80), '8'));
    await expect(execute({ op: 'delete', ...own(live(service('a', 80), '7')) })).rejects.toMatchObject({ code: 409 });
    expect(server.object).toBeDefined();
    expect(told).toEqual([]);
  });

  it('to replace deletes nothing before the API server says that it would take the successor (D3)', async () => {
    const { server, execute } = setUp(live(service('a', 80)));
    const replacement: Action = { op: 'replace', ...want(service('a', 81)), live: live(service('a', 80)) };
    for (const code of [403, 500]) {
      server.denial = new ApiError(code, { message: 'denied by a webhook' }, 'apply');
      await expect(execute(replacement)).rejects.toThrow('denied by a webhook');
    }
    expect(server.calls).toEqual(['try linkspan-try-u1', 'try linkspan-try-u1']);
    expect(server.object?.spec?.ports).toEqual([{ port: 80 }]);
    server.denial = new ApiError(400, { message: 'admission webhook "w" does not support dry run' }, 'apply');
    expect((await execute(replacement)).result).toBe('written');
  });

  it('to replace deletes, then creates, over no Endpoints of others', async () => {
    const { server, make } = setUp(live(service('a', 80)));
    await make(service('a', 80, { clusterIP: 'None' }));
    expect(server.calls).toEqual(['try linkspan-try-u1', 'delete a u1', 'read', 'apply a - 1']);
  });
});

describe('what another field manager has left (A8)', () => {
  const fieldsV1 = { 'f:metadata': { 'f:labels': { 'f:stale': {}, 'f:owner': {} } } };
  const foreign: Service = {
    ...live(service('a', 80, { labels: { stale: 'x' } })),
    metadata: {
      ...live(service('a', 80, { labels: { stale: 'x' } })).metadata,
      managedFields: [
        { manager: 'service-mirror', operation: 'Update', apiVersion: 'v1', fieldsV1 },
        { manager: 'kubelet', operation: 'Update', subresource: 'status', fieldsV1: {} },
      ],
    },
  };

  it('goes, in place, and its status entries stay', async () => {
    const { server, make, told } = setUp(foreign);
    await make(service('a', 80));
    expect(server.object?.metadata).toMatchObject({ uid: 'u1', labels: OURS });
    expect(server.object?.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['linkspan', 'kubelet']);
    expect(told).toEqual(['wrote a on 7']);
  });

  it('is a conflict, and no refusal, if somebody writes just before it is made ours (L173)', async () => {
    const { server, make } = setUp(foreign);
    const apply = server.client.apply.bind(server.client);
    vi.spyOn(server.client, 'apply').mockImplementation(async (...all) => {
      const written = await apply(...all);
      server.object = live(service('a', 80));
      return written;
    });
    await expect(make(service('a', 80))).rejects.toMatchObject({ code: 409 });
  });

  it('is made ours first where it does not go together with what we want', async () => {
    const { server, make } = setUp(foreign);
    server.clashes = true;
    expect(await make(service('a', 81))).toEqual(['written']);
    expect(server.calls).toEqual(['apply a u1 7', 'read', 'claim', 'apply a u1 101']);
    expect(server.object?.metadata.labels).toEqual(OURS);
  });

  it('is made ours first where nobody may see it beside what we want (I5)', async () => {
    const { server, execute } = setUp(foreign);
    const update: Action = { op: 'update', live: foreign, ...want(service('a', 81)), atOnce: true };
    await execute(update);
    expect(server.calls).toEqual(['read', 'claim', 'apply a u1 101']);
    expect(server.object?.metadata.labels).toEqual(OURS);
    // It has changed meanwhile.
    await expect(execute(update)).rejects.toMatchObject({ code: 409 });
  });

  it('stays, as far as it is metadata, where others may put theirs (F4)', async () => {
    const { server, execute } = setUp(foreign);
    server.clashes = true;
    const comparison = { extraMetadata: 'ignored' } as const;
    await execute({ op: 'update', live: foreign, ...want(service('a', 81)), comparison });
    expect(server.object?.metadata.labels).toEqual({ ...OURS, stale: 'x' });
  });

  it('cannot be the reason for a refusal where all is ours, and is not tried again', async () => {
    const { server, make } = setUp(live(service('a', 80)));
    server.clashes = true;
    await expect(make(service('a', 81))).rejects.toMatchObject({ code: 422 });
    expect(server.calls).toEqual(['apply a u1 7', 'read']);
  });

  it('is left alone when it says what we want', async () => {
    const { server, make } = setUp(foreign);
    expect(await make(service('a', 80, { labels: { stale: 'x' } }))).toEqual([]);
    expect(server.calls).toEqual([]);
  });
});

describe('somebody who undoes what we write', () => {
  it('by an admission webhook is left alone for a while, unless what we want changes, and reported (L286)', async () => {
    const { server, execute, make } = setUp(live(service('a', 80)));
    const update = (port: number): Promise<Outcome> =>
      execute({ op: 'update', ...want(service('a', port)), live: server.object ?? live(service('a', 80)) });
    server.admission = (object) => ({
      ...object,
      metadata: { ...object.metadata, labels: { ...object.metadata.labels, injected: 'x' } },
    });
    // What it only adds to works, and is written again after a day.
    const added = {
      result: 'deferred',
      afterMs: expect.closeTo(86_400_000, -4) as number,
      additions: ['injected'],
      by: 'webhook',
    };
    expect(await update(81)).toEqual({ ...added, isWritten: true });
    const writes = server.calls.length;
    expect([await update(81), await update(81)]).toEqual([added, added]);
    expect(server.calls).toHaveLength(writes);
    expect(await update(82)).toEqual({ ...added, isWritten: true });
    expect(server.object?.spec?.ports).toEqual([{ port: 82 }]);

    server.admission = (object) => ({ ...object, spec: { ports: [{ port: 80 }] } });
    const undone = {
      result: 'deferred',
      afterMs: expect.closeTo(3_600_000, -4) as number,
      additions: undefined,
      by: 'webhook',
    };
    expect(await update(83)).toEqual({ ...undone, isWritten: true });
    expect(await update(83)).toEqual(undone);
    server.admission = (object) => object;
    expect(await make(service('a', 83))).toEqual(['deferred']);
  });

  it('again and again is put right at once a few times, then less and less often', async () => {
    const { server, make } = setUp(live(service('a', 80)));
    const results: string[] = [];
    for (let undone = 0; undone < 10; undone += 1) {
      results.push(...(await make(service('a', 81))));
      server.object = live(service('a', 80), `x${undone}`);
    }
    expect(results.slice(0, 4)).toEqual(['written', 'written', 'written', 'written']);
    expect(results.at(-1)).toBe('deferred');
  });

  /** What comes of an action, ten times in a row, each after somebody has undone the one before. */
  const tenTimes = async (
    act: () => Promise<{ readonly result: string }>,
    undo: () => void,
  ): Promise<readonly string[]> => {
    const results: string[] = [];
    for (let undone = 0; undone < 10; undone += 1) {
      results.push((await act()).result);
      undo();
    }
    return results;
  };

  it('that deletes what we create is answered less and less often', async () => {
    const { server, execute } = setUp(undefined);
    const results = await tenTimes(
      () => execute({ op: 'create', ...want(service('a', 80)) }),
      () => void (server.object = undefined),
    );
    expect(results.slice(0, 4)).toEqual(['written', 'written', 'written', 'written']);
    expect(results.at(-1)).toBe('deferred');
    expect(server.calls.filter((call) => call.startsWith('apply')).length).toBeLessThan(6);
  });

  it('is not who deletes a namespace: what went with it is created in the next one at once', async () => {
    const { server, execute } = setUp(undefined);
    for (let life = 0; life < 10; life += 1) {
      server.namespaceUid = `ns-${life}`;
      expect((await execute({ op: 'create', ...want(service('a', 80)) })).result).toBe('written');
      server.object = undefined;
    }
  });

  it('that creates what we delete is answered less and less often', async () => {
    const { server, execute } = setUp(live(service('a', 80)));
    const results = await tenTimes(
      () => execute({ op: 'delete', ...own(server.object!) }),
      () => void (server.object = live(service('a', 80))),
    );
    expect(results.slice(0, 4)).toEqual(['deleted', 'deleted', 'deleted', 'deleted']);
    expect(results.at(-1)).toBe('deferred');
  });

  it('is not us: what we delete ourselves is created at once, as often as it is wanted', async () => {
    const { server, execute } = setUp(undefined);
    for (let times = 0; times < 10; times += 1) {
      expect((await execute({ op: 'create', ...want(service('a', 80)) })).result).toBe('written');
      expect((await execute({ op: 'delete', ...own(server.object!) })).result).toBe('deleted');
    }
  });

  it('that turns a Service into what must be replaced is answered less and less often (D3)', async () => {
    const headless = live(service('a', 80, { clusterIP: 'None' }));
    const { server, execute } = setUp(headless);
    const results = await tenTimes(
      () => execute({ op: 'replace', live: server.object!, ...want(service('a', 80)) }),
      () => void (server.object = headless),
    );
    expect([results[0], results.at(-1)]).toEqual(['written', 'deferred']);
  });

  it('is not who makes our writes fail: these are not spaced out', async () => {
    const { server, make } = setUp(live(service('a', 80)));
    server.admission = () => {
      throw new ApiError(503, {}, 'apply');
    };
    for (let failed = 0; failed < 10; failed += 1) await expect(make(service('a', 81))).rejects.toThrow('503');
    server.admission = (object) => object;
    expect(await make(service('a', 81))).toEqual(['written']);
    expect(server.object?.spec?.ports).toEqual([{ port: 81 }]);
  });

  it('is reported with what is added, if that is all: what we want is there', async () => {
    const { server, execute, make } = setUp(live(service('a', 80)));
    const added = { labels: { injected: 'x' } };
    for (let undone = 0; undone < 10; undone += 1) {
      server.object = live(service('a', 80, added), `x${undone}`);
      await make(service('a', 80));
    }
    const update = (of: Service): Action => ({ op: 'update', live: of, ...want(service('a', 80)) });
    expect(await execute(update(live(service('a', 80, added))))).toMatchObject({
      result: 'deferred',
      additions: ['injected'],
    });
    expect(await execute(update(live(service('a', 81, added))))).toMatchObject({
      result: 'deferred',
      additions: undefined,
    });
  });

  it('does not slow down a change of readiness (F3)', async () => {
    const { server, execute } = setUp(live(service('a', 80)));
    const endpoints = (field: 'addresses' | 'notReadyAddresses'): Endpoints => ({
      metadata: { namespace: 'shop', name: 'a', labels: OURS },
      subsets: [{ [field]: [{ ip: '203.0.113.1' }], ports: [{ port: 4143 }] }],
    });
    const write = (object: KubeObject): Promise<{ readonly result: string }> => {
      server.object = live({ metadata: { namespace: 'shop', name: 'a', labels: OURS } }, '7');
      return execute({ op: 'update', live: server.object, of: ENDPOINTS, object });
    };
    for (let undone = 0; undone < 10; undone += 1) await write(endpoints('addresses'));
    expect((await write(endpoints('addresses'))).result).toBe('deferred');
    expect((await write(endpoints('notReadyAddresses'))).result).toBe('written');
    expect((await write(endpoints('addresses'))).result).toBe('written');
  });

  it('does not slow down a change of what we want', async () => {
    const { server, make } = setUp(live(service('a', 80)));
    for (let undone = 0; undone < 10; undone += 1) {
      await make(service('a', 81));
      server.object = live(service('a', 80), `x${undone}`);
    }
    expect(await make(service('a', 82))).toEqual(['written']);
  });
});
