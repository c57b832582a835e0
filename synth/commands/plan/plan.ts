/**
 * `linkspan plan`: what Links, as given in a file, would have the operator create, change and delete, with conflicts.
 * It is the operator that is asked: its own steps are made against a model of the source cluster. Nothing is written.
 * Exits 0 if nothing would change, 2 if something would, and 1 if it cannot be said, a usage error included.
 */
import { formatFieldErrors } from '../../../crds/field-error.ts';
import { type LinkSettings, readLink } from '../../../crds/index.ts';
import { ENDPOINT_SLICES, NAMESPACES, type Secret, SECRETS, SERVICES } from '../../../operator/kube/objects.ts';
import type { ServedLink } from '../../../operator/forecast/index.ts';
import { note, print, printLine } from '../../print.ts';
import { withCluster } from '../common/cluster.ts';
import { ExitCode, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { LINKS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { dumpReader, holds, type Manifest, readManifests } from '../common/manifest-files.ts';
import { type ClusterReader, liveReader } from '../common/reader.ts';
import type { PlanFlags } from './flags.ts';
import { linkTitle, planLinks } from './links.ts';
import { planReport, planSummary, planText } from './report.ts';
import { readSource } from './source.ts';
import { readServed, withTarget } from './target.ts';

/** Exit code if something would change. */
const CHANGES = 2;

/** Runs the command. Sets the exit code. */
export const plan = async (flags: PlanFlags): Promise<void> => {
  let changes: number | undefined;
  await reportingProblems(async () => {
    const given = await readFile(flags);
    changes = await withSource(flags, (reader) => planGiven(reader, given, flags));
  });
  process.exitCode = changes === undefined ? ExitCode.failed : changes > 0 ? CHANGES : 0;
};

/** What the file holds. */
interface Given {
  readonly links: readonly LinkObject[];
  readonly secrets: readonly Secret[];
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
  return { links, secrets: await reader.select<Secret>(SECRETS, { namespace }) };
};

const linkProblems = (link: LinkObject, file: string, namespace: string): Problem[] => {
  const object = `${linkTitle(link.metadata.namespace ?? '', link.metadata.name)} of ${file}`;
  if (link.metadata.namespace !== namespace) {
    return [{ object, reason: `is not in ${namespace}, where Links are`, remedy: 'move it, or use --namespace' }];
  }
  const read = readLink(link);
  if (read.ok) return [];
  return [{ object, reason: formatFieldErrors(read.errors), remedy: 'the operator would not accept it: mend it' }];
};

const withSource = async <T>(flags: PlanFlags, work: (reader: ClusterReader) => Promise<T>): Promise<T> => {
  const { sourceDump } = flags;
  if (sourceDump === undefined) return withCluster(flags, (cluster) => work(liveReader(cluster)));
  const manifests = await readManifests('--source-dump', sourceDump);
  noteMissing(sourceDump, manifests, [NAMESPACES, SERVICES]);
  return work(dumpReader(sourceDump, manifests));
};

/** Returns how many objects would change. */
const planGiven = async (reader: ClusterReader, { links, secrets }: Given, flags: PlanFlags): Promise<number> => {
  const source = await readSource(reader, flags, links);
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
  return report.changes.length;
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
