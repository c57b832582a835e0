/**
 * What an installation would change in a cluster: its objects beside those that are there, with what stays as others have
 * set it, and what must be refused. Nothing is written.
 */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { keyOf } from '../../../operator/kube/objects.ts';
import { note, warn } from '../../print.ts';
import {
  type Change,
  compare,
  conflictProblems,
  type OwnedChange,
  shown as textOf,
} from '../common/change-set/compare.ts';
import { fieldChanges, type FieldPath, isWithin, valueAt } from '../common/change-set/fields.ts';
import { ALL_FIELDS, type Want } from '../common/change-set/want.ts';
import type { Cluster } from '../common/cluster.ts';
import type { Problem } from '../common/command-error.ts';
import { CRDS, NETWORK_AUTHENTICATIONS, resourceOf } from '../common/kinds.ts';
import { besideForeign, implementationOf, isOpen, NETWORKS, settingsIn } from './foreign-settings.ts';
import { isOurs, ownedAs } from './ownership.ts';

/** What a review is of. */
export interface Asked {
  readonly objects: readonly ApiJson[];
  /** The same without what the flags of this run give: what differs is changed whoever has set it. */
  readonly without: readonly ApiJson[];
  /** Whether a flag names the networks of the gateway's clients, which may be those that it has by default. */
  readonly namesNetworks: boolean;
  /** Whether everything is changed, whoever has set it. */
  readonly force: boolean;
}

/** Compares an installation with what is there. @throws CommandError if the API server would not take it */
export const review = async (cluster: Cluster, asked: Asked): Promise<readonly Change[]> =>
  compare(await Promise.all(asked.objects.map((object) => wantOf(cluster, object, asked))));

const wantOf = async (cluster: Cluster, object: ApiJson, asked: Asked): Promise<Want> => {
  if (asked.force) return { cluster, object: await asIs(cluster, object), takes: ALL_FIELDS };
  const live = await cluster.find(resourceOf(object), object.metadata);
  if (live === undefined) return { cluster, object };
  const named = namedFields(object, asked);
  const isNamed = named.some((path) => isWithin(path, NETWORKS));
  const yields = settingsIn(object.kind, isOurs(live));
  return {
    cluster,
    object: ownedAs(live, isNamed ? object : besideForeign(object, live)),
    yields,
    takes: [...implementationOf(object.kind), ...named.flatMap((path) => [path, ...settingsAround(path, yields)])],
  };
};

const asIs = async (cluster: Cluster, object: ApiJson): Promise<ApiJson> =>
  ownedAs(await cluster.find(resourceOf(object), object.metadata), object);

/** The fields of an object that the flags of this run give. */
export const namedFields = (object: ApiJson, { without, namesNetworks }: Asked): readonly FieldPath[] => {
  const other = without.find((each) => each.kind === object.kind && keyOf(each) === keyOf(object));
  return [
    ...(other === undefined ? [] : fieldChanges(other, object).map(({ path }) => path)),
    ...(namesNetworks && object.kind === NETWORK_AUTHENTICATIONS.kind ? [NETWORKS] : []),
  ];
};

/** The settings that a field is a part of: they are taken as a whole. */
const settingsAround = (path: FieldPath, settings: readonly FieldPath[]): readonly FieldPath[] =>
  settings.filter((pattern) => isWithin(path, pattern)).map((pattern) => path.slice(0, pattern.length));

/** What others have set and no flag gives. */
export const foreignProblems = (changes: readonly Change[]): readonly Problem[] =>
  conflictProblems(changes.map(summarized), 'change it where it is set, or add --force-conflicts');

/** The schemas of a CRD in a line each. */
export const summarized = (change: Change): Change => {
  if (change.want.object.kind !== CRDS.kind) return change;
  const schema = (path: FieldPath): FieldPath | undefined =>
    path[0] === 'spec' && path[3] === 'schema' ? path.slice(0, 4) : undefined;
  const rest = change.fields.filter(({ path }) => schema(path) === undefined);
  const schemas = new Map(
    change.fields.flatMap(({ path }) => {
      const own = schema(path);
      return own === undefined ? [] : [[own.join('.'), own] as const];
    }),
  );
  const fields = [...schemas.values()].map((path): OwnedChange => ({
    path,
    before: 'that of the cluster',
    after: 'that of Linkspan',
    owners: [],
  }));
  return { ...change, fields: [...rest, ...fields] };
};

/** Notes what stays as others have set it, and warns of a gateway that is open to all networks. */
export const noteForeign = (cluster: Cluster, changes: readonly Change[]): void => {
  for (const { want, kept, live } of changes) {
    const { kind, metadata } = want.object;
    for (const { path, before, after, owners } of kept) {
      const remedy = isWithin(path, NETWORKS) ? '--source-networks' : '--force-conflicts';
      note(
        `${cluster.title(kind, metadata)}: ${path.join('.')} stays ${textOf(kind, before)}, not ` +
          `${textOf(kind, after)}: ${owners.join(', ')} ${owners.length === 1 ? 'has' : 'have'} set it (${remedy} changes it)`,
      );
    }
    const applied = kept.some(({ path }) => isWithin(path, NETWORKS)) ? live : want.object;
    if (kind === NETWORK_AUTHENTICATIONS.kind && applied !== undefined && isOpen(applied)) {
      warn(
        `${cluster.title(kind, metadata)}: the gateway is open to all networks (name those of the source clusters with ` +
          '--source-networks)',
      );
    }
  }
};

/** Notes which values change of objects that are there, but for a CRD and the record. */
export const noteChanges = (cluster: Cluster, changes: readonly Change[]): void => {
  for (const { want, fields, outcome } of changes) {
    const { kind, metadata } = want.object;
    if (outcome !== 'configured' || kind === CRDS.kind || kind === 'ConfigMap') continue;
    for (const { path, before, after } of fields.filter((field) => field.before !== undefined))
      note(`${cluster.title(kind, metadata)}: ${path.join('.')}: ${textOf(kind, before)} → ${textOf(kind, after)}`);
  }
};

/** An image in a Deployment. */
interface Image {
  readonly object: ApiJson;
  readonly path: FieldPath;
  readonly image: unknown;
}

const imagesOf = (objects: readonly ApiJson[]): readonly Image[] =>
  objects
    .filter(({ kind }) => kind === 'Deployment')
    .flatMap((object) => {
      const containers = valueAt(object, ['spec', 'template', 'spec', 'containers']) as readonly { name: string }[];
      return containers.map(({ name }): Image => {
        const path = ['spec', 'template', 'spec', 'containers', name, 'image'];
        return { object, path, image: valueAt(object, path) };
      });
    });

/**
 * Images that neither run already, nor are given by a flag, nor are this version's own: whoever may change the record of the
 * installation must not choose what runs with the rights of the operator.
 * @param defaults the objects of an installation without any flag
 */
export const imageProblems = (
  cluster: Cluster,
  changes: readonly Change[],
  asked: Asked,
  defaults: readonly ApiJson[],
): readonly Problem[] => {
  const own = new Set(imagesOf(defaults).map(({ image }) => image));
  return imagesOf(asked.objects).flatMap(({ object, path, image }) => {
    const change = changes.find(({ want }) => want.object.kind === object.kind && keyOf(want.object) === keyOf(object));
    const running = change?.live && valueAt(change.live, path);
    const isGiven = namedFields(object, asked).some((named) => isWithin(path, named));
    if (image === running || isGiven || own.has(image)) return [];
    return [
      {
        object: cluster.title(object.kind, object.metadata),
        reason: `${path.join('.')} would be ${textOf(object.kind, image)}, as the record of the installation has it, and is ${textOf(object.kind, running)}`,
        remedy: path.includes('pause') ? 'give the values again with --values' : 'name the image with --image',
      },
    ];
  });
};
