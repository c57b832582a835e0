/**
 * What happens between a request and storage: the rules by which objects are created, changed and deleted. Each write
 * checks its preconditions and stores its result in one synchronous step, so writes never interleave.
 */
import { randomUUID } from 'node:crypto';
import { loadYaml } from '@kubernetes/client-node';
import { applyFields, trackUpdate } from '../apply/managed-fields.ts';
import { ClusterIPs } from '../kinds/cluster-ip.ts';
import { customResource } from '../kinds/custom-resource.ts';
import { BUILT_IN, DEFINITIONS, groupVersion, idOf, NAMESPACES, type Resource, SERVICES } from '../kinds/resources.ts';
import { freeze, type KubeObject, type ManagedFieldsEntry, mutable, sameJson, textOf, timestamp } from './object.ts';
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
} from './status.ts';
import { keyOf, type Snapshot, Storage } from './storage.ts';
import {
  contentChanged,
  decode,
  type DeleteOptions,
  established,
  gracePeriod,
  isHeld,
  isReleased,
  isSet,
  patched,
  PATCHES,
  untyped,
  withoutEmpty,
  writerOf,
  type WriteOptions,
} from './write-rules.ts';

export type { DeleteOptions, WriteOptions } from './write-rules.ts';

/** etcd takes no larger object. */
const MAX_BYTES = 1.5 * 1024 * 1024;

const DEFAULT_NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

const byKind = (resources: readonly Resource[]): ReadonlyMap<string, Resource> =>
  new Map(resources.map((resource) => [`${resource.group}/${resource.kind}`, resource]));

/** Built-in resources, by id and by kind. */
const IDS: ReadonlyMap<string, Resource> = new Map(BUILT_IN.map((resource) => [idOf(resource), resource]));
const KINDS = byKind(BUILT_IN);

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

/** A copy of an object that may be changed, without the record of its owners, and that record. */
function withoutOwners({ metadata: { managedFields = [], ...metadata }, ...fields }: KubeObject): {
  readonly fields: KubeObject;
  readonly owners: ManagedFieldsEntry[];
} {
  return { fields: mutable({ ...fields, metadata }), owners: managedFields };
}

const BAD_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** The objects of one cluster and the rules for changing them. */
export class Registry {
  /** Whether Services need names that begin with a letter, as before Kubernetes 1.36. */
  hasStrictNames = false;
  readonly storage = new Storage();
  readonly #clusterIPs = new ClusterIPs();
  #custom = new Map<string, Resource>();
  #byKind = KINDS;

  readonly #uuid: () => string;

  /**
   * @param snapshot what it holds instead of what every new cluster does
   * @param uuid makes uids; seeded, it makes a history repeatable
   */
  constructor(snapshot?: Snapshot, uuid: () => string = randomUUID) {
    this.#uuid = uuid;
    if (snapshot === undefined) this.#seedAll();
    else this.restore(snapshot);
    this.storage.collection(idOf(DEFINITIONS)).listen(() => this.#readDefinitions());
  }

  /** Time until the address of a Service that is gone can be had again, in milliseconds. */
  set releaseMs(ms: number) {
    this.#clusterIPs.releaseMs = ms;
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
    return [...BUILT_IN, ...this.#custom.values()];
  }

  /** The resource at a path, if this version of it is served. */
  find(group: string, version: string, plural: string): Resource | undefined {
    const resource = this.byId(`${group}/${plural}`);
    return resource?.versions.includes(version) ? resource : undefined;
  }

  /** The resource stored under an id. */
  byId(id: string): Resource | undefined {
    return IDS.get(id) ?? this.#custom.get(id);
  }

  /** The resource of a kind. */
  byKind(apiVersion: string, kind: string): Resource | undefined {
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0]! : '';
    return this.#byKind.get(`${group}/${kind}`);
  }

  #readDefinitions(): void {
    const definitions = this.storage.collection(idOf(DEFINITIONS)).entries();
    const defined = new Map(
      definitions.map(([, definition]) => customResource(definition)).map((resource) => [idOf(resource), resource]),
    );
    for (const id of this.#custom.keys()) if (!defined.has(id)) this.storage.drop(id);
    this.#custom = defined;
    this.#byKind = new Map([...KINDS, ...byKind([...defined.values()])]);
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
    const object = decode(resource, namespace, body, options.version);
    if (object.metadata.resourceVersion) {
      throw new ApiError(400, 'BadRequest', 'resourceVersion should not be set on objects to be created');
    }
    return this.#create(resource, object, options);
  }

  #create(resource: Resource, object: KubeObject, options: WriteOptions, applied?: ManagedFieldsEntry[]): KubeObject {
    const { metadata } = object;
    if (resource.namespaced) this.#requireNamespace(resource, metadata.namespace ?? '', metadata.name);
    if (!metadata.name && metadata.generateName) metadata.name = metadata.generateName + this.#uuid().slice(0, 5);
    if (!metadata.name) {
      throw unprocessable(resource, '', [required('metadata.name', 'name or generateName is required')]);
    }
    const hasStatus = resource.subresources.includes('status') && resource.kind !== 'Node';
    if (hasStatus) delete object.status;
    for (const field of ['resourceVersion', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generation'] as const) {
      Reflect.deleteProperty(metadata, field);
    }
    metadata.uid = this.#uuid();
    metadata.creationTimestamp = timestamp();
    if (resource.generation !== 'none') metadata.generation = 1;
    object.metadata = withoutEmpty(metadata);
    resource.normalize(object, options.version);
    const owners =
      applied ??
      trackUpdate(undefined, object, resource.shapeOf(options.version), writerOf(resource, 'Update', options));
    this.#prepare(resource, object, undefined);
    this.#validate(resource, object, undefined);
    if (owners.length > 0) object.metadata.managedFields = owners;
    return this.#store(resource, object, undefined, options);
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

  /** PUT. @param body becomes part of the object: nobody may use it any more */
  update(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    body: unknown,
    options: WriteOptions,
  ): { object: KubeObject; created: boolean } {
    const next = decode(resource, namespace, body, options.version);
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
    const next = patched(resource, base, contentType, body, options.version);
    return { object: this.#change(resource, old, next, options), created: false };
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
    const config = mutable(decode(resource, namespace, body, options.version));
    if (config.metadata.name !== undefined && config.metadata.name !== name) {
      throw badRequest(`the name of the object (${config.metadata.name}) does not match the name on the URL (${name})`);
    }
    if (config.metadata.managedFields !== undefined && config.metadata.managedFields !== null) {
      throw badRequest('metadata.managedFields must be nil');
    }
    const [undeclared] = resource.undeclared?.(config, options.version) ?? [];
    if (undeclared !== undefined) throw untyped(config, undeclared);
    const shape = resource.shapeOf(options.version);
    const writer = writerOf(resource, 'Apply', options);
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
      const { fields, owners } = withoutOwners(applyFields(blank, config, shape, writer, true));
      return { object: this.#create(resource, fields, options, owners), created: true };
    }
    const { uid, resourceVersion } = config.metadata;
    const merged = applyFields(
      this.view(resource, old, options.version),
      config,
      shape,
      writer,
      options.force ?? false,
    );
    const { fields: next, owners } = withoutOwners(merged);
    if (uid) next.metadata.uid = uid;
    if (resourceVersion) next.metadata.resourceVersion = resourceVersion;
    return { object: this.#change(resource, old, next, options, owners), created: false };
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
    object.metadata = withoutEmpty(object.metadata);
    resource.normalize(object, options.version);
    const owners =
      applied ?? trackUpdate(before, object, resource.shapeOf(options.version), writerOf(resource, 'Update', options));
    const { labels, annotations, finalizers, ownerReferences } = object.metadata;
    const { managedFields: _, ...kept } = old.metadata;
    object.metadata = withoutEmpty({
      ...mutable(kept),
      labels,
      annotations,
      finalizers,
      ownerReferences,
      managedFields: owners,
    }) as KubeObject['metadata'];
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
    const { name } = object.metadata;
    const isStrict = this.hasStrictNames && resource === SERVICES && old === undefined && /^[0-9]/.test(name);
    const errors = [...(isStrict ? [invalid('metadata.name', name, BAD_1035)] : []), ...resource.validate(object, old)];
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
    if (resource === SERVICES) this.#clusterIPs.releaseSoon(stored);
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
