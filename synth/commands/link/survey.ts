/** Whether two clusters can be linked, and with which settings: all that stands in the way, before anything is written. */
import { serverUrl } from '../../../constructs/link/kubeconfig.ts';
import { Annotation, Default, LinkApi } from '../../../crds/wire.ts';
import { NAMESPACES } from '../../../operator/kube/objects.ts';
import { fieldProblem, type Problem, refuseProblems } from '../common/command-error.ts';
import type { Cluster } from '../common/cluster.ts';
import { kubectl } from '../common/command-text.ts';
import { LINKS } from '../common/kinds.ts';
import { readDomains } from '../common/linkerd.ts';
import { mintAgain } from '../common/remedies.ts';
import type { LinkObject } from '../common/link-object.ts';
import { waitFor } from '../common/wait.ts';
import { warn } from '../../print.ts';
import type { AccessWay } from './access.ts';
import {
  type AccessFlags,
  accessProblems,
  type AccessRead,
  accessServer,
  isOfTarget,
  readAccess,
} from './access-read.ts';
import { apiServerProblem, leadsToItself, warnOfAuthority } from './api-server.ts';
import type { LinkFlags } from './flags.ts';
import type { GatewayFacts, GatewayRead } from './gateway.ts';
import { type Given, withGivenBefore } from './given.ts';
import { linksTo } from './held.ts';
import type { LinkSettings } from './manifests.ts';
import type { Pair } from './pair.ts';
import { readGateway } from './target-gateway.ts';

/** One way, ready to be compared with what is there. */
export interface Way extends AccessWay {
  readonly settings: LinkSettings;
  /** What flags say of the gateway. */
  readonly given: Given;
}

/** A way as far as it is read without waiting. */
interface Read {
  readonly pair: Pair;
  readonly given: Given;
  readonly access: AccessRead;
  /** What is given now or was before. */
  readonly known: ReturnType<typeof withGivenBefore>;
  readonly gateway: GatewayRead | undefined;
  readonly server: ReturnType<typeof accessServer>;
  readonly problems: readonly Problem[];
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
  const read = await Promise.all(ways.map(({ pair, given }) => readWay(pair, given, flags)));
  refuseProblems(read.flatMap(({ problems, gateway }) => [...problems, ...problemsOf(gateway, timeoutMs)]));
  const surveyed: Way[] = [];
  for (const { pair, given, access, known, gateway, server } of read) {
    const { sourceName, target } = pair;
    const facts = gateway && (await addressed(gateway, pair, known.read, flags, until - performance.now()));
    const linkerdNamespace = targetLinkerdNamespace(flags, access);
    const domains = await domainsOf(target, { linkerdNamespace }, domainsBefore(access));
    const cluster = clusterOf(pair, access);
    const settings = { sourceName, targetName: cluster, domains, gateway: facts, linkerdNamespace };
    const { apiServer } = server;
    surveyed.push({ ...pair, ...access, settings, apiServer, given: { ...given, record: known.record } });
  }
  return surveyed;
};

const readWay = async (pair: Pair, given: Given, flags: LinkFlags): Promise<Read> => {
  const { source, target } = pair;
  const access = await readAccess(pair, flags);
  const { link } = access.held;
  const known = withGivenBefore(link, given);
  const hasGateway = flags.gateway ?? (link === undefined || (link.spec?.gatewayAddress ?? '') !== '');
  const server = accessServer(pair, access, given.apiServerAddress);
  warnOfAuthority(target, server.apiServer);
  const problems = [
    ...(await clusterProblems(pair, flags, access)),
    ...(hasGateway ? [] : gatewayFlagProblems(source, link, flags)),
    ...(server.isKept ? [] : addressProblems(target, `pods of ${source.context}`, given)),
    ...accessProblems(pair, access, flags),
    ...(flags.federation === 'flat' && !access.flat ? [NOT_FLAT] : []),
  ];
  const gateway = hasGateway ? await gatewayOf(target, link, known.read, flags) : undefined;
  return { pair, given, access, known, gateway, server, problems };
};

/** Flags of a gateway that the Link is not to have. */
const gatewayFlagProblems = (source: Cluster, link: LinkObject | undefined, flags: LinkFlags): readonly Problem[] => {
  if (link === undefined || flags.gateway === false) return [];
  const given = { addresses: flags.gatewayAddresses, port: flags.gatewayPort, name: flags.gatewayName };
  return Object.entries({ ...given, namespace: flags.gatewayNamespace }).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [
          {
            object: `--gateway-${name}`,
            reason: `is of a gateway, and ${source.title('Link', link.metadata)} has none`,
            remedy: 'add --gateway, or remove it',
          },
        ],
  );
};

const NOT_FLAT: Problem = {
  object: '--federation=flat',
  reason: 'needs --flat: Linkerd must be able to read the target',
  remedy: 'add --flat, or use --federation=gateway',
};

/** The gateway. Where its Service has no address, that of the Link stays. */
const gatewayOf = async (
  target: Cluster,
  link: LinkObject | undefined,
  given: Given,
  { namespace }: LinkFlags,
): Promise<GatewayRead> => {
  const read = await readGateway(target, { ...given, namespace }, given);
  const before = link?.spec?.gatewayAddress ?? '';
  if (read.ok || given.addresses !== undefined || before === '') return read;
  const kept = await readGateway(target, { ...given, namespace }, { ...given, addresses: before.split(',') });
  return kept.ok ? kept : read;
};

/** Namespace of the target's control plane: as the flag says, unless that is the default, which a Link may differ from. */
const targetLinkerdNamespace = ({ linkerdNamespace }: LinkFlags, { held }: AccessRead): string =>
  linkerdNamespace === Default.controlPlaneNamespace
    ? (held.link?.spec?.targetClusterLinkerdNamespace ?? linkerdNamespace)
    : linkerdNamespace;

/** The domains that a Link has. */
const domainsBefore = ({ held: { link, copy } }: AccessRead): LinkSettings['domains'] | undefined => {
  const clusterDomain = link?.spec?.targetClusterDomain;
  if (clusterDomain === undefined) return undefined;
  return { clusterDomain, trustDomain: copy?.metadata.annotations?.[Annotation.trustDomain] ?? clusterDomain };
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
      const again = await readGateway(target, { ...given, namespace: flags.namespace }, given);
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

/** The domains of the target's Linkerd; where there is none, those before, else Linkerd's defaults with a warning. */
export const domainsOf = async (
  target: Cluster,
  { linkerdNamespace }: Pick<LinkFlags, 'linkerdNamespace'>,
  before?: LinkSettings['domains'],
): Promise<LinkSettings['domains']> => {
  const found = (await readDomains(target, linkerdNamespace)) ?? before;
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
const clusterProblems = async (pair: Pair, flags: LinkFlags, access: AccessRead): Promise<readonly Problem[]> => {
  const { source, target } = pair;
  const { namespace, linkerdNamespace } = flags;
  const [served, ...missing] = await Promise.all([
    source.serves(LINKS),
    missingNamespace(source, namespace, INSTALL_IN_BOTH),
    missingNamespace(target, namespace, INSTALL_IN_BOTH),
    access.flat ? missingNamespace(source, linkerdNamespace, installLinkerd(flags.flat)) : undefined,
    ...missingExports(target, flags),
  ]);
  const problems = missing.filter((problem) => problem !== undefined);
  if (!served) return [noCrd(source), ...problems];
  const { link, otherLinks: others } = access.held;
  if (link === undefined && flags.name === undefined) warnOfSecond(pair, access);
  const links = [...(link === undefined ? [] : [link]), ...others];
  return [...problems, ...otherLinks(pair, flags, links, clusterOf(pair, access))];
};

export const INSTALL = 'install the multicluster extension there, or name its namespace with --namespace';
export const INSTALL_IN_BOTH = `${INSTALL}, which is the same in both clusters`;
/** @param flat what the flag says: without it, the copy that is there, or the account, says the same */
export const installLinkerd = (flat: boolean | undefined): string =>
  `install Linkerd there, or name its namespace with --linkerd-namespace${flat === true ? ', or leave out --flat' : ''}`;

/** A Role cannot be made in a namespace that is not there. */
export const missingExports = (target: Cluster, { exportNamespaces = [] }: AccessFlags) =>
  exportNamespaces.map((each) => missingNamespace(target, each, 'create it, or correct --export-namespaces'));

export const missingNamespace = async (cluster: Cluster, name: string, remedy: string): Promise<Problem | undefined> =>
  (await cluster.find(NAMESPACES, { name })) === undefined
    ? { object: cluster.title('Namespace', { name }), reason: 'not found', remedy }
    : undefined;

const noCrd = (source: Cluster): Problem => ({
  object: source.title('CustomResourceDefinition', { name: LinkApi.crd }),
  reason: `not found in version ${LinkApi.version}`,
  remedy: `linkspan crds | ${kubectl(source, 'apply', '--server-side', '--force-conflicts', '-f', '-')}`,
});

/** The cluster of a Link that is there, whatever its name, if it is certainly the target; else one of the Link's name. */
const clusterOf = (pair: Pair, access: AccessRead): string => {
  const named = access.held.link?.spec?.targetClusterName;
  return named !== undefined && isOfTarget(pair, access) ? named : pair.targetName;
};

/** A name that was forgotten: without it, the context of the target names the Link. */
const warnOfSecond = ({ source, target, targetUid }: Pair, { held }: AccessRead): void => {
  for (const { metadata } of linksTo(held, targetUid)) {
    const title = source.title(LINKS.kind, metadata);
    warn(
      `${title} leads to ${target.context} already: to change it instead of adding a second one, add --name ${metadata.name}`,
    );
  }
};

/** Links that this one would change into another, or that would be a second one to the same cluster. */
const otherLinks = (
  { source, target, targetName: name }: Pair,
  flags: LinkFlags,
  links: readonly LinkObject[],
  cluster: string,
): readonly Problem[] =>
  links.flatMap(({ metadata, spec }) => {
    const { targetClusterName: named = '' } = spec ?? {};
    if ((metadata.name === name) === (named === cluster)) return [];
    const object = source.title('Link', metadata);
    const mint = mintAgain(source, target, name, flags, '--apply');
    const remedy = `name the new one with --name; if ${target.context} is that cluster, make its credentials with \`${mint}\` first`;
    return metadata.name === name
      ? [{ object, reason: `is to cluster ${named}`, remedy }]
      : [
          {
            object,
            reason: `is to cluster ${cluster} already`,
            remedy: `add --name ${metadata.name} to change that Link, or name another cluster with --name`,
          },
        ];
  });
