import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inClusterAccess, sourceAccess } from '../../../../operator/kube/access/in-cluster.ts';
import { CERTIFICATE } from '../../../cluster/certificate.ts';

let folder: string;
const write = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'source-access-'));
  vi.stubEnv('KUBERNETES_SERVICE_HOST', '10.96.0.1');
  vi.stubEnv('KUBERNETES_SERVICE_PORT', '443');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

describe("a pod's own access", () => {
  it('is what Kubernetes tells the pod', async () => {
    write('token', 'first\n');
    write('ca.crt', CERTIFICATE);
    const { server, tls, authorization } = await inClusterAccess(folder);
    expect({ server, tls }).toEqual({ server: 'https://10.96.0.1:443', tls: { ca: CERTIFICATE } });
    expect(await authorization()).toEqual({ authorization: 'Bearer first' });
  });

  it('follows the token when Kubernetes replaces it', async () => {
    write('token', 'first');
    write('ca.crt', CERTIFICATE);
    const { authorization } = await inClusterAccess(folder);
    expect(await authorization()).toEqual({ authorization: 'Bearer first' });
    write('token', 'second');
    expect(await authorization()).toEqual({ authorization: 'Bearer second' });
  });

  it('follows the CA when Kubernetes replaces it (L53)', async () => {
    write('token', 'first');
    write('ca.crt', CERTIFICATE);
    const { currentTls } = await inClusterAccess(folder);
    write('ca.crt', 'both CAs');
    expect(await currentTls?.()).toEqual({ ca: 'both CAs' });
  });

  it('has the address of an IPv6 cluster in brackets', async () => {
    vi.stubEnv('KUBERNETES_SERVICE_HOST', 'fd00::1');
    write('token', 'first');
    write('ca.crt', CERTIFICATE);
    expect((await inClusterAccess(folder)).server).toBe('https://[fd00::1]:443');
  });

  it('is said to be missing, with what to do, where the token is not mounted', async () => {
    await expect(inClusterAccess(folder)).rejects.toThrow(
      /^the in-cluster configuration cannot be read: ENOENT.*; let the pod mount its ServiceAccount's token/,
    );
  });
});

describe('access by a kubeconfig', () => {
  const kubeconfig = (user: object) =>
    JSON.stringify({
      clusters: [{ name: 'east', cluster: { server: 'https://east:6443', 'tls-server-name': 'kubernetes' } }],
      users: [{ name: 'me', user }],
      contexts: [{ name: 'east', context: { cluster: 'east', user: 'me' } }],
      'current-context': 'east',
    });

  it('is taken instead, if one is named', async () => {
    write('token', 'of the pod');
    write('ca.crt', CERTIFICATE);
    expect((await sourceAccess({}, folder)).server).toBe('https://10.96.0.1:443');
    const access = await sourceAccess({ kubeconfig: write('kubeconfig', kubeconfig({ token: 'mine' })) }, folder);
    expect(access).toMatchObject({ server: 'https://east:6443', tls: { servername: 'kubernetes' } });
    expect(await access.authorization()).toEqual({ authorization: 'Bearer mine' });
  });

  it('asks the program that the kubeconfig names', async () => {
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'x' },
    };
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      interactiveMode: 'Never',
      command: 'echo',
      args: [JSON.stringify(credential)],
    };
    const access = await sourceAccess({ kubeconfig: write('kubeconfig', kubeconfig({ exec })) });
    expect(await access.authorization()).toEqual({ authorization: 'Bearer x' });
  });

  it('uses the password that the kubeconfig has', async () => {
    const user = { username: 'admin', password: 'secret' };
    const access = await sourceAccess({ kubeconfig: write('kubeconfig', kubeconfig(user)) });
    expect(await access.authorization()).toMatchObject({ authorization: `Basic ${btoa('admin:secret')}` });
  });
});
