/**
 * What a kubeconfig from a Secret may hold: the fields of one cluster and one user, each checked for what a client
 * makes of it. Everything else is refused by name, with the reason and what to do instead; no error quotes a value.
 */
import type { Checked, FieldError } from '../../../crds/field-error.ts';
import { compile } from '../../../crds/validate.ts';
import { certificate, decode, privateKey } from './pem.ts';

type Named<Field extends string, T> = { readonly name: string } & { readonly [F in Field]: T };

/** A kubeconfig that the schema lets through. */
export interface TargetKubeconfig {
  readonly clusters: readonly [
    Named<
      'cluster',
      {
        readonly server: string;
        readonly 'certificate-authority-data': string;
        readonly 'tls-server-name'?: string;
      }
    >,
  ];
  readonly users: readonly [
    Named<'user', { readonly [F in 'token' | 'client-certificate-data' | 'client-key-data']?: string }>,
  ];
  readonly contexts: readonly Named<'context', { readonly cluster: string; readonly user: string }>[];
  readonly 'current-context': string;
}

/** Most errors that are reported of one kubeconfig. */
const MAX_ERRORS = 20;

const NAME = { type: 'string', minLength: 1 };
const CLOSED = { type: 'object', additionalProperties: false };
const one = (items: object) => ({ type: 'array', minItems: 1, maxItems: 1, items });

/** All that is accepted. The fields with `true` are written by kubectl and Linkerd and mean nothing here. */
export const SCHEMA = {
  ...CLOSED,
  required: ['clusters', 'users', 'contexts', 'current-context'],
  properties: {
    apiVersion: { const: 'v1' },
    kind: { const: 'Config' },
    preferences: true,
    extensions: true,
    'current-context': NAME,
    clusters: one({
      ...CLOSED,
      required: ['name', 'cluster'],
      properties: {
        name: NAME,
        cluster: {
          ...CLOSED,
          required: ['server', 'certificate-authority-data'],
          properties: {
            server: { type: 'string', format: 'server' },
            'certificate-authority-data': { type: 'string', format: 'certificates' },
            'tls-server-name': { type: 'string', format: 'host-name' },
            'insecure-skip-tls-verify': { const: false },
            'disable-compression': true,
            extensions: true,
          },
        },
      },
    }),
    users: one({
      ...CLOSED,
      required: ['name', 'user'],
      properties: {
        name: NAME,
        user: {
          ...CLOSED,
          anyOf: [{ required: ['token'] }, { required: ['client-certificate-data'] }],
          dependencies: {
            'client-certificate-data': ['client-key-data'],
            'client-key-data': ['client-certificate-data'],
          },
          properties: {
            token: { type: 'string', format: 'token' },
            'client-certificate-data': { type: 'string', format: 'certificates' },
            'client-key-data': { type: 'string', format: 'private-key' },
            extensions: true,
          },
        },
      },
    }),
    contexts: {
      type: 'array',
      minItems: 1,
      items: {
        ...CLOSED,
        required: ['name', 'context'],
        properties: {
          name: NAME,
          context: {
            ...CLOSED,
            required: ['cluster', 'user'],
            properties: { cluster: NAME, user: NAME, namespace: true, extensions: true },
          },
        },
      },
    },
  },
};

/** Why a text is not of its format; undefined if it is. */
const FORMATS = {
  server: (text: string) => {
    const url = URL.parse(withScheme(text));
    if (url === null || /\s/.test(text)) return 'must be a valid URL';
    if (url.protocol !== 'https:') return 'must be an https URL';
    if (url.username !== '' || url.password !== '') return 'must not hold credentials';
    if (/[?#]/.test(text)) return 'must not have a query or fragment';
    return undefined;
  },
  certificates: (text: string) => {
    const pem = decode(text);
    if (pem === undefined) return 'must be valid base64';
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    if (blocks.length === 0) return 'must hold a PEM certificate';
    return blocks.every((block) => certificate(block)) ? undefined : 'must hold valid X.509 certificates only';
  },
  'private-key': (text: string) => {
    const pem = decode(text);
    if (pem === undefined) return 'must be valid base64';
    return privateKey(pem) === undefined ? 'must be a PEM private key without a passphrase' : undefined;
  },
  token: (text: string) => {
    if (text === '') return 'must not be empty';
    return /^[\x21-\x7e]+$/.test(text) ? undefined : 'must not have spaces, line breaks or characters beyond ASCII';
  },
  'host-name': (text: string) =>
    /^[A-Za-z0-9]([-A-Za-z0-9._]*[A-Za-z0-9])?$/.test(text) ? undefined : 'must be a valid host name',
};

const check = compile<TargetKubeconfig>(SCHEMA, { formats: FORMATS, secret: true, limit: MAX_ERRORS });

/** Checks a kubeconfig field by field; whether its parts belong together is not checked. */
export const checkKubeconfig = (document: unknown): Checked<TargetKubeconfig> => {
  const checked = check(document);
  return checked.ok ? checked : { ok: false, errors: checked.errors.map(withAdvice) };
};

/** What to do about most errors. */
export const FLATTEN = 'write a self-contained kubeconfig with "kubectl config view --minify --flatten"';
const USE_TOKEN = 'use the token of a service account, as "linkerd multicluster link-gen" does';

/** Reason and remedy for a field that kubeconfigs have and those of Secrets must not have. */
type Refusal = Required<Pick<FieldError, 'reason' | 'remedy'>>;

const refusal = (why: string, remedy: string): Refusal => ({ reason: `must not be set: it ${why}`, remedy });

const PROGRAM = refusal('would run a program in the operator', USE_TOKEN);
const FILE = refusal('would read a file of the operator', FLATTEN);
const PASSWORD = refusal('is not supported by API servers any more', USE_TOKEN);
const IMPERSONATION = refusal('would impersonate another user', 'give the credentials of that user, and remove it');

export const REFUSED: ReadonlyMap<string, Refusal> = new Map([
  ['exec', PROGRAM],
  ['auth-provider', PROGRAM],
  ['tokenFile', FILE],
  ['token-file', FILE],
  ['certificate-authority', FILE],
  ['client-certificate', FILE],
  ['client-key', FILE],
  ['proxy-url', refusal('would send requests elsewhere than to the server', 'give the operator a direct route')],
  ['insecure-skip-tls-verify', refusal('would trust any server', 'remove it and give certificate-authority-data')],
  ['username', PASSWORD],
  ['password', PASSWORD],
  ['as', IMPERSONATION],
  ['as-uid', IMPERSONATION],
  ['as-groups', IMPERSONATION],
  ['as-user-extra', IMPERSONATION],
]);

const REMEDIES: ReadonlyMap<string, string> = new Map([
  [
    'server',
    'give https://HOST:PORT, as reached from this cluster (linkerd multicluster link-gen --api-server-address)',
  ],
  ['certificate-authority-data', `give the CA of the API server as base64 of PEM: ${FLATTEN}`],
  ['client-certificate-data', 'give it as base64 of PEM, with client-key-data, or a token'],
  ['client-key-data', 'give it as base64 of PEM, with client-certificate-data, or a token'],
  ['user', USE_TOKEN],
  ['token', USE_TOKEN],
  ['tls-server-name', 'give the name in the certificate of the API server'],
  ['current-context', 'name the context to use'],
  ['clusters', 'keep the one cluster that this Secret is for'],
  ['users', 'keep the one user that this Secret is for'],
]);

const withAdvice = (error: FieldError): FieldError => {
  const field = error.path.slice(error.path.lastIndexOf('.') + 1);
  return { ...error, ...(REFUSED.get(field) ?? { remedy: error.remedy ?? REMEDIES.get(field) ?? FLATTEN }) };
};

/** A server without a scheme is https, as client-go has it. */
export const withScheme = (server: string): string => (server.includes('://') ? server : `https://${server}`);
