/** What shells complete: asked of bash, and of zsh and fish where they are installed, else read from their scripts. */
import { execFile, execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'linkspan-completion-'));
  const kubectl = join(directory, 'kubectl');
  await writeFile(kubectl, '#!/bin/sh\n[ "$*" = "config get-contexts --output=name" ] && printf "east\\nwest\\n"\n');
  await chmod(kubectl, 0o755);
  await writeFile(join(directory, 'values.yaml'), '');
});
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
      ['yaml', 'json'],
    ],
    [['install', '-o', 'j'], ['json']],
    [
      ['install', '--output', '='],
      ['yaml', 'json'],
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
  expect(operands.get('--output')).toEqual(['yaml', 'json']);
  expect(operands.get('--to-context')).toBe('context');
  expect(operands.get('--to-kubeconfig')).toBe('file');
  expect(operands.get('--name')).toBe('unknown');
  expect(operands.get('--apply')).toBeUndefined();
});
