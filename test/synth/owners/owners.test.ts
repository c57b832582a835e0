/**
 * Every command that writes, over what each of its possible owners has made, on real API servers: what changes is in
 * docs/commands-and-owners.md, and nothing else changes.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { onReal } from '../../cluster/on-each-backing.ts';
import { StopStage } from '../stops/stage.ts';
import { plant, versions } from './bystanders.ts';
import { eventually } from '../../cluster/workload/index.ts';
import { cell, hasTokens, tokenSecretsIn } from './cells.ts';
import { COMMANDS } from './commands.ts';
import { OWNERS } from './owners.ts';

const PAGE = join(import.meta.dirname, '..', '..', '..', 'docs', 'commands-and-owners.md');

const HEAD = `# Commands and owners

What each command that writes does with objects that somebody else has made or changed. A test types each command on
real API servers and writes this page; beside what is named here, nothing changes.
`;

onReal('commands that write', () => {
  const rows = new Map<string, Map<string, string>>();
  const takesApply = new Map<string, boolean>();

  describe.each(COMMANDS)('$name', (command) => {
    test.each(OWNERS)('over: %s', { timeout: 120_000 }, async (owner) => {
      const stage = await StopStage.start('real');
      let end: void | (() => Promise<void>) = undefined;
      try {
        if (command.operator) stage.clusters.operator();
        end = await command.prepare(stage, owner);
        const { east, west } = stage.clusters;
        const [ofEast, ofWest] = [await plant(east, command.east), await plant(west, 'target')];
        const bystanders = async () => [await versions(east, ofEast), await versions(west, ofWest)];
        const before = await eventually('Kubernetes has made all tokens', async () => {
          const state = await stage.state(true);
          return [state.east, state.west].every(hasTokens) ? state : undefined;
        });
        const others = await bystanders();
        takesApply.set(command.name, command.args(stage).includes('--apply'));
        const run = await stage.run(command.args(stage));
        expect(await bystanders()).toEqual(others);
        expect(stage.failures).toEqual([]);
        const after = await stage.state(true);
        // P1, P6: none of these commands is told of a flat network.
        const endless = (state: typeof before) => [state.east, state.west].flatMap(tokenSecretsIn);
        expect(endless(after).filter((name) => !endless(before).includes(name))).toEqual([]);
        const row = rows.get(command.name) ?? new Map<string, string>();
        rows.set(command.name, row.set(owner, cell(run, before, after)));
      } finally {
        await end?.();
        await stage.stop();
      }
    });
  });

  afterAll(async () => {
    if (rows.size < COMMANDS.length) return;
    const sections = [...rows].map(
      ([name, row]) =>
        `\n## \`${name}${takesApply.get(name) ? ' --apply' : ''}\`\n\n| over | what it does |\n| --- | --- |\n` +
        [...row].map(([owner, text]) => `| ${owner} | ${text} |\n`).join(''),
    );
    const text = `${HEAD}${sections.join('')}`;
    if (process.env['LINKSPAN_WRITE_DOCS'] !== undefined) await writeFile(PAGE, text);
    else expect(await readFile(PAGE, 'utf8')).toBe(text);
  });
});
