/**
 * What an HTTP request asks for: the verb, resource and name that authorization, faults and the audit log speak of,
 * read from method and path as kube-apiserver's RequestInfo is.
 */

/** The verbs of the API. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** A request, in the terms of the API. */
export interface RequestInfo {
  readonly verb: Verb;
  /** The user's name; empty before authentication. */
  readonly user: string;
  readonly userAgent: string;
  /** Empty for the core group and for paths that are not resources. */
  readonly group: string;
  readonly version: string;
  /** The plural; empty for paths that are not resources. */
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Of a list or watch, the name that its field selector asks for; authorization takes it for the name. */
  readonly selected?: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly uri: string;
}

const isTrue = (value: string | null): boolean => value === 'true' || value === '1' || value === '';

function verbOf(method: string, named: boolean, query: URLSearchParams): Verb {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return named ? 'delete' : 'deletecollection';
    default:
      if (query.has('watch') && isTrue(query.get('watch'))) return 'watch';
      return named ? 'get' : 'list';
  }
}

/** What a method and a path ask for: read once, as clients ask for the same again and again. */
const known = new Map<string, Asked>();
const KNOWN_LIMIT = 10_000;

type Asked = Omit<RequestInfo, 'user' | 'userAgent'>;

/** Reads a request. */
export function readRequest(method: string, uri: string, user: string, userAgent: string): RequestInfo {
  const key = `${method} ${uri}`;
  let asked = known.get(key);
  if (asked === undefined) {
    if (known.size >= KNOWN_LIMIT) known.clear();
    asked = parse(method, uri);
    known.set(key, asked);
  }
  return { ...asked, user, userAgent };
}

function parse(method: string, uri: string): Asked {
  const url = new URL(uri, 'https://localhost');
  const { pathname: path, searchParams: query } = url;
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const common = { path, query, uri };
  const [root, ...rest] = parts;
  const group = root === 'apis' ? (rest.shift() ?? '') : '';
  const version = rest.shift() ?? '';
  if ((root !== 'api' && root !== 'apis') || rest.length === 0) {
    return { ...common, verb: 'get', group: '', version, resource: '' };
  }
  let namespace: string | undefined;
  if (rest[0] === 'namespaces' && rest.length > 2 && rest[2] !== 'status' && rest[2] !== 'finalize') {
    [, namespace] = rest;
    rest.splice(0, 2);
  }
  const [resource = '', name, subresource] = rest;
  if (resource === 'namespaces' && name !== undefined) namespace = name;
  const verb = verbOf(method, name !== undefined, query);
  const selected = SELECTING.has(verb) ? selectedName(query) : undefined;
  return {
    ...common,
    verb,
    group,
    version,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(selected === undefined ? {} : { selected }),
  };
}

const SELECTING: ReadonlySet<Verb> = new Set(['list', 'watch', 'deletecollection']);

/** The one name that a field selector leaves. */
const selectedName = (query: URLSearchParams): string | undefined =>
  /(?:^|,)metadata\.name==?([^,]+)/.exec(query.get('fieldSelector') ?? '')?.[1];

/** Whether a boolean query parameter is set. */
export const flag = (query: URLSearchParams, name: string): boolean => query.has(name) && isTrue(query.get(name));
