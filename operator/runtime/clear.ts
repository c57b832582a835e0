/**
 * Deletes the slices that others give a Service of ours (rule C3). A precondition can speak of the deleted object
 * alone, so the Service is read just before each deletion: it must still be ours, and have no selector.
 */
import { Label, SELECTED_SLICE_MANAGER } from '../../crds/wire.ts';
import type { KubeClient } from '../kube/client.ts';
import { unlessNotFound } from '../kube/errors.ts';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  type EndpointSlice,
  hasSelector,
  type KubeObject,
  type Resource,
  type Service,
  SERVICES,
} from '../kube/objects.ts';
import { isCopy } from './compare.ts';
import type { Action } from './plan.ts';

/** A planned action of this kind. */
export type Clearing = Action & { readonly op: 'clear' };

export interface ClearOptions {
  readonly client: Pick<KubeClient, 'read'>;
  readonly isOurs: (object: KubeObject) => boolean;
  /** Deletes an object as it was seen. */
  readonly remove: (of: Resource, seen: KubeObject) => Promise<void>;
}

/**
 * Whether an object is a slice that belongs to the Service of a slice of ours, by its labels, though these say that
 * Kubernetes makes it of pods. If somebody has taken our labels from it too, no watch shows it.
 */
export function isOfService(wanted: KubeObject, there: KubeObject): there is EndpointSlice {
  const service = wanted.metadata.labels?.[Label.serviceName];
  const { labels = {} } = there.metadata;
  return (
    service !== undefined &&
    labels[Label.serviceName] === service &&
    labels[Label.endpointSliceManagedBy] === SELECTED_SLICE_MANAGER
  );
}

/** Deletes slices until the Service is no longer ours, or has a selector. Returns whether any was deleted. */
export async function clear(
  { object: service, slices, mayHaveEndpoints }: Clearing,
  options: ClearOptions,
  signal: AbortSignal,
): Promise<boolean> {
  // Kubernetes makes slices of these, so they go first.
  if (mayHaveEndpoints === true) await removeSelectedEndpoints(service, options, signal);
  let isAnyDeleted = false;
  for (const slice of slices) {
    if ((await readUnselected(service, options, signal)) === undefined) break;
    await options.remove(ENDPOINT_SLICES, slice);
    isAnyDeleted = true;
  }
  return isAnyDeleted;
}

/** Deletes the Endpoints that Kubernetes made of a Service while it had a selector: they have its labels. */
async function removeSelectedEndpoints(service: Service, options: ClearOptions, signal: AbortSignal): Promise<void> {
  const { namespace, name } = service.metadata;
  const endpoints = await options.client.read(ENDPOINTS, namespace, name, signal).catch(unlessNotFound);
  if (endpoints === undefined) return;
  const live = await readUnselected(service, options, signal);
  if (live !== undefined && isCopy(endpoints, live)) await options.remove(ENDPOINTS, endpoints);
}

/**
 * Reads a Service. Returns undefined unless it is the same one, ours, and without a selector: Kubernetes fills those.
 */
async function readUnselected(
  { metadata: { namespace, name, uid } }: Service,
  { client, isOurs }: ClearOptions,
  signal: AbortSignal,
): Promise<Service | undefined> {
  const live = await client.read<Service>(SERVICES, namespace, name, signal).catch(unlessNotFound);
  if (live === undefined || live.metadata.uid !== uid || !isOurs(live) || hasSelector(live)) return undefined;
  return live;
}
