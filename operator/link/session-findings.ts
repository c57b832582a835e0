/**
 * Collects what a Link's session has found, for the status of the Link. Pure; `status/status.ts` turns these findings
 * into conditions.
 */
import type { LinkSettings } from '../../crds/index.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { type Verdict, verdict } from '../kube/conditions.ts';
import type { SourceCluster } from '../source/source.ts';
import type { Exports } from '../served/exports.ts';
import type { HeldDeletions } from '../served/held.ts';
import { findNotAdmitted } from '../served/not-admitted.ts';
import type { ServedTarget } from '../served/served-target.ts';
import type { Credentials } from '../target/credentials.ts';
import type { SessionParty } from '../federation/session-party.ts';
import type { SessionImports } from '../mcs/session-party.ts';
import type { Mirrors } from '../mirrors/mirrors.ts';
import type { Reachability } from '../served/reachability.ts';
import type { SessionFindings } from './status/status.ts';
import type { WriteLease } from './lease/write-lease.ts';

/** The components of a session from which its findings are collected. */
export interface SessionParts {
  readonly settings: Pick<LinkSettings, 'name' | 'generation' | 'cluster' | 'importPolicy'>;
  readonly source: Pick<SourceCluster['problems'], 'refusal' | 'size'>;
  readonly lease: Pick<WriteLease, 'problem' | 'isHeld' | 'heldBy'>;
  readonly credentials: Pick<Credentials, 'valid'>;
  readonly reachability: Pick<Reachability, 'credentials' | 'reachable' | 'withinLimits'>;
  readonly exports: Pick<Exports, 'readsNothing' | 'beyondLimits'> & {
    readonly target: Pick<ServedTarget, 'notAdmitted'> & {
      readonly held: Pick<HeldDeletions, 'count' | 'confirmation' | 'some'>;
    };
  };
  readonly imports: Pick<SessionImports, 'isWanted' | 'beyondLimits'>;
  readonly gateway: Pick<Gateway, 'findings' | 'isKnown'>;
  readonly mirrors: Pick<Mirrors, 'statuses'> & {
    readonly progress: Pick<Mirrors['progress'], 'hasSeenAll' | 'isCaughtUp'>;
  };
  readonly party: Pick<SessionParty, 'statuses' | 'isCaughtUp' | 'awaiting'>;
}

/** Condition `TargetReachable` for a target from which nothing is read. */
const NOTHING_READ = verdict('True', 'NothingSelected', 'no selector of the Link selects anything: nothing is read');
const NOTHING_LIMITED = verdict('True', 'WithinLimits', '');

export function findingsOf(parts: SessionParts): SessionFindings {
  const { settings, source, lease, credentials, reachability, exports, imports, gateway, mirrors, party } = parts;
  const { held } = exports.target;
  const readsNothing = exports.readsNothing && !imports.isWanted;
  return {
    ...gateway.findings(),
    settingsGeneration: settings.generation,
    // A target from which nothing is read sends no answers, so an earlier refusal of the credentials would never end.
    credentials: (readsNothing ? credentials.valid : undefined) ?? reachability.credentials,
    reachable: readsNothing ? NOTHING_READ : reachable(parts),
    withinLimits:
      exports.beyondLimits ?? imports.beyondLimits ?? (readsNothing ? NOTHING_LIMITED : reachability.withinLimits),
    synced: synced(parts),
    isUnhindered: (lease.isHeld || lease.heldBy !== undefined) && lease.problem === undefined && source.size === 0,
    pruneHeld: held.count,
    confirmation: held.confirmation,
    someHeld: held.some,
    notAdmitted: settings.importPolicy && findNotAdmitted(settings, exports.target.notAdmitted()),
    heldBy: lease.heldBy,
    // Until all keys have been reconciled once, and while the Lease is not held, the status keeps its present entries.
    mirrors: lease.isHeld && mirrors.progress.hasSeenAll ? mirrors.statuses : undefined,
    federated: party.statuses,
  };
}

/**
 * Returns condition `TargetReachable`; undefined while it is not known. If the condition is False, its message also
 * counts the federated Services that have no member now, and are kept until the target has been read.
 */
function reachable({ reachability, party }: SessionParts): Verdict | undefined {
  const { reachable } = reachability;
  const { awaiting } = party;
  if (reachable?.status !== 'False' || awaiting === 0) return reachable;
  const message = `${reachable.message}; ${awaiting} federated Services that have no member now are kept until it has been read`;
  return { ...reachable, message };
}

/**
 * Returns condition `Synced`. It is False if the Lease cannot be taken, or if the API server refuses reads of the
 * source cluster. It is True if everything has been applied. Undefined while the work is unfinished, or while the
 * source cluster cannot be read for another reason: it might have been restored from a backup, and lack objects that
 * the operator wrote.
 */
function synced({ source, lease, mirrors, party, gateway }: SessionParts): Verdict | undefined {
  const { problem } = lease;
  if (problem !== undefined) {
    const message = `nothing is written for this Link, since its Lease cannot be taken: ${problem}`;
    return verdict('False', 'LeaseUnavailable', message);
  }
  if (source.refusal !== undefined) {
    const message = `what others do in the source cluster is not seen, nor put right: ${source.refusal}`;
    return verdict('False', 'SourceForbidden', message);
  }
  const isApplied = source.size === 0 && mirrors.progress.isCaughtUp && party.isCaughtUp && gateway.isKnown;
  return isApplied ? verdict('True', 'Synced', '') : undefined;
}
