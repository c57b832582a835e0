/** Whether two clusters can be linked, and with which settings: all that stands in the way, before anything is written. */
import { serverUrl } from '../../../constructs/link/kubeconfig.ts';
import { Default, LinkApi } from '../../../crds/wire.ts';
import { NAMESPACES } from '../../../operator/kube/objects.ts';
import { fieldProblem, type Problem, refuseProblems } from '../common/command-error.ts';
import type { Cluster } from '../common/cluster.ts';
import { LINKS } from '../common/kinds.ts';
import { readDomains } from '../common/linkerd.ts';
import type { LinkObject } from '../common/link-object.ts';
import { waitFor } from '../common/wait.ts';
import { warn } from '../../print.ts';
import { type ApiServer, apiServerOf, apiServerProblem, leadsToItself } from './api-server.ts';
import type { LinkFlags } from './flags.ts';
import type { GatewayFacts, GatewayRead, GivenGateway } from './gateway.ts';
import type { LinkSettings } from './manifests.ts';
import type { Pair } from './pair.ts';
import { readGateway } from './target-gateway.ts';

/** What the user has said of one way. */
export interface Given extends GivenGateway {
  readonly apiServerAddress: string | undefined;
  /** The flag of that address. */
  readonly addressFlag: string;
}

/** One way, ready to be written. */
export interface Way extends Pair {
  readonly settings: LinkSettings;
  readonly apiServer: ApiServer;
}

/**
 * Surveys all ways.
 * @param timeoutMs how long to wait for the addresses of gateways, in all; 0: not at all
 * @throws CommandError with all that stands in the way
 */
export const survey = async (
  ways: readonly { readonly pair: Pair; readonly given: Given }[],
  flags: LinkFlags,
  timeoutMs: number,
): Promise<readonly Way[]> => {
  const until = performance.now() + timeoutMs;
  const read = await Promise.all(
    ways.map(async ({ pair, given }) => ({
      pair,
      given,
      gateway: flags.gateway ? await readGateway(pair.target, flags, given) : undefined,
      problems: [
        ...(await clusterProblems(pair, flags)),
        ...addressProblems(pair.target, `pods of ${pair.source.context}`, given),
      ],
    })),
  );
  refuseProblems(read.flatMap(({ problems, gateway }) => [...problems, ...problemsOf(gateway, timeoutMs)]));
  const surveyed: Way[] = [];
  for (const { pair, given, gateway } of read) {
    const { sourceName, targetName, target } = pair;
    const facts = gateway && (await addressed(gateway, pair, given, flags, until - performance.now()));
    const settings = { sourceName, targetName, domains: await domainsOf(target, flags), gateway: facts };
    surveyed.push({ ...pair, settings, apiServer: apiServerOf(target.reachedBy, given.apiServerAddress) });
  }
  return surveyed;
};

/** What is wrong with a gateway, unless it is waited for. */
const problemsOf = (gateway: GatewayRead | undefined, timeoutMs: number): readonly Problem[] =>
  gateway === undefined || gateway.ok || (gateway.isPending && timeoutMs > 0) ? [] : gateway.problems;

/** The gateway, once its load balancer has an address. */
const addressed = async (
  read: GatewayRead,
  { target }: Pair,
  given: Given,
  flags: LinkFlags,
  timeoutMs: number,
): Promise<GatewayFacts> => {
  if (read.ok) return read.gateway;
  let [problem] = read.problems;
  return waitFor(
    `the gateway of ${target.context}`,
    async () => {
      const again = await readGateway(target, flags, given);
      if (again.ok) return { done: again.gateway };
      if (!again.isPending) refuseProblems(again.problems);
      [problem] = again.problems;
      return { pending: problem?.reason ?? '' };
    },
    {
      timeoutMs,
      problem: (pending) => ({
        object: problem?.object ?? target.context,
        reason: `${pending}, after ${flags.timeout / 1000} s`,
        remedy: 'see the events of the Service, or name an address with --gateway-addresses',
      }),
    },
  );
};

/** The domains of the target's Linkerd; Linkerd's defaults, with a warning, where there is none. */
export const domainsOf = async (
  target: Cluster,
  { linkerdNamespace }: Pick<LinkFlags, 'linkerdNamespace'>,
): Promise<LinkSettings['domains']> => {
  const found = await readDomains(target, linkerdNamespace);
  if (found !== undefined) return found;
  warn(
    `${target.context} has no Linkerd in namespace ${linkerdNamespace}: its domain is taken to be ` +
      `${Default.clusterDomain} (name another namespace with --linkerd-namespace)`,
  );
  return { clusterDomain: Default.clusterDomain, trustDomain: Default.clusterDomain };
};

/**
 * Why an API server cannot be what credentials name.
 * @param readers who are to reach it, as in `pods of east`
 */
export const addressProblems = (
  { reachedBy, context }: Cluster,
  readers: string,
  { apiServerAddress, addressFlag }: Pick<Given, 'apiServerAddress' | 'addressFlag'>,
): readonly Problem[] => {
  const invalid = serverUrl('', apiServerAddress ?? reachedBy.server);
  if (invalid !== undefined) {
    const object = apiServerAddress === undefined ? `API server of ${context}` : addressFlag;
    return [fieldProblem(object, { remedy: `name another with ${addressFlag}`, ...invalid })];
  }
  if (apiServerAddress === undefined) {
    const problem = apiServerProblem(reachedBy, readers, addressFlag);
    return problem === undefined ? [] : [problem];
  }
  if (leadsToItself(apiServerAddress)) {
    warn(`${addressFlag} ${apiServerAddress} leads to whichever machine uses it: pods reach themselves there`);
  }
  return [];
};

/** What the clusters lack. */
const clusterProblems = async (
  { source, target, targetName }: Pair,
  { namespace, linkerdNamespace, flat }: LinkFlags,
): Promise<readonly Problem[]> => {
  const [served, ...missing] = await Promise.all([
    source.serves(LINKS),
    missingNamespace(source, namespace, INSTALL),
    missingNamespace(target, namespace, INSTALL),
    flat ? missingNamespace(source, linkerdNamespace, INSTALL_LINKERD) : undefined,
  ]);
  const problems = missing.filter((problem) => problem !== undefined);
  if (!served) return [noCrd(source), ...problems];
  return [...problems, ...otherLinks(source, await source.list<LinkObject>(LINKS, { namespace }), targetName)];
};

export const INSTALL = 'install the multicluster extension there, or name its namespace with --namespace';
export const INSTALL_LINKERD =
  'install Linkerd there, name its namespace with --linkerd-namespace, or use --flat=false for gateway mode only';

export const missingNamespace = async (cluster: Cluster, name: string, remedy: string): Promise<Problem | undefined> =>
  (await cluster.find(NAMESPACES, { name })) === undefined
    ? { object: cluster.title('Namespace', { name }), reason: 'not found', remedy }
    : undefined;

const noCrd = (source: Cluster): Problem => ({
  object: source.title('CustomResourceDefinition', { name: LinkApi.crd }),
  reason: `not found in version ${LinkApi.version}`,
  remedy: `linkspan crds | kubectl --context ${source.context} apply --server-side -f -`,
});

/** Links that this one would change into another, or that would be a second one to the same cluster. */
const otherLinks = (source: Cluster, links: readonly LinkObject[], name: string): readonly Problem[] =>
  links.flatMap(({ metadata, spec }) => {
    const cluster = spec?.targetClusterName;
    if ((metadata.name === name) === (cluster === name)) return [];
    const object = source.title('Link', metadata);
    return metadata.name === name
      ? [{ object, reason: `is to cluster ${cluster ?? ''}`, remedy: 'name the new one with --name, or unlink first' }]
      : [
          {
            object,
            reason: `is to cluster ${name} already`,
            remedy: 'delete it first, or name another cluster with --name',
          },
        ];
  });
