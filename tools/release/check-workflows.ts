/**
 * `npm run check:workflows`: actionlint on the workflows. It needs Go, which builds it on first use, held to Go's checksum
 * database. CI runs it; what needs no Go is in test/release/workflows.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.7';

const folder = resolve(import.meta.dirname, '..', '..', '.github', 'workflows');
const files = readdirSync(folder).map((file) => join(folder, file));
const { error, status } = spawnSync('go', ['run', ACTIONLINT, ...files], { stdio: 'inherit' });
if (error !== undefined) throw new Error('go does not start (is Go 1.26 installed and in PATH?)', { cause: error });
if (status === 0) console.log(`${files.length} workflows: actionlint has nothing to say`);
process.exitCode = status ?? 1;
