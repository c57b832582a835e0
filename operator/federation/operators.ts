/**
 * Decides which operator serves a federated Service if the cluster has several operators, in different namespaces (rule
 * I9). An annotation of the Service (its mark) names that operator. Pure.
 */
import { Annotation } from '../../crds/wire.ts';
import type { Operators } from '../mirror/observed.ts';
import { type Refusal, servedByAnother } from '../mirror/reasons.ts';
import { SERVICES, type Service } from '../kube/objects.ts';
import type { Desired } from '../runtime/plan.ts';
import { isFederated } from '../source/owner.ts';
import { mayYetHaveMember } from './awaited.ts';
import { memberOf } from '../source/owner.ts';
import { listedClusters, membershipOf } from './membership.ts';
import type { Member } from './member.ts';
import type { ObservedFederation } from './observed.ts';

/**
 * Returns the namespace of the operator that a federated Service names; undefined if the Service names none, or a
 * namespace that is certainly gone.
 */
export function operatorOf(live: Service | undefined, { own, isGone }: Operators): string | undefined {
  const operator =
    live !== undefined && isFederated(live) ? live.metadata.annotations?.[Annotation.operator] : undefined;
  return operator === undefined || (operator !== own && isGone(operator)) ? undefined : operator;
}

/**
 * Who serves a federated Service: this operator (`own`), any operator (`shared`), or another one (`another`). With
 * `none`, no operator is known to serve it, and this operator does not.
 */
export type Standing = 'own' | 'shared' | 'another' | 'none';

/**
 * Returns who serves a federated Service. For a Service that names no operator, the result is `own` if a cluster of
 * this operator's Links has a Service of that name or is a member. It is `shared` if only the local cluster is a
 * member, since all operators know that cluster.
 */
export function standingOf(observed: ObservedFederation): Standing {
  const { live, local, targets, operators, slices } = observed;
  const operator = operatorOf(live, operators);
  if (operator !== undefined) return operator === operators.own ? 'own' : 'another';
  const listed = listedClusters(observed);
  const others = new Set(targets.flatMap(({ isLinked, link }) => (isLinked === false ? [link.cluster] : [])));
  const isPart = [...listed].some((cluster) => !others.has(cluster));
  if (isPart || targets.some(({ service }) => service !== undefined)) return 'own';
  if (listed.size > 0) return 'none';
  const isListed = membershipOf(observed)?.local === true || slices.some((slice) => memberOf(slice) === undefined);
  if (isListed || local.service !== undefined) return 'shared';
  if (targets.some(mayYetHaveMember)) return 'own';
  // Somebody who names no operator, such as Linkerd's local mirror, left the Service without members. An operator that
  // has Links knows by now that none of its clusters has a member.
  return targets.length > 0 ? 'shared' : 'none';
}

/** Returns why members of our Links do not join a federated Service that another operator serves. */
export const anothersRefusal = ({ namespace, live, operators: { own } }: ObservedFederation): Refusal =>
  servedByAnother(namespace, live?.metadata.name ?? '', live?.metadata.annotations?.[Annotation.operator] ?? '', own);

/**
 * Whether a federated Service must name this operator. `unsure`: it names this operator until all clusters have been
 * read.
 */
export type Mark = 'set' | 'unset' | 'unsure';

/**
 * Returns whether a federated Service must name this operator. It must as soon as a cluster of this operator's Links
 * has a Service of that name or is a member, and until no target cluster is a member any more.
 */
export function markOf(
  { live, targets, operators }: ObservedFederation,
  members: readonly Member[],
  isAwaited: boolean,
): Mark {
  const ofTargets = members.flatMap(({ target }) => (target === undefined ? [] : [target]));
  if (isAwaited || targets.some(({ service }) => service !== undefined)) return 'set';
  const isMarked = operatorOf(live, operators) === operators.own;
  if (isMarked ? ofTargets.length > 0 : ofTargets.some(({ isLinked }) => isLinked !== false)) return 'set';
  return isMarked && targets.some(mayYetHaveMember) ? 'unsure' : 'unset';
}

/**
 * Returns the desired Service with the mark of this operator added or removed. Other objects, and a Service that stays
 * as it is, are returned unchanged. A missing mark alone causes no write while the Service has members: the members
 * show who serves it, and Linkerd's controllers would remove the mark each time.
 */
export function marked(
  { live, operators }: ObservedFederation,
  desired: Desired,
  { isOurs, hasMembers }: { readonly isOurs: boolean; readonly hasMembers: boolean },
): Desired {
  const { of, object, comparison } = desired;
  if (of !== SERVICES || object === live) return desired;
  const { metadata } = object;
  const { [Annotation.operator]: _, ...others } = metadata.annotations ?? {};
  const annotations = isOurs ? { ...others, [Annotation.operator]: operators.own } : others;
  const isLacking = isOurs && hasMembers && live?.metadata.annotations?.[Annotation.operator] === undefined;
  const ignoredAnnotations = new Set([...(comparison?.ignoredAnnotations ?? []), Annotation.operator]);
  return {
    ...desired,
    object: { ...object, metadata: { ...metadata, annotations } },
    ...(isLacking && { comparison: { ...comparison, ignoredAnnotations } }),
  };
}
