/** docs/dependencies.md against package.json and the lockfile, both ways. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OLDEST_MINOR } from '../../../synth/commands/check/pre/checks.ts';
import type { Lockfile } from '../../../tools/release/lockfile.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const text = (file: string): Promise<string> => readFile(join(ROOT, file), 'utf8');

type Field = 'dependencies' | 'peerDependencies' | 'devDependencies';
type Manifest = Readonly<Record<Field, Readonly<Record<string, string>>>>;

const page = await text('docs/dependencies.md');
const manifest = JSON.parse(await text('package.json')) as Manifest;
const { packages } = JSON.parse(await text('package-lock.json')) as Lockfile;

/** The rows of the table under a heading: name, version, licence, date, reason. */
const rowsOf = (heading: string): readonly (readonly string[])[] => {
  const [section = ''] = page.split(`## ${heading}\n`)[1]?.split('\n## ') ?? [];
  return [...section.matchAll(/^\| `([^`]+)` +\| (.*) \|$/gm)].map(([, name = '', rest = '']) => [
    name,
    ...rest.split(' | ').map((cell) => cell.trim()),
  ]);
};

const SECTIONS: readonly (readonly [string, Field])[] = [
  ['What users install', 'dependencies'],
  ['What users bring', 'peerDependencies'],
  ['What develops it', 'devDependencies'],
];

describe.each(SECTIONS)('%s', (heading, field) => {
  const rows = rowsOf(heading);

  test('names the packages of package.json, and no other', () => {
    // A folder of this repository has a section of its own.
    const names = Object.entries(manifest[field]).flatMap(([name, version]) =>
      version.startsWith('file:') ? [] : [name],
    );
    expect(rows.map(([name]) => name)).toEqual(names.toSorted());
  });

  test('gives version and licence as the lockfile has them, a date and a reason', () => {
    for (const [name = '', version, license, released, why = ''] of rows) {
      expect({ name, version, license }).toEqual({
        name,
        version: packages[`node_modules/${name}`]?.version,
        license: packages[`node_modules/${name}`]?.license,
      });
      expect(released, name).toMatch(/^20\d\d-[01]\d-[0-3]\d$/);
      expect(why.length, name).toBeGreaterThan(10);
    }
  });
});

test('no package of a third party stands in for another', () => {
  const { overrides } = JSON.parse(JSON.stringify(manifest)) as { overrides: Readonly<Record<string, string>> };
  expect(overrides).toEqual({ backport: '$backport' });
  expect(manifest.devDependencies['backport']).toMatch(/^file:tools\//);
});

test('no package but node runs a script when it is installed', () => {
  const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const wanted = scripted.filter(([, { dev }]) => dev !== true).map(([path]) => path);
  expect(wanted).toEqual([]);
  const { allowScripts } = JSON.parse(JSON.stringify(manifest)) as { allowScripts: Readonly<Record<string, boolean>> };
  expect(allowScripts).toEqual({ node: true });
});

test('docs/versions.md has the oldest Kubernetes that `check --pre` accepts', async () => {
  expect(await text('docs/versions.md')).toMatch(new RegExp(`^\\| Kubernetes +\\| 1\\.${OLDEST_MINOR}, `, 'm'));
});

test('the Kubernetes of the tests is that of the README and docs/versions.md', async () => {
  const [, version = ''] = /k8s\.io\/kubernetes v(\d+\.\d+)\./.exec(await text('test/cluster/real/go.mod')) ?? [];
  expect(await text('README.md')).toContain(`tested on real Kubernetes ${version} API servers`);
  expect(await text('docs/versions.md')).toMatch(
    new RegExp(`^\\| Kubernetes .*${version.replace('.', '\\.')}: API servers`, 'm'),
  );
});
