/** docs/failover.md shows a ServiceFailover that is valid, and names all that keeps one from being ready. */
import { readFile } from 'node:fs/promises';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { readFailover } from '../../../crds/failover/settings.ts';

const root = new URL('../../../', import.meta.url);
const page = await readFile(new URL('docs/failover.md', root), 'utf8');

test('the ServiceFailover of docs/failover.md is valid', () => {
  const [, manifest = ''] = /^```yaml\n(.*?)^```$/ms.exec(page) ?? [];
  expect(readFailover(load(manifest))).toMatchObject({
    ok: true,
    value: {
      service: 'web',
      backends: [{ minReady: { percent: 50 } }, { minReady: { count: 1 } }],
      holdDownMs: 60_000,
    },
  });
});

test('docs/failover.md has each reason that a condition can be False for', async () => {
  const files = ['plan', 'failovers', 'status'].map((name) => new URL(`operator/failover/${name}.ts`, root));
  const sources = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n');
  const reasons = [...sources.matchAll(/reason: '(\w+)'|verdict\('False', '(\w+)'/g)].map(([, a, b]) => a ?? b ?? '');
  expect(reasons.length).toBeGreaterThan(10);
  const known = reasons.filter((reason) => reason !== 'Pending');
  expect(known.filter((reason) => !page.includes(`\`${reason}\``))).toEqual([]);
});
