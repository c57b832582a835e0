/**
 * What happens between a request and storage: the rules by which objects are created, changed and deleted. Each write
 * checks its preconditions and stores its result in one synchronous step, so writes never interleave.
 */
import { randomUUID } from 'node:crypto';
import { loadYaml } from '@kubernetes/client-node';
import { ClusterIPs } from '../kinds/cluster-ip.ts';
import { customResource } from '../kinds/custom-resource.ts';
import { applyFields, trackUpdate, type Writer } from '../apply/managed-fields.ts';
import {
  freeze,
  isFields,
  mutable,
  sameJson,
  textOf,
  timestamp,
  type Fields,
  type KubeObject,
  type ManagedFieldsEntry,
} from './object.ts';
import { jsonPatch, mergePatch, strategicMergePatch, type JsonPatchOperation } from '../apply/patch.ts';
import {
  BUILT_IN,
  DEFINITIONS,
  groupVersion,
  idOf,
  NAMESPACES,
  PODS,
  SERVICES,
  type Resource,
} from '../kinds/resources.ts';
import {
  alreadyExists,
  ApiError,
  badRequest,
  conflict,
  forbidden,
  invalid,
  notFound,
  required,
  unprocessable,
  unsupportedMediaType,
} from './status.ts';
import { keyOf, Storage, type Snapshot } from './storage.ts';

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

/** etcd takes no larger object. */
const MAX_BYTES = 1.5 * 1024 * 1024;

const PATCHES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const DEFAULT_NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** Parses a body: JSON, or YAML. */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    try {
      return loadYaml(text);
    } catch (error) {
      throw badRequest(`error decoding the body: ${String(error)}`);
    }
  }
}

/** The objects of one cluster and the rules for changing them. */
export class Registry {
  readonly storage = new Storage();
  readonly #clusterIPs = new ClusterIPs();
  readonly #builtIn = new Map(BUILT_IN.map((resource) => [idOf(resource), resource]));
  #custom = new Map<string, Resource>();

  /** @param snapshot what it holds instead of what every new cluster does */
  constructor(snapshot?: Snapshot) {
    if (snapshot === undefined) this.#seedAll();
    else this.restore(snapshot);
    this.storage.collection(idOf(DEFINITIONS)).listen(() => this.#readDefinitions());
  }

  #seedAll(): void {
    for (const name of DEFAULT_NAMESPACES) this.#seed(NAMESPACES, undefined, { metadata: { name } });
    this.#seed(SERVICES, 'default', {
      metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, targetPort: 6443 }] },
    });
  }

  #seed(resource: Resource, namespace: string | undefined, body: object): void {
    this.create(resource, namespace, body, { manager: 'kube-apiserver', version: resource.storageVersion });
  }

  /** Every resource, built-in and custom. */
  resources(): readonly Resource[] {
    return [...this.#builtIn.values(), ...this.#custom.values()];
  }

  /** The resource at a path, if this version of it is served. */
  find(group: string, version: string, plural: string): Resource | undefined {
    const resource = this.byId(`${group}/${plural}`);
    return resource?.versions.includes(version) ? resource : undefined;
  }

  /** The resource stored under an id. */
  byId(id: string): Resource | undefined {
    return this.#builtIn.get(id) ?? this.#custom.get(id);
  }

  /** The resource of a kind. */
  byKind(apiVersion: string, kind: string): Resource | undefined {
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0]! : '';
    return this.resources().find((resource) => resource.group === group && resource.kind === kind);
  }

  #readDefinitions(): void {
    const definitions = this.storage.collection(idOf(DEFINITIONS)).entries();
    const defined = new Map(
      definitions.map(([, definition]) => customResource(definition)).map((resource) => [idOf(resource), resource]),
    );
    for (const id of this.#custom.keys()) if (!defined.has(id)) this.storage.drop(id);
    this.#custom = defined;
  }

  /** Goes back to a snapshot. */
  restore(snapshot: Snapshot): void {
    this.storage.restore(snapshot);
    this.#readDefinitions();
    this.#clusterIPs.reset(
      this.storage
        .collection(idOf(SERVICES))
        .entries()
        .map(([, service]) => service),
    );
  }

  /** An object as a version of the API shows it. */
  view(resource: Resource, object: KubeObject, version: string): KubeObject {
    const apiVersion = groupVersion(resource.group, version);
    if (object.apiVersion === apiVersion) return object;
    const shown = { ...mutable(object), apiVersion };
    resource.normalize(shown, version);
    return freeze(shown);
  }

  /** @throws ApiError 404 if there is no such object */
  get(resource: Resource, namespace: string | undefined, name: string): KubeObject {
    const object = this.storage.collection(idOf(resource)).get(keyOf(namespace, name));
    if (object === undefined) throw notFound(resource, name);
    return object;
  }

  /** @returns the object as stored */
  create(resource: Resource, namespace: string | undefined, body: unknown, options: WriteOptions): KubeObject {
    const object = this.#decode(resource, namespace, body, options.version);
    if (object.metadata.resourceVersion) {
      throw new ApiError(400, 'BadRequest', 'resourceVersion should not be set on objects to be created');
    }
    return this.#create(resource, object, options);
  }

  #create(resource: Resource, object: KubeObject, options: WriteOptions, applied?: ManagedFieldsEntry[]): KubeObject {
    const { metadata } = object;
    if (resource.namespaced) this.#requireNamespace(resource, metadata.namespace ?? '', metadata.name);
    if (!metadata.name && metadata.generateName) metadata.name = metadata.generateName + randomUUID().slice(0, 5);
    if (!metadata.name) {
      throw unprocessable(resource, '', [required('metadata.name', 'name or generateName is required')]);
    }
    const hasStatus = resource.subresources.includes('status') && resource.kind !== 'Node';
    if (hasStatus) delete object.status;
    for (const field of ['resourceVersion', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generation'] as const) {
      Reflect.deleteProperty(metadata, field);
    }
    metadata.uid = randomUUID();
    metadata.creationTimestamp = timestamp();
    if (resource.generation !== 'none') metadata.generation = 1;
    omitEmpty(metadata);
    resource.normalize(object, options.version);
    const owners =
      applied ??
      trackUpdate(undefined, object, resource.shapeOf(options.version), this.#writer(resource, 'Update', options));
    this.#prepare(resource, object, undefined);
    this.#validate(resource, object, undefined);
    if (owners.length > 0) metadata.managedFields = owners;
    return this.#store(resource, object, undefined, options);
  }

  /** Reads a body of the given version, and completes what the path says. */
  #decode(resource: Resource, namespace: string | undefined, body: unknown, version: string): KubeObject {
    if (!isFields(body)) throw badRequest('the body of the request is not an object');
    const apiVersion = groupVersion(resource.group, version);
    const { kind = resource.kind, apiVersion: given = apiVersion } = body as Partial<KubeObject>;
    if (given !== apiVersion) {
      throw badRequest(
        `the API version in the data (${given}) does not match the expected API version (${apiVersion})`,
      );
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

  #requireNamespace(resource: Resource, namespace: string, name: string): void {
    const found = this.storage.collection(idOf(NAMESPACES)).get(namespace);
    if (found === undefined) throw notFound(NAMESPACES, namespace);
    if (found.metadata.deletionTimestamp !== undefined) {
      const message = `namespace ${namespace} is being terminated`;
      throw forbidden(
        resource,
        name,
        `unable to create new content in namespace ${namespace} because it is being terminated`,
        [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }],
      );
    }
  }

  /** PUT. */
  update(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    body: unknown,
    options: WriteOptions,
  ): { object: KubeObject; created: boolean } {
    const next = mutable(this.#decode(resource, namespace, body, options.version));
    if (next.metadata.name !== name) {
      throw badRequest(`the name of the object (${next.metadata.name}) does not match the name on the URL (${name})`);
    }
    const old = this.storage.collection(idOf(resource)).get(keyOf(namespace, name));
    if (old === undefined) {
      if (!resource.createOnUpdate || options.subresource !== undefined || next.metadata.uid)
        throw notFound(resource, name);
      return { object: this.#create(resource, next, options), created: true };
    }
    const { uid } = next.metadata;
    if (uid && uid !== old.metadata.uid) {
      throw conflict(
        resource.group,
        resource.plural,
        name,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid ?? ''}`,
      );
    }
    if (!isSet(next.metadata.resourceVersion) && !resource.unconditionalUpdate) {
      throw unprocessable(resource, name, [
        {
          reason: 'FieldValueInvalid',
          field: 'metadata.resourceVersion',
          message: 'Invalid value: 0: must be specified for an update',
        },
      ]);
    }
    return { object: this.#change(resource, old, next, options), created: false };
  }

  /** PATCH, of whichever type. */
  patch(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    contentType: string,
    body: unknown,
    options: WriteOptions,
  ): { object: KubeObject; created: boolean } {
    const old = this.storage.collection(idOf(resource)).get(keyOf(namespace, name));
    if (contentType === PATCHES.apply) return this.#apply(resource, namespace, name, old, body, options);
    if (old === undefined) throw notFound(resource, name);
    const base = mutable(this.view(resource, old, options.version));
    const next = this.#patched(resource, base, contentType, body, options.version);
    return { object: this.#change(resource, old, next, options), created: false };
  }

  #patched(resource: Resource, base: KubeObject, contentType: string, body: unknown, version: string): KubeObject {
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

  /** Server-side apply. */
  #apply(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    old: KubeObject | undefined,
    body: unknown,
    options: WriteOptions,
  ): { object: KubeObject; created: boolean } {
    const config = mutable(this.#decode(resource, namespace, body, options.version));
    if (config.metadata.name !== undefined && config.metadata.name !== name) {
      throw badRequest(`the name of the object (${config.metadata.name}) does not match the name on the URL (${name})`);
    }
    if (config.metadata.managedFields !== undefined && config.metadata.managedFields !== null) {
      throw badRequest('metadata.managedFields must be nil');
    }
    const [undeclared] = resource.undeclared?.(config, options.version) ?? [];
    if (undeclared !== undefined) throw untyped(config, undeclared);
    const shape = resource.shapeOf(options.version);
    const writer = this.#writer(resource, 'Apply', options);
    if (old === undefined) {
      if (config.metadata.uid) {
        throw conflict(
          resource.group,
          resource.plural,
          name,
          `uid mismatch: the provided object specified uid ${config.metadata.uid}, and no existing object was found`,
        );
      }
      if (options.subresource !== undefined) throw notFound(resource, name);
      const blank: KubeObject = {
        apiVersion: config.apiVersion,
        kind: config.kind,
        metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
      };
      const { metadata, ...fields } = mutable(applyFields(blank, config, shape, writer, true));
      const { managedFields = [], ...rest } = metadata;
      return {
        object: this.#create(resource, { ...fields, metadata: rest }, options, managedFields),
        created: true,
      };
    }
    const { uid, resourceVersion } = config.metadata;
    const merged = applyFields(
      this.view(resource, old, options.version),
      config,
      shape,
      writer,
      options.force ?? false,
    );
    const next = mutable(merged);
    if (uid) next.metadata.uid = uid;
    if (resourceVersion) next.metadata.resourceVersion = resourceVersion;
    return { object: this.#change(resource, old, next, options, next.metadata.managedFields), created: false };
  }

  #writer(resource: Resource, operation: Writer['operation'], { manager, version, subresource }: WriteOptions): Writer {
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

  /** Stores a changed object after every check; one that is as before is not stored again. */
  #change(
    resource: Resource,
    old: KubeObject,
    next: KubeObject,
    options: WriteOptions,
    applied?: ManagedFieldsEntry[],
  ): KubeObject {
    const { name, resourceVersion } = old.metadata;
    const before = this.view(resource, old, options.version);
    if (isSet(next.metadata.resourceVersion) && next.metadata.resourceVersion !== resourceVersion) {
      throw conflict(resource.group, resource.plural, name);
    }
    if (next.metadata.uid && next.metadata.uid !== old.metadata.uid) {
      throw unprocessable(resource, name, [invalid('metadata.uid', next.metadata.uid, 'field is immutable')]);
    }
    if (next.metadata.name !== name) {
      throw unprocessable(resource, name, [invalid('metadata.name', next.metadata.name, 'field is immutable')]);
    }
    let object = next;
    if (options.subresource === 'status') {
      const { managedFields = before.metadata.managedFields } = next.metadata;
      const metadata = resource.custom ? before.metadata : next.metadata;
      object = mutable({ ...before, metadata: { ...metadata, managedFields }, status: next.status }) as KubeObject;
    } else if (resource.subresources.includes('status')) {
      object.status = mutable(before.status);
    }
    omitEmpty(object.metadata);
    resource.normalize(object, options.version);
    const owners =
      applied ??
      trackUpdate(before, object, resource.shapeOf(options.version), this.#writer(resource, 'Update', options));
    const { labels, annotations, finalizers, ownerReferences } = object.metadata;
    const metadata = {
      ...mutable(old.metadata),
      labels,
      annotations,
      finalizers,
      ownerReferences,
      managedFields: owners,
    };
    object.metadata = omitEmpty(metadata) as KubeObject['metadata'];
    this.#prepare(resource, object, old);
    this.#validate(resource, object, old);
    if (options.version !== resource.storageVersion)
      object = mutable(this.view(resource, object, resource.storageVersion));
    if (contentChanged(resource, old, object)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    if (sameJson(old, object)) return old;
    return this.#store(resource, object, old, options);
  }

  /** What a kind completes in an object besides its defaults. */
  #prepare(resource: Resource, object: KubeObject, old: KubeObject | undefined): void {
    if (resource === SERVICES) this.#clusterIPs.prepare(object, old, resource);
    else if (resource === NAMESPACES && old === undefined) object.spec = { finalizers: ['kubernetes'] };
    else if (resource === DEFINITIONS) object.status = established(object);
  }

  #validate(resource: Resource, object: KubeObject, old: KubeObject | undefined): void {
    const errors = resource.validate(object, old);
    if (errors.length > 0) throw unprocessable(resource, object.metadata.name, errors);
  }

  #store(
    resource: Resource,
    object: KubeObject,
    old: KubeObject | undefined,
    { dryRun = false }: WriteOptions,
  ): KubeObject {
    const { namespace, name } = object.metadata;
    const collection = this.storage.collection(idOf(resource));
    const key = keyOf(namespace, name);
    if (old === undefined && collection.get(key) !== undefined) throw alreadyExists(resource, name);
    if (dryRun) return freeze(object);
    if (isReleased(old, object)) {
      this.#remove(resource, object);
      return freeze(object);
    }
    const stored = collection.put(key, object);
    if (textOf(stored).length > MAX_BYTES) {
      if (old === undefined) collection.remove(key);
      else collection.put(key, mutable(old));
      throw new ApiError(500, '', 'etcdserver: request is too large');
    }
    if (resource === SERVICES) {
      if (old !== undefined) this.#clusterIPs.release(old);
      this.#clusterIPs.take(stored);
    }
    return stored;
  }

  /**
   * DELETE.
   * @returns the object as it was last seen, and whether it is gone (not so while finalizers or a grace period hold it)
   */
  delete(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    options: DeleteOptions = {},
  ): { object: KubeObject; gone: boolean } {
    const object = this.get(resource, namespace, name);
    const { uid, resourceVersion } = options.preconditions ?? {};
    if (uid !== undefined && uid !== object.metadata.uid) {
      throw conflict(
        resource.group,
        resource.kind,
        name,
        `the UID in the precondition (${uid}) does not match the UID in record (${object.metadata.uid ?? ''}). The object might have been deleted and then recreated`,
      );
    }
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) {
      throw conflict(
        resource.group,
        resource.kind,
        name,
        `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${object.metadata.resourceVersion ?? ''}). The object might have been modified`,
      );
    }
    if (options.dryRun) return { object, gone: true };
    const grace = gracePeriod(resource, object, options.gracePeriodSeconds);
    if (grace === 0 && !isHeld(resource, object)) {
      this.#remove(resource, object);
      return { object, gone: true };
    }
    if (object.metadata.deletionTimestamp !== undefined && object.metadata.deletionGracePeriodSeconds === grace)
      return { object, gone: false };
    const marked = mutable(object);
    marked.metadata.deletionTimestamp = timestamp(new Date(Date.now() + grace * 1000));
    if (resource !== NAMESPACES) marked.metadata.deletionGracePeriodSeconds = grace;
    else marked.status = { phase: 'Terminating' };
    return { object: this.storage.collection(idOf(resource)).put(keyOf(namespace, name), marked), gone: false };
  }

  #remove(resource: Resource, { metadata: { namespace, name } }: KubeObject): void {
    const collection = this.storage.collection(idOf(resource));
    const stored = collection.get(keyOf(namespace, name));
    if (stored === undefined) return;
    if (resource === DEFINITIONS) this.#empty(customResource(stored));
    if (resource === SERVICES) this.#clusterIPs.release(stored);
    collection.remove(keyOf(namespace, name));
  }

  #empty(resource: Resource): void {
    const collection = this.storage.collection(idOf(resource));
    for (const [key] of collection.entries()) collection.remove(key);
  }

  /** Removes a namespace that has no content left. */
  finalizeNamespace(name: string): void {
    const namespace = this.storage.collection(idOf(NAMESPACES)).get(name);
    if (namespace !== undefined) this.#remove(NAMESPACES, namespace);
  }
}

/** The refusal of an apply with a field that the schema does not declare: a 500, where any other write prunes. */
function untyped({ apiVersion, kind, metadata: { namespace = '', name } }: KubeObject, problem: string): ApiError {
  const what = `(${namespace}/${name}; ${apiVersion}, Kind=${kind})`;
  return new ApiError(500, '', `failed to create typed patch object ${what}: ${problem}`);
}

/** Takes out, in place, the maps and lists of metadata that have nothing in them, as decoding does. */
function omitEmpty<T extends object>(metadata: T): T {
  for (const [field, value] of Object.entries(metadata) as [string, unknown][]) {
    const empty = typeof value === 'object' && Object.keys(value ?? {}).length === 0;
    if (value === undefined || empty) Reflect.deleteProperty(metadata, field);
  }
  return metadata;
}

/** What a write of the status leaves alone: of a built-in kind the labels and annotations can still be changed. */
const statusOnly = ({ custom }: Resource): readonly string[] => (custom ? ['metadata', 'spec'] : ['spec']);

/** Whether a resourceVersion guards a write: "0" means any. */
const isSet = (resourceVersion: string | undefined): boolean =>
  resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== '0';

/** Whether something keeps a deleted object from going. */
const isHeld = (resource: Resource, { metadata }: KubeObject): boolean =>
  resource === NAMESPACES || (metadata.finalizers ?? []).length > 0;

/** Whether a write takes the last finalizer off a deleted object, which is then gone. */
const isReleased = (old: KubeObject | undefined, { metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined &&
  metadata.deletionGracePeriodSeconds === 0 &&
  (old?.metadata.finalizers ?? []).length > 0 &&
  (metadata.finalizers ?? []).length === 0;

/** Seconds that a Pod on a Node is given to end; none for anything else. */
function gracePeriod(resource: Resource, object: KubeObject, asked: number | undefined): number {
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
function contentChanged(resource: Resource, old: KubeObject, object: KubeObject): boolean {
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
function established(definition: KubeObject): object {
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
