/**
 * One ServiceImport decided: what is observed in, the manifests out, with all that its status and that of the local
 * ServiceExport say. Pure.
 */
import { Label } from '../../crds/wire.ts';
import { describe } from '../kube/errors.ts';
import { type Resolution, resolve } from './conflicts.ts';
import { asItIs, desired, type ImportManifests, NO_IMPORT } from './desired.ts';
import { type ReadExport, readExport } from './exports.ts';
import { isLeftOf, isMember, isOfImport, slicesOf } from './membership.ts';
import { type Exporter, type ObservedImport, targetOf } from './observed.ts';
import { type ImportRefusal, planOf } from './import-plan.ts';
import type { Source } from './sources.ts';

/** What a ServiceImport must be. */
export interface ImportDecision {
  readonly manifests: ImportManifests;
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
export function decideImport(observed: ObservedImport): ImportDecision {
  const { local, targets, name, namespaceState, live } = observed;
  const exporters: readonly Exporter[] = [local, ...targets];
  const read = new Map(exporters.flatMap((each) => readingOf(each)));
  const valid = [...read].flatMap(([exporter, reading]) => (reading.valid ? [{ exporter, value: reading.value }] : []));
  const resolution = resolve(valid.map(({ value }) => value));
  const common = {
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
  if (live !== undefined && !isOfImport(name, live))
    return { ...nothing, manifests: { ...asItIs(observed), isBlocked: resolution !== undefined } };
  if (namespaceState !== 'exists') return { ...nothing, manifests: NO_IMPORT };

  const stays = exporters.filter((each) => !isKnown(each) && isMember(observed, each));
  if (resolution === undefined && stays.length === 0) return { ...nothing, manifests: NO_IMPORT };
  const decides = decisive(observed, stays, resolution);
  const type = decides === undefined ? live?.spec?.type : decides.oldest.type;
  if (type === undefined) return { ...nothing, manifests: asItIs(observed) };
  const sources = distinct([
    ...stays.map((exporter): Source => ({ exporter, id: idOf(observed, exporter), exported: undefined })),
    ...valid
      .filter(({ value }) => value.type === type)
      .map(({ exporter, value }): Source => ({ exporter, id: value.cluster, exported: value })),
  ]);
  try {
    const plan = planOf(observed, type, sources, decides);
    return { ...common, sources, ...desired(observed, plan) };
  } catch (error) {
    // The construct refused what a cluster sent: nothing of it is written, and what there is stays.
    const refusal: ImportRefusal = { reason: 'Pending', message: describe(error) };
    return { ...common, sources, refusal, notes: [], manifests: asItIs(observed) };
  }
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
  return isLeftOf(observed, resolution.oldest.type) ? resolution : undefined;
}

/** Sorted by id. An id that is in use stays with the cluster that has it, while nothing is known of that cluster. */
const distinct = (sources: readonly Source[]): readonly Source[] =>
  sources
    .filter(({ id }, index) => sources.findIndex((each) => each.id === id) === index)
    .sort((a, b) => (a.id < b.id ? -1 : 1));

/** A cluster of which neither the exports nor the id are known is not known. */
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
