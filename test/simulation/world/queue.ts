/** What is to happen, by time; what happens at one time is in a random order. A binary heap. */

/** Something that will happen in a process. */
export interface Entry<Owner> {
  /** Milliseconds of true time. */
  atMs: number;
  /** Decides between entries of one time. */
  order: number;
  readonly owner: Owner;
  /** Undefined once it has been called off. */
  run: (() => void) | undefined;
}

/** How many entries may be called off, and more than half of them, before they are taken out. */
const MAX_OFF = 64;

export class EventQueue<Owner> {
  #heap: Entry<Owner>[] = [];
  /** How many entries of the heap have been called off, at most. */
  #off = 0;

  /** An entry has been called off, as most deadlines are. */
  calledOff(): void {
    this.#off += 1;
    if (this.#off <= MAX_OFF || 2 * this.#off <= this.#heap.length) return;
    const left = this.#heap.filter(({ run }) => run !== undefined);
    this.#heap = [];
    this.#off = 0;
    for (const entry of left) this.push(entry);
  }

  push(entry: Entry<Owner>): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  /** Takes the next one out. */
  pop(): Entry<Owner> | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

const isBefore = <O>(a: Entry<O>, b: Entry<O>): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
