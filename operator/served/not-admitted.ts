/**
 * Finds the Services that the import policy of a Link does not admit (rules N1, N2), for the Link's status and
 * `linkspan plan`. Pure.
 */
import type { LinkSettings } from '../../crds/index.ts';
import { splitKey } from '../kube/objects.ts';
import { type MirrorStatus, notMirrored } from '../mirror/status.ts';
import type { NotAdmitted } from '../target/admitted.ts';

/** Services that the target exports but the import policy of the Link does not admit. */
export interface NotAdmittedFindings {
  /** Number of Services that the policy excludes. */
  readonly notAdmitted: number;
  /** Number of Services that wait for approval; undefined if the policy requires no approvals. */
  readonly waitingForApproval: number | undefined;
  /** The first excluded Services by name, and the first by name that wait for approval. */
  readonly first: readonly MirrorStatus[];
}

type Policed = Pick<LinkSettings, 'name' | 'cluster' | 'importPolicy'>;

/**
 * Maximum number of Services that are named for each reason not to admit them. It is limited because a target may offer
 * any number of Services.
 */
const MAX_NAMED = 10;

/** @param all the Services that are not admitted, sorted by key */
export function findNotAdmitted(link: Policed, all: readonly NotAdmitted[]): NotAdmittedFindings {
  const excluded = all.filter(({ obstacle }) => obstacle.reason === 'NotAdmitted');
  const waiting = all.filter(({ obstacle }) => obstacle.reason === 'WaitingForApproval');
  const isRequired = link.importPolicy?.approvals !== undefined;
  return {
    notAdmitted: excluded.length,
    waitingForApproval: isRequired ? waiting.length : undefined,
    first: [excluded, waiting].flatMap((each) => each.slice(0, MAX_NAMED)).map((each) => refusedBy(link, each)),
  };
}

/**
 * Returns the Services among `first` that have no mirror. A Service that is not admitted keeps its mirror while the
 * deletion is held (rule E6).
 */
export const notKept = (
  { first }: NotAdmittedFindings,
  mirrors: ReadonlyMap<string, MirrorStatus>,
): readonly MirrorStatus[] => first.filter(({ remote: { namespace, name } }) => !mirrors.has(`${namespace}/${name}`));

/** Returns the status of a Service that is not admitted. */
export const refusedBy = ({ name, cluster }: Policed, { key, obstacle: { reason, what } }: NotAdmitted): MirrorStatus =>
  notMirrored(splitKey(key), cluster, { reason, message: MESSAGES[reason](what, name) });

const MESSAGES = {
  NotAdmitted: (what: string) => `the Link takes no Service with ${what} (spec.importPolicy)`,
  WaitingForApproval: (what: string, link: string) =>
    `it waits until it is approved: linkspan approve ${what} --from ${link}`,
} as const;
