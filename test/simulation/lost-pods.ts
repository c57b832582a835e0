/**
 * Endpoint mirrors of pods that a target has had ever since they were made must not be deleted (D5, D6, E10): not at a
 * limit, not while slices are unknown, and not for what two slices say. Judged by the Service whose slices are made by
 * hand, since nothing else wants the names of its pods.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { HistoryCluster } from './cluster.ts';
import type { TargetName } from './command.ts';
import { EXPORT_LABEL, HAND } from './target-users.ts';

const NAME = new RegExp(`^(${HAND}-\\d+)-west$`);

/** The pod that a Service of the source cluster stands for, by its name. */
const hostnameOf = ({ metadata }: KubeObject): string | undefined => NAME.exec(metadata.name)?.[1];

const isBehind = ({ metadata }: KubeObject): boolean => metadata.labels?.['kubernetes.io/service-name'] === HAND;

export class LostPods {
  readonly #nowMs: () => number;
  readonly #complain: (what: string) => void;
  readonly #targets: () => readonly HistoryCluster[];
  /** Since when each pod has been listed, by hostname. */
  readonly #listedMs = new Map<string, number>();
  /** Since when each has an endpoint mirror as the operator made it. */
  readonly #madeMs = new Map<string, number>();
  /** When something changed for which all of them may go. */
  #excusedMs = 0;

  readonly #isTaken: (keys: readonly string[]) => boolean;

  /**
   * @param targets what the cluster of the pods is now
   * @param isTaken whether its Link, as it is now, takes away any of these keys
   */
  constructor(
    nowMs: () => number,
    complain: (what: string) => void,
    targets: () => readonly HistoryCluster[],
    isTaken: (keys: readonly string[]) => boolean,
  ) {
    this.#targets = targets;
    this.#isTaken = isTaken;
    this.#nowMs = nowMs;
    this.#complain = complain;
  }

  /** Links, a namespace or the target as a whole are others: what was mirrored before may go. */
  excuse(): void {
    this.#excusedMs = this.#nowMs();
  }

  /** Notes a change of a Service or a slice in a target. */
  targetChanged(name: TargetName, target: HistoryCluster, object: KubeObject): void {
    if (name !== 'west') return;
    if (object.kind === 'Service' && object.metadata.name === HAND) this.excuse();
    if (object.kind === 'EndpointSlice' && isBehind(object)) this.#list(target);
  }

  /** A target is another cluster, or has lost something without an event. */
  targetReplaced(name: TargetName, target: HistoryCluster): void {
    if (name !== 'west') return;
    this.excuse();
    this.#list(target);
  }

  #list(target: HistoryCluster): void {
    const slices = target.list('discovery.k8s.io/v1', 'EndpointSlice').filter(isBehind);
    const listed = new Set(
      slices.flatMap((slice) =>
        ((slice['endpoints'] ?? []) as readonly { hostname?: string }[]).map(({ hostname = '' }) => hostname),
      ),
    );
    for (const hostname of this.#listedMs.keys()) if (!listed.has(hostname)) this.#listedMs.delete(hostname);
    for (const hostname of listed) if (!this.#listedMs.has(hostname)) this.#listedMs.set(hostname, this.#nowMs());
  }

  /** Notes that a Service of the source cluster was made, or changed by somebody else. */
  written(service: KubeObject): void {
    const hostname = hostnameOf(service);
    if (hostname !== undefined) this.#madeMs.set(hostname, this.#nowMs());
  }

  /** Judges a Service of the source cluster that the operator deleted. */
  deleted(service: KubeObject): void {
    const hostname = hostnameOf(service) ?? '';
    const madeMs = this.#madeMs.get(hostname) ?? 0;
    this.#madeMs.delete(hostname);
    const listedMs = this.#listedMs.get(hostname);
    if (listedMs === undefined || listedMs > madeMs || this.#excusedMs >= madeMs) return;
    const isThere = (target: HistoryCluster): boolean =>
      target.get('v1', 'Service', 'shop', HAND)?.metadata.labels?.[EXPORT_LABEL] === 'true';
    const targets = this.#targets();
    // Without a Link they go, also those that were made just after it went.
    if (targets.length === 0 || !targets.every(isThere)) return;
    // Made by an operator that read its Link late: that had changed before.
    if (this.#isTaken([`shop/${HAND}`, `shop/${HAND}#${hostname}`])) return;
    this.#complain(
      `endpoint mirror ${service.metadata.name} was deleted, though its pod has been there all along (D5)`,
    );
  }
}
