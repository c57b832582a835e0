/**
 * One ServiceImport decided: what is observed in, the manifests out, with all that its status and that of the local
 * ServiceExport say. Pure.
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
  /** Whether nothing of it may be written or deleted: another operator serves it, or may (rule K7). */
  readonly isLeft: boolean;
  /** Namespace of the other operator that serves it; undefined if there is none, or it is not known. */
  readonly another?: string;
  /** The clusters that it is made of, sorted by id; undefined if it is not ours to describe. */
  readonly sources: readonly Source[] | undefined;
  readonly refusal: ImportRefusal | undefined;
  /** What of the clusters is not imported although the ServiceImport can be used; empty if nothing is left out. */
  readonly notes: readonly string[];
  /** What the exports that are known come to. */
  readonly resolution: Resolution | undefined;
  /** The local export, read; undefined if there is none, or it is not known. */
  readonly local: ReadExport | undefined;
  /** Ids of the clusters whose exports were compared, sorted. */
  readonly compared: readonly string[];
  /** Clusters whose exports are not known: ids, or names where these are not known either; sorted. */
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

/** Beyond the limit of its Link, what there is of a cluster stays as it is, and what is new is not imported (rule E10). */
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
 * The exports that decide what the ServiceImport says. While a cluster that it is made of is not known, it says what it
 * says now. One that somebody has deleted says nothing: the known exports decide then, unless what is left is of the other
 * type.
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

/** Sorted by id. An id that is in use stays with the cluster that has it, while nothing is known of that cluster. */
const distinct = (sources: readonly Source[]): readonly Source[] =>
  sources
    .filter(({ id }, index) => sources.findIndex((each) => each.id === id) === index)
    .sort((a, b) => (a.id < b.id ? -1 : 1));

/** Why a ServiceImport has no cluster: one that may export the Service has yet to say so. */
const AWAITED: ImportRefusal = {
  reason: 'Pending',
  message: 'no cluster is known to export the Service, and one has yet to be read; the address is kept until then',
};

/** Whether it may turn out that a cluster exports the Service, once it is known. */
const mayExport = (target: TargetExporter): boolean =>
  !isKnown(target) && (target.mayExport === true || target.serviceExport !== undefined);

/** Whether a cluster is certainly one of this operator's. */
const isLinked = (exporter: Exporter): boolean => targetOf(exporter)?.isLinked !== false;

/** A cluster is not known while neither its exports nor its id are. */
const isKnown = ({ isKnown, id }: Exporter): boolean => isKnown && id !== undefined;

/** The export of a cluster; none if it is not known, or beyond the limit of its Link. */
function readingOf(exporter: Exporter): readonly (readonly [Exporter, ReadExport])[] {
  const { id, serviceExport, service } = exporter;
  if (!isKnown(exporter) || id === undefined || serviceExport === undefined) return [];
  if (targetOf(exporter)?.isAdmitted === false) return [];
  return [[exporter, readExport(id, serviceExport, service, targetOf(exporter)?.linkedAt)]];
}

const nameOf = (exporter: Exporter): string => exporter.id ?? targetOf(exporter)?.link.cluster ?? 'local';

/** The id of a cluster that is not known: its slices have it. */
const idOf = (observed: ObservedImport, exporter: Exporter): string =>
  exporter.id ??
  slicesOf(observed, exporter).find(({ metadata }) => metadata.labels?.[Label.sourceCluster] !== undefined)?.metadata
    .labels?.[Label.sourceCluster] ??
  nameOf(exporter);
