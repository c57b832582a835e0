import { describe, expect, it } from 'vitest';
import type { Service } from '../../../operator/kube/objects.ts';
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

  const BARE = { metadata: { name: 'web', namespace: 'shop' } };
  const PORTS = Array.from({ length: 20 }, (_, at) => ({ name: `port-${at}`, port: 8000 + at }));
  const portBytes = JSON.stringify(PORTS).length - JSON.stringify(targetService().spec?.ports).length;

  it('has its ports once in each object that lists them: the Service that is written, and its slices', () => {
    const [few, many] = [targetService(), targetService({ ports: PORTS })];
    // Sizes are rough, and a little above those of JSON.
    const rough = (times: number) => ({ least: times * portBytes, most: 1.3 * times * portBytes });
    const joined = volumeOfMember(many) - volumeOfMember(few);
    expect(joined).toBeGreaterThanOrEqual(rough(2).least);
    expect(joined).toBeLessThan(rough(2).most);
    const exported = volumeOfExport(BARE, many) - volumeOfExport(BARE, few);
    expect(exported).toBeGreaterThanOrEqual(rough(3).least);
    expect(exported).toBeLessThan(rough(3).most);
  });

  it('grows behind a gateway with the ports of each of its pods', () => {
    const pods = [targetSlice(Array.from({ length: 10 }, (_, at) => ({ hostname: `web-${at}` })))];
    const perPod = (ports: Service['spec']) =>
      (volumeOfExport(BARE, headlessService(ports), pods) - volumeOfExport(BARE, headlessService(ports))) / 10;
    expect(perPod({ ports: PORTS }) - perPod({})).toBeGreaterThanOrEqual(2 * portBytes);
  });

  it('that is exported grows with its own metadata, and is counted without spec, ports or pods as well', () => {
    const noted = volumeOfExport(BARE, targetService({}, { annotations: { note: NOTE } }));
    expect(noted - volumeOfExport(BARE, targetService())).toBeGreaterThanOrEqual(NOTE.length);
    const { metadata } = targetService();
    expect(volumeOfMember({ metadata })).toBeGreaterThan(0);
    const emptied = [{ ...targetSlice([]), endpoints: null }];
    expect(volumeOfExport(BARE, { metadata }, emptied)).toBeGreaterThan(volumeOfExport(BARE, { metadata }));
    const without = volumeOfExport(BARE, headlessService(), emptied);
    expect(without).toBeGreaterThan(volumeOfExport(BARE, headlessService()));
    expect(without - volumeOfExport(BARE, headlessService())).toBeLessThan(2_000);
  });
});
