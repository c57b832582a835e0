/**
 * Records Events on objects in the form that kubectl expects: a repetition raises the count of one Event. Recording never
 * blocks and never throws, and is bounded: a thousand distinct Events in memory, one write a minute for each.
 */
import { createHash } from 'node:crypto';
import { sleep } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import { toTime } from '../kube/conditions.ts';
import { ApiError, describe, isConflict, isNotFound } from '../kube/errors.ts';
import type { Logger } from './logger.ts';
import { EVENTS, type KubeObject } from '../kube/objects.ts';

/** The object that an Event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  /** Undefined if the object has no namespace. */
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'read' | 'create' | 'patch'>;
  /** Where Events about objects without a namespace go. @default default */
  readonly namespace?: string;
  /** Name of the program that reports. */
  readonly component: string;
  /** Name of the pod that reports. */
  readonly instance: string;
  readonly log: Logger;
}

/** A v1 Event, with the fields that are read here. */
interface KubeEvent extends KubeObject {
  readonly count?: number | null;
}

interface Entry {
  readonly regarding: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly namespace: string;
  readonly name: string;
  /** How often it was recorded and not yet written. */
  pending: number;
  /** The Event's count when it was last written; undefined while it is not known to exist. */
  count: number | undefined;
  first: Date;
  last: Date;
  /** On the monotonic clock. */
  nextWriteMs: number;
  timer: NodeJS.Timeout | undefined;
}

/** Shortest time between two writes of one Event. */
export const EVENT_PERIOD_MS = 60_000;

/** Distinct Events remembered; those recorded longest ago are forgotten first. */
const MAX_ENTRIES = 1000;

/** Longest message of an Event, in bytes of UTF-8: the limit of events.k8s.io. */
export const MAX_EVENT_MESSAGE = 1024;

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  /** By name, the latest last. */
  readonly #entries = new Map<string, Entry>();
  readonly #due = new Set<Entry>();
  readonly #closed = new AbortController();
  #writing: Promise<void> | undefined;
  #failing = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /** Records an Event. It is written when it is due, or dropped if that fails for good. */
  record(regarding: ObjectReference, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const entry = this.#entry(regarding, type, reason, cutBytes(message, MAX_EVENT_MESSAGE));
    entry.pending += 1;
    entry.last = new Date();
    this.#schedule(entry);
  }

  /** Writes what is pending, without the usual pauses; resolves when that is done, or after `deadlineMs`. */
  async flush(deadlineMs: number): Promise<void> {
    for (const entry of this.#entries.values()) {
      if (entry.pending === 0) continue;
      entry.nextWriteMs = 0;
      this.#schedule(entry);
    }
    const done = new AbortController();
    await Promise.race([this.#writing, sleep(deadlineMs, done.signal)]);
    done.abort();
  }

  /** Flushes, then ends for good; nothing is written after it. */
  async close(deadlineMs: number): Promise<void> {
    await this.flush(deadlineMs);
    this.#closed.abort();
    for (const entry of this.#entries.values()) clearTimeout(entry.timer);
    this.#entries.clear();
    this.#due.clear();
  }

  #entry(regarding: ObjectReference, type: Entry['type'], reason: string, message: string): Entry {
    const namespace = regarding.namespace ?? this.#options.namespace ?? 'default';
    const name = eventName(regarding, [this.#options.component, type, reason, message]);
    const key = `${namespace}/${name}`;
    const now = new Date();
    const entry = this.#entries.get(key) ?? {
      ...{ regarding, type, reason, message, namespace, name },
      ...{ pending: 0, count: undefined, first: now, last: now, nextWriteMs: 0, timer: undefined },
    };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    for (const [oldest, forgotten] of this.#entries) {
      if (this.#entries.size <= MAX_ENTRIES) break;
      clearTimeout(forgotten.timer);
      this.#due.delete(forgotten);
      this.#entries.delete(oldest);
    }
    return entry;
  }

  /** Writes the entry now if its minute is over, else then. */
  #schedule(entry: Entry): void {
    if (this.#isClosed()) return;
    const waitMs = entry.nextWriteMs - performance.now();
    if (waitMs > 0) {
      entry.timer ??= setTimeout(() => {
        entry.timer = undefined;
        this.#schedule(entry);
      }, waitMs).unref();
      return;
    }
    clearTimeout(entry.timer);
    entry.timer = undefined;
    this.#due.add(entry);
    this.#writing ??= this.#writeDue();
  }

  async #writeDue(): Promise<void> {
    for (const entry of this.#due) {
      this.#due.delete(entry);
      entry.nextWriteMs = performance.now() + EVENT_PERIOD_MS;
      const recorded = entry.pending;
      try {
        entry.count = await this.#write(entry, recorded);
        entry.pending -= recorded;
        if (this.#failing) this.#options.log.info({}, 'events are written again');
        this.#failing = false;
      } catch (error) {
        // What the server refuses now it refuses later: it is tried again when it is recorded again.
        if (isRefused(error)) entry.pending -= recorded;
        if (!this.#failing && !this.#isClosed()) {
          this.#options.log.warn({ error: describe(error) }, 'an event could not be written');
        }
        this.#failing = true;
      }
      if (entry.pending > 0) this.#schedule(entry);
    }
    this.#writing = undefined;
  }

  #isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** Raises the count of the Event, or creates it. @returns its new count */
  async #write(entry: Entry, recorded: number): Promise<number> {
    const { client } = this.#options;
    const signal = this.#closed.signal;
    let before = entry.count;
    if (before === undefined) {
      try {
        return await this.#create(entry, recorded);
      } catch (error) {
        if (!isConflict(error)) throw error;
        const existing = await client.read<KubeEvent>(EVENTS, entry.namespace, entry.name, signal);
        before = existing.count ?? 1;
      }
    }
    const count = before + recorded;
    try {
      await client.patch<KubeEvent>(EVENTS, entry, { count, lastTimestamp: toTime(entry.last) }, signal);
      return count;
    } catch (error) {
      // The API server forgets Events after an hour: the next one starts afresh.
      if (!isNotFound(error)) throw error;
      entry.first = entry.last;
      return this.#create(entry, recorded);
    }
  }

  async #create(entry: Entry, count: number): Promise<number> {
    const { client, component, instance } = this.#options;
    const { regarding, namespace, name, type, reason, message } = entry;
    const event = {
      metadata: { namespace, name },
      involvedObject: regarding,
      ...{ type, reason, message, count },
      firstTimestamp: toTime(entry.first),
      lastTimestamp: toTime(entry.last),
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
    };
    await client.create<KubeEvent>(EVENTS, event, this.#closed.signal);
    return count;
  }
}

const isRefused = (error: unknown): boolean =>
  error instanceof ApiError && error.code >= 400 && error.code < 500 && ![401, 408, 409, 429].includes(error.code);

/** Name of an Event: the same for the same content on the same object in every replica, so that counts survive a restart. */
function eventName(regarding: ObjectReference, content: readonly string[]): string {
  const { kind, namespace = '', name, uid = '' } = regarding;
  const hash = createHash('sha256').update(JSON.stringify([kind, namespace, name, uid, ...content]));
  const prefix = name.slice(0, 200).replace(/[^a-z0-9]+$/, '');
  return `${prefix}.${hash.digest('hex').slice(0, 16)}`;
}

function cutBytes(text: string, max: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= max) return text;
  const ellipsis = '…';
  // Streaming leaves out a character that the cut has split.
  return new TextDecoder().decode(bytes.subarray(0, max - Buffer.byteLength(ellipsis)), { stream: true }) + ellipsis;
}
