/** Why something is not mirrored, as the Link's status reports it: a reason for machines, a message for people. */
import { Annotation, Label, mirrorName } from '../../crds/wire.ts';
import type { Pass } from '../runtime/tally.ts';
import type { Claim } from './names.ts';
import type { Observed } from './observed.ts';

/** Reasons of the `Mirrored` condition: Linkerd's own, and more specific ones. */
export type RefusalReason =
  | 'InvalidService'
  | 'InvalidName'
  | 'MissingNamespace'
  | 'NamespaceNotAllowed'
  | 'NameConflict'
  | 'WaitingForEndpoints'
  | 'WaitingForGateway'
  | 'WaitingForCredentials'
  | 'WaitingForLease'
  | 'PortMismatch'
  | 'ModeMismatch'
  | 'LimitExceeded'
  | 'NotAdmitted'
  | 'WaitingForApproval'
  | 'ServedByAnother'
  | 'Error';

export interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
}

/** A pass over what is mirrored. */
export type MirrorPass = Pass<Refusal>;

/** Message about a namespace that an operator limited to namespaces must mirror into but cannot read. */
export const unreadableNamespace = (name: string): string =>
  `namespace ${name} cannot be read in the source cluster: it does not exist, or the operator has no Role there; create it and apply the Role that MirrorOperator renders for it, or remove it from --mirror-namespaces`;

/** Refusal for a namespace that is missing, where the Link does not ask for namespaces to be created (rule A3). */
export const missingNamespace = (name: string): Refusal => ({
  reason: 'MissingNamespace',
  message: `namespace ${name} does not exist in the source cluster; create it, or enable namespace creation`,
});

/** Refusal for a namespace that is missing, where as many as the Link may have are created (rule E10). */
export const beyondNamespaces = (name: string): Refusal => ({
  reason: 'LimitExceeded',
  message: `namespace ${name} does not exist in the source cluster, and as many as the operator creates for a Link (--max-namespaces) have been created; create it, or raise the limit`,
});

/**
 * Users know their Service; its Endpoints are found first.
 * @param name `namespace/name` of the foreign object
 */
export const foreignObject = (kind: string, name: string): Refusal => ({
  reason: 'NameConflict',
  message: `${kind === 'Endpoints' ? `a Service ${name}, or Endpoints without one,` : `${kind} ${name}`} exists and is not a mirror of this cluster; it is left alone. Rename or delete it to have this Service mirrored`,
});

/** Refusal for members of a federated Service that another operator serves (rule I9). */
export const servedByAnother = (namespace: string, service: string, operator: string, own: string): Refusal => ({
  reason: 'ServedByAnother',
  message: `the operator in namespace ${operator} serves Service ${namespace}/${service}, and the one in ${own} leaves it alone. If there is none in ${operator} any more, run: kubectl annotate service/${service} --namespace ${namespace} ${Annotation.operator}-`,
});

/** Refusal for a namespace that existed when it was observed, and is gone when it is written to. */
export const vanishedNamespace = (name: string): Refusal => ({
  reason: 'MissingNamespace',
  message: `namespace ${name} does not exist in the source cluster, or is being deleted; create it, or export the Service from another namespace`,
});

/**
 * Refusal for an object whose name this API server does not take: those of other versions may.
 * @param name `namespace/name`
 */
export const refusedName = (kind: string, name: string): Refusal => ({
  reason: 'InvalidName',
  message: `the API server of this cluster refuses the name of ${kind} ${name}${DIGIT.test(name) ? ': before Kubernetes 1.36, the name of a Service must begin with a letter. Upgrade this cluster, or' : ';'} export the Service under another name`,
});

const DIGIT = /\/[0-9]/;

/**
 * Note about a mirror that works although somebody keeps adding metadata to one of its objects.
 * @param object kind and `namespace/name`
 * @param keys keys of the labels and annotations
 */
export const addedMetadata = (object: string, keys: readonly string[]): string =>
  `somebody keeps adding ${keys.join(', ')} to ${object}; it is removed less and less often. Exclude mirrors where that is configured: they have the label ${Label.mirroredService}`;

/** @param object kind and `namespace/name` */
export const contestedObject = (object: string): Refusal => ({
  reason: 'Error',
  message: `somebody else keeps changing ${object}; it is repaired less and less often. Find out who writes it, in its managedFields, or which admission webhook changes it`,
});

/**
 * Refusal for a Service, or one of its pods, whose mirror would have a name that another has.
 * @param resolved who has it; undefined if no name is valid
 * @param hostname of the pod. @default - of the Service itself
 */
export function lostName(
  { name, link }: Pick<Observed, 'name' | 'link'>,
  resolved: { readonly lostTo: Claim } | undefined,
  hostname?: string,
): Refusal {
  const local = mirrorName(hostname ?? name, link.cluster);
  const what = hostname === undefined ? 'the mirror' : `the endpoint mirror of pod ${hostname}`;
  const by =
    resolved === undefined
      ? 'no name for it is a valid Service name'
      : `${claimant(resolved.lostTo)} has it: its Link or Service is older, or first by name`;
  return { reason: 'NameConflict', message: `the name of ${what} would be ${local}, but ${by}` };
}

const claimant = ({ owner, hostname }: Claim): string =>
  `${owner.key}@${owner.cluster}${hostname === undefined ? '' : `#${hostname}`}`;
