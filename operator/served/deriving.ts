/** What the controllers of all derived Services are given: the limits of the operator, its client, and turns for writes. */
import { RETRY_BACKOFF } from '../kube/backoff.ts';
import { Applier, type ApplierOptions } from '../runtime/applier.ts';
import type { Deriving } from '../runtime/derivation.ts';
import type { SharedEnvironment } from './environment.ts';

/** What is special to one sort of derived Services. */
export interface Sort extends Pick<ApplierOptions, 'isOurs'> {
  /** Label `controller` and `name` of its metrics. */
  readonly name: string;
  /** Group of {@link SharedEnvironment.writes} in which its writes take turns. */
  readonly turn: string;
  /** Shows what is written beside Services and their endpoints, by the plural of the resource. @default - nothing is */
  readonly stores?: ApplierOptions['stores'];
  /** What must hold at each write. @default - this replica certainly leads */
  readonly mayWrite?: ApplierOptions['mayWrite'];
}

/** What all of them need. */
export type DerivingEnvironment = Pick<
  SharedEnvironment,
  'config' | 'tuning' | 'client' | 'source' | 'writes' | 'mayWrite' | 'failovers' | 'metrics' | 'log'
>;

/** Time until a name that a foreign object has is tried again. */
const CONFLICT_RETRY_MS = 30_000;

/** Returns what the controller of a sort is given. */
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
