/** Since when federated Services and ServiceImports have named the operator that serves them (rules I9, K7). */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import { operatorOf } from './import-objects.ts';

/** Time in which another operator learns of a change. */
const NEWS_MS = 1_000;

export class Marks {
  /** By the object's uid: when its operator became another. */
  readonly #sinceMs = new Map<string, number>();

  /** One of them was written at that time. */
  saw({ object, previous }: StorageEvent, nowMs: number): void {
    if (operatorOf(object) !== (previous && operatorOf(previous))) this.#sinceMs.set(object.metadata.uid!, nowMs);
  }

  /** Whether what was sent at that time may have been sent without knowing whose the object is. */
  isNews({ metadata: { uid } }: KubeObject, sentMs: number): boolean {
    return sentMs < (this.#sinceMs.get(uid!) ?? -Infinity) + NEWS_MS;
  }
}
