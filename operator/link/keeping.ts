/**
 * Keeps the mirrors of a cluster for an invalid Link that names the cluster and whose Lease records no cluster (rule
 * E9). The mirrors were made for a former Link, which is deleted or names another cluster now. No other Link has the
 * cluster. Once this operator holds the Lease of the invalid Link, that Lease records the cluster. The Lease of the
 * former Link need not record it any more, so the former Link can be served for the cluster that it names now. When the
 * invalid Link becomes valid, its session uses these mirrors instead of new ones. When the invalid Link is deleted, the
 * mirrors are removed.
 */
import type { Observed } from '../mirror/observed.ts';
import { NOTHING } from '../mirror/manifests.ts';
import { PROBE_KEY } from '../source/owner.ts';
import type { Environment } from './environment.ts';
import type { LinkReport } from '../served/environment.ts';
import { Mirrors } from '../mirrors/mirrors.ts';
import { NO_FINDINGS, type SessionFindings } from './status/status.ts';
import { WriteLease } from './lease/write-lease.ts';

export class Keeping {
  /** Name of the invalid Link. */
  readonly link: string;
  readonly lease: WriteLease;
  readonly #cluster: string;
  readonly #env: Environment;
  readonly #mirrors: Mirrors;
  #unsubscribe: () => void = () => undefined;

  constructor(link: string, cluster: string, env: Environment, report: LinkReport) {
    this.link = link;
    this.#cluster = cluster;
    this.#env = env;
    this.lease = new WriteLease(link, cluster, env, report);
    this.#mirrors = new Mirrors({
      link,
      cluster,
      from: { keys: () => new Set<string>(), observe: observeNothing, probe: () => NOTHING },
      mayWrite: () => this.lease.mayWrite,
      env,
      report,
    });
  }

  get cluster(): string {
    return this.#cluster;
  }

  findings(): SessionFindings {
    return { ...NO_FINDINGS, heldBy: this.lease.heldBy };
  }

  /**
   * Starts the session: it acquires the Lease of the invalid Link, and then deletes the probe Service of the former
   * Link. The former Link might need the name of its probe Service again when it is served for another cluster.
   */
  start(): void {
    const { source, log } = this.#env;
    log.info({ link: this.link, cluster: this.#cluster }, 'keeping the mirrors of the cluster for the invalid Link');
    const add = (key: string): void => {
      if (key === PROBE_KEY) this.#mirrors.add(key);
    };
    this.#unsubscribe = source.subscribe(this.#cluster, add);
    this.lease.run((until) => {
      add(PROBE_KEY);
      return this.#mirrors.run(until);
    });
  }

  /** Stops the session. The mirrors stay. The Lease is released, but still records the cluster. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.lease.release();
    await Promise.all([this.#mirrors.forget(), this.#env.metrics.forgetTarget(this.#cluster)]);
  }
}

/** Throws an error. This function is never called, because kept mirrors are not reconciled. */
function observeNothing(key: string): Observed {
  throw new Error(`${key} is not reconciled while it is kept`);
}
