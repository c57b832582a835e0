/**
 * Decides which operator serves a federated Service if the cluster has several operators, in different namespaces (rule
 * I9). An annotation of the Service (its mark) names the namespace of that operator. Pure.
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
 * Returns the namespace of the operator that a federated Service names. Undefined if there is no federated Service, if
 * the Service names no operator, or if it names another operator whose namespace is certainly gone.
 */
export function operatorOf(live: Service | undefined, { own, isGone }: Operators): string | undefined {
  const operator =
    live !== undefined && isFederated(live) ? live.metadata.annotations?.[Annotation.operator] : undefined;
  return operator === undefined || (operator !== own && isGone(operator)) ? undefined : operator;
}

/**
 * Who serves a federated Service.
 * - `own`: this operator.
 * - `shared`: any operator, including this one.
 * - `another`: another operator.
 * - `none`: no operator is known to serve the Service. Another operator might serve it, so this operator leaves the
 *   Service alone.
 */
export type Standing = 'own' | 'shared' | 'another' | 'none';

/**
 * Returns who serves a federated Service. If the Service names this operator, the result is `own`. If it names another
 * operator, the result is `another`, unless the namespace of that operator is certainly gone ({@link operatorOf}).
 *
 * In all other cases, the first case of the list below that applies decides. A cluster is "listed" if its Service is a
 * member, or if existing slices of the federated Service belong to it. A target is "linked" unless it seems to belong
 * to another operator (`TargetParty.isLinked` is false).
 * - `own`: a target has a selected Service of this namespace and name, or a linked target is listed.
 * - `none`: a target is listed, but no linked target is.
 * - `shared`: the local cluster is listed, or has a selected Service. All operators know the local cluster.
 * - `own`: a linked target might have a member ({@link mayYetHaveMember}).
 * - `shared`: this operator has targets.
 * - `none`: this operator has no targets.
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
  // Somebody who adds no mark, such as Linkerd's local service mirror, left the Service without members. If this
  // operator has targets, it knows by now that none of them has a member, so it is allowed to serve the Service.
  return targets.length > 0 ? 'shared' : 'none';
}

/**
 * Returns why a Service that a Link of this operator selects cannot join: another operator serves or might serve the
 * federated Service of its name.
 */
export const anothersRefusal = ({ namespace, live, operators: { own } }: ObservedFederation): Refusal =>
  servedByAnother(namespace, live?.metadata.name ?? '', live?.metadata.annotations?.[Annotation.operator] ?? '', own);

/**
 * Whether a federated Service must name this operator. With `unsure`, the Service keeps naming this operator, because a
 * target might have a member ({@link mayYetHaveMember}).
 */
export type Mark = 'set' | 'unset' | 'unsure';

/**
 * Returns the {@link Mark} of a federated Service. It is `set` in each of these cases:
 * - The Service is kept without members (`isAwaited`).
 * - A target has a selected Service of this key, whether or not that Service is a member.
 * - A target has a member, and does not seem to belong to another operator (`TargetParty.isLinked`).
 * - A target has a member, and the federated Service already names this operator.
 *
 * Otherwise it is `unsure` if the federated Service names this operator, and a target might have a member
 * ({@link mayYetHaveMember}). In all other cases it is `unset`.
 * @param isAwaited whether the federated Service is kept without members because a cluster might still have a member
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
 * Returns the desired federated Service with the mark of this operator (if `isOurs`) or without any mark. Other
 * objects, and a Service that stays as it is, are returned unchanged. A missing mark alone causes no write while the
 * Service has members: the members show who serves the Service, and Linkerd's controllers would remove the mark each
 * time.
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
