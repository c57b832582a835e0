/**
 * Limits on the objects of each kind that are read from a target (rule E10). A list that exceeds them is refused and
 * reported.
 */

/** Maximum number of objects in one list and its watch: several times what anybody mirrors. */
export const MAX_OBJECTS = 50_000;
/**
 * Maximum total size of the objects in one list and its watch, in bytes: enough for 10,000 Services with 6 KiB of
 * annotations each.
 */
export const MAX_BYTES = 64 * 1024 * 1024;
