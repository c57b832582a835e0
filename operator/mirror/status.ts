/**
 * The status of mirrors as in `Link.status.mirrorServices`: Linkerd's fields, failures first, at most {@link
 * MAX_ENTRIES}, few of them of what works, with transition times that change only on a transition. Pure.
 */
import type { ObjectRef, ServiceCondition, ServiceStatus } from '../../crds/index.ts';
import { mirrorName } from '../../crds/wire.ts';
import type { Refusal } from './reasons.ts';

/** Status of one target Service. */
export interface MirrorStatus {
  readonly remote: { readonly namespace: string; readonly name: string };
  /** Name of the mirror. */
  readonly local: string;
  readonly mirrored: boolean;
  readonly reason: string;
  readonly message: string;
}

export const mirrored = (remote: MirrorStatus['remote'], cluster: string, message: string): MirrorStatus => ({
  remote,
  local: mirrorName(remote.name, cluster),
  mirrored: true,
  reason: 'Mirrored',
  message,
});

export const notMirrored = (
  remote: MirrorStatus['remote'],
  cluster: string,
  { reason, message }: Refusal,
): MirrorStatus => ({ remote, local: mirrorName(remote.name, cluster), mirrored: false, reason, message });

/**
 * Returns the state that a mirror is counted under. Waiting for the endpoints of a headless Service is not a failure,
 * nor is what the policy of the Link wants.
 */
export const mirrorState = (status: MirrorStatus): 'ready' | 'waiting' | 'failed' => {
  if (status.mirrored) return 'ready';
  return ['WaitingForEndpoints', 'NotAdmitted', 'WaitingForApproval'].includes(status.reason) ? 'waiting' : 'failed';
};

/** Counts statuses by reason, the most frequent first. */
export function countsByReason(statuses: Iterable<MirrorStatus>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { reason } of statuses) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return new Map([...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
}

/** An entry of `Link.status.mirrorServices`. */
export interface MirrorServiceEntry extends ServiceStatus {
  readonly conditions: readonly ServiceCondition[];
}

/** The part of an entry that is read back. */
export interface MirrorServiceBefore {
  readonly remoteRef: Pick<ObjectRef, 'namespace' | 'name'>;
  readonly conditions: readonly { readonly status: string; readonly lastTransitionTime: string }[];
}

/** Maximum number of entries: a Link must fit into etcd, whatever the target exports. */
export const MAX_ENTRIES = 500;
/** Maximum number of entries of Services that are mirrored: who describes a Link looks for the others. */
export const MAX_MIRRORED = 100;
/** Maximum length of an entry's message, in characters. */
const MAX_MESSAGE = 512;

export const CONTROLLER_NAME = 'linkspan.dev/operator';

/** Returns the entries for a Link's mirrors: failures first, then those with a message, then by namespace and name. */
export function mirrorServices(
  statuses: Iterable<MirrorStatus>,
  previous: readonly MirrorServiceBefore[],
  now: string,
): readonly MirrorServiceEntry[] {
  const sorted = [...statuses].sort((a, b) => {
    if (a.mirrored !== b.mirrored) return a.mirrored ? 1 : -1;
    if ((a.message === '') !== (b.message === '')) return a.message === '' ? 1 : -1;
    return compare(a.remote.namespace, b.remote.namespace) || compare(a.remote.name, b.remote.name);
  });
  const failed = sorted.filter((each) => !each.mirrored).length;
  const most = Math.min(MAX_ENTRIES, failed + MAX_MIRRORED);
  const before = new Map(previous.map((entry) => [`${entry.remoteRef.namespace}/${entry.remoteRef.name}`, entry]));
  return sorted.slice(0, most).map(({ remote, local, mirrored: ok, reason, message }) => {
    const status = ok ? 'True' : 'False';
    const was = before.get(`${remote.namespace}/${remote.name}`)?.conditions[0];
    return {
      controllerName: CONTROLLER_NAME,
      remoteRef: { ...remote, kind: 'Service', group: '' },
      conditions: [
        {
          type: 'Mirrored',
          status,
          reason,
          message: message.slice(0, MAX_MESSAGE),
          lastTransitionTime: was?.status === status ? was.lastTransitionTime : now,
          localRef: { name: local, namespace: remote.namespace, kind: 'Service', group: '' },
        },
      ],
    };
  });
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
