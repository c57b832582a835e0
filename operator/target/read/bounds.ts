/**
 * Limits on one list of a target and on the watch that follows the list (rule E10). A list or watch that exceeds them
 * fails, and the failure is reported.
 */

/** Maximum number of objects in one list and its watch: five times the default of `--max-mirrors`. */
export const MAX_OBJECTS = 50_000;
/**
 * Maximum total size of the objects in one list and its watch, in bytes. Only the fields that are used count. Enough
 * for 10,000 Services with 5 KiB of annotations each. Some lists share this limit: see shared-bytes.ts.
 */
export const MAX_BYTES = 64 * 1024 * 1024;
