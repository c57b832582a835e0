/**
 * `linkspan approve`: admits Services of a target to a Link whose policy asks for that (rule N2), by adding them to
 * `spec.importPolicy.approved`. Safe to run again: what is approved is passed over.
 */
import { isApprovable, isApproved, readApprovals } from '../../../crds/link/approvals.ts';
import { readLink } from '../../../crds/link/settings.ts';
import { COMMAND_LINE } from '../../../crds/wire.ts';
import { isConflict } from '../../../operator/kube/errors.ts';
import { splitKey } from '../../../operator/kube/objects.ts';
import { note, print } from '../../print.ts';
import { managersOf } from '../common/change-set/fields.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import {
  CommandError,
  ExitCode,
  fieldProblem,
  type Problem,
  refuseProblems,
  reportingProblems,
} from '../common/command-error.ts';
import { kubectl } from '../common/command-text.ts';
import { LINKS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { linksOf } from '../common/links.ts';
import { byInstall } from '../common/remedies.ts';
import type { ApproveFlags } from './flags.ts';
import { madeOf } from './made.ts';

/** How often the list is added to anew: the operator writes the status of the Link meanwhile. */
const ATTEMPTS = 5;
const FIELD = ['spec', 'importPolicy', 'approved'];
/** Managers that write when a person runs them. What a file has is in what `kubectl apply` notes of it. */
const BY_HAND = /^(kubectl|before-first-apply$)/;
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Runs the command. Sets the exit code. */
export const approve = (services: readonly string[], flags: ApproveFlags): Promise<void> =>
  reportingProblems(async () => {
    refuseProblems(usageProblems(services, flags), ExitCode.usage);
    await withCluster(flags, async (source) => {
      const added = await add(source, { services, existingOf: existingOf(source, flags) }, flags);
      await print(textOf(added, flags));
      noteUnused(source, added.link, !added.isNew || flags.dryRun !== true);
    });
  });

/** What is to be approved: what was named, and what is there of the cluster that a Link is to. */
interface Wanted {
  readonly services: readonly string[];
  readonly existingOf: (link: LinkObject) => Promise<readonly string[]>;
}

/** Reads once what there is of a cluster: that takes long enough for the operator to write the status of the Link. */
const existingOf = (source: Cluster, flags: ApproveFlags): Wanted['existingOf'] => {
  const made = new Map<string, readonly string[]>();
  return async (link) => {
    if (!flags.existing) return [];
    const cluster = clusterOf(source, link);
    const existing = made.get(cluster) ?? (await madeOf(source, flags, cluster));
    made.set(cluster, existing);
    return existing;
  };
};

/** What becomes of it. */
interface Added {
  /** The Link whose list it is, as it was read. */
  readonly link: LinkObject;
  readonly approved: readonly string[];
  /** What was approved before. */
  readonly before: readonly string[];
  /** Whether the Link had no list. */
  readonly isNew: boolean;
}

/** Adds to the list of a Link, as it is just now. @returns what it has now that it had not */
const add = async (source: Cluster, wanted: Wanted, flags: ApproveFlags, attempts = ATTEMPTS): Promise<Added> => {
  const { namespace, from: name, dryRun } = flags;
  const link = await linkOf(source, flags);
  const listed = listOf(link);
  const added = addedTo(listed ?? [], wanted.services, await wanted.existingOf(link));
  const next = [...(listed ?? []), ...added.approved];
  const result = { ...added, link, isNew: listed === undefined };
  refuseProblems([
    ...listProblems(source, link, next),
    ...(added.approved.length > 0 || result.isNew ? keptProblems(source, link, flags) : []),
  ]);
  if (dryRun || (added.approved.length === 0 && !result.isNew)) return result;
  const { resourceVersion } = link.metadata;
  try {
    await source.patch(
      LINKS,
      { namespace, name },
      { metadata: { resourceVersion }, spec: { importPolicy: { approved: next } } },
    );
  } catch (error) {
    if (!(error instanceof CommandError) || !isConflict(error.cause) || attempts <= 1) throw error;
    return add(source, wanted, flags, attempts - 1);
  }
  await refuseDropped(source, flags);
  return result;
};

/** What a list gets; what is there is not added where a pattern that was named has it. */
const addedTo = (
  listed: readonly string[],
  services: readonly string[],
  existing: readonly string[],
): Pick<Added, 'approved' | 'before'> => {
  const isListed = amongst(listed);
  const named = [...new Set(services)].filter((each) => !isListed(each));
  const isNamed = amongst([...listed, ...named]);
  const approved = [...named, ...existing.filter((each) => !isNamed(each))];
  const isAdded = new Set(approved);
  return { approved, before: [...new Set([...services, ...existing])].filter((each) => !isAdded.has(each)) };
};

/** @throws CommandError if there is none of the name */
const linkOf = async (source: Cluster, { namespace, from: name }: ApproveFlags): Promise<LinkObject> => {
  const [link] = await linksOf(source, namespace, name);
  return link as LinkObject;
};

/** What a Link has approved; undefined if it does not say. */
const listOf = ({ spec }: LinkObject): readonly string[] | undefined => {
  const listed: unknown = spec?.importPolicy?.approved;
  return Array.isArray(listed) ? listed.map(String) : undefined;
};

/** Tells whether a list has an entry, or admits the Service that it names. */
const amongst = (listed: readonly string[]): ((entry: string) => boolean) => {
  const entries = new Set(listed);
  const approvals = readApprovals({ approval: 'required', approved: listed }, '', () => undefined);
  return (entry) =>
    entries.has(entry) || (!entry.includes('*') && approvals !== undefined && isApproved(approvals, splitKey(entry)));
};

/** The cluster that a Link is to. */
const clusterOf = (source: Cluster, link: LinkObject): string => {
  const cluster: unknown = link.spec?.targetClusterName;
  if (typeof cluster === 'string') return cluster;
  const reason = 'spec.targetClusterName is no name, so that nothing is known to be made of its Services';
  throw new CommandError([{ object: titleOf(source, link), reason, remedy: 'correct the Link' }]);
};

const titleOf = (source: Cluster, { metadata }: LinkObject): string => source.title(LINKS.kind, metadata);

const usageProblems = (services: readonly string[], { existing }: ApproveFlags): readonly Problem[] => {
  if (services.length === 0 && !existing) {
    return [{ object: '<services>', reason: 'none is named', remedy: 'name some, as shop/web, or add --existing' }];
  }
  return services
    .filter((each) => !isApprovable(each))
    .map((each) => ({
      object: '<services>',
      reason: `${JSON.stringify(each)} is not the namespace and the name of a Service`,
      remedy: 'write them as shop/web; * stands for any characters',
    }));
};

/** What the operator would not accept of the list. What else may be wrong with the Link is not about it. */
const listProblems = (source: Cluster, link: LinkObject, approved: readonly string[]): readonly Problem[] => {
  const read = readLink({ ...link, spec: { ...link.spec, importPolicy: { ...link.spec?.importPolicy, approved } } });
  const errors = read.ok ? [] : read.errors.filter(({ path }) => path.startsWith(FIELD.join('.')));
  return errors.map((error) => fieldProblem(`${error.path} of ${titleOf(source, link)}`, error));
};

/** Software that has set the list would set it again, to what it has. */
const keptProblems = (source: Cluster, link: LinkObject, { forceConflicts }: ApproveFlags): readonly Problem[] => {
  const isInFile = link.metadata.annotations?.[LAST_APPLIED]?.includes('"approved":') === true;
  const managers = managersOf(link, FIELD, COMMAND_LINE).filter((manager) => !BY_HAND.test(manager));
  const keepers = [...managers, ...(isInFile ? ['a file that kubectl has applied'] : [])];
  if (keepers.length === 0 || forceConflicts) return [];
  return [
    {
      object: titleOf(source, link),
      reason: `${keepers.join(', ')} keeps ${FIELD.join('.')}, and may take back what is added to it`,
      remedy: 'add it where the Link is kept, such as in Git, or add --force-conflicts',
    },
  ];
};

/** @param isListed whether the Link has a list: one that requires approval without it is not accepted */
const noteUnused = (
  source: Cluster,
  { metadata: { namespace = '', name }, spec }: LinkObject,
  isListed: boolean,
): void => {
  if (spec?.importPolicy?.approval === 'required') return;
  if (!isListed) {
    note(`Link ${name} requires no approval; the command says how to require it once it has written the list`);
    return;
  }
  const patch = JSON.stringify({ spec: { importPolicy: { approval: 'required' } } });
  const require = kubectl(
    source,
    '-n',
    namespace,
    'patch',
    LINKS.kind.toLowerCase(),
    name,
    '--type=merge',
    '-p',
    patch,
  );
  note(`Link ${name} requires no approval, so that the list has no effect; it does after: ${require}`);
};

/** Linkerd's own CRD drops the field, and answers that all is well. */
const refuseDropped = async (source: Cluster, flags: ApproveFlags): Promise<void> => {
  const link = await linkOf(source, flags);
  if (listOf(link) !== undefined) return;
  const { kubeconfig, context } = source;
  const remedy = `apply the CRD of Linkspan: ${byInstall({ kubeconfig, context, namespace: flags.namespace })}`;
  const reason = "its CRD has no spec.importPolicy, and has dropped what was written: it may be Linkerd's own";
  throw new CommandError([{ object: titleOf(source, link), reason, remedy }]);
};

const textOf = ({ approved, before, isNew }: Added, { from, dryRun }: ApproveFlags): string => {
  const verb = dryRun ? 'would be approved' : 'approved';
  const lines = [
    ...approved.map((each) => `${each} ${verb} for Link ${from}`),
    ...before.map((each) => `${each} was approved before`),
  ];
  if (lines.length === 0) lines.push(`nothing of Link ${from} is there to approve`);
  if (isNew && approved.length === 0) lines.push(`Link ${from} ${dryRun ? 'would get' : 'has'} an empty list`);
  return lines.map((each) => `${each}\n`).join('');
};
