/**
 * Resolves conflicts between exports of one name in several clusters by the rules of KEP-1645: the oldest export
 * decides, and the ports of all exports that have the type of the oldest are merged by name and by number. Exports that
 * a ServiceImport already consists of take precedence over new ones. Apart from that precedence, the result is the same
 * in every cluster that sees the same exports with the same ages. Pure.
 */
import type { ImportPort } from '../../constructs/rendered/index.ts';
import { type ExportedService, MAX_PORTS } from './exports.ts';

/** Reasons of the condition `Conflict`, in the order in which they are reported. */
export type ConflictReason =
  | 'PortConflict'
  | 'TypeConflict'
  | 'SessionAffinityConflict'
  | 'SessionAffinityConfigConflict'
  | 'LabelsConflict'
  | 'AnnotationsConflict'
  | 'InternalTrafficPolicyConflict'
  | 'TrafficDistributionConflict'
  | 'IPFamilyConflict';

/** A property that exports disagree about, and the exports that disagree. */
export interface Conflict {
  readonly reason: ConflictReason;
  /** Name of the property that differs, such as `session affinity`. */
  readonly aspect: string;
  /** Value of the property in the export that decides. */
  readonly used: string;
  /** Ids of the clusters whose exports have another value; at least one. */
  readonly disagreeing: readonly string[];
}

/** Result of resolving the exports of one name. */
export interface Resolution {
  /** Export that decides about everything but ports. */
  readonly first: ExportedService;
  /**
   * Whether {@link first} is the oldest export. False if an older export was found after {@link first} was recorded,
   * because recorded exports come before new ones.
   */
  readonly isOldest: boolean;
  /** Exports whose Services are imported: all that have the type of {@link first}, in order of precedence. */
  readonly backing: readonly ExportedService[];
  /** Union of the ports of {@link backing}. */
  readonly ports: readonly ImportPort[];
  readonly conflicts: readonly Conflict[];
}

/**
 * Resolves the exports of one name, each from a different cluster, in any order. Returns undefined if there are none.
 * @param placeOf returns the place of an export in the recorded order (precedence.ts); Infinity if the export is not
 *   recorded. Recorded exports come before all others, whatever their ages
 */
export function resolve(
  exports: readonly ExportedService[],
  placeOf: (each: ExportedService) => number = () => Infinity,
): Resolution | undefined {
  const byAge = [...exports].sort(bySeniority);
  const inOrder = [...byAge].sort((a, b) => (placeOf(a) === placeOf(b) ? 0 : placeOf(a) - placeOf(b)));
  const [first] = inOrder;
  if (first === undefined) return undefined;
  const backing = inOrder.filter(({ type }) => type === first.type);
  return {
    first,
    isOldest: first === byAge[0],
    backing,
    ports: portUnion(backing.flatMap(({ ports }) => ports)),
    conflicts: conflictsAmong(first, inOrder),
  };
}

/**
 * Compares by age, oldest first. Exports of the same age are ordered by uid, because every cluster sees the same uid of
 * an export, whereas two clusters can know the exporting cluster by different ids. Exports with the same age and the
 * same uid are ordered by the ids of their clusters.
 */
function bySeniority(a: ExportedService, b: ExportedService): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  if (a.uid !== b.uid) return a.uid < b.uid ? -1 : 1;
  return a.cluster < b.cluster ? -1 : 1;
}

/**
 * Returns the ports of a ServiceImport, at most {@link MAX_PORTS}. Of two ports with the same name, or the same number
 * and protocol, the one that comes first in the list is taken.
 */
export function portUnion(ports: readonly ImportPort[]): readonly ImportPort[] {
  const names = new Set<string>();
  const numbers = new Set<string>();
  const union: ImportPort[] = [];
  for (const port of ports) {
    const { name = '', port: number, protocol = 'TCP' } = port;
    const key = `${number}/${protocol}`;
    if (names.has(name) || numbers.has(key) || union.length === MAX_PORTS) continue;
    names.add(name);
    numbers.add(key);
    union.push(port);
  }
  return union;
}

/**
 * A property that exports can disagree about. `valueOf` returns undefined if the property does not apply to an export.
 */
interface Aspect {
  readonly reason: ConflictReason;
  readonly aspect: string;
  readonly valueOf: (each: ExportedService) => string | undefined;
}

const ASPECTS: readonly Aspect[] = [
  { reason: 'PortConflict', aspect: 'ports', valueOf: ({ ports }) => ports.map(portText).sort().join(', ') },
  { reason: 'TypeConflict', aspect: 'type', valueOf: ({ type }) => type },
  {
    reason: 'SessionAffinityConflict',
    aspect: 'session affinity',
    valueOf: ({ sessionAffinity }) => sessionAffinity,
  },
  {
    reason: 'SessionAffinityConfigConflict',
    aspect: 'session affinity config',
    valueOf: ({ sessionAffinity, sessionAffinitySeconds: seconds = DEFAULT_SESSION_SECONDS }) =>
      sessionAffinity === 'ClientIP' ? `${seconds}s` : undefined,
  },
  { reason: 'LabelsConflict', aspect: 'exported labels', valueOf: ({ labels }) => entriesText(labels) },
  {
    reason: 'AnnotationsConflict',
    aspect: 'exported annotations',
    valueOf: ({ annotations }) => entriesText(annotations),
  },
  {
    reason: 'InternalTrafficPolicyConflict',
    aspect: 'internal traffic policy',
    valueOf: ({ internalTrafficPolicy = 'Cluster' }) => internalTrafficPolicy,
  },
  {
    reason: 'TrafficDistributionConflict',
    aspect: 'traffic distribution',
    valueOf: ({ trafficDistribution = '' }) => trafficDistribution,
  },
  { reason: 'IPFamilyConflict', aspect: 'IP families', valueOf: ({ ipFamilies }) => [...ipFamilies].sort().join(', ') },
];

/** Default duration of session affinity in Kubernetes, in seconds. */
const DEFAULT_SESSION_SECONDS = 10_800;

function conflictsAmong(first: ExportedService, all: readonly ExportedService[]): readonly Conflict[] {
  return ASPECTS.flatMap(({ reason, aspect, valueOf }) => {
    const used = valueOf(first);
    const disagreeing = all.filter((each) => {
      const value = valueOf(each);
      return used !== undefined && value !== undefined && value !== used;
    });
    if (used === undefined || disagreeing.length === 0) return [];
    return [{ reason, aspect, used, disagreeing: disagreeing.map(({ cluster }) => cluster) }];
  });
}

const portText = ({ name = '', port, protocol = 'TCP', appProtocol = '' }: ImportPort): string =>
  [name, `${port}/${protocol}`, appProtocol].filter((part) => part !== '').join(' ');

const entriesText = (entries: Readonly<Record<string, string>>): string =>
  Object.entries(entries)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(', ');
