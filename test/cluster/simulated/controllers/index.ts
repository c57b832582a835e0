/**
 * Kubernetes' own controllers, as far as the tests need them, by their kube-controller-manager names. Each is a
 * function from a key to a state: an event names what to look at, and is forgotten when that has been looked at.
 */
import type { Registry } from '../storage/registry.ts';
import {
  ENDPOINTS,
  ENDPOINT_SLICES,
  idOf,
  NAMESPACES,
  PODS,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
  STATEFUL_SETS,
  type Resource,
} from '../kinds/resources.ts';
import { keyOf, type StorageEvent } from '../storage/storage.ts';
import { reconcileEndpoints } from './endpoints.ts';
import { reconcileEndpointSlices, reconcileMirroredSlices } from './endpoint-slices.ts';
import { reconcileNamespace } from './namespace.ts';
import { reconcileRootCa } from './root-ca.ts';
import { reconcileStatefulSet, setOf } from './stateful-set.ts';
import { reconcileToken, secretsOf } from './token.ts';
import { servicesSelecting } from './writes.ts';

/** A controller: what it listens to, and what it does about it. */
export interface Controller {
  /** For each resource listened to, the keys that an event concerns. */
  readonly sources: readonly {
    readonly resource: Resource;
    readonly keys: (event: StorageEvent, registry: Registry) => readonly string[];
  }[];
  /** Makes what belongs to a key as it should be. */
  readonly reconcile: (registry: Registry, key: string) => void;
}

/** The key of the object itself. */
const ownKey = ({ key }: StorageEvent): readonly string[] => [key];

/** The Service an EndpointSlice belongs to. */
const serviceOfSlice = ({ object: { metadata } }: StorageEvent): readonly string[] => {
  const service = metadata.labels?.['kubernetes.io/service-name'];
  return service === undefined ? [] : [keyOf(metadata.namespace, service)];
};

const own = (resource: Resource): Controller['sources'][number] => ({ resource, keys: ownKey });
const pods = { resource: PODS, keys: servicesSelecting };
const slices = { resource: ENDPOINT_SLICES, keys: serviceOfSlice };
/** Kubernetes makes Endpoints anew that somebody deletes; it neither undoes changes nor looks at such as have no Service. */
const deletedEndpoints: Controller['sources'][number] = {
  resource: ENDPOINTS,
  keys: (event) => (event.type === 'DELETED' ? ownKey(event) : []),
};

const CONTROLLERS: Readonly<Record<string, Controller>> = {
  'statefulset-controller': {
    sources: [own(STATEFUL_SETS), { resource: PODS, keys: setOf }],
    reconcile: reconcileStatefulSet,
  },
  'endpoints-controller': { sources: [own(SERVICES), deletedEndpoints, pods], reconcile: reconcileEndpoints },
  'endpointslice-controller': { sources: [own(SERVICES), slices, pods], reconcile: reconcileEndpointSlices },
  'serviceaccount-token-controller': {
    sources: [
      own(SECRETS),
      { resource: SERVICE_ACCOUNTS, keys: ({ object }, registry) => secretsOf(object, registry) },
    ],
    reconcile: reconcileToken,
  },
  'root-ca-certificate-publisher-controller': { sources: [own(NAMESPACES)], reconcile: reconcileRootCa },
  'endpointslice-mirroring-controller': {
    sources: [own(SERVICES), own(ENDPOINTS), slices],
    reconcile: reconcileMirroredSlices,
  },
};

const NAMESPACE: Controller = { sources: [own(NAMESPACES)], reconcile: reconcileNamespace };

const RETRY_MS = 20;

/**
 * Starts controllers by name; names the simulation does not know are those of controllers it does not need.
 * @returns stops them
 */
export function startControllers(registry: Registry, names: readonly string[]): () => void {
  const stops = [NAMESPACE, ...names.flatMap((name) => CONTROLLERS[name] ?? [])].map((controller) =>
    run(registry, controller),
  );
  return () => stops.forEach((stop) => stop());
}

function run(registry: Registry, { sources, reconcile }: Controller): () => void {
  const pending = new Set<string>();
  let stopped = false;
  const drain = (): void => {
    if (stopped) return;
    const keys = [...pending];
    pending.clear();
    for (const key of keys) {
      try {
        reconcile(registry, key);
      } catch {
        setTimeout(() => enqueue([key]), RETRY_MS).unref();
      }
    }
  };
  const enqueue = (keys: readonly string[]): void => {
    if (pending.size === 0 && keys.length > 0) setImmediate(drain);
    for (const key of keys) pending.add(key);
  };
  const unlisten = sources.map(({ resource, keys }) => {
    const collection = registry.storage.collection(idOf(resource));
    for (const [, object] of collection.entries()) {
      const { namespace, name, resourceVersion } = object.metadata;
      const key = keyOf(namespace, name);
      const added: StorageEvent = {
        revision: Number(resourceVersion),
        type: 'ADDED',
        key,
        object,
        previous: undefined,
      };
      enqueue(keys(added, registry));
    }
    return collection.listen((event) => enqueue(keys(event, registry)));
  });
  return () => {
    stopped = true;
    unlisten.forEach((stop) => stop());
  };
}
