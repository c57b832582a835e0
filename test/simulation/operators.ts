/**
 * The replicas of the operator, each a process with a clock of its own. A kubelet starts one again that has ended by
 * itself; the history stops, kills, pauses and starts them.
 */
import { parseOperatorConfig } from '../../operator/config/config.ts';
import { sleep } from '../../operator/kube/backoff.ts';
import { LeadershipLostError, runOperator } from '../../operator/main.ts';
import type { Readiness, startAdmin } from '../../operator/runtime/admin.ts';
import type { Logger } from '../../operator/runtime/logger.ts';
import type { FlagValues } from '../../operator/config/flags.ts';
import { ENDLESS, EventLoop } from '../../operator/runtime/turns.ts';
import type { HistoryCluster } from './cluster.ts';
import type { History } from './history.ts';
import type { Internet } from './world/internet.ts';
import type { SimulatedProcess, World } from './world/world.ts';

/** What the operator logged, as it came. */
export interface LogRecord {
  readonly atMs: number;
  readonly process: string;
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface OperatorsOptions {
  readonly history: Pick<
    History,
    'endpoints' | 'replicas' | 'clocks' | 'graceSeconds' | 'scrapesHang' | 'maxEndpointMirrors' | 'crowd' | 'failover'
  >;
  readonly world: World;
  readonly internet: Internet;
  readonly east: HistoryCluster;
  /** Flag `--probe-connect-to`. */
  readonly probeConnectTo: readonly string[];
  readonly complain: (what: string) => void;
  /** Over those that every history has. @default none */
  readonly flags?: FlagValues;
}

interface Running {
  readonly process: SimulatedProcess;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  /** What it answers to `/readyz`. */
  isReady: () => boolean;
}

/** Namespace of the second operator, which has no Link. */
export const SECOND_NAMESPACE = 'second';
/** Its place among the replicas, of which it is none. */
export const SECOND = 2;

/** Rule H2. */
const STOP_DEADLINE_MS = 5_000;

/** How long a kubelet takes to start a container again. */
const RESTART_MS = 1_000;

/** Nobody asks the admin port over the network; what keeps it open is part of a history. */
const adminOf =
  (
    { scrapesHang = false }: Pick<History, 'scrapesHang'>,
    onOpen: (ready: () => Readiness) => void,
  ): typeof startAdmin =>
  ({ ready }) => {
    onOpen(ready);
    return Promise.resolve({
      address: { host: 'example', port: 0 },
      close: () => (scrapesHang ? new Promise(() => undefined) : Promise.resolve()),
    });
  };

export class Operators {
  readonly logged: LogRecord[] = [];
  readonly #options: OperatorsOptions;
  /** By replica. */
  readonly #running = new Map<number, Running>();
  readonly #ending = new Map<number, Promise<void>>();
  #starts = 0;
  /** When a process was last started, ended, paused or resumed, by true time. */
  changedMs = 0;
  /** Until when one is paused, or was, by true time. */
  pausedUntilMs = 0;
  /** Writes until the process that makes the last of them crashes. */
  #writesLeft = Infinity;

  constructor(options: OperatorsOptions) {
    this.#options = options;
    options.east.onOperatorWrite(({ process }) => {
      if (--this.#writesLeft === 0) this.#crash(process);
    });
  }

  /** How many replicas run. */
  get count(): number {
    return [...this.#running.keys()].filter((replica) => replica !== SECOND).length;
  }

  /** Whether one runs, or the second operator does. */
  runs(replica: number): boolean {
    return this.#running.has(replica);
  }

  /** The process that runs as a pod of that name. */
  processOf(identity: string): SimulatedProcess | undefined {
    return [...this.#running].find(([replica]) => Operators.identity(replica) === identity)?.[1].process;
  }

  /** Whether all replicas that run are ready (H5). */
  get areReady(): boolean {
    return [...this.#running.values()].every(({ isReady }) => isReady());
  }

  /** The pods' names. */
  static identity(replica: number): string {
    return replica === SECOND ? `${SECOND_NAMESPACE}-0` : `linkspan-${replica}`;
  }

  startAll(): void {
    const { history, east } = this.#options;
    const isThere = east.get('v1', 'Namespace', undefined, SECOND_NAMESPACE) !== undefined;
    if (history.failover?.second === true && isThere) this.start(SECOND);
    for (let replica = 0; replica < this.#options.history.replicas; replica += 1) this.start(replica);
  }

  /** Starts a replica, unless it runs. One of its name that is ending has ended before. */
  start(replica: number): void {
    const ending = this.#ending.get(replica);
    if (ending !== undefined) void ending.then(() => this.#start(replica));
    else this.#start(replica);
  }

  #start(replica: number): void {
    if (this.#running.has(replica)) return;
    const { history, world, internet, east, probeConnectTo, flags } = this.#options;
    const parsed = parseOperatorConfig(
      {
        identity: Operators.identity(replica),
        leaderElect: history.replicas > 1,
        // The oracle has no memory of pods that were: at rest the grace period is over.
        endpointMirrorGrace: `${history.graceSeconds ?? 0}s`,
        endpoints: history.endpoints,
        ...(history.maxEndpointMirrors !== undefined && { maxEndpointMirrors: String(history.maxEndpointMirrors) }),
        maxServicePods: '5000',
        // Histories have none.
        failover: false,
        probeConnectTo,
        ...flags,
        ...(replica === SECOND && { namespace: SECOND_NAMESPACE, leaderElect: false }),
      },
      {},
    );
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
    const name = `${Operators.identity(replica)} (${++this.#starts})`;
    const process = world.process(name, history.clocks[replica]);
    const stop = new AbortController();
    const options = {
      config: parsed.value,
      log: this.#log(process),
      signal: stop.signal,
      access: east.accessFor(east.admit(Operators.identity(replica))),
      tuning: {
        network: internet.networkOf(process),
        serveAdmin: adminOf(history, (ready) => (running.isReady = () => world.as(process, () => ready().ok))),
        turns: history.crowd === undefined ? ENDLESS : new EventLoop(),
        metrics: { recorded: false },
      },
    };
    const running: Running = {
      isReady: () => false,
      process,
      stop,
      ended: world
        .in(process, () => runOperator(options))
        .catch((error: unknown) => {
          if (!(error instanceof LeadershipLostError)) this.#options.complain(`${name} ended with ${String(error)}`);
        })
        .then(() => {
          this.#remove(process);
          if (this.#running.get(replica) !== running) return;
          this.#running.delete(replica);
          world.after(world.users, RESTART_MS, () => this.start(replica));
        }),
    };
    this.#running.set(replica, running);
    this.changedMs = world.nowMs;
  }

  /** As SIGTERM does; or as SIGKILL. */
  end(replica: number, how: 'stop' | 'kill'): void {
    const running = this.#running.get(replica);
    if (running === undefined) return;
    const { world } = this.#options;
    const { process, stop, ended } = running;
    this.#running.delete(replica);
    if (how === 'kill') {
      this.#remove(process);
      return;
    }
    world.resume(process);
    world.after(process, 0, () => stop.abort(new Error('the history stops the operator')));
    const ending = this.#inTime(process, ended).then(() => void this.#ending.delete(replica));
    this.#ending.set(replica, ending);
  }

  /** As SIGSTOP and, after a while, SIGCONT: the machine sleeps. */
  pause(replica: number, ms: number): void {
    const process = this.#running.get(replica)?.process;
    if (process === undefined) return;
    const { world } = this.#options;
    world.pause(process);
    this.pausedUntilMs = Math.max(this.pausedUntilMs, world.nowMs + ms);
    world.after(world.users, ms, () => {
      world.resume(process);
      this.changedMs = world.nowMs;
    });
  }

  /** Lets the process that makes the n-th write from now on crash with it. */
  crashAfter(writes: number): void {
    this.#writesLeft = writes;
  }

  /** Everything runs, and goes on running. */
  calm(): void {
    this.#writesLeft = Infinity;
    for (const { process } of this.#running.values()) this.#options.world.resume(process);
    this.startAll();
  }

  async stopAll(): Promise<void> {
    for (const replica of [...this.#running.keys()]) this.end(replica, 'stop');
    await Promise.all(this.#ending.values());
  }

  #crash(process: SimulatedProcess): void {
    const [replica] = [...this.#running].find(([, running]) => running.process === process) ?? [];
    if (replica === undefined) return;
    const { world } = this.#options;
    this.end(replica, 'kill');
    world.after(world.users, RESTART_MS, () => this.start(replica));
  }

  #remove(process: SimulatedProcess): void {
    this.changedMs = this.#options.world.nowMs;
    this.#options.world.kill(process);
    this.#options.internet.disconnect(process);
  }

  /** An operator that is stopped ends in time (H2). One that does not is killed, as a kubelet does. */
  async #inTime(process: SimulatedProcess, ended: Promise<void>): Promise<void> {
    const deadline = new AbortController();
    const limitMs = (STOP_DEADLINE_MS + 10) / process.clock.rate;
    const late = sleep(limitMs, deadline.signal).then(() => {
      if (deadline.signal.aborted) return;
      this.#options.complain(`${process.name} has not ended in time (H2)`);
      this.#remove(process);
    });
    await Promise.race([ended, late]);
    deadline.abort();
  }

  #log(process: SimulatedProcess): Logger {
    const { world } = this.#options;
    const at = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) => {
      this.logged.push({ atMs: world.nowMs, process: process.name, level, message, fields });
    };
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  }
}
