/** `npm run docs`: writes the parts of the documentation that code produces; `--check` only says what would change. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { flagsTable } from './flags-table.ts';
import { badInputPage } from './bad-input.ts';
import { checksPage } from './checks.ts';
import { clusterFilePage } from './cluster-file.ts';
import { commandsPage } from './commands.ts';
import { constructPages } from './constructs.ts';
import { metricsPage } from './metrics.ts';
import { rightsPage } from './rights.ts';
import { specPages } from './spec.ts';
import { trackRecord } from './track-record.ts';

const root = new URL('../../../', import.meta.url);

/** The documents as they should be, by path from the root. */
export const documents = async (): Promise<ReadonlyMap<string, string>> => {
  const configuration = await readFile(new URL('docs/configuration.md', root), 'utf8');
  const reliability = await readFile(new URL('docs/reliability.md', root), 'utf8');
  const record = `<!-- track record -->\n\n${trackRecord()}\n\n<!-- /track record -->`;
  const table = `<!-- flags -->\n\n${flagsTable()}\n\n<!-- /flags -->`;
  const pages: readonly (readonly [string, string])[] = [
    ['docs/configuration.md', configuration.replace(/<!-- flags -->.*<!-- \/flags -->/s, () => table)],
    ['docs/bad-input.md', await badInputPage()],
    ['docs/checks.md', checksPage()],
    ['docs/cluster-file.md', clusterFilePage()],
    ['docs/commands.md', commandsPage()],
    ['docs/metrics.md', metricsPage()],
    ['docs/reliability.md', reliability.replace(/<!-- track record -->.*<!-- \/track record -->/s, () => record)],
    ['docs/rights.md', rightsPage()],
    ...specPages(),
    ...(await constructPages()),
  ];
  const formatted = pages.map(async ([path, text]) => {
    const options = await resolveConfig(new URL(path, root));
    return [path, await format(text, { ...options, parser: 'markdown' })] as const;
  });
  return new Map(await Promise.all(formatted));
};

if (import.meta.main) {
  await mkdir(new URL('docs/constructs', root), { recursive: true });
  for (const [path, text] of await documents()) await writeFile(new URL(path, root), text);
}
