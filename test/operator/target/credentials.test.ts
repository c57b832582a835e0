import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import type { KubeClient } from '../../../operator/kube/client.ts';
import { ApiError, ConnectionError } from '../../../operator/kube/errors.ts';
import { NAMESPACES, type Secret } from '../../../operator/kube/objects.ts';
import { mintCommand } from '../../../operator/link/session-credentials.ts';
import { Credentials } from '../../../operator/target/credentials.ts';
import { type SimulatedCluster, startSimulated } from '../../cluster/simulated/start.ts';

let cluster: SimulatedCluster;
beforeAll(async () => {
  cluster = await startSimulated({ name: 'west' });
});
afterAll(() => cluster.stop());

const secretOf = (kubeconfig: string): Secret => ({
  metadata: { name: 'credentials' },
  data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
});
const good = (): Secret => secretOf(cluster.kubeconfig);
/** The same rights by another text: a rotated token. */
const rotated = (): Secret => secretOf(`${cluster.kubeconfig}\n# rotated`);
const withToken = (token: string): Secret => secretOf(cluster.kubeconfigFor(token));

/** Clients that were offered to what reads the target. */
let clients: KubeClient[];
/** The trial of the last of them, unless it was the first. */
let trial: { readonly fails: (error: unknown) => void; readonly succeeds: () => void } | undefined;
let verdicts: string[];
let credentials: Credentials;
const OF_READER = { namespace: 'mesh', serviceaccount: { name: 'reader', uid: 'uid-of-reader' } };
/** Where the operator and the control plane run. */
let places = { namespace: 'linkerd-multicluster', controlPlaneNamespace: 'linkerd' };
/** Secrets that are watched. */
const LISTED = ['credentials', 'others'];
const stop = new AbortController();

beforeEach(() => {
  clients = [];
  verdicts = [];
  trial = undefined;
  credentials = new Credentials({
    timeoutMs: 1000,
    listed: LISTED,
    mint: () => mintCommand('west', places),
    onVerdict: ({ status, reason }) => verdicts.push(`${status} ${reason}`),
    adopt: (client, onProblem, signal) => {
      clients.push(client);
      if (clients.length === 1) return Promise.resolve(true);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      signal.addEventListener('abort', () => resolve(false));
      trial = { fails: onProblem, succeeds: () => resolve(true) };
      return promise;
    },
  });
});
afterEach(async () => {
  await credentials.close();
});

const use = (secret: Secret | undefined): Promise<void> => credentials.use('credentials', secret, stop.signal);

const isOpen = async (client: KubeClient | undefined) => {
  await expect(client?.list(NAMESPACES, { limit: 1 }).catch((error: unknown) => error)).resolves.not.toBeInstanceOf(
    ConnectionError,
  );
};
const isClosed = async (client: KubeClient | undefined) => {
  await expect(client?.list(NAMESPACES, { limit: 1 })).rejects.toThrow(ConnectionError);
};

describe('credentials (E2)', () => {
  test.each<[string, () => Secret | undefined, string]>([
    ['there are none', () => undefined, 'False SecretNotFound'],
    ['the Secret has no kubeconfig', () => ({ metadata: { name: 'x' }, data: {} }), 'False SecretInvalid'],
    ['it is garbage (L17)', () => secretOf('{{{ garbage'), 'False KubeconfigInvalid'],
    [
      'it would run a program (E3)',
      () => secretOf(cluster.kubeconfig.replace(/token:.*/, 'exec: {command: sh}')),
      'False KubeconfigInvalid',
    ],
  ])('when %s, are refused, and the client in use stays', async (_, secret, expected) => {
    await use(good());
    await use(secret());
    expect(verdicts).toEqual(['True Valid', expected]);
    expect(clients).toHaveLength(1);
    await isOpen(clients[0]);
    expect(credentials.inUse).toBe(false);
  });

  it('are the same again after garbage, without a new client', async () => {
    await use(good());
    await use(secretOf('garbage'));
    await use(good());
    expect(verdicts.at(-1)).toBe('True Valid');
    expect([clients.length, credentials.inUse]).toEqual([1, true]);
  });

  it('say which kubeconfig is in use, and nothing of what it holds', async () => {
    await use(good());
    const first = credentials.valid?.message;
    expect(first).toMatch(/^the kubeconfig with SHA-256 [0-9a-f]{16}… is in use$/);
    const using = use(rotated());
    expect(credentials.valid).toBeUndefined();
    trial!.succeeds();
    await using;
    expect(credentials.valid?.message).toMatch(/^the kubeconfig with SHA-256 [0-9a-f]{16}… is in use$/);
    expect(credentials.valid?.message).not.toBe(first);
  });

  it('that are new replace the old ones, which are closed afterwards, once they work (L16)', async () => {
    await use(good());
    const using = use(rotated());
    expect([clients.length, verdicts, credentials.inUse]).toEqual([2, ['True Valid'], false]);
    await isOpen(clients[0]);
    trial!.succeeds();
    await using;
    expect([verdicts, credentials.inUse]).toEqual([['True Valid', 'True Valid'], true]);
    await isClosed(clients[0]);
    await isOpen(clients[1]);
  });

  test.each([
    ['that the target does not know', 401, 'False Unauthorized'],
    ['without the rights to read it', 403, 'False Forbidden'],
    ['with which it cannot be reached', 503, 'False Untried'],
  ])('that are new, %s, are reported and do not replace working ones', async (_, code, expected) => {
    await use(good());
    void use(rotated());
    trial!.fails(new ApiError(code, {}, 'list services'));
    expect([verdicts, credentials.inUse]).toEqual([['True Valid', expected], false]);
    await isOpen(clients[0]);
  });

  it('that newer ones replace before they work are given up', async () => {
    await use(good());
    const [second, third] = [use(rotated()), use(withToken('another'))];
    await second;
    await isClosed(clients[1]);
    trial!.succeeds();
    await third;
    await isOpen(clients[2]);
    expect(credentials.inUse).toBe(true);
  });

  it('in a Secret that is not watched are not read, whatever is in it', async () => {
    await credentials.use('elsewhere', good(), stop.signal);
    expect(verdicts).toEqual(['False SecretNotListed']);
    expect(clients).toEqual([]);
  });

  it('whose token the target refuses after its end have ended, and are not valid until others come (P4)', async () => {
    const claims = { iat: 1_700_000_000, exp: 1_700_003_600, 'kubernetes.io': OF_READER };
    await use(withToken(`e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`));
    expect(credentials.valid?.reason).toBe('Valid');
    expect(credentials.refused()?.reason).toBe('CredentialsExpired');
    expect(credentials.valid).toMatchObject({ status: 'False', reason: 'CredentialsExpired' });
    expect(credentials.valid?.message).toMatch(
      /: run `linkspan credentials mint --name west --apply` with the contexts of both clusters$/,
    );
    places = { namespace: 'mesh', controlPlaneNamespace: 'linkerd-2' };
    expect(credentials.refused()?.message).toContain(
      '`linkspan credentials mint --name west --namespace mesh --linkerd-namespace linkerd-2 --apply`',
    );
    const others = use(good());
    trial?.succeeds();
    await others;
    expect(credentials.valid?.reason).toBe('Valid');
  });

  it('never show up in a verdict', async () => {
    const said: string[] = [];
    const mute = new Credentials({
      timeoutMs: 1000,
      mint: () => '',
      onVerdict: ({ message }) => said.push(message),
      adopt: () => Promise.resolve(true),
    });
    const secret = 'very-secret-token';
    await mute.use('credentials', secretOf(`token: ${secret}`), stop.signal);
    await mute.use('credentials', secretOf(cluster.kubeconfig.replace(/server:.*/, `server: ${secret}`)), stop.signal);
    await mute.close();
    expect(said).toHaveLength(2);
    expect(said.join()).not.toContain(secret);
    expect(said.join()).not.toContain(cluster.adminToken);
  });
});
