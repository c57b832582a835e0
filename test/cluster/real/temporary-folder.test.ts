import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeAbandoned, temporaryFolder } from './temporary-folder.ts';

/** No process has a number this high. */
const DEAD = 4194999;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'linkspan-temporary-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it('removes the folders of processes that have died, and nothing else', async () => {
  const own = temporaryFolder('east');
  await rm(own, { recursive: true });
  const kept = [basename(own), `other-east-${DEAD}-a1B2c3`, 'linkspan-east-a1B2c3'];
  for (const name of [...kept, `linkspan-east-${DEAD}-a1B2c3`]) await mkdir(join(dir, name));
  await writeFile(join(dir, `linkspan-east-${DEAD}-a1B2c3`, 'data'), '');
  removeAbandoned(dir);
  expect((await readdir(dir)).toSorted()).toEqual(kept.toSorted());
});
