/**
 * `linkspan plan`: what Links, as given in a file, would have the operator create, change and delete, with conflicts.
 * It is the operator that is asked: its own steps are made against a model of the source cluster. Nothing is written.
 * Exits 0 if nothing would change, 2 if something would or is held or refused, and 1 if it cannot be said, a usage error
 * included.
 */
import { formatFieldErrors } from '../../../crds/field-error.ts';
import { type LinkSettings, readLink } from '../../../crds/index.ts';
import { OPERATOR_NAME } from '../../../crds/wire.ts';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import { ENDPOINT_SLICES, NAMESPACES, type Secret, SECRETS, SERVICES } from '../../../operator/kube/objects.ts';
import type { ServedLink } from '../../../operator/forecast/index.ts';
import { note, print, printLine } from '../../print.ts';
import { withCluster } from '../common/cluster.ts';
import { CommandError, ExitCode, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { DEPLOYMENTS, LINKS, SERVICE_FAILOVERS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { dumpReader, holds, type Manifest, readManifests } from '../common/manifest-files.ts';
import { type FoundSettings, type OperatorDeployment, settingsIn } from '../common/operator-settings.ts';
import { type ClusterReader, liveReader } from '../common/reader.ts';
import type { FailoverManifest } from './failovers.ts';
import type { PlanFlags } from './flags.ts';
import { linkTitle, planLinks } from './links.ts';
import { changeCount, planReport, planSummary, planText } from './report.ts';
import { appliedLink } from './applied.ts';
import { readSource } from './source.ts';
import { readServed, withTarget } from './target.ts';

/** Exit code if something would change. */
const CHANGES = 2;

/** Runs the command. Sets the exit code. */
export const plan = async (flags: PlanFlags): Promise<void> => {
  let changes: number | undefined;
  await reportingProblems(async () => {
    const given = await readFile(flags);
    changes = await withSource(flags, given, (reader, applied) => planGiven(reader, applied, flags));
  });
  process.exitCode = changes === undefined ? ExitCode.failed : changes > 0 ? CHANGES : 0;
};

/** What the file holds. */
interface Given {
  readonly links: readonly LinkObject[];
  readonly secrets: readonly Secret[];
  /** The operator, if the file has it, as a folder of `linkspan synth` does. */
  readonly operator: OperatorDeployment | undefined;
  readonly failovers: readonly FailoverManifest[];
}

const readFile = async ({ file, namespace, toContext, targetDump }: PlanFlags): Promise<Given> => {
  const manifests = await readManifests('--file', file);
  const within = (object: Manifest): Manifest => ({
    ...object,
    metadata: { ...object.metadata, namespace: object.metadata.namespace ?? namespace },
  });
  const reader = dumpReader(file, manifests.map(within));
  const links = await reader.select<LinkObject>(LINKS, {});
  const problems = links.flatMap((link) => linkProblems(link, file, namespace));
  if (links.length === 0) problems.push({ object: file, reason: 'holds no Link', remedy: 'name a file with one' });
  const oneTarget = toContext === undefined ? targetDump && '--target-dump' : '--to-context';
  if (links.length > 1 && oneTarget !== undefined) {
    problems.push({
      object: oneTarget,
      reason: `names one target, and ${file} holds ${links.length} Links`,
      remedy: 'plan them one by one, or by their credentials',
    });
  }
  refuseProblems(problems);
  const [secrets, operator, failovers] = await Promise.all([
    reader.select<Secret>(SECRETS, { namespace }),
    reader.find<OperatorDeployment>(DEPLOYMENTS, { namespace, name: OPERATOR_NAME }),
    reader.select<FailoverManifest>(SERVICE_FAILOVERS, {}),
  ]);
  return { links, secrets, operator, failovers };
};

const linkProblems = (link: LinkObject, file: string, namespace: string): Problem[] => {
  const object = `${linkTitle(link.metadata.namespace ?? '', link.metadata.name)} of ${file}`;
  if (link.metadata.namespace !== namespace) {
    return [{ object, reason: `is not in ${namespace}, where Links are`, remedy: 'move it, or use --namespace' }];
  }
  // What is approved may be kept in the cluster alone: an apply leaves it.
  const approved = link.spec?.importPolicy?.approved ?? [];
  const importPolicy = link.spec?.importPolicy && { ...link.spec.importPolicy, approved };
  return specProblems({ ...link, spec: { ...link.spec, importPolicy } as LinkObject['spec'] & object }, object);
};

const specProblems = (link: LinkObject, object: string): Problem[] => {
  const read = readLink(link);
  if (read.ok) return [];
  return [{ object, reason: formatFieldErrors(read.errors), remedy: 'the operator would not accept it: mend it' }];
};

/** Opens the source, and gives it to a function with the Links as they would be there. */
const withSource = async <T>(
  flags: PlanFlags,
  given: Given,
  work: (reader: ClusterReader, given: Given) => Promise<T>,
): Promise<T> => {
  const { sourceDump } = flags;
  if (sourceDump === undefined) {
    return withCluster(flags, async (cluster) => {
      const links: LinkObject[] = [];
      for (const link of given.links) links.push(await appliedLink(cluster, link, note));
      return work(liveReader(cluster), { ...given, links });
    });
  }
  const manifests = await readManifests('--source-dump', sourceDump);
  noteMissing(sourceDump, manifests, [NAMESPACES, SERVICES]);
  return work(dumpReader(sourceDump, manifests), given);
};

/** Returns how many objects would change, would be held, or are refused. */
const planGiven = async (
  reader: ClusterReader,
  { links, secrets, operator, failovers }: Given,
  flags: PlanFlags,
): Promise<number> => {
  refuseProblems(
    links.flatMap((link) => specProblems(link, linkTitle(link.metadata.namespace ?? '', link.metadata.name))),
  );
  const settings = (found: FoundSettings): FoundSettings =>
    operator === undefined ? found : { config: settingsOf(operator, flags), isInstalled: true };
  const source = await readSource(reader, flags, links, settings, failovers);
  if (!source.isInstalled) note(`no operator is installed in ${reader.context}: planned with its default settings`);
  const names = links.map(({ metadata }) => metadata.name);
  const readTarget = (settings: LinkSettings): Promise<ServedLink> => {
    const read = (target: ClusterReader): Promise<ServedLink> => readServed(source, settings, target, note);
    const named = names.includes(settings.name) ? withNamedTarget(settings, flags, read) : undefined;
    return named ?? withTarget(source, settings, secrets, read);
  };
  const planned = await planLinks(source, names, readTarget, note);
  const report = planReport(planned);
  await print(planText(report, flags.output));
  printLine(planSummary(report));
  return changeCount(report);
};

/** The settings of the operator in the file. */
const settingsOf = (operator: OperatorDeployment, { file, namespace, linkerdNamespace }: PlanFlags): OperatorConfig => {
  const read = settingsIn(operator, { namespace, controlPlaneNamespace: linkerdNamespace });
  if (read.ok) return read.config;
  const object = `Deployment ${OPERATOR_NAME} of ${file}`;
  throw new CommandError([{ object, reason: read.reason, remedy: 'the operator would not accept it: mend it' }]);
};

/** Gives the target that flags name to a function; undefined if they name none. */
const withNamedTarget = <T>(
  { cluster }: LinkSettings,
  { toContext, toKubeconfig, kubeconfig, targetDump }: PlanFlags,
  work: (target: ClusterReader) => Promise<T>,
): Promise<T> | undefined => {
  if (targetDump !== undefined) {
    return readManifests('--target-dump', targetDump).then((manifests) => {
      noteMissing(targetDump, manifests, [SERVICES, ENDPOINT_SLICES]);
      return work(dumpReader(cluster, manifests));
    });
  }
  if (toContext === undefined && toKubeconfig === undefined) return undefined;
  return withCluster({ kubeconfig: toKubeconfig ?? kubeconfig, context: toContext }, (target) =>
    work(liveReader(target)),
  );
};

const noteMissing = (path: string, manifests: readonly Manifest[], kinds: readonly (typeof SERVICES)[]): void => {
  for (const of of kinds) if (!holds(manifests, of)) note(`${path} holds no ${of.kind}`);
};
