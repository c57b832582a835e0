import { expect, test } from 'vitest';
import { dumpReader } from '../../../../synth/commands/common/manifest-files.ts';
import { slicesOfServices } from '../../../../synth/commands/common/slices.ts';
import { slice } from '../../../support/builders.ts';

test('slices are found by the names of their Services, and none by a name that no label can have (L214)', async () => {
  const reader = dumpReader('dump', [slice('web'), slice('api')]);
  const found = await slicesOfServices(reader, ['web', 'n'.repeat(64), '-', 'a b', 'web'], 'shop');
  expect(found.map(({ metadata }) => metadata.name)).toEqual([slice('web').metadata.name]);
  expect(await slicesOfServices(reader, ['n'.repeat(64)])).toEqual([]);
});
