/**
 * The scene of one reference run: a source, two targets, their gateways and the operator, under one virtual clock. Users act
 * by the methods of `users.ts`. Nothing is drawn: what happens is the same each time, so that a plan can say "the 17th write".
 */
import { sleep } from '../../operator/kube/backoff.ts';
import type { FlagValues } from '../../operator/config/flags.ts';
import { LINKS_NAMESPACE, namespace } from '../support/builders.ts';
import type { RequestInfo } from '../cluster/simulated/request.ts';
import { HistoryCluster, type Request } from '../simulation/cluster.ts';
import { Operators } from '../simulation/operators.ts';
import { Internet } from '../simulation/world/internet.ts';
import { World } from '../simulation/world/world.ts';
import { sourceCrds, targetCrds } from './kinds.ts';
import { Leases } from './leases.ts';
import { stateOf, type State } from './state.ts';
import { watchSynced } from './synced.ts';
import { Writes } from './writes.ts';

export const TARGETS = ['west', 'bar'] as const;
export type TargetName = (typeof TARGETS)[number];
export const CLUSTERS = ['source', ...TARGETS] as const;
export type ClusterName = (typeof CLUSTERS)[number];

/** How a scene is set. */
export interface Setting {
  /** Flags of the operator. */
  readonly flags?: FlagValues;
  /** @default 1 */
  readonly replicas?: 1 | 2;
  /** Whether the operator is started only when it is asked to be. @default false */
  readonly isWaiting?: boolean;
}

/** Where probes of a target's gateway arrive. */
const PROBED: Readonly<Record<TargetName, string>> = { west: '10.9.0.1:4191', bar: '10.9.0.2:4191' };
/** Names of Links, by the target that each leads to. */
const LINKS: Readonly<Record<string, TargetName>> = { west: 'west', 'west-v2': 'west', bar: 'bar', late: 'bar' };
const NAMESPACES = [LINKS_NAMESPACE, 'linkerd', 'shop', 'till'];

/** Time without a telling write after which all is at rest: longer than the longest wait before a retry. */
export const REST_MS = 40_000;
/** Time in which it must come to rest. */
const DEADLINE_MS = 1_800_000;

/** Any: the scenes differ in nothing that is drawn. */
const SEED = 1;

export class Scene {
  readonly world = new World(SEED);
  readonly internet = new Internet(this.world);
  readonly source: HistoryCluster;
  readonly targets: Readonly<Record<TargetName, HistoryCluster>>;
  readonly operators: Operators;
  readonly writes: Writes;
  /** What must not be, as it is seen. */
  readonly complaints: string[] = [];
  /** What names stand for; undefined: nothing. */
  names: Readonly<Record<string, readonly string[]>> = { 'gateway.example': ['203.0.113.20', '203.0.113.21'] };
  readonly alive: Record<TargetName, boolean> = { west: true, bar: true };
  /** Told of each request to a cluster, by name. */
  onRequest: ((cluster: string, request: Request) => void) | undefined;

  readonly #replicas: number;

  constructor({ flags, replicas = 1, isWaiting = false }: Setting = {}) {
    const { world, internet } = this;
    this.#replicas = replicas;
    internet.probed = (at) => (this.alive[at === PROBED.bar ? 'bar' : 'west'] ? 200 : undefined);
    internet.named = (host) => {
      const found = this.names[host];
      if (found === undefined) throw new Error(`queryA ENOTFOUND ${host}`);
      return found;
    };
    const cluster = (name: string, crds: readonly object[]): HistoryCluster =>
      new HistoryCluster({
        ...{ name: `${name}-of-a-scene`, internet, controllers: ['endpointslice-controller'] },
        objects: [...NAMESPACES.map(namespace), ...crds],
        onRequest: (request) => this.onRequest?.(name, request),
      });
    this.source = cluster('source', sourceCrds);
    this.targets = { west: cluster('west', targetCrds), bar: cluster('bar', targetCrds) };
    this.writes = new Writes(this.source, () => world.nowMs);
    for (const target of Object.values(this.targets)) {
      target.onOperatorWrite((request, { kind }) => {
        this.complaints.push(`${request.process.name} wrote a ${kind} to ${target.name}`);
      });
    }
    const complain = (what: string): void => void this.complaints.push(what);
    new Leases(this.source, () => world.nowMs, complain);
    watchSynced(this.source, complain);
    const clock = { aheadMs: 0, rate: 1 };
    this.operators = new Operators({
      ...{ world, internet, east: this.source },
      history: { endpoints: 'endpoints', replicas, clocks: [clock, clock] },
      flags: { failover: true, ...flags },
      probeConnectTo: Object.entries(LINKS).map(
        ([link, target]) => `probe-${link}.${LINKS_NAMESPACE}.svc=${PROBED[target]}`,
      ),
      complain,
    });
    if (!isWaiting) this.operators.startAll();
  }

  get clusters(): Readonly<Record<ClusterName, HistoryCluster>> {
    return { source: this.source, ...this.targets };
  }

  get state(): State {
    return stateOf(this.source.objects());
  }

  /** Ends the operator, each replica of it, and starts it again. */
  restart(how: 'stop' | 'kill', downMs = 1_000): void {
    for (let replica = 0; replica < this.#replicas; replica += 1) {
      this.operators.end(replica, how);
      this.world.after(this.world.users, downMs, () => this.operators.start(replica));
    }
  }

  /** Has a listener told of each request to a cluster, as an API server reads it. */
  listen(cluster: ClusterName, listener: (request: RequestInfo) => void): void {
    this.clusters[cluster].faults.latency(0, (request) => {
      listener(request);
      return false;
    });
  }

  /** Waits until nothing is written any more, Leases and Events left out. Complains if that does not end. */
  async rest(restMs = REST_MS): Promise<void> {
    const { world, writes } = this;
    const beganMs = world.nowMs;
    for (;;) {
      const sinceMs = Math.max(beganMs, writes.lastMs);
      if (world.nowMs >= sinceMs + restMs) return;
      if (world.nowMs > beganMs + DEADLINE_MS) {
        const last = writes.telling.slice(-4).map(({ id, type }) => `${type} ${id}`);
        this.complaints.push(`it does not come to rest: ${last.join('; ')}`);
        return;
      }
      await sleep(sinceMs + restMs - world.nowMs);
    }
  }

  async stop(): Promise<void> {
    await this.operators.stopAll();
    for (const cluster of Object.values(this.clusters)) cluster.stop();
  }
}

export interface Played<T> {
  /** Undefined if it did not come to its end. */
  readonly value: T | undefined;
  /** What must not have been. */
  readonly complaints: readonly string[];
}

/** A world has the timers of its thread to itself. */
let last: Promise<unknown> = Promise.resolve();

/** Plays something in a world, after those that were asked for before. */
export function exclusively<T>(play: () => Promise<T>): Promise<T> {
  const played = last.then(play);
  last = played.catch(() => undefined);
  return played;
}

/** Plays something in a scene of its own. */
export const inScene = <T>(setting: Setting, play: (scene: Scene) => Promise<T>): Promise<Played<T>> =>
  exclusively(() => playIn(setting, play));

async function playIn<T>(setting: Setting, play: (scene: Scene) => Promise<T>): Promise<Played<T>> {
  const scene = new Scene(setting);
  const { complaints } = scene;
  const value = await scene.world
    .run(async () => {
      const played = await play(scene);
      await scene.stop();
      return played;
    })
    .catch((error: unknown) => {
      complaints.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
      return undefined;
    });
  for (const { process, error } of scene.world.failures) complaints.push(`${process} threw ${String(error)}`);
  return { value, complaints };
}
