/** The rules of a write that need to know nothing but the object, its kind and the request. */
import type { Writer } from '../apply/managed-fields.ts';
import { jsonPatch, type JsonPatchOperation, mergePatch, strategicMergePatch } from '../apply/patch.ts';
import { groupVersion, NAMESPACES, PODS, type Resource } from '../kinds/resources.ts';
import { type Fields, isFields, type KubeObject, sameJson, timestamp } from './object.ts';
import { ApiError, badRequest, unsupportedMediaType } from './status.ts';

/** How a write is made. */
export interface WriteOptions {
  /** The field manager. */
  readonly manager: string;
  /** The API version of the request. */
  readonly version: string;
  readonly subresource?: 'status';
  /** Check everything, store nothing. */
  readonly dryRun?: boolean;
  /** Server-side apply: take over the fields of other managers. */
  readonly force?: boolean;
}

/** What a delete may demand of the object it deletes. */
export interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

/** Media types of patches. */
export const PATCHES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** Reads a body of the given version, and completes it with the namespace and name in the path. */
export function decode(resource: Resource, namespace: string | undefined, body: unknown, version: string): KubeObject {
  if (!isFields(body)) throw badRequest('the body of the request is not an object');
  const apiVersion = groupVersion(resource.group, version);
  const { kind = resource.kind, apiVersion: given = apiVersion } = body as Partial<KubeObject>;
  if (given !== apiVersion) {
    throw badRequest(`the API version in the data (${given}) does not match the expected API version (${apiVersion})`);
  }
  if (kind !== resource.kind) {
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${resource.kind}: no kind "${kind}" is registered`,
    );
  }
  const metadata = { ...(body.metadata as KubeObject['metadata'] | undefined) } as KubeObject['metadata'];
  if (resource.namespaced) {
    if (metadata.namespace !== undefined && metadata.namespace !== '' && metadata.namespace !== namespace) {
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
    }
    metadata.namespace = namespace!;
  } else delete metadata.namespace;
  return { ...body, apiVersion, kind, metadata };
}

/** The object after a patch that is not an apply. @throws ApiError 415 for a type that its kind does not know */
export function patched(
  resource: Resource,
  base: KubeObject,
  contentType: string,
  body: unknown,
  version: string,
): KubeObject {
  switch (contentType) {
    case PATCHES.json:
      return jsonPatch(base, body as readonly JsonPatchOperation[]);
    case PATCHES.merge:
      return mergePatch(base, body as Fields);
    case PATCHES.strategic:
      if (!resource.custom) return strategicMergePatch(base, body as Fields, resource.shapeOf(version));
      throw unsupportedMediaType(contentType, [PATCHES.json, PATCHES.merge, PATCHES.apply]);
    default:
      throw unsupportedMediaType(contentType, Object.values(PATCHES));
  }
}

/** Who makes a write, for the record of owners. */
export function writerOf(
  resource: Resource,
  operation: Writer['operation'],
  { manager, version, subresource }: WriteOptions,
): Writer {
  return {
    manager,
    operation,
    apiVersion: groupVersion(resource.group, version),
    ...(subresource === undefined ? {} : { subresource }),
    time: timestamp(),
    builtIn: !resource.custom,
    ignored:
      subresource === 'status' ? statusOnly(resource) : resource.subresources.includes('status') ? ['status'] : [],
  };
}

/** The refusal of an apply with a field that the schema does not declare: a 500, where any other write prunes. */
export function untyped(
  { apiVersion, kind, metadata: { namespace = '', name } }: KubeObject,
  problem: string,
): ApiError {
  const what = `(${namespace}/${name}; ${apiVersion}, Kind=${kind})`;
  return new ApiError(500, '', `failed to create typed patch object ${what}: ${problem}`);
}

/** A copy without the maps and lists that have nothing in them, as decoding leaves them out of metadata. */
export function withoutEmpty<T extends object>(metadata: T): T {
  const kept: Fields = {};
  for (const field in metadata) {
    const value: unknown = metadata[field];
    if (!isNothing(value)) kept[field] = value;
  }
  return kept as T;
}

function isNothing(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined || value === null;
  for (const _ in value) return false;
  return true;
}

/** What a write of the status leaves alone: of a built-in kind the labels and annotations can still be changed. */
const statusOnly = ({ custom }: Resource): readonly string[] => (custom ? ['metadata', 'spec'] : ['spec']);

/** Whether a resourceVersion guards a write: "0" means any. */
export const isSet = (resourceVersion: string | undefined): boolean =>
  resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== '0';

/** Whether something keeps a deleted object from going. */
export const isHeld = (resource: Resource, { metadata }: KubeObject): boolean =>
  resource === NAMESPACES || (metadata.finalizers ?? []).length > 0;

/** Whether a write takes the last finalizer off a deleted object, which is then gone. */
export const isReleased = (old: KubeObject | undefined, { metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined &&
  metadata.deletionGracePeriodSeconds === 0 &&
  (old?.metadata.finalizers ?? []).length > 0 &&
  (metadata.finalizers ?? []).length === 0;

/** Seconds that a Pod on a Node is given to end; none for anything else. */
export function gracePeriod(resource: Resource, object: KubeObject, asked: number | undefined): number {
  if (resource !== PODS) return 0;
  const { nodeName, terminationGracePeriodSeconds = 30 } = object.spec as {
    nodeName?: string;
    terminationGracePeriodSeconds?: number;
  };
  const { phase } = object.status as { phase?: string };
  if (nodeName === undefined || phase === 'Succeeded' || phase === 'Failed') return 0;
  return asked ?? object.metadata.deletionGracePeriodSeconds ?? terminationGracePeriodSeconds;
}

/** Whether a change makes a new generation. */
export function contentChanged(resource: Resource, old: KubeObject, object: KubeObject): boolean {
  const content = ({ apiVersion: _a, kind: _k, metadata: _m, status, ...fields }: KubeObject): Fields =>
    resource.subresources.includes('status') ? fields : { ...fields, status };
  switch (resource.generation) {
    case 'none':
      return false;
    case 'spec':
      return !sameJson(old.spec, object.spec);
    case 'content':
      return !sameJson(content(old), content(object));
    case 'content and labels':
      return !sameJson([content(old), old.metadata.labels], [content(object), object.metadata.labels]);
  }
}

/** The status of a definition that is served, which takes the real server a moment and this one none. */
export function established(definition: KubeObject): object {
  const { names, versions } = definition.spec as {
    names: object;
    versions: readonly { name: string; storage: boolean }[];
  };
  const at = definition.metadata.creationTimestamp;
  const condition = (type: string, reason: string, message: string): object => ({
    type,
    status: 'True',
    reason,
    message,
    lastTransitionTime: at,
  });
  return {
    acceptedNames: names,
    storedVersions: versions.filter(({ storage }) => storage).map(({ name }) => name),
    conditions: [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
    ],
  };
}
