/**
 * What the operator has been refused. By rule H4 a write that is refused, by 403 or by 5xx, is tried again on a change, and at
 * most five minutes later: until then, what it is to put right is as it is.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';

/** The longest wait before a retry (H4), by a clock that may run slowly. */
export const RETRIED_MS = 300_000 * 1.04;

/** Names an object in requests: the plural of its kind, and where it is. */
export interface Written {
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

interface Refusal {
  readonly atMs: number;
  /** Name of the pod, which is also that of its user. */
  readonly identity: string;
  /** The process of the pod: none but this one waits. */
  readonly process: object | undefined;
}

export class Refused {
  readonly #nowMs: () => number;
  readonly #processOf: (identity: string) => object | undefined;
  /** The last one of each object. */
  readonly #refusals = new Map<string, Refusal>();

  /** @param processOf returns the process that now runs as a pod */
  constructor(nowMs: () => number, processOf: (identity: string) => object | undefined) {
    this.#nowMs = nowMs;
    this.#processOf = processOf;
  }

  /** A write by a pod was refused. */
  refused(of: Written, identity: string): void {
    this.#refusals.set(keyOf(of), { atMs: this.#nowMs(), identity, process: this.#processOf(identity) });
  }

  /** The operator wrote an object. */
  written(of: Written): void {
    this.#refusals.delete(keyOf(of));
  }

  /**
   * Returns by when an object is written whose last write was refused.
   * @param sinceMs since when there is what is to be written: it was tried again then, whatever was refused before
   * @returns -Infinity if none was refused since then, or if who was refused is gone
   */
  retriedMs(resource: string, { metadata: { namespace, name } }: KubeObject, sinceMs: number): number {
    const refusal = this.#refusals.get(keyOf({ resource, namespace, name }));
    if (refusal === undefined || refusal.atMs < sinceMs) return -Infinity;
    const { atMs, identity, process } = refusal;
    return process !== undefined && this.#processOf(identity) === process ? atMs + RETRIED_MS : -Infinity;
  }
}

const keyOf = ({ resource, namespace, name }: Written): string => `${resource} ${namespace}/${name}`;
