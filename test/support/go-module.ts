/**
 * Published Go modules, as a place to read others' files from without keeping copies of them: pinned by version, and
 * held to Go's checksum database by the toolchain, which keeps them in its cache.
 */
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';

/** Output of `go mod download -json` for one module. */
interface Download {
  readonly Dir?: string;
  readonly Error?: string;
}

/**
 * The folder of a module's files, which are read-only; downloaded unless it is in Go's cache.
 * @throws Error in Go's words if there is no such version, if it is not what the checksum database knows, or without Go
 */
export const goModule = (path: string, version: string): string => {
  const module = `${path}@${version}`;
  // Outside of every module, so that no go.mod influences the version.
  const options = { cwd: tmpdir(), env: { ...process.env, GOWORK: 'off' }, encoding: 'utf8' } as const;
  const { error, stdout, stderr } = spawnSync('go', ['mod', 'download', '-json', module], options);
  if (error !== undefined) {
    throw new Error(`cannot read ${module}: go does not start (is Go 1.26 installed and in PATH?)`, { cause: error });
  }
  const { Dir, Error: problem } = JSON.parse(stdout === '' ? '{}' : stdout) as Download;
  if (problem !== undefined || Dir === undefined) throw new Error(`cannot read ${module}: ${problem ?? stderr}`);
  return Dir;
};
