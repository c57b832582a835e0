/**
 * `linkspan link-gen`: what a source cluster needs of this one, for somebody who reaches this one alone. It prints the
 * Secrets and the Link, which are applied to the source. All that it writes is that a token was given to somebody.
 */
import { Annotation, Default } from '../../../crds/wire.ts';
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import { print } from '../../print.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { ExitCode, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { linkspan } from '../common/command-text.ts';
import { SERVICE_ACCOUNTS } from '../common/kinds.ts';
import { documentsText } from '../common/output.ts';
import { type AccountRead, isFlat, limitsOf, mayRenew, readAccount } from './account.ts';
import { apiServerOf, warnOfAuthority } from './api-server.ts';
import { caOf, LIFETIME_MS, requestToken } from './ending-token.ts';
import { federationOf, federationProblems } from './federation.ts';
import type { GatewayRead } from './gateway.ts';
import { type LinkGenFlags, REMOTE_DISCOVERY } from './gen-flags.ts';
import { withGivenBefore } from './given.ts';
import { readLabelQuery } from './label-query.ts';
import {
  annotated,
  credentialsManifests,
  FLAG_OF_PROP,
  linkManifest,
  type LinkContents,
  type SourceTokens,
} from './manifests.ts';
import { clusterNameProblems } from './pair.ts';
import { addressProblems, domainsOf } from './survey.ts';
import { readGateway } from './target-gateway.ts';
import { markGiven, noTokenRemedy, tokenIn } from './token.ts';

/** Runs the command. Sets the exit code. */
export const linkGen = (flags: LinkGenFlags): Promise<void> =>
  reportingProblems(
    async () => {
      const selectors = selectorsOf(flags);
      const problems = [...clusterNameProblems('--cluster-name', flags.clusterName, ''), ...federationProblems(flags)];
      refuseProblems(problems, ExitCode.usage);
      await withCluster(flags, (target) => generate(target, flags, selectors));
    },
    { ...FLAG_OF_PROP, targetCluster: '--cluster-name' },
  );

const generate = async (
  target: Cluster,
  flags: LinkGenFlags,
  selectors: NonNullable<LinkContents['selectors']>,
): Promise<void> => {
  const { clusterName, namespace, linkerdNamespace, apiServerAddress } = flags;
  const given = withGivenBefore(undefined, {
    apiServerAddress,
    addressFlag: '--api-server-address',
    addresses: flags.gatewayAddresses,
    port: flags.gatewayPort,
    // What linkspan link would take by itself is not recorded.
    gatewayName: flags.gatewayName === Default.gatewayName ? undefined : flags.gatewayName,
    gatewayNamespace: flags.gatewayNamespace === namespace ? undefined : flags.gatewayNamespace,
    canWait: false,
  });
  const server = apiServerOf(target.reachedBy, apiServerAddress);
  const [account, gateway, targetUid] = await Promise.all([
    readAccount(target, { namespace, name: flags.serviceAccountName }),
    flags.gateway ? readGateway(target, flags, given.read) : undefined,
    target.uid(),
  ]);
  refuseProblems([
    ...addressProblems(target, 'pods of other clusters', given.read),
    ...accountProblems(target, account, flags),
    ...problemsOf(gateway),
  ]);
  warnOfAuthority(target, server);
  const flat = isFlatFor(account, flags);
  const settings = {
    targetName: clusterName,
    domains: await domainsOf(target, flags),
    gateway: gateway?.ok ? gateway.gateway : undefined,
    linkerdNamespace,
  };
  const federation = federationOf({ federation: flags.federation, gateway: flags.gateway, flat });
  const isDiscovered = flat || flags.remoteDiscoverySelector !== undefined;
  const exportNamespaces = limitsOf(account);
  const link = linkManifest(settings, { ...flags, selectors, federation, flat: isDiscovered, exportNamespaces });
  const apiServer = { ...server, caData: server.caData ?? (await caOf(target, account)) };
  const tokens = await tokensFor(target, account, flags);
  const objects = [
    ...credentialsManifests(settings, apiServer, tokens, { namespace, linkerdNamespace, targetUid }).toReversed(),
    annotated(link, { [Annotation.given]: given.record }),
  ];
  await print(documentsText(objects, flags.output));
};

const problemsOf = (gateway: GatewayRead | undefined): readonly Problem[] =>
  gateway === undefined || gateway.ok ? [] : gateway.problems;

/** Whether Linkerd is to read the target, too. */
const isFlatFor = (account: AccountRead, { flat, gateway }: LinkGenFlags): boolean =>
  flat ?? (isFlat(account) || !gateway);

/** Whether a token that ends is of use: the account may renew it, and nobody has asked for another. */
const isRenewed = (account: AccountRead, { longLivedToken }: LinkGenFlags): boolean =>
  longLivedToken !== true && account.peers.length > 0 && mayRenew(account);

/** What the account lacks that the source is to read with. */
const accountProblems = (target: Cluster, account: AccountRead, flags: LinkGenFlags): readonly Problem[] => {
  const { namespace, name } = account;
  const object = target.title(SERVICE_ACCOUNTS.kind, account);
  const allow = (...more: readonly string[]): string =>
    linkspan(target, 'allow', '-n', namespace, '--service-account-name', name, ...more, '--apply');
  if (account.object === undefined) {
    const remedy = `make it with \`${allow()}\`, or name another with --service-account-name`;
    return [{ object, reason: 'not found', remedy }];
  }
  const flat = isFlatFor(account, flags);
  if (isRenewed(account, flags) && !flat) return [];
  const [secret] = account.tokens;
  if (secret === undefined) {
    if (flags.longLivedToken === true || flat) {
      const remedy = `make one with \`${allow('--ignore-cluster', flat ? '--flat' : '--long-lived-token')}\``;
      return [{ object, reason: 'has no token that does not end', remedy }];
    }
    const remedy = `give it the right to renew one with \`${allow('--ignore-cluster')}\``;
    return [{ object, reason: 'has no token', remedy }];
  }
  if (lasting(account) !== undefined) return [];
  return [
    { object: target.title(SECRETS.kind, secret.metadata), reason: 'has no token yet', remedy: noTokenRemedy(target) },
  ];
};

/** The Secret with the token of an account that does not end. */
const lasting = ({ tokens }: AccountRead): Secret | undefined => tokens.find((secret) => tokenIn(secret) !== undefined);

/** What is printed is somebody's from then on: the account says so. */
const tokensFor = async (target: Cluster, account: AccountRead, flags: LinkGenFlags): Promise<SourceTokens> => {
  const [peer] = account.peers;
  const stored = lasting(account);
  const token = tokenIn(stored)?.token;
  const copy = isFlatFor(account, flags) ? token : undefined;
  const bound = isRenewed(account, flags) ? peer : undefined;
  const lifetimeMs = flags.tokenLifetime ?? LIFETIME_MS;
  const link = bound === undefined ? token : await requestToken(target, account, bound.metadata.name, lifetimeMs);
  if (bound !== undefined) await markGiven(target, bound);
  if (stored !== undefined && (bound === undefined || copy !== undefined)) await markGiven(target, stored);
  return { link: link ?? '', copy };
};

/**
 * The selectors of the Link.
 * @throws CommandError for those that are not label queries
 */
const selectorsOf = (flags: LinkGenFlags): NonNullable<LinkContents['selectors']> => {
  const problems: Problem[] = [];
  const read = (flag: string, query: string) => {
    const found = readLabelQuery(flag, query);
    if (found.ok) return found.selector;
    problems.push(found.problem);
    return {};
  };
  const selectors = {
    selector: flags.gateway ? read('--selector', flags.selector) : undefined,
    remoteDiscoverySelector: read('--remote-discovery-selector', flags.remoteDiscoverySelector ?? REMOTE_DISCOVERY),
    federatedServiceSelector: read('--federated-service-selector', flags.federatedServiceSelector),
  };
  refuseProblems(problems, ExitCode.usage);
  return selectors;
};
