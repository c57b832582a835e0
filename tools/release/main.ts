/**
 * `npm run release:build`: makes the files of a release, in `release/`: the package, install.yaml and crds.yaml, the bill
 * of materials and the checksums. It needs no network once `npm ci` has run. docs/releasing.md says what becomes of them.
 *
 *     npm run release:build -- [--out DIR] [--image ghcr.io/linkspan-dev/linkspan:0.1.0@sha256:…]
 */
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildRelease } from './build.ts';

const checkout = resolve(import.meta.dirname, '..', '..');
const { values } = parseArgs({
  options: {
    /** Folder for the files. Whatever is in it is deleted. */
    out: { type: 'string', default: join(checkout, 'release') },
    /** Image that install.yaml names. */
    image: { type: 'string' },
  },
});

const directory = resolve(values.out);
for (const file of await buildRelease({ checkout, directory, image: values.image })) {
  const { size } = await stat(join(directory, file));
  console.log(`${String(Math.ceil(size / 1024)).padStart(6)} KiB  ${join(directory, file)}`);
}
