/** How the image and its Deployment run the operator's node: its memory is judged under these settings alone. */

/** Flags of node. */
export const SHIPPED_NODE_FLAGS: readonly string[] = [
  '--max-semi-space-size=1',
  '--optimize-for-size',
  '--liftoff-only',
];
/** Environment variables. */
export const SHIPPED_ENVIRONMENT: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '1' };
