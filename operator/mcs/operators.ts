/**
 * Decides which operator serves a ServiceImport if the cluster has several operators, in different namespaces (rule
 * K7). An annotation of the ServiceImport, or of the derived Service, names that operator. Pure.
 */
import { Annotation } from '../../crds/wire.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { Operators } from '../mirror/observed.ts';
import { sourceOf } from '../source/owner.ts';
import { isOfDerived, isOfImport, podServicesOf, recordedOrder, type Standing } from './membership.ts';
import type { ObservedImport } from './observed.ts';
import { isLocalEntry } from './precedence.ts';

/** Returns the namespace of the operator that an object names; undefined if it names none. */
export const namedOperator = ({ metadata }: KubeObject): string | undefined =>
  metadata.annotations?.[Annotation.operator];

/**
 * Returns the namespace of the operator that serves a ServiceImport: the operator that the ServiceImport names, or
 * otherwise the one that the derived Service names. Foreign objects are ignored, and so is the name of another operator
 * whose namespace is certainly gone. Undefined if no name is left.
 */
export function operatorOf(
  { name, live, derived }: Pick<Standing, 'name' | 'live' | 'derived'>,
  { own, isGone }: Operators,
): string | undefined {
  return [live, derived]
    .filter((object) => object !== undefined && isOfImport(name, object))
    .map((object) => object && namedOperator(object))
    .find((namespace) => namespace !== undefined && (namespace === own || !isGone(namespace)));
}

/**
 * Reports whether the derived Service names another operator, although the ServiceImport in the store names this
 * operator. Either somebody has edited the Service, or another operator has taken over both objects, and the watch has
 * yet to show the new state of the ServiceImport. False if the namespace of the other operator is certainly gone.
 */
export function isInDoubt(
  { name, live, derived }: Pick<Standing, 'name' | 'live' | 'derived'>,
  operators: Operators,
): boolean {
  if (live === undefined || !isOfImport(name, live) || namedOperator(live) !== operators.own) return false;
  const ofDerived = operatorOf({ name, live: undefined, derived }, operators);
  return ofDerived !== undefined && ofDerived !== operators.own;
}

/**
 * Reports whether a ServiceImport records exports, and all of them are of the local cluster. All operators know these
 * exports, so an operator that also imports from a target is allowed to take the ServiceImport over (rule K7).
 */
export const isOfLocalAlone = (standing: Pick<Standing, 'name' | 'live'>): boolean =>
  recordedOrder(standing)?.split(',').every(isLocalEntry) === true;

/**
 * Reports whether another operator seems to be making a deleted ServiceImport anew without the targets of this
 * operator. This is assumed if all of these are true:
 * - The ServiceImport does not exist.
 * - Services that stand for pods of the targets of this operator are left.
 * - No slice of the derived Service leads to a target.
 *
 * Called only if another operator is named as the one that serves the ServiceImport. The other operator does not know
 * the targets of this one, and cannot decide without them, so this operator is allowed to take the ServiceImport over
 * (rule K7).
 */
export const isBegunBesidePods = (observed: ObservedImport): boolean =>
  observed.live === undefined &&
  observed.targets.some((target) => target.isLinked !== false && podServicesOf(observed, target).length > 0) &&
  !observed.imported.some((slice) => isOfDerived(observed.name, slice) && sourceOf(slice) !== undefined);
