/**
 * `linkspan install`: namespace, CRD, gateway, policy and operator of one cluster. It prints the manifests, for which it
 * needs no cluster, or what would change of one; with `--apply` it writes them, after all that stands in the way was
 * reported. Over an installation of Linkerd's extension it takes the gateway over in place, with its settings.
 */
import { Yaml } from 'cdk8s';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { LinkApi } from '../../../crds/wire.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { ExitCode, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import type { Change } from '../common/change-set/compare.ts';
import { execute } from '../common/change-set/execute.ts';
import { changesText } from '../common/change-set/text.ts';
import { creationTrials } from '../common/change-set/trial.ts';
import { kubectl, linkspan } from '../common/command-text.ts';
import { LINKS } from '../common/kinds.ts';
import type { Domains } from '../common/linkerd.ts';
import { reportText, type ResultReport, withReport } from '../common/output.ts';
import { namespaceWords } from '../common/remedies.ts';
import { waitFor } from '../common/wait.ts';
import { note, print, warn } from '../../print.ts';
import type { InstallFlags, SettingFlags, WriteFlags } from './flags.ts';
import { EXAMPLE_IMAGE, installManifests, RELEASED_IMAGE } from './manifests.ts';
import { sayNext } from './next-step.ts';
import { type Asked, foreignProblems, noteChanges, noteForeign, review, summarized } from './review.ts';
import { untilOperatorRuns } from './rollout.ts';
import { isSame, type Settings, settingsOf } from './settings.ts';
import { clusterProblems, domainsOf, findRecord } from './survey.ts';
import { VERSION } from './version.ts';

/** How long an API server may take to serve a new kind. */
const SERVED_TIMEOUT_MS = 30_000;

/** Runs the command. Sets the exit code. */
export const install = (flags: InstallFlags): Promise<void> =>
  reportingProblems(async () => {
    refuseProblems(flags.apply ? imageProblems(flags.image) : [], ExitCode.usage);
    const settings = await settingsOf(flags, { linkerdNamespace: flags.linkerdNamespace });
    // What no manifest can have is refused before a cluster is asked.
    const { objects, warnings } = installManifests(flags.namespace, settings, undefined);
    warnings.forEach(warn);
    const isOfCluster = flags.output === 'diff' || (flags.apply ?? flags.context ?? flags.kubeconfig) !== undefined;
    if (isOfCluster) {
      await withCluster(flags, (cluster) => installIn(cluster, flags, settings));
      return;
    }
    note('the trust domain is that of the values files, or cluster.local: with --context it is read from the cluster');
    if (settings.image === undefined) note(NO_IMAGE);
    await print(objectsText(objects, flags.output === 'json' ? 'json' : 'yaml'));
  });

const NO_IMAGE = `the image is ${EXAMPLE_IMAGE}, which stands for yours; name it with --image`;

/** There is no default: what was built from a checkout has no image that is published. */
const imageProblems = (image: string | undefined): readonly Problem[] =>
  image === undefined
    ? [
        {
          object: '--image',
          reason: 'is required with --apply',
          remedy: `that of a release is ${RELEASED_IMAGE}; from a checkout, build one as README.md says, push it to a registry that the cluster reaches, and name it`,
        },
      ]
    : [];

const installIn = async (cluster: Cluster, flags: InstallFlags, settings: Settings): Promise<void> => {
  const { namespace, linkerdNamespace, apply, output } = flags;
  const domains = await domainsOf(cluster, settings);
  const { objects } = installManifests(namespace, settings, domains);
  if (!apply && settings.image === undefined) note(NO_IMAGE);
  if (!apply && formatOf(flags) !== 'diff') {
    await print(objectsText(objects, output === 'json' ? 'json' : 'yaml'));
    return;
  }
  refuseProblems([
    ...(await clusterProblems(cluster, namespace, linkerdNamespace, objects)),
    ...(await recordProblems(cluster, namespace, settings)),
  ]);
  const changes = await review(cluster, askedOf(flags, settings, objects, domains));
  if (!apply) await print(changesText(changes.map(summarized)));
  refuseProblems(foreignProblems(changes));
  noteForeign(cluster, changes);
  if (!apply) return;
  noteChanges(cluster, changes);
  await withReport(output === 'diff' ? undefined : output, creationTrials(changes), (report) =>
    applyInstall(cluster, changes, flags, report),
  );
  await sayNext(cluster, flags);
};

/** A person at a terminal reads what would change; a pipe takes manifests. */
const formatOf = ({ output }: InstallFlags): InstallFlags['output'] =>
  output ?? (process.stdout.isTTY ? 'diff' : undefined);

/** What a review is of: the settings, and those without what the flags of this run give. */
export const askedOf = (
  flags: SettingFlags & Pick<WriteFlags, 'forceConflicts'> & { readonly namespace: string },
  settings: Settings,
  objects: readonly ApiJson[],
  domains: Domains,
): Asked => {
  const given = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [[name, undefined]]));
  const { linkerdNamespace } = settings;
  const without: Settings = { ...settings, ...(Object.fromEntries(given) as Partial<Settings>), linkerdNamespace };
  return {
    objects,
    without: installManifests(flags.namespace, without, domains).objects,
    namesNetworks: flags.sourceNetworks !== undefined,
    force: flags.forceConflicts ?? false,
  };
};

/** An installation with other settings is changed by an upgrade, which keeps what is not given. */
const recordProblems = async (cluster: Cluster, namespace: string, settings: Settings): Promise<readonly Problem[]> => {
  const record = await findRecord(cluster, namespace);
  if (record === undefined || (record.version === VERSION && isSame(record.settings, settings))) return [];
  const what = record.version === VERSION ? 'with other settings' : `in version ${record.version}`;
  return [
    {
      object: `namespace ${namespace} of ${cluster.context}`,
      reason: `Linkspan is installed there ${what}`,
      remedy: `\`${linkspan(cluster, 'upgrade', ...namespaceWords(namespace))}\` changes what its flags name, and keeps the rest`,
    },
  ];
};

/**
 * Writes an installation in an order in which a stop leaves what works, and a second run finishes: the record first, what
 * runs last. Waits until Links can be made, and until the operator runs.
 */
export const applyInstall = async (
  cluster: Cluster,
  changes: readonly Change[],
  { namespace, wait, timeout }: WriteFlags & { readonly namespace: string },
  report: ResultReport,
): Promise<void> => {
  await execute(changes, report);
  const crd = cluster.title('CustomResourceDefinition', { name: LinkApi.crd });
  await waitFor(
    crd,
    async () => ((await cluster.serves(LINKS)) ? { done: undefined } : { pending: 'Links are not served yet' }),
    {
      timeoutMs: SERVED_TIMEOUT_MS,
      problem: (pending, waitedMs) => ({
        object: crd,
        reason: `${pending}, after ${waitedMs / 1000} s`,
        remedy: kubectl(cluster, 'describe', 'customresourcedefinition', LinkApi.crd),
      }),
    },
  );
  if (wait ?? process.stdout.isTTY) await untilOperatorRuns(cluster, namespace, timeout);
};

/** Manifests that `kubectl apply -f -` takes: YAML, or a JSON list. */
export const objectsText = (objects: readonly ApiJson[], format: 'yaml' | 'json' = 'yaml'): string =>
  format === 'yaml'
    ? Yaml.stringify(...objects)
    : reportText({ apiVersion: 'v1', kind: 'List', items: objects }, 'json');
