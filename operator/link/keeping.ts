/**
 * What an invalid Link that was never served does for the cluster that it names, when no other Link has that cluster any
 * more (rule E9): it keeps the mirrors, which it takes over when it is valid, by recording the cluster on its own Lease.
 * So the Link that left them can be served for another cluster, and they are removed once this one is deleted.
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

  /** Takes the Lease. The probe Service is deleted: it has the name of the Link that left it, which needs it elsewhere. */
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

  /** Ends it. The Lease is released, and keeps the record of the mirrors. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.lease.release();
    await Promise.all([this.#mirrors.forget(), this.#env.metrics.forgetTarget(this.#cluster)]);
  }
}

/** Mirrors are kept as they are, so that none is reconciled. */
function observeNothing(key: string): Observed {
  throw new Error(`${key} is not reconciled while it is kept`);
}
