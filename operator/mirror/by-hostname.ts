/**
 * What there is of each pod of a headless Service, by hostname. A value never changes. One that is made from another
 * shares with it each group of pods in which nothing differs, so that what is derived from a group is derived once: an
 * event of one pod costs what its group costs, however many pods the Service has (rule E10).
 */

/** Pods that are looked at together. */
export type Group<T> = ReadonlyMap<string, T>;

/** Most groups: those of 10,000 pods have about 40. */
const GROUPS = 256;

/** Returns the group that a hostname is in. */
export function groupOf(hostname: string): number {
  let sum = 0;
  for (let at = 0; at < hostname.length; at += 1) sum = (sum * 31 + hostname.charCodeAt(at)) >>> 0;
  return sum % GROUPS;
}

export class ByHostname<T> {
  readonly groups: ReadonlyMap<number, Group<T>>;
  readonly size: number;

  private constructor(groups: ReadonlyMap<number, Group<T>>, size: number) {
    this.groups = groups;
    this.size = size;
  }

  /** Nobody. */
  static none<T>(): ByHostname<T> {
    return new ByHostname<T>(new Map(), 0);
  }

  static of<T>(entries: Iterable<readonly [hostname: string, value: T]>): ByHostname<T> {
    return ByHostname.none<T>().with(entries);
  }

  get(hostname: string): T | undefined {
    return this.groups.get(groupOf(hostname))?.get(hostname);
  }

  has(hostname: string): boolean {
    return this.groups.get(groupOf(hostname))?.has(hostname) === true;
  }

  *[Symbol.iterator](): Generator<readonly [string, T]> {
    for (const group of this.groups.values()) yield* group;
  }

  *keys(): Generator<string> {
    for (const group of this.groups.values()) yield* group.keys();
  }

  *values(): Generator<T> {
    for (const group of this.groups.values()) yield* group.values();
  }

  /** Returns this one with other values of some pods. @param changes a pod without a value goes */
  with(changes: Iterable<readonly [hostname: string, value: T | undefined]>): ByHostname<T> {
    const copied = new Map<number, Map<string, T>>();
    let { size } = this;
    for (const [hostname, value] of changes) {
      const at = groupOf(hostname);
      const group = copied.get(at) ?? new Map(this.groups.get(at));
      copied.set(at, group);
      size -= group.size;
      if (value === undefined) group.delete(hostname);
      else group.set(hostname, value);
      size += group.size;
    }
    if (copied.size === 0) return this;
    const groups = new Map<number, Group<T>>(this.groups);
    for (const [at, group] of copied) {
      if (group.size === 0) groups.delete(at);
      else groups.set(at, group);
    }
    return new ByHostname(groups, size);
  }

  /** Returns those pods of which this is true. The same object if it is true of all. */
  filter(isKept: (value: T, hostname: string) => boolean): ByHostname<T> {
    const gone = [...this].filter(([hostname, value]) => !isKept(value, hostname));
    return this.with(gone.map(([hostname]) => [hostname, undefined]));
  }

  /** Returns what is derived from each group; that of a group that has not changed is what `before` has. */
  deriveFrom<U>(
    before: { readonly from: ByHostname<T>; readonly to: ByHostname<U> } | undefined,
    derive: (group: Group<T>, before: Group<U> | undefined) => Group<U>,
  ): ByHostname<U> {
    const groups = new Map<number, Group<U>>();
    let size = 0;
    for (const [at, group] of this.groups) {
      const known = before?.to.groups.get(at);
      const derived = known !== undefined && before?.from.groups.get(at) === group ? known : derive(group, known);
      groups.set(at, derived);
      size += derived.size;
    }
    return new ByHostname(groups, size);
  }
}

/** Returns the groups of one that another does not have, each as a whole. */
export function* groupsBeside<T>(one: ByHostname<T>, other: ByHostname<T>): Generator<Group<T>> {
  if (one === other) return;
  for (const [at, group] of one.groups) if (other.groups.get(at) !== group) yield group;
}
