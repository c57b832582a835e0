/**
 * Judges ServiceFailovers while a history happens: each write of a route or a status, and from time to time where requests
 * go. What is not certain is not judged: only what has been ready, or has not been, for a while in which nothing was in
 * the operator's way.
 */
import type { Resource } from '../../cluster/simulated/kinds/resources.ts';
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../../cluster/simulated/storage/storage.ts';
import { LINKS_NAMESPACE } from '../../support/builders.ts';
import { type Command, LINKS } from '../command.ts';
import { backendsOf, FAILOVER, failoverOf, failoversIn, isValid, ourRoutesIn } from '../failover-users.ts';
import { clusterOf, isServable } from '../link-state.ts';
import { SECOND, SECOND_NAMESPACE } from '../operators.ts';
import type { Stage } from '../stage.ts';
import type { Sender } from '../world/internet.ts';
import { holdDownMs, isEnough, keyOf, ownNamespace, specOf, statusOf, tcpPortsOf } from './failover-fields.ts';
import { Serving } from './failover-serving.ts';
import { countedHere, isFlatMirror, mirroredBy } from './failover-view.ts';

const LOOK_MS = 1_000;
/** Time in which everybody who is undisturbed knows of a change, and has written what it takes. */
const KNOWN_MS = 5_000;
/** Time over which the writes of one route are counted, and how many there may be. */
const PERIOD_MS = 60_000;
const MOST = 10;
/** So many more for each command. */
const MORE = 3;
/** How fast the clock of a process may run, and what is rounded. */
const FASTEST = 1.04;
const ROUNDED_MS = 1_000;

export class FailoverWatch {
  readonly #stage: Stage;
  /** By ServiceFailover and backend: since when it has been seen to be ready, or not to be. */
  readonly #seen = new Map<string, { readonly isReady: boolean; readonly sinceMs: number }>();
  /** By ServiceFailover and backend: when all were certain last that it was not ready. */
  readonly #unreadyMs = new Map<string, number>();
  /** When a user last changed a ServiceFailover or its status. */
  readonly #changedMs = new Map<string, number>();
  readonly #serving = new Serving();
  /** Whether the source cluster went back to a backup: another operator may have been there, and have served then. */
  #isRestored = false;
  /** ServiceFailovers whose status somebody has written: what is ready since when is what that says. */
  readonly #faked = new Set<string>();
  readonly #writtenMs = new Map<string, number[]>();
  readonly #commandsMs: number[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
    for (const plural of ['httproutes', 'grpcroutes', 'tcproutes', 'servicefailovers'])
      stage.judge.judgedElsewhere.add(plural);
    stage.east.onOperatorWrite((sender, resource, event) => {
      if (resource.plural === 'servicefailovers') this.#sawStatus(sender, event);
      else if (resource.plural.endsWith('routes')) this.#sawRoute(sender, resource, event);
    });
    stage.east.onWrite((sender, { plural }, event) => {
      if (plural === 'servicefailovers') this.#sawFailover(sender, event);
      const { namespace = '', name, labels = {} } = event.object.metadata;
      if (plural === 'endpointslices') this.#sawService(namespace, labels['kubernetes.io/service-name'] ?? '');
      if (plural === 'services' && event.type === 'DELETED') this.#sawService(namespace, name);
    });
    this.#look();
  }

  noticed(command: Command): void {
    if (command.do !== 'wait') this.#commandsMs.push(this.#nowMs);
    if (command.do === 'down' && command.at === 'east' && command.back > 0) this.#isRestored = true;
    if (command.do === 'write failover status') this.#faked.add(`${command.namespace}/${command.name}`);
  }

  /** Whether requests may not go back to a backend yet, as far as can be seen. */
  mayBeHeld(failover: KubeObject, service: string, isReady: boolean): boolean {
    const now = this.#nowMs;
    const seen = this.#note(`${keyOf(failover)} ${service}`, isReady);
    const sinceMs = Math.max(seen.sinceMs, this.#changedMs.get(keyOf(failover)) ?? 0);
    return now < sinceMs + holdDownMs(failover) * FASTEST + 2 * KNOWN_MS;
  }

  /** F3, for routes: a gateway is certainly dead. */
  deadGateway(cluster: string): void {
    for (const failover of failoversIn(this.#stage.east)) {
      if (!isValid(failover)) continue;
      for (const { service } of specOf(failover).backends) {
        const live = this.#service(failover, service);
        if (live === undefined || isFlatMirror(live) || mirroredBy(live)?.cluster !== cluster) continue;
        if (statusOf(failover).operator !== LINKS_NAMESPACE) continue;
        this.#unready(failover, service, `the gateway of ${cluster} is dead (F3, J3)`);
      }
    }
  }

  get #nowMs(): number {
    return this.#stage.world.nowMs;
  }

  #look(): void {
    const { world, judge, east } = this.#stage;
    world.after(world.users, LOOK_MS, () => {
      if (judge.complaints.length > 0) return;
      const slices = failoversIn(east).length === 0 ? [] : east.list('discovery.k8s.io/v1', 'EndpointSlice');
      for (const failover of failoversIn(east)) this.#lookAt(failover, slices);
      this.#look();
    });
  }

  /** J2 and J3, of backends that count by what slices in this cluster say. */
  #lookAt(failover: KubeObject, slices: readonly KubeObject[]): void {
    if (!isValid(failover)) return;
    for (const backend of specOf(failover).backends) {
      const live = this.#service(failover, backend.service);
      const key = `${keyOf(failover)} ${backend.service}`;
      if (live !== undefined && !this.#countsHere(live)) continue;
      const isReady = live !== undefined && isEnough(countedHere(slices, live), backend);
      const { sinceMs } = this.#note(key, isReady);
      if (isReady || !this.#isSettled(failover) || this.#nowMs < sinceMs + KNOWN_MS) continue;
      this.#unready(failover, backend.service, 'its slices have been saying so (J3)');
    }
  }

  /** What is only so for a moment counts, too. */
  #sawService(namespace: string, name: string): void {
    const { east } = this.#stage;
    const live = east.get('v1', 'Service', namespace, name);
    if (live !== undefined && !this.#countsHere(live)) return;
    for (const failover of failoversIn(east)) {
      if (failover.metadata.namespace !== namespace || !isValid(failover)) continue;
      const backend = specOf(failover).backends.find(({ service }) => service === name);
      if (backend === undefined) continue;
      const counts = live && countedHere(east.list('discovery.k8s.io/v1', 'EndpointSlice'), live);
      this.#note(`${keyOf(failover)} ${name}`, counts !== undefined && isEnough(counts, backend));
    }
  }

  #note(key: string, isReady: boolean): { readonly isReady: boolean; readonly sinceMs: number } {
    const before = this.#seen.get(key);
    if (before?.isReady === isReady) return before;
    const seen = { isReady, sinceMs: this.#nowMs };
    this.#seen.set(key, seen);
    return seen;
  }

  #service({ metadata: { namespace } }: KubeObject, name: string): KubeObject | undefined {
    return this.#stage.east.get('v1', 'Service', namespace, name);
  }

  /** Whether slices of this cluster certainly decide: it is no mirror, or one of Links that are left to another controller. */
  #countsHere(service: KubeObject): boolean {
    const cluster = mirroredBy(service)?.cluster;
    if (cluster === undefined) return service.metadata.labels?.['mirror.linkerd.io/mirrored-service'] === undefined;
    if (isFlatMirror(service)) return false;
    const links = LINKS.map((name) => this.#stage.linkOf(name)).filter((link) => clusterOf(link) === cluster);
    return (
      links.length > 0 &&
      links.every(
        (link) =>
          link !== undefined && 'linkspan.dev/suspended' in (link.metadata.annotations ?? {}) && !isServable(link),
      )
    );
  }

  /** Whether whoever serves a ServiceFailover has been undisturbed for long enough. */
  #isSettled(failover: KubeObject): boolean {
    const { deadGateways, operators } = this.#stage;
    const { operator } = statusOf(failover);
    const runs =
      operator === SECOND_NAMESPACE ? operators.runs(SECOND) : operator === LINKS_NAMESPACE && operators.count > 0;
    const sinceMs = Math.max(
      deadGateways.undisturbedMs,
      this.#changedMs.get(keyOf(failover)) ?? 0,
      this.#serving.of(keyOf(failover)).sinceMs,
    );
    return runs && this.#nowMs > sinceMs + KNOWN_MS;
  }

  /** A backend is certainly not ready: no requests go there while another one is. */
  #unready(failover: KubeObject, service: string, why: string): void {
    if (!this.#isSettled(failover)) return;
    const { east, judge } = this.#stage;
    const { namespace, name } = failover.metadata;
    this.#unreadyMs.set(`${keyOf(failover)} ${service}`, this.#nowMs);
    for (const route of ourRoutesIn(east)) {
      if (route.metadata.namespace !== namespace || failoverOf(route) !== name) continue;
      const refs = backendsOf(route);
      if (!refs.some((ref) => ref.name === service && (ref.weight ?? 1) > 0)) continue;
      const port = Number(/[0-9]+$/.exec(route.metadata.name)?.[0]);
      if (!tcpPortsOf(this.#service(failover, specOf(failover).service)).includes(port)) continue;
      const better = specOf(failover).backends.find(
        (each) => each.service !== service && this.#isCertain(failover, each.service, port),
      );
      if (better !== undefined)
        judge.complain(
          `${route['kind']} ${keyOf(route)} leads to ${service}, while ${better.service} is ready: ${why}`,
        );
    }
  }

  /** Whether a backend has been ready for so long that all know it. */
  #isCertain(failover: KubeObject, service: string, port: number): boolean {
    const live = this.#service(failover, service);
    if (live === undefined || !this.#countsHere(live) || !tcpPortsOf(live).includes(port)) return false;
    const seen = this.#seen.get(`${keyOf(failover)} ${service}`);
    return seen?.isReady === true && this.#nowMs > seen.sinceMs + KNOWN_MS;
  }

  #sawFailover(sender: Sender | undefined, { object, previous, type }: StorageEvent): void {
    const key = keyOf(object);
    if (sender === undefined) this.#changedMs.set(key, this.#nowMs);
    const { operator } = type === 'DELETED' ? {} : statusOf(object);
    this.#serving.saw(key, operator, previous === undefined, this.#nowMs);
  }

  /** J6, and that nothing but the status is written. */
  #sawStatus(sender: Sender, { type, object, previous }: StorageEvent): void {
    const what = `${type} ServiceFailover ${keyOf(object)} by ${sender.process.name}`;
    const { judge, east } = this.#stage;
    // What is in a namespace goes with it.
    if (type === 'DELETED' && this.#isTerminating(object)) return;
    if (type !== 'MODIFIED' || previous?.metadata.generation !== object.metadata.generation)
      judge.complain(`${what}: more than its status`);
    const { operator: before } = previous === undefined ? {} : statusOf(previous);
    const own = ownNamespace(sender);
    const isThere = before !== undefined && east.get('v1', 'Namespace', undefined, before) !== undefined;
    // A backup brings back a namespace that was seen to be gone.
    if (before !== own && isThere && !this.#isRestored)
      judge.complain(`${what}: the operator in namespace ${before} serves it (J6)`);
    if (own === LINKS_NAMESPACE) judge.mustLead(sender, what);
  }

  #sawRoute(sender: Sender, { group, kind }: Resource, { type, object, previous }: StorageEvent): void {
    const { judge } = this.#stage;
    const what = `${type} ${kind} ${keyOf(object)} by ${sender.process.name}`;
    if (type === 'DELETED' && this.#isTerminating(object)) return;
    if (group === 'policy.linkerd.io' || [object, previous].some((each) => each && failoverOf(each) === undefined))
      judge.complain(`${what}: it is somebody else's (J1)`);
    if (ownNamespace(sender) === LINKS_NAMESPACE) judge.mustLead(sender, what);
    this.#countWrite(`${kind} ${keyOf(object)}`);
    const failover = this.#failoverOf(object);
    if (failover !== undefined) this.#mustServe(sender, failover, type, what);
    if (type === 'DELETED') return;
    const refs = backendsOf(object);
    if (!refs.some(({ weight = 1 }) => weight > 0)) judge.complain(`${what}: no weight is above 0 (J2)`);
    if (failover !== undefined && previous !== undefined) this.#mustHold(failover, object, previous, what);
  }

  #failoverOf(route: KubeObject): KubeObject | undefined {
    const { namespace } = route.metadata;
    return this.#stage.east.get(FAILOVER.apiVersion, FAILOVER.kind, namespace, failoverOf(route) ?? '');
  }

  /** J6: who writes a route serves its ServiceFailover, or did a moment ago. */
  #mustServe(sender: Sender, failover: KubeObject, type: StorageEvent['type'], what: string): void {
    const { judge, deadGateways } = this.#stage;
    const own = ownNamespace(sender);
    const { operator, sinceMs, createdMs, untilMs } = this.#serving.of(keyOf(failover));
    if (operator === own || this.#isRestored) return;
    const isKnown = (changedMs: number): boolean =>
      this.#nowMs > deadGateways.undisturbedMs && sender.sentMs > changedMs + KNOWN_MS;
    const endedMs = untilMs.get(own);
    if (endedMs !== undefined && !isKnown(endedMs)) return;
    // Anybody deletes the routes that no ServiceFailover has, or nobody's, as it was until a moment ago.
    if (type === 'DELETED' && !isKnown(operator === undefined ? sinceMs : createdMs)) return;
    judge.complain(`${what}: its ServiceFailover is served by ${operator ?? 'nobody'} (J6)`);
  }

  /** J2: requests do not go back before the hold-down is over, unless those that have them are not ready. */
  #mustHold(failover: KubeObject, object: KubeObject, previous: KubeObject, what: string): void {
    const { history, judge } = this.#stage;
    const key = keyOf(failover);
    // What is ready since when is in the status, by the clock of whoever has written it.
    if (history.replicas > 1 || this.#faked.has(key) || !isValid(failover)) return;
    const isIn = (route: KubeObject, service: string): boolean =>
      backendsOf(route).some(({ name, weight = 1 }) => name === service && weight > 0);
    const port = Number(/[0-9]+$/.exec(object.metadata.name)?.[0]);
    const services = specOf(failover).backends.map(({ service }) => service);
    const isNeedless = services.some((each) => isIn(previous, each) && this.#isCertain(failover, each, port));
    for (const service of services) {
      const unreadyMs = this.#unreadyMs.get(`${key} ${service}`) ?? -Infinity;
      if (!isNeedless || isIn(previous, service) || !isIn(object, service)) continue;
      if ((this.#changedMs.get(key) ?? 0) > unreadyMs) continue;
      const heldMs = this.#nowMs - unreadyMs;
      if (heldMs < holdDownMs(failover) / FASTEST - ROUNDED_MS)
        judge.complain(`${what}: requests go back to ${service}, which was not ready ${heldMs} ms ago (J2)`);
    }
  }

  #countWrite(route: string): void {
    const now = this.#nowMs;
    const written = (this.#writtenMs.get(route) ?? []).filter((each) => each > now - PERIOD_MS);
    this.#writtenMs.set(route, [...written, now]);
    const commands = this.#commandsMs.filter((each) => each > now - 2 * PERIOD_MS).length;
    if (written.length >= MOST + MORE * commands)
      this.#stage.judge.complain(`${route} was written ${written.length + 1} times in ${PERIOD_MS / 1000} s (J6)`);
  }

  #isTerminating({ metadata: { namespace } }: KubeObject): boolean {
    const found = this.#stage.east.get('v1', 'Namespace', undefined, namespace ?? '');
    return found === undefined || found.metadata.deletionTimestamp !== undefined;
  }
}
