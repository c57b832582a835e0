/**
 * Records Events on objects in the form that kubectl expects: a repetition raises the count of one Event. Recording never
 * blocks and never throws, and is bounded as client-go's recorder is (rule G3): a thousand distinct Events in memory, one
 * write a minute for each, and for each object a burst of writes, then one in five minutes. What is recorded about one
 * object with one reason becomes one Event, with a count, once there are ten that differ.
 */
import { createHash } from 'node:crypto';
import { sleep } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import { toTime } from '../kube/conditions.ts';
import { ApiError, describe, isConflict, isNotFound } from '../kube/errors.ts';
import type { Logger } from './logger.ts';
import { EVENTS, type KubeObject } from '../kube/objects.ts';
import { EVENT_RATE, TokenBucket } from './rate.ts';

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
  /** That of the latest, if the Event stands for many that differ. */
  message: string;
  /** Whether the Event stands for many that differ. */
  readonly isAggregate: boolean;
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

/** Events about one object with one reason that are written one by one. */
const MAX_DISTINCT = 10;

/** After so long without one, Events with one reason about one object are written one by one again. */
const GROUP_MEMORY_MS = 600_000;

/** Distinct Events remembered; those recorded longest ago are forgotten first. */
const MAX_ENTRIES = 1000;

/** Longest message of an Event, in bytes of UTF-8: the limit of events.k8s.io. */
export const MAX_EVENT_MESSAGE = 1024;

/** Events about one object with one reason. */
interface Group {
  /** Names of those that are written one by one. */
  readonly names: Set<string>;
  /** When the latest was recorded, on the monotonic clock. */
  readonly lastMs: number;
}

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  /** By object, the latest last. */
  readonly #buckets = new Map<string, TokenBucket>();
  /** By object, type and reason, the latest last. */
  readonly #groups = new Map<string, Group>();
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
    const group = [this.#options.component, type, reason];
    const own = eventName(regarding, [...group, message]);
    const isAggregate = this.#isAggregate(eventName(regarding, group), own);
    const name = isAggregate ? eventName(regarding, group) : own;
    const key = `${namespace}/${name}`;
    const now = new Date();
    const entry = this.#entries.get(key) ?? {
      ...{ regarding, type, reason, message, isAggregate, namespace, name },
      ...{ pending: 0, count: undefined, first: now, last: now, nextWriteMs: 0, timer: undefined },
    };
    entry.message = message;
    remember(this.#entries, key, entry, (forgotten) => {
      clearTimeout(forgotten.timer);
      this.#due.delete(forgotten);
    });
    return entry;
  }

  /** Whether an Event is one too many of its group, and becomes part of the one that stands for all others. */
  #isAggregate(group: string, name: string): boolean {
    const nowMs = performance.now();
    const known = this.#groups.get(group);
    const isRecent = known !== undefined && nowMs - known.lastMs < GROUP_MEMORY_MS;
    const names = isRecent ? known.names : new Set<string>();
    if (names.size < MAX_DISTINCT) names.add(name);
    remember(this.#groups, group, { names, lastMs: nowMs });
    return !names.has(name);
  }

  #bucketOf({ apiVersion, kind, namespace, name, uid }: ObjectReference): TokenBucket {
    const key = JSON.stringify([apiVersion, kind, namespace, name, uid]);
    const bucket = this.#buckets.get(key) ?? new TokenBucket(EVENT_RATE);
    remember(this.#buckets, key, bucket);
    return bucket;
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
      const bucket = this.#bucketOf(entry.regarding);
      entry.nextWriteMs = performance.now() + (bucket.waitMs() || EVENT_PERIOD_MS);
      const recorded = entry.pending;
      if (bucket.waitMs() > 0) {
        // What is written must not end before its caller knows of it.
        await Promise.resolve();
        this.#schedule(entry);
        continue;
      }
      try {
        entry.count = await this.#write(entry, recorded);
        bucket.take();
        entry.pending -= recorded;
        if (this.#failing) this.#options.log.info({}, 'events are written again');
        this.#failing = false;
      } catch (error) {
        // What the server refuses now it refuses later: it is tried again when it is recorded again.
        if (isRefused(error)) {
          bucket.take();
          entry.pending -= recorded;
        }
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
      const change = {
        count,
        lastTimestamp: toTime(entry.last),
        ...(entry.isAggregate && { message: textOf(entry, count) }),
      };
      await client.patch<KubeEvent>(EVENTS, entry, change, signal);
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
    const { regarding, namespace, name, type, reason } = entry;
    const event = {
      metadata: { namespace, name },
      involvedObject: regarding,
      ...{ type, reason, message: textOf(entry, count), count },
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

/** The message of an Event that was recorded so many times. */
const textOf = ({ isAggregate, message }: Entry, count: number): string =>
  isAggregate ? cutBytes(`and ${count} more with this reason, the latest: ${message}`, MAX_EVENT_MESSAGE) : message;

/** Puts a value last in a map of at most {@link MAX_ENTRIES}: those put longest ago are forgotten. */
function remember<T>(
  map: Map<string, T>,
  key: string,
  value: T,
  onForgotten: (value: T) => void = () => undefined,
): void {
  map.delete(key);
  map.set(key, value);
  for (const [oldest, forgotten] of map) {
    if (map.size <= MAX_ENTRIES) break;
    onForgotten(forgotten);
    map.delete(oldest);
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
