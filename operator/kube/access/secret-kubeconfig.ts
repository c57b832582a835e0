/**
 * Kubeconfigs from Secrets: data from outside. A client is made of the values that were checked here and of nothing
 * else: no program is run and no file is read for one. No error quotes what it holds.
 */
import { createHash } from 'node:crypto';
import { type Checked, type FieldError, fieldError } from '../../../crds/field-error.ts';
import { bearer, type ClusterAccess } from './access.ts';
import { certificate, decode, privateKey } from './pem.ts';
import { checkKubeconfig, FLATTEN, type TargetKubeconfig, withScheme } from './secret-kubeconfig.schema.ts';
import { parseYaml } from './yaml.ts';

/** What a kubeconfig from a Secret gives access to. */
export interface TargetAccess {
  readonly access: ClusterAccess;
  /** SHA-256 of the text, in hex: differs when anything does. */
  readonly fingerprint: string;
  /** The bearer token; undefined if it has a client certificate instead. */
  readonly token: string | undefined;
}

/** Largest kubeconfig that is read from a Secret, in bytes. */
export const MAX_KUBECONFIG_BYTES = 256 * 1024;

/** Message that tells which kubeconfig is in use, without what it holds: it is compared with that of a Secret. */
export const inUseMessage = (fingerprint: string): string =>
  `the kubeconfig with SHA-256 ${fingerprint.slice(0, FINGERPRINT_DIGITS)}… is in use`;

const FINGERPRINT_DIGITS = 16;

/** Checks a kubeconfig from a Secret, and makes access of just what was checked (rule E3). Never throws. */
export function parseTargetKubeconfig(text: string): Checked<TargetAccess> {
  if (Buffer.byteLength(text) > MAX_KUBECONFIG_BYTES) {
    return invalid(`must not be larger than ${MAX_KUBECONFIG_BYTES / 1024} KiB`, 'keep the one cluster and user');
  }
  let document: unknown;
  try {
    document = parseYaml(text);
  } catch (error) {
    return invalid((error as Error).message, FLATTEN);
  }
  if (!isMap(document) || (document['kind'] ?? 'Config') !== 'Config')
    return invalid('it is not a kubeconfig', FLATTEN);
  const checked = checkKubeconfig(document);
  if (!checked.ok) return checked;
  const errors = inconsistencies(checked.value);
  if (errors.length > 0) return { ok: false, errors };
  return {
    ok: true,
    value: {
      access: accessOf(checked.value),
      fingerprint: createHash('sha256').update(text).digest('hex'),
      token: checked.value.users[0].user.token,
    },
  };
}

const invalid = (reason: string, remedy: string): Checked<never> => ({
  ok: false,
  errors: [fieldError('', undefined, reason, remedy)],
});

const isMap = (document: unknown): document is Readonly<Record<string, unknown>> =>
  typeof document === 'object' && document !== null && !Array.isArray(document);

/** References that lead nowhere, and a key of another certificate. */
function inconsistencies(document: TargetKubeconfig): readonly FieldError[] {
  const errors: FieldError[] = [];
  const report = (path: string, reason: string, remedy: string) =>
    errors.push(fieldError(path, undefined, reason, remedy));
  const current = document.contexts.findIndex(({ name }) => name === document['current-context']);
  const context = document.contexts[current]?.context;
  if (context === undefined) {
    report('current-context', 'must be the name of a context', 'name one of contexts');
  } else {
    const path = `contexts[${current}].context`;
    if (context.cluster !== document.clusters[0].name) {
      report(`${path}.cluster`, 'must be the name of a cluster', 'name the one in clusters');
    }
    if (context.user !== document.users[0].name) {
      report(`${path}.user`, 'must be the name of a user', 'name the one in users');
    }
  }
  const { 'client-certificate-data': certData = '', 'client-key-data': keyData = '' } = document.users[0].user;
  const key = privateKey(decode(keyData) ?? '');
  if (key !== undefined && certificate(decode(certData) ?? '')?.checkPrivateKey(key) === false) {
    const path = 'users[0].user.client-key-data';
    report(path, 'must be the key of client-certificate-data', 'give the two that belong together');
  }
  return errors;
}

function accessOf(document: TargetKubeconfig): ClusterAccess {
  const { cluster } = document.clusters[0];
  const { token, 'client-certificate-data': cert, 'client-key-data': key } = document.users[0].user;
  const url = new URL(withScheme(cluster.server));
  const headers = token === undefined ? {} : bearer(token);
  return {
    server: url.origin + url.pathname.replace(/\/+$/, ''),
    tls: {
      ca: decode(cluster['certificate-authority-data']),
      cert: cert && decode(cert),
      key: key && decode(key),
      servername: cluster['tls-server-name'],
    },
    authorization: () => Promise.resolve(headers),
  };
}
