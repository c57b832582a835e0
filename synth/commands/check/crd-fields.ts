/** What an installed CRD of the Link serves, and which fields of ours it does not keep. Pure. */
import { linkCrd } from '../../../crds/index.ts';
import { LinkApi } from '../../../crds/wire.ts';
import type { Crd, CrdSchema } from './objects.ts';

const findVersion = ({ spec }: Crd) => spec?.versions?.find(({ name }) => name === LinkApi.version);
const versionOf = (crd: Crd): CrdSchema | undefined => findVersion(crd)?.schema?.openAPIV3Schema;

/** Reports whether Links of the version that is read are served. */
export const servesLinks = (crd: Crd | undefined): boolean => crd !== undefined && findVersion(crd)?.served === true;

/** Paths such as `spec.targetNamespaces`; a field whose parent is missing is not named besides. */
export const missingFields = (installed: Crd): readonly string[] => {
  const ours = versionOf(linkCrd) ?? {};
  return ['spec', 'status'].flatMap((part) =>
    missing(part, ours.properties?.[part] ?? {}, versionOf(installed)?.properties?.[part]),
  );
};

const missing = (path: string, ours: CrdSchema, theirs: CrdSchema | undefined): readonly string[] => {
  if (theirs === undefined) return [path];
  const fields = Object.entries(ours.properties ?? {}).flatMap(([name, schema]) =>
    missing(`${path}.${name}`, schema, theirs.properties?.[name]),
  );
  return ours.items === undefined ? fields : [...fields, ...missing(`${path}[]`, ours.items, theirs.items)];
};
