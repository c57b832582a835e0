/**
 * Programs that a Go module names as tools: where they are once they are built, and what they are built with. They are
 * kept in the user's cache, under a key made of everything that goes into them. Looking never builds and needs no Go; a
 * program in the cache is complete.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Describes the tools of one Go module. */
export interface GoToolsProps<Name extends string> {
  /** Folder of go.mod and go.sum. */
  readonly moduleDir: string;
  /** Each program's Go package, in the order they are built. */
  readonly packages: Readonly<Record<Name, string>>;
  /** The module whose version the programs are known by. */
  readonly versionOf: string;
  /** Their folder in the cache. */
  readonly cache: string;
  /** Flags of the linker besides `-s -w`, for a version. @default none */
  readonly linkerFlags?: (version: string) => readonly string[];
  /** An environment variable that may name a folder to look in first. @default none */
  readonly assetsVariable?: string;
  /** Remedy for a missing program, as the error gives it. */
  readonly remedy: string;
}

/** The tools of one Go module. */
export class GoTools<Name extends string> {
  readonly moduleDir: string;
  /** Every program, in build order. */
  readonly all: readonly Name[];
  /** The version that go.mod asks for, as in `v1.36.3`. */
  readonly version: string;
  /** Arguments of `go` before `-o FILE PACKAGE`. */
  readonly buildArguments: readonly string[];
  /** Environment of the build, for programs that run anywhere on this machine. */
  readonly buildEnvironment: Readonly<Record<string, string>> = { CGO_ENABLED: '0', GOWORK: 'off' };
  readonly #packages: Readonly<Record<Name, string>>;
  readonly #goMod: string;
  readonly #cache: string;
  readonly #assetsVariable: string | undefined;
  readonly #remedy: string;

  constructor(props: GoToolsProps<Name>) {
    const { moduleDir, packages, versionOf, linkerFlags = () => [] } = props;
    this.moduleDir = moduleDir;
    this.#packages = packages;
    this.all = Object.keys(packages) as Name[];
    this.#goMod = readFileSync(join(moduleDir, 'go.mod'), 'utf8');
    this.version = versionIn(this.#goMod, versionOf, moduleDir);
    const ldflags = ['-s -w', ...linkerFlags(this.version)].join(' ');
    this.buildArguments = ['build', '-mod=readonly', '-buildvcs=false', '-ldflags', ldflags];
    this.#cache = props.cache;
    this.#assetsVariable = props.assetsVariable;
    this.#remedy = props.remedy;
  }

  /** The directory of the built programs: the same sources, flags and platform give the same directory. */
  cacheDir(): string {
    const hash = createHash('sha256');
    for (const part of [
      this.#goMod,
      readFileSync(join(this.moduleDir, 'go.sum')),
      `${process.platform}/${process.arch}`,
      this.buildArguments.join(' '),
      JSON.stringify(this.buildEnvironment),
    ]) {
      hash.update(part).update('\0');
    }
    return join(userCacheDir(), 'linkspan', this.#cache, `${this.version}-${hash.digest('hex').slice(0, 16)}`);
  }

  /** The Go package of a program. */
  packageOf(name: Name): string {
    return this.#packages[name];
  }

  /** The path of a program that is there, or undefined. */
  find(name: Name): string | undefined {
    const assets = this.#assetsVariable === undefined ? undefined : process.env[this.#assetsVariable];
    const folders = assets === undefined || assets === '' ? [this.cacheDir()] : [assets, this.cacheDir()];
    return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  }

  /** The programs that are not there yet, in build order. */
  missing(): readonly Name[] {
    return this.all.filter((name) => this.find(name) === undefined);
  }

  /**
   * The path of a program that must be there.
   * @throws Error with the remedy if it is missing
   */
  require(name: Name): string {
    const path = this.find(name);
    if (path !== undefined) return path;
    const assets = this.#assetsVariable === undefined ? 'not' : `neither in ${this.#assetsVariable} nor`;
    throw new Error(`${name} is ${assets} in ${this.cacheDir()}: run \`${this.#remedy}\` (needs Go 1.26)`);
  }
}

const versionIn = (goMod: string, module: string, dir: string): string => {
  const lines = goMod.split('\n').map((line) =>
    line
      .trim()
      .replace(/^require /, '')
      .split(' '),
  );
  const version = lines.find(([path, version]) => path === module && /^v\d+\.\d+\.\d+/.test(version ?? ''))?.[1];
  if (version === undefined) throw new Error(`${join(dir, 'go.mod')} names no version of ${module}`);
  return version;
};

/** The user's cache directory by the platform's custom. */
const userCacheDir = (): string => {
  const xdg = process.env['XDG_CACHE_HOME'];
  if (xdg !== undefined && xdg !== '') return xdg;
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache');
};
