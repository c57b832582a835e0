/**
 * The Events that are recorded, each with its count: repetitions are one Event, and what is recorded about one object
 * with one reason is one Event, too, once there are ten that differ. As many are remembered as by client-go's recorder
 * (rule G3): a thousand.
 */
import { createHash } from 'node:crypto';

/** The object that an Event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  /** Undefined if the object has no namespace. */
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
}

/** An Event, as far as it is known here. */
export interface Entry {
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

export interface EventSeriesOptions {
  /** Where Events about objects without a namespace go. */
  readonly namespace: string;
  /** Name of the program that reports. */
  readonly component: string;
  /** Called with an Event that is remembered no longer. */
  readonly onForgotten: (entry: Entry) => void;
}

export class EventSeries {
  readonly #options: EventSeriesOptions;
  /** By object, type and reason, the latest last. */
  readonly #groups = new Map<string, Group>();
  /** By name, the latest last. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: EventSeriesOptions) {
    this.#options = options;
  }

  /** All that are remembered. */
  all(): Iterable<Entry> {
    return this.#entries.values();
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Records an Event once more. @returns what it is counted in */
  record(regarding: ObjectReference, type: Entry['type'], reason: string, text: string): Entry {
    const message = cutBytes(text, MAX_EVENT_MESSAGE);
    const namespace = regarding.namespace ?? this.#options.namespace;
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
    entry.pending += 1;
    entry.last = now;
    remember(this.#entries, key, entry, this.#options.onForgotten);
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
}

/** The message of an Event that was recorded so many times. */
export const textOf = ({ isAggregate, message }: Entry, count: number): string =>
  isAggregate ? cutBytes(`and ${count} more with this reason, the latest: ${message}`, MAX_EVENT_MESSAGE) : message;

/** Puts a value last in a map of at most {@link MAX_ENTRIES}: those put longest ago are forgotten. */
export function remember<T>(
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

/**
 * Name of an Event: the same for the same content on the same object in every replica, so that counts survive a
 * restart.
 */
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
