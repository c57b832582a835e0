/**
 * The credentials of a user of a kubeconfig, as they are now. As for kubectl, a token, password or certificate of its
 * own goes before a login program, and that before an ID token.
 */
import { LOGIN_FAILED, TerminalError } from '../errors.ts';
import { bearer, type ClusterAccess, type Headers, type TlsMaterial } from './access.ts';
import { type ExecCluster, ExecPlugin } from './exec-plugin.ts';
import { invalidPart, type SourceKubeconfig, within } from './kubeconfig-context.ts';
import type { KubeconfigUser } from './kubeconfig-file.ts';
import { clientTls } from './kubeconfig-tls.ts';
import { idToken } from './oidc.ts';
import { hasOwnHeaders, ownHeaders } from './user-headers.ts';

export interface Credentials {
  readonly headers: () => Promise<Headers>;
  /** The client certificate and its key, if there is one. */
  readonly certificate: () => Promise<Pick<TlsMaterial, 'cert' | 'key'>>;
  /** How they are renewed, where they are not simply read again. */
  readonly renewal?: Pick<ClusterAccess, 'reuseMs' | 'refused'>;
}

/**
 * Those of a login program; undefined if none is used.
 * @param title by which messages begin
 */
export function loginCredentials(user: KubeconfigUser, cluster: ExecCluster, title: string): Credentials | undefined {
  const hasCertificate = user['client-certificate'] || user['client-certificate-data'];
  if (user.exec === undefined || hasCertificate || hasOwnHeaders(user)) return undefined;
  const plugin = new ExecPlugin(user.exec, cluster, title);
  return {
    headers: async () => {
      const { token } = await plugin.credential();
      return token === undefined ? {} : bearer(token);
    },
    certificate: async () => {
      const { cert, key } = await plugin.credential();
      return { cert, key };
    },
    renewal: { reuseMs: () => plugin.validMs, refused: () => plugin.refuse() },
  };
}

/** Those that the kubeconfig has itself, or has the files of. */
export function ownCredentials(config: SourceKubeconfig): Credentials {
  const { user } = config;
  const isProvided = user['auth-provider'] !== undefined && !hasOwnHeaders(user);
  return {
    headers: lastGood(async () => {
      try {
        return isProvided ? bearer(idToken(user)) : await ownHeaders(user);
      } catch (error) {
        const { message } = invalidPart(config, 'user', error);
        throw new TerminalError(isProvided ? LOGIN_FAILED : 'InvalidKubeconfig', message, { cause: error });
      }
    }, isProvided),
    certificate: lastGood(() => within(config, 'user', () => clientTls(user))),
  };
}

/** @returns reads again, since files are rotated; where one is half-written then, what was read before counts. */
export const lastGood = <T>(read: () => T | Promise<T>, isFinal = false): (() => Promise<T>) => {
  let last: { readonly value: T } | undefined;
  return async () => {
    try {
      last = { value: await read() };
    } catch (error) {
      if (isFinal || last === undefined) throw error;
    }
    return last.value;
  };
};
