/** Why something is not mirrored, as the status of its Link gives it: a reason for machines, a message for people. */

/** Reasons of the `Mirrored` condition: Linkerd's own, and those that say more than it does. */
export type RefusalReason =
  | 'InvalidService'
  | 'InvalidName'
  | 'MissingNamespace'
  | 'NamespaceNotAllowed'
  | 'NameConflict'
  | 'WaitingForEndpoints'
  | 'WaitingForGateway'
  | 'Error';

export interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
}

/** Message about a namespace that an operator limited to namespaces should mirror into and may not read. */
export const unreadableNamespace = (name: string): string =>
  `namespace ${name} cannot be read in the source cluster: it does not exist, or the operator has no Role there; create it and apply the Role that MirrorOperator renders for it, or take it off --mirror-namespaces`;

/** @param name `namespace/name` of the object that somebody else has */
export const foreignObject = (kind: string, name: string): Refusal => ({
  reason: 'NameConflict',
  message: `${kind} ${name} exists and is not a mirror of this cluster; it is left alone. Rename or remove it to have this Service mirrored`,
});

/** A namespace that was there when it was observed, and is gone when it is written to. */
export const vanishedNamespace = (name: string): Refusal => ({
  reason: 'MissingNamespace',
  message: `namespace ${name} does not exist in the source cluster, or is being deleted; create it anew, or export the Service from another`,
});

/** @param object kind and `namespace/name` */
export const contestedObject = (object: string): Refusal => ({
  reason: 'Error',
  message: `${object} is changed by somebody else again and again; it is put right less and less often. Find out who writes it`,
});
