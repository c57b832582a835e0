/**
 * What is no setting for users but must be set: limits and periods with one right value in a cluster and another in a
 * test that cannot wait, and the resolver, which a test replaces.
 */
import type { BackoffPolicy } from '../kube/backoff.ts';
import type { ReflectorTimings } from '../runtime/reflector.ts';
import type { Resolve } from '../gateway/addresses.ts';

export interface Tuning {
  /** Of watches in the source cluster. */
  readonly sourceTimings?: Partial<ReflectorTimings>;
  /** Of watches in target clusters. */
  readonly targetTimings?: Partial<ReflectorTimings>;
  /** How long the slices of a newly exported Service may take to carry its labels. @default 2000 */
  readonly labelCopyMs?: number;
  /** Of keys whose reconcile failed. @default 100 ms to 5 min */
  readonly retryBackoff?: BackoffPolicy;
  /** How long until a name that somebody else's object has is tried again. @default 30000 */
  readonly conflictRetryMs?: number;
  /** How long a cluster may be without a Link before its mirrors are removed. @default 2000 */
  readonly removalGraceMs?: number;
  /** Deadline of a request. @default 10000 */
  readonly requestTimeoutMs?: number;
  /** Shortest time between two writes of one Link's status. @default 1000 */
  readonly statusPeriodMs?: number;
  /** How host names of gateways are looked up. @default the system's resolver */
  readonly resolve?: Resolve;
  /** Whether memory, CPU and event loop of the process are measured. @default true */
  readonly processMetrics?: boolean;
}
