/**
 * Kubeconfigs from Secrets: data from outside. A client is made of the values that were checked here and of nothing
 * else: no program is run and no file is read for one. No message repeats what it holds.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { X509Certificate, createHash, createPrivateKey } from 'node:crypto';
import { bearer, type ClusterAccess } from './access.ts';
import { cut } from '../errors.ts';
import { parseYaml } from './yaml.ts';

/** What is wrong with one field of a kubeconfig, without its value. */
export interface KubeconfigError {
  /** Such as `users[0].user.exec`; empty for the whole. */
  readonly path: string;
  readonly reason: string;
  readonly remedy: string;
}

export type Checked =
  | {
      readonly ok: true;
      readonly access: ClusterAccess;
      /** SHA-256 of the text, in hex: differs when anything does. */
      readonly fingerprint: string;
    }
  | { readonly ok: false; readonly errors: readonly KubeconfigError[] };

/** Largest kubeconfig that is read from a Secret, in bytes. */
export const MAX_KUBECONFIG_BYTES = 256 * 1024;

/** Most errors that are reported of one kubeconfig. */
const MAX_ERRORS = 20;

/** What {@link SCHEMA} lets through. */
interface TargetKubeconfig {
  readonly clusters: readonly [
    {
      readonly name: string;
      readonly cluster: {
        readonly server: string;
        readonly 'certificate-authority-data': string;
        readonly 'tls-server-name'?: string;
      };
    },
  ];
  readonly users: readonly [
    {
      readonly name: string;
      readonly user: {
        readonly token?: string;
        readonly 'client-certificate-data'?: string;
        readonly 'client-key-data'?: string;
      };
    },
  ];
  readonly contexts: readonly {
    readonly name: string;
    readonly context: { readonly cluster: string; readonly user: string };
  }[];
  readonly 'current-context': string;
}

const NAME = { type: 'string', minLength: 1 };
const CLOSED = { type: 'object', additionalProperties: false };

/** All that is accepted. The fields with `true` are written by kubectl and Linkerd and mean nothing here. */
const SCHEMA = {
  ...CLOSED,
  required: ['clusters', 'users', 'contexts', 'current-context'],
  properties: {
    apiVersion: { const: 'v1' },
    kind: { const: 'Config' },
    preferences: true,
    extensions: true,
    'current-context': NAME,
    clusters: {
      type: 'array',
      minItems: 1,
      maxItems: 1,
      items: {
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
      },
    },
    users: {
      type: 'array',
      minItems: 1,
      maxItems: 1,
      items: {
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
      },
    },
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

/** Why a text is not what its field needs; undefined if it is. */
const CHECKS = {
  server: (text: string) => {
    const url = URL.parse(withScheme(text));
    if (url === null || /\s/.test(text)) return 'is no URL';
    if (url.protocol !== 'https:') return 'is no https URL';
    if (url.username !== '' || url.password !== '') return 'holds credentials';
    if (/[?#]/.test(text)) return 'has a query or fragment';
    return undefined;
  },
  certificates: (text: string) => {
    const pem = decode(text);
    if (pem === undefined) return 'is no base64';
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    if (blocks.length === 0) return 'holds no PEM certificate';
    return blocks.every((block) => certificate(block) !== undefined) ? undefined : 'is no valid X.509 certificate';
  },
  'private-key': (text: string) => {
    const pem = decode(text);
    if (pem === undefined) return 'is no base64';
    return privateKey(pem) === undefined ? 'is no PEM private key without a passphrase' : undefined;
  },
  token: (text: string) => {
    if (text === '') return 'is empty';
    return /^[\x21-\x7e]+$/.test(text) ? undefined : 'has spaces, line breaks or characters that no header can carry';
  },
  'host-name': (text: string) =>
    /^[A-Za-z0-9]([-A-Za-z0-9._]*[A-Za-z0-9])?$/.test(text) ? undefined : 'is no host name',
} as const satisfies Record<string, (text: string) => string | undefined>;

const FLATTEN = 'write a self-contained kubeconfig with "kubectl config view --minify --flatten"';
const USE_TOKEN = 'use the token of a service account, as "linkerd multicluster link-gen" does';

type Refusal = readonly [reason: string, remedy: string];

const PROGRAM: Refusal = ['would run a program in the operator', USE_TOKEN];
const FILE: Refusal = ['would read a file of the operator', FLATTEN];
const PASSWORD: Refusal = ['is not supported by API servers any more', USE_TOKEN];
const IMPERSONATION: Refusal = ['would impersonate another user', 'give the credentials of that user, and remove it'];

/** Fields that kubeconfigs have and those of Secrets may not have: why, and what to do instead. */
const REFUSED: ReadonlyMap<string, Refusal> = new Map([
  ['exec', PROGRAM],
  ['auth-provider', PROGRAM],
  ['tokenFile', FILE],
  ['token-file', FILE],
  ['certificate-authority', FILE],
  ['client-certificate', FILE],
  ['client-key', FILE],
  ['proxy-url', ['would send requests elsewhere than to the server', 'give the operator a direct route and remove it']],
  ['insecure-skip-tls-verify', ['would trust any server', 'remove it and give certificate-authority-data']],
  ['username', PASSWORD],
  ['password', PASSWORD],
  ['as', IMPERSONATION],
  ['as-uid', IMPERSONATION],
  ['as-groups', IMPERSONATION],
  ['as-user-extra', IMPERSONATION],
]);

/** What to do about a field that must be there or must be otherwise. */
const REMEDIES: Readonly<Record<string, string>> = {
  server: 'give https://HOST:PORT, as reached from this cluster (linkerd multicluster link-gen --api-server-address)',
  'certificate-authority-data': `give the CA of the API server as base64 of PEM: ${FLATTEN}`,
  'client-certificate-data': 'give it as base64 of PEM, with client-key-data, or a token',
  'client-key-data': 'give it as base64 of PEM, with client-certificate-data, or a token',
  token: USE_TOKEN,
  'tls-server-name': 'give the name in the certificate of the API server',
  'current-context': 'name the context to use',
  clusters: 'keep the one cluster that this Secret is for',
  users: 'keep the one user that this Secret is for',
};

let compiled: ValidateFunction<TargetKubeconfig> | undefined;

const compile = (): ValidateFunction<TargetKubeconfig> =>
  new Ajv({
    allErrors: true,
    verbose: true,
    formats: Object.fromEntries(
      Object.entries(CHECKS).map(([format, check]) => [format, (text: string) => check(text) === undefined]),
    ),
  }).compile<TargetKubeconfig>(SCHEMA);

/** Checks a kubeconfig from a Secret, and makes one of just what was checked (rule E3). Never throws. */
export function parseTargetKubeconfig(text: string): Checked {
  if (Buffer.byteLength(text) > MAX_KUBECONFIG_BYTES) {
    return refuse('', `is over ${MAX_KUBECONFIG_BYTES / 1024} KiB`, 'keep the one cluster and user');
  }
  let document: unknown;
  try {
    document = parseYaml(text);
  } catch (error) {
    return refuse('', (error as Error).message, FLATTEN);
  }
  if (!isMap(document) || (document['kind'] ?? 'Config') !== 'Config') {
    return refuse('', 'it is no kubeconfig', FLATTEN);
  }
  const accepts = (compiled ??= compile());
  if (!accepts(document)) {
    return { ok: false, errors: (accepts.errors ?? []).filter(isTold).slice(0, MAX_ERRORS).map(explain) };
  }
  const broken = inconsistencies(document);
  if (broken.length > 0) return { ok: false, errors: broken };
  return {
    ok: true,
    access: accessOf(document),
    fingerprint: createHash('sha256').update(text).digest('hex'),
  };
}

const refuse = (path: string, reason: string, remedy: string): Checked => ({
  ok: false,
  errors: [{ path, reason, remedy }],
});

const isMap = (document: unknown): document is Readonly<Record<string, unknown>> =>
  typeof document === 'object' && document !== null && !Array.isArray(document);

/** References that lead nowhere, and a key that is another certificate's. */
function inconsistencies(document: TargetKubeconfig): readonly KubeconfigError[] {
  const errors: KubeconfigError[] = [];
  const current = document.contexts.findIndex(({ name }) => name === document['current-context']);
  const context = document.contexts[current]?.context;
  const path = `contexts[${current}].context`;
  if (context === undefined) {
    errors.push({ path: 'current-context', reason: 'names no context', remedy: 'name one of contexts' });
  } else {
    if (context.cluster !== document.clusters[0].name) {
      errors.push({ path: `${path}.cluster`, reason: 'names no cluster', remedy: 'name the one in clusters' });
    }
    if (context.user !== document.users[0].name) {
      errors.push({ path: `${path}.user`, reason: 'names no user', remedy: 'name the one in users' });
    }
  }
  const { 'client-certificate-data': certData = '', 'client-key-data': keyData = '' } = document.users[0].user;
  const key = privateKey(decode(keyData) ?? '');
  if (key !== undefined && certificate(decode(certData) ?? '')?.checkPrivateKey(key) === false) {
    errors.push({
      path: 'users[0].user.client-key-data',
      reason: 'is not the key of client-certificate-data',
      remedy: 'give the two that belong together',
    });
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

/** Whether an error says something that another does not say better: `anyOf` sums up the ones of its branches. */
const isTold = ({ keyword, schemaPath }: ErrorObject): boolean =>
  keyword === 'anyOf' || !schemaPath.includes('/anyOf/');

function explain(error: ErrorObject): KubeconfigError {
  const params = error.params as Readonly<Record<string, unknown>>;
  const path = dotted(error.instancePath);
  const field = path.split('.').at(-1) ?? '';
  const refused = REFUSED.get(error.keyword === 'additionalProperties' ? String(params['additionalProperty']) : field);
  const remedy = REMEDIES[field] ?? FLATTEN;
  const under = (name: unknown) => [path, cut(String(name), 64)].filter((part) => part !== '').join('.');
  switch (error.keyword) {
    case 'additionalProperties': {
      const [reason, instead] = refused ?? ['is no field that is accepted', 'remove it'];
      return { path: under(params['additionalProperty']), reason, remedy: instead };
    }
    case 'required':
    case 'dependencies': {
      const missing = String(params['missingProperty']);
      return { path: under(missing), reason: 'is missing', remedy: REMEDIES[missing] ?? FLATTEN };
    }
    case 'anyOf':
      return { path, reason: 'has neither token nor client-certificate-data', remedy: USE_TOKEN };
    case 'const': {
      const [reason, instead] = refused ?? ['is not what a kubeconfig has there', FLATTEN];
      return { path, reason, remedy: instead };
    }
    case 'format': {
      const check = CHECKS[params['format'] as keyof typeof CHECKS];
      return { path, reason: check(error.data as string) ?? 'is not valid', remedy };
    }
    case 'minItems':
      return { path, reason: 'is empty', remedy };
    case 'maxItems':
      return { path, reason: 'has more than one entry', remedy };
    default:
      return { path, reason: error.message ?? 'is not valid', remedy };
  }
}

/** `/users/0/user` → `users[0].user` */
const dotted = (pointer: string): string =>
  pointer
    .slice(1)
    .replaceAll(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');

/** A server without a scheme is https, as client-go has it. */
const withScheme = (server: string): string => (server.includes('://') ? server : `https://${server}`);

const unspaced = (base64: string): string => base64.replaceAll(/\s/g, '');

function decode(base64: string): string | undefined {
  const text = unspaced(base64);
  if (text === '' || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  return Buffer.from(text, 'base64').toString('utf8');
}

function certificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function privateKey(pem: string) {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
