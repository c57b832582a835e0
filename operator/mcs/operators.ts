/**
 * Which operator serves a ServiceImport, where a cluster has several of them in namespaces of their own (rule K7): the one
 * that an annotation of the ServiceImport names, or of the Service that is derived from it. Pure.
 */
import { Annotation } from '../../crds/wire.ts';
import type { KubeObject } from '../kube/objects.ts';
import { isOfImport, type Standing } from './membership.ts';
import type { Operators } from '../mirror/observed.ts';
import { isLocalEntry, recordedOrder } from './precedence.ts';

/** Returns the namespace of the operator that an object names. */
export const namedOperator = ({ metadata }: KubeObject): string | undefined =>
  metadata.annotations?.[Annotation.operator];

/** Returns the namespace of the operator that serves a ServiceImport; undefined if nothing says which. */
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
 * Reports whether the derived Service names another operator than the ServiceImport, which names this one as far as it is
 * known: somebody has edited the Service, or the other operator has taken both over, and no watch has shown the ServiceImport.
 */
export function isInDoubt(
  { name, live, derived }: Pick<Standing, 'name' | 'live' | 'derived'>,
  operators: Operators,
): boolean {
  if (live === undefined || !isOfImport(name, live) || namedOperator(live) !== operators.own) return false;
  const ofDerived = operatorOf({ name, live: undefined, derived }, operators);
  return ofDerived !== undefined && ofDerived !== operators.own;
}

/** Reports whether it is recorded that a ServiceImport is made of exports of its own cluster alone, which all operators know. */
export const isOfLocalAlone = (standing: Pick<Standing, 'name' | 'live'>): boolean =>
  recordedOrder(standing)?.split(',').every(isLocalEntry) === true;
