/** Lists and watches: order, versions, pages, selectors. */
import { expect, it } from 'vitest';
import { installCrd, uninstallCrd } from '../workload/index.ts';
import { type Any, onEachServer, type Status } from './server.ts';

onEachServer('lists and watches', (server) => {
  const { unique, core, group, get, post, patch, remove, apply, configMap, watch, seen, versionNow, namespace } =
    server;

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
    for await (const event of server.client.watch(
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

  it('pages a list as it was when the first page was read', async () => {
    const label = unique('page');
    const names = [unique('p'), unique('p'), unique('p'), unique('p')].toSorted();
    for (const name of names) await post(core('configmaps'), configMap(name, {}, { labels: { page: label } }));
    const page = async (token?: string): Promise<Any> =>
      (
        await server.client.request<Any>('GET', core('configmaps'), {
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

  it('reports how many items remain of a list without a selector', async () => {
    const { body } = await server.client.request<Any>('GET', core('configmaps'), { query: { limit: 1 } });
    const all = await get(core('configmaps'));
    expect(body.metadata.remainingItemCount).toBe(all.items.length - 1);
    expect(body.items[0]).not.toHaveProperty('kind');
  });

  it('refuses a version that does not exist yet, and a bad continue token', async () => {
    const ahead = await server.client.request<Status>('GET', core('configmaps'), {
      query: { resourceVersion: '999999999' },
    });
    expect(ahead).toMatchObject({ code: 504, body: { reason: 'Timeout', details: { retryAfterSeconds: 1 } } });
    expect(ahead.body.message).toMatch(/^Timeout: Too large resource version: 999999999, current: \d+$/);
    expect(ahead.body.details?.causes?.[0]?.reason).toBe('ResourceVersionTooLarge');
    const bad = await server.client.request<Status>('GET', core('configmaps'), { query: { limit: 1, continue: 'x' } });
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
      return (await server.client.request<Any>('GET', core('configmaps'), { query })).body.items.map(
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
    const unparsable = await server.client.request<Status>('GET', core('configmaps'), {
      query: { labelSelector: 'a in' },
    });
    expect(unparsable).toMatchObject({ code: 400, body: { reason: 'BadRequest' } });
    const unknown = await server.client.request<Status>('GET', core('configmaps'), {
      query: { fieldSelector: 'data.x=1' },
    });
    expect(unknown).toMatchObject({ code: 400, body: { reason: 'BadRequest' } });
    expect(unknown.body.message).toBe(
      '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
    const other = await server.client.request<Status>('GET', core('secrets'), { query: { fieldSelector: 'data.x=1' } });
    expect(other.body.message).toBe('field label not supported: data.x');
  });

  it('selects Secrets by type and Events by what they are about', async () => {
    const name = unique();
    await post(core('secrets'), { metadata: { name }, type: 'linkspan.test/type', stringData: { a: 'b' } });
    const secrets = await server.client.request<Any>('GET', core('secrets'), {
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
    expect((await server.client.request<Any>('GET', core('events'), { query })).body.items).toHaveLength(1);
  });

  it('ends the watches of a kind whose definition goes, and opens none from before it is made anew that lives', async () => {
    const gizmos = { apiVersion: 'linkspan.test/v1', kind: 'Gizmo', namespace };
    await installCrd(server.cluster, gizmoCrd);
    await post(group('linkspan.test/v1', 'gizmos'), { ...gizmos, metadata: { name: 'one' } });
    const from = async (resourceVersion: string, during: () => Promise<unknown> = async () => undefined) => {
      const events: unknown[] = [];
      const query = { resourceVersion, timeoutSeconds: 60 };
      const reading = (async () => {
        const all = server.client.watch<Any & Status>(gizmos, query, AbortSignal.timeout(20_000));
        for await (const { type, object } of all) events.push([type, object.metadata.name ?? object.code]);
      })();
      await during();
      await reading;
      return events;
    };
    const { resourceVersion } = await server.client.listAll(gizmos);
    expect(await from(resourceVersion, () => uninstallCrd(server.client, gizmoCrd))).toEqual([['DELETED', 'one']]);
    await installCrd(server.cluster, gizmoCrd);
    expect(await from(resourceVersion)).toEqual([['ERROR', 410]]);
    await uninstallCrd(server.client, gizmoCrd);
  });
});

const gizmoCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gizmos.linkspan.test' },
  spec: {
    group: 'linkspan.test',
    scope: 'Namespaced',
    names: { kind: 'Gizmo', plural: 'gizmos', singular: 'gizmo' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
