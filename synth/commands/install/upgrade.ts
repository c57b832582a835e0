/**
 * `linkspan upgrade`: brings an installation to the version of Linkspan that runs. Settings that no flag gives stay as they
 * were recorded, and so does what others have set. It prints what would change, field by field; with `--apply` it writes
 * that, and deletes what an earlier version has made and this one does not make.
 */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { Default } from '../../../crds/wire.ts';
import { OPEN, setOf } from '../../../operator/access/objects.ts';
import { keyOf } from '../../../operator/kube/objects.ts';
import type { Change, Deletion } from '../common/change-set/compare.ts';
import { execute, executeDeletions } from '../common/change-set/execute.ts';
import { changesReport, changesText } from '../common/change-set/text.ts';
import { creationTrials, deletionTrials } from '../common/change-set/trial.ts';
import type { Unwanted } from '../common/change-set/want.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { CommandError, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { AUTHORIZATION_POLICIES, CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES } from '../common/kinds.ts';
import { reportText, withReport } from '../common/output.ts';
import { note, print, warn } from '../../print.ts';
import type { UpgradeFlags } from './flags.ts';
import { applyInstall, askedOf } from './install.ts';
import { installManifests } from './manifests.ts';
import { sayNext } from './next-step.ts';
import { findOurs, isAccessPolicy, isGateway } from './ownership.ts';
import { readerProblems, readersOf } from './readers.ts';
import { foreignProblems, imageProblems, noteChanges, noteForeign, review, summarized } from './review.ts';
import { untilOperatorRuns } from './rollout.ts';
import { type InstallRecord, RECORD_NAME, settingsOf } from './settings.ts';
import { clusterProblems, domainsOf, findRecord } from './survey.ts';
import { isNewer, VERSION } from './version.ts';

/** Runs the command. Sets the exit code. */
export const upgrade = (flags: UpgradeFlags): Promise<void> =>
  reportingProblems(() => withCluster(flags, (cluster) => upgradeIn(cluster, flags)));

const upgradeIn = async (cluster: Cluster, flags: UpgradeFlags): Promise<void> => {
  const { namespace, apply, output } = flags;
  const record = await recordOf(cluster, namespace);
  const settings = await settingsOf(flags, record.settings);
  const domains = await domainsOf(cluster, settings);
  const { objects, warnings } = installManifests(namespace, settings, domains);
  warnings.forEach(warn);
  const stale = await staleObjects(cluster, namespace, objects);
  const isOpen = settings.gatewayAccess === 'open';
  refuseProblems([
    ...versionProblems(cluster, record),
    ...(await clusterProblems(cluster, namespace, settings.linkerdNamespace, objects)),
    ...(await gatewayProblems(cluster, namespace, stale)),
  ]);
  noteVersions(cluster, record, settings.image);
  const asked = askedOf(flags, settings, objects, domains);
  const changes = await review(cluster, asked);
  if (!apply) {
    const all = [...changes.map(summarized), ...stale.map((want): Deletion => ({ want, outcome: 'deleted' }))];
    await print(output === undefined ? changesText(all) : reportText(reportOf(record, all), output));
  }
  const { linkerdNamespace } = settings;
  const defaults = installManifests(namespace, { linkerdNamespace }, domains).objects;
  refuseProblems([...imageProblems(cluster, changes, asked, defaults), ...foreignProblems(changes)]);
  noteForeign(cluster, changes);
  if (!apply) return;
  noteChanges(cluster, changes);
  await withReport(output, [...creationTrials(changes), ...deletionTrials(stale)], async (report) => {
    await applyInstall(cluster, changes, flags, report);
    // The pods that run until now may need what goes.
    if ((isOpen || stale.some(isRight)) && flags.wait !== false) {
      await untilOperatorRuns(cluster, namespace, flags.timeout);
      refuseProblems(await gatewayProblems(cluster, namespace, stale));
    }
    await executeDeletions(stale, report);
    // One that still closes the gateway takes the policy for everyone away, until it is replaced.
    if (isOpen) await execute((await review(cluster, asked)).filter(isOpening), report);
  });
  if (isOpen && flags.wait === false)
    note('the gateway may stay closed: run the command again when the operator that it writes runs');
  await sayNext(cluster, { namespace, linkerdNamespace });
};

/** A change of the policy by which everyone in the mesh may use the gateway. */
const isOpening = ({ want: { object }, outcome }: Change): boolean =>
  object.kind === AUTHORIZATION_POLICIES.kind && setOf(object) === OPEN && outcome !== 'unchanged';

const isRight = ({ of }: Unwanted): boolean =>
  [ROLES, ROLE_BINDINGS, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS].includes(of);

/** The gateway goes only when no other cluster reads this one, which may reach it through the gateway. */
const gatewayProblems = async (
  cluster: Cluster,
  namespace: string,
  stale: readonly Unwanted[],
): Promise<readonly Problem[]> =>
  stale.some(isGateway) ? readerProblems(cluster, namespace, await readersOf(cluster, namespace)) : [];

/** What is installed. @throws CommandError if nothing is */
const recordOf = async (cluster: Cluster, namespace: string): Promise<InstallRecord> => {
  const record = await findRecord(cluster, namespace);
  if (record !== undefined) return record;
  throw new CommandError([
    {
      object: cluster.title('ConfigMap', { namespace, name: RECORD_NAME }),
      reason: 'not found: Linkspan was not installed there by linkspan install',
      remedy: 'install it, or name its namespace with --namespace',
    },
  ]);
};

/** Settings of a newer version may mean what this one does not know. */
const versionProblems = ({ context }: Cluster, { version }: InstallRecord): readonly Problem[] =>
  isNewer(version, VERSION)
    ? [
        {
          object: `Linkspan of ${context}`,
          reason: `was installed in version ${version}, which is newer than this one, ${VERSION}`,
          remedy: `use linkspan ${version} or later`,
        },
      ]
    : [];

const noteVersions = ({ context }: Cluster, { version, settings }: InstallRecord, image: string | undefined): void => {
  note(`${context} has Linkspan ${version}, and this is ${VERSION}`);
  if (version !== VERSION && image === settings.image)
    note(`the image stays ${image ?? 'as it was'}: name that of ${VERSION} with --image`);
};

/**
 * What an earlier version has made, or these settings no longer ask for. The policy of a gateway that stays is the
 * operator's to keep: without it, what is exported would be refused.
 */
const staleObjects = async (
  cluster: Cluster,
  namespace: string,
  objects: readonly ApiJson[],
): Promise<readonly Unwanted[]> => {
  const wanted = new Set(objects.map((object) => `${object.kind} ${keyOf(object)}`));
  const hasGateway = objects.some(({ kind, metadata }) => kind === 'Server' && metadata.name === Default.gatewayName);
  return (await findOurs(cluster, namespace))
    .filter((found) => !hasGateway || !isAccessPolicy(found))
    .filter(({ of, object }) => !wanted.has(`${of.kind} ${keyOf(object)}`))
    .map((each) => ({ cluster, ...each }));
};

const reportOf = ({ version }: InstallRecord, changes: readonly (Change | Deletion)[]): object => ({
  installed: version,
  version: VERSION,
  changes: changesReport(changes),
});
