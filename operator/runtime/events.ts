/**
 * Records Events on objects in the form that kubectl expects: a repetition raises the count of one Event. Recording
 * never blocks and never throws, and is written at the rate of client-go's recorder (rule G3): each Event once a
 * minute, and for each object a burst of writes, then one in five minutes.
 */
import { sleep } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import { toTime } from '../kube/conditions.ts';
import { ApiError, describe, isConflict, isNotFound } from '../kube/errors.ts';
import { FENCED_RETRY_MS, FencedError } from './fence.ts';
import type { Logger } from './logger.ts';
import { EVENTS, type KubeObject } from '../kube/objects.ts';
import { type Entry, EventSeries, type ObjectReference, remember, textOf } from './event-series.ts';
import { EVENT_RATE, TokenBucket } from './rate.ts';

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

/** Shortest time between two writes of one Event. */
export const EVENT_PERIOD_MS = 60_000;

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  /** By object, the latest last. */
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #series: EventSeries;
  readonly #due = new Set<Entry>();
  readonly #closed = new AbortController();
  #writing: Promise<void> | undefined;
  #failing = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    const { namespace = 'default', component } = options;
    this.#series = new EventSeries({
      namespace,
      component,
      onForgotten: (entry) => {
        clearTimeout(entry.timer);
        this.#due.delete(entry);
      },
    });
  }

  /** Records an Event. It is written when it is due, or dropped if that fails for good. */
  record(regarding: ObjectReference, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#schedule(this.#series.record(regarding, type, reason, message));
  }

  /** Writes what is pending, without the usual pauses; resolves when that is done, or after `deadlineMs`. */
  async flush(deadlineMs: number): Promise<void> {
    for (const entry of this.#series.all()) {
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
    for (const entry of this.#series.all()) clearTimeout(entry.timer);
    this.#series.clear();
    this.#due.clear();
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
        if (error instanceof FencedError) entry.nextWriteMs = performance.now() + FENCED_RETRY_MS;
        else this.#failed(error);
      }
      if (entry.pending > 0) this.#schedule(entry);
    }
    this.#writing = undefined;
  }

  #failed(error: unknown): void {
    if (!this.#failing && !this.#isClosed()) {
      this.#options.log.warn({ error: describe(error) }, 'an event could not be written');
    }
    this.#failing = true;
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

const isRefused = (error: unknown): boolean =>
  error instanceof ApiError && error.code >= 400 && error.code < 500 && ![401, 408, 409, 429].includes(error.code);
