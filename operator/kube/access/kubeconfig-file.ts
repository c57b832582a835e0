/**
 * What one file of a kubeconfig says, in the shape of client-go's `clientcmd/api/v1`. As kubectl has it, unknown fields
 * mean nothing, a field of another type than its own is an error, and paths are those of files beside this one. No
 * error quotes what a file holds.
 */
import { boolYaml11Tag, CORE_SCHEMA, loadAll, mergeTag } from 'js-yaml';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { type FieldError, fieldError, formatFieldErrors } from '../../../crds/field-error.ts';
import { compile } from '../../../crds/validate.ts';
import { decode } from './pem.ts';

/** How an API server is reached. */
export interface KubeconfigCluster {
  readonly server?: string;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  /** Absolute path. */
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'proxy-url'?: string;
  readonly 'disable-compression'?: boolean;
  readonly extensions?: readonly { readonly name?: string; readonly extension?: unknown }[];
}

/** A program that prints credentials. */
export interface ExecConfig {
  /** Absolute path, or a name to look up in PATH. */
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name?: string; readonly value?: string }[];
  readonly apiVersion?: string;
  readonly installHint?: string;
  readonly provideClusterInfo?: boolean;
  readonly interactiveMode?: string;
}

/** Who asks; the paths are absolute. */
export interface KubeconfigUser {
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
  readonly username?: string;
  readonly password?: string;
  readonly 'auth-provider'?: { readonly name?: string; readonly config?: Readonly<Record<string, string>> };
  readonly exec?: ExecConfig;
}

export interface KubeconfigContext {
  readonly cluster?: string;
  readonly user?: string;
}

/** What a file says, by name. */
export interface KubeconfigFile {
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>;
  readonly users: ReadonlyMap<string, KubeconfigUser>;
  readonly contexts: ReadonlyMap<string, KubeconfigContext>;
  readonly currentContext: string;
}

type Named<Field extends string, T> = { readonly name?: string } & { readonly [F in Field]?: T };

interface Document {
  readonly clusters?: readonly Named<'cluster', KubeconfigCluster>[];
  readonly users?: readonly Named<'user', KubeconfigUser>[];
  readonly contexts?: readonly Named<'context', KubeconfigContext>[];
  readonly 'current-context'?: string;
}

const TEXT = { type: 'string' };
const TEXTS = { type: 'array', items: TEXT };
const BASE64 = { type: 'string', format: 'base64' };
const FLAG = { type: 'boolean' };
const object = (properties: object) => ({ type: 'object', properties });
const list = (properties: object) => ({ type: 'array', items: object({ name: TEXT, ...properties }) });

const SCHEMA = object({
  apiVersion: { const: 'v1' },
  kind: { const: 'Config' },
  'current-context': TEXT,
  clusters: list({
    cluster: object({
      server: TEXT,
      'tls-server-name': TEXT,
      'insecure-skip-tls-verify': FLAG,
      'certificate-authority': TEXT,
      'certificate-authority-data': BASE64,
      'proxy-url': TEXT,
      'disable-compression': FLAG,
      extensions: list({}),
    }),
  }),
  users: list({
    user: object({
      'client-certificate': TEXT,
      'client-certificate-data': BASE64,
      'client-key': TEXT,
      'client-key-data': BASE64,
      token: TEXT,
      tokenFile: TEXT,
      as: TEXT,
      'as-uid': TEXT,
      'as-groups': TEXTS,
      'as-user-extra': { type: 'object', additionalProperties: TEXTS },
      username: TEXT,
      password: TEXT,
      'auth-provider': object({ name: TEXT, config: { type: 'object', additionalProperties: TEXT } }),
      exec: object({
        command: TEXT,
        args: TEXTS,
        env: { type: 'array', items: object({ name: TEXT, value: TEXT }) },
        apiVersion: TEXT,
        installHint: TEXT,
        provideClusterInfo: FLAG,
        interactiveMode: TEXT,
      }),
    }),
  }),
  contexts: list({ context: object({ cluster: TEXT, user: TEXT, namespace: TEXT }) }),
});

/** Most errors that are reported of one file. */
const MAX_ERRORS = 5;

const base64 = (text: string) => (text === '' || decode(text) !== undefined ? undefined : 'must be valid base64');
const check = compile<Document>(SCHEMA, { formats: { base64 }, secret: true, limit: MAX_ERRORS });

/** As Go's YAML has it: `yes` is true, `<<` merges, and of a key that is there twice the last counts. */
const YAML = { schema: CORE_SCHEMA.withTags(mergeTag, boolYaml11Tag), json: true };

/**
 * Reads the text of a file.
 * @param file its path, which the paths in it are relative to
 * @throws YAMLException, which quotes the text; Error that says what is wrong with which field, and what to do
 */
export function parseKubeconfigFile(text: string, file: string): KubeconfigFile {
  const document = withoutNulls(loadAll(text, YAML)[0] ?? {});
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new Error('it is not a kubeconfig');
  const checked = check(document);
  if (!checked.ok) throw new Error(formatFieldErrors(checked.errors));
  const { clusters = [], users = [], contexts = [], 'current-context': currentContext = '' } = checked.value;
  const repeated = Object.entries({ clusters, users, contexts }).flatMap(([field, all]) => repetitions(field, all));
  if (repeated.length > 0) throw new Error(formatFieldErrors(repeated));
  const folder = dirname(resolve(file));
  return {
    clusters: new Map(clusters.map(({ name = '', cluster = {} }) => [name, beside(folder, cluster, CLUSTER_FILES)])),
    users: new Map(
      users.map(({ name = '', user = {} }) => [name, withCommand(folder, beside(folder, user, USER_FILES))]),
    ),
    contexts: new Map(contexts.map(({ name = '', context = {} }) => [name, context])),
    currentContext,
  };
}

const repetitions = (field: string, all: readonly { readonly name?: string }[]): readonly FieldError[] =>
  all.flatMap(({ name }, index) =>
    all.findIndex((other) => other.name === name) === index
      ? []
      : [fieldError(`${field}[${index}].name`, name, 'is there twice in this file', 'remove or rename one')],
  );

const CLUSTER_FILES = ['certificate-authority'] as const;
const USER_FILES = ['client-certificate', 'client-key', 'tokenFile'] as const;

const absolute = (folder: string, path: string): string => (isAbsolute(path) ? path : join(folder, path));

/** Makes the paths in some fields absolute. */
const beside = <T extends object>(folder: string, of: T, fields: readonly (keyof T)[]): T => ({
  ...of,
  ...Object.fromEntries(
    fields.flatMap((field) => {
      const path = of[field];
      return typeof path === 'string' && path !== '' ? [[field, absolute(folder, path)]] : [];
    }),
  ),
});

/** A command with a slash is a path; a bare name is looked up in PATH. */
const withCommand = (folder: string, user: KubeconfigUser): KubeconfigUser => {
  const command = user.exec?.command;
  if (command === undefined || !command.includes(sep)) return user;
  return { ...user, exec: { ...user.exec, command: absolute(folder, command) } };
};

/** A field that is null is one that is not there; an extension is passed on as it is. */
const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, name === 'extension' ? field : withoutNulls(field)]));
};
