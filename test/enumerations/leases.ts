/**
 * Looks on while a scene is played: whatever the operator writes, it writes under its Leases (H1, H2). A write is sent while they
 * are held, by true time, and takes effect before they are released. Judged by what the API server has seen alone.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import type { HistoryCluster, Request } from '../simulation/cluster.ts';
import { idOf } from './writes.ts';

/** Lease of the replica that leads. */
const LEADER = 'linkspan-operator';

/** A Lease as one process acquired or renewed it. */
interface Tenure {
  readonly process: string;
  readonly lease: string;
  /** The cluster that it records. */
  readonly cluster: string | undefined;
  readonly fromMs: number;
  /** When it expires unless it is renewed. */
  readonly untilMs: number;
  /** When it was released, or deleted. */
  releasedMs?: number;
}

export class Leases {
  readonly #tenures: Tenure[] = [];
  readonly #nowMs: () => number;
  readonly #complain: (what: string) => void;

  constructor(source: HistoryCluster, nowMs: () => number, complain: (what: string) => void) {
    this.#nowMs = nowMs;
    this.#complain = complain;
    source.onOperatorWrite((request, { kind }, event) => {
      if (kind === 'Lease') this.#changed(request, event);
      else this.#written(request, event);
    });
  }

  #changed({ process, sentMs }: Request, { type, object }: StorageEvent): void {
    const { name, annotations } = object.metadata;
    const { holderIdentity = '', leaseDurationSeconds = 0 } = object.spec as {
      readonly holderIdentity?: string;
      readonly leaseDurationSeconds?: number;
    };
    if (type === 'DELETED' || holderIdentity === '') {
      const given = this.#tenures.filter((each) => each.process === process.name && each.lease === name);
      for (const tenure of given) tenure.releasedMs ??= this.#nowMs();
      return;
    }
    this.#tenures.push({
      ...{ process: process.name, lease: name, cluster: annotations?.['linkspan.dev/target-cluster'] },
      ...{ fromMs: sentMs, untilMs: sentMs + leaseDurationSeconds * 1000 },
    });
  }

  #written(request: Request, { type, object, previous }: StorageEvent): void {
    const what = `${type} ${idOf(object)}`;
    const isElected = this.#tenures.some(({ lease }) => lease === LEADER);
    if (isElected) this.#mustBeHeld(request, what, LEADER, ({ lease }) => lease === LEADER);
    const cluster = clusterOf(object) ?? (previous && clusterOf(previous));
    if (cluster !== undefined)
      this.#mustBeHeld(request, what, `of cluster ${cluster}`, (tenure) => tenure.cluster === cluster);
  }

  #mustBeHeld({ process, sentMs }: Request, what: string, lease: string, isMeant: (tenure: Tenure) => boolean): void {
    const held = this.#tenures.filter(
      (each) => each.process === process.name && isMeant(each) && each.fromMs <= sentMs && sentMs < each.untilMs,
    );
    if (held.length === 0)
      this.#complain(`${what} was sent by ${process.name}, which does not hold Lease ${lease} (H2)`);
    else if (held.every(({ releasedMs = Infinity }) => releasedMs < this.#nowMs()))
      this.#complain(`${what} took effect after ${process.name} had released Lease ${lease} (L69)`);
  }
}

/** The cluster that an object is written for, by its label. */
const clusterOf = ({ metadata: { labels } }: KubeObject): string | undefined =>
  labels?.['mirror.linkerd.io/cluster-name'];
