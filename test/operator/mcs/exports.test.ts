/** What an export may bring along: another cluster is not trusted, and each bound is met from both sides (E1, E10). */
import { describe, expect, it } from 'vitest';
import { type ExportedService, readExport } from '../../../operator/mcs/exports.ts';
import type { Service } from '../../../operator/kube/objects.ts';
import { service, serviceExport } from './observed.ts';

type Spec = Parameters<typeof serviceExport>[1];

const read = (given: Service | undefined, spec: Spec | null = {}) => {
  const { spec: _, ...bare } = serviceExport();
  return readExport('west', spec === null ? bare : serviceExport(undefined, spec), given);
};

const exported = (given: Service, spec?: Spec | null): ExportedService => {
  const found = read(given, spec);
  if (!found.valid) throw new Error(found.invalid.message);
  return found.value;
};

const refusal = (given: Service | undefined): string => {
  const found = read(given);
  return found.valid ? '' : found.invalid.reason;
};

const numbered = (count: number, of = (at: number): string => `v${at}`): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${String(at).padStart(3, '0')}`, of(at)]));

describe('an export', () => {
  it('needs a Service that has endpoints of its own', () => {
    expect([refusal(undefined), refusal(service({ type: 'ExternalName' }))]).toEqual([
      'NoService',
      'InvalidServiceType',
    ]);
    const mirror = service({}, { labels: { 'mirror.linkerd.io/mirrored-service': 'true' } });
    expect([refusal(mirror), refusal(service())]).toEqual(['InvalidServiceType', '']);
  });

  it('has at most a hundred ports', () => {
    const ports = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ name: `p${at}`, port: at + 1, protocol: 'TCP' }));
    expect([refusal(service({ ports: ports(100) })), refusal(service({ ports: ports(101) }))]).toEqual([
      '',
      'InvalidService',
    ]);
    expect(exported(service({ ports: [{ name: 'a', port: 1 }] })).ports).toMatchObject([{ protocol: 'TCP' }]);
  });

  it('is not valid where the Service has no spec, and brings nothing along without one of its own', () => {
    const { metadata } = service();
    expect(refusal({ metadata })).toBe('InvalidService');
    expect(exported(service({ ipFamilies: undefined }), null)).toMatchObject({
      type: 'ClusterSetIP',
      ipFamilies: [],
      sessionAffinity: 'None',
      labels: {},
      annotations: {},
    });
  });

  it('has the families of addresses that there are, each once, in their order', () => {
    const ipFamilies = ['IPv6', 'IPvNext', 'IPv4', 'IPv6'];
    expect(exported(service({ ipFamilies })).ipFamilies).toEqual(['IPv6', 'IPv4']);
  });

  it.each([
    [1, 1],
    [86_400, 86_400],
    [0, undefined],
    [86_401, undefined],
    [1.5, undefined],
    ['60', undefined],
    [undefined, undefined],
  ])('has sessions of %j seconds: %j', (timeoutSeconds, expected) => {
    const sticky = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds } } };
    expect(exported(service(sticky)).sessionAffinitySeconds).toBe(expected);
    expect(exported(service({ ...sticky, sessionAffinity: 'None' })).sessionAffinitySeconds).toBeUndefined();
  });

  it.each([[null], [undefined], [{ clientIP: null }], [{}]])('has none of %j', (sessionAffinityConfig) => {
    const sticky = { sessionAffinity: 'ClientIP', sessionAffinityConfig };
    expect(exported(service(sticky))).toMatchObject({ sessionAffinity: 'ClientIP', sessionAffinitySeconds: undefined });
  });

  it('has a traffic distribution that is a text, not empty and not too long', () => {
    const of = (trafficDistribution: unknown) => exported(service({ trafficDistribution })).trafficDistribution;
    expect([of('PreferClose'), of(''), of(1), of('x'.repeat(128))?.length, of('x'.repeat(129))]).toEqual([
      'PreferClose',
      ...[undefined, undefined, 128, undefined],
    ]);
  });

  it('has labels and annotations that an API server takes, as texts', () => {
    const given = { 'a.io/b': 'c', '-': 'x', d: 5, e: '-f' } as unknown as Record<string, string>;
    expect(exported(service(), { exportedLabels: given, exportedAnnotations: given })).toMatchObject({
      labels: { 'a.io/b': 'c' },
      annotations: { 'a.io/b': 'c', e: '-f' },
    });
    const none = { exportedLabels: null, exportedAnnotations: 'x' } as unknown as Spec;
    expect(exported(service(), none)).toMatchObject({ labels: {}, annotations: {} });
  });

  it('has the first 64 of them by key, in whatever order they come', () => {
    const exportedLabels = Object.fromEntries(Object.entries(numbered(65)).toReversed());
    const { labels } = exported(service(), { exportedLabels });
    expect([Object.keys(labels).length, Object.keys(labels)[0], labels['k064']]).toEqual([64, 'k000', undefined]);
  });

  it('has annotations that are not too long, each and all together', () => {
    const { annotations } = exported(service(), {
      exportedAnnotations: { fits: 'x'.repeat(4_096), long: 'x'.repeat(4_097) },
    });
    expect(Object.keys(annotations)).toEqual(['fits']);
    const all = exported(service(), { exportedAnnotations: numbered(64, () => 'x'.repeat(4_092)) });
    // 224 KiB are 56 of 4,096 bytes: a key has four.
    expect(Object.keys(all.annotations)).toHaveLength(56);
    const more = exported(service(), { exportedAnnotations: numbered(64, () => 'x'.repeat(4_093)) });
    expect(Object.keys(more.annotations)).toHaveLength(55);
  });
});
