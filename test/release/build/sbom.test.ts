/** The bill of materials against the lockfile, both ways: what it lists is found by another way than it was made. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Locked, Lockfile } from '../../../tools/release/lockfile.ts';
import { type Component, type Released, sbom } from '../../../tools/release/sbom.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const json = async <T>(file: string): Promise<T> => JSON.parse(await readFile(join(ROOT, file), 'utf8')) as T;
const released = await json<Released>('package.json');
const lockfile = await json<Lockfile>('package-lock.json');
const bom = sbom(released, lockfile);

const flat = (components: readonly Component[]): readonly Component[] =>
  components.flatMap((each) => [each, ...flat(each.components ?? [])]);
const all = flat(bom.components);

/** Paths in the lockfile of whatever the package imports, directly or not, by walking from package to package. */
const reachable = (): ReadonlySet<string> => {
  const found = new Set<string>();
  const visit = (path: string): void => {
    const { dependencies, peerDependencies } = lockfile.packages[path]!;
    for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
      const folders = path.split(/(?<=.)\/?node_modules\//);
      const places = folders.map((_, end) => [...folders.slice(0, folders.length - end), name]);
      const candidates = [...places.map((place) => place.join('/node_modules/')), `node_modules/${name}`];
      const at = candidates.find((candidate) => lockfile.packages[candidate] !== undefined);
      if (at === undefined || found.has(at)) continue;
      found.add(at);
      visit(at);
    }
  };
  visit('');
  return found;
};

describe('the bill of materials', () => {
  test('lists each package that is installed without development tools, and no other', () => {
    expect(all.map((each) => each['bom-ref']).toSorted()).toEqual([...reachable()].toSorted());
    expect(all.length).toBeGreaterThan(50);
  });

  test('has the version, licence and hash of the lockfile for each', () => {
    const listed = all.map(({ 'bom-ref': path, version, licenses, hashes }) => ({
      path,
      version,
      license: licenses[0]?.license.id,
      integrity: hashes?.map(({ content }) => `sha512-${Buffer.from(content, 'hex').toString('base64')}`)[0],
    }));
    expect(listed).toEqual(
      listed.map(({ path }) => {
        const { version, license, integrity } = lockfile.packages[path]!;
        return { path, version, license, integrity };
      }),
    );
  });

  test('has no package without a hash but in the package in whose tarball it came', () => {
    expect(bom.components.filter(({ hashes }) => hashes === undefined)).toEqual([]);
    const bundled = flat(bom.components.flatMap(({ components = [] }) => components));
    expect(bundled.map(({ name }) => name)).toContain('minimatch');
    expect(bundled.filter(({ hashes }) => hashes !== undefined)).toEqual([]);
  });

  test('says what each package needs, by references that are in it', () => {
    const references = [released.name, ...all.map((each) => each['bom-ref'])];
    expect(bom.dependencies.map(({ ref }) => ref).toSorted()).toEqual(references.toSorted());
    const unknown = bom.dependencies.flatMap(({ dependsOn }) => dependsOn.filter((ref) => !references.includes(ref)));
    expect(unknown).toEqual([]);
    const manifest = lockfile.packages['']!;
    expect(bom.dependencies[0]?.dependsOn).toEqual(
      Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
        .map((name) => `node_modules/${name}`)
        .toSorted(),
    );
  });
});

describe('of a made-up lockfile', () => {
  const locked: Locked = {
    version: '1.0.0',
    license: 'MIT',
    integrity: `sha512-${Buffer.alloc(64).toString('base64')}`,
  };
  const of = (packages: Lockfile['packages']) => sbom(released, { packages: { '': {}, ...packages } });

  test.each(['dev', 'devOptional', 'optional', 'link'])('a package that is %s is left out', (flag) => {
    expect(of({ 'node_modules/a': { ...locked, [flag]: true } }).components).toEqual([]);
  });

  test('a package uses the version in its own folder, and another the one beside it', () => {
    const { dependencies } = of({
      'node_modules/a': { ...locked, dependencies: { b: '2' } },
      'node_modules/a/node_modules/b': locked,
      'node_modules/b': locked,
      'node_modules/c': { ...locked, dependencies: { b: '1' } },
    });
    expect(dependencies.slice(1)).toEqual([
      { ref: 'node_modules/a', dependsOn: ['node_modules/a/node_modules/b'] },
      { ref: 'node_modules/a/node_modules/b', dependsOn: [] },
      { ref: 'node_modules/b', dependsOn: [] },
      { ref: 'node_modules/c', dependsOn: ['node_modules/b'] },
    ]);
  });

  test('a scope is escaped in the URL of its package', () => {
    expect(of({ 'node_modules/@a/b': locked }).components[0]?.purl).toBe('pkg:npm/%40a/b@1.0.0');
  });

  test.each([
    ['version', 'node_modules/a: the lockfile has no version or licence'],
    ['license', 'node_modules/a: the lockfile has no version or licence'],
    ['integrity', 'node_modules/a: must have an integrity of sha512 in the lockfile'],
  ])('a package without %s makes no bill', (field, message) => {
    expect(() => of({ 'node_modules/a': { ...locked, [field]: undefined } })).toThrow(message);
  });
});
