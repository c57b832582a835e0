/**
 * `linkspan explain`: one Service from its export in the target to the ready address in the source, step by step, where it
 * stops, and what to do. The exit code is 0 if a ready address is reached, 1 otherwise.
 */
import { isDnsLabel } from '../../../crds/names.ts';
import { federatedName } from '../../../crds/wire.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { CommandError, ExitCode, reportingProblems } from '../common/command-error.ts';
import type { LinkObject } from '../common/link-object.ts';
import { linksOf } from '../common/links.ts';
import { reportText } from '../common/output.ts';
import { print } from '../../print.ts';
import { type Facts, factsOf, type ServiceRef } from './facts.ts';
import { explainFederated, type FederationFacts, federationFactsOf } from './federated.ts';
import type { ExplainFlags } from './flags.ts';
import { explainImport, type ImportFacts, importFactsOf } from './imported.ts';
import type { State } from './step.ts';
import { explain as explanationOf, type Explanation } from './steps.ts';

/** Runs the command. Sets the exit code. */
export const explain = (service: string, flags: ExplainFlags): Promise<void> =>
  reportingProblems(async () => {
    const ref = readRef(service);
    await withCluster(flags, async (source) => {
      const { toContext: context, toKubeconfig: kubeconfig = flags.kubeconfig } = flags;
      if (context === undefined) await explainFrom(source, undefined, ref, flags);
      else await withCluster({ kubeconfig, context }, (target) => explainFrom(source, target, ref, flags));
    });
  });

/** @throws CommandError for what is not `namespace/name` */
const readRef = (service: string): ServiceRef => {
  const [namespace = '', name = '', ...rest] = service.split('/');
  if (isDnsLabel(namespace) && isDnsLabel(name) && rest.length === 0) return { namespace, name };
  const reason = `"${service}" must be a namespace and a name`;
  throw new CommandError([{ object: '<service>', reason, remedy: 'as in shop/web' }], ExitCode.usage);
};

const explainFrom = async (
  source: Cluster,
  target: Cluster | undefined,
  ref: ServiceRef,
  { namespace, linkerdNamespace, name = target?.context, output }: ExplainFlags,
): Promise<void> => {
  const links = await linksOf(source, namespace);
  const chosen = name === undefined ? links : links.filter(({ spec }) => spec?.targetClusterName === name);
  if (chosen.length === 0) throw new CommandError([noLink(source, links, namespace, name)]);
  const [all, federation, imported] = await Promise.all([
    Promise.all(chosen.map((link) => factsOf(source, target, link, ref, linkerdNamespace))),
    federationFactsOf(source, links, ref),
    importFactsOf(source, ref),
  ]);
  // Without a target, only a Link that knows the Service can explain anything; what is federated or imported need not be mirrored.
  const isNarrowed = federation !== undefined || imported !== undefined || (target === undefined && all.some(knows));
  const explained = [
    ...(isNarrowed ? all.filter(knows) : all).map(mirrorOf),
    ...(federation === undefined ? [] : [federatedServiceOf(federation)]),
    ...(imported === undefined ? [] : [serviceImportOf(imported)]),
  ];
  process.exitCode = explained.some(({ explanation }) => explanation.reached.length > 0) ? 0 : ExitCode.failed;
  const values = explained.map(({ value, explanation }) => ({ ...value, ...explanation }));
  await print(output === 'table' ? explained.map(textOf).join('\n') : reportText({ explanations: values }, output));
};

/** What is explained. */
interface Explained {
  readonly title: string;
  /** What it is about, for programs. */
  readonly value: object;
  readonly explanation: Explanation;
}

const mirrorOf = (facts: Facts): Explained => {
  const { ref, report, source } = facts;
  return {
    title: `Service ${ref.namespace}/${ref.name} of ${report.cluster}, by Link ${report.name} of ${source}`,
    value: { ...ref, link: report.name, cluster: report.cluster },
    explanation: explanationOf(facts),
  };
};

const federatedServiceOf = (facts: FederationFacts): Explained => {
  const { namespace, name } = facts.member;
  const federatedService = federatedName(name);
  return {
    title: `Federated Service ${namespace}/${federatedService} of ${facts.source}`,
    value: { namespace, name, federatedService },
    explanation: explainFederated(facts),
  };
};

const serviceImportOf = (facts: ImportFacts): Explained => {
  const { namespace, name } = facts.ref;
  return {
    title: `ServiceImport ${namespace}/${name} of ${facts.source}`,
    value: { namespace, name, serviceImport: name },
    explanation: explainImport(facts),
  };
};

const noLink = (source: Cluster, links: readonly LinkObject[], namespace: string, cluster: string | undefined) => {
  const others = links.map(({ metadata }) => metadata.name).join(', ');
  return {
    object: `Links in namespace ${namespace} of ${source.context}`,
    reason: cluster === undefined ? 'there is none' : `none is to cluster ${cluster}`,
    remedy: others === '' ? 'make one with `linkspan link`' : `name the cluster of one of ${others} with --name`,
  };
};

const knows = ({ report, ref, local, foreign }: Facts): boolean =>
  (local !== undefined && !foreign.has(local.metadata.name)) ||
  report.services.some(({ namespace, name }) => namespace === ref.namespace && name === ref.name);

const SIGNS: Readonly<Record<State, string>> = { ok: '√', warning: '‼', stop: '×' };

const textOf = ({ title, explanation: { steps, reached } }: Explained): string => {
  const width = Math.max(...steps.map(({ step }) => step.length));
  const lines = steps.flatMap(({ step, state, message, remedy }) => [
    `${SIGNS[state]} ${step.padEnd(width)}  ${message}`,
    ...(remedy === undefined ? [] : [`  ${''.padEnd(width)}  ${remedy}`]),
  ]);
  const end =
    reached.length > 0
      ? `clients reach ${reached.join(', ')}`
      : `clients reach nothing: it stops at ${steps.at(-1)?.step ?? 'nothing'}`;
  return [title, ...lines, end, ''].join('\n');
};
