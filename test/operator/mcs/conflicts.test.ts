import { expect, it } from 'vitest';
import { resolve } from '../../../operator/mcs/conflicts.ts';
import { type ExportedService, readExport } from '../../../operator/mcs/exports.ts';
import { service, serviceExport } from './observed.ts';

interface Given {
  readonly createdAt?: string;
  readonly linkedAt?: string;
  readonly uid?: string;
  readonly clusterIP?: string;
}

/** An export of a cluster; without `linkedAt`, of the cluster itself. */
const exported = (cluster: string, { createdAt, linkedAt, uid = cluster, clusterIP }: Given): ExportedService => {
  const { metadata, ...rest } = serviceExport(createdAt);
  const own = service(clusterIP === undefined ? {} : { clusterIP });
  const read = readExport(cluster, { ...rest, metadata: { ...metadata, uid } }, own, linkedAt);
  if (!read.valid) throw new Error(read.invalid.message);
  return read.value;
};

const oldestOf = (...all: readonly ExportedService[]): string | undefined => resolve(all)?.first.cluster;

it('of one age are settled by the uid, which all clusters see alike, whatever they call each other (K2)', () => {
  const [north, west] = [{ uid: 'b' }, { uid: 'a', clusterIP: 'None' }];
  const linkedAt = '2025-06-01T00:00:00Z';
  expect(oldestOf(exported('local', north), exported('west', { ...west, linkedAt }))).toBe('west');
  expect(oldestOf(exported('north', { ...north, linkedAt }), exported('local', west))).toBe('local');
});

it('of a target are no older than its Link, whatever age it reports (K2)', () => {
  const own = exported('local', { createdAt: '2024-01-01T00:00:00Z' });
  const lie = { createdAt: '1970-01-01T00:00:00Z', clusterIP: 'None' };
  const west = exported('west', { createdAt: '2024-01-02T00:00:00Z', linkedAt: '2024-01-01T00:00:00Z' });
  const evil = exported('evil', { ...lie, linkedAt: '2024-06-01T00:00:00Z' });
  expect(resolve([own, west, evil])?.backing.map(({ cluster }) => cluster)).toEqual(['local', 'west']);
  expect(oldestOf(west, evil)).toBe('west');
  expect(exported('north', { createdAt: '2026-01-01T00:00:00Z', linkedAt: '2025-01-01T00:00:00Z' }).createdAt).toBe(
    Date.parse('2026-01-01T00:00:00Z'),
  );
});
