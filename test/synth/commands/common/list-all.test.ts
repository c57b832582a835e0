/** How commands list: whatever a cluster has, and nothing else. */
import { expect, test } from 'vitest';
import type { ListOptions } from '../../../../operator/kube/client.ts';
import { ApiError } from '../../../../operator/kube/errors.ts';
import { type KubeObject, type Resource, SERVICES } from '../../../../operator/kube/objects.ts';
import { listAll } from '../../../../synth/commands/common/list-all.ts';

/** Answers the pages that `pageOf` gives, each with the token of the next. */
const answering = (pageOf: (token: string | undefined) => { readonly names: string[]; readonly next: string }) => {
  const asked: ListOptions[] = [];
  const listEach = <T extends KubeObject>(_: Resource, options: ListOptions, take: (item: T) => void) => {
    asked.push(options);
    const { names, next } = pageOf(options.continue);
    for (const name of names) take({ metadata: { name } } as T);
    return Promise.resolve({ resourceVersion: '7', continue: next });
  };
  return { client: { listEach }, asked };
};

test('of a long list no page has more than 500 objects, and all of them are read', async () => {
  const { client, asked } = answering((token) =>
    token === undefined ? { names: ['a', 'b'], next: 'more' } : { names: ['c'], next: '' },
  );
  const found = await listAll(client, SERVICES, { labelSelector: 'a=b' });
  expect(found.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
  expect(asked).toEqual([
    { labelSelector: 'a=b', limit: 500, continue: undefined },
    { labelSelector: 'a=b', limit: 500, continue: 'more' },
  ]);
});

test('a list without end is given up', async () => {
  const { client } = answering(() => ({ names: ['a'], next: 'more' }));
  await expect(listAll(client, SERVICES, {})).rejects.toThrow('the list does not end');
});

test('of what an API server does not serve there is nothing; other errors are reported', async () => {
  const failing = (code: number) => ({ listEach: () => Promise.reject(new ApiError(code, {}, 'list services')) });
  expect(await listAll(failing(404), SERVICES, {})).toEqual([]);
  await expect(listAll(failing(403), SERVICES, {})).rejects.toThrow('403');
});
