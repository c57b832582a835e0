/**
 * Who keeps a Secret as it is: a controller that owns it, as of External Secrets, or software that has set its data, as
 * Argo CD or Helm. What is written into it would be taken back. Pure.
 */
import type { KubeObject, Secret } from './objects.ts';

/** Whoever keeps an object. */
export interface Keeper {
  /** Its name, as in `ExternalSecret cluster-credentials-west`. */
  readonly name: string;
  /** Whether it owns the object, so that no write of ours can last. */
  readonly isController: boolean;
}

/** A Secret, cut to what is read, with whoever keeps it. */
export interface KeptSecret extends Secret {
  readonly keeper?: Keeper | undefined;
}

interface OwnerReference {
  readonly kind: string;
  readonly name: string;
  readonly controller?: boolean;
}

/** Managers that write when a person runs them. */
const BY_HAND = /^(kubectl|linkerd|before-first-apply$)/;

/** Argo CD's tracking of what it applies, as an annotation or a label. */
const TRACKED_BY = [
  ['annotations', 'argocd.argoproj.io/tracking-id'],
  ['labels', 'argocd.argoproj.io/instance'],
] as const;

/**
 * Returns whoever keeps a Secret; undefined if people write it, or we do.
 * @param ours our field managers
 */
export const keeperOf = (secret: Secret, ours: readonly string[]): Keeper | undefined => {
  const { ownerReferences = [], managedFields = [] } = secret.metadata as KubeObject['metadata'] & {
    readonly ownerReferences?: readonly OwnerReference[];
  };
  const controller = ownerReferences.find((each) => each.controller === true);
  if (controller !== undefined) return { name: `${controller.kind} ${controller.name}`, isController: true };
  const managers = managedFields
    .filter(({ subresource, fieldsV1 }) => subresource !== 'status' && fieldsV1?.['f:data'] !== undefined)
    .map(({ manager = 'unknown' }) => manager)
    .filter((manager) => !BY_HAND.test(manager) && !ours.includes(manager));
  if (managers.length > 0) return { name: [...new Set(managers)].join(', '), isController: false };
  const isTracked = TRACKED_BY.some(([where, key]) => secret.metadata[where]?.[key] !== undefined);
  return isTracked ? { name: 'Argo CD', isController: false } : undefined;
};
