/** What `linkspan status` prints of ServiceImports, and of the ServiceExports of the cluster itself. Pure. */
import { cut } from '../../../operator/kube/errors.ts';
import { keyOf } from '../../../operator/kube/objects.ts';
import type { ServiceImport } from '../../../operator/mcs/objects.ts';
import type { ServiceExport } from '../../../operator/target/mcs-objects.ts';
import { exportFinding, type McsObjects } from '../common/imports.ts';
import { conditionOf, conditionsOf, type LinkCondition } from '../common/link-status.ts';
import type { Column } from '../common/table.ts';
import { boundedParts, shown } from './parts.ts';

/** The tables: first what is not as it should be, then the ServiceImports. */
export const mcsTexts = ({ imports = [], exports = [] }: McsObjects, format: 'table' | 'wide'): readonly string[] => {
  const unready = imports.flatMap((each) => {
    const ready = conditionOf(each, 'Ready');
    return ready?.status === 'False' ? [{ ...ready, object: keyOf(each) }] : [];
  });
  const unwell = exports.flatMap((each) => {
    const finding = exportFinding(each);
    if (finding === undefined) return [];
    return [{ ...(finding.what === 'unreported' ? UNREPORTED : finding.condition), object: keyOf(each) }];
  });
  return [
    ...boundedParts(unwell, findingColumns('SERVICE EXPORT'), format),
    ...boundedParts(unready, findingColumns('SERVICE IMPORT'), format),
    ...boundedParts(imports, IMPORT_COLUMNS, format),
  ];
};

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

/** A condition that is not as it should be. */
interface FindingRow extends LinkCondition {
  /** `namespace/name` */
  readonly object: string;
}

const UNREPORTED: LinkCondition = {
  type: 'Valid',
  status: 'Unknown',
  reason: 'NotReported',
  message: 'no operator of this cluster has reported on it',
  since: '',
  observedGeneration: 0,
};

const typeOf = ({ spec }: ServiceImport): string => cut(spec?.type ?? '');
const ipsOf = ({ spec }: ServiceImport): readonly string[] => (spec?.ips ?? []).map((ip) => cut(ip));
const clustersOf = ({ status }: ServiceImport): readonly string[] =>
  (status?.clusters ?? []).map(({ cluster }) => cut(cluster)).toSorted();

const findingColumns = (heading: string): readonly Column<FindingRow>[] => [
  { heading, value: ({ object }) => object },
  { heading: 'CONDITION', value: ({ type, status }) => `${type}=${status}` },
  { heading: 'REASON', value: ({ reason }) => reason },
  { heading: 'MESSAGE', value: ({ message }) => message },
];

const IMPORT_COLUMNS: readonly Column<ServiceImport>[] = [
  { heading: 'SERVICE IMPORT', value: keyOf },
  { heading: 'TYPE', value: typeOf },
  { heading: 'IPS', isWide: true, value: (each) => ipsOf(each).join(',') },
  { heading: 'CLUSTERS', value: (each) => clustersOf(each).join(',') },
];
