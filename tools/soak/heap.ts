/**
 * What of a process's heap has grown between two snapshots that V8 took of it: by what V8 calls an object, which for
 * instances is their class, and for the rest what they are (an array, a string, code). Pure, but for the files.
 */
import { readFileSync } from 'node:fs';

/** Environment variable of the operator: whether it writes snapshots, beside the file of its memory. */
export const HEAP_VARIABLE = 'SOAK_HEAP';

/** The snapshots of an operator whose memory is written to a file: of its second rest, and of its latest one. */
export const snapshotsOf = (memoryFile: string): { readonly base: string; readonly latest: string } => ({
  base: `${memoryFile}.base.heapsnapshot`,
  latest: `${memoryFile}.latest.heapsnapshot`,
});

/** Objects of one name. */
export interface Kind {
  readonly count: number;
  /** Of themselves, without what they refer to. */
  readonly bytes: number;
}

/** What is read of a file that V8 writes; its nodes are rows of numbers, one after the other. */
export interface HeapSnapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly (readonly string[] | string)[];
    };
  };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

/** V8's types whose names are contents, or one for each object. */
const UNNAMED = new Set(['string', 'concatenated string', 'sliced string', 'code', 'array', 'number', 'symbol']);

export const readSnapshot = (file: string): HeapSnapshot => JSON.parse(readFileSync(file, 'utf8')) as HeapSnapshot;

/** Returns what there is in a heap, by name. */
export function kindsIn({ snapshot, nodes, strings }: HeapSnapshot): ReadonlyMap<string, Kind> {
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const at = (field: string): number => fields.indexOf(field);
  const [typeAt, nameAt, sizeAt] = [at('type'), at('name'), at('self_size')];
  const typeNames = types[typeAt] as readonly string[];
  const kinds = new Map<string, { count: number; bytes: number }>();
  for (let row = 0; row < nodes.length; row += fields.length) {
    const type = typeNames[nodes[row + typeAt]!]!;
    const name = UNNAMED.has(type) ? `(${type})` : `${strings[nodes[row + nameAt]!]} (${type})`;
    const kind = kinds.get(name) ?? { count: 0, bytes: 0 };
    kind.count += 1;
    kind.bytes += nodes[row + sizeAt]!;
    kinds.set(name, kind);
  }
  return kinds;
}

export interface Growth extends Kind {
  readonly name: string;
}

/** Returns what has grown, or shrunk, most first: how many more there are, and how many bytes more they take. */
export function growthOf(before: ReadonlyMap<string, Kind>, after: ReadonlyMap<string, Kind>): readonly Growth[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((name): Growth => {
      const [{ count = 0, bytes = 0 }, now] = [before.get(name) ?? {}, after.get(name)];
      return { name, count: (now?.count ?? 0) - count, bytes: (now?.bytes ?? 0) - bytes };
    })
    .filter(({ bytes }) => bytes !== 0)
    .sort((a, b) => Math.abs(b.bytes) - Math.abs(a.bytes));
}

/** How many kinds are printed. */
const PRINTED = 25;

export const growthTable = (grown: readonly Growth[]): string =>
  [
    'grown in the heap of the last leader, from its second rest to its last:',
    ...grown
      .slice(0, PRINTED)
      .map(
        ({ name, count, bytes }) => `${(bytes / 1024).toFixed(0).padStart(9)} kB ${signed(count).padStart(9)}  ${name}`,
      ),
  ].join('\n');

const signed = (count: number): string => (count > 0 ? `+${count}` : `${count}`);
