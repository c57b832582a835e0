/** Since when federated Services and ServiceImports have named the operator that serves them (rules I9, K7). */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import { operatorOf } from './import-objects.ts';

/** Time in which another operator that nothing is in the way of learns of a change. */
const NEWS_MS = 1_000;

export class Marks {
  /** By the object's uid: when every operator knows of its last change of operators. */
  readonly #knownMs = new Map<string, number>();
  readonly #undisturbedMs: () => number;

  /** @param undisturbedMs from when on nothing is in the way of operators */
  constructor(undisturbedMs: () => number) {
    this.#undisturbedMs = undisturbedMs;
  }

  /** One of them was written at that time. */
  saw({ object, previous }: StorageEvent, nowMs: number): void {
    if (operatorOf(object) === (previous && operatorOf(previous))) return;
    this.#knownMs.set(object.metadata.uid!, Math.max(nowMs, this.#undisturbedMs()) + NEWS_MS);
  }

  /** Whether what was sent at that time may have been sent without knowing whose the object is. */
  isNews({ metadata: { uid } }: KubeObject, sentMs: number): boolean {
    return sentMs < (this.#knownMs.get(uid!) ?? -Infinity);
  }
}
