/**
 * The address of a target's API server as pods of the source cluster are to reach it. That of a kubeconfig is often one
 * that only the user's machine reaches. Pure.
 */
import { BlockList, isIP } from 'node:net';
import type { KubeconfigServer } from '../../../operator/kube/access/kubeconfig.ts';
import { warn } from '../../print.ts';
import type { Cluster } from '../common/cluster.ts';
import type { Problem } from '../common/command-error.ts';

/** An API server, as credentials have it. */
export interface ApiServer {
  /** URL. */
  readonly server: string;
  /** CA certificates: PEM, in base64; undefined for those that the target gives its own pods. */
  readonly caData: string | undefined;
  readonly tlsServerName: string | undefined;
}

/**
 * The server that the user has named, else that of the kubeconfig. What the kubeconfig says of certificates is about its
 * own server: of another one, the target's own CA is right.
 */
export const apiServerOf = (reachedBy: KubeconfigServer, named: string | undefined): ApiServer =>
  named === undefined || named === reachedBy.server
    ? { server: reachedBy.server, caData: reachedBy.caData, tlsServerName: reachedBy.tlsServerName }
    : { server: named, caData: undefined, tlsServerName: undefined };

/**
 * Returns what to say if only CAs of this machine prove the server. The credentials get the CA that the target gives its
 * own pods then, which may be another one.
 */
export const authorityDoubt = (
  { isProvenByMachine, reachedBy }: Pick<Cluster, 'isProvenByMachine' | 'reachedBy'>,
  { server, caData }: ApiServer,
): string | undefined =>
  isProvenByMachine && server === reachedBy.server && caData === undefined
    ? `the kubeconfig names no CA for ${server}, so that the credentials get the own CA of ${reachedBy.context}: if another one has signed the certificate of the server, give it to the kubeconfig with kubectl config set-cluster --certificate-authority and --embed-certs, and run this again`
    : undefined;

/** Says what {@link authorityDoubt} returns, if anything. */
export const warnOfAuthority = (target: Cluster, apiServer: ApiServer): void => {
  const doubt = authorityDoubt(target, apiServer);
  if (doubt !== undefined) warn(doubt);
};

const OWN_MACHINE = new BlockList();
OWN_MACHINE.addSubnet('127.0.0.0', 8);
OWN_MACHINE.addAddress('0.0.0.0');
OWN_MACHINE.addAddress('::1', 'ipv6');
OWN_MACHINE.addAddress('::', 'ipv6');

/** Names by which a machine calls itself; the last is what Docker Desktop writes. */
const OWN_NAMES = /^(.+\.)?localhost$|^kubernetes\.docker\.internal$/i;

/** Reports whether a URL leads to the machine that uses it, whichever that is. */
export const leadsToItself = (server: string): boolean => {
  const host = (URL.parse(server)?.hostname ?? '').replace(/^\[|\]$/g, '');
  const family = isIP(host);
  return family === 0 ? OWN_NAMES.test(host) : OWN_MACHINE.check(host, family === 4 ? 'ipv4' : 'ipv6');
};

/**
 * The obstacle, if the kubeconfig's server cannot be reached by others than this machine.
 * @param readers who are to reach it, as in `pods of east`
 * @param flag the flag that names another address
 */
export const apiServerProblem = (
  { context, server }: KubeconfigServer,
  readers: string,
  flag: string,
): Problem | undefined =>
  leadsToItself(server)
    ? {
        object: `API server of ${context}`,
        reason: `${server} leads to this machine, and ${readers} cannot reach it`,
        remedy: remedyFor(context, flag),
      }
    : undefined;

/** Where nodes of clusters in Docker have their API server, as their certificates name it. */
const remedyFor = (context: string, flag: string): string => {
  const [, tool, name = ''] = /^(kind|k3d)-(.+)$/.exec(context) ?? [];
  if (tool === 'kind') return `for kind: ${flag} https://${name}-control-plane:6443`;
  if (tool === 'k3d') return `for k3d: ${flag} https://k3d-${name}-server-0:6443`;
  return `name the address that they reach with ${flag}`;
};
