/** What the operator writes to the source, write by write: the numbers by which two courses of one run are compared. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import type { HistoryCluster, Request } from '../simulation/cluster.ts';

/** One write of the operator. */
export interface Write {
  /** From 1, over all writes of the scene, those of Leases and Events too. */
  readonly index: number;
  readonly atMs: number;
  /** `<Kind> <namespace>/<name>`. */
  readonly id: string;
  readonly kind: string;
  readonly type: StorageEvent['type'];
  readonly process: string;
  /** Whether it renews a Lease and changes nothing of what that records. */
  readonly isRenewal: boolean;
}

/** How often an object was made and deleted. */
export interface Lives {
  readonly created: number;
  readonly deleted: number;
}

/** Kinds that are written as time goes by, and say nothing of what is mirrored. */
const PASSING: ReadonlySet<string> = new Set(['Lease', 'Event']);

export const isTelling = ({ kind }: Pick<Write, 'kind'>): boolean => !PASSING.has(kind);

export const idOf = ({ kind, metadata: { namespace = '', name } }: KubeObject): string =>
  `${kind} ${namespace}/${name}`;

export class Writes {
  readonly all: Write[] = [];
  /** Told of each write as it takes effect, before its answer is sent. */
  onWrite: ((write: Write, request: Request, event: StorageEvent) => void) | undefined;

  constructor(source: HistoryCluster, nowMs: () => number) {
    source.onOperatorWrite((request, { kind }, event) => {
      const { type, object } = event;
      const made = { index: this.all.length + 1, atMs: nowMs(), id: idOf(object), kind, type };
      const write = { ...made, process: request.process.name, isRenewal: isRenewal(event) };
      this.all.push(write);
      this.onWrite?.(write, request, event);
    });
  }

  /** Those that say something, Leases and Events left out. */
  get telling(): readonly Write[] {
    return this.all.filter(isTelling);
  }

  /** When the last of these was made; 0 if none was. */
  get lastMs(): number {
    return this.all.findLast(isTelling)?.atMs ?? 0;
  }
}

/** By object: how often the operator made and deleted it. */
export function livesIn(writes: readonly Write[]): ReadonlyMap<string, Lives> {
  const lives = new Map<string, Lives>();
  for (const { id, kind, type } of writes) {
    if (PASSING.has(kind) || type === 'MODIFIED') continue;
    const { created, deleted } = lives.get(id) ?? { created: 0, deleted: 0 };
    const isNew = type === 'ADDED';
    lives.set(id, { created: created + (isNew ? 1 : 0), deleted: deleted + (isNew ? 0 : 1) });
  }
  return lives;
}

const isRenewal = ({ type, object, previous }: StorageEvent): boolean =>
  object.kind === 'Lease' &&
  type === 'MODIFIED' &&
  isDeepStrictEqual(object.metadata.annotations, previous?.metadata.annotations);

/** Objects that were made or deleted another number of times. */
export function differentLives(
  wanted: ReadonlyMap<string, Lives>,
  found: ReadonlyMap<string, Lives>,
): readonly string[] {
  const none: Lives = { created: 0, deleted: 0 };
  const text = ({ created, deleted }: Lives): string => `made ${created} and deleted ${deleted} times`;
  return [...new Set([...wanted.keys(), ...found.keys()])].sort().flatMap((id) => {
    const [want, have] = [text(wanted.get(id) ?? none), text(found.get(id) ?? none)];
    return want === have ? [] : [`${id} was ${have}, not ${want}`];
  });
}
