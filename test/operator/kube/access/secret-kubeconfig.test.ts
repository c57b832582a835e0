import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadSourceKubeconfig } from '../../../../operator/kube/access/kubeconfig.ts';
import { MAX_KUBECONFIG_BYTES, parseTargetKubeconfig } from '../../../../operator/kube/access/secret-kubeconfig.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../../cluster/certificate.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const CA = base64(CERTIFICATE);
const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.c2VjcmV0.c2lnbmF0dXJl';

type Fields = Readonly<Record<string, unknown>>;

/** A kubeconfig, as JSON, with fields of its cluster, user, context and itself added or replaced. */
const kubeconfig = (over: { cluster?: Fields; user?: Fields; context?: Fields; top?: Fields } = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'west', cluster: { server: 'https://west:6443', 'certificate-authority-data': CA, ...over.cluster } },
    ],
    users: [{ name: 'mirror', user: { token: TOKEN, ...over.user } }],
    contexts: [{ name: 'west', context: { cluster: 'west', user: 'mirror', ...over.context } }],
    'current-context': 'west',
    ...over.top,
  });

/** As `linkerd multicluster link-gen` writes it: kubectl's own YAML, with all that the user's kubeconfig had. */
const linkerdKubeconfig = (server: string) => `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${CA}
    extensions:
    - extension:
        last-update: Thu, 01 Jan 2026 12:00:00 UTC
        provider: minikube.sigs.k8s.io
        version: v1.37.0
      name: cluster_info
    server: ${server}
  name: k3d-west
contexts:
- context:
    cluster: k3d-west
    extensions:
    - extension:
        provider: minikube.sigs.k8s.io
      name: context_info
    namespace: default
    user: linkerd-service-mirror-remote-access-default
  name: k3d-west
current-context: k3d-west
kind: Config
preferences: {}
users:
- name: linkerd-service-mirror-remote-access-default
  user:
    token: ${TOKEN}
`;

const errorsOf = (text: string) => {
  const checked = parseTargetKubeconfig(text);
  return checked.ok ? [] : checked.errors;
};

describe('a kubeconfig from a Secret (E3)', () => {
  it.each([
    ['https://192.0.2.1:6443', 'https://192.0.2.1:6443'],
    ['https://[2001:db8::1]:6443', 'https://[2001:db8::1]:6443'],
    ['https://west.example.com', 'https://west.example.com'],
    ['https://rancher.example.com/k8s/clusters/c-1/', 'https://rancher.example.com/k8s/clusters/c-1'],
    ['192.0.2.1:6443', 'https://192.0.2.1:6443'],
  ])('is accepted as Linkerd writes it, with API server address %s', async (address, server) => {
    const checked = parseTargetKubeconfig(linkerdKubeconfig(address));
    if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
    const { server: found, tls, authorization } = checked.value.access;
    expect(found).toBe(server);
    expect(tls).toEqual({ ca: CERTIFICATE });
    expect(await authorization()).toEqual({ authorization: `Bearer ${TOKEN}` });
  });

  it('is accepted with a client certificate, a bundle of CAs and a TLS server name', async () => {
    const checked = parseTargetKubeconfig(
      kubeconfig({
        cluster: { 'certificate-authority-data': base64(CERTIFICATE + CERTIFICATE), 'tls-server-name': 'kubernetes' },
        user: { token: undefined, 'client-certificate-data': CA, 'client-key-data': base64(PRIVATE_KEY) },
      }),
    );
    if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
    expect(checked.value.access.tls).toEqual({
      ca: CERTIFICATE + CERTIFICATE,
      cert: CERTIFICATE,
      key: PRIVATE_KEY,
      servername: 'kubernetes',
    });
    expect(await checked.value.access.authorization()).toEqual({});
  });

  it('has a fingerprint that changes with the text', () => {
    const [one, same, other] = [kubeconfig(), kubeconfig(), kubeconfig({ user: { token: 'other' } })].map((text) => {
      const checked = parseTargetKubeconfig(text);
      return checked.ok ? checked.value.fingerprint : undefined;
    });
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(same).toBe(one);
    expect(other).not.toBe(one);
  });

  it.each([
    ['exec', { command: '/bin/sh' }, 'would run a program'],
    ['auth-provider', { name: 'gcp', config: { 'cmd-path': '/bin/sh' } }, 'would run a program'],
    ['tokenFile', '/etc/passwd', 'would read a file'],
    ['token-file', '/etc/passwd', 'would read a file'],
    ['client-certificate', '/etc/passwd', 'would read a file'],
    ['client-key', '/etc/passwd', 'would read a file'],
    ['username', 'admin', 'is not supported by API servers'],
    ['password', 'hunter2', 'is not supported by API servers'],
    ['as', 'system:admin', 'would impersonate'],
    ['as-groups', ['system:masters'], 'would impersonate'],
    ['surprise', 1, 'is not a known field'],
  ])('is refused for user field %s, by name', (field, value, reason) => {
    expect(errorsOf(kubeconfig({ user: { [field]: value } }))).toEqual([
      {
        path: `users[0].user.${field}`,
        reason: expect.stringContaining(reason) as string,
        remedy: expect.stringMatching(/\w/) as string,
      },
    ]);
  });

  it.each([
    ['certificate-authority', '/etc/passwd', 'would read a file'],
    ['proxy-url', 'http://evil.example.com', 'would send requests elsewhere'],
    ['insecure-skip-tls-verify', true, 'would trust any server'],
    ['server', 'http://west:6443', 'must be an https URL'],
    ['server', 'https://user:hunter2@west:6443', 'must not hold credentials'],
    ['server', 'https://west:6443?x=1', 'must not have a query or fragment'],
    ['server', 'https://', 'must be a valid URL'],
    ['server', 'file:///etc/passwd', 'must be an https URL'],
    ['certificate-authority-data', 'not base64!', 'must be valid base64'],
    ['certificate-authority-data', base64('not PEM'), 'must hold a PEM certificate'],
    ['certificate-authority-data', base64(PRIVATE_KEY), 'must hold a PEM certificate'],
    [
      'certificate-authority-data',
      base64('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'),
      'must hold valid X.509 certificates only',
    ],
    ['tls-server-name', 'a b', 'must be a valid host name'],
    ['server', 6443, 'must be a string'],
  ])('is refused for cluster field %s: %s', (field, value, reason) => {
    const errors = errorsOf(kubeconfig({ cluster: { [field]: value } }));
    expect(errors).toEqual([expect.objectContaining({ path: `clusters[0].cluster.${field}` })]);
    expect(errors[0]?.reason).toContain(reason);
  });

  it('is refused without CA, without credentials, with half of a client certificate', () => {
    expect(errorsOf(kubeconfig({ cluster: { 'certificate-authority-data': undefined } }))).toEqual([
      expect.objectContaining({ path: 'clusters[0].cluster.certificate-authority-data', reason: 'is required' }),
    ]);
    expect(errorsOf(kubeconfig({ user: { token: undefined } }))).toEqual([
      expect.objectContaining({ path: 'users[0].user', reason: 'must have token or client-certificate-data' }),
    ]);
    expect(errorsOf(kubeconfig({ user: { 'client-certificate-data': CA } }))).toEqual([
      expect.objectContaining({ path: 'users[0].user.client-key-data', reason: 'is required' }),
    ]);
  });

  it('is refused with the key of another certificate, or one with a passphrase', () => {
    const keyOf = (passphrase?: string) =>
      generateKeyPairSync('ec', {
        namedCurve: 'P-256',
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: {
          type: 'pkcs8',
          format: 'pem',
          ...(passphrase !== undefined && { cipher: 'aes-256-cbc', passphrase }),
        },
      }).privateKey;
    const withKey = (key: string) =>
      errorsOf(kubeconfig({ user: { 'client-certificate-data': CA, 'client-key-data': base64(key) } }));
    const at = { path: 'users[0].user.client-key-data' };
    expect(withKey(keyOf())).toEqual([
      expect.objectContaining({ ...at, reason: 'must be the key of client-certificate-data' }),
    ]);
    expect(withKey(keyOf('secret'))).toEqual([
      expect.objectContaining({ ...at, reason: 'must be a PEM private key without a passphrase' }),
    ]);
  });

  it('is refused with a token that no header can carry', () => {
    expect(errorsOf(kubeconfig({ user: { token: `${TOKEN}\nX-Evil: 1` } }))[0]?.reason).toContain('line breaks');
    expect(errorsOf(kubeconfig({ user: { token: '' } }))[0]?.reason).toBe('must not be empty');
  });

  it('is refused with more than one cluster or user, or a context that leads nowhere', () => {
    const { clusters, users } = JSON.parse(kubeconfig()) as { clusters: unknown[]; users: unknown[] };
    const top = { clusters: [...clusters, ...clusters], users: [...users, ...users] };
    expect(errorsOf(kubeconfig({ top })).map(({ path, reason }) => `${path} ${reason}`)).toEqual([
      'clusters must have at most 1 item',
      'users must have at most 1 item',
    ]);
    expect(errorsOf(kubeconfig({ top: { 'current-context': 'east' } }))[0]?.path).toBe('current-context');
    expect(errorsOf(kubeconfig({ context: { cluster: 'x', user: 'y' } })).map(({ path }) => path)).toEqual([
      'contexts[0].context.cluster',
      'contexts[0].context.user',
    ]);
  });

  it('has all its errors reported at once, and none of its secrets', () => {
    const errors = errorsOf(
      kubeconfig({
        cluster: { server: 'http://admin:hunter2@west', 'proxy-url': 'http://hunter2' },
        user: { exec: { command: 'hunter2' }, password: 'hunter2', token: 'hunter2 hunter2' },
      }),
    );
    expect(errors.map(({ path }) => path).toSorted()).toEqual([
      'clusters[0].cluster.proxy-url',
      'clusters[0].cluster.server',
      'users[0].user.exec',
      'users[0].user.password',
      'users[0].user.token',
    ]);
    expect(JSON.stringify(errors)).not.toContain('hunter2');
  });

  it.each([
    ['', 'the input is empty'],
    ['   ', 'the input is empty'],
    ['just text', 'it is not a kubeconfig'],
    ['[]', 'it is not a kubeconfig'],
    ['null', 'it is not a kubeconfig'],
    ['42', 'it is not a kubeconfig'],
    [`token: "${TOKEN}\n  b: : :`, 'it is not valid YAML'],
    ['a: &a [x]\nb: *a', 'aliases exceeded'],
    ['a: !!js/function "x"', 'unknown scalar tag'],
    ['a: 1\n---\nb: 2', 'found more'],
    ['[['.repeat(5000), 'nesting exceeded'],
    ['apiVersion: 1\nkind: Pod', 'it is not a kubeconfig'],
    ['apiVersion: v1\nkind: Pod', 'it is not a kubeconfig'],
    ['\0\0\0', 'it is not valid YAML'],
  ])('is refused when it is not a kubeconfig: %j', (text, reason) => {
    const errors = errorsOf(text);
    expect(errors.map((error) => error.reason).join()).toContain(reason);
    expect(JSON.stringify(errors)).not.toContain(TOKEN);
  });

  it('is refused when it is too large, and is quick to refuse what is merely long', () => {
    expect(errorsOf(`${kubeconfig()}#${'x'.repeat(MAX_KUBECONFIG_BYTES)}`)[0]?.reason).toBe(
      'must not be larger than 256 KiB',
    );
    expect(errorsOf(kubeconfig({ top: { clusters: Array.from({ length: 60_000 }, () => ({})) } }))).toHaveLength(20);
  });

  it('leaves prototypes alone', () => {
    const proto = '{"__proto__":{"exec":{"command":"x"}},';
    expect(errorsOf(kubeconfig().replace('{', proto))).toHaveLength(1);
    expect(errorsOf(kubeconfig().replace('{"token"', `${proto}"token"`))).toEqual([
      expect.objectContaining({ path: 'users[0].user.__proto__' }),
    ]);
    expect(errorsOf(kubeconfig().replace('{', '{"constructor":{},'))).toEqual([
      expect.objectContaining({ path: 'constructor', reason: 'is not a known field' }),
    ]);
    expect(({} as Record<string, unknown>)['exec']).toBeUndefined();
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((top) => kubeconfig({ top: { users: top } })),
        ),
        (text) => Array.isArray(errorsOf(text)),
      ),
    );
  });
});

describe("the source cluster's kubeconfig", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
    for (const name of ['KUBECONFIG', 'KUBERNETES_SERVICE_HOST']) vi.stubEnv(name, undefined);
    vi.stubEnv('HOME', folder);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  const write = (text: string): string => {
    const file = join(folder, 'kubeconfig');
    writeFileSync(file, text);
    return file;
  };

  it('is the file that was named, at its current context', () => {
    expect(loadSourceKubeconfig({ kubeconfig: write(kubeconfig()) }).cluster.server).toBe('https://west:6443');
  });

  it('is the one that KUBECONFIG names', () => {
    vi.stubEnv('KUBECONFIG', write(kubeconfig()));
    expect(loadSourceKubeconfig({ context: 'west' }).cluster.server).toBe('https://west:6443');
  });

  it('is said to be missing, with what to do, where there is none', () => {
    expect(() => loadSourceKubeconfig({})).toThrow(/^no kubeconfig: .* use --kubeconfig$/);
  });

  it.each([
    ['a file that is not there', () => ({ kubeconfig: join(folder, 'none') }), /none cannot be read: ENOENT/],
    ['a file that is no YAML', () => ({ kubeconfig: write(`token: "${TOKEN}`) }), /is not valid YAML: .* \(line 1\)$/],
    [
      'a context that is not there',
      () => ({ kubeconfig: write(kubeconfig()), context: 'east' }),
      /no context "east" \(it has west\)/,
    ],
    [
      'no current context',
      () => ({ kubeconfig: write(kubeconfig({ top: { 'current-context': '' } })) }),
      /no current context.*it has west/,
    ],
    [
      'a context without its cluster',
      () => ({ kubeconfig: write(kubeconfig({ context: { cluster: 'x' } })) }),
      /names cluster "x", which does not exist/,
    ],
    [
      'a context without its user',
      () => ({ kubeconfig: write(kubeconfig({ context: { user: 'x' } })) }),
      /names user "x", which does not exist/,
    ],
  ])('is refused with the reason: %s', (_, options, message) => {
    expect(() => loadSourceKubeconfig(options())).toThrow(message);
    expect(() => loadSourceKubeconfig(options())).not.toThrow(TOKEN);
  });
});
