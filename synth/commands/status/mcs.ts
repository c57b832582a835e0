/** What `linkspan status` prints of ServiceImports, and of the ServiceExports of the cluster itself. Pure. */
import { cut } from '../../../operator/kube/errors.ts';
import { keyOf } from '../../../operator/kube/objects.ts';
import type { ServiceImport } from '../../../operator/mcs/objects.ts';
import type { ServiceExport } from '../../../operator/target/read/mcs-objects.ts';
import { exportFinding, importFinding, type McsObjects } from '../common/imports.ts';
import { conditionsOf, type LinkCondition, NOT_REPORTED } from '../common/link-status.ts';
import type { Column } from '../common/table.ts';
import { boundedParts, findingColumns, type FindingRow, shown } from './parts.ts';

/** What is not as it should be, of ServiceImports. */
const unready = ({ imports = [] }: McsObjects): readonly FindingRow[] =>
  imports.flatMap((each) => {
    const finding = importFinding(each);
    return finding === undefined ? [] : [{ ...finding, object: keyOf(each) }];
  });

/** The same of ServiceExports. */
const unwell = ({ exports = [] }: McsObjects): readonly FindingRow[] =>
  exports.flatMap((each) => {
    const finding = exportFinding(each);
    if (finding === undefined) return [];
    return [{ ...(finding.what === 'unreported' ? UNREPORTED : finding.condition), object: keyOf(each) }];
  });

/** Reports whether all that there is of the MCS API works. A conflict between exports is settled, and breaks nothing. */
export const isMcsWell = (mcs: McsObjects): boolean =>
  unready(mcs).length === 0 && unwell(mcs).every(({ type }) => type === 'Conflict');

/** The tables: first what is not as it should be, then the ServiceImports. */
export const mcsTexts = (mcs: McsObjects, format: 'table' | 'wide'): readonly string[] => [
  ...boundedParts(unwell(mcs), findingColumns('SERVICE EXPORT'), format),
  ...boundedParts(unready(mcs), findingColumns('SERVICE IMPORT'), format),
  ...boundedParts(mcs.imports ?? [], IMPORT_COLUMNS, format),
];

/** As `-o json` and `-o yaml` have them. */
export const mcsValue = ({ imports, exports }: McsObjects): object => ({
  ...(imports && { serviceImports: imports.map(importValue) }),
  ...(exports && { serviceExports: exports.map(objectValue) }),
});

const objectValue = (object: ServiceImport | ServiceExport) => ({
  namespace: object.metadata.namespace,
  name: object.metadata.name,
  conditions: conditionsOf(object).map(shown),
});

const importValue = (each: ServiceImport): object => {
  const { conditions, ...named } = objectValue(each);
  return { ...named, type: typeOf(each), ips: ipsOf(each), clusters: clustersOf(each), conditions };
};

const UNREPORTED: LinkCondition = { ...NOT_REPORTED, type: 'Valid' };

const typeOf = ({ spec }: ServiceImport): string => cut(spec?.type ?? '');
const ipsOf = ({ spec }: ServiceImport): readonly string[] => (spec?.ips ?? []).map((ip) => cut(ip));
const clustersOf = ({ status }: ServiceImport): readonly string[] =>
  (status?.clusters ?? []).map(({ cluster }) => cut(cluster)).toSorted();

const IMPORT_COLUMNS: readonly Column<ServiceImport>[] = [
  { heading: 'SERVICE IMPORT', value: keyOf },
  { heading: 'TYPE', value: typeOf },
  { heading: 'IPS', isWide: true, value: (each) => ipsOf(each).join(',') },
  { heading: 'CLUSTERS', value: (each) => clustersOf(each).join(',') },
];
