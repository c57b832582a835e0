/**
 * One watch: it turns the log of a collection into the events a client asked for. An object that comes to match the
 * selectors appears as ADDED and one that no longer matches as DELETED, whatever the write was.
 */
import type { KubeObject } from './object.ts';
import { expired } from './status.ts';
import { underRevision, type Collection, type EventType, type StorageEvent } from './storage.ts';
import type { Predicate } from './selectors.ts';

/** What a watch is made of. */
export interface WatchOptions {
  readonly collection: Collection;
  /** The revision to go on from; undefined to start with all that is there, as ADDED. */
  readonly from: number | undefined;
  /** What there is to start with, in the order of keys. */
  readonly initial: Iterable<KubeObject>;
  readonly matches: Predicate;
  /** Whether it stays open and sends nothing. */
  readonly isSilent: boolean;
  /** The JSON of an object as the client asked to see it. */
  readonly render: (object: KubeObject) => string;
  /** Sends a line. */
  readonly send: (line: string) => void;
  /** Hangs up. */
  readonly end: () => void;
}

/** A running watch. */
export class Watch {
  readonly #options: WatchOptions;
  readonly #unlisten: () => void;
  readonly #unlistenForDrop: () => void;
  #silent: boolean;
  #held: string[] | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    const { collection, from, initial, matches, isSilent } = options;
    this.#silent = isSilent;
    const missed = from === undefined ? [] : collection.eventsAfter(from);
    this.#unlisten = collection.listen((event) => {
      if (from === undefined || event.revision > from) this.#pass(event);
    });
    this.#unlistenForDrop = collection.listenForDrop(() => this.end());
    if (missed === undefined) {
      this.expire(from!);
      return;
    }
    if (from === undefined) {
      for (const object of initial) if (matches(object)) this.#send('ADDED', object);
    }
    for (const event of missed) this.#pass(event);
  }

  #pass({ type, object, previous, revision }: StorageEvent): void {
    const { matches } = this.#options;
    const before = previous !== undefined && matches(previous);
    const after = type !== 'DELETED' && matches(object);
    if (after) this.#send(before ? 'MODIFIED' : 'ADDED', object);
    else if (before) this.#send('DELETED', type === 'DELETED' ? object : underRevision(previous, revision));
  }

  #send(type: EventType, object: KubeObject): void {
    this.#write(`{"type":"${type}","object":${this.#options.render(object)}}\n`);
  }

  #write(line: string): void {
    if (this.#silent) return;
    if (this.#held === undefined) this.#options.send(line);
    else this.#held.push(line);
  }

  /** Tells the client how far it has come. */
  bookmark(apiVersion: string, kind: string, revision: number): void {
    const object = { kind, apiVersion, metadata: { resourceVersion: String(revision), creationTimestamp: null } };
    this.#write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }

  /** Tells the client that it is too late to go on from here, and ends. */
  expire(from: number): void {
    const { body } = expired(`too old resource version: ${from} (${this.#options.collection.compacted})`);
    this.#write(`${JSON.stringify({ type: 'ERROR', object: body })}\n`);
    this.end();
  }

  /** Loses every event from now on, and stays open. */
  silence(): void {
    this.#silent = true;
  }

  /** Keeps events back. */
  hold(): void {
    this.#held ??= [];
  }

  /** Sends what was kept back. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const line of held) this.#options.send(line);
  }

  /** Hangs up. */
  end(): void {
    this.close();
    this.#options.end();
  }

  /** Stops listening. */
  close(): void {
    this.#unlisten();
    this.#unlistenForDrop();
  }
}
