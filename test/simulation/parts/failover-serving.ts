/** Which operator serves each ServiceFailover, as its status says, and until when others did (rule J6). */

export interface Served {
  /** Its namespace; undefined: nobody does. */
  readonly operator: string | undefined;
  readonly sinceMs: number;
  /** When the ServiceFailover was created: one of its name may have been deleted then. */
  readonly createdMs: number;
  /** Until when others did, by their namespaces. */
  readonly untilMs: ReadonlyMap<string, number>;
}

export class Serving {
  readonly #served = new Map<string, Served>();

  /** Notes what a status says now. @param isNew whether the ServiceFailover has just been created */
  saw(key: string, operator: string | undefined, isNew: boolean, nowMs: number): void {
    const before = this.#served.get(key);
    if (before?.operator === operator && !isNew) return;
    const untilMs = new Map(before?.untilMs);
    if (before?.operator !== undefined) untilMs.set(before.operator, nowMs);
    const createdMs = isNew ? nowMs : (before?.createdMs ?? 0);
    this.#served.set(key, { operator, sinceMs: nowMs, createdMs, untilMs });
  }

  of(key: string): Served {
    return this.#served.get(key) ?? NOBODY;
  }
}

const NOBODY: Served = { operator: undefined, sinceMs: 0, createdMs: 0, untilMs: new Map() };
