/**
 * Options that the controllers of all derived Services share: the operator's limits, its client, and turns for writes.
 */
import { RETRY_BACKOFF } from '../kube/backoff.ts';
import { Applier, type ApplierOptions } from '../runtime/applier.ts';
import type { Deriving } from '../runtime/derivation.ts';
import type { SharedEnvironment } from './environment.ts';

/** Options in which the controllers of derived Services differ. */
export interface Sort extends Pick<ApplierOptions, 'isOurs'> {
  /** Name of the controller: label `controller` and `name` of its metrics. */
  readonly name: string;
  /** Group of {@link SharedEnvironment.writes} in which the controller's writes take turns. */
  readonly turn: string;
  /**
   * Stores to update after writes, by the plural of the resource. The stores of Services and their endpoints need not
   * be given.
   * @default - none
   */
  readonly stores?: ApplierOptions['stores'];
  /** Reports whether a write may be sent now. @default - reports whether this replica certainly leads */
  readonly mayWrite?: ApplierOptions['mayWrite'];
}

/** The part of the environment that all these controllers use. */
export type DerivingEnvironment = Pick<
  SharedEnvironment,
  'config' | 'tuning' | 'client' | 'source' | 'writes' | 'mayWrite' | 'failovers' | 'metrics' | 'log'
>;

/** Time until the operator tries again to use a name that a foreign object has. */
const CONFLICT_RETRY_MS = 30_000;

/** Returns the options for the controller of one kind of derived Services. */
export function deriving(env: DerivingEnvironment, sort: Sort): Deriving {
  const { config, tuning, metrics, log, source, client, writes } = env;
  const { name, turn, isOurs, stores = {}, mayWrite = env.mayWrite } = sort;
  return {
    name,
    concurrency: config.concurrency,
    metrics,
    log,
    backoff: tuning.retryBackoff ?? RETRY_BACKOFF,
    turns: tuning.turns,
    conflictRetryMs: tuning.conflictRetryMs ?? CONFLICT_RETRY_MS,
    recheck: (namespace) => source.recheck(namespace),
    serviceWritten: (key) => env.failovers?.mirrorChanged(key),
    applier: new Applier({
      client,
      turn: (signal, execute) => writes.run(turn, signal, execute),
      stores: { ...source.written, ...stores },
      isOurs,
      namespaceUid: (each) => source.namespaces.uidOf(each),
      mayWrite,
    }),
  };
}
