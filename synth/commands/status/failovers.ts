/** What `linkspan status` prints of ServiceFailovers. Pure. */
import type { FailoverReport } from '../common/failovers.ts';
import type { Column } from '../common/table.ts';
import { boundedParts, findingColumns, shown } from './parts.ts';

/** The tables: first what is not as it should be, then all. */
export const failoverTexts = (failovers: readonly FailoverReport[], format: 'table' | 'wide'): readonly string[] => [
  ...boundedParts(
    failovers.filter(({ ready }) => ready.status !== 'True').map(({ key, ready }) => ({ ...ready, object: key })),
    findingColumns('SERVICE FAILOVER'),
    format,
  ),
  ...boundedParts(failovers, COLUMNS, format),
];

/** As `-o json` and `-o yaml` have them. */
export const failoverValue = ({ key, service, active, ready }: FailoverReport): object => {
  const [namespace, name] = key.split('/');
  return { namespace, name, service, active, ready: shown(ready) };
};

const COLUMNS: readonly Column<FailoverReport>[] = [
  { heading: 'SERVICE FAILOVER', value: ({ key }) => key },
  { heading: 'SERVICE', value: ({ service }) => service },
  { heading: 'ACTIVE', value: ({ active }) => active },
  { heading: 'READY', value: ({ ready }) => ready.status },
];
