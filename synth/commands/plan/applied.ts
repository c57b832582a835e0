/**
 * A Link as an apply would leave it. What other field managers have written to the Link stays beside what the file has,
 * even within one selector, so that the file alone does not say what the operator would read.
 */
import { COMMAND_LINE } from '../../../crds/wire.ts';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { isForbidden } from '../../../operator/kube/errors.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { CommandError } from '../common/command-error.ts';
import { LINKS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { linkTitle } from './links.ts';

/** `kubectl apply` without `--server-side` writes it, and takes away what a file leaves out. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** No Link has this name: what an apply makes of one alone shows what the API server fills in. */
const NOBODYS = 'linkspan-plan';

/**
 * The Link of a file as a server-side apply would leave it in the cluster, by a dry run under the field manager that has
 * applied it last; as it is in the file if the Link does not exist yet.
 */
export const appliedLink = async (
  cluster: Cluster,
  link: LinkObject,
  note: (text: string) => void,
): Promise<LinkObject> => {
  const { namespace = '', name } = link.metadata;
  const live = await cluster.find<LinkObject>(LINKS, { namespace, name });
  if (live === undefined) return link;
  const lastApplied = live.metadata.annotations?.[LAST_APPLIED];
  if (lastApplied !== undefined) return lastApplied.includes('"approved":') ? link : withApprovals(link, live);
  const title = linkTitle(namespace, name);
  try {
    const manifest = link as unknown as ApiJson;
    const { spec } = await cluster.preview<LinkObject>(manifest, applierOf(live));
    const alone = await cluster.preview<LinkObject>({ ...manifest, metadata: { name: NOBODYS, namespace } });
    const others = differing(spec, alone.spec);
    if (others.length === 0) return link;
    note(
      `${title}: an apply leaves ${others.join(', ')} otherwise than the file has it, since another has written it: planned as it would be`,
    );
    return { ...link, ...(spec !== undefined && { spec }) };
  } catch (error) {
    if (!(error instanceof CommandError) || !isForbidden(error.cause)) throw error;
    note(`${title}: planned as it is in the file: what an apply would leave of it cannot be asked: ${error.message}`);
    return link;
  }
};

/** What is approved stays where a file has never named it: `linkspan approve` writes it. */
const withApprovals = (link: LinkObject, live: LinkObject): LinkObject => {
  const [given, kept] = [link.spec?.importPolicy, live.spec?.importPolicy?.approved];
  if (given === undefined || given.approved !== undefined || kept === undefined) return link;
  return { ...link, spec: { ...link.spec, importPolicy: { ...given, approved: kept } } };
};

/** Who has applied it last; this command line if nobody has. */
const applierOf = ({ metadata }: KubeObject): string => {
  const fields: readonly ManagedFields[] = metadata.managedFields ?? [];
  const appliers = fields.filter(({ operation, subresource = '' }) => operation === 'Apply' && subresource === '');
  const [last] = appliers.toSorted((one, other) => ((one.time ?? '') < (other.time ?? '') ? 1 : -1));
  return last?.manager ?? COMMAND_LINE;
};

interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  /** RFC 3339. */
  readonly time?: string;
}

/** Paths of the fields in which two specs differ. */
const differing = (spec: LinkObject['spec'], given: LinkObject['spec']): readonly string[] => {
  const [stored, wanted] = [(spec ?? {}) as Fields, (given ?? {}) as Fields];
  return Object.keys({ ...stored, ...wanted })
    .filter((field) => text(stored[field]) !== text(wanted[field]))
    .sort()
    .map((field) => `spec.${field}`);
};

type Fields = Readonly<Record<string, unknown>>;

/** A value as text, in which the order of keys is always the same. */
const text = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  ) ?? '';
