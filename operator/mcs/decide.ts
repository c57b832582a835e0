/**
 * Decides about one ServiceImport: takes what is observed, returns the manifests and everything that its status and
 * the status of the local ServiceExport need. Pure.
 */
import { Label } from '../../crds/wire.ts';
import { describe } from '../kube/errors.ts';
import { type Resolution, resolve } from './conflicts.ts';
import { asItIs, claimed, desired, type ImportManifests, NO_IMPORT, standing, withoutThose } from './desired.ts';
import { type ReadExport, readExport } from './exports.ts';
import { isLeftOf, isMember, isOfImport, slicesOf } from './membership.ts';
import { type Exporter, type ObservedImport, type TargetExporter, targetOf } from './observed.ts';
import { isOfLocalAlone, namedOperator, operatorOf } from './operators.ts';
import { type ImportRefusal, planOf } from './import-plan.ts';
import { entryOf, isLocalEntry, placesOf } from './precedence.ts';
import type { Source } from './sources.ts';

/** What a ServiceImport must be. */
export interface ImportDecision {
  readonly manifests: ImportManifests;
  /** Whether the objects must not be written or deleted, since another operator serves it, or may (rule K7). */
  readonly isLeft: boolean;
  /** Namespace of another operator that serves it; undefined if there is none, or it is not known. */
  readonly another?: string;
  /** The clusters that it consists of, sorted by id; undefined if it is not ours to describe. */
  readonly sources: readonly Source[] | undefined;
  readonly refusal: ImportRefusal | undefined;
  /** What is left out of a usable ServiceImport, and why; empty if nothing is. */
  readonly notes: readonly string[];
  /** Resolution of the known exports; undefined if there are none. */
  readonly resolution: Resolution | undefined;
  /** The local export; undefined if there is none, or it is not known. */
  readonly local: ReadExport | undefined;
  /** Ids of the clusters whose exports were compared, sorted. */
  readonly compared: readonly string[];
  /** Clusters whose exports are not known, sorted: by id, or by name if the id is not known either. */
  readonly unknown: readonly string[];
}

/** Decides about one ServiceImport. */
export function decideImport(given: ObservedImport): ImportDecision {
  const observed = withinBytes(given);
  const { local, targets, name, namespaceState, live, operators } = observed;
  const exporters: readonly Exporter[] = [local, ...targets];
  const read = new Map(exporters.flatMap((each) => readingOf(each)));
  const valid = [...read].flatMap(([exporter, reading]) => (reading.valid ? [{ exporter, value: reading.value }] : []));
  const entries = new Map(valid.map(({ exporter, value }) => [value, entryOf(exporter, value.uid)]));
  const places = placesOf(observed);
  const resolution = resolve([...entries.keys()], (each) => places.get(entries.get(each) ?? '') ?? Infinity);
  const order = (resolution?.backing ?? []).map((each) => entries.get(each) ?? '');
  const common = {
    isLeft: false,
    resolution,
    local: read.get(local),
    compared: valid.map(({ value }) => value.cluster).sort(),
    unknown: exporters
      .filter((each) => !isKnown(each))
      .map(nameOf)
      .sort(),
  };
  const nothing = { ...common, sources: undefined, refusal: undefined, notes: [] };
  if (!observed.isReadable || namespaceState === 'unreadable' || namespaceState === 'forbidden')
    return { ...nothing, manifests: asItIs(observed) };
  const stays = exporters.filter((each) => !isKnown(each) && isMember(observed, each, local.id));
  const operator = operatorOf(observed, operators);
  const left = { ...nothing, manifests: asItIs(observed), isLeft: true };
  if (operator === undefined) {
    const isPart = (each: Exporter): boolean => isLinked(each) && isMember(observed, each, local.id);
    if (valid.length === 0 && !exporters.some(isPart)) return left;
  } else if (operator !== operators.own) {
    const bringsMore = stays.length === 0 && !order.every(isLocalEntry);
    if (!bringsMore || !isOfLocalAlone(observed)) return { ...left, another: operator };
  }
  if (live !== undefined && !isOfImport(name, live))
    return { ...nothing, manifests: { ...asItIs(observed), isBlocked: resolution !== undefined } };
  if (namespaceState !== 'exists') return { ...nothing, manifests: NO_IMPORT };

  const isOver = resolution === undefined && stays.length === 0;
  if (isOver && (live === undefined || !targets.some(mayExport))) return { ...nothing, manifests: NO_IMPORT };
  const decides = decisive(observed, stays, resolution);
  const type = decides === undefined ? live?.spec?.type : decides.first.type;
  if (type === undefined) {
    const left = exporters.filter((each) => isKnown(each) && !valid.some(({ exporter }) => exporter === each));
    return { ...nothing, manifests: withoutThose(observed, left) };
  }
  if (live?.spec !== undefined && namedOperator(live) !== operators.own)
    return { ...nothing, manifests: claimed(observed, decides && order.join(',')) };
  const sources = distinct([
    ...stays.map((exporter): Source => ({ exporter, id: idOf(observed, exporter), exported: undefined })),
    ...valid
      .filter(({ value }) => value.type === type)
      .map(({ exporter, value }): Source => ({ exporter, id: value.cluster, exported: value })),
  ]);
  try {
    const plan = planOf(observed, type, sources, decides && { ...decides, order: order.join(',') });
    return { ...common, sources, ...desired(observed, plan), ...(isOver && { refusal: AWAITED }) };
  } catch (error) {
    // The construct refused what a cluster sent: nothing of it is written, and what there is stays.
    const refusal: ImportRefusal = { reason: 'Pending', message: describe(error) };
    return { ...common, sources, refusal, notes: [], manifests: standing(observed) };
  }
}

/**
 * Applies the limits of bytes of Links (rule E10). Beyond its limit, what exists of a cluster stays as it is, and
 * nothing new is imported from it.
 */
function withinBytes(observed: ObservedImport): ObservedImport {
  const { targets, local } = observed;
  if (targets.every(({ isWithinBytes }) => isWithinBytes !== false)) return observed;
  const limited = (target: TargetExporter): TargetExporter =>
    isMember(observed, target, local.id) ? { ...target, isKnown: false } : { ...target, isAdmitted: false };
  return {
    ...observed,
    targets: targets.map((each) => (each.isWithinBytes === false ? limited(each) : each)),
  };
}

/**
 * Returns the exports from which the content of the ServiceImport is taken. Undefined while one of its clusters is not
 * known: the present content stays. If somebody has deleted the ServiceImport, the known exports are returned even
 * then, unless its remaining objects are of another type (ClusterSetIP or Headless).
 */
function decisive(
  observed: ObservedImport,
  stays: readonly Exporter[],
  resolution: Resolution | undefined,
): Resolution | undefined {
  if (stays.length === 0) return resolution;
  if (observed.live?.spec !== undefined || resolution === undefined) return undefined;
  return isLeftOf(observed, resolution.first.type) ? resolution : undefined;
}

/** Returns one source for each id, sorted by id. A cluster that is not known keeps the id that it uses. */
const distinct = (sources: readonly Source[]): readonly Source[] =>
  sources
    .filter(({ id }, index) => sources.findIndex((each) => each.id === id) === index)
    .sort((a, b) => (a.id < b.id ? -1 : 1));

/** Reason if a ServiceImport has no cluster yet: one that may export the Service has not been read. */
const AWAITED: ImportRefusal = {
  reason: 'Pending',
  message: 'no cluster is known to export the Service, and one has yet to be read; the address is kept until then',
};

/** Reports whether a cluster that is not known may turn out to export the Service. */
const mayExport = (target: TargetExporter): boolean =>
  !isKnown(target) && (target.mayExport === true || target.serviceExport !== undefined);

/** Reports whether a cluster certainly belongs to a Link of this operator. */
const isLinked = (exporter: Exporter): boolean => targetOf(exporter)?.isLinked !== false;

/** Reports whether both the exports and the id of a cluster are known. */
const isKnown = ({ isKnown, id }: Exporter): boolean => isKnown && id !== undefined;

/** Returns the export of a cluster with the cluster; nothing if it is not known, or beyond the limit of its Link. */
function readingOf(exporter: Exporter): readonly (readonly [Exporter, ReadExport])[] {
  const { id, serviceExport, service } = exporter;
  if (!isKnown(exporter) || id === undefined || serviceExport === undefined) return [];
  if (targetOf(exporter)?.isAdmitted === false) return [];
  return [[exporter, readExport(id, serviceExport, service, targetOf(exporter)?.linkedAt)]];
}

const nameOf = (exporter: Exporter): string => exporter.id ?? targetOf(exporter)?.link.cluster ?? 'local';

/** Returns the id of a cluster that is not known, as its slices have it. */
const idOf = (observed: ObservedImport, exporter: Exporter): string =>
  exporter.id ??
  slicesOf(observed, exporter).find(({ metadata }) => metadata.labels?.[Label.sourceCluster] !== undefined)?.metadata
    .labels?.[Label.sourceCluster] ??
  nameOf(exporter);
