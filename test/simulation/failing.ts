/** How servers fail, and which requests. */
import type { Failure, RequestMatcher } from '../cluster/simulated/faults.ts';
import type { HistoryCluster } from './cluster.ts';
import type { Command, Failing, Forbidden } from './command.ts';
import { FLAT } from './link-users.ts';

const isAny: RequestMatcher = () => true;
const isWrite: RequestMatcher = ({ verb }) => verb !== 'get' && verb !== 'list' && verb !== 'watch';

/** A list may take half a minute, which is no time for a history. */
const isNoList: RequestMatcher = ({ verb }) => verb !== 'list';
const MATCHES: Partial<Record<Failing, RequestMatcher>> = { '409': isWrite, 'hang after': isNoList };

export const FAILURE_403: Failure = { kind: 'status', code: 403 };

const FAILURES: Readonly<Record<Failing, Failure>> = {
  '401': { kind: 'status', code: 401 },
  '403': FAILURE_403,
  '500': { kind: 'status', code: 500 },
  '409': { kind: 'status', code: 409 },
  '429': { kind: 'status', code: 429, retryAfterSeconds: 1 },
  '503': { kind: 'status', code: 503 },
  'drop before': { kind: 'drop', effect: 'before' },
  'drop after': { kind: 'drop', effect: 'after' },
  'hang after': { kind: 'hang', effect: 'after' },
};

/** Lets requests to a server fail. */
export function fail({ faults }: HistoryCluster, { how, fraction, times }: Extract<Command, { do: 'fail' }>): void {
  faults.refuse({ failure: FAILURES[how], match: MATCHES[how] ?? isAny, fraction, times });
}

/** Breaks the watches of Services of one mode, and lets new ones fail. @returns heals that */
export function lag({ faults }: HistoryCluster, mode: 'gateway' | 'flat'): () => void {
  const match: RequestMatcher = ({ verb, resource, query }) =>
    verb !== 'get' && resource === 'services' && isFlat(query.get('labelSelector')) === (mode === 'flat');
  const heal = faults.refuse({ failure: FAILURES['503'], match });
  faults.dropWatches(match);
  return heal;
}

/** Takes the right away to list and watch a kind. @returns gives it back */
export function forbid({ faults }: HistoryCluster, kind: Forbidden): () => void {
  const match: RequestMatcher = ({ verb, resource }) => (verb === 'list' || verb === 'watch') && resource === kind;
  const heal = faults.refuse({ failure: FAILURES['403'], match });
  faults.dropWatches(match);
  return heal;
}

/** Whether a label selector is that of flat mode. */
const isFlat = (selector: string | null): boolean => selector?.includes(FLAT) === true;
