/**
 * `linkspan link-gen`: what a source cluster needs of this one, for somebody who reaches this one alone. It prints both
 * Secrets and the Link, which are applied to the source, and changes nothing.
 */
import { Annotation } from '../../../crds/wire.ts';
import { SECRETS } from '../../../operator/kube/objects.ts';
import { print } from '../../print.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { ExitCode, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { linkspan } from '../common/command-text.ts';
import { SERVICE_ACCOUNTS } from '../common/kinds.ts';
import { documentsText } from '../common/output.ts';
import { isFlat, readAccount } from './account.ts';
import { apiServerOf } from './api-server.ts';
import { federationOf, federationProblems } from './federation.ts';
import type { GatewayRead } from './gateway.ts';
import { type LinkGenFlags, REMOTE_DISCOVERY } from './gen-flags.ts';
import { withGivenBefore } from './given.ts';
import { readLabelQuery } from './label-query.ts';
import { annotated, credentialsManifests, FLAG_OF_PROP, linkManifest, type LinkContents } from './manifests.ts';
import { clusterNameProblems } from './pair.ts';
import { addressProblems, domainsOf } from './survey.ts';
import { readGateway } from './target-gateway.ts';
import { noTokenRemedy, type Token, tokenIn } from './token.ts';

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
    canWait: false,
  });
  const [account, gateway, targetUid] = await Promise.all([
    accountOf(target, flags),
    flags.gateway ? readGateway(target, flags, given.read) : undefined,
    target.uid(),
  ]);
  refuseProblems([
    ...addressProblems(target, 'pods of other clusters', given.read),
    ...('problem' in account ? [account.problem] : []),
    ...problemsOf(gateway),
  ]);
  if ('problem' in account) return;
  const flat = flags.flat ?? (account.flat || !flags.gateway);
  const settings = {
    targetName: clusterName,
    domains: await domainsOf(target, flags),
    gateway: gateway?.ok ? gateway.gateway : undefined,
    linkerdNamespace,
  };
  const federation = federationOf({ federation: flags.federation, gateway: flags.gateway, flat });
  const isDiscovered = flat || flags.remoteDiscoverySelector !== undefined;
  const link = linkManifest(settings, { ...flags, selectors, federation, flat: isDiscovered });
  const objects = [
    ...credentialsManifests(settings, apiServerOf(target.reachedBy, apiServerAddress), account.token, {
      namespace,
      linkerdNamespace,
      flat,
      targetUid,
    }).toReversed(),
    annotated(link, { [Annotation.given]: given.record }),
  ];
  await print(documentsText(objects, flags.output));
};

const problemsOf = (gateway: GatewayRead | undefined): readonly Problem[] =>
  gateway === undefined || gateway.ok ? [] : gateway.problems;

/** The token of the account that the source is to read with, and whether it has the rights of a flat network. */
const accountOf = async (
  target: Cluster,
  { namespace, serviceAccountName: name }: LinkGenFlags,
): Promise<{ readonly token: Token; readonly flat: boolean } | { readonly problem: Problem }> => {
  const read = await readAccount(target, { namespace, name });
  const title = target.title(SERVICE_ACCOUNTS.kind, read);
  const allow = (...flags: readonly string[]): string =>
    linkspan(target, 'allow', '-n', namespace, '--service-account-name', name, ...flags);
  if (read.object === undefined) {
    const remedy = `make it with \`${allow('--apply')}\`, or name another with --service-account-name`;
    return { problem: { object: title, reason: 'not found', remedy } };
  }
  const [secret] = read.tokens;
  if (secret === undefined) {
    const remedy = `make a Secret for it with \`${allow('--ignore-cluster', '--apply')}\``;
    return { problem: { object: title, reason: 'has no token', remedy } };
  }
  const token = read.tokens.map(tokenIn).find((each) => each !== undefined);
  if (token !== undefined) return { token, flat: isFlat(read) };
  const object = target.title(SECRETS.kind, secret.metadata);
  return { problem: { object, reason: 'has no token yet', remedy: noTokenRemedy(target) } };
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
