/**
 * The rules of KEP-1645 for exports of one name in several clusters that disagree: the oldest export decides, and ports
 * are joined, by name and by number. Those that a ServiceImport is made of come before all that are newly seen. Pure; but
 * for that, the same in every cluster that sees the same exports at the same ages.
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

/** What exports disagree about. */
export interface Conflict {
  readonly reason: ConflictReason;
  /** What it is, as in `session affinity`. */
  readonly aspect: string;
  /** The value in the export that decides. */
  readonly used: string;
  /** Ids of the clusters that have something else; at least one. */
  readonly disagreeing: readonly string[];
}

/** What the exports of one name come to. */
export interface Resolution {
  /** The export that decides about all but ports. */
  readonly first: ExportedService;
  /** Whether that is the oldest one: others may be older that were seen later. */
  readonly isOldest: boolean;
  /** The exports whose Services are imported: those of the type of the first, in the order in which they count. */
  readonly backing: readonly ExportedService[];
  /** The union of their ports. */
  readonly ports: readonly ImportPort[];
  readonly conflicts: readonly Conflict[];
}

/**
 * Resolves exports, each of another cluster, in any order; undefined if there are none.
 * @param placeOf place of an export among those that come before all others, whatever their ages; Infinity: it is not
 *   among them
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

/** The older export first; of two of one age, that whose uid comes first, which all clusters see alike, as no ids need be. */
function bySeniority(a: ExportedService, b: ExportedService): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  if (a.uid !== b.uid) return a.uid < b.uid ? -1 : 1;
  return a.cluster < b.cluster ? -1 : 1;
}

/** Returns ports as one ServiceImport has them: of two with one name, or with one number and protocol, the first. */
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

/** What exports may disagree about; a value is undefined where there is nothing to agree about. */
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

/** Kubernetes' own, of a Service with session affinity that does not say how long a session lasts. */
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
