/**
 * The arrows of docs/architecture.md, for types as for values: no file imports itself by way of others, and the folders
 * of the constructs and of the operator import only those below them.
 */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { CONSTRUCT_FLOORS, OPERATOR_FLOORS, written } from './floors.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** By file, the files that it imports: `import`, `export from` and `import()`, of types too. */
type Imports = ReadonlyMap<string, readonly string[]>;

async function importsOf(...folders: readonly string[]): Promise<Imports> {
  const listed = await Promise.all(
    folders.map(async (folder) => {
      const files = await readdir(resolve(ROOT, folder), { recursive: true });
      return files.filter((file) => file.endsWith('.ts')).map((file) => `${folder}/${file}`);
    }),
  );
  const entries = listed.flat().map(async (file) => {
    const path = resolve(ROOT, file);
    const { importedFiles } = ts.preProcessFile(await readFile(path, 'utf8'), true, true);
    const own = importedFiles.map(({ fileName }) => fileName).filter((name) => name.startsWith('.'));
    return [file, [...new Set(own.map((name) => relative(ROOT, resolve(dirname(path), name))))]] as const;
  });
  return new Map(await Promise.all(entries));
}

/** One way round each cycle that a file is in. */
function cyclesIn(imports: Imports): readonly string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file);
    if (at >= 0) cycles.push([...path.slice(at), file].join(' → '));
    if (at >= 0 || done.has(file)) return;
    for (const next of imports.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return cycles;
}

/** Each folder with those on the floors below it; floors are given lowest first. */
const floorsOf = (floors: readonly (readonly string[])[]): (readonly [folder: string, below: readonly string[]])[] =>
  floors.flatMap((folders, floor) => folders.map((folder) => [folder, floors.slice(0, floor).flat()] as const));

describe('imports', () => {
  let imports: Imports;
  beforeAll(async () => {
    imports = await importsOf('crds', 'constructs', 'operator', 'synth');
  });

  /** Which files of a folder import which others, where they may not. */
  const strays = (from: string, isAllowed: (file: string) => boolean): readonly string[] =>
    [...imports]
      .filter(([file]) => file.startsWith(from))
      .flatMap(([file, all]) =>
        all.filter((each) => !each.startsWith(from) && !isAllowed(each)).map((each) => `${file} → ${each}`),
      );

  it('are read', () => {
    expect(imports.get('operator/link/manager.ts')).toEqual(
      expect.arrayContaining(['operator/link/links.ts', 'operator/kube/client.ts', 'crds/wire.ts']),
    );
    expect(imports.get('operator/link/links.ts')).toContain('operator/kube/objects.ts');
  });

  it('are found to be in a cycle, if they are', () => {
    const cycle: Imports = new Map([
      ['a', ['b', 'c']],
      ['b', []],
      ['c', ['d']],
      ['d', ['b', 'c']],
    ]);
    expect(cyclesIn(cycle)).toEqual(['c → d → c']);
  });

  it('lead from no file back to itself', () => {
    expect(cyclesIn(imports)).toEqual([]);
  });

  test.each<[string, readonly string[]]>([
    ['crds/', []],
    ['constructs/', ['crds/']],
    ['operator/', ['crds/', 'constructs/rendered/index.ts']],
  ])('lead out of %s to %j alone', (from, to) => {
    expect(strays(from, (file) => to.some((each) => file.startsWith(each)))).toEqual([]);
  });

  test.each(floorsOf(CONSTRUCT_FLOORS))('lead out of constructs/%s to %j alone, of the constructs', (folder, below) => {
    const isAllowed = (file: string): boolean => {
      const [top, other = ''] = file.split('/');
      if (top !== 'constructs') return true;
      return other === 'rendered' && below.includes(other)
        ? file === 'constructs/rendered/index.ts'
        : below.includes(other);
    };
    expect(strays(`constructs/${folder}/`, isAllowed)).toEqual([]);
  });

  it('lead out of a folder of the constructs that has a floor: of files without a folder there is the index', () => {
    const folders = [...imports.keys()]
      .filter((file) => file.startsWith('constructs/'))
      .map((file) => file.split('/')[1]);
    expect([...new Set(folders)].sort()).toEqual([...CONSTRUCT_FLOORS.flat(), 'index.ts'].sort());
  });

  test.each(floorsOf(OPERATOR_FLOORS))('lead out of operator/%s to %j alone, of the operator', (room, below) => {
    const isAllowed = (file: string): boolean => {
      const [top, folder = '', rest] = file.split('/');
      return top !== 'operator' || (rest !== undefined && below.includes(folder));
    };
    expect(strays(`operator/${room}/`, isAllowed)).toEqual([]);
  });

  it('lead out of a folder of the operator that has a floor', () => {
    const folders = [...imports.keys()]
      .map((file) => file.split('/'))
      .filter(([top, , rest]) => top === 'operator' && rest);
    expect(new Set(folders.map(([, folder]) => folder))).toEqual(new Set(OPERATOR_FLOORS.flat()));
  });

  it('are drawn in docs/architecture.md as they are', async () => {
    const drawn = await readFile(resolve(ROOT, 'docs/architecture.md'), 'utf8');
    expect(drawn.replaceAll(/\s+/g, ' ')).toContain(`constructs/ ${written(CONSTRUCT_FLOORS)};`);
    expect(drawn.replaceAll(/\s+/g, ' ')).toContain(`operator/ ${written(OPERATOR_FLOORS)};`);
  });
});
