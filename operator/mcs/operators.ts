/**
 * Decides which operator serves a ServiceImport in a cluster that has several, in different namespaces (rule K7): the
 * one that an annotation names, on the ServiceImport or on the derived Service. Pure.
 */
import { Annotation } from '../../crds/wire.ts';
import type { KubeObject } from '../kube/objects.ts';
import { isOfImport, type Standing } from './membership.ts';
import type { Operators } from '../mirror/observed.ts';
import { isLocalEntry, recordedOrder } from './precedence.ts';

/** Returns the namespace of the operator that an object names. */
export const namedOperator = ({ metadata }: KubeObject): string | undefined =>
  metadata.annotations?.[Annotation.operator];

/** Returns the namespace of the operator that serves a ServiceImport; undefined if nothing shows it. */
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
 * Reports whether the derived Service names another operator, although the ServiceImport, as last seen, names this
 * one. Either somebody has edited the Service, or the other operator has taken both over and no watch has shown the
 * ServiceImport yet.
 */
export function isInDoubt(
  { name, live, derived }: Pick<Standing, 'name' | 'live' | 'derived'>,
  operators: Operators,
): boolean {
  if (live === undefined || !isOfImport(name, live) || namedOperator(live) !== operators.own) return false;
  const ofDerived = operatorOf({ name, live: undefined, derived }, operators);
  return ofDerived !== undefined && ofDerived !== operators.own;
}

/** Reports whether a ServiceImport records exports of the local cluster only, which all operators know. */
export const isOfLocalAlone = (standing: Pick<Standing, 'name' | 'live'>): boolean =>
  recordedOrder(standing)?.split(',').every(isLocalEntry) === true;
