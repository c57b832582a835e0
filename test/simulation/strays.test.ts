/** What the judge allows of deletions of slices that are not ours (rule C3). */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { Readings } from './strays.ts';
import { SimulatedProcess } from './world/world.ts';

const process = new SimulatedProcess('linkspan-0 (1)', {}, () => 0);
const other = new SimulatedProcess('linkspan-0 (2)', {}, () => 0);
const slice: KubeObject = {
  ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
  metadata: { namespace: 'shop', name: 'by-hand', labels: { 'kubernetes.io/service-name': 'web-west' } },
};
const endpoints: KubeObject = {
  ...{ apiVersion: 'v1', kind: 'Endpoints' },
  metadata: { namespace: 'shop', name: 'web-west' },
};
const service: KubeObject = {
  ...{ apiVersion: 'v1', kind: 'Service' },
  metadata: { namespace: 'shop', name: 'web-west', labels: { ours: 'true' } },
  spec: {},
};
const disowned: KubeObject = { ...service, metadata: { ...service.metadata, labels: {} } };
const selecting: KubeObject = { ...service, spec: { selector: { app: 'web' } } };

/** The judge's knowledge of a cluster in which one Service is read at certain times. */
function read(...times: readonly (readonly [atMs: number, found: KubeObject | undefined])[]): Readings {
  let now: (typeof times)[number] = [0, undefined];
  const readings = new Readings(
    { get: () => now[1] },
    () => now[0],
    ({ metadata }) => metadata.labels?.['ours'] === 'true',
  );
  for (now of times) {
    readings.asked({ process, sentMs: now[0], method: 'GET', url: '/api/v1/namespaces/shop/services/web-west' });
  }
  return readings;
}

describe('a slice that is not ours (C3)', () => {
  it('may be deleted if its Service was ours when it was read last, and so may Endpoints', () => {
    expect(read([1, disowned], [2, service]).allow({ process, sentMs: 3 }, slice)).toBe(true);
    expect(read([1, disowned], [2, service]).allow({ process, sentMs: 3 }, endpoints)).toBe(true);
    expect(read([1, service], [2, disowned]).allow({ process, sentMs: 3 }, endpoints)).toBe(false);
  });

  it.each([
    ['was not ours', disowned],
    ['had a selector', selecting],
    ['was gone', undefined],
  ])('may not be deleted if its Service %s when it was read last', (_, found) => {
    expect(read([1, service], [2, found]).allow({ process, sentMs: 3 }, slice)).toBe(false);
  });

  it('may not be deleted by what is read later, or by another process', () => {
    expect(read([5, service]).allow({ process, sentMs: 3 }, slice)).toBe(false);
    expect(read([2, service]).allow({ process: other, sentMs: 3 }, slice)).toBe(false);
  });

  it('may not be deleted by a reading for which another one was deleted', () => {
    const readings = read([2, service]);
    expect(readings.allow({ process, sentMs: 3 }, slice)).toBe(true);
    expect(readings.allow({ process, sentMs: 3 }, slice)).toBe(false);
  });
});
