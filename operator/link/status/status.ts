/**
 * Computes the status of a Link from its findings: conditions (rule G1), the gateway, and the mirrors. Pure;
 * `writer.ts` decides when the status is written.
 */
import type { GatewayStatus, LinkStatus, MirrorCounts } from '../../../crds/index.ts';
import { Annotation, LinkApi } from '../../../crds/wire.ts';
import type { GatewayFindings } from '../../gateway/gateway.ts';
import {
  type Condition,
  MAX_CONDITION_MESSAGE,
  setCondition,
  toTime,
  type Verdict,
  verdict,
} from '../../kube/conditions.ts';
import {
  countsByReason,
  mirrorServices,
  type MirrorServiceEntry,
  mirrorState,
  type MirrorStatus,
} from '../../mirror/status.ts';
import { type NotAdmittedFindings, notKept } from '../../served/not-admitted.ts';
import { type LinkStatusBefore, NOT_ADMITTED_COUNTS, type NotAdmittedCount } from './before.ts';

/**
 * What is known about a Link. While the verdict for a condition is undefined, the status keeps the condition that it
 * has. So an operator that starts does not overwrite the condition with `Unknown`. But the condition becomes `Unknown`
 * in each of these cases:
 * - The status does not have the condition, or has it for another generation of the Link than that of the findings.
 * - The Link is not accepted and has no session.
 * - The condition is `Synced`, the status has it as `False`, and {@link SessionFindings.isUnhindered} is true.
 */
export interface LinkFindings extends SessionFindings {
  readonly namespace: string;
  readonly name: string;
  /** Present generation of the Link, which conditions `Accepted` and `Ready` are about. */
  readonly generation: number;
  readonly accepted: Verdict;
  /**
   * Whether the Link has a session: one that serves it, keeps mirrors for it, or removes what a Link of its name left.
   */
  readonly isServed: boolean;
}

/** Findings of a Link's session. */
export interface SessionFindings extends GatewayFindings {
  /**
   * Generation of the Link's spec that these findings are about; undefined stands for the present generation. After a
   * change of the Link, it is the previous generation until the change is applied. While the Link is invalid, or counts
   * as invalid because it exchanges clusters with other Links (exchanged.ts), it is the generation of the spec by which
   * the Link is served (rule E7).
   */
  readonly settingsGeneration: number | undefined;
  readonly credentials: Verdict | undefined;
  readonly reachable: Verdict | undefined;
  /** Condition `TargetWithinLimits`: whether all that the target exports is within the limits (rule E10). */
  readonly withinLimits: Verdict | undefined;
  readonly synced: Verdict | undefined;
  /**
   * Whether the Lease of the Link is known to be held, by this operator or by somebody else, and neither the Lease nor
   * the reading of the source cluster has a problem. Whatever made `Synced` False earlier is then over.
   */
  readonly isUnhindered: boolean;
  /** Number of deletions that the mass-deletion guard holds (rule E6). */
  readonly pruneHeld: number;
  /** Value of the annotation that would confirm the held deletions; undefined if there are none. */
  readonly confirmation: string | undefined;
  /**
   * Names of some of the held deletions, for messages: `namespace/name` of a Service, with `#hostname` for a pod,
   * `@cluster` for a member, and `!cluster` for a ServiceExport.
   */
  readonly someHeld: readonly string[];
  /** Identity of the holder of the Link's Lease if it is not this operator. The holder writes for the Link now. */
  readonly heldBy: string | undefined;
  /**
   * Services that the import policy of the Link does not admit (rule N1); undefined if the Link has no such policy, or
   * if no session serves the Link.
   */
  readonly notAdmitted: NotAdmittedFindings | undefined;
  /**
   * Status of the mirror of each target Service. Key: `namespace/name` of the Service. Undefined until all are known,
   * and while this operator does not hold the Link's Lease.
   */
  readonly mirrors: ReadonlyMap<string, MirrorStatus> | undefined;
  /**
   * Status of each Service that is selected as a member of a federated Service. Key: `namespace/name` of the Service.
   * Undefined until all are known, and while this operator does not hold the Link's Lease.
   */
  readonly federated: ReadonlyMap<string, MirrorStatus> | undefined;
}

/** Patch of `Link.status`: absent fields stay as they are, and null removes a field. */
export interface LinkStatusPatch extends Omit<LinkStatus, 'gateway' | 'mirrors'> {
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
  readonly gateway?: (Omit<GatewayStatus, 'alive'> & { readonly alive?: boolean | null }) | null;
  readonly mirrors?: Omit<MirrorCounts, NotAdmittedCount> & { readonly [Count in NotAdmittedCount]?: number | null };
  readonly mirrorServices?: readonly MirrorServiceEntry[];
  readonly federatedServices?: readonly MirrorServiceEntry[];
}

/** Findings for a Link without a session. */
export const NO_FINDINGS: SessionFindings = {
  settingsGeneration: undefined,
  credentials: undefined,
  reachable: undefined,
  withinLimits: undefined,
  resolved: undefined,
  gatewayAlive: undefined,
  synced: undefined,
  isUnhindered: false,
  pruneHeld: 0,
  confirmation: undefined,
  someHeld: [],
  notAdmitted: undefined,
  heldBy: undefined,
  gateway: undefined,
  mirrors: undefined,
  federated: undefined,
};

const UNKNOWN = verdict('Unknown', 'Pending', 'not known yet');
const NOT_SERVED = verdict('Unknown', 'Pending', 'the Link is not served: see condition Accepted');

export function linkStatus(findings: LinkFindings, before: LinkStatusBefore, now: Date): LinkStatusPatch {
  const { generation, settingsGeneration = generation, mirrors, notAdmitted } = findings;
  const verdicts = verdictsOf(findings, before);
  let conditions: readonly Condition[] = before.conditions ?? [];
  for (const [type, each] of Object.entries(verdicts)) {
    const isAboutLink = type === 'Accepted' || type === 'Ready';
    const observedGeneration = isAboutLink ? generation : settingsGeneration;
    conditions = setCondition(conditions, { type, ...each, observedGeneration }, now);
  }
  return {
    observedGeneration: generation,
    conditions,
    ...gatewayPatch(findings, before),
    ...(mirrors === undefined
      ? {}
      : {
          mirrors: { ...counts(mirrors.values()), ...notAdmittedPatch(notAdmitted, before) },
          mirrorServices: mirrorServices(
            [...mirrors.values(), ...(notAdmitted === undefined ? [] : notKept(notAdmitted, mirrors))],
            before.mirrorServices ?? [],
            toTime(now),
          ),
        }),
    ...federatedPatch(findings, before, toTime(now)),
  };
}

/**
 * Returns a patch with the counts of Services that are not admitted. It removes counts that the present status has and
 * the findings do not have. It is empty if the Link has no import policy, and its status has no such counts.
 */
function notAdmittedPatch(
  findings: NotAdmittedFindings | undefined,
  { notAdmittedCounts = [] }: LinkStatusBefore,
): { readonly [Count in NotAdmittedCount]?: number | null } {
  const ended = notAdmittedCounts.filter((each) => findings?.[each] === undefined).map((each) => [each, null]);
  const counted = NOT_ADMITTED_COUNTS.flatMap((each) =>
    findings?.[each] === undefined ? [] : [[each, findings[each]]],
  );
  return Object.fromEntries([...ended, ...counted]) as { readonly [Count in NotAdmittedCount]?: number | null };
}

/**
 * Returns a patch with the entries of members. It is empty if the members are not known, or if there are none and the
 * status has none.
 */
function federatedPatch(
  { federated }: LinkFindings,
  { federatedServices = [] }: LinkStatusBefore,
  now: string,
): Pick<LinkStatusPatch, 'federatedServices'> {
  if (federated === undefined || (federated.size === 0 && federatedServices.length === 0)) return {};
  return { federatedServices: mirrorServices(federated.values(), federatedServices, now) };
}

/**
 * Returns the patch of `status.gateway`. Without findings about a gateway, the patch removes the field. Once there is a
 * verdict, the patch has the addresses and the verdict. Until then, the patch depends on the present condition
 * `GatewayAlive`:
 * - If the condition is about the generation that is served, and no address is known, the field stays as it is.
 * - In all other cases, the patch has the addresses. The verdict in the present status is removed, unless all of these
 *   are true:
 *   - The verdict is a boolean.
 *   - The present condition is about the generation that is served.
 *   - `GatewayAlive` is not `Unknown`. This is read from the findings, or from the present condition if the findings
 *     have no `GatewayAlive`.
 */
function gatewayPatch(
  { gateway, gatewayAlive, generation, settingsGeneration = generation }: LinkFindings,
  { conditions = [], gatewayVerdict }: LinkStatusBefore,
): Pick<LinkStatusPatch, 'gateway'> {
  if (gateway === undefined) return { gateway: null };
  const { addresses, alive } = gateway;
  if (alive !== undefined) return { gateway: { addresses, alive } };
  const found = conditions.find(({ type }) => type === 'GatewayAlive');
  const isOfServed = found?.observedGeneration === settingsGeneration;
  if (isOfServed && addresses.length === 0) return {};
  if (gatewayVerdict === undefined) return { gateway: { addresses } };
  const isKept = isOfServed && (gatewayAlive ?? found).status !== 'Unknown' && typeof gatewayVerdict === 'boolean';
  return { gateway: { addresses, alive: isKept ? gatewayVerdict : null } };
}

function verdictsOf(findings: LinkFindings, before: LinkStatusBefore): Readonly<Record<string, Verdict>> {
  const { accepted, generation, settingsGeneration = generation, pruneHeld } = findings;
  const written = (type: string): Condition | undefined =>
    before.conditions?.find((each) => each.type === type && each.observedGeneration === settingsGeneration);
  const kept = (type: string): Verdict | undefined => {
    // Former findings no longer hold while no session serves the Link.
    if (!findings.isServed && accepted.status === 'False') return NOT_SERVED;
    const is = written(type);
    return is?.message === NOT_SERVED.message ? undefined : is;
  };
  const known = (type: string, found: Verdict | undefined): Verdict => found ?? kept(type) ?? UNKNOWN;
  const isOver = findings.isUnhindered && written('Synced')?.status === 'False';
  const all = {
    Accepted: accepted,
    CredentialsValid: known('CredentialsValid', findings.credentials),
    TargetReachable: known('TargetReachable', findings.reachable),
    TargetWithinLimits: known('TargetWithinLimits', findings.withinLimits),
    GatewayResolved: known('GatewayResolved', findings.resolved),
    GatewayAlive: known('GatewayAlive', findings.gatewayAlive),
    Synced: known('Synced', findings.synced ?? (isOver ? UNKNOWN : undefined)),
    PruneHeld:
      pruneHeld === 0 ? verdict('False', 'NothingHeld', '') : verdict('True', 'MassDeletion', heldMessage(findings)),
  };
  return { Ready: ready(all, findings, before), ...all };
}

/**
 * Returns the message of condition `PruneHeld`. It names some of the held deletions, and ends with the command that
 * confirms all of them. If the message would be longer than {@link MAX_CONDITION_MESSAGE} characters, it names fewer
 * deletions, so that the command is not cut off.
 */
function heldMessage(findings: LinkFindings, named = findings.someHeld): string {
  const { namespace, name, pruneHeld, confirmation = '' } = findings;
  const more = pruneHeld - named.length;
  const which = [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  const message =
    `the target no longer lists ${pruneHeld} Services, pods or members of federated Services (${which}), or the settings no longer ask for them; what they have here stays. ` +
    'To keep them, do nothing: this resolves when the target lists them again, and the settings ask for them. To delete them: ' +
    `kubectl annotate --overwrite --namespace ${namespace} ${LinkApi.crd} ${name} ${Annotation.confirmPrune}="${confirmation}"`;
  const fits = message.length <= MAX_CONDITION_MESSAGE || named.length === 0;
  return fits ? message : heldMessage(findings, named.slice(0, -1));
}

/**
 * Returns condition `Ready`: `False` or `Unknown` with a reason if one of the checks below fails, otherwise the result
 * of {@link works}. If several checks fail, the reason of the first one is reported.
 */
function ready(all: Readonly<Record<string, Verdict>>, findings: LinkFindings, before: LinkStatusBefore): Verdict {
  const { heldBy, pruneHeld, generation, settingsGeneration = generation } = findings;
  if (heldBy !== undefined) {
    return verdict(
      'False',
      'HeldByAnother',
      `${heldBy} writes for this Link and holds its Lease; stop it to hand the Link over`,
    );
  }
  for (const [type, { status, reason, message }] of Object.entries(all)) {
    if (type !== 'PruneHeld' && status === 'False') return verdict('False', reason, message);
  }
  if (pruneHeld > 0)
    return verdict('False', 'PruneHeld', `${pruneHeld} deletions are held back; see condition PruneHeld`);
  if (settingsGeneration !== generation) {
    return verdict('Unknown', 'Pending', `generation ${generation} of the Link is not applied yet`);
  }
  // Mirrors keep their readiness until there is a verdict on the gateway, so `Ready` does not wait for that verdict.
  const pending = Object.entries(all).find(([type, { status }]) => status === 'Unknown' && type !== 'GatewayAlive');
  if (pending !== undefined) return verdict('Unknown', 'Pending', `${pending[0]} is not known yet`);
  return works(findings, before);
}

/**
 * Returns condition `Ready` of a Link that passes all checks of {@link ready}; it is always `True`. The message counts,
 * by reason, the Services that are not mirrored and the members that do not join. It also counts the Services that the
 * import policy does not admit. While mirrors or members are not known, a condition `Ready` that is `True` for the
 * present generation stays.
 */
function works(
  { mirrors, federated, notAdmitted, generation }: LinkFindings,
  { conditions = [] }: LinkStatusBefore,
): Verdict {
  const written = conditions.find(({ type, status }) => type === 'Ready' && status === 'True');
  const isKnown = mirrors !== undefined && federated !== undefined;
  if (!isKnown && written?.observedGeneration === generation) return written;
  const isFailed = (each: MirrorStatus): boolean => mirrorState(each) === 'failed';
  const unmirrored = [...(mirrors?.values() ?? [])].filter((each) => !each.mirrored);
  const unjoined = [...(federated?.values() ?? [])].filter((each) => !each.mirrored);
  const messages = [
    leftText(unmirrored, mirrors?.size, 'Services are not mirrored'),
    leftText(unjoined, federated?.size, 'members do not join their federated Services'),
    countText(notAdmitted?.notAdmitted, 'Services are not admitted by spec.importPolicy'),
    countText(notAdmitted?.waitingForApproval, 'Services wait until they are approved (linkspan approve)'),
  ].filter((text) => text !== undefined);
  if (messages.length === 0) return verdict('True', 'Ready', 'the mirrors follow the target');
  const reason = unmirrored.some(isFailed) ? 'SomeNotMirrored' : unjoined.some(isFailed) ? 'SomeNotJoined' : 'Ready';
  return verdict('True', reason, messages.join('; '));
}

const countText = (count: number | undefined, what: string): string | undefined =>
  count === undefined || count === 0 ? undefined : `${count} ${what}`;

function leftText(left: readonly MirrorStatus[], of = 0, what: string): string | undefined {
  const counts = [...countsByReason(left)].map(([reason, count]) => `${count} ${reason}`);
  return left.length === 0 ? undefined : `${left.length} of ${of} ${what}: ${counts.join(', ')}`;
}

function counts(mirrors: Iterable<MirrorStatus>): MirrorCounts {
  let total = 0;
  let ready = 0;
  for (const { mirrored } of mirrors) {
    total += 1;
    if (mirrored) ready += 1;
  }
  return { total, ready, failed: total - ready };
}
