/**
 * `linkspan unlink`: removes a Link and everything that was made for it. The Link goes first; when the operator has
 * removed the mirrors, the credentials follow, and last the account in the target. Safe to run again: what is gone is
 * passed over. Without `--apply` nothing is deleted, and the objects are printed.
 */
import { Annotation, credentialsName, Label, LinkApi, writeLeaseName } from '../../../crds/wire.ts';
import { cut, isConflict, isNotFound } from '../../../operator/kube/errors.ts';
import { type KubeObject, type Lease, LEASES, SECRETS, SERVICES } from '../../../operator/kube/objects.ts';
import { note, printLine } from '../../print.ts';
import { resultFormat } from '../common/change-flags.ts';
import { printDeletions } from '../common/change-set/deletions.ts';
import { executeDeletions } from '../common/change-set/execute.ts';
import { deletionTrials } from '../common/change-set/trial.ts';
import type { Unwanted } from '../common/change-set/want.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { CommandError, ExitCode, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { LINKS } from '../common/kinds.ts';
import { holderOf } from '../common/lease.ts';
import type { LinkObject } from '../common/link-object.ts';
import { isRemoved, leftNotes, type WriteScope, writeScope } from '../common/mirrors-left.ts';
import { withReport } from '../common/output.ts';
import { byKubectl } from '../common/remedies.ts';
import { ifAllowed } from '../common/readable.ts';
import { waitFor } from '../common/wait.ts';
import { named, type UnlinkFlags } from './flags.ts';
import { type Held, linksTo, otherTargetProblems, readHeld } from './held.ts';
import { clusterNameProblems, withPair } from './pair.ts';
import { accessTraces, credentialsTraces, type Target } from './traces.ts';

/** Runs the command. Sets the exit code. */
export const unlink = (given: UnlinkFlags): Promise<void> =>
  reportingProblems(async () => {
    const flags = named(given);
    const { toContext, name } = flags;
    if (toContext !== undefined) {
      await withPair({ ...flags, toContext }, ({ source, targetName, ...target }) =>
        unlinkFrom(source, targetName, target, flags),
      );
      return;
    }
    if (name === undefined) {
      refuseProblems(
        [{ object: '--name', reason: 'is required without --to-context', remedy: 'name the Link' }],
        ExitCode.usage,
      );
      return;
    }
    refuseProblems(clusterNameProblems('--name', name, ''), ExitCode.usage);
    await withCluster(flags, (source) => unlinkFrom(source, name, undefined, flags));
  });

/** @param target undefined if it was not named: then its account stays */
const unlinkFrom = async (
  source: Cluster,
  cluster: string,
  target: Target | undefined,
  flags: UnlinkFlags,
): Promise<void> => {
  const held = withLeft(await readHeld(source, cluster, flags), cluster, flags);
  const heirs = held.otherLinks.filter(({ spec }) => spec?.targetClusterName === cluster);
  refuseProblems([
    ...foreignProblems(source, held.link === undefined ? [] : [held.link], cluster),
    ...(target === undefined ? [] : otherTargetProblems(source, target.target, target.targetUid, held)),
  ]);
  const scope = await writeScope(source, flags);
  const { mirrors, left } = await mirrorsOf(source, cluster, scope);
  const tracesOf = async (now: Held) => {
    const credentials = credentialsTraces(source, cluster, now);
    const access = target && (await accessTraces(target, now, credentials, flags));
    const notes = [...credentials.notes, ...(access?.notes ?? [])];
    return { credentials: credentials.unwanted, access: access?.unwanted ?? [], notes };
  };
  const traces = await tracesOf(held);
  const link: readonly Unwanted[] = held.link === undefined ? [] : [{ cluster: source, of: LINKS, object: held.link }];
  const gone = [...link, ...traces.credentials];
  // A run that was stopped half-way leaves something of the Link; without that, another one is meant.
  if (gone.length + traces.access.length === 0 && !(await hasLease(source, cluster, flags)))
    refuseProblems(foreignProblems(source, heirs, cluster));
  if (gone.length + mirrors.length + left.length === 0) {
    const known = flags.name === undefined ? linksTo(held, target?.targetUid) : [];
    refuseProblems(known.map(({ metadata }) => misnamed(source, metadata, cluster)));
    printLine(`nothing is left of a Link to ${cluster} in ${source.context}`);
  }
  const [heir] = heirs.map(({ metadata }) => metadata.name);
  const stay =
    heir === undefined
      ? leftNotes(source, cluster, left)
      : [`the ${mirrors.length + left.length} mirrors of ${cluster} stay, since Link ${heir} names this cluster, too`];
  for (const each of [...stay, ...traces.notes]) note(each);
  if (!flags.apply) {
    await printDeletions([...gone, ...traces.access], flags);
    if (mirrors.length > 0 && heir === undefined)
      note(`the operator would remove ${mirrors.length} mirrors from ${source.context}`);
    return;
  }
  const trials = [
    // What is waited for must be seen.
    () => source.find(LEASES, leaseOf(cluster, flags)),
    ...deletionTrials([...gone, ...traces.access]),
  ];
  await withReport(resultFormat(flags), trials, async (report) => {
    await recordIntent(source, cluster, flags);
    await markLeft(cluster, traces.credentials, held);
    await executeDeletions(link, report);
    await untilGone(source, held.link, flags);
    await untilRemoved(source, cluster, { heir, scope }, flags);
    const now = await tracesOf(await readAgain(source, cluster, held, flags));
    for (const each of now.notes.filter((text) => !traces.notes.includes(text))) note(each);
    await executeDeletions(now.credentials, report);
    await executeDeletions(now.access, report);
  });
};

/**
 * What a source has beside what was read of a Link before the operator was waited for.
 * @throws CommandError if somebody has made the Link anew meanwhile
 */
const readAgain = async (source: Cluster, cluster: string, before: Held, flags: UnlinkFlags): Promise<Held> => {
  const { link, secret, copy, others, otherLinks } = await readHeld(source, cluster, flags);
  if (link !== undefined && link.metadata.uid !== before.link?.metadata.uid) {
    const reason = 'was made while the command ran: the credentials and the account, which it may read with, stay';
    const remedy = 'if it is to go, too, run the command again';
    refuseProblems([{ object: source.title(LINKS.kind, link.metadata), reason, remedy }]);
  }
  const own = [before.secret, before.copy].map((each) => each?.metadata.uid);
  const all = [secret, copy, ...others].filter((each) => each !== undefined);
  return { ...before, otherLinks, others: all.filter(({ metadata }) => !own.includes(metadata.uid)) };
};

/** Without a name, that of the target's context is looked for. */
const misnamed = (source: Cluster, link: LinkObject['metadata'], context: string): Problem => ({
  object: source.title(LINKS.kind, link),
  reason: `leads to ${context}, and there is no Link of that name`,
  remedy: `add --name ${link.name}`,
});

/** The Link must have the name of its cluster: what it leaves is found by that. */
const foreignProblems = (source: Cluster, links: readonly LinkObject[], name: string) =>
  links.flatMap(({ metadata, spec }) => {
    const { targetClusterName: cluster = '' } = spec ?? {};
    if (metadata.name === name && cluster === name) return [];
    const remove = byKubectl(source, '-n', metadata.namespace ?? '', 'delete', LinkApi.crd, metadata.name);
    return [
      {
        object: source.title(LINKS.kind, metadata),
        reason: `is to cluster ${cluster}`,
        remedy: `delete it with ${remove}, and run the command again with --name ${cluster}`,
      },
    ];
  });

/** The mirrors of a cluster, those of its gateway's probe among them, and those that the operator leaves. */
const mirrorsOf = async (
  source: Cluster,
  cluster: string,
  scope: WriteScope,
): Promise<{ readonly mirrors: readonly KubeObject[]; readonly left: readonly KubeObject[] }> => {
  const all = await source.list(SERVICES, { labelSelector: `${Label.clusterName}=${cluster}` });
  return {
    mirrors: all.filter((each) => isRemoved(each, scope)),
    left: all.filter((each) => !isRemoved(each, scope)),
  };
};

const leaseOf = (
  cluster: string,
  { namespace }: UnlinkFlags,
): { readonly namespace: string; readonly name: string } => ({
  namespace,
  name: writeLeaseName(cluster),
});

/** Reports whether a Lease records what the operator has mirrored. Linkerd's controller leaves one without a record. */
const isRecordOf = (lease: Lease | undefined, cluster: string): boolean =>
  lease?.metadata.annotations?.[Annotation.targetCluster] === cluster;

/** Reports whether the Lease of a Link is left, as far as it may be read. */
const hasLease = async (source: Cluster, cluster: string, flags: UnlinkFlags): Promise<boolean> => {
  const read = await ifAllowed(() => source.find<Lease>(LEASES, leaseOf(cluster, flags)));
  return 'found' in read && isRecordOf(read.found, cluster);
};

/** Has an operator that was away, and finds no Link, know that a person has removed it (rule E5). */
const recordIntent = async (source: Cluster, cluster: string, flags: UnlinkFlags): Promise<void> => {
  const ref = leaseOf(cluster, flags);
  // Without the right, the operator takes its time.
  await ifAllowed(async () => {
    const lease = await source.find<Lease>(LEASES, ref);
    if (!isRecordOf(lease, cluster)) return;
    const annotations = { [Annotation.unlinked]: new Date().toISOString() };
    try {
      await source.patch(LEASES, ref, { metadata: { uid: lease?.metadata.uid, annotations } });
    } catch (error) {
      // An operator that has just removed everything deletes its Lease last.
      const cause = error instanceof CommandError ? error.cause : undefined;
      if (!isNotFound(cause) && !isConflict(cause)) throw error;
    }
  });
};

/** What a run that is stopped leaves of a Link may have any name: it is marked before the Link goes. */
const markLeft = async (cluster: string, going: readonly Unwanted[], { link, secret }: Held): Promise<void> => {
  const unwanted = going.find(({ object }) => object === secret);
  if (link === undefined || unwanted === undefined || secret?.metadata.name === credentialsName(cluster)) return;
  const { uid, ...ref } = unwanted.object.metadata;
  const metadata = { uid, annotations: { [Annotation.unlinked]: cluster } };
  await ifAllowed(() => unwanted.cluster.patch(SECRETS, ref, { metadata }));
};

/** With the Secret that such a run has marked. */
const withLeft = (held: Held, cluster: string, { namespace }: UnlinkFlags): Held => {
  const secret = held.others.find(
    ({ metadata }) => metadata.namespace === namespace && metadata.annotations?.[Annotation.unlinked] === cluster,
  );
  if (held.link !== undefined || secret === undefined) return held;
  const rest = held.others.filter((each) => each !== secret);
  const others = held.secret === undefined ? rest : [...rest, held.secret];
  return { ...held, secretName: secret.metadata.name, secret, others };
};

/** Waits until the Link is gone, which finalizers of others may keep: it is served until then. */
const untilGone = async (source: Cluster, link: LinkObject | undefined, flags: UnlinkFlags): Promise<void> => {
  if (link === undefined) return;
  const title = source.title(LINKS.kind, link.metadata);
  await waitFor(
    `${title} to go`,
    async () => {
      const { metadata } = (await source.find<LinkObject>(LINKS, link.metadata)) ?? {};
      if (metadata?.uid !== link.metadata.uid) return { done: undefined };
      const names = (metadata?.finalizers ?? []).map((each) => cut(each));
      return { pending: `finalizers keep it: ${names.join(', ')}` };
    },
    {
      timeoutMs: flags.timeout,
      problem: (pending, waitedMs) => ({
        object: title,
        reason: `is still there after ${waitedMs / 1000} s: ${pending}`,
        remedy: 'see why those who have set them do not take them away, and run the command again',
      }),
    },
  );
};

/**
 * Waits until the operator has removed the mirrors that it removes, and then the Lease that records them.
 * @param until.heir the Link that keeps the mirrors: then only until nobody writes under that Lease
 */
const untilRemoved = async (
  source: Cluster,
  cluster: string,
  { heir, scope }: { readonly heir: string | undefined; readonly scope: WriteScope },
  flags: UnlinkFlags,
): Promise<void> => {
  const lease = leaseOf(cluster, flags);
  await waitFor(
    `the operator to remove the mirrors of ${cluster}`,
    async () => {
      const { length } = heir === undefined ? (await mirrorsOf(source, cluster, scope)).mirrors : [];
      if (length > 0) return { pending: `${length} are left` };
      const found = await source.find<Lease>(LEASES, lease);
      // Beside a suspended Link it stays, as the record of what that Link keeps; nobody serves by it any more.
      const isLeft = isRecordOf(found, cluster) && (heir === undefined || holderOf(found) !== '');
      return isLeft ? { pending: 'its Lease is left' } : { done: undefined };
    },
    {
      timeoutMs: flags.timeout,
      problem: (pending, waitedMs) => ({
        object: `mirrors of ${cluster} in ${source.context}`,
        reason: `${pending} after ${waitedMs / 1000} s`,
        remedy: 'see whether the operator runs, and run the command again',
      }),
    },
  );
};
