/**
 * Kubeconfigs, and what becomes of a request that is made with each: data alone. Names in braces stand for addresses, texts
 * in base64 and the folder of the case, see servers.ts and both.ts.
 */
import type { Result } from './both.ts';
import { REFUSED, type Seen } from './servers.ts';

export interface Case {
  /** A sentence about the kubeconfig. */
  readonly name: string;
  /** By path in the folder of the case; what begins with `#!` can be executed. `config` is used if nothing else is named. */
  readonly files?: Readonly<Record<string, string | object>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Value of --kubeconfig. */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly result: Result;
  /** What the server sees, as far as the case is about it. */
  readonly sees?: Partial<Seen>;
}

type Fields = Readonly<Record<string, unknown>>;

interface Parts {
  readonly cluster?: Fields;
  readonly user?: Fields;
  readonly top?: Fields;
}

const config = ({ cluster = {}, user = { token: 'mine' }, top = {} }: Parts = {}): object => ({
  clusters: [{ name: 'c', cluster: { server: '{FIRST}', 'certificate-authority-data': '{CA}', ...cluster } }],
  users: [{ name: 'u', user }],
  contexts: [{ name: 'a', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'a',
  ...top,
});

/** A kubeconfig of one context, whose names all end alike. */
const named = (name: string, { server = '{FIRST}', token = name, current = name, user = name } = {}): object => ({
  clusters: [{ name, cluster: { server, 'certificate-authority-data': '{CA}' } }],
  users: [{ name: user, user: { token } }],
  contexts: [{ name, context: { cluster: name, user } }],
  'current-context': current,
});

const one = (name: string, result: Result, parts: Parts, sees?: Partial<Seen>, more: Partial<Case> = {}): Case => ({
  name,
  result,
  ...(sees === undefined ? {} : { sees }),
  ...more,
  files: { config: config(parts), ...more.files },
});

const bearer = (token: string): Partial<Seen> => ({ headers: { authorization: [`Bearer ${token}`] } });

const FILES: readonly Case[] = [
  { name: '--kubeconfig', files: { f: named('x') }, kubeconfig: '{DIR}/f', result: 'answer', sees: bearer('x') },
  { name: 'KUBECONFIG', files: { f: named('x') }, env: { KUBECONFIG: '{DIR}/f' }, result: 'answer', sees: bearer('x') },
  { name: 'that of the home folder', files: { 'home/.kube/config': named('x') }, result: 'answer', sees: bearer('x') },
  {
    name: '--kubeconfig goes before KUBECONFIG',
    files: { f: named('x'), g: named('y') },
    env: { KUBECONFIG: '{DIR}/f' },
    kubeconfig: '{DIR}/g',
    result: 'answer',
    sees: bearer('y'),
  },
  {
    name: 'of two files with a user of one name, the first counts',
    files: { f: named('x', { user: 'admin' }), g: named('y', { user: 'admin', server: '{SECOND}' }) },
    env: { KUBECONFIG: '{DIR}/f:{DIR}/g' },
    context: 'y',
    result: 'answer',
    sees: { ...bearer('x'), server: 'second' },
  },
  {
    name: 'of two files with everything of one name, the first counts',
    files: { f: named('x', { token: '1' }), g: named('x', { token: '2', server: '{SECOND}' }) },
    env: { KUBECONFIG: '{DIR}/f:{DIR}/g' },
    result: 'answer',
    sees: { ...bearer('1'), server: 'first' },
  },
  {
    name: 'a context, its cluster and its user in three files',
    files: {
      f: { contexts: [{ name: 'a', context: { cluster: 'c', user: 'u' } }], 'current-context': 'a' },
      g: { clusters: [{ name: 'c', cluster: { server: '{FIRST}', 'certificate-authority-data': '{CA}' } }] },
      h: { users: [{ name: 'u', user: { token: 'third' } }] },
    },
    env: { KUBECONFIG: '{DIR}/f:{DIR}/g:{DIR}/h' },
    result: 'answer',
    sees: bearer('third'),
  },
  {
    name: 'a missing file of a list is skipped',
    files: { f: named('x') },
    env: { KUBECONFIG: '{DIR}/none:{DIR}/f' },
    result: 'answer',
    sees: bearer('x'),
  },
  {
    name: 'an empty file of a list is skipped',
    files: { e: '', f: named('x') },
    env: { KUBECONFIG: '{DIR}/e:{DIR}/f' },
    result: 'answer',
    sees: bearer('x'),
  },
  {
    name: 'a file of a list with comments alone is skipped',
    files: { e: '# later\n', f: named('x') },
    env: { KUBECONFIG: '{DIR}/e:{DIR}/f' },
    result: 'answer',
    sees: bearer('x'),
  },
  {
    name: 'a file that a list names twice',
    files: { f: named('x') },
    env: { KUBECONFIG: '{DIR}/f:{DIR}/f' },
    result: 'answer',
    sees: bearer('x'),
  },
  {
    name: 'a list that begins and ends with a colon',
    files: { f: named('x') },
    env: { KUBECONFIG: ':{DIR}/f:' },
    result: 'answer',
    sees: bearer('x'),
  },
  {
    name: 'the current context is that of the first file that sets one',
    files: { f: named('x', { current: '' }), g: named('y'), h: named('z') },
    env: { KUBECONFIG: '{DIR}/f:{DIR}/g:{DIR}/h' },
    result: 'answer',
    sees: bearer('y'),
  },
  {
    name: 'paths are relative to the file that has them',
    files: {
      f: named('x', { current: '' }),
      'sub/g': config({
        cluster: { 'certificate-authority-data': null, 'certificate-authority': 'ca.crt' },
        user: { tokenFile: '../token' },
      }),
      'sub/ca.crt': '{CA-PEM}',
      token: 'beside\n',
    },
    env: { KUBECONFIG: '{DIR}/f:{DIR}/sub/g' },
    result: 'answer',
    sees: bearer('beside'),
  },
  { name: 'a file that is named and missing', kubeconfig: '{DIR}/none', result: 'config' },
  {
    name: 'a list with a file that is not YAML',
    files: { f: named('x'), g: 'users: [' },
    env: { KUBECONFIG: '{DIR}/f:{DIR}/g' },
    result: 'config',
  },
  one('a context that is not there', 'config', {}, undefined, { context: 'b' }),
  one('a current context that is not there', 'config', { top: { 'current-context': 'b' } }),
  one('a name that is there twice in one file', 'config', {
    top: {
      users: [
        { name: 'u', user: { token: '1' } },
        { name: 'u', user: { token: '2' } },
      ],
    },
  }),
  one('a token that is a number', 'config', { user: { token: 123 } }),
  one('clusters that are no list', 'config', { top: { clusters: {} } }),
  one('another kind', 'config', { top: { kind: 'Pod', apiVersion: 'v1' } }),
  one('another version', 'config', { top: { kind: 'Config', apiVersion: 'v2' } }),
  one(
    'fields that are null, and some that nobody knows',
    'answer',
    { user: { token: 'mine', exec: null, as: null, foo: 1 }, top: { preferences: null, extensions: null, bar: {} } },
    bearer('mine'),
  ),
  {
    name: 'YAML with anchors, merges, a repeated key, a word for true and a second document',
    files: {
      config: `x: &base {token: base}
clusters: [{name: c, cluster: {server: '{SECOND}', insecure-skip-tls-verify: yes}}]
users: [{name: u, user: {<<: *base}}]
contexts: [{name: a, context: {cluster: c, user: u}}]
current-context: b
current-context: a
---
users: []
`,
    },
    result: 'answer',
    sees: { ...bearer('base'), server: 'second' },
  },
  { name: 'a text', files: { config: 'hello\n' }, result: 'config' },
];

const JWT = (claims: object): string =>
  ['e30', Buffer.from(JSON.stringify(claims)).toString('base64url'), 'c2ln'].join('.');
const oidc = (fields: Fields): Fields => ({
  'auth-provider': { name: 'oidc', config: { 'idp-issuer-url': 'https://127.0.0.1:1', 'client-id': 'k', ...fields } },
});

const USERS: readonly Case[] = [
  one('a token', 'answer', {}, { ...bearer('mine'), client: undefined }),
  one('a token file goes before a token', 'answer', { user: { token: 'old', tokenFile: 't' } }, bearer('new'), {
    files: { t: 'new\n' },
  }),
  one('a token counts if its file is missing', 'answer', { user: { token: 'old', tokenFile: 't' } }, bearer('old')),
  one('a token file that is missing', 'config', { user: { tokenFile: 't' } }),
  one('a token file that is empty', 'config', { user: { tokenFile: 't' } }, undefined, { files: { t: '' } }),
  one(
    'a password',
    'answer',
    { user: { username: 'me', password: 'p:ä' } },
    {
      headers: { authorization: [`Basic ${Buffer.from('me:p:ä').toString('base64')}`] },
    },
  ),
  one(
    'a user name without a password',
    'answer',
    { user: { username: 'me' } },
    {
      headers: { authorization: [`Basic ${btoa('me:')}`] },
    },
  ),
  one('a token and a password', 'config', { user: { token: 't', username: 'me', password: 'p' } }),
  one('a token file and a password', 'config', { user: { tokenFile: 't', username: 'me' } }, undefined, {
    files: { t: 'x' },
  }),
  one(
    'a client certificate',
    'answer',
    { user: { 'client-certificate-data': '{CERT}', 'client-key-data': '{KEY}' } },
    { client: 'client-one', headers: {} },
  ),
  one(
    'a client certificate in files',
    'answer',
    { user: { 'client-certificate': 'one.crt', 'client-key': '{DIR}/one.key' } },
    { client: 'client-one' },
    { files: { 'one.crt': '{CERT-PEM}', 'one.key': '{KEY-PEM}' } },
  ),
  one(
    'a client certificate in a file, its key in the kubeconfig',
    'answer',
    { user: { 'client-certificate': 'one.crt', 'client-key-data': '{KEY}' } },
    { client: 'client-one' },
    { files: { 'one.crt': '{CERT-PEM}' } },
  ),
  one(
    'a client certificate and a token',
    'answer',
    { user: { 'client-certificate-data': '{CERT}', 'client-key-data': '{KEY}', token: 'also' } },
    { ...bearer('also'), client: 'client-one' },
  ),
  one('a client certificate without its key', 'config', { user: { 'client-certificate-data': '{CERT}' } }),
  one('a client certificate twice', 'config', {
    user: { 'client-certificate': 'config', 'client-certificate-data': '{CERT}', 'client-key-data': '{KEY}' },
  }),
  one('a client key twice', 'config', {
    user: { 'client-certificate-data': '{CERT}', 'client-key-data': '{KEY}', 'client-key': 'config' },
  }),
  one('a client certificate that is missing', 'config', {
    user: { 'client-certificate': 'none', 'client-key-data': '{KEY}' },
  }),
  one('the key of another certificate', 'config', {
    user: { 'client-certificate-data': '{CERT}', 'client-key-data': '{KEY-OF-TWO}' },
  }),
  one('a client certificate that is none', 'config', {
    user: { 'client-certificate-data': '{KEY}', 'client-key-data': '{KEY}' },
  }),
  one('a user without credentials', 'config', { user: {} }),
  one('a user who is not there', 'config', { top: { users: [] } }),
  one(
    'a user who acts as another',
    'answer',
    { user: { token: 't', as: 'jane' } },
    {
      headers: { authorization: ['Bearer t'], 'impersonate-user': ['jane'] },
    },
  ),
  one(
    'a user who acts as another, of groups, with a uid and more',
    'answer',
    {
      user: {
        token: 't',
        as: 'jané',
        'as-uid': '42',
        'as-groups': ['b', 'a, c'],
        'as-user-extra': { scopes: ['view', 'edit'], 'example.org/Team%': ['x'] },
      },
    },
    {
      headers: {
        authorization: ['Bearer t'],
        'impersonate-user': [Buffer.from('jané').toString('latin1')],
        'impersonate-uid': ['42'],
        'impersonate-group': ['a, c', 'b'],
        'impersonate-extra-scopes': ['edit', 'view'],
        'impersonate-extra-example.org%2fteam%25': ['x'],
      },
    },
  ),
  one('groups to act with, and nobody to act as', 'config', { user: { token: 't', 'as-groups': ['a'] } }),
  one('a uid to act with, and nobody to act as', 'config', { user: { token: 't', 'as-uid': '1' } }),
  one('somebody to act as, and no credentials', 'config', { user: { as: 'jane' } }),
  one('an auth-provider that kubectl has removed', 'config', { user: { 'auth-provider': { name: 'gcp' } } }),
  one('an auth-provider that nobody knows', 'config', { user: { 'auth-provider': { name: 'x', config: {} } } }),
  one('an ID token', 'answer', { user: oidc({ 'id-token': JWT({ exp: 9e9 }) }) }, bearer(JWT({ exp: 9e9 }))),
  one('an ID token that has expired', 'login', { user: oidc({ 'id-token': JWT({ exp: 1 }) }) }),
  one('no ID token', 'login', { user: oidc({}) }),
  one('an ID token of nobody', 'config', { user: oidc({ 'id-token': JWT({ exp: 9e9 }), 'client-id': '' }) }),
  one('a token that is refused', 'unauthorized', { user: { token: REFUSED } }, bearer(REFUSED)),
];

const NO_CA: Fields = { 'certificate-authority-data': null };
const INSECURE: Fields = { ...NO_CA, 'insecure-skip-tls-verify': true };

const CLUSTERS: readonly Case[] = [
  one(
    'a CA in a file',
    'answer',
    { cluster: { ...NO_CA, 'certificate-authority': '{DIR}/ca' } },
    { server: 'first' },
    {
      files: { ca: '{CA-PEM}' },
    },
  ),
  one('a CA twice', 'config', { cluster: { 'certificate-authority': '{DIR}/ca' } }, undefined, {
    files: { ca: '{CA-PEM}' },
  }),
  one('a CA that is missing', 'config', { cluster: { ...NO_CA, 'certificate-authority': 'none' } }),
  one('a CA of another server', 'connection', { cluster: { 'certificate-authority-data': '{OTHER-CA}' } }),
  one('a CA that is no certificate', 'config', { cluster: { 'certificate-authority-data': btoa('hello') } }),
  one('a CA that is not base64', 'config', { cluster: { 'certificate-authority-data': '-----BEGIN' } }),
  one('no CA, for a server that the machine does not know', 'connection', { cluster: NO_CA }),
  one('any server', 'answer', { cluster: INSECURE }, { server: 'first' }),
  one('any server, and a CA', 'config', { cluster: { 'insecure-skip-tls-verify': true } }),
  one('a name of the server', 'answer', { cluster: { 'tls-server-name': 'other.test' } }, { sni: 'other.test' }),
  one('a name that the server does not have', 'connection', { cluster: { 'tls-server-name': 'west.test' } }),
  one(
    'any server, of any name',
    'answer',
    { cluster: { ...INSECURE, 'tls-server-name': 'west.test' } },
    {
      sni: 'west.test',
    },
  ),
  one('a server that is away', 'connection', { cluster: { server: 'https://127.0.0.1:1' } }),
  one(
    'a server without TLS is told no token',
    'answer',
    { cluster: { server: '{PLAIN}' } },
    {
      server: 'plain',
      headers: {},
    },
  ),
  one(
    'a server without TLS is told who to act as',
    'answer',
    { cluster: { server: '{PLAIN}' }, user: { token: 't', as: 'jane' } },
    { headers: { 'impersonate-user': ['jane'] } },
  ),
  one('a server without a scheme has no TLS', 'answer', { cluster: { server: '{PLAIN-HOST}' } }, { server: 'plain' }),
];

/** A server whose name is known to the proxies alone. */
const AFAR: Fields = { server: 'https://api.test:6443' };
const through = (proxy: string, target = 'api.test:6443', who = ''): Partial<Seen> => ({
  via: `${proxy} ${target} ${who}`,
  ...bearer('mine'),
});
const BASIC = `Basic ${btoa('me:p@:ss')}`;
/** Reaches the servers of this machine, and is no loopback address to Go. */
const HERE: Fields = { server: 'https://0.0.0.0:{FIRST-PORT}', ...INSECURE };
const HERE_TARGET = '0.0.0.0:{FIRST-PORT}';

const PROXIES: readonly Case[] = [
  one(
    'a proxy',
    'answer',
    { cluster: { ...AFAR, 'proxy-url': 'http://{HTTP}' } },
    {
      ...through('http'),
      sni: 'api.test',
    },
  ),
  one('a proxy for a loopback address', 'answer', { cluster: { 'proxy-url': 'http://{HTTP}' } }, bearer('mine')),
  one(
    'a proxy with a password',
    'answer',
    { cluster: { ...AFAR, 'proxy-url': 'http://me:p%40%3Ass@{HTTP}' } },
    through('http', undefined, BASIC),
  ),
  one(
    'a proxy with a user alone',
    'answer',
    { cluster: { ...AFAR, 'proxy-url': 'http://me@{HTTP}' } },
    {
      ...through('http', undefined, `Basic ${btoa('me:')}`),
    },
  ),
  one('a proxy by TLS', 'answer', { cluster: { ...AFAR, 'proxy-url': 'https://{HTTPS}' } }, through('https')),
  one('a proxy by TLS, of another CA', 'connection', {
    cluster: { ...AFAR, 'proxy-url': 'https://{HTTPS}', 'certificate-authority-data': '{OTHER-CA}' },
  }),
  one(
    'a client certificate goes through a proxy',
    'answer',
    {
      cluster: { ...AFAR, 'proxy-url': 'http://{HTTP}' },
      user: { 'client-certificate-data': '{CERT}', 'client-key-data': '{KEY}' },
    },
    { client: 'client-one' },
  ),
  one(
    'a name of the server, through a proxy',
    'answer',
    { cluster: { server: 'https://10.9.8.7', 'proxy-url': 'http://{HTTP}', 'tls-server-name': 'other.test' } },
    { ...through('http', '10.9.8.7:443'), sni: 'other.test' },
  ),
  one('a SOCKS5 proxy', 'answer', { cluster: { ...AFAR, 'proxy-url': 'socks5://{SOCKS}' } }, through('socks5')),
  one(
    'a SOCKS5 proxy with a password, for an address',
    'answer',
    { cluster: { server: 'https://10.9.8.7', 'proxy-url': 'socks5://me:p%40ss@{SOCKS}' } },
    through('socks5', '10.9.8.7:443', 'me:p@ss'),
  ),
  one('a SOCKS5 proxy that refuses', 'connection', {
    cluster: { server: 'https://refused.test', 'proxy-url': 'socks5://{SOCKS}' },
  }),
  one('a proxy that refuses', 'connection', {
    cluster: { server: 'https://refused.test', 'proxy-url': 'http://{HTTP}' },
  }),
  one('a proxy that is away', 'connection', { cluster: { 'proxy-url': 'http://127.0.0.1:1' } }),
  one('a proxy of another scheme', 'config', { cluster: { 'proxy-url': 'ftp://{HTTP}' } }),
  one('a proxy without a scheme', 'config', { cluster: { 'proxy-url': '{HTTP}' } }),
  one(
    'a proxy to a server without TLS',
    'answer',
    {
      cluster: { server: 'http://plain.test', 'proxy-url': 'http://me:p%40%3Ass@{HTTP}' },
    },
    { server: 'plain', via: `http plain.test ${BASIC}` },
  ),
  one('a proxy by TLS to a server without', 'connection', {
    cluster: { server: 'http://plain.test', 'proxy-url': 'https://{HTTPS}' },
  }),
  one('the proxy of the environment', 'answer', { cluster: AFAR }, through('http'), {
    env: { HTTPS_PROXY: 'http://{HTTP}' },
  }),
  one('the proxy of the environment, without a scheme', 'answer', { cluster: AFAR }, through('http'), {
    env: { HTTPS_PROXY: '{HTTP}' },
  }),
  one('the proxy of the environment in capitals goes first', 'answer', { cluster: AFAR }, through('http'), {
    env: { HTTPS_PROXY: 'http://{HTTP}', https_proxy: 'http://127.0.0.1:1' },
  }),
  one('a SOCKS5 proxy of the environment', 'answer', { cluster: AFAR }, through('socks5'), {
    env: { HTTPS_PROXY: 'socks5://{SOCKS}' },
  }),
  one(
    'the proxy of the environment for servers without TLS',
    'answer',
    { cluster: { server: 'http://plain.test' } },
    {
      server: 'plain',
      via: 'http plain.test',
    },
    { env: { HTTP_PROXY: 'http://{HTTP}', HTTPS_PROXY: 'http://127.0.0.1:1' } },
  ),
  one(
    'the proxy of the kubeconfig goes before that of the environment',
    'answer',
    {
      cluster: { ...AFAR, 'proxy-url': 'http://{HTTP}' },
    },
    through('http'),
    { env: { HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: '*' } },
  ),
  one(
    'no proxy of the environment for a loopback address',
    'answer',
    {},
    { via: undefined },
    {
      env: { HTTPS_PROXY: 'http://{HTTP}' },
    },
  ),
  ...['0.0.0.0', '10.0.0.0/8,0.0.0.0/30', ' 0.0.0.0:{FIRST-PORT} , x', '*', 'x,*'].map((NO_PROXY) =>
    one(
      `no proxy by NO_PROXY=${NO_PROXY}`,
      'answer',
      { cluster: HERE },
      { via: undefined },
      {
        env: { HTTPS_PROXY: 'http://{HTTP}', NO_PROXY },
      },
    ),
  ),
  ...['0.0.0.0:1', '0.0.0.1/32', '.0.0.0', 'x'].map((NO_PROXY) =>
    one(`a proxy in spite of NO_PROXY=${NO_PROXY}`, 'answer', { cluster: HERE }, through('http', HERE_TARGET), {
      env: { HTTPS_PROXY: 'http://{HTTP}', NO_PROXY },
    }),
  ),
  ...['test:1', '.api.test', '*.api.test', 'pi.test', 'api.test:443', '10.0.0.0/8'].map((NO_PROXY) =>
    one(`a proxy for a name in spite of NO_PROXY=${NO_PROXY}`, 'answer', { cluster: AFAR }, through('http'), {
      env: { HTTPS_PROXY: 'http://{HTTP}', no_proxy: NO_PROXY },
    }),
  ),
];

const V1 = 'client.authentication.k8s.io/v1';
const V1BETA1 = 'client.authentication.k8s.io/v1beta1';
const printing = (status: object, apiVersion = V1): string =>
  `#!/bin/sh\ncat <<'E'\n${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}\nE\n`;
/** Prints what it was told as a token. */
const TELLING = `#!/bin/sh
printf '{"apiVersion":"%s","kind":"ExecCredential","status":{"token":"told-%s"}}' "\${VERSION:-${V1}}" \\
  "$(printf '%s' "$KUBERNETES_EXEC_INFO|$1|$EXTRA" | base64 | tr -d '\\n')"
`;
const exec = (fields: Fields = {}): Parts => ({
  user: { exec: { apiVersion: V1, command: './login', interactiveMode: 'Never', ...fields } },
});
const login = (name: string, result: Result, script: string, fields: Fields = {}, sees?: Partial<Seen>): Case =>
  one(name, result, exec(fields), sees, { files: { login: script } });
const GOOD = printing({ token: 'from-login' });
const PAIR = { clientCertificateData: '{CERT-PEM-JSON}', clientKeyData: '{KEY-PEM-JSON}' };

const LOGINS: readonly Case[] = [
  login('a login program', 'answer', GOOD, {}, bearer('from-login')),
  login('a login program that prints a client certificate', 'answer', printing(PAIR), {}, { client: 'client-one' }),
  login(
    'one that prints both',
    'answer',
    printing({ ...PAIR, token: 'x' }),
    {},
    { ...bearer('x'), client: 'client-one' },
  ),
  login(
    'one whose credentials expire later',
    'answer',
    printing({ token: 'x', expirationTimestamp: '2126-01-01T00:00:00Z' }),
  ),
  login(
    'one whose credentials have expired',
    'answer',
    printing({ token: 'x', expirationTimestamp: '2026-01-01T00:00:00Z' }),
  ),
  login(
    'one that prints YAML',
    'answer',
    `#!/bin/sh\nprintf 'apiVersion: ${V1}\\nkind: ExecCredential\\nstatus: {token: yaml}\\n'\n`,
  ),
  login(
    'an older one',
    'answer',
    printing({ token: 'b' }, V1BETA1),
    { apiVersion: V1BETA1, interactiveMode: null },
    bearer('b'),
  ),
  login('one that is told nothing of the cluster', 'answer', TELLING),
  login('one with arguments and variables', 'answer', TELLING, {
    args: ['get-token'],
    env: [
      { name: 'EXTRA', value: 'more' },
      { name: 'KUBERNETES_EXEC_INFO', value: 'not this' },
    ],
  }),
  login('an older one that may ask', 'answer', TELLING, {
    apiVersion: V1BETA1,
    interactiveMode: null,
    env: [{ name: 'VERSION', value: V1BETA1 }],
  }),
  one(
    'one that is told of the cluster',
    'answer',
    {
      ...exec({ provideClusterInfo: true }),
      cluster: {
        ...AFAR,
        'tls-server-name': 'other.test',
        'proxy-url': 'http://{HTTP}',
        'disable-compression': true,
        extensions: [
          { name: 'client.authentication.k8s.io/exec', extension: { audience: 'west', list: [1, null] } },
          { name: 'other', extension: {} },
        ],
      },
    },
    undefined,
    { files: { login: TELLING } },
  ),
  one(
    'one that is told of a CA in a file',
    'answer',
    { ...exec({ provideClusterInfo: true }), cluster: { ...NO_CA, 'certificate-authority': 'ca' } },
    undefined,
    { files: { login: TELLING, ca: '{CA-PEM}' } },
  ),
  one(
    'one that is told that any server will do',
    'answer',
    {
      ...exec({ provideClusterInfo: true }),
      cluster: INSECURE,
    },
    undefined,
    { files: { login: TELLING } },
  ),
  one('one that is looked up in PATH', 'answer', exec({ command: 'login-by-path' }), bearer('from-login'), {
    files: { 'bin/login-by-path': GOOD },
  }),
  one('one that is beside the kubeconfig and not in PATH', 'login', exec({ command: 'login' }), undefined, {
    files: { login: GOOD },
  }),
  one('one that is missing', 'login', exec({ command: 'no-such-login', installHint: 'get it' })),
  one('one that cannot be executed', 'login', exec({ command: '{DIR}/config' })),
  login('one that fails', 'login', '#!/bin/sh\necho expired >&2\nexit 3\n'),
  login('one that prints nonsense', 'login', '#!/bin/sh\necho hello\n'),
  login('one that prints nothing', 'login', '#!/bin/sh\n'),
  login('one that prints another version', 'login', printing({ token: 'x' }, V1BETA1)),
  login('one that prints another kind', 'login', `#!/bin/sh\necho '{"apiVersion":"${V1}","kind":"Pod"}'\n`),
  login('one that prints no credentials', 'login', printing({})),
  login(
    'one that prints a certificate without its key',
    'login',
    printing({ clientCertificateData: '{CERT-PEM-JSON}' }),
  ),
  login('one that prints a certificate that is none', 'login', printing({ ...PAIR, clientCertificateData: 'x' })),
  login('one that prints a time that is none', 'login', printing({ token: 'x', expirationTimestamp: 'soon' })),
  login('one whose token is refused', 'unauthorized', printing({ token: REFUSED }), {}, bearer(REFUSED)),
  login('one that must ask, without a terminal', 'login', GOOD, { interactiveMode: 'Always' }),
  login('one that may ask, without a terminal', 'answer', TELLING, { interactiveMode: 'IfAvailable' }),
  login('one of a mode that nobody knows', 'config', GOOD, { interactiveMode: 'Sometimes' }),
  login('one without a mode', 'config', GOOD, { interactiveMode: null }),
  login('one without a version', 'config', GOOD, { apiVersion: null }),
  login('one of a version that nobody supports', 'config', GOOD, {
    apiVersion: 'client.authentication.k8s.io/v1alpha1',
    interactiveMode: null,
  }),
  login('one without a command', 'config', GOOD, { command: null }),
  login('one with a variable without a name', 'config', GOOD, { env: [{ value: 'x' }] }),
  one('one beside a token', 'answer', { user: { token: 'mine', ...exec().user } }, bearer('mine'), {
    files: { login: '#!/bin/sh\nexit 1\n' },
  }),
  one(
    'one beside a client certificate',
    'answer',
    { user: { 'client-certificate-data': '{CERT}', 'client-key-data': '{KEY}', ...exec().user } },
    { client: 'client-one', headers: {} },
    { files: { login: '#!/bin/sh\nexit 1\n' } },
  ),
  one('one beside an auth-provider', 'config', { user: { ...oidc({}), ...exec().user } }, undefined, {
    files: { login: GOOD },
  }),
  one(
    'one for a server without TLS',
    'answer',
    { ...exec(), cluster: { server: '{PLAIN}' } },
    { headers: {} },
    {
      files: { login: '#!/bin/sh\nexit 1\n' },
    },
  ),
  one(
    'one, to act as another',
    'answer',
    { user: { ...exec().user, as: 'jane' } },
    {
      headers: { authorization: ['Bearer from-login'], 'impersonate-user': ['jane'] },
    },
    { files: { login: GOOD } },
  ),
];

export const CASES: Readonly<Record<string, readonly Case[]>> = {
  'the files of a kubeconfig': FILES,
  'the user of a kubeconfig': USERS,
  'the cluster of a kubeconfig': CLUSTERS,
  'the proxy of a kubeconfig': PROXIES,
  'the login program of a kubeconfig': LOGINS,
};
