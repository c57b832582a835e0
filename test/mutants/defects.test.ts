import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { type Defect, withDefect } from './defect.ts';
import { DEFECTS } from './defects/index.ts';
import { defectOf, FAULTS } from './faults.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const defect = (find: string, replace = 'x'): Defect => ({ name: 'n', file: 'f.ts', find, replace, tests: [] });

describe('every defect', () => {
  test.each(DEFECTS.map((each) => [each.name, each] as const))('fits the code: %s', (_, each) => {
    const text = readFileSync(join(ROOT, each.file), 'utf8');
    expect(withDefect(each, text)).not.toBe(text);
    expect(each.tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(each.tests).not.toEqual([]);
  });

  it('has a name of its own', () => {
    expect(new Set(DEFECTS.map(({ name }) => name)).size).toBe(DEFECTS.length);
  });
});

test.each(FAULTS.map((fault) => [fault.rule, fault.defects, fault] as const))(
  'the defects of a fault fit the code together: %s %j',
  (_, __, { defects }) => {
    const texts = new Map<string, string>();
    for (const each of defects.map(defectOf)) {
      const text = texts.get(each.file) ?? readFileSync(join(ROOT, each.file), 'utf8');
      texts.set(each.file, withDefect(each, text));
    }
  },
);

describe('a defect', () => {
  it('is put in the place of its code, however that is wrapped', () => {
    expect(withDefect(defect('f(a, [b]);'), '{ f(\n  a,\n  [b]); }')).toBe('{ x }');
  });

  it('is refused where its code is missing, or is there twice', () => {
    expect(() => withDefect(defect('a'), 'b')).toThrow('0 times');
    expect(() => withDefect(defect('a'), 'a b a')).toThrow('2 times');
  });
});
