import { describe, expect, it } from 'vitest';
import type { ServiceImport } from '../../../../operator/mcs/objects.ts';
import type { ServiceExport } from '../../../../operator/target/read/mcs-objects.ts';
import type { ReportFormat } from '../../../../synth/commands/common/flags.ts';
import type { McsObjects } from '../../../../synth/commands/common/imports.ts';
import { isAllWell, statusText } from '../../../../synth/commands/status/report.ts';

const condition = (type: string, status: 'True' | 'False', reason: string, message = '') => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-11-22T00:00:00Z',
});
const VALID = condition('Valid', 'True', 'Valid');
const NO_CONFLICT = condition('Conflict', 'False', 'NoConflicts');

const imported = (
  name: string,
  clusters: readonly string[],
  ready = condition('Ready', 'True', 'Ready'),
): ServiceImport => ({
  metadata: { name, namespace: 'shop' },
  spec: { type: 'ClusterSetIP', ips: ['10.96.0.7'], ports: [{ port: 80 }] },
  status: { clusters: clusters.map((cluster) => ({ cluster })), conditions: [ready] },
});
const exported = (name: string, ...conditions: readonly ReturnType<typeof condition>[]): ServiceExport => ({
  metadata: { name, namespace: 'shop' },
  ...(conditions.length > 0 && { status: { conditions } }),
});
const isWell = (mcs: Partial<McsObjects>): boolean =>
  isAllWell([], { mcs: { imports: [], exports: [], obstacle: undefined, ...mcs } });
const textOf = (mcs: Partial<McsObjects> | undefined, format: ReportFormat = 'table'): readonly string[] =>
  statusText([], format, { mcs: mcs && { imports: [], exports: [], obstacle: undefined, ...mcs } })
    .split('\n')
    .slice(1, -1)
    .map((line) => line.replaceAll(/ {2,}/g, ' | '));

describe('the status of the MCS API (K1, K2)', () => {
  it('is the type of each ServiceImport, and the clusters that it leads to', () => {
    const headless = { ...imported('db', ['west']), spec: { type: 'Headless' as const, ports: [] } };
    const mcs = { imports: [headless, imported('web', ['west', 'east'])] };
    expect(textOf(mcs)).toEqual([
      '',
      'SERVICE IMPORT | TYPE | CLUSTERS',
      'shop/db | Headless | west',
      'shop/web | ClusterSetIP | east,west',
    ]);
    expect(textOf(mcs, 'wide').slice(1)).toEqual([
      'SERVICE IMPORT | TYPE | IPS | CLUSTERS',
      'shop/db | Headless | <none> | west',
      'shop/web | ClusterSetIP | 10.96.0.7 | east,west',
    ]);
  });

  it('names the ServiceExports that are not valid, that conflict, and that nobody reports on, and no other', () => {
    const exports = [
      exported('a', condition('Valid', 'False', 'NoService', 'there is no Service a'), NO_CONFLICT),
      exported('b', VALID, condition('Conflict', 'True', 'PortConflict', 'port http is 80 in east, and 81 in west')),
      exported('c'),
      exported('web', VALID, NO_CONFLICT),
    ];
    expect(textOf({ exports })).toEqual([
      '',
      'SERVICE EXPORT | CONDITION | REASON | MESSAGE',
      'shop/a | Valid=False | NoService | there is no Service a',
      'shop/b | Conflict=True | PortConflict | port http is 80 in east, and 81 in west',
      'shop/c | Valid=Unknown | NotReported | no operator of this cluster has reported on it, as it is now',
    ]);
    // A conflict is settled: what is exported works all the same.
    expect(exports.map((each) => isWell({ exports: [each] }))).toEqual([false, true, false, true]);
  });

  it.each([
    ['nobody knows', { ...VALID, status: 'Unknown' as never }],
    ['was said of an older one', { ...VALID, observedGeneration: 1 }],
  ])('names a ServiceExport whose validity %s', (_, valid) => {
    const { metadata, ...rest } = exported('a', valid);
    const found = { metadata: { ...metadata, generation: 2 }, ...rest };
    expect(textOf({ exports: [found] }).at(-1)).toContain('shop/a | Valid=Unknown | NotReported');
    expect(isWell({ exports: [found] })).toBe(false);
  });

  it('names the ServiceImports that are not ready', () => {
    const pending = condition('Ready', 'False', 'Pending', 'Service shop/web-clusterset is not ours');
    expect(textOf({ imports: [imported('web', ['west'], pending)] }).slice(0, 3)).toEqual([
      '',
      'SERVICE IMPORT | CONDITION | REASON | MESSAGE',
      'shop/web | Ready=False | Pending | Service shop/web-clusterset is not ours',
    ]);
    expect(isWell({ imports: [imported('web', ['west'], pending)] })).toBe(false);
  });

  it('names a ServiceImport of ours that nobody has reported on, and none of others', () => {
    const of = (labels: Readonly<Record<string, string>>): ServiceImport => {
      const { metadata, spec } = imported('web', ['west']);
      return { metadata: { ...metadata, labels }, spec: spec! };
    };
    const ours = of({ 'linkspan.dev/service-import': 'web' });
    expect(textOf({ imports: [ours] }).at(2)).toBe(
      'shop/web | Ready=Unknown | NotReported | no operator of this cluster has reported on it, as it is now',
    );
    expect([isWell({ imports: [ours] }), isWell({ imports: [of({})] })]).toEqual([false, true]);
  });

  it('is no longer than it must be: of many, all are listed by -o wide alone', () => {
    const imports = Array.from({ length: 300 }, (_, at) => imported(`web-${at}`, ['west']));
    const exports = imports.map(({ metadata }) => exported(metadata.name));
    const lines = textOf({ imports, exports });
    expect(lines.filter((line) => line.startsWith('shop/'))).toHaveLength(100);
    expect(lines.filter((line) => line === '… and 250 more, which -o wide lists')).toHaveLength(2);
    const wide = textOf({ imports, exports }, 'wide');
    expect(wide.filter((line) => line.startsWith('shop/'))).toHaveLength(600);
    expect(wide.join('\n')).not.toContain('more');
  });

  it('has a field for each kind, unless it may not be read or is not served', () => {
    const read = (mcs: McsObjects | undefined): unknown => JSON.parse(statusText([], 'json', { mcs }));
    const imports = [imported('web', ['west', 'east'])];
    expect(read({ imports, exports: [exported('web', VALID)], obstacle: undefined })).toEqual({
      links: [],
      serviceImports: [
        {
          namespace: 'shop',
          name: 'web',
          type: 'ClusterSetIP',
          ips: ['10.96.0.7'],
          clusters: ['east', 'west'],
          conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '', since: '2026-11-22T00:00:00Z' }],
        },
      ],
      serviceExports: [
        {
          namespace: 'shop',
          name: 'web',
          conditions: [{ type: 'Valid', status: 'True', reason: 'Valid', message: '', since: '2026-11-22T00:00:00Z' }],
        },
      ],
    });
    expect(read({ imports: undefined, exports: [], obstacle: 'forbidden' })).toEqual({ links: [], serviceExports: [] });
    expect(read(undefined)).toEqual({ links: [] });
    expect(textOf(undefined)).toEqual([]);
  });
});
