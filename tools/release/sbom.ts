/**
 * The bill of materials of a release, in CycloneDX 1.6: each package that its users run, with version, licence and the hash
 * of its tarball. It has no time and no random serial number, so that the same lockfile makes the same bytes. Pure.
 *
 * `npm sbom` does not serve: with `--omit=dev` it leaves out each package that a development tool needs as well.
 */
import { bundleOf, type Installed, type Lockfile, productionOf, resolved } from './lockfile.ts';

/** Names of the package that is released. */
export interface Released {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

/** A package of the bill. */
export interface Component {
  readonly type: 'library' | 'application';
  /** Path at which npm installs it, so that two versions of a package are two components. */
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly { readonly license: { readonly id: string } }[];
  /** Of its tarball, in hex; absent for what came in the tarball of the component that it is in. */
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[];
  /** What came in its tarball. */
  readonly components?: readonly Component[];
}

/** A bill of materials. */
export interface Bom {
  readonly $schema: string;
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.6';
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** @throws Error for a package without a version, a licence, or a hash of sha512: nobody could check it */
export const sbom = (released: Released, lockfile: Lockfile): Bom => {
  const installed = productionOf(lockfile);
  const root: Component = {
    type: 'application',
    'bom-ref': released.name,
    name: released.name,
    version: released.version,
    purl: purl(released.name, released.version),
    licenses: [{ license: { id: released.license } }],
  };
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: root },
    components: componentsIn(undefined, installed, lockfile),
    dependencies: [
      { ref: released.name, dependsOn: needsOf('', installed, lockfile) },
      ...installed.map(({ path }) => ({ ref: path, dependsOn: needsOf(path, installed, lockfile) })),
    ],
  };
};

/** The components in the tarball of another, or those with a tarball of their own. */
const componentsIn = (
  bundle: string | undefined,
  installed: readonly Installed[],
  lockfile: Lockfile,
): readonly Component[] =>
  installed
    .filter(({ path }) => bundleOf(path, lockfile) === bundle)
    .map((each) => component(each, bundle === undefined ? componentsIn(each.path, installed, lockfile) : []));

const component = ({ path, name, locked }: Installed, bundled: readonly Component[]): Component => {
  const { version, license, integrity, inBundle } = locked;
  if (version === undefined || license === undefined)
    throw new Error(`${path}: the lockfile has no version or licence`);
  return {
    type: 'library',
    'bom-ref': path,
    name,
    version,
    purl: purl(name, version),
    licenses: [{ license: { id: license } }],
    ...(!inBundle && { hashes: [{ alg: 'SHA-512', content: sha512(path, integrity) }] }),
    ...(bundled.length > 0 && { components: bundled }),
  };
};

/** A package URL: the at sign of a scope is the only character of a package's name that must be escaped. */
const purl = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

const sha512 = (path: string, integrity = ''): string => {
  const [, base64] = /^sha512-([A-Za-z0-9+/]+=*)$/.exec(integrity) ?? [];
  if (base64 === undefined) throw new Error(`${path}: must have an integrity of sha512 in the lockfile`);
  return Buffer.from(base64, 'base64').toString('hex');
};

const needsOf = (path: string, installed: readonly Installed[], lockfile: Lockfile): readonly string[] => {
  const { dependencies, peerDependencies } = lockfile.packages[path] ?? {};
  const paths = Object.keys({ ...dependencies, ...peerDependencies }).map((name) => resolved(path, name, lockfile));
  return installed.map((each) => each.path).filter((each) => paths.includes(each));
};
