/** What developers run by hand is what tests and CI run. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OPERATOR_COMMAND } from '../support/operator-process.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

test('npm run dev starts the operator that the end-to-end tests start', () => {
  expect(scripts['dev']).toBe(`exec ${OPERATOR_COMMAND}`);
});

test('npm run dev passes its flags on', () => {
  const args = ['run', '--silent', 'dev', '--', '--help'];
  expect(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' })).toContain('Usage: linkspan operator [options]');
});

test('the hook before a commit runs npm run check, and npm ci does not force it', () => {
  const hook = join(ROOT, '.githooks', 'pre-commit');
  accessSync(hook, constants.X_OK);
  expect(readFileSync(hook, 'utf8')).toContain('exec npm run --silent check\n');
  expect(Object.keys(scripts).filter((name) => /^(prepare|pre-?install|post-?install|install)$/.test(name))).toEqual(
    [],
  );
});
