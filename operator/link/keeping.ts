/**
 * Keeps the mirrors of a cluster for an invalid Link that was never served, once no other Link has the cluster (rule
 * E9). It records the cluster on the Lease of the invalid Link, which takes the mirrors over when it becomes valid.
 * The Link that left them can then be served for another cluster. The mirrors are removed once the invalid Link is
 * deleted.
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
  /** Name of the Link. */
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
   * Takes the Lease, and deletes the probe Service: it has the name of the Link that left it, which needs the name
   * for another cluster.
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

  /** Stops. The Lease is released, and still records the mirrors. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.lease.release();
    await Promise.all([this.#mirrors.forget(), this.#env.metrics.forgetTarget(this.#cluster)]);
  }
}

/** Is never called: mirrors stay as they are, and none is reconciled. */
function observeNothing(key: string): Observed {
  throw new Error(`${key} is not reconciled while it is kept`);
}
