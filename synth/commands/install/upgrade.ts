/**
 * `linkspan upgrade`: brings an installation to the version of Linkspan that runs. Settings that no flag gives stay as they
 * were recorded. It prints the difference of each object; with `--apply` it writes them, and deletes what an earlier version
 * has made and this one does not make.
 */
import { Yaml } from 'cdk8s';
import type { ApiJson } from '../../../constructs/mirror/render.ts';
import { keyOf, type KubeObject } from '../../../operator/kube/objects.ts';
import { deleteAll, type Found } from '../common/apply.ts';
import { type Cluster, type Outcome, withCluster } from '../common/cluster.ts';
import { CommandError, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { resourceOf } from '../common/kinds.ts';
import { reportText, withReport } from '../common/output.ts';
import { note, print, warn } from '../../print.ts';
import { unifiedDiff } from '../../tree/diff.ts';
import type { UpgradeFlags } from './flags.ts';
import { applyInstall, warnOfControllers } from './install.ts';
import { installManifests } from './manifests.ts';
import { asOwned, findOurs } from './ownership.ts';
import { type InstallRecord, RECORD_NAME, settingsOf } from './settings.ts';
import { clusterProblems, findRecord, trustDomainOf } from './survey.ts';
import { isNewer, VERSION } from './version.ts';

/** Runs the command. Sets the exit code. */
export const upgrade = (flags: UpgradeFlags): Promise<void> =>
  reportingProblems(() => withCluster(flags, (cluster) => upgradeIn(cluster, flags)));

const upgradeIn = async (cluster: Cluster, flags: UpgradeFlags): Promise<void> => {
  const { namespace, apply, output } = flags;
  const record = await recordOf(cluster, namespace);
  const settings = await settingsOf(flags, record.settings);
  const trustDomain = await trustDomainOf(cluster, settings);
  const { objects, warnings } = installManifests(namespace, settings, trustDomain);
  warnings.forEach(warn);
  refuseProblems([
    ...versionProblems(cluster, record),
    ...(await clusterProblems(cluster, namespace, settings.linkerdNamespace, objects)),
  ]);
  noteVersions(cluster, record, settings.image);
  const stale = await staleObjects(cluster, namespace, objects);
  if (!apply) {
    const changes = [
      ...(await Promise.all(objects.map((object) => changeOf(cluster, object)))),
      ...stale.map(deletionOf),
    ];
    await print(output === undefined ? diffsText(changes) : reportText(reportOf(record, changes), output));
    return;
  }
  await withReport(output, async (report) => {
    await applyInstall(cluster, objects, report);
    await deleteAll(cluster, stale, report);
  });
  await warnOfControllers(cluster, namespace);
};

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

/** What an earlier version has made, or these settings no longer ask for. */
const staleObjects = async (
  cluster: Cluster,
  namespace: string,
  objects: readonly ApiJson[],
): Promise<readonly Found[]> => {
  const wanted = new Set(objects.map((object) => `${object.kind} ${keyOf(object)}`));
  return (await findOurs(cluster, namespace)).filter(({ of, object }) => !wanted.has(`${of.kind} ${keyOf(object)}`));
};

/** What an upgrade does to one object. */
interface Change {
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly outcome: Outcome;
  /** A unified diff; empty if nothing changes. */
  readonly diff: string;
}

const changeOf = async (cluster: Cluster, object: ApiJson): Promise<Change> => {
  const { kind, metadata } = object;
  const before = await cluster.find(resourceOf(object), metadata);
  const after = await cluster.preview<KubeObject>(await asOwned(cluster, object));
  const diff = diffOf(object, before && shownOf(before), shownOf(after));
  const outcome = before === undefined ? 'created' : diff === '' ? 'unchanged' : 'configured';
  return { kind, namespace: metadata.namespace, name: metadata.name, outcome, diff };
};

const deletionOf = ({ of, object }: Found): Change => {
  const { kind } = of;
  const { namespace, name } = object.metadata;
  const diff = diffOf({ kind, metadata: { namespace, name } }, shownOf(object), undefined);
  return { kind, namespace, name, outcome: 'deleted', diff };
};

interface Named {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string | undefined; readonly name: string };
}

const diffOf = ({ kind, metadata }: Named, before: string | undefined, after: string | undefined): string =>
  unifiedDiff([kind.toLowerCase(), metadata.namespace, metadata.name].filter(Boolean).join('/'), before, after);

/** An object without what the API server writes by itself. */
const shownOf = (object: KubeObject): string => {
  const { managedFields: _, resourceVersion, generation, uid, creationTimestamp, ...metadata } = object.metadata;
  const { status, ...rest } = object as KubeObject & { readonly status?: unknown };
  return Yaml.stringify({ ...rest, metadata });
};

const diffsText = (changes: readonly Change[]): string => {
  const changed = changes.filter(({ outcome }) => outcome !== 'unchanged');
  const lines = changed.map(({ kind, name, outcome }) => `# ${kind.toLowerCase()}/${name} would be ${outcome}\n`);
  const unchanged = changes.length - changed.length;
  return `${changed.map(({ diff }, index) => `${lines[index] ?? ''}${diff}`).join('')}# ${unchanged} objects would not change\n`;
};

const reportOf = ({ version }: InstallRecord, changes: readonly Change[]): object => ({
  installed: version,
  version: VERSION,
  changes: changes.map(({ diff, ...change }) => ({ ...change, ...(diff !== '' && { diff }) })),
});
