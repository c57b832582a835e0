/**
 * `linkspan uninstall`: removes what `linkspan install` has made, and nothing that it cannot prove to be ours. It refuses
 * while anything still needs the installation: Links, what the operator has made, and clusters that read this one. Without
 * `--apply` nothing is deleted, and the objects are printed.
 */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import {
  Default,
  FIELD_MANAGER,
  LOCAL_WRITE_LEASE,
  OPERATOR_LEASE,
  OPERATOR_NAME,
  COMMAND_LINE,
} from '../../../crds/wire.ts';
import { OPEN, setOf } from '../../../operator/access/objects.ts';
import { keyOf, type KubeObject, LEASES, NAMESPACES, type Resource } from '../../../operator/kube/objects.ts';
import { type Found, refOf } from '../common/apply.ts';
import { executeDeletions } from '../common/change-set/execute.ts';
import { deletionTrials } from '../common/change-set/trial.ts';
import type { Unwanted } from '../common/change-set/want.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { CommandError, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { linkspan } from '../common/command-text.ts';
import { CRDS, DEPLOYMENTS, LINKS, resourceOf, SERVICE_FAILOVERS } from '../common/kinds.ts';
import { manifestsText, type Result, type ResultReport, withReport } from '../common/output.ts';
import { namespaceWords, quoted } from '../common/remedies.ts';
import { waitFor } from '../common/wait.ts';
import { note, print } from '../../print.ts';
import type { UninstallFlags } from './flags.ts';
import { type Leftovers, leftovers } from './leftovers.ts';
import { linkProblems, readLinks } from './links-left.ts';
import { installManifests } from './manifests.ts';
import { type Content, othersIn } from './namespace-content.ts';
import { findOurs, isAccessPolicy, isGateway, isOurs } from './ownership.ts';
import { accountsElsewhere } from './rights-of-others.ts';
import { isOfLinkerd, readerProblems, readersOf } from './readers.ts';
import { operatorPods } from './rollout.ts';
import { type InstallRecord, RECORD_NAME } from './settings.ts';
import { elsewhereProblems, findRecord, otherNamespaces } from './survey.ts';

/** Runs the command. Sets the exit code. */
export const uninstall = (flags: UninstallFlags): Promise<void> =>
  reportingProblems(() => withCluster(flags, (cluster) => uninstallFrom(cluster, flags)));

const uninstallFrom = async (cluster: Cluster, flags: UninstallFlags): Promise<void> => {
  const { namespace, apply, output } = flags;
  const planned = await plan(cluster, namespace);
  const { objects, notes } = planned;
  const used = await usedBy(cluster, flags, planned);
  refuseProblems(used.problems);
  notes.push(...used.notes);
  if (objects.length === 0)
    notes.unshift(`nothing is left of Linkspan in namespace ${namespace} of ${cluster.context}`);
  for (const each of notes) note(each);
  if (!apply) {
    if (objects.length === 0) return;
    const purpose = 'objects that would be deleted';
    await print(manifestsText([{ context: cluster.context, purpose, objects: objects.map(refOf) }], output ?? 'yaml'));
    return;
  }
  const trials = [
    // What is waited for must be seen.
    () => operatorPods(cluster, namespace),
    ...deletionTrials(objects.map((each) => ({ cluster, ...each }))),
    () => releaseNamespace(cluster.trial(), namespace),
  ];
  await withReport(output, trials, (report) => remove(cluster, objects, flags, report));
};

/** What takes along what is in it, or of it. */
const HOLDERS = [CRDS, NAMESPACES];

const isOf =
  (...kinds: readonly Resource[]) =>
  ({ of }: Found): boolean =>
    kinds.includes(of);

/** Deletes the objects in their order, and waits until what takes time is gone. */
const remove = async (
  cluster: Cluster,
  objects: readonly Found[],
  flags: UninstallFlags,
  report: ResultReport,
): Promise<void> => {
  const all = objects.map((each): Unwanted & Found => ({ cluster, ...each }));
  await executeDeletions(all.filter(isOf(DEPLOYMENTS)), report);
  // A running operator needs its rights to give its Lease back, and would make the Lease again.
  await untilStopped(cluster, flags);
  await executeDeletions(
    all.filter((each) => !isOf(DEPLOYMENTS, ...HOLDERS)(each)),
    report,
  );
  const unused: (Unwanted & Found)[] = [];
  // Others may have come to use them in that time.
  for (const each of all.filter(isOf(...HOLDERS))) {
    const reason = await reasonToKeep(cluster, flags.namespace, each);
    if (reason === undefined) unused.push(each);
    else note(stayNote(cluster, each, reason));
  }
  await executeDeletions(unused, report);
  for (const { of, object } of unused) await untilGone(cluster, of, object, flags);
  for (const each of await releaseNamespace(cluster, flags.namespace)) await report.add(each);
};

/** What still needs the installation, or would be left without it. Links that others write for again do not. */
const usedBy = async (
  cluster: Cluster,
  { namespace, linkerdNamespace }: UninstallFlags,
  { operator, objects, isGatewayStaying, elsewhere }: Plan,
): Promise<Leftovers> => {
  const [record, links, readers] = await Promise.all([
    findRecord(cluster, namespace),
    readLinks(cluster, namespace),
    readersOf(cluster, namespace),
  ]);
  // A gateway of Linkerd's chart stays, and so may the accounts that came with it.
  const isGatewayGoing = objects.some(isGateway);
  const closing = isGatewayStaying ? objects.filter(isAccessPolicy) : [];
  const at = { namespace, linkerdNamespace: record?.settings.linkerdNamespace ?? linkerdNamespace };
  const left = await leftovers(cluster, at, links, elsewhere);
  // It would run on, without its rights.
  const running = objects.length === 0 || operator === undefined || isOurs(operator) ? [] : [operator];
  const problems = [
    ...(objects.length === 0 ? elsewhereProblems(cluster, elsewhere) : []),
    ...running.map(({ metadata }) => ({
      object: cluster.title(DEPLOYMENTS.kind, metadata),
      reason: 'was not made by linkspan install, and needs what would be deleted',
      remedy: 'delete it where its manifests are kept, and run the command again',
    })),
    ...closing.slice(0, 1).map(({ of, object }) => ({
      object: cluster.title(of.kind, object.metadata),
      reason: 'is of the policy that admits clients to a gateway that stays: without it, everyone is refused',
      remedy: linkspan(cluster, 'upgrade', '--gateway-access', 'open', ...namespaceWords(namespace), '--apply'),
    })),
    ...linkProblems(cluster, at, links),
    ...left.problems,
    ...readerProblems(
      cluster,
      namespace,
      readers.filter((reader) => isGatewayGoing || !isOfLinkerd(reader)),
    ),
  ];
  return { problems, notes: left.notes };
};

const isMadeBy = ({ metadata }: KubeObject, manager: string): boolean =>
  (metadata.managedFields ?? []).some((each) => each.manager === manager);

interface Plan {
  /** The Deployment of the operator, whoever has made it. */
  readonly operator: KubeObject | undefined;
  /** In the order in which they are deleted. */
  readonly objects: readonly Found[];
  /** Whether there is a gateway that others have made. One that a run which was stopped has deleted is none. */
  readonly isGatewayStaying: boolean;
  /** Other namespaces with an installation. What is not of one namespace stays for these. */
  readonly elsewhere: readonly string[];
  /** What stays, with the reason. */
  readonly notes: string[];
}

const plan = async (cluster: Cluster, namespace: string): Promise<Plan> => {
  const elsewhere = await otherNamespaces(cluster, namespace);
  const isShared = ({ of: kind, object }: Found): boolean =>
    elsewhere.length > 0 && kind !== NAMESPACES && object.metadata.namespace !== namespace;
  const found = (await findOurs(cluster, namespace)).filter((each) => !isShared(each));
  const notes = elsewhere.map((other) => {
    const write = quoted(linkspan(cluster, 'upgrade', ...namespaceWords(other), '--apply'));
    return `what is not of namespace ${namespace} stays for the installation in ${other}; afterwards, write it for that one: ${write}`;
  });
  const isKept = async ({ of: kind, object }: Found): Promise<boolean> => {
    const reason = await reasonToKeep(cluster, namespace, { of: kind, object });
    if (reason !== undefined) notes.push(stayNote(cluster, { of: kind, object }, reason));
    return reason !== undefined;
  };
  const objects: Found[] = [];
  // A gateway that Linkerd's chart has made stays, and refuses everyone without a policy.
  const isOpening = ({ object }: Found): boolean => setOf(object) === OPEN;
  const gateway = { namespace, name: Default.gatewayName };
  const isGatewayStaying = !found.some(isGateway) && (await cluster.find(DEPLOYMENTS, gateway)) !== undefined;
  const kept = isGatewayStaying ? found.filter(isOpening) : [];
  for (const { of, object } of kept)
    notes.push(`${cluster.title(of.kind, object.metadata)} stays: the gateway stays, which it lets everyone use`);
  for (const each of found) if (!kept.includes(each) && !(await isKept(each))) objects.push(each);
  notes.push(...(await takenOver(cluster, namespace)));
  const operator = await cluster.find(DEPLOYMENTS, { namespace, name: OPERATOR_NAME });
  const leases = operator === undefined || isOurs(operator) ? await ownLeases(cluster, namespace) : [];
  const isLast = ({ of: kind }: Found): boolean => kind === NAMESPACES;
  const ordered = [...objects.filter((each) => !isLast(each)), ...leases, ...objects.filter(isLast)];
  return { operator, objects: ordered, isGatewayStaying, elsewhere, notes };
};

const stayNote = (cluster: Cluster, { of, object }: Found, reason: string): string =>
  `${cluster.title(of.kind, object.metadata)} stays: ${reason}`;

/** Why a CRD, the namespace or a right cannot go: others use it, or may do so. */
const reasonToKeep = async (cluster: Cluster, namespace: string, found: Found): Promise<string | undefined> => {
  const accounts = await accountsElsewhere(cluster, namespace, found);
  if (accounts.length > 0) return `it gives rights to ServiceAccount ${accounts.slice(0, NAMED).join(', ')}`;
  const { objects, obstacles } = await usersOf(cluster, namespace, found);
  if (objects.length === 0) return obstacles[0] && `what others have in it is not known: ${obstacles[0]}`;
  const names = objects.slice(0, NAMED).map(({ of: used, object }) => `${used.kind} ${keyOf(object)}`);
  return `it has ${names.join(', ')}${objects.length > NAMED ? `, and ${objects.length - NAMED} others` : ''}`;
};

const usersOf = async (cluster: Cluster, namespace: string, { of: kind, object }: Found): Promise<Content> => {
  if (kind === NAMESPACES) return othersIn(cluster, namespace);
  const defined = [LINKS, SERVICE_FAILOVERS].find(({ plural, group }) => object.metadata.name === `${plural}.${group}`);
  if (kind !== CRDS || defined === undefined) return { objects: [], obstacles: [] };
  const users = await cluster.list(defined, {});
  return { objects: users.map((each) => ({ of: defined, object: each })), obstacles: [] };
};

/** How many objects a note names. */
const NAMED = 5;

/** What the installation uses and has not made. */
const takenOver = async (cluster: Cluster, namespace: string): Promise<readonly string[]> => {
  const record = await findRecord(cluster, namespace);
  if (record === undefined) return [];
  const objects = manifestsOf(namespace, record);
  if (objects === undefined) {
    const title = cluster.title('ConfigMap', { namespace, name: RECORD_NAME });
    return [
      `what stays that linkspan install has not made is not all known: this version cannot render what ${title} records`,
    ];
  }
  const found = await Promise.all(
    objects.map(async (object) => {
      const live = await cluster.find(resourceOf(object), object.metadata);
      return live === undefined || isOurs(live) ? [] : [cluster.title(object.kind, object.metadata)];
    }),
  );
  return found.flat().map((title) => `${title} stays: linkspan install has not made it`);
};

/** What an installation is made of; undefined if this version cannot render it, as another one may have recorded it. */
const manifestsOf = (namespace: string, { settings }: InstallRecord): readonly ApiJson[] | undefined => {
  try {
    return installManifests(namespace, settings, undefined).objects;
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
};

/** The Leases that no Link has: that of the operators, and that of local members unless Linkerd's local mirror took it. */
const ownLeases = async (cluster: Cluster, namespace: string): Promise<readonly Found[]> => {
  const [ofOperators, ofLocalMembers] = await Promise.all(
    [OPERATOR_LEASE, LOCAL_WRITE_LEASE].map((name) => cluster.find(LEASES, { namespace, name })),
  );
  const local = ofLocalMembers !== undefined && isUsedByOthers(ofLocalMembers) ? undefined : ofLocalMembers;
  return [ofOperators, local].flatMap((object) =>
    object !== undefined && isMadeBy(object, FIELD_MANAGER) ? [{ of: LEASES, object }] : [],
  );
};

const isUsedByOthers = ({ metadata }: KubeObject): boolean =>
  (metadata.managedFields ?? []).some(({ manager }) => manager !== FIELD_MANAGER);

const untilStopped = async (cluster: Cluster, { namespace, timeout }: UninstallFlags): Promise<void> => {
  await waitFor(
    'the operator to stop',
    async () => {
      const { length } = await operatorPods(cluster, namespace);
      return length > 0 ? { pending: `${length} pods run` } : { done: undefined };
    },
    {
      timeoutMs: timeout,
      problem: (pending, waitedMs) => ({
        object: `pods of the operator in namespace ${namespace} of ${cluster.context}`,
        reason: `${pending} after ${waitedMs / 1000} s`,
        remedy: 'see why they do not end, and run the command again',
      }),
    },
  );
};

const untilGone = async (
  cluster: Cluster,
  of: Resource,
  { metadata }: KubeObject,
  { timeout }: UninstallFlags,
): Promise<void> => {
  const title = cluster.title(of.kind, metadata);
  await waitFor(
    title,
    async () => {
      const found = await cluster.find(of, metadata);
      return found?.metadata.uid === metadata.uid ? { pending: 'is being deleted' } : { done: undefined };
    },
    {
      timeoutMs: timeout,
      problem: (pending, waitedMs) => ({
        object: title,
        reason: `${pending}, for ${waitedMs / 1000} s`,
        remedy: 'see the finalizers of what is in it',
      }),
    },
  );
};

/** Takes our labels off a namespace that was there before the installation. */
const releaseNamespace = async (cluster: Cluster, name: string): Promise<readonly Result[]> => {
  const found = await cluster.find(NAMESPACES, { name });
  if (found === undefined || isOurs(found) || !isMadeBy(found, COMMAND_LINE)) return [];
  const object = { apiVersion: NAMESPACES.version, kind: NAMESPACES.kind, metadata: { name } };
  return [{ context: cluster.context, object, outcome: await cluster.apply(object) }];
};
