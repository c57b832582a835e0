/** What shells complete: asked of bash, and of zsh and fish where they are installed, else read from their scripts. */
import { execFile, execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bashScript } from '../../../../synth/commands/completion/bash.ts';
import { fishScript } from '../../../../synth/commands/completion/fish.ts';
import { allOf, grammarOf } from '../../../../synth/commands/completion/grammar.ts';
import { zshScript } from '../../../../synth/commands/completion/zsh.ts';
import { program } from '../../../../synth/program.ts';
import { linkspanHere } from '../../in-process.ts';

const grammar = grammarOf(program);
const commands = allOf(grammar);
/** The commands of the program, and one below another, which it may get. */
const nested = grammarOf(
  new Command('linkspan').addCommand(
    new Command('keys')
      .description("it's [new]: keys")
      .addCommand(new Command('mint').option('--days <n>', 'a: b [c]')),
  ),
);

/** Names that make a file if a shell evaluates them, or that it would split or expand. */
const HOSTILE = [
  '$(touch pwned)',
  '`touch pwned`',
  '; touch pwned;',
  '"; touch pwned; "',
  "'; touch pwned; '",
  '${x:=$(touch pwned)}',
  'a  b',
  '*',
  '~',
  '\\n',
  '-n',
  '\u001b]0;x\u0007',
];

let directory: string;

/** Makes a kubectl that lists these contexts. */
const withContexts = async (names: readonly string[]): Promise<void> => {
  const kubectl = join(directory, 'kubectl');
  const lines = names.map((name) => `${name}\n`).join('');
  await writeFile(
    kubectl,
    `#!/bin/sh\n[ "$*" = "config get-contexts --output=name" ] && cat <<'END_OF_LIST'\n${lines}END_OF_LIST\n`,
  );
  await chmod(kubectl, 0o755);
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'linkspan-completion-'));
  await writeFile(join(directory, 'values.yaml'), '');
});
beforeEach(() => withContexts(['east', 'west']));
afterAll(() => rm(directory, { recursive: true }));

const isThere = (shell: string): boolean => {
  try {
    execFileSync(shell, ['-c', 'true']);
    return true;
  } catch {
    return false;
  }
};

const ask = async (shell: string, args: readonly string[]): Promise<string> => {
  const env = { ...process.env, PATH: `${directory}:${process.env['PATH'] ?? ''}` };
  return (await promisify(execFile)(shell, args, { cwd: directory, env })).stdout;
};

/** What bash completes the last of the words with, as it splits them: a `=` is a word of its own. */
const bash = async (words: readonly string[], of = grammar): Promise<readonly string[]> => {
  const script = `${bashScript(of)}
COMP_WORDS=(linkspan "$@"); COMP_CWORD=$#; _linkspan; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const stdout = await ask('bash', ['--norc', '-c', script, 'bash', ...words]);
  return stdout.split('\n').filter((line) => line !== '');
};

describe('bash completes', () => {
  test.each<[readonly string[], readonly string[]]>([
    [['inst'], ['install']],
    [['un'], ['uninstall', 'unlink']],
    [['install', '--ima'], ['--image']],
    [['install', '--image', 'a/b:1', '--ap'], ['--apply']],
    [
      ['install', '--output', ''],
      ['yaml', 'json', 'diff'],
    ],
    [['install', '-o', 'j'], ['json']],
    [
      ['install', '--output', '='],
      ['yaml', 'json', 'diff'],
    ],
    [['install', '--output', '=', 'y'], ['yaml']],
    [
      ['link', '--gateway', '=', ''],
      ['true', 'false'],
    ],
    [
      ['link', '--gateway', '--gateway-n'],
      ['--gateway-name', '--gateway-namespace'],
    ],
    [
      ['link', '--to-context', ''],
      ['east', 'west'],
    ],
    [['link', '--context', '=', 'w'], ['west']],
    [['link', '--name', ''], []],
    [['install', '--values', 'val'], ['values.yaml']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['synth', '--name', 'install', '--sch'], ['--schema']],
  ])('%j to %j', async (words, expected) => {
    expect(await bash(words)).toEqual(expected);
  });

  test.each(HOSTILE)('the context %j to text that the shell reads back as that name', async (name) => {
    await withContexts(['east', name, `${name}-2`]);
    const [first, second, ...more] = await bash(['link', '--to-context', '']).then((all) => all.slice(1));
    expect(more).toEqual([]);
    for (const [completed, expected] of [
      [first, name],
      [second, `${name}-2`],
    ]) {
      expect(await ask('bash', ['--norc', '-c', `printf %s ${completed ?? ''}`])).toBe(expected);
    }
    expect(await bash(['link', '--to-context', name])).toEqual([first, second]);
    expect(await bash(['link', '--to-context', second ?? ''])).toEqual([second]);
    expect(await readdir(directory)).toEqual(['kubectl', 'values.yaml']);
  });

  test.each(HOSTILE)('a file called %j to its name', async (name) => {
    await writeFile(join(directory, name), '');
    try {
      expect(await bash(['install', '--values', ''])).toContain(name);
      expect(await readdir(directory)).toEqual([name, 'kubectl', 'values.yaml'].sort());
    } finally {
      await rm(join(directory, name));
    }
  });

  test('every command', async () => {
    expect(await bash([''])).toEqual(grammar.commands.map(({ path }) => path[1]));
  });

  test('every option of every command', async () => {
    for (const { path, flags } of grammar.commands) {
      const long = flags.flatMap(({ names }) => names.filter((name) => name.startsWith('--')));
      expect(await bash([...path.slice(1), '--']), path.join(' ')).toEqual(long);
    }
  });

  test('commands below others', async () => {
    expect(await bash(['keys', ''], nested)).toEqual(['mint']);
    expect(await bash(['keys', 'mint', '--'], nested)).toEqual(['--days', '--help']);
  });
});

describe('the script', () => {
  test('for zsh has every command and option, in balanced quotes', async () => {
    for (const each of [grammar, nested]) {
      const script = zshScript(each);
      for (const { path, flags } of allOf(each)) {
        expect(script).toContain(`_${path.join('_').replaceAll('-', '_')}() {`);
        for (const name of flags.flatMap(({ names }) => names)) expect(script).toContain(`'*${name}`);
      }
      await ask('bash', ['--norc', '-n', '-c', script]);
    }
    expect(zshScript(nested)).toContain(`'keys:it'\\''s [new]: keys'`);
    expect(zshScript(nested)).toContain(`'*--days=[a\\: b \\[c\\]]: : '`);
  });

  test('for fish has every command and option, one a line', () => {
    for (const each of [grammar, nested]) {
      const [comment, ...lines] = fishScript(each).trimEnd().split('\n');
      expect(comment).toMatch(/^# /);
      for (const line of lines) expect(line).toMatch(/^complete -c linkspan( -[A-Za-z]| [\w-]+| '(?:[^'\\]|\\.)*')+$/);
      const options = allOf(each).flatMap(({ flags }) => flags);
      expect(lines.filter((line) => / -[sl] /.test(line))).toHaveLength(options.length);
      const named = lines.filter((line) => / -a [a-z-]+ -d /.test(line));
      expect(named).toHaveLength(allOf(each).length - 1);
    }
  });
});

test.runIf(isThere('zsh'))('zsh reads its script', () => ask('zsh', ['-f', '-n', '-c', zshScript(grammar)]));

test.runIf(isThere('fish'))('fish completes by its script', async () => {
  const complete = (words: string) => ask('fish', ['-c', `${fishScript(grammar)}\ncomplete -C '${words}'`]);
  expect(await complete('linkspan inst')).toMatch(/^install\t/);
  expect(await complete('linkspan link --to-context ')).toContain('west');
  expect(await complete('linkspan install --output ')).toContain('json');
  await withContexts(HOSTILE);
  expect(await complete('linkspan link --to-context ')).toContain('touch pwned');
  expect(await readdir(directory)).toEqual(['kubectl', 'values.yaml']);
});

test.each(['bash', 'zsh', 'fish'])('linkspan completion %s prints its script', async (shell) => {
  const { code, stdout, stderr } = await linkspanHere('completion', shell);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('linkspan');
});

test.each([[[]], [['tcsh']], [['bash', 'zsh']]])('linkspan completion %j is a usage error', async (args) => {
  const { code, stdout, stderr } = await linkspanHere('completion', ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^error: /);
});

test('choices, contexts, files and switches are told apart', () => {
  const operands = new Map(
    commands.find(({ path }) => path[1] === 'link')?.flags.map(({ names, operand }) => [names.at(-1), operand]),
  );
  expect(operands.get('--output')).toEqual(['yaml', 'json', 'diff']);
  expect(operands.get('--to-context')).toBe('context');
  expect(operands.get('--to-kubeconfig')).toBe('file');
  expect(operands.get('--name')).toBe('unknown');
  expect(operands.get('--apply')).toBeUndefined();
});
