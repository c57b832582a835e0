/** What kubectl cannot be asked about a kubeconfig; how both read one is shown in test/synth/kubeconfigs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  kubeconfigAccess,
  kubeconfigContexts,
  loadSourceKubeconfig,
} from '../../../../operator/kube/access/kubeconfig.ts';
import { KubeClient } from '../../../../operator/kube/client.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../../cluster/certificate.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  vi.stubEnv('HOME', folder);
  for (const name of ['KUBECONFIG', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy']) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const write = (name: string, content: string | object): string => {
  const file = join(folder, name);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
};

const kubeconfig = (cluster: object, user: object = { token: 't' }): object => ({
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1', ...cluster } }],
  users: [{ name: 'u', user }],
  contexts: [{ name: 'a', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'a',
});

const accessOf = (cluster: object, user?: object) =>
  kubeconfigAccess(loadSourceKubeconfig({ kubeconfig: write('config', kubeconfig(cluster, user)) }));

describe('a kubeconfig', () => {
  it.each([
    [{ server: '' }, 'cluster "c" has no server (write https://HOST:PORT)'],
    [{ server: 'ftp://x' }, 'cluster "c" has a server that is not an http or https URL (write https://HOST:PORT)'],
    [{ server: 'https://me:hunter2@x' }, 'cluster "c" has a server with credentials in it (move them to the user)'],
    [{ 'proxy-url': 'ftp://me:hunter2@x' }, 'cluster "c" has a proxy-url that must be an http, https or socks5 URL'],
    [{ 'proxy-url': 'hunter2' }, 'cluster "c" has a proxy-url that must be a valid URL (write http://HOST:PORT)'],
  ])('is refused by context, cluster and field: %j', async (cluster, message) => {
    const error = await accessOf(cluster).catch((thrown: unknown) => thrown as Error);
    expect((error as Error).message).toContain(`kubeconfig ${folder}/config: context "a": ${message}`);
    expect((error as Error).message).not.toContain('hunter2');
  });

  it('may be made of files, of which the one that is wrong is named', () => {
    const good = write('good', kubeconfig({}));
    vi.stubEnv('KUBECONFIG', `${good}:${write('bad', { users: [{ name: 'u', user: { token: 12345 } }] })}`);
    expect(() => loadSourceKubeconfig({})).toThrow(
      `kubeconfig ${folder}/bad cannot be read: users[0].user.token: must be a string`,
    );
    expect(() => loadSourceKubeconfig({})).not.toThrow('12345');
  });

  it('may be made of files, of which the first that has a name counts', () => {
    const [one, two] = [write('one', kubeconfig({})), write('two', kubeconfig({ server: 'https://other' }))];
    vi.stubEnv('KUBECONFIG', `${one}:${two}`);
    expect(loadSourceKubeconfig({}).cluster.server).toBe('https://127.0.0.1:1');
  });

  it('may be made of files, whose contexts are all known', () => {
    const other = { contexts: [{ name: 'b', context: {} }, { name: 'a' }] };
    vi.stubEnv('KUBECONFIG', `${write('one', kubeconfig({}))}:${write('two', other)}`);
    expect(kubeconfigContexts(undefined)).toEqual(['a', 'b']);
  });

  it('is said to be missing, if none of its files is there', () => {
    vi.stubEnv('KUBECONFIG', `${folder}/x:${folder}/y`);
    expect(() => loadSourceKubeconfig({})).toThrow(
      `no kubeconfig: KUBECONFIG names ${folder}/x, ${folder}/y, which is not there; use --kubeconfig`,
    );
  });
});

describe('the proxy of a kubeconfig', () => {
  it.each(['http', 'https', 'socks5'])('is named without its password, if it cannot be reached: %s', async (scheme) => {
    const access = await accessOf({ 'proxy-url': `${scheme}://me:hunter2@127.0.0.1:1` });
    const client = new KubeClient(access, { userAgent: 'test', fieldManager: 'test' });
    const error = await client.get('/version', 'get').catch((thrown: unknown) => thrown as Error);
    await client.close();
    expect((error as Error).message).toContain(
      'get at https://127.0.0.1:1: the proxy 127.0.0.1:1 cannot be used: connect ECONNREFUSED',
    );
    expect((error as Error).message).not.toContain('hunter2');
  });

  it('is named by its variable, if it is that of the environment', async () => {
    vi.stubEnv('HTTPS_PROXY', 'ftp://me:hunter2@x');
    const error = await accessOf({ server: 'https://west.test' }).catch((thrown: unknown) => thrown as Error);
    expect((error as Error).message).toMatch(
      /context "a": cluster "c" is reached through HTTPS_PROXY of the environment, which must be/,
    );
    expect((error as Error).message).not.toContain('hunter2');
  });
});

describe('what a kubeconfig has in files', () => {
  it('is read again, and what was read before counts while a file is half-written', async () => {
    const [ca, cert, key] = [write('ca', CERTIFICATE), write('cert', CERTIFICATE), write('key', PRIVATE_KEY)];
    const token = write('token', 'first');
    const access = await accessOf(
      { 'certificate-authority': ca },
      { 'client-certificate': cert, 'client-key': key, tokenFile: token },
    );
    write('ca', `${CERTIFICATE}\n`);
    write('token', 'second');
    expect(await access.currentTls?.()).toMatchObject({ ca: `${CERTIFICATE}\n`, cert: CERTIFICATE, key: PRIVATE_KEY });
    expect(await access.authorization()).toEqual({ authorization: 'Bearer second' });
    for (const name of ['ca', 'cert', 'token']) write(name, '');
    expect(await access.currentTls?.()).toMatchObject({ ca: `${CERTIFICATE}\n`, cert: CERTIFICATE, key: PRIVATE_KEY });
    expect(await access.authorization()).toEqual({ authorization: 'Bearer second' });
  });
});
