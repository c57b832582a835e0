import { describe, expect, it } from 'vitest';
import { volumeOfExport, volumeOfMember } from '../../../operator/mirror/volumes.ts';
import { headlessService, targetService, targetSlice } from './observed.ts';

const NOTE = 'x'.repeat(1_000);

describe('what a Service takes (E10)', () => {
  it('that joins a federated Service grows with what is copied of it', () => {
    const grown = volumeOfMember(targetService({}, { annotations: { note: NOTE } }));
    expect(grown - volumeOfMember(targetService())).toBeGreaterThanOrEqual(NOTE.length);
  });

  it('that is exported is what the ServiceImport and its derived Service copy of the export, and all pods', () => {
    const bare = { metadata: { name: 'web', namespace: 'shop' } };
    const exported = { ...bare, spec: { exportedAnnotations: { note: NOTE } } };
    const service = targetService();
    const grown = volumeOfExport(exported, service) - volumeOfExport(bare, service);
    expect(grown).toBeGreaterThanOrEqual(2 * NOTE.length);
    const pods = [targetSlice([{ hostname: 'web-0' }, { hostname: 'web-1' }])];
    const listed = volumeOfExport(bare, service, pods);
    expect(listed).toBeGreaterThan(volumeOfExport(bare, service));
    expect(volumeOfExport(bare, headlessService(), pods) - listed).toBeGreaterThanOrEqual(4_000);
    expect(volumeOfExport(exported, undefined)).toBe(0);
  });
});
