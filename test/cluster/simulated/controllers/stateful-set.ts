/**
 * Keeps the Pods of every StatefulSet: `<set>-<n>` from 0 up, one after the other as each gets ready (or all at once),
 * and away again from the highest number down. Pods get no Node here; who plays the kubelet gives them one.
 */
import type { KubeObject } from '../storage/object.ts';
import type { Registry } from '../storage/registry.ts';
import { idOf, PODS, STATEFUL_SETS } from '../kinds/resources.ts';
import { keyOf, type StorageEvent } from '../storage/storage.ts';
import { put, putStatus, remove } from './writes.ts';

interface SetSpec {
  readonly replicas: number;
  readonly serviceName?: string;
  readonly podManagementPolicy: string;
  readonly ordinals?: { readonly start?: number };
  readonly template: {
    readonly metadata?: { readonly labels?: Record<string, string>; readonly annotations?: Record<string, string> };
    readonly spec: object;
  };
}

interface OwnerReference {
  readonly kind: string;
  readonly name: string;
  readonly controller?: boolean;
}

/** The set that an event on a Pod concerns. */
export const setOf = ({ object }: StorageEvent): readonly string[] =>
  ((object.metadata.ownerReferences ?? []) as OwnerReference[])
    .filter(({ kind, controller }) => kind === 'StatefulSet' && controller)
    .map(({ name }) => keyOf(object.metadata.namespace, name));

const isReady = (pod: KubeObject): boolean => {
  const { conditions = [] } = pod.status as { conditions?: readonly { type: string; status: string }[] };
  return (
    pod.metadata.deletionTimestamp === undefined &&
    conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  );
};

function podOf(set: KubeObject, spec: SetSpec, ordinal: number): Parameters<typeof put>[2] {
  const { name: setName, namespace, uid } = set.metadata;
  const name = `${setName}-${ordinal}`;
  const { labels = {}, annotations } = spec.template.metadata ?? {};
  return {
    metadata: {
      name,
      generateName: `${setName}-`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: {
        ...labels,
        'apps.kubernetes.io/pod-index': String(ordinal),
        'statefulset.kubernetes.io/pod-name': name,
      },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'StatefulSet', name: setName, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: { ...spec.template.spec, hostname: name, ...(spec.serviceName ? { subdomain: spec.serviceName } : {}) },
  };
}

/** Creates the next Pods that may be, or deletes the next that must not be. */
function scale(registry: Registry, set: KubeObject, spec: SetSpec, pods: ReadonlyMap<string, KubeObject>): void {
  const { name: setName, namespace = '' } = set.metadata;
  const start = spec.ordinals?.start ?? 0;
  const ordered = spec.podManagementPolicy === 'OrderedReady';
  for (let ordinal = start; ordinal < start + spec.replicas; ordinal++) {
    const pod = pods.get(`${setName}-${ordinal}`);
    if (pod === undefined) put(registry, PODS, podOf(set, spec, ordinal));
    if (ordered && (pod === undefined || !isReady(pod))) return;
  }
  const ordinalOf = (name: string): number => Number(name.slice(setName.length + 1));
  const surplus = [...pods.keys()].filter(
    (name) => ordinalOf(name) < start || ordinalOf(name) >= start + spec.replicas,
  );
  for (const name of surplus.sort((a, b) => ordinalOf(b) - ordinalOf(a))) {
    if (pods.get(name)!.metadata.deletionTimestamp === undefined) remove(registry, PODS, namespace, name);
    if (ordered) return;
  }
}

/** Reconciles one StatefulSet. */
export function reconcileStatefulSet(registry: Registry, key: string): void {
  const set = registry.storage.collection(idOf(STATEFUL_SETS)).get(key);
  const podsOf = (): ReadonlyMap<string, KubeObject> =>
    new Map(
      registry.storage
        .collection(idOf(PODS))
        .entries()
        .filter(([podKey, object]) =>
          setOf({ revision: 0, type: 'ADDED', key: podKey, object, previous: undefined }).includes(key),
        )
        .map(([, pod]) => [pod.metadata.name, pod]),
    );
  if (set === undefined) {
    for (const { metadata } of podsOf().values()) remove(registry, PODS, metadata.namespace!, metadata.name);
    return;
  }
  const spec = set.spec as SetSpec;
  scale(registry, set, spec, podsOf());
  const pods = [...podsOf().values()];
  const ready = pods.filter(isReady).length;
  putStatus(registry, STATEFUL_SETS, set, {
    observedGeneration: set.metadata.generation,
    replicas: pods.length,
    ...(ready > 0 ? { readyReplicas: ready } : {}),
    availableReplicas: ready,
    currentReplicas: pods.length,
    updatedReplicas: pods.length,
  });
}
