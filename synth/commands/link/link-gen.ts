/**
 * `linkspan link-gen`: what a source cluster needs of this one, for somebody who reaches this one alone. It prints both
 * Secrets and the Link, which are applied to the source, and changes nothing.
 */
import { SECRETS } from '../../../operator/kube/objects.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { ExitCode, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { SERVICE_ACCOUNTS } from '../common/kinds.ts';
import { documentsText } from '../common/output.ts';
import { print } from '../../print.ts';
import { apiServerOf } from './api-server.ts';
import { federationProblems } from './federation.ts';
import type { LinkGenFlags } from './gen-flags.ts';
import type { GatewayRead } from './gateway.ts';
import { readLabelQuery } from './label-query.ts';
import { credentialsManifests, FLAG_OF_PROP, linkManifests, type LinkContents } from './manifests.ts';
import { clusterNameProblems } from './pair.ts';
import { addressProblems, domainsOf } from './survey.ts';
import { readGateway } from './target-gateway.ts';
import { noTokenRemedy, type Token, tokenIn, tokenSecretsOf } from './token.ts';

/** Runs the command. Sets the exit code. */
export const linkGen = (flags: LinkGenFlags): Promise<void> =>
  reportingProblems(
    async () => {
      const selectors = selectorsOf(flags);
      const problems = [
        ...clusterNameProblems('--cluster-name', flags.clusterName, ''),
        ...federationProblems({ ...flags, flat: true }),
      ];
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
  const given = { addresses: flags.gatewayAddresses, port: flags.gatewayPort, canWait: false };
  const [account, gateway] = await Promise.all([
    readAccount(target, flags),
    flags.gateway ? readGateway(target, flags, given) : undefined,
  ]);
  refuseProblems([
    ...addressProblems(target, 'pods of other clusters', { apiServerAddress, addressFlag: '--api-server-address' }),
    ...('problem' in account ? [account.problem] : []),
    ...problemsOf(gateway),
  ]);
  if ('problem' in account) return;
  const settings = {
    targetName: clusterName,
    domains: await domainsOf(target, flags),
    gateway: gateway?.ok ? gateway.gateway : undefined,
  };
  const apiServer = apiServerOf(target.reachedBy, apiServerAddress);
  const place = { namespace, linkerdNamespace, flat: true };
  const objects = [
    ...credentialsManifests(settings, apiServer, account.token, place),
    ...linkManifests(settings, { ...flags, selectors }),
  ];
  await print(documentsText(objects, flags.output));
};

const problemsOf = (gateway: GatewayRead | undefined): readonly Problem[] =>
  gateway === undefined || gateway.ok ? [] : gateway.problems;

/** The token of the account that the source is to read with. */
const readAccount = async (
  target: Cluster,
  { namespace, serviceAccountName: name }: LinkGenFlags,
): Promise<{ readonly token: Token } | { readonly problem: Problem }> => {
  const account = { namespace, name };
  const title = target.title(SERVICE_ACCOUNTS.kind, account);
  const [found, secrets] = await Promise.all([target.find(SERVICE_ACCOUNTS, account), tokenSecretsOf(target, account)]);
  const allow = `linkspan allow --context ${target.context} --service-account-name ${name}`;
  if (found === undefined) {
    const remedy = `make it with \`${allow} --apply\`, or name another with --service-account-name`;
    return { problem: { object: title, reason: 'not found', remedy } };
  }
  const [secret] = secrets;
  if (secret === undefined) {
    const remedy = `make a Secret for it with \`${allow} --ignore-cluster --apply\``;
    return { problem: { object: title, reason: 'has no token', remedy } };
  }
  const token = secrets.map(tokenIn).find((each) => each !== undefined);
  if (token !== undefined) return { token };
  const object = target.title(SECRETS.kind, secret.metadata);
  return { problem: { object, reason: 'has no token yet', remedy: noTokenRemedy(target) } };
};

/**
 * The selectors of the Link.
 * @throws CommandError for those that are no label queries
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
    remoteDiscoverySelector: read('--remote-discovery-selector', flags.remoteDiscoverySelector),
    federatedServiceSelector: read('--federated-service-selector', flags.federatedServiceSelector),
  };
  refuseProblems(problems, ExitCode.usage);
  return selectors;
};
