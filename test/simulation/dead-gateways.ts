/**
 * Rule F3 while other things are broken: once a gateway has been dead for as long as its probes need to find out, no
 * mirror has a ready address behind it. Counted only while an operator is at work undisturbed, and nothing is in the way
 * between it and the source cluster or the gateway: what happens to targets must not matter.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { type Command, type LinkName, LINKS, outageMs, TARGET_OF, type TargetName } from './command.ts';
import { clusterOf, INVALID_PERIOD, isServable, NO_GATEWAY } from './link-state.ts';
import { gatewayOf, importOf, one, SERVICE_IMPORT } from './import-objects.ts';
import { conditionsOf } from './link-users.ts';
import { membersIn } from './members.ts';
import { FEATURES } from './parts/index.ts';
import { PROBE_PERIOD_MS, PROBE_THRESHOLD } from './probe-spec.ts';
import type { Stage } from './stage.ts';

/** The longest time between two probes: jitter extends it, and a clock may run slowly. */
export const PROBED_MS = PROBE_PERIOD_MS * 1.1 * 1.04;
/** F3, and the time of the writes, of the status too. */
export const VERDICT_MS = 1_000 + 1_500;
const FOUND_OUT_MS = PROBE_THRESHOLD * PROBED_MS + VERDICT_MS;
/** Time in which an operator that was started, or one that takes over, is at work, and backoff is over. */
const SETTLED_MS = 30_000;
/** Time in which what users do to a mirror is put right. */
const REPAIRED_MS = 5_000;
const LOOK_MS = 1_000;

interface LinkSpec {
  readonly targetClusterName: string;
  readonly gatewayAddress: string;
  readonly probeSpec?: object;
}

/** Commands that touch nothing but targets, and may come at any time. */
const OF_TARGETS: ReadonlySet<Command['do']> = new Set<Command['do']>([
  ...([
    'put service',
    'remove service',
    'put many',
    'lose all',
    'lose part',
    'lose slices',
    'put set',
    'put by hand',
  ] as const),
  ...(['renew pods', 'export', 'set pods', 'set slice', 'put secret', 'move target', 'put foreign'] as const),
  ...FEATURES.flatMap(({ quiet }) => quiet),
  ...(['kill gateway', 'revive gateway', 'wait', 'put hostile', 'remove hostile', 'spoil service', 'lag'] as const),
]);

/** After these commands it is known as before whether a gateway is dead. */
const KEEPS_KNOWN: ReadonlySet<Command['do']> = new Set<Command['do']>([
  ...[...OF_TARGETS].filter((each) => each !== 'revive gateway'),
  ...(['stop operator', 'kill operator', 'start operator', 'crash operator', 'edit mirror', 'edit import'] as const),
]);

export class DeadGateways {
  readonly #stage: Stage;
  readonly #deadSinceMs = new Map<TargetName, number>();
  /** Links that are served by the spec that they have. */
  readonly #served = new Set<LinkName>();
  /** Links that were, and are invalid since: they stay served as they were, whoever leads, until they are others (E7). */
  readonly #invalid = new Set<LinkName>();
  /** Links whose status says that their gateway is dead, which it is: until something of them changes, also over restarts. */
  readonly #known = new Set<LinkName>();
  /** When the operator will have been undisturbed for long enough. */
  #settledMs = 0;
  #isOver = false;

  constructor(stage: Stage) {
    this.#stage = stage;
    stage.east.onOperatorWrite((_, { plural }, { type, object, previous }) => {
      const isOfMirror = plural === 'endpoints' || plural === 'endpointslices';
      if (isOfMirror && type !== 'DELETED') this.#written(object, previous);
    });
    this.#look();
  }

  /** Notes what is about to happen. */
  noticed(command: Command): void {
    const now = this.#stage.world.nowMs;
    if (command.do === 'kill gateway' && !this.#deadSinceMs.has(command.link)) this.#deadSinceMs.set(command.link, now);
    if (command.do === 'revive gateway') this.#deadSinceMs.delete(command.link);
    this.#noticedLink(command);
    if (!KEEPS_KNOWN.has(command.do)) this.#known.clear();
    const ms = disturbanceMs(command);
    if (ms > 0) this.#settledMs = Math.max(this.#settledMs, now + ms);
  }

  /** Notes that something is in the operator's way for `ms` more. */
  disturbed(ms: number): void {
    this.#settledMs = Math.max(this.#settledMs, this.#stage.world.nowMs + ms + SETTLED_MS);
  }

  #noticedLink(command: Command): void {
    switch (command.do) {
      case 'rename link':
      case 'down':
        this.#served.clear();
        this.#invalid.clear();
        return;
      case 'edit link':
        if (command.edit.field === 'period' && command.edit.value === INVALID_PERIOD) {
          if (this.#served.delete(command.link)) this.#invalid.add(command.link);
          return;
        }
        break;
      case 'remove link':
      case 'put link':
      case 'suspend link':
      case 'resume link':
      case 'linkerd':
        break;
      default:
        return;
    }
    this.#served.delete(command.link);
    this.#invalid.delete(command.link);
  }

  /** Since when an operator is at work undisturbed. */
  get undisturbedMs(): number {
    return Math.max(this.#settledMs, this.#stage.operators.changedMs + SETTLED_MS);
  }

  /** Looks no more: what follows is judged otherwise. */
  end(): void {
    this.#isOver = true;
  }

  /** Whether a Link is served: an accepted one may still be waiting for its Lease, which records another cluster. */
  #isServed(name: LinkName): boolean {
    const { targetClusterName } = (this.#stage.linkOf(name)?.spec ?? {}) as { readonly targetClusterName?: string };
    return this.#stage.isAccepted(name) && this.#stage.judge.isServedByUs(name, targetClusterName ?? '');
  }

  /** C1: nothing becomes ready behind a gateway that is known to be dead, be it by the status that a restart finds. */
  #written(object: KubeObject, previous: KubeObject | undefined): void {
    if (this.#isOver || !readyAtGateway(object) || (previous !== undefined && readyAtGateway(previous))) return;
    const { judge } = this.#stage;
    const imported = this.#importedFrom(object);
    const cluster = object.metadata.labels?.['mirror.linkerd.io/cluster-name'] ?? imported ?? '';
    const name = [...this.#known].find((each) => judge.isServedByUs(each, cluster));
    if (name === undefined || (imported === undefined && !judge.isMirror(object))) return;
    const { namespace, name: of } = object.metadata;
    judge.complain(`${namespace}/${of} became ready at the gateway of Link ${name}, which is known to be dead (C1)`);
  }

  /** The cluster whose gateway a slice of an import leads to. What is left beside somebody's own ServiceImport stays. */
  #importedFrom(slice: KubeObject): string | undefined {
    const [namespace, name = ''] = importOf(slice)?.split('/') ?? [];
    if (namespace === undefined || gatewayOf(slice) === undefined) return undefined;
    const live = one(this.#stage.east, SERVICE_IMPORT, namespace, name);
    return live !== undefined && importOf(live) !== undefined ? gatewayOf(slice) : undefined;
  }

  /** Notes which Links are served by their spec, and which say that their gateway is dead. */
  #learn(name: LinkName): void {
    const { world, judge } = this.#stage;
    const link = this.#stage.linkOf(name);
    if (link === undefined || !this.#isServed(name)) return;
    if (isServable(link) && judge.servedSinceMs(name) <= world.nowMs) this.#served.add(name);
    const sinceMs = this.#deadSinceMs.get(TARGET_OF[name]);
    if (sinceMs === undefined || world.nowMs < sinceMs + FOUND_OUT_MS) return;
    const alive = conditionsOf(link).find(({ type }) => type === 'GatewayAlive');
    if (alive?.status === 'False') this.#known.add(name);
  }

  #look(): void {
    const { world, judge } = this.#stage;
    world.after(world.users, LOOK_MS, () => {
      if (this.#isOver || judge.complaints.length > 0) return;
      for (const name of LINKS) {
        this.#learn(name);
        this.#lookAt(name);
      }
      this.#look();
    });
  }

  #lookAt(name: LinkName): void {
    const { world, judge, operators, refused, east, history } = this.#stage;
    const spec = this.#stage.linkOf(name)?.spec as LinkSpec | undefined;
    // One that has no gateway has none that is alive. The edit that took it out has disturbed the operator.
    const isWithout = spec?.gatewayAddress === NO_GATEWAY && this.#isServed(name);
    const deadSinceMs = this.#deadSinceMs.get(TARGET_OF[name]) ?? -Infinity;
    const sinceMs = deadSinceMs > -Infinity ? deadSinceMs : isWithout ? this.#settledMs : undefined;
    if (sinceMs === undefined || operators.count === 0) return;
    const isKept = this.#invalid.has(name) && !judge.isHeldByAnother(name);
    // Until who leads has the Lease of a Link, it writes nothing for it. That of a Link that is kept is nobody else's.
    const servedMs = isKept ? judge.ledSinceMs + SETTLED_MS : judge.servedSinceMs(name);
    const beganMs = Math.max(sinceMs, this.#settledMs, operators.changedMs + SETTLED_MS, servedMs);
    if (world.nowMs < beganMs + FOUND_OUT_MS) return;
    if (spec === undefined || !(isKept || this.#isServed(name))) return;
    if (spec.probeSpec === undefined && !isWithout) return;
    // Linkerd's controller writes its mirrors, too, for another Link that names the cluster.
    const naming = LINKS.filter((other) => clusterOf(this.#stage.linkOf(other)) === spec.targetClusterName);
    if (naming.some((other) => judge.isHeldByAnother(other))) return;
    for (const part of this.#stage.parts) part.deadGateway?.(spec.targetClusterName);
    const slices = east.list('discovery.k8s.io/v1', 'EndpointSlice');
    const mirrors = history.endpoints === 'endpoints' ? east.list('v1', 'Endpoints') : slices;
    const ofCluster = [
      ...mirrors.filter(
        (object) =>
          object.metadata.labels?.['mirror.linkerd.io/cluster-name'] === spec.targetClusterName &&
          judge.isMirror(object),
      ),
      ...slices.filter((slice) => membersIn(slice).includes(spec.targetClusterName)),
      ...slices.filter((slice) => this.#importedFrom(slice) === spec.targetClusterName),
    ];
    for (const object of ofCluster) {
      const { namespace, name: of } = object.metadata;
      // It has been deleted: a finalizer of somebody's holds it as it was.
      if (object.metadata.deletionTimestamp !== undefined) continue;
      if (!readyAtGateway(object)) continue;
      const written = object.kind === 'Endpoints' ? 'endpoints' : 'endpointslices';
      if (world.nowMs < refused.retriedMs(written, object, deadSinceMs) + VERDICT_MS) continue;
      const seconds = ((world.nowMs - sinceMs) / 1000).toFixed(1);
      judge.complain(`${namespace}/${of} is ready at the gateway of Link ${name}, dead for ${seconds} s (F3)`);
    }
  }
}

/** For how long after a command the operator may be busy with something else. */
function disturbanceMs(command: Command): number {
  if (OF_TARGETS.has(command.do)) return 0;
  if (command.do === 'edit mirror' || command.do === 'edit import') return REPAIRED_MS;
  if (command.do === 'forbid' || command.do === 'deny') return SETTLED_MS + command.ms;
  const isAtTarget = 'at' in command && (command.at === 'west' || command.at === 'bar');
  if (isAtTarget) return 0;
  if (!('at' in command)) return SETTLED_MS + (command.do === 'pause operator' ? command.ms : 0);
  switch (command.do) {
    case 'weather':
      // What was lost may not be noticed for a long time.
      return command.weather === 'lost' ? Infinity : SETTLED_MS + command.ms;
    case 'manner':
      return SETTLED_MS + command.ms;
    case 'down':
      return SETTLED_MS + outageMs(command);
    case 'drop watches':
    case 'expire watches':
    case 'compact':
      return SETTLED_MS;
    default:
      return Infinity;
  }
}

/** Addresses without a hostname are those of a gateway. */
export function readyAtGateway(object: KubeObject): boolean {
  const subsets = (object['subsets'] ?? []) as readonly { readonly addresses?: readonly { hostname?: string }[] }[];
  const endpoints = (object['endpoints'] ?? []) as readonly { hostname?: string; conditions?: { ready?: boolean } }[];
  return (
    subsets.some(({ addresses = [] }) => addresses.some(({ hostname }) => hostname === undefined)) ||
    endpoints.some(({ hostname, conditions }) => hostname === undefined && conditions?.ready !== false)
  );
}
