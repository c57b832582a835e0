import { describe, expect, it } from 'vitest';
import { type KubeObject, SERVICES } from '../../../operator/kube/objects.ts';
import { listPages, type ListPagesOptions } from '../../../operator/kube/list-pages.ts';

const { signal } = new AbortController();

/** A server whose list has these pages, by the token that leads to each. */
function serve(pages: Readonly<Record<string, { readonly names: string[]; readonly next?: string }>>) {
  const asked: unknown[] = [];
  const listed: string[] = [];
  const list = (limits: Partial<ListPagesOptions<KubeObject>> = {}): Promise<string> => {
    const client = {
      listEach: async (_of: unknown, query: { continue?: string }, take: (object: KubeObject) => void) => {
        asked.push(query);
        const { names, next } = pages[query.continue ?? '']!;
        for (const name of names) take({ metadata: { name } });
        return { resourceVersion: '7', continue: next };
      },
    };
    const sink = {
      listed: ({ metadata }: KubeObject) => listed.push(metadata.name),
      get bytes() {
        return listed.length * 1_048_576;
      },
    };
    const options = { client: () => client, resource: SERVICES, sink, ...limits };
    return listPages(options as unknown as ListPagesOptions<KubeObject>, 500, signal);
  };
  return { list, asked, listed };
}

describe('the pages of a list', () => {
  it('are read until there is no other', async () => {
    const { list, asked, listed } = serve({ '': { names: ['a', 'b'], next: 't' }, t: { names: ['c'] } });
    expect(await list({ select: { namespace: 'shop' } })).toBe('7');
    expect(listed).toEqual(['a', 'b', 'c']);
    expect(asked).toEqual([
      { namespace: 'shop', limit: 500, continue: undefined },
      { namespace: 'shop', limit: 500, continue: 't' },
    ]);
  });

  it('are given up at the object that is one too many', async () => {
    const { list, listed } = serve({ '': { names: ['a', 'b'], next: 't' }, t: { names: ['c', 'd'] } });
    await expect(list({ maxObjects: 2 })).rejects.toThrow('list services: there are more than 2 objects');
    expect(listed).toEqual(['a', 'b']);
  });

  it('are given up when the objects take too much memory', async () => {
    const { list } = serve({ '': { names: ['a', 'b', 'c'] } });
    await expect(list({ maxBytes: 2 * 1_048_576 })).rejects.toThrow('take more than 2 MiB');
  });

  it.each([
    ['repeats', { '': { names: [], next: 't' }, t: { names: [], next: 't' } }],
    ['is too long', { '': { names: [], next: 't'.repeat(8_193) } }],
    [
      'leads round for ever',
      { '': { names: [], next: 's' }, s: { names: [], next: 't' }, t: { names: [], next: 's' } },
    ],
  ])('are given up when the token %s', async (_, pages) => {
    await expect(serve(pages).list()).rejects.toThrow('the list does not end');
  });
});
