/**
 * Every `linkspan` command line that a page shows, in a block, or with flags between backticks, is one that the program takes: its
 * commands, arguments and flags. So is what messages of the operator name. What they do is tested where they are.
 */
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { LinkApi } from '../../../crds/wire.ts';
import { ApiError } from '../../../operator/kube/errors.ts';
import { mintCommand } from '../../../operator/link/session-credentials.ts';
import { refusedBy } from '../../../operator/served/not-admitted.ts';
import { sourceProblem } from '../../../operator/source/advice.ts';
import { ROOT } from '../packaging/packed.ts';

/** What stands for a file of the reader. */
const PLACEHOLDER = /[<>…$]|\.\.\./;

/** A program of this test's own, whose commands do nothing. */
const idleProgram = async (): Promise<Command> => {
  const { program } = (await import(`${ROOT}/synth/program.ts?idle`)) as { readonly program: Command };
  const idle = (command: Command): void => {
    command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
    if (command.commands.length === 0) command.action(() => undefined);
    command.commands.forEach(idle);
  };
  idle(program);
  return program;
};

/** The command lines of a page: without what a shell does before and after them. */
const commandLines = (page: string): readonly string[] => {
  const blocks = [...page.matchAll(/^```(?:sh|console)\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block.replaceAll(/\\\n\s*/g, ' ').split('\n'),
  );
  const inline = [...page.replaceAll(/^```.*?^```$/gms, '').matchAll(/`(linkspan [^`]+ -[^`]+)`/g)].map(
    ([, line = '']) => line,
  );
  return [...blocks, ...inline].flatMap((line) => {
    const [, typed = ''] = /^\s*(?:npx )?(linkspan .*?)(?: [|#>].*|;.*)?$/.exec(line) ?? [];
    return typed === '' || PLACEHOLDER.test(typed) ? [] : [typed.trim()];
  });
};

/** Messages of the operator, which names what the program takes and cannot import it. */
const MESSAGES: readonly string[] = [
  `${mintCommand('west', { namespace: 'mesh', controlPlaneNamespace: 'linkerd-2' })} --to-context west`,
  refusedBy(
    { name: 'west', cluster: 'west' },
    { key: 'shop/web', obstacle: { reason: 'WaitingForApproval', what: 'shop/web' } },
  ).message,
  sourceProblem(LinkApi.plural, new ApiError(404, { message: 'not found' }, 'list links'), 'mesh'),
];

test.each(MESSAGES)('the command line in a message of the operator is accepted: %s', async (message) => {
  const [, line = ''] = /linkspan ([a-z][^|`]*)/.exec(message) ?? [];
  const program = await idleProgram();
  await expect(program.parseAsync(line.trim().split(/\s+/), { from: 'user' })).resolves.toBe(program);
});

test('every command line in README, docs/ and examples/ is accepted', async () => {
  const program = await idleProgram();
  const refused: string[] = [];
  let count = 0;
  // Its last section is of command lines that are refused.
  for (const pattern of ['README.md', 'docs/!(bad-input).md', 'examples/*/README.md']) {
    for await (const path of glob(pattern, { cwd: ROOT })) {
      for (const line of commandLines(await readFile(join(ROOT, path), 'utf8'))) {
        count += 1;
        try {
          await program.parseAsync(line.split(/\s+/).slice(1), { from: 'user' });
        } catch (error) {
          if (!(error instanceof CommanderError)) throw error;
          if (error.exitCode !== 0) refused.push(`${path}: ${line}: ${error.message}`);
        }
      }
    }
  }
  expect(refused).toEqual([]);
  expect(count).toBeGreaterThan(80);
});
