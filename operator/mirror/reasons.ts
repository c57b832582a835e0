/** Sentences that explain to a user why something is not mirrored, where more than one place gives them. */

/** Of a namespace that an operator limited to namespaces is to mirror into and may not read. */
export const unreadableNamespace = (name: string): string =>
  `namespace ${name} cannot be read in the source cluster: it does not exist, or the operator has no Role there; create it and apply the Role that MirrorOperator renders for it, or take it off --mirror-namespaces`;
