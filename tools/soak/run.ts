/** One soak: faults while users change the targets, and rests at which everything is compared with what must be. */
import { setTimeout as sleep } from 'node:timers/promises';
import { UserAgent } from '../../crds/wire.ts';
import type { AuditEntry } from '../../test/cluster/index.ts';
import { LINKS_NAMESPACE } from '../../test/support/builders.ts';
import { FAULTS, type Fault } from './faults.ts';
import { type Growth, growthOf, kindsIn, readSnapshot } from './heap.ts';
import { isDerived, isLasting, isRoute, mayBeImported } from './shared.ts';
import { NAMESPACE, Stage, type StageOptions } from './stage.ts';
import { Users } from './users.ts';
import { type Findings, SAMPLE_MS } from './verdict.ts';

/** Time in which everything must be right again once nothing changes any more. */
const REST_DEADLINE_MS = 180_000;
/** Time in which connections, and what was under way, are done with. */
const SETTLE_MS = 3_000;
/** Between two faults. */
const QUIET_MS = 3_000;
/** Share of the time after which nothing ends the leader any more: its memory is watched from then on. */
const EARLY = 0.3;

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
const AGENTS: ReadonlySet<string> = new Set(Object.values(UserAgent));
const WRITTEN = new Set(['services', 'endpoints', 'endpointslices']);
const isStatus = ({ subresource }: { readonly subresource: string }): boolean => subresource === 'status';
/** Which writes of resources that only shared Services have are the operator's to make. */
const SHARED_WRITES: Readonly<Record<string, (of: { name: string; subresource: string }) => boolean>> = {
  servicefailovers: isStatus,
  serviceexports: isStatus,
  serviceimports: ({ name }) => mayBeImported(name),
  httproutes: ({ name }) => isRoute(name),
};

export interface SoakOptions extends StageOptions {
  readonly minutes: number;
  readonly progress: (what: string) => void;
}

export async function soak(options: SoakOptions): Promise<Findings> {
  options.progress(`${options.services} Services are exported to ${options.links} Links`);
  const stage = await Stage.set(options);
  try {
    return await new Soak(stage, options).run();
  } finally {
    await stage.stop();
  }
}

class Soak {
  readonly #stage: Stage;
  readonly #options: SoakOptions;
  readonly #users: Users;
  readonly #faults = new Map<string, number>(FAULTS.map(({ name }) => [name, 0]));
  readonly #wrong: string[] = [];
  readonly #foreign: string[] = [];
  #writes = 0;
  #rests = 0;
  #longestToRestSeconds = 0;

  constructor(stage: Stage, options: SoakOptions) {
    this.#stage = stage;
    this.#options = options;
    this.#users = new Users(stage);
  }

  async run(): Promise<Findings> {
    const { replicas, seen } = this.#stage;
    const { minutes, progress } = this.#options;
    replicas.start();
    seen.start();
    this.#users.start();
    await this.#rest('everything is mirrored');
    seen.count();
    const sampling = setInterval(() => void replicas.sample().catch(() => undefined), SAMPLE_MS);
    try {
      await this.#change(minutes * 60_000);
    } finally {
      clearInterval(sampling);
      await this.#users.stop();
    }
    progress('the end');
    return {
      minutes,
      faults: this.#faults,
      changes: this.#users.changes,
      writes: this.#writes,
      rests: this.#rests,
      lost: [...this.#wrong, ...seen.lost],
      foreign: this.#foreign,
      ended: replicas.ended,
      samples: replicas.samples,
      memories: replicas.memories,
      longestNotReadySeconds: seen.longestNotReady.seconds,
      longestToRestSeconds: this.#longestToRestSeconds,
      grown: this.#grown(),
    };
  }

  #grown(): readonly Growth[] | undefined {
    const { snapshots } = this.#stage.replicas;
    if (snapshots === undefined) return undefined;
    return growthOf(kindsIn(readSnapshot(snapshots.base)), kindsIn(readSnapshot(snapshots.latest)));
  }

  async #change(forMs: number): Promise<void> {
    const began = performance.now();
    const elapsed = (): number => performance.now() - began;
    for (let round = 0; round === 0 || elapsed() < forMs; round += 1) {
      this.#users.resume();
      for (const fault of FAULTS) {
        if (round > 0 && elapsed() >= forMs) break;
        if (round > 0 && fault.endsLeader && elapsed() > forMs * EARLY) continue;
        await sleep(QUIET_MS);
        await this.#make(fault);
      }
      await this.#rest(`rest ${round + 1}`);
    }
    // Memory is compared over the time in which one replica leads: a short soak goes on changing for a while.
    this.#users.resume();
    while (elapsed() < forMs) await sleep(500);
    await this.#rest('the last rest');
  }

  async #make(fault: Fault): Promise<void> {
    this.#options.progress(fault.name);
    await fault.make(this.#stage, this.#users);
    this.#faults.set(fault.name, (this.#faults.get(fault.name) ?? 0) + 1);
  }

  /** Waits until everything is as it must be, and notes what is not in time. */
  async #rest(what: string): Promise<void> {
    const { model, seen } = this.#stage;
    await this.#users.rest();
    const began = performance.now();
    const elapsed = (): number => performance.now() - began;
    let wrong = await this.#wrongNow();
    while (wrong.length > 0 && elapsed() < REST_DEADLINE_MS) {
      await sleep(500);
      wrong = await this.#wrongNow();
    }
    this.#wrong.push(...wrong);
    this.#rests += 1;
    this.#longestToRestSeconds = Math.max(this.#longestToRestSeconds, elapsed() / 1000);
    await this.#judgeWrites();
    const mirrors = [...model.services.keys()].filter((name) => model.expected(name) !== undefined).length;
    this.#options.progress(
      `${what}: ${mirrors} mirrors, right after ${(elapsed() / 1000).toFixed(1)} s; ${wrong.length} wrong, ${seen.lost.length} lost so far`,
    );
    await this.#remember();
    for (const each of wrong.slice(0, 10)) this.#options.progress(`  ${each}`);
  }

  /** Notes what the leader takes of memory once it has nothing to do any more. */
  async #remember(): Promise<void> {
    await sleep(SETTLE_MS);
    const memory = await this.#stage.replicas.remember();
    if (memory === undefined) return;
    const figures = [memory.residentMegabytes, memory.liveMegabytes].map((each) => each.toFixed(1));
    this.#options.progress(`  the leader: ${figures[0]} MB resident, ${figures[1]} MB of live heap`);
  }

  async #wrongNow(): Promise<readonly string[]> {
    const { model, seen } = this.#stage;
    const differences = model.differences(seen.mirrors);
    if (differences.length > 0) return differences;
    const shared = await this.#stage.shared.problems().catch((error: unknown) => [String(error)]);
    if (shared.length > 0) return shared;
    const unready = await this.#stage.unreadyLinks().catch(() => ['of an API server that does not answer']);
    return unready.map((name) => `Link ${name} is not Ready`);
  }

  async #judgeWrites(): Promise<void> {
    const { source, targets } = this.#stage;
    const written = (await source.audit()).filter(isWriteOfOurs);
    await source.clearAudit();
    this.#writes += written.filter(({ resource }) => resource !== 'leases').length;
    this.#foreign.push(...written.filter((entry) => !this.#mayWrite(entry)).map(nameOf));
    this.#wrong.push(...written.filter(isLoss).map((entry) => `${nameOf(entry)}, of what was there throughout`));
    for (const { cluster } of targets) {
      this.#foreign.push(...(await cluster.audit()).filter(isWriteOfOurs).map(nameOf));
      await cluster.clearAudit();
    }
    this.#foreign.push(...(await this.#stage.foreignWrites()));
  }

  #mayWrite({ resource, namespace = '', name = '', subresource = '' }: AuditEntry): boolean {
    if (resource === 'events') return true;
    if (namespace === LINKS_NAMESPACE) return ['links', 'leases'].includes(resource) || name.startsWith('probe-');
    if (namespace !== NAMESPACE) return false;
    if (resource in SHARED_WRITES) return SHARED_WRITES[resource]!({ name, subresource });
    return WRITTEN.has(resource) && (this.#stage.model.services.has(name) || isDerived(name));
  }
}

/** A write that the operator made, and that was not refused. */
const isWriteOfOurs = ({ verb, userAgent, code }: AuditEntry): boolean =>
  WRITES.has(verb) && AGENTS.has(userAgent) && code < 400;

/** Whether it ended what stays while something is shared throughout. */
const isLoss = ({ verb, resource, name = '' }: AuditEntry): boolean =>
  verb === 'delete' && ENDED.has(resource) && isLasting(name);

const ENDED = new Set(['services', 'endpointslices', 'serviceimports']);

const nameOf = ({ verb, resource, namespace = '', name = '' }: AuditEntry): string =>
  `${verb} ${resource} ${namespace}/${name}`;
