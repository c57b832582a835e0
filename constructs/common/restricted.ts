/** The seccomp profile without which a pod does not meet the Pod Security Standard `restricted`. */
export const RUNTIME_DEFAULT = { type: 'RuntimeDefault' } as const;
