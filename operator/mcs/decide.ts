/**
 * Decides the desired state of one ServiceImport from the observed state. The decision contains the manifests of the
 * ServiceImport, and the facts from which the statuses of the ServiceImport and of the local ServiceExport are made.
 * Pure.
 */
import { Label } from '../../crds/wire.ts';
import { withDying } from '../federation/member-slices.ts';
import { describe } from '../kube/errors.ts';
import { type Resolution, resolve } from './conflicts.ts';
import { asItIs, claimed, desired, type ImportManifests, NO_IMPORT, standing, withoutThose } from './desired.ts';
import { type ReadExport, readExport } from './exports.ts';
import { isLeftOf, isMember, isOfImport, slicesOf } from './membership.ts';
import { type Exporter, type ObservedImport, type TargetExporter, targetOf } from './observed.ts';
import { isBegunBesidePods, isOfLocalAlone, namedOperator, operatorOf } from './operators.ts';
import { type ImportRefusal, planOf } from './import-plan.ts';
import { entryOf, isLocalEntry, placesOf, remainingOrder } from './precedence.ts';
import { followingGateways, type Source } from './sources.ts';

/**
 * Desired state of a ServiceImport, and the facts from which the statuses of the ServiceImport and of the local
 * ServiceExport are made.
 */
export interface ImportDecision {
  readonly manifests: ImportManifests;
  /**
   * Whether the objects must not be written or deleted, because another operator serves the ServiceImport or might
   * serve it (rule K7).
   */
  readonly isLeft: boolean;
  /**
   * Namespace of the other operator that serves the ServiceImport. Undefined if this operator serves it, or if no
   * operator is known to serve it.
   */
  readonly another?: string;
  /**
   * The clusters that are part of the ServiceImport by this decision, sorted by id. Undefined if the status of the
   * ServiceImport must not be written now.
   */
  readonly sources: readonly Source[] | undefined;
  readonly refusal: ImportRefusal | undefined;
  /**
   * Notes for the status of a usable ServiceImport: pods that are left out, and clusters that no request reaches, with
   * the reasons. Empty if there are none.
   */
  readonly notes: readonly string[];
  /**
   * Result of resolving the known valid exports that are within the limits of Links (rule E10); undefined if there are
   * none.
   */
  readonly resolution: Resolution | undefined;
  /**
   * The local export, valid or not. Undefined if there is none, or while the exports or the id of the local cluster are
   * not known.
   */
  readonly local: ReadExport | undefined;
  /** Ids of the clusters whose exports were compared, sorted. */
  readonly compared: readonly string[];
  /**
   * Ids of the clusters whose exports or ids are not known, sorted. If the id of a target is not known, its cluster
   * name is listed instead. If the id of the local cluster is not known, `local` is listed.
   */
  readonly unknown: readonly string[];
}

/** Decides the desired state of one ServiceImport. */
export function decideImport(given: ObservedImport): ImportDecision {
  const observed = withinBytes(given);
  const decision = decided(observed);
  const follow = (targets: ObservedImport['targets']) => followingGateways({ ...observed, targets });
  const { imported, targets } = observed;
  return { ...decision, manifests: withDying(decision.manifests, imported, targets, follow) };
}

function decided(observed: ObservedImport): ImportDecision {
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
    const isToBeTaken = isOfLocalAlone(observed) || isBegunBesidePods(observed);
    if (!bringsMore || !isToBeTaken) return { ...left, another: operator };
  }
  if (live !== undefined && !isOfImport(name, live))
    return { ...nothing, manifests: { ...standing(observed), isBlocked: resolution !== undefined } };
  if (namespaceState !== 'exists') return { ...nothing, manifests: standing(observed) };

  const isOver = resolution === undefined && stays.length === 0;
  if (isOver && (live === undefined || !targets.some((each) => mayExport(each, local.id))))
    return { ...nothing, manifests: NO_IMPORT };
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
    const recorded = decides ? order.join(',') : remainingOrder(observed, stays, new Set(entries.values()));
    const plan = planOf(observed, type, sources, decides, recorded);
    return { ...common, sources, ...desired(observed, plan), ...(isOver && { refusal: AWAITED }) };
  } catch (error) {
    // The construct refused data of a cluster. The existing objects stay, and the slices among them still follow the
    // gateways.
    const refusal: ImportRefusal = { reason: 'Pending', message: describe(error) };
    return { ...common, sources, refusal, notes: [], manifests: standing(observed) };
  }
}

/**
 * Applies the limits of Links on written bytes (rule E10) to each target whose export is beyond the limit:
 * - A target that is part of the ServiceImport: its exports count as not known, so that the objects that were imported
 *   from the target stay.
 * - Any other target: nothing is imported from the target.
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
 * Returns the resolution from which the content of the ServiceImport is taken; undefined if no valid export is known.
 * While the exports or the id of one of the ServiceImport's clusters are not known, the result depends on the
 * ServiceImport:
 * - The ServiceImport has a valid spec: undefined, because its present content stays.
 * - The ServiceImport was deleted, or its spec is not valid: there is no content to keep, and the known exports decide.
 *   Undefined, however, if the derived objects that remain belong to a ServiceImport of another type (ClusterSetIP or
 *   Headless) than these exports ask for.
 * @param stays clusters of the ServiceImport whose exports or ids are not known
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

/**
 * Returns one source for each id, sorted by id. Of several sources with the same id, the one that comes first in the
 * list is taken.
 */
const distinct = (sources: readonly Source[]): readonly Source[] =>
  sources
    .filter(({ id }, index) => sources.findIndex((each) => each.id === id) === index)
    .sort((a, b) => (a.id < b.id ? -1 : 1));

/**
 * Refusal of a ServiceImport that stays although no cluster is known to export its Service. The ServiceImport stays
 * because a target might turn out to export the Service ({@link mayExport}): the exports of the target have not been
 * read completely, or the target has a ServiceExport but the id of the target is not known.
 */
const AWAITED: ImportRefusal = {
  reason: 'Pending',
  message: 'no cluster is known to export the Service, and one has yet to be read; the address is kept until then',
};

/**
 * Reports whether a target might turn out to export the Service. This is so if its exports or its id are not known, and
 * at least one of these is true:
 * - The exports of the target have not been read yet ({@link TargetExporter.mayExport}).
 * - The ServiceExport of the target is known.
 *
 * False for a target whose cluster name is the id of the local cluster, because that target gets no id.
 */
const mayExport = (target: TargetExporter, ownId: string | undefined): boolean =>
  !isKnown(target) &&
  target.link.cluster !== ownId &&
  (target.mayExport === true || target.serviceExport !== undefined);

/**
 * Reports whether a cluster is the local cluster, or a target that does not seem to belong to another operator (see
 * {@link TargetExporter.isLinked}).
 */
const isLinked = (exporter: Exporter): boolean => targetOf(exporter)?.isLinked !== false;

/** Reports whether both the exports and the id of a cluster are known. */
const isKnown = ({ isKnown, id }: Exporter): boolean => isKnown && id !== undefined;

/**
 * Returns the cluster and its export, valid or not, as a list of one pair. The list is empty if the export or the id of
 * the cluster is not known, if there is no ServiceExport, or if the export is beyond a limit of the Link.
 */
function readingOf(exporter: Exporter): readonly (readonly [Exporter, ReadExport])[] {
  const { id, serviceExport, service } = exporter;
  if (!isKnown(exporter) || id === undefined || serviceExport === undefined) return [];
  if (targetOf(exporter)?.isAdmitted === false) return [];
  return [[exporter, readExport(id, serviceExport, service, targetOf(exporter)?.linkedAt)]];
}

const nameOf = (exporter: Exporter): string => exporter.id ?? targetOf(exporter)?.link.cluster ?? 'local';

/**
 * Returns the id that is used for a cluster whose exports or id are not known. It is the first of these that exists:
 * - The present id of the cluster.
 * - The id in the labels of its slices.
 * - The cluster name of a target, or `local` for the local cluster.
 */
const idOf = (observed: ObservedImport, exporter: Exporter): string =>
  exporter.id ??
  slicesOf(observed, exporter).find(({ metadata }) => metadata.labels?.[Label.sourceCluster] !== undefined)?.metadata
    .labels?.[Label.sourceCluster] ??
  nameOf(exporter);
