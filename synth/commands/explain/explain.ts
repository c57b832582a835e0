/**
 * `linkspan explain`: one Service from its export in the target to the ready address in the source, step by step, where it
 * stops, and what to do. Where the target does not answer, it goes on from the source. The exit code is 0 if a ready address
 * is reached by all that is explained, and each step was looked at; 1 otherwise.
 */
import { federatedName } from '../../../crds/wire.ts';
import { type Service, SERVICES } from '../../../operator/kube/objects.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { CommandError, ExitCode, reportingProblems } from '../common/command-error.ts';
import type { LinkObject } from '../common/link-object.ts';
import { linksOf } from '../common/links.ts';
import { reportText } from '../common/output.ts';
import { byLinkspan } from '../common/remedies.ts';
import { note, print } from '../../print.ts';
import { type Asked, readAsked } from './asked.ts';
import { type Facts, factsOf, isMirrorName, type ServiceRef } from './facts.ts';
import { explainFederated, type FederationFacts, federationFactsOf } from './federated.ts';
import type { ExplainFlags } from './flags.ts';
import { explainImport, type ImportFacts, importFactsOf } from './imported.ts';
import type { State } from './step.ts';
import { explain as explanationOf, type Explanation } from './steps.ts';

/** Runs the command. Sets the exit code. */
export const explain = (service: string, flags: ExplainFlags): Promise<void> =>
  reportingProblems(async () => {
    const asked = readAsked(service);
    if (asked === undefined) throw usage(service, 'must be the name of a Service, a URL or an IP address', EXAMPLES);
    if (!('ip' in asked) && asked.namespace === undefined && flags.namespace === undefined) {
      throw usage(service, 'must have a namespace', EXAMPLES);
    }
    await withCluster(flags, async (source) => {
      const { toContext: context, toKubeconfig: kubeconfig = flags.kubeconfig } = flags;
      const { ref, namespace } = await refOf(source, service, asked, flags);
      const isClusterSet = 'name' in asked && asked.isClusterSet;
      const explainBy = async (target?: Cluster): Promise<void> =>
        show(
          isClusterSet
            ? [serviceImportOf((await importFactsOf(source, ref)) ?? noImport(source, ref))]
            : await explainFrom(source, target, ref, { ...flags, namespace }),
          flags,
        );
      if (context === undefined) await explainBy();
      else await withCluster({ kubeconfig, context }, explainBy);
    });
  });

const EXAMPLES = 'as in shop/web, web-west.shop, or -n shop web-west';

const usage = (service: string, reason: string, remedy: string): CommandError =>
  new CommandError([{ object: '<service>', reason: `"${service}" ${reason}`, remedy }], ExitCode.usage);

/** The Service that is asked about, and the namespace of the extension. */
const refOf = async (
  source: Cluster,
  service: string,
  asked: Asked,
  { namespace: given, multiclusterNamespace }: ExplainFlags,
): Promise<{ readonly ref: ServiceRef; readonly namespace: string }> => {
  if ('ip' in asked) return { ref: await withAddress(source, asked.ip, given), namespace: multiclusterNamespace };
  const { name, namespace = given ?? '' } = asked;
  if (given === undefined || given === namespace) return { ref: { namespace, name }, namespace: multiclusterNamespace };
  // Before it named the namespace of the Service, the flag named that of the extension.
  note(
    `--namespace ${given} is taken for that of the extension, as ${service} has one; --multicluster-namespace names it`,
  );
  return { ref: { namespace, name }, namespace: given };
};

/** @throws CommandError if no Service has the address */
const withAddress = async (source: Cluster, ip: string, namespace: string | undefined): Promise<ServiceRef> => {
  const services = await source.list<Service>(SERVICES, namespace === undefined ? {} : { namespace });
  const found = services.find(({ spec }) => [spec?.clusterIP, ...(spec?.clusterIPs ?? [])].includes(ip));
  if (found !== undefined) return { namespace: found.metadata.namespace ?? '', name: found.metadata.name };
  const within = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const remedy = 'it may be that of a pod, or of a gateway: name the Service';
  throw new CommandError([
    { object: `address ${ip}`, reason: `no Service of ${source.context}${within} has it`, remedy },
  ]);
};

const noImport = ({ kubeconfig, context }: Cluster, ref: ServiceRef): ImportFacts => ({
  source: { kubeconfig, context },
  ref,
  serviceImport: undefined,
  serviceExport: undefined,
  slices: [],
});

const explainFrom = async (
  source: Cluster,
  target: Cluster | undefined,
  ref: ServiceRef,
  { namespace, linkerdNamespace, name = target?.context }: ExplainFlags & { readonly namespace: string },
): Promise<readonly Explained[]> => {
  const links = await linksOf(source, namespace);
  const chosen = name === undefined ? links : links.filter(({ spec }) => spec?.targetClusterName === name);
  if (chosen.length === 0) throw new CommandError([noLink(source, links, namespace, name)]);
  const [all, federation, imported] = await Promise.all([
    Promise.all(chosen.map((link) => factsOf(source, target, link, ref, linkerdNamespace))),
    federationFactsOf(source, links, ref),
    importFactsOf(source, ref),
  ]);
  return [
    ...relevant(all, ref, target === undefined, federation !== undefined || imported !== undefined).map(mirrorOf),
    ...(federation === undefined ? [] : [federatedServiceOf(federation)]),
    ...(imported === undefined ? [] : [serviceImportOf(imported)]),
  ];
};

/**
 * The Links that have to do with the Service. Without a target, only one that knows it can explain anything, or one whose
 * cluster the name ends with; what is federated or imported need not be mirrored.
 */
const relevant = (
  all: readonly Facts[],
  { name }: ServiceRef,
  isSourceAlone: boolean,
  isExplained: boolean,
): readonly Facts[] => {
  const known = all.filter(knows);
  if (isExplained || (isSourceAlone && known.length > 0)) return known;
  const named = all.filter(({ report }) => isMirrorName(name, report.cluster));
  return isSourceAlone && named.length > 0 ? named : all;
};

/** Prints what is explained. Nobody is well served by an explanation that ends well while another does not. */
const show = async (explained: readonly Explained[], { output }: ExplainFlags): Promise<void> => {
  process.exitCode = explained.every(({ explanation }) => isReached(explanation)) ? 0 : ExitCode.failed;
  const values = explained.map(({ value, explanation }) => ({ ...value, ...explanation }));
  await print(output === 'table' ? explained.map(textOf).join('\n') : reportText({ explanations: values }, output));
};

/** Reports whether clients reach something, and all that this depends on was looked at. */
const isReached = ({ reached, steps }: Explanation): boolean =>
  reached.length > 0 && steps.every(({ state }) => state !== 'unknown');

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
    title: `Service ${ref.namespace}/${ref.name} of ${report.cluster}, by Link ${report.name} of ${source.context}`,
    value: { ...ref, link: report.name, cluster: report.cluster },
    explanation: explanationOf(facts),
  };
};

const federatedServiceOf = (facts: FederationFacts): Explained => {
  const { namespace, name } = facts.member;
  const federatedService = federatedName(name);
  return {
    title: `Federated Service ${namespace}/${federatedService} of ${facts.source.context}`,
    value: { namespace, name, federatedService },
    explanation: explainFederated(facts),
  };
};

const serviceImportOf = (facts: ImportFacts): Explained => {
  const { namespace, name } = facts.ref;
  return {
    title: `ServiceImport ${namespace}/${name} of ${facts.source.context}`,
    value: { namespace, name, serviceImport: name },
    explanation: explainImport(facts),
  };
};

const noLink = (
  { kubeconfig, context }: Cluster,
  links: readonly LinkObject[],
  namespace: string,
  cluster: string | undefined,
) => {
  const others = links.map(({ metadata }) => metadata.name).join(', ');
  return {
    object: `Links in namespace ${namespace} of ${context}`,
    reason: cluster === undefined ? 'there is none' : `none is to cluster ${cluster}`,
    remedy:
      others === ''
        ? `make one: ${byLinkspan({ kubeconfig, context, namespace }, 'link', '--apply')}, with --to-context and the context of its target`
        : `name the cluster of one of ${others} with --name`,
  };
};

const knows = ({ report, ref, local, foreign }: Facts): boolean =>
  (local !== undefined && !foreign.has(local.metadata.name)) ||
  report.services.some(({ namespace, name }) => namespace === ref.namespace && name === ref.name);

const SIGNS: Readonly<Record<State, string>> = { ok: '√', warning: '‼', unknown: '?', stop: '×' };

const textOf = ({ title, explanation: { steps, reached } }: Explained): string => {
  const width = Math.max(...steps.map(({ step }) => step.length));
  const lines = steps.flatMap(({ step, state, message, remedy }) => [
    `${SIGNS[state]} ${step.padEnd(width)}  ${message}`,
    ...(remedy === undefined ? [] : [`  ${''.padEnd(width)}  ${remedy}`]),
  ]);
  const open = steps.filter(({ state }) => state === 'unknown').map(({ step }) => step);
  const asFarAs = open.length === 0 ? '' : `, as far as is known: not of ${[...new Set(open)].join(', ')}`;
  const end =
    reached.length > 0
      ? `clients reach ${reached.join(', ')}${asFarAs}`
      : `clients reach nothing: it stops at ${steps.findLast(({ state }) => state !== 'ok')?.step ?? 'nothing'}`;
  return [title, ...lines, end, ''].join('\n');
};
