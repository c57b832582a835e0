/** Links to pages carry the version of the package. */
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { PACKAGE_VERSION, pageUrl } from '../../crds/pages.ts';

test('a link to a page leads to the release of this version, in the repository of the package', () => {
  expect(PACKAGE_VERSION).toBe(manifest.version);
  const repository = manifest.repository.url.replace(/^git\+|\.git$/g, '');
  expect(pageUrl('docs/checks.md')).toBe(`${repository}/blob/v${manifest.version}/docs/checks.md`);
});
