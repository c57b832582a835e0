/**
 * `linkspan install`: namespace, CRD, gateway, policy and operator of one cluster. It prints the manifests, for which it
 * needs no cluster; with `--apply` it writes them, after all that stands in the way was reported. Over an installation of
 * Linkerd's extension it takes the gateway over in place.
 */
import { Yaml } from 'cdk8s';
import type { ApiJson } from '../../../constructs/mirror/render.ts';
import { LinkApi } from '../../../crds/wire.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { ExitCode, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { LINKS } from '../common/kinds.ts';
import { reportText, type ResultReport, withReport } from '../common/output.ts';
import { waitFor } from '../common/wait.ts';
import { note, print, printLine, warn } from '../../print.ts';
import type { InstallFlags } from './flags.ts';
import { EXAMPLE_IMAGE, installManifests } from './manifests.ts';
import { asOwned } from './ownership.ts';
import { isSame, type Settings, settingsOf } from './settings.ts';
import { clusterProblems, findRecord, linkerdControllers, trustDomainOf } from './survey.ts';
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
    if (flags.apply ?? flags.context ?? flags.kubeconfig) {
      await withCluster(flags, (cluster) => installIn(cluster, flags, settings));
      return;
    }
    note('the trust domain is that of the values files, or cluster.local: with --context it is read from the cluster');
    if (settings.image === undefined) note(NO_IMAGE);
    await print(objectsText(objects, flags.output));
  });

const NO_IMAGE = `the image is ${EXAMPLE_IMAGE}, which stands for yours: none is published; name it with --image`;

/** No image is published, so that there is no default. */
const imageProblems = (image: string | undefined): readonly Problem[] =>
  image === undefined
    ? [
        {
          object: '--image',
          reason: 'is required with --apply: no image is published yet',
          remedy: 'build it as the README says, push it to a registry that the cluster reaches, and name it',
        },
      ]
    : [];

const installIn = async (cluster: Cluster, flags: InstallFlags, settings: Settings): Promise<void> => {
  const { namespace, linkerdNamespace, apply, output } = flags;
  const trustDomain = await trustDomainOf(cluster, settings);
  const { objects } = installManifests(namespace, settings, trustDomain);
  if (!apply) {
    if (settings.image === undefined) note(NO_IMAGE);
    await print(objectsText(objects, output));
    return;
  }
  refuseProblems([
    ...(await clusterProblems(cluster, namespace, linkerdNamespace, objects)),
    ...(await recordProblems(cluster, namespace, settings)),
  ]);
  await withReport(output, (report) => applyInstall(cluster, objects, report));
  await warnOfControllers(cluster, namespace);
  printLine(`Linkspan ${VERSION} is installed in ${cluster.context}; linkspan link gives it a target`);
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
      remedy: 'linkspan upgrade changes what its flags name, and keeps the rest',
    },
  ];
};

/** Applies the objects in their order, and waits until Links can be made. What was there before stays without our label. */
export const applyInstall = async (
  cluster: Cluster,
  objects: readonly ApiJson[],
  report: ResultReport,
): Promise<void> => {
  for (const object of objects) {
    const outcome = await cluster.apply(await asOwned(cluster, object));
    await report.add({ context: cluster.context, object, outcome });
  }
  const crd = cluster.title('CustomResourceDefinition', { name: LinkApi.crd });
  await waitFor(
    crd,
    async () => ((await cluster.serves(LINKS)) ? { done: undefined } : { pending: 'Links are not served yet' }),
    {
      timeoutMs: SERVED_TIMEOUT_MS,
      problem: (pending, waitedMs) => ({
        object: crd,
        reason: `${pending}, after ${waitedMs / 1000} s`,
        remedy: 'see its conditions with kubectl describe',
      }),
    },
  );
};

/** Linkerd's controllers go on: they and the operator share the Leases of the Links. */
export const warnOfControllers = async (cluster: Cluster, namespace: string): Promise<void> => {
  const found = await linkerdControllers(cluster, namespace);
  for (const { name, targetCluster } of found) {
    const title = cluster.title('Deployment', { namespace, name });
    warn(`${title}: Linkerd's controller mirrors ${targetCluster}, until linkspan migrate hands its Link over`);
  }
};

/** Manifests that `kubectl apply -f -` takes: YAML, or a JSON list. */
export const objectsText = (objects: readonly ApiJson[], format: 'yaml' | 'json' = 'yaml'): string =>
  format === 'yaml'
    ? Yaml.stringify(...objects)
    : reportText({ apiVersion: 'v1', kind: 'List', items: objects }, 'json');
