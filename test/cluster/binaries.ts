/**
 * Where the servers that tests run on are found: in KUBEBUILDER_ASSETS first, else in the user's cache, under a key
 * made of everything that goes into them. Looking never builds and needs no Go; a binary in the cache is complete.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A program that test clusters are made of. */
export type Binary = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kubectl' | 'coredns';

/** Each program's Go package, in the order they are built: what fails soonest first, the longest early. */
export const packages: Readonly<Record<Binary, string>> = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  coredns: 'github.com/coredns/coredns',
};

/** Every program, in build order. */
export const allBinaries = Object.keys(packages) as readonly Binary[];

/** The Go module that names them as tools. */
export const moduleDir = import.meta.dirname;

const goMod = readFileSync(join(moduleDir, 'go.mod'), 'utf8');

const kubernetesVersion = (): string => {
  const version = /^\s*k8s\.io\/kubernetes (v\d+\.\d+\.\d+\S*)/m.exec(goMod)?.[1];
  if (version === undefined) throw new Error(`${join(moduleDir, 'go.mod')} names no version of k8s.io/kubernetes`);
  return version;
};

const linkerFlags = (): string => {
  const gitVersion = kubernetesVersion();
  const [major, minor] = gitVersion.slice(1).split('.');
  const variables = { gitVersion, gitMajor: major, gitMinor: minor };
  return ['-s -w', ...Object.entries(variables).map(([k, v]) => `-X k8s.io/component-base/version.${k}=${v}`)].join(
    ' ',
  );
};

/** Arguments of `go` before `-o FILE PACKAGE`; Kubernetes learns its own version from the linker. */
export const buildArguments: readonly string[] = [
  'build',
  '-mod=readonly',
  '-buildvcs=false',
  '-ldflags',
  linkerFlags(),
];

/** What the environment must say for the programs to run anywhere on this machine. */
export const buildEnvironment: Readonly<Record<string, string>> = { CGO_ENABLED: '0', GOWORK: 'off' };

/** The user's cache directory by the platform's custom. */
const userCacheDir = (): string => {
  const xdg = process.env['XDG_CACHE_HOME'];
  if (xdg !== undefined && xdg !== '') return xdg;
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache');
};

/** The directory of the built programs: the same sources, flags and platform give the same directory. */
export const cacheDir = (): string => {
  const hash = createHash('sha256');
  for (const part of [
    goMod,
    readFileSync(join(moduleDir, 'go.sum')),
    `${process.platform}/${process.arch}`,
    buildArguments.join(' '),
    JSON.stringify(buildEnvironment),
  ]) {
    hash.update(part).update('\0');
  }
  const key = `${kubernetesVersion()}-${hash.digest('hex').slice(0, 16)}`;
  return join(userCacheDir(), 'linkspan', 'cluster', key);
};

/** The path of a program that is there, or undefined. */
export const findBinary = (binary: Binary): string | undefined => {
  const assets = process.env['KUBEBUILDER_ASSETS'];
  const folders = assets === undefined || assets === '' ? [cacheDir()] : [assets, cacheDir()];
  return folders.map((folder) => join(folder, binary)).find((path) => existsSync(path));
};

/** The programs that are not there yet, in build order. */
export const missingBinaries = (): readonly Binary[] =>
  allBinaries.filter((binary) => findBinary(binary) === undefined);

/**
 * The path of a program that must be there.
 * @throws Error that says how to get it
 */
export const requireBinary = (binary: Binary): string => {
  const path = findBinary(binary);
  if (path !== undefined) return path;
  throw new Error(
    `${binary} is neither in KUBEBUILDER_ASSETS nor in ${cacheDir()}: run \`npm run cluster:build\` (needs Go 1.26)`,
  );
};
