import { describe, expect, it } from 'vitest';
import { Annotation } from '../../../../crds/wire.ts';
import type { Lease } from '../../../../operator/kube/objects.ts';
import { readLinkObject } from '../../../../operator/link/links.ts';
import { readServedSpec, recordOf, servedSpecOf } from '../../../../operator/link/lease/served-spec.ts';
import { link } from '../../../support/builders.ts';

const METADATA = { uid: 'one', generation: 7, creationTimestamp: '2026-01-01T00:00:00Z' };
const valid = readLinkObject(link('west', { targetClusterName: 'west' }, METADATA));
const invalid = readLinkObject(
  link('west', { targetClusterName: 'west', gatewayPort: 'none' }, { ...METADATA, generation: 8 }),
);
const RECORD = recordOf(servedSpecOf(valid.settings!, valid), 3)[Annotation.servedSpec]!;

const lease = (text: string, over: { readonly transitions?: number; readonly cluster?: string } = {}): Lease => ({
  metadata: {
    name: 'service-mirror-write-west',
    annotations: { [Annotation.targetCluster]: over.cluster ?? 'west', [Annotation.servedSpec]: text },
  },
  spec: { leaseTransitions: over.transitions ?? 3 },
});

describe('the spec that a Link is served by (E7)', () => {
  it('is read back from its Lease as it was, whatever the Link is now', () => {
    const { settings, served } = readServedSpec(lease(RECORD), invalid, 'west')!;
    expect(JSON.stringify(settings)).toBe(JSON.stringify(valid.settings));
    expect(served).toEqual({ uid: 'one', generation: 7, spec: JSON.parse(JSON.stringify(valid.spec)) as unknown });
  });

  it('has the confirmation of a loss that the Link has now, which confirms no later one (L112)', () => {
    const confirmPrune = (of: typeof invalid): string | undefined =>
      readServedSpec(lease(RECORD), of, 'west')!.settings.confirmPrune;
    const annotations = { [Annotation.confirmPrune]: '12-a5ae7c32' };
    const spec = { targetClusterName: 'west', gatewayPort: 'none' };
    expect(confirmPrune(readLinkObject(link('west', spec, { ...METADATA, annotations })))).toBe('12-a5ae7c32');
    expect(confirmPrune(invalid)).toBeUndefined();
  });

  it('counts for that Link alone, its cluster, and until another holds the Lease', () => {
    const isKnown = (...of: Parameters<typeof readServedSpec>): boolean => readServedSpec(...of) !== undefined;
    expect(isKnown(lease(RECORD), { ...invalid, uid: 'two' }, 'west')).toBe(false);
    expect(isKnown(lease(RECORD, { transitions: 4 }), invalid, 'west')).toBe(false);
    expect(isKnown(lease(RECORD), invalid, 'east')).toBe(false);
    expect(isKnown(lease(RECORD, { cluster: 'east' }), invalid, 'west')).toBe(false);
    expect(isKnown(lease(RECORD, { cluster: 'east' }), invalid, 'east')).toBe(false);
  });

  const changed = (spec: object): string => {
    const record = JSON.parse(RECORD) as { readonly spec: object };
    return JSON.stringify({ ...record, spec: { ...record.spec, ...spec } });
  };

  it.each([
    ['nothing', ''],
    ['no JSON', RECORD.slice(1)],
    ['no object', '[]'],
    ['no generation', RECORD.replace('"generation":7', '"generation":"7"')],
    ['a spec that is invalid', changed({ gatewayPort: 'none' })],
    ['a spec of other types', changed({ selector: 1 })],
    ['a spec of another cluster', changed({ targetClusterName: 'east' })],
    ['more than is ever written', changed({ excludedLabels: Array.from({ length: 2_000 }, (_, at) => `label-${at}`) })],
  ])('is not known from %s', (_, text) => {
    expect(readServedSpec(lease(text), invalid, 'west')).toBeUndefined();
  });

  it('is not recorded if it is too long, and what was is removed', () => {
    const spec = { excludedLabels: Array.from({ length: 2_000 }, (_, at) => `label-${at}`) };
    expect(recordOf({ uid: 'one', generation: 1, spec }, 0)).toEqual({ [Annotation.servedSpec]: undefined });
    expect(recordOf(undefined, 0)).toEqual({ [Annotation.servedSpec]: undefined });
  });
});
