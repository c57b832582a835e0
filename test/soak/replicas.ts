/**
 * Two replicas of the operator, each a process of its own. One that ends is started anew, as a Deployment does it. The
 * memory and the open files of the one that leads are sampled.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorProcess } from '../support/operator-process.ts';
import type { Sample } from './verdict.ts';

const REPLICAS = 2;
const RESTART_MS = 1_000;

export class Replicas {
  readonly #flags: readonly string[];
  readonly #running = new Map<string, OperatorProcess>();
  readonly #samples: Sample[] = [];
  #started = 0;
  #ended = 0;
  #isStopping = false;
  /** Identity of the replica that led when it was last asked. */
  #leader: string | undefined;

  /** @param flags of `linkspan operator`, besides the identity */
  constructor(flags: readonly string[]) {
    this.#flags = flags;
  }

  /** Samples of the present leader, since it began to lead. */
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
    if (identity !== this.#leader) this.#samples.length = 0;
    this.#leader = identity;
    const bytes = await operator.metric('process_resident_memory_bytes');
    this.#samples.push({ megabytes: bytes / 1024 ** 2, files: await operator.metric('process_open_fds') });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#running.values()].map((operator) => operator.stop()));
  }

  #startOne(): void {
    this.#started += 1;
    const identity = `linkspan-${this.#started}`;
    const operator = new OperatorProcess({ flags: [...this.#flags, `--identity=${identity}`] });
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
