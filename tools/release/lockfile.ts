/** The packages that `npm ci --omit=dev --omit=optional` installs, as the lockfile has them. Pure. */

/** What the lockfile says of one package. */
export interface Locked {
  readonly version?: string;
  readonly license?: string;
  /** Hash of its tarball, as `sha512-<base64>`. Absent for a package that came in the tarball of another. */
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly inBundle?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** `package-lock.json`, version 3. */
export interface Lockfile {
  /** By the path at which npm installs it: `node_modules/a/node_modules/b`. The empty path is the package of the lockfile. */
  readonly packages: Readonly<Record<string, Locked>>;
}

/** One installed package. */
export interface Installed {
  readonly path: string;
  readonly name: string;
  readonly locked: Locked;
}

const FOLDER = 'node_modules/';

const isProduction = (path: string, { dev, devOptional, optional, link }: Locked): boolean =>
  path.startsWith(FOLDER) && !dev && !devOptional && !optional && !link;

/** The packages that the users of a release run, by path. */
export const productionOf = ({ packages }: Lockfile): readonly Installed[] =>
  Object.entries(packages)
    .filter(([path, locked]) => isProduction(path, locked))
    .map(([path, locked]) => ({ path, name: path.slice(path.lastIndexOf(FOLDER) + FOLDER.length), locked }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));

/** The path of the package in whose tarball a bundled one came, or undefined for one that has a tarball of its own. */
export const bundleOf = (path: string, { packages }: Lockfile): string | undefined => {
  if (packages[path]?.inBundle !== true) return undefined;
  const parent = path.slice(0, path.lastIndexOf(`/${FOLDER}`));
  return bundleOf(parent, { packages }) ?? parent;
};

/** The path at which a package finds one that it imports by name, as Node looks for it: its own folder first, then upwards. */
export const resolved = (from: string, name: string, { packages }: Lockfile): string | undefined => {
  const path = from === '' ? `${FOLDER}${name}` : `${from}/${FOLDER}${name}`;
  if (packages[path] !== undefined) return path;
  if (from === '') return undefined;
  const end = from.lastIndexOf(FOLDER);
  return resolved(end === 0 ? '' : from.slice(0, end - 1), name, { packages });
};
