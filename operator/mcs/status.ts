/**
 * The statuses of a ServiceImport and of the local ServiceExport, with KEP-1645's reasons (rules K1, K2). An operator
 * writes only the statuses of its own cluster. Pure.
 */
import { Label } from '../../crds/wire.ts';
import { type Condition, firstOf, setCondition, verdict, type Verdict } from '../kube/conditions.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { Conflict, Resolution } from './conflicts.ts';
import type { ImportDecision } from './decide.ts';
import type { ServiceExport } from '../target/read/mcs-objects.ts';
import type { ServiceImport } from './objects.ts';

/** Status of a ServiceImport. */
export interface ImportStatus {
  readonly endpointSliceObjects: 'Present' | 'Absent';
  readonly clusters: readonly { readonly cluster: string }[];
  readonly conditions: readonly Condition[];
}

/** Status of a ServiceExport. */
export interface ExportStatus {
  readonly conditions: readonly Condition[];
}

/** Maximum number of clusters that a message names. */
const MAX_NAMED = 10;

/** Returns the status of a ServiceImport; undefined if the status must not be written now. */
export function importStatus(
  { sources, refusal, notes, manifests }: ImportDecision,
  { metadata, status }: ServiceImport,
  now: Date,
): ImportStatus | undefined {
  if (sources === undefined) return undefined;
  const clusters = sources.map(({ id }) => id);
  const ready =
    refusal === undefined
      ? verdict('True', 'Ready', [`imported from ${named(clusters)}`, ...notes].join('; '))
      : verdict('False', refusal.reason, refusal.message);
  return {
    endpointSliceObjects: manifests.endpoints.some(({ object }) => isImported(object)) ? 'Present' : 'Absent',
    clusters: clusters.map((cluster) => ({ cluster })),
    conditions: conditionsOf(status?.conditions, metadata.generation, { Ready: ready }, now),
  };
}

/**
 * Returns the status of the local ServiceExport; undefined while the exports or the id of the local cluster are not
 * known.
 * @param awaits whether the exports of a cluster are expected to become known. If so, the condition `Conflict` of a
 *   valid export stays as it is
 */
export function exportStatus(
  { local, resolution, compared, unknown }: ImportDecision,
  { metadata, status }: ServiceExport,
  now: Date,
  awaits = false,
): ExportStatus | undefined {
  if (local === undefined) return undefined;
  const scope = `compared: ${named(compared)}${unknown.length === 0 ? '' : `; not known: ${named(unknown)}`}`;
  const verdicts = local.valid
    ? {
        Valid: verdict('True', 'Valid', ''),
        Ready: verdict('True', 'Ready', 'clusters with a Link to this one import it'),
        ...(!awaits && { Conflict: conflictVerdict(resolution, scope) }),
      }
    : {
        Valid: verdict('False', local.invalid.reason, local.invalid.message),
        Ready: verdict('False', 'Pending', 'the export is not valid'),
        Conflict: verdict('False', 'NoConflicts', 'an export that is not valid takes part in nothing'),
      };
  return { conditions: conditionsOf(status?.conditions, metadata.generation, verdicts, now) };
}

function conflictVerdict(resolution: Resolution | undefined, scope: string): Verdict {
  const { conflicts = [] } = resolution ?? {};
  if (conflicts.length === 0 || resolution === undefined) return verdict('False', 'NoConflicts', scope);
  const reasons = conflicts.map(({ reason }) => reason).join(',');
  const messages = conflicts.map((each) => conflictMessage(each, resolution));
  return verdict('True', reasons, `${messages.join(' ')} (${scope})`);
}

/** Maximum number of characters of the deciding export's value that a message quotes. The rest is cut off. */
const MAX_USED = 128;

const conflictMessage = (
  { aspect, used, disagreeing }: Conflict,
  { first, isOldest }: Pick<Resolution, 'first' | 'isOldest'>,
): string =>
  `Conflicting ${aspect}: using ${JSON.stringify(used.slice(0, MAX_USED))} of the ${isOldest ? 'oldest export' : 'export that was there first'}, in ${first.cluster}; ${named(disagreeing)} ${disagreeing.length === 1 ? 'disagrees' : 'disagree'}.`;

/** Returns the previous conditions with ours set. Conditions that others have set stay. */
const conditionsOf = (
  previous: readonly object[] | undefined,
  generation: number | undefined,
  verdicts: Readonly<Record<string, Verdict>>,
  now: Date,
): readonly Condition[] =>
  Object.entries(verdicts).reduce<readonly Condition[]>(
    (conditions, [type, each]) => setCondition(conditions, { type, ...each, observedGeneration: generation ?? 0 }, now),
    (previous ?? []) as readonly Condition[],
  );

/** Reports whether a slice has the label by which software that uses the MCS API selects slices. */
const isImported = ({ metadata }: KubeObject): boolean => metadata.labels?.[Label.importedService] !== undefined;

const named = (clusters: readonly string[]): string =>
  clusters.length === 0 ? 'no cluster' : firstOf(clusters, MAX_NAMED);
