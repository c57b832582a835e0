/** The seccomp profile that the Pod Security Standard `restricted` requires. */
export const RUNTIME_DEFAULT = { type: 'RuntimeDefault' } as const;
