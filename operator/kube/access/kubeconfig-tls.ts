/**
 * The certificates of a kubeconfig: those that prove the server, and that of the user. Files are read again, since they
 * are rotated. Where it names no CA, those of the machine count, as for kubectl.
 */
import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import type { TlsMaterial } from './access.ts';
import type { KubeconfigCluster, KubeconfigUser } from './kubeconfig-file.ts';
import { parseErrorText } from './parse-error-text.ts';
import { certificate, decode, privateKey } from './pem.ts';

/**
 * CA certificates in PEM; undefined if the kubeconfig has none.
 * @throws Error that completes "cluster `name` …"
 */
export function readAuthority(cluster: KubeconfigCluster): string | undefined {
  const pem = textOf(cluster, 'certificate-authority');
  if (pem !== undefined && certificate(pem) === undefined) {
    throw new Error('has a certificate-authority without a valid certificate (give the CA of the API server in PEM)');
  }
  return pem;
}

/** What proves the server. @throws Error that completes "cluster `name` …" */
export function serverTls(cluster: KubeconfigCluster): TlsMaterial {
  const isTrusted = cluster['insecure-skip-tls-verify'] === true;
  return {
    // Node has a list of its own, which lacks the CAs that an organization has added to the machine.
    ca: readAuthority(cluster) ?? (isTrusted ? undefined : machineAuthorities()),
    servername: cluster['tls-server-name'] || undefined,
    rejectUnauthorized: !isTrusted,
  };
}

/** The certificate of the user and its key, if it has one. @throws Error that completes "user `name` …" */
export function clientTls(user: KubeconfigUser): Pick<TlsMaterial, 'cert' | 'key'> {
  const cert = textOf(user, 'client-certificate');
  if (cert === undefined) return {};
  const key = textOf(user, 'client-key') ?? '';
  const [parsed, parsedKey] = [certificate(cert), privateKey(key)];
  if (parsed === undefined) throw new Error('has a client-certificate that is not valid (give it in PEM)');
  if (parsedKey === undefined) {
    throw new Error('has a client-key that is not a private key without a passphrase (give it in PEM)');
  }
  if (!parsed.checkPrivateKey(parsedKey)) {
    throw new Error('has a client-key that is not that of its client-certificate (give the two that belong together)');
  }
  return { cert, key };
}

let authorities: string | undefined;

/** Joined, since undici takes one text. They are read once: that takes some milliseconds. */
const machineAuthorities = (): string => {
  authorities ??= [...new Set([...getCACertificates('default'), ...getCACertificates('system')])].join('\n');
  return authorities;
};

/** What a field holds: its data, else what is in its file; undefined if it has neither. */
function textOf<F extends string>(of: { readonly [K in F | `${F}-data`]?: string }, field: F): string | undefined {
  const data = of[`${field}-data`];
  if (data) return decode(data);
  const file = of[field];
  if (!file) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`has a ${field} that cannot be read: ${parseErrorText(error)}`, { cause: error });
  }
}
