/**
 * Two replicas of the operator, each a process of its own, with the settings of the image. One that ends is started anew, as a Deployment does it. The
 * memory and the open files of the one that leads are sampled.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../../test/cluster/real/temporary-folder.ts';
import { OperatorProcess } from '../../test/support/operator-process.ts';
import { SHIPPED_ENVIRONMENT, SHIPPED_NODE_FLAGS } from '../../test/support/shipped.ts';
import { HEAP_VARIABLE, snapshotsOf } from './heap.ts';
import { type Memory, memoryFlags, MEMORY_FILE, memoryOf } from './memory.ts';
import type { Sample } from './verdict.ts';

const REPLICAS = 2;
const RESTART_MS = 1_000;

export interface ReplicasOptions {
  /** Of `linkspan operator`, besides the identity. */
  readonly flags: readonly string[];
  /** Whether they run from `dist`. */
  readonly built: boolean;
  /** Whether they write snapshots of their heap when they are asked for their memory. */
  readonly heap: boolean;
}

export class Replicas {
  readonly #options: ReplicasOptions;
  readonly #running = new Map<string, OperatorProcess>();
  readonly #samples: Sample[] = [];
  readonly #memories: Memory[] = [];
  readonly #folder = temporaryFolder('soak');
  #started = 0;
  #ended = 0;
  #isStopping = false;
  /** Identity of the replica that led when it was last asked. */
  #leader: string | undefined;

  constructor(options: ReplicasOptions) {
    this.#options = options;
  }

  /** Samples of the present leader, since it began to lead; while things change. */
  get samples(): readonly Sample[] {
    return this.#samples;
  }

  /** How often a replica ended by itself. */
  get ended(): number {
    return this.#ended;
  }

  start(): void {
    while (this.#running.size < REPLICAS) this.#startOne();
  }

  /** SIGKILL to the one that leads. */
  async killLeader(): Promise<void> {
    const [identity, operator] = await this.#findLeader();
    this.#running.delete(identity);
    await operator.kill();
    this.start();
  }

  /** Samples the leader, if one answers. */
  async sample(): Promise<void> {
    const [identity, operator] = (await this.#whoLeads()) ?? [];
    if (identity === undefined || operator === undefined) return;
    this.#sawLeader(identity);
    const bytes = await operator.metric('process_resident_memory_bytes');
    this.#samples.push({ megabytes: bytes / 1024 ** 2, files: await operator.metric('process_open_fds') });
  }

  /** Memory of the present leader at each rest, since it began to lead. */
  get memories(): readonly Memory[] {
    return this.#memories;
  }

  /** Asks the leader what it takes of memory. */
  async remember(): Promise<Memory | undefined> {
    const [identity, operator] = (await this.#whoLeads()) ?? [];
    if (identity === undefined || operator === undefined) return undefined;
    this.#sawLeader(identity);
    const memory = await memoryOf(operator, this.#memoryFile(identity));
    if (memory !== undefined) this.#memories.push(memory);
    return memory;
  }

  /** The snapshots of the heap of the present leader; undefined if there are not two. */
  get snapshots(): ReturnType<typeof snapshotsOf> | undefined {
    if (this.#leader === undefined) return undefined;
    const files = snapshotsOf(this.#memoryFile(this.#leader));
    return existsSync(files.latest) ? files : undefined;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#running.values()].map((operator) => operator.stop()));
  }

  #sawLeader(identity: string): void {
    if (identity !== this.#leader) this.#samples.length = this.#memories.length = 0;
    this.#leader = identity;
  }

  #startOne(): void {
    this.#started += 1;
    const identity = `linkspan-${this.#started}`;
    const operator = new OperatorProcess({
      flags: [...this.#options.flags, `--identity=${identity}`],
      nodeFlags: [...SHIPPED_NODE_FLAGS, ...memoryFlags],
      env: {
        ...SHIPPED_ENVIRONMENT,
        [MEMORY_FILE]: this.#memoryFile(identity),
        ...(this.#options.heap && { [HEAP_VARIABLE]: 'yes' }),
      },
      built: this.#options.built,
    });
    this.#running.set(identity, operator);
    void operator.died().then(async () => {
      if (this.#isStopping) return;
      this.#ended += 1;
      await operator.kill();
      await sleep(RESTART_MS);
      this.#running.delete(identity);
      if (!this.#isStopping) this.start();
    });
  }

  #memoryFile(identity: string): string {
    return join(this.#folder, identity);
  }

  async #findLeader(): Promise<readonly [string, OperatorProcess]> {
    for (;;) {
      const leader = await this.#whoLeads();
      if (leader !== undefined) return leader;
      await sleep(200);
    }
  }

  async #whoLeads(): Promise<readonly [string, OperatorProcess] | undefined> {
    for (const each of this.#running) {
      const leads = await each[1].metric('leader_election_master_status').catch(() => 0);
      if (leads === 1) return each;
    }
    return undefined;
  }
}
