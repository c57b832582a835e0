/**
 * `linkspan explain`: one Service from its export in the target to the ready address in the source, step by step, where it
 * stops, and what to do; and whether a client comes through the gateway to it. Where the target does not answer, it goes on
 * from the source. The exit code is 0 if a ready address is reached by all that is explained, the client is admitted, and each
 * step was looked at; 1 otherwise.
 */
import { isDnsLabel } from '../../../crds/index.ts';
import { Annotation, federatedName } from '../../../crds/wire.ts';
import { type KubeObject, type Service, SERVICES } from '../../../operator/kube/objects.ts';
import { isOfImport } from '../../../operator/mcs/membership.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { CommandError, ExitCode, reportingProblems } from '../common/command-error.ts';
import type { LinkObject } from '../common/link-object.ts';
import { linksOf } from '../common/links.ts';
import { reportText } from '../common/output.ts';
import { byLinkspan, type Place } from '../common/remedies.ts';
import { note, print } from '../../print.ts';
import { identityIn } from './admission-facts.ts';
import { type Asked, readAsked } from './asked.ts';
import { askedOf, explainClient } from './client.ts';
import { type Explained, textOf, toAddresses } from './explained.ts';
import { type Facts, factsOf, isMirrorName, type ServiceRef } from './facts.ts';
import { explainFederated, type FederationFacts, federationFactsOf } from './federated.ts';
import type { ExplainFlags } from './flags.ts';
import { explainImport, type ImportFacts, importFactsOf } from './imported.ts';
import { operatorSteps } from './operator-step.ts';
import type { Step } from './step.ts';
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
      const client = flags.as === undefined ? undefined : await identityIn(source, flags.as, flags.linkerdNamespace);
      const isClusterSet = 'name' in asked && asked.isClusterSet;
      const explainBy = async (target?: Cluster): Promise<void> => {
        const scope = { ...flags, namespace, client };
        await show(
          isClusterSet
            ? await explainClusterSet(source, target, ref, scope)
            : await explainFrom(source, target, ref, scope),
          flags,
        );
      };
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

/** What is asked about besides the Service. */
interface Scope extends ExplainFlags {
  /** Of the extension. */
  readonly namespace: string;
  /** TLS identity of the client; undefined if none is asked about. */
  readonly client: string | undefined;
}

/** The namespace of the operator that an object names; undefined if it names none. */
const namedOperator = (object: KubeObject | undefined): string | undefined => {
  const named = object?.metadata.annotations?.[Annotation.operator];
  return named !== undefined && isDnsLabel(named) ? named : undefined;
};

/** What there is to say of the operator that serves a ServiceImport, or is to make it: none serves somebody's own. */
const stepsOfImport = async (
  source: Cluster,
  { serviceImport, ref }: ImportFacts,
  namespace: string,
): Promise<readonly Step[]> =>
  serviceImport !== undefined && !isOfImport(ref.name, serviceImport)
    ? []
    : operatorSteps(source, namedOperator(serviceImport) ?? namespace);

/** A ServiceImport, and who comes through the gateway to the Service that it is made of. */
const explainClusterSet = async (
  source: Cluster,
  target: Cluster | undefined,
  ref: ServiceRef,
  { namespace, client, linkerdNamespace }: Scope,
): Promise<readonly Explained[]> => {
  const facts = (await importFactsOf(source, ref)) ?? noImport(source, ref);
  const before = await stepsOfImport(source, facts, namespace);
  const cluster = target?.context ?? '';
  const asked = { cluster, namespace, ref, linkerdNamespace, direct: undefined };
  return [
    serviceImportOf(facts, before),
    ...(client === undefined ? [] : [await explainClient(target, { ...asked, client })]),
  ];
};

const explainFrom = async (
  source: Cluster,
  target: Cluster | undefined,
  ref: ServiceRef,
  { namespace, linkerdNamespace, client, name = target?.context }: Scope,
): Promise<readonly Explained[]> => {
  const links = await linksOf(source, namespace);
  const chosen = name === undefined ? links : links.filter(({ spec }) => spec?.targetClusterName === name);
  if (chosen.length === 0) throw new CommandError([noLink(source, links, { namespace, linkerdNamespace }, name)]);
  const [all, federation, imported] = await Promise.all([
    Promise.all(chosen.map((link) => factsOf(source, target, link, ref, linkerdNamespace))),
    federationFactsOf(source, links, ref),
    importFactsOf(source, ref),
  ]);
  const isJoint = federation !== undefined || imported !== undefined;
  const [ofFederation, ofImport] = await Promise.all([
    federation && operatorSteps(source, namedOperator(federation.federated?.service) ?? namespace),
    imported && stepsOfImport(source, imported, namespace),
  ]);
  const shown = relevant(all, ref, target === undefined, isJoint);
  const byLinks = shown.length === 0 ? all : shown;
  const asked = client === undefined ? [] : byLinks.map((facts) => ({ ...askedOf(facts), client }));
  return [
    ...shown.map(mirrorOf),
    ...(federation === undefined ? [] : [federatedServiceOf(federation, ofFederation)]),
    ...(imported === undefined ? [] : [serviceImportOf(imported, ofImport)]),
    ...(await Promise.all(asked.map((each) => explainClient(target, each)))),
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
  process.exitCode = explained.every(({ isWell }) => isWell) ? 0 : ExitCode.failed;
  const values = explained.map(({ value, explanation }) => ({ ...value, ...explanation }));
  await print(output === 'table' ? explained.map(textOf).join('\n') : reportText({ explanations: values }, output));
};

const mirrorOf = (facts: Facts): Explained => {
  const { ref, report, source } = facts;
  return {
    title: `Service ${ref.namespace}/${ref.name} of ${report.cluster}, by Link ${report.name} of ${source.context}`,
    value: { ...ref, link: report.name, cluster: report.cluster },
    ...toAddresses(explanationOf(facts)),
  };
};

/** With what there is to say of the operator. */
const after = (before: readonly Step[], { steps, reached }: Explanation): Explanation => ({
  steps: [...before, ...steps],
  reached,
});

const federatedServiceOf = (facts: FederationFacts, before: readonly Step[] = []): Explained => {
  const { namespace, name } = facts.member;
  const federatedService = federatedName(name);
  return {
    title: `Federated Service ${namespace}/${federatedService} of ${facts.source.context}`,
    value: { namespace, name, federatedService },
    ...toAddresses(after(before, explainFederated(facts))),
  };
};

const serviceImportOf = (facts: ImportFacts, before: readonly Step[] = []): Explained => {
  const { namespace, name } = facts.ref;
  return {
    title: `ServiceImport ${namespace}/${name} of ${facts.source.context}`,
    value: { namespace, name, serviceImport: name },
    ...toAddresses(after(before, explainImport(facts))),
  };
};

const noLink = (
  { kubeconfig, context }: Cluster,
  links: readonly LinkObject[],
  at: Pick<Place, 'namespace' | 'linkerdNamespace'>,
  cluster: string | undefined,
) => {
  const others = links.map(({ metadata }) => metadata.name).join(', ');
  return {
    object: `Links in namespace ${at.namespace} of ${context}`,
    reason: cluster === undefined ? 'there is none' : `none is to cluster ${cluster}`,
    remedy:
      others === ''
        ? `make one: ${byLinkspan({ kubeconfig, context, ...at }, 'link', '--apply')}, with --to-context and the context of its target`
        : `name the cluster of one of ${others} with --name`,
  };
};

const knows = ({ report, ref, local, foreign }: Facts): boolean =>
  (local !== undefined && !foreign.has(local.metadata.name)) ||
  report.services.some(({ namespace, name }) => namespace === ref.namespace && name === ref.name);
