/**
 * What was last decided about the pods of one headless Service, group by group. What stands is not looked at: with an
 * event of one pod, that is all but one group of many (rule E10).
 */
import type { EndpointMirrorProps, GatewayEndpoints, HeadlessMirrorSubset } from '../../constructs/rendered/index.ts';
import type { Service } from '../kube/objects.ts';
import { type ByHostname, type Group, groupOf } from './by-hostname.ts';
import { changesOf } from '../runtime/changes.ts';
import type { Manifests } from './manifests.ts';
import type { TargetHost } from './target-endpoints.ts';

/** Props of the endpoint mirror of one pod. */
export interface PodProps extends Pick<EndpointMirrorProps, 'hostname' | 'ports'> {
  readonly name: string;
  readonly endpoints: GatewayEndpoints;
}

/** What was rendered of one pod. */
export interface RenderedPod {
  readonly props: PodProps;
  /** The objects, or why a construct refused the props. */
  readonly result: Manifests | Error;
}

/** What is decided about the pods of one group. */
export interface OfPods {
  readonly manifests: Manifests;
  /** Those that the headless mirror lists. */
  readonly listed: readonly HeadlessMirrorSubset[];
  readonly rendered: ReadonlyMap<string, RenderedPod>;
  /** Whether it stands while the pods, what is there of them, and {@link Circumstances} stay as they are. */
  readonly isFinal: boolean;
  /** Whether only some of the pods have been rendered, for want of time. */
  readonly isUnfinished: boolean;
}

/** What decides about all pods of a Service. */
export interface Circumstances {
  /** Of the names that they claim. */
  readonly revision: number;
  /** Undefined if it is not the same for all. */
  readonly gateway: GatewayEndpoints | undefined;
  /** The Services that are ours of the target Service. */
  readonly services: readonly Service[];
  readonly cluster: string;
}

export type DecideGroup = (group: Group<TargetHost>, before: ReadonlyMap<string, RenderedPod>) => OfPods;

interface Decided {
  readonly hosts: Group<TargetHost>;
  readonly of: OfPods;
  /** In which decision, of as many turns as that takes, it was decided; undefined if it is to be again. */
  readonly round: number | undefined;
}

/** Pods that are looked at in any case before the loop is given back. */
const LEAST_PODS = 20;

const NOTHING_RENDERED: ReadonlyMap<string, RenderedPod> = new Map();

export class PodGroups {
  readonly #isTurnOver: () => boolean;
  #decided: ReadonlyMap<number, Decided> = new Map();
  #under: Circumstances | undefined;
  /** Another one begins with {@link finish}. */
  #round = 0;

  /** @param isTurnOver reports whether the rest is left for the next turn */
  constructor(isTurnOver: () => boolean) {
    this.#isTurnOver = isTurnOver;
  }

  /** Number of pods that are remembered. */
  get size(): number {
    return [...this.#decided.values()].reduce((sum, { of }) => sum + of.rendered.size, 0);
  }

  /**
   * Returns what is decided about each group; undefined if a part is left for the next turn. What was decided in the
   * turns before stands if nothing of it has changed meanwhile.
   */
  decide(
    hosts: ByHostname<TargetHost>,
    now: Circumstances,
    decide: DecideGroup,
  ): ReadonlyMap<number, OfPods> | undefined {
    this.#reconsider(now);
    const decided = new Map<number, Decided>();
    let isUnfinished = false;
    let looked = 0;
    for (const [at, group] of hosts.groups) {
      const before = this.#decided.get(at);
      const stands = before !== undefined && this.#stands(before, group);
      isUnfinished ||= !stands && looked >= LEAST_PODS && mayPause(now) && this.#isTurnOver();
      if (stands || isUnfinished) {
        if (before !== undefined) decided.set(at, before);
        continue;
      }
      const of = decide(group, before?.of.rendered ?? NOTHING_RENDERED);
      looked += group.size;
      isUnfinished ||= of.isUnfinished;
      decided.set(at, { hosts: group, of, round: of.isUnfinished ? undefined : this.#round });
    }
    this.#decided = decided;
    return isUnfinished ? undefined : new Map([...decided].map(([at, { of }]) => [at, of]));
  }

  /** All that depends on the groups has been decided, too: the next decision begins anew. */
  finish(): void {
    this.#round += 1;
  }

  #stands({ hosts, of, round }: Decided, group: Group<TargetHost>): boolean {
    return hosts === group && round !== undefined && (of.isFinal || round === this.#round);
  }

  /** Lets nothing stand that was decided under other circumstances. */
  #reconsider(now: Circumstances): void {
    const before = this.#under;
    this.#under = now;
    const isSame = before !== undefined && areSame(before, now);
    const changed = isSame ? groupsOfChanged(before.services, now) : undefined;
    if (changed?.size === 0) return;
    const open = ([at, each]: [number, Decided]): [number, Decided] =>
      changed === undefined || changed.has(at) ? [at, { ...each, round: undefined }] : [at, each];
    this.#decided = new Map([...this.#decided].map(open));
  }
}

/** Whether what is decided in this turn can stand in the next one; see {@link areSame}. */
const mayPause = ({ gateway }: Circumstances): boolean => gateway !== undefined;

const areSame = (a: Circumstances, b: Circumstances): boolean =>
  a.revision === b.revision &&
  a.cluster === b.cluster &&
  a.gateway !== undefined &&
  b.gateway !== undefined &&
  isSameGateway(a.gateway, b.gateway);

/** Returns the groups of the pods whose endpoint mirrors have come, changed or gone. */
function groupsOfChanged(before: readonly Service[], { services, cluster }: Circumstances): ReadonlySet<number> {
  const { gone, come } = changesOf(before, services);
  return new Set([...gone, ...come].map(({ metadata: { name } }) => groupOf(name.slice(0, -(cluster.length + 1)))));
}

/** Whether two are of one value. Mostly they hold the same arrays, so that nothing needs to be compared. */
export const isSamePod = (a: PodProps, b: PodProps): boolean =>
  a.name === b.name && isSameJson(a.ports, b.ports) && isSameGateway(a.endpoints, b.endpoints);

const isSameGateway = (a: GatewayEndpoints, b: GatewayEndpoints): boolean =>
  a.port === b.port &&
  a.identity === b.identity &&
  a.alive === b.alive &&
  a.ready === b.ready &&
  a.kind === b.kind &&
  isSameJson(a.addresses, b.addresses);

const isSameJson = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);
