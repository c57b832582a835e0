/**
 * Limits and periods that are not user settings: one value is right in every cluster. Tests use shorter ones, and a
 * network of their own.
 */
import type { MetricsOptions } from '../metrics/index.ts';
import type { BackoffPolicy } from '../kube/backoff.ts';
import type { Network } from '../kube/network.ts';
import type { startAdmin } from '../runtime/admin.ts';
import type { ReflectorTimings } from '../runtime/reflector.ts';
import type { Turns } from '../runtime/turns.ts';

export interface Tuning {
  /** Timings of watches in the source cluster. */
  readonly sourceTimings?: Partial<ReflectorTimings>;
  /** Timings of watches in target clusters. */
  readonly targetTimings?: Partial<ReflectorTimings>;
  /** Time in which the slices of a newly exported Service get its labels. @default 2000 */
  readonly labelCopyMs?: number;
  /** Backoff of keys whose reconcile failed. @default 100 ms to 5 min */
  readonly retryBackoff?: BackoffPolicy;
  /** Time until a name that a foreign object has is tried again. @default 30000 */
  readonly conflictRetryMs?: number;
  /** Age of a ServiceImport from which on what another cluster exports is newly seen. @default 60000 */
  readonly importSettledMs?: number;
  /** Time that a cluster may be without a Link before its mirrors are removed. @default 2000 */
  readonly removalGraceMs?: number;
  /** Time for which mirrors stay after all Links vanished with their CRD, once that is back. @default 600000 */
  readonly returnGraceMs?: number;
  /** Deadline of a request. @default 10000 */
  readonly requestTimeoutMs?: number;
  /** Shortest time between two writes of one Link's status. @default 1000 */
  readonly statusPeriodMs?: number;
  /** Grace period for a cluster whose exports are being listed for the first time. @default 10000 */
  readonly importSettleMs?: number;
  /** Time that a request to reconcile all ServiceImports waits for another. @default 200 */
  readonly importGatherMs?: number;
  /** Part of a token's lifetime after which it is renewed. @default 0.8 */
  readonly renewedAfter?: number;
  /** @default the machine's */
  readonly network?: Network;
  /** Serves the admin port. @default on a port of the machine */
  readonly serveAdmin?: typeof startAdmin;
  /** Turns in which work is done. @default those of the process */
  readonly turns?: Turns;
  /** What is measured. @default everything, the process included */
  readonly metrics?: MetricsOptions;
}
