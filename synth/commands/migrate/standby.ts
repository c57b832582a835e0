/**
 * Whether an operator stands by, now: it renews its Lease, and has reported on the Link as it is. What is stored may be left
 * of an operator that is gone, so that the Lease must be seen to change, by the clock of this machine alone.
 */
import { OPERATOR_LEASE, writeLeaseName } from '../../../crds/wire.ts';
import { cut } from '../../../operator/kube/errors.ts';
import { type Lease, LEASES } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { LINKS } from '../common/kinds.ts';
import { durationMsOf, holderOf, unserved } from '../common/lease.ts';
import type { LinkObject } from '../common/link-object.ts';
import { conditionOf } from '../common/link-status.ts';
import { byInstall, operatorPods } from '../common/remedies.ts';
import { type Look, waitFor } from '../common/wait.ts';
import { isSuspended } from './state.ts';
import type { StepOptions } from './step.ts';

/** Conditions that keep the operator from serving a Link, whoever writes for it. */
const OBSTACLES = ['CredentialsValid', 'TargetReachable'] as const;

/** Reasons of condition Ready by which an operator says that it leaves a Link to another. */
const STANDS_BY: readonly string[] = ['HeldByAnother', 'Suspended'];

/** The Lease of the operator, as it was seen. */
export class Standby {
  readonly #options: StepOptions;
  /** Text of the Lease, and when it was first seen; a Lease that was never seen to change may be an old one. */
  #seen: { readonly text: string; readonly atMs: number; readonly isRenewed: boolean } | undefined;

  constructor(options: StepOptions) {
    this.#options = options;
  }

  /**
   * Waits until an operator stands by for Links.
   * @param links their names; none: it need not have reported on any
   * @throws CommandError if none does in time
   */
  async wait(links: readonly string[]): Promise<void> {
    const { cluster, namespace, timeoutMs } = this.#options;
    const of = links.length === 0 ? 'the operator' : `the operator to stand by for Link ${links.join(', ')}`;
    await waitFor(of, () => this.#look(links), {
      timeoutMs,
      problem: (why, waitedMs) => ({
        object: cluster.title('Lease', { namespace, name: OPERATOR_LEASE }),
        reason: `waited ${waitedMs / 1000} s for ${of}: ${why}`,
        remedy: remedyIn(cluster, namespace),
      }),
    });
  }

  async #look(links: readonly string[]): Promise<Look<void>> {
    const { cluster, namespace } = this.#options;
    const lease = await cluster.find<Lease>(LEASES, { namespace, name: OPERATOR_LEASE });
    const why = this.#lapsed(lease);
    if (why !== undefined) return { pending: why };
    for (const name of links) {
      const [link, written] = await Promise.all([
        cluster.find<LinkObject>(LINKS, { namespace, name }),
        cluster.find<Lease>(LEASES, { namespace, name: writeLeaseName(name) }),
      ]);
      const writer = unserved(written, Date.now()) === undefined ? holderOf(written) : '';
      const missing = unreported(link, writer !== '' && writer !== holderOf(lease));
      if (missing !== undefined) return { pending: `Link ${name}: ${missing}` };
    }
    return { done: undefined };
  }

  /** Why nobody renews the Lease; undefined if its holder does. */
  #lapsed(lease: Lease | undefined): string | undefined {
    const holder = holderOf(lease);
    if (lease === undefined || holder === '') return 'no operator holds its Lease';
    const { text, atMs, isRenewed } = this.#seen ?? { text: undefined, atMs: 0, isRenewed: false };
    const [now, nowMs] = [JSON.stringify(lease.spec), performance.now()];
    if (now !== text) {
      this.#seen = { text: now, atMs: nowMs, isRenewed: text !== undefined };
      if (text !== undefined) return undefined;
    } else if (isRenewed && nowMs - atMs <= durationMsOf(lease)) return undefined;
    return `${cut(holder)} holds its Lease, and was not seen to renew it since ${cut(lease.spec?.renewTime ?? '')}`;
  }
}

/**
 * Why the operator could not serve a Link as it is now, by its status; undefined if it could.
 * @param isHeld whether another writes for it, which a report that is not old says
 */
const unreported = (link: LinkObject | undefined, isHeld: boolean): string | undefined => {
  if (link === undefined) return 'not found';
  const ready = conditionOf(link, 'Ready');
  if (ready === undefined) return 'no operator has reported on it';
  const { generation = 0 } = link.metadata;
  if (ready.observedGeneration < generation) return `no operator has reported on its generation ${generation}`;
  if (isHeld && !STANDS_BY.includes(ready.reason)) {
    return `what was reported on it is old: Ready: ${ready.reason}, while another writes for it`;
  }
  const found = OBSTACLES.map((type) => conditionOf(link, type)).filter((each) => each !== undefined);
  const obstacle = found.find(({ status }) => status === 'False');
  if (obstacle !== undefined) {
    return `the operator cannot serve it: ${obstacle.type}: ${obstacle.reason}: ${obstacle.message}`;
  }
  // Of a suspended Link nothing is known: nobody looks.
  const unknown = isSuspended(link) ? undefined : found.find(({ status }) => status === 'Unknown');
  return unknown && `whether the operator can serve it is not known yet: ${unknown.type}: ${unknown.message}`;
};

const remedyIn = ({ kubeconfig, context }: Cluster, namespace: string): string => {
  const place = { kubeconfig, context, namespace };
  return `install it: ${byInstall(place)}; or ${operatorPods(place)}`;
};
