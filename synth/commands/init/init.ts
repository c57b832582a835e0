/**
 * `linkspan init`: writes a cluster file from the contexts of a kubeconfig. It reads the clusters and writes nothing to
 * them; what they do not answer is left to the user, who finds it by its comment. What it writes, `linkspan synth` renders.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { imageReference } from '../../../constructs/common/prop-rules.ts';
import type { FieldError } from '../../../crds/field-error.ts';
import {
  kubeconfigContexts,
  loadSourceKubeconfig,
  kubeconfigServer,
} from '../../../operator/kube/access/kubeconfig.ts';
import { TerminalError } from '../../../operator/kube/errors.ts';
import { parseClusterFile } from '../../cluster-file/cluster-file.ts';
import { note, print } from '../../print.ts';
import {
  CommandError,
  ExitCode,
  fieldProblem,
  type Problem,
  refuseProblems,
  reportingProblems,
} from '../common/command-error.ts';
import { linkspan, shellWord } from '../common/command-text.ts';
import { namespaceWords } from '../common/remedies.ts';
import { EXAMPLE_IMAGE } from '../install/manifests.ts';
import { clusterNames } from './cluster-name.ts';
import { composition } from './composition.ts';
import { clusterFileText } from './file-text.ts';
import type { InitFlags } from './flags.ts';
import { findRunning, type Found, NOTHING } from './found.ts';
import { lost } from './lost.ts';
import { surveyCluster } from './survey.ts';

/** Runs the command. Sets the exit code. */
export const init = (flags: InitFlags): Promise<void> => reportingProblems(() => write(flags));

const write = async (flags: InitFlags): Promise<void> => {
  const { file, image } = flags;
  // A file with one cluster has no operator that would refuse it.
  const invalid = image === undefined ? undefined : imageReference('operator.image', image);
  if (invalid !== undefined) refuseProblems([contentProblem(invalid)], ExitCode.usage);
  // Nobody waits for clusters to learn this.
  if (existsSync(file)) throw refusedFile(file, 'EEXIST');
  const contexts = contextsOf(flags);
  const names = clusterNames(contexts);
  const members = await Promise.all(
    contexts.map((context, index) => surveyCluster(flags, context, names[index] ?? context)),
  );
  const found = await Promise.all(
    members.map(async (each) => (each.silence === undefined ? findRunning(flags, each.context) : NOTHING)),
  );
  const foundIn = (context: string): Found => found[members.findIndex((each) => each.context === context)] ?? NOTHING;
  const composed = composition(members, found, flags);
  const { text, decisions } = clusterFileText(composed, {
    namespace: flags.namespace,
    linkerdNamespace: flags.linkerdNamespace,
    image,
    exampleImage: EXAMPLE_IMAGE,
  });
  const checked = parseClusterFile(text);
  if (!checked.ok) {
    refuseProblems(checked.errors.map(contentProblem), ExitCode.usage);
    return;
  }
  await writeNew(file, text);
  for (const each of [...composed.notes, ...lost(checked.value.clusterSet, composed.members, foundIn)]) note(each);
  for (const decision of decisions) note(`${file}: ${decision}`);
  await print(`${file}: ${composed.members.length} clusters, ${decisions.length} decisions are left to you\n`);
  for (const line of nextSteps(
    file,
    composed.members.filter(({ context }) => foundIn(context).links.length > 0),
    flags,
  ))
    note(line);
};

/** The commands that render the file, and show what it would change in the clusters that have Links. */
const nextSteps = (
  file: string,
  members: readonly { readonly name: string; readonly context: string }[],
  { kubeconfig, namespace }: InitFlags,
): readonly string[] => [
  `next: \`linkspan synth --file ${shellWord(file)}\`, which writes clusters/`,
  ...members.map(({ name, context }) => {
    const plan = linkspan({ kubeconfig, context }, 'plan', '--file', `clusters/${name}`, ...namespaceWords(namespace));
    return `then: \`${plan}\`, which shows what the file changes in ${name}`;
  }),
];

/** Those that are given, else all that lead to a cluster; of several that lead to one API server, the first. */
const contextsOf = ({ context: given, kubeconfig }: InitFlags): readonly string[] => {
  const contexts = given ?? kubeconfigContexts(kubeconfig);
  const byServer = new Map<string, string>();
  const problems: Problem[] = [];
  let stale: TerminalError | undefined;
  for (const context of contexts) {
    let server: string;
    try {
      ({ server } = kubeconfigServer(loadSourceKubeconfig({ kubeconfig, context })));
    } catch (error) {
      // A kubeconfig keeps contexts of clusters that are long gone.
      if (given !== undefined || !(error instanceof TerminalError)) throw error;
      note(`context ${context} is left out: ${error.message}`);
      stale = error;
      continue;
    }
    const other = byServer.get(server);
    if (other === undefined) byServer.set(server, context);
    else if (given === undefined) note(`context ${context} is left out: it leads to the API server of ${other}`);
    else
      problems.push({
        object: '--context',
        reason: `${other} and ${context} lead to the same API server, ${server}`,
        remedy: 'name one of them',
      });
  }
  refuseProblems(problems, ExitCode.usage);
  if (byServer.size === 0 && stale !== undefined) throw stale;
  return [...byServer.values()];
};

/** What a cluster file cannot have comes from a flag: all else is made to fit. */
const contentProblem = (error: FieldError): Problem => fieldProblem(FLAG_OF_FIELD[error.path] ?? error.path, error);

const FLAG_OF_FIELD: Readonly<Record<string, string>> = {
  'operator.image': '--image',
  namespace: '--namespace',
  linkerdNamespace: '--linkerd-namespace',
};

/** Writes a file that is not there. */
const writeNew = async (file: string, text: string): Promise<void> => {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw refusedFile(file, code);
  }
};

const refusedFile = (file: string, code: string): CommandError => {
  const [reason, remedy] =
    code === 'EEXIST'
      ? ['is there already, and is not overwritten', 'name another with --file, or delete it']
      : [`cannot be written: ${code}`, 'name another with --file'];
  return new CommandError([{ object: file, reason, remedy }], ExitCode.usage);
};
