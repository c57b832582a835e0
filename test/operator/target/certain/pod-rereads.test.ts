import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KubeClient, ListOptions } from '../../../../operator/kube/client.ts';
import type { EndpointSlice, Resource, Service } from '../../../../operator/kube/objects.ts';
import { haveMoved, PodRereads } from '../../../../operator/target/certain/pod-rereads.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const DB = 'shop/db';
const DB_SERVICE: Service = {
  metadata: { namespace: 'shop', name: 'db', uid: 'uid', resourceVersion: '1' },
  spec: { clusterIP: 'None', selector: { app: 'db' } },
};

let slices = 0;
const slice = (hostnames: readonly string[], labels: object = { exported: 'true' }, addressType = 'IPv4') =>
  ({
    metadata: {
      ...{ namespace: 'shop', name: `db-${(slices += 1)}`, resourceVersion: '1' },
      labels: { 'kubernetes.io/service-name': 'db', ...labels },
    },
    addressType,
    endpoints: hostnames.map((hostname) => ({ addresses: ['10.0.0.1'], hostname })),
  }) as unknown as EndpointSlice;

/** Asks a target with these slices for the pods behind Service db. */
async function asked(...pages: readonly (readonly EndpointSlice[])[]) {
  const queries: ListOptions[] = [];
  const reported: string[] = [];
  const rereads = new PodRereads({
    get: () => DB_SERVICE,
    isLabelled: (labels) => labels?.['exported'] === 'true',
    listener: {
      answered: (key) => reported.push(key),
      unanswered: (key, error) => reported.push(`${key} ${String(error)}`),
    },
    backoff: { baseMs: 100, capMs: 1000 },
  });
  const listEach = (_: Resource, query: ListOptions, take: (slice: EndpointSlice) => void) => {
    const page = Number(query.continue ?? 0);
    queries.push(query);
    for (const each of pages[page] ?? []) take(each);
    const next = page + 1 < pages.length ? { continue: `${page + 1}` } : {};
    return Promise.resolve({ resourceVersion: '9', ...next });
  };
  const ended = new AbortController();
  rereads.run({ listEach } as unknown as KubeClient, ended.signal);
  const isUnknown = !rereads.lacks(DB, 'db-9');
  rereads.ask(DB);
  await vi.advanceTimersByTimeAsync(0);
  ended.abort();
  const there = ['db-0', 'db-1', 'db-2'].filter((hostname) => !rereads.lacks(DB, hostname));
  return { queries, reported, there, isUnknown };
}

describe('the pods behind a Service (D5)', () => {
  it('are those of all its slices, listed at once and not from what a server has seen before', async () => {
    const { queries, reported, there, isUnknown } = await asked([slice(['db-0'])], [slice(['db-2'])]);
    expect([isUnknown, reported, there]).toEqual([true, [DB], ['db-0', 'db-2']]);
    expect(queries.map(({ namespace, labelSelector, resourceVersion }) => [namespace, labelSelector, resourceVersion]))
      // Without a version, the answer is that of etcd.
      .toEqual([0, 1].map(() => ['shop', 'kubernetes.io/service-name=db', undefined]));
  });

  it('are those of slices without the label only if the others list nobody (D9)', async () => {
    expect((await asked([slice(['db-0']), slice(['db-1'], {})])).there).toEqual(['db-0']);
    expect((await asked([slice([]), slice(['db-1'], {})])).there).toEqual(['db-1']);
  });

  it('are not those of addresses that are names', async () => {
    expect((await asked([slice(['db-0'], undefined, 'FQDN'), slice(['db-1'])])).there).toEqual(['db-1']);
  });
});

it('pods have moved if hostnames came or went', () => {
  expect([
    haveMoved(slice(['db-0']), slice(['db-0'])),
    haveMoved(slice(['db-0']), slice([])),
    haveMoved(undefined, slice(['db-0'])),
  ]).toEqual([false, true, true]);
});
