import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import type { KubeClient } from '../../../operator/kube/client.ts';
import { NAMESPACES, type Secret } from '../../../operator/kube/objects.ts';
import { Credentials } from '../../../operator/target/credentials.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { type SimulatedCluster, startSimulated } from '../../cluster/simulated/start.ts';

let cluster: SimulatedCluster;
beforeAll(async () => {
  cluster = await startSimulated({ name: 'west', users: [{ name: 'nobody', token: 'no-rights' }] });
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

let clients: KubeClient[];
let verdicts: string[];
let credentials: Credentials;
let trialNamespaces: readonly string[] | undefined;
/** Secrets that are watched. */
const LISTED = ['credentials', 'others'];
const stop = new AbortController();

beforeEach(() => {
  clients = [];
  verdicts = [];
  trialNamespaces = undefined;
  credentials = new Credentials({
    timeoutMs: 1000,
    listed: LISTED,
    trial: () => ({ labelSelector: undefined, namespaces: trialNamespaces }),
    onVerdict: ({ status, reason }) => verdicts.push(`${status} ${reason}`),
    onClient: (client) => clients.push(client),
  });
});
afterEach(async () => {
  cluster.faults.clear();
  await credentials.close();
});

const use = (secret: Secret | undefined): Promise<void> => credentials.use('credentials', secret, stop.signal);

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
    expect(credentials.client).toBe(clients[0]);
    await credentials.client?.list(NAMESPACES, { limit: 1 });
    expect(credentials.inUse).toBe(false);
  });

  it('are used untried when they are the first: a target that is down will come back', async () => {
    cluster.faults.refuse({ failure: { kind: 'status', code: 503 } });
    await use(good());
    expect(clients).toHaveLength(1);
  });

  it('are the same again after garbage, without a new client', async () => {
    await use(good());
    await use(secretOf('garbage'));
    await use(good());
    expect(verdicts.at(-1)).toBe('True Valid');
    expect([clients.length, credentials.inUse]).toEqual([1, true]);
  });

  it('that are new and work replace the old ones, which are closed afterwards (L16)', async () => {
    await use(good());
    await use(rotated());
    expect(clients).toHaveLength(2);
    expect(credentials.client).toBe(clients[1]);
    await expect(clients[0]!.list(NAMESPACES, { limit: 1 })).rejects.toThrow();
    await clients[1]!.list(NAMESPACES, { limit: 1 });
  });

  test.each([
    ['that the target does not know', 'wrong', 'False Unauthorized'],
    ['without the rights to read it', 'no-rights', 'False Forbidden'],
  ])('that are new, %s, are tried and do not replace working ones', async (_, token, expected) => {
    await use(good());
    const trying = use(withToken(token));
    await eventually('a verdict', async () => verdicts.length >= 2);
    expect(verdicts[1]).toBe(expected);
    expect(credentials.client).toBe(clients[0]);
    await use(rotated());
    await trying;
    expect(clients).toHaveLength(2);
    expect(verdicts.at(-1)).toBe('True Valid');
  });

  it('are tried until the target answers', async () => {
    await use(good());
    const release = cluster.faults.refuse({ failure: { kind: 'status', code: 503 } });
    const trying = use(rotated());
    await eventually('a verdict', async () => verdicts.at(-1) === 'False Untried');
    release();
    await trying;
    expect(clients).toHaveLength(2);
  });

  it('are tried in the namespaces that the Link reads, of which one may refuse', async () => {
    await use(good());
    trialNamespaces = ['barred', 'shop'];
    const release = cluster.faults.refuse({
      failure: { kind: 'status', code: 403 },
      match: ({ namespace }) => namespace !== 'shop',
    });
    await use(rotated());
    expect(clients).toHaveLength(2);
    trialNamespaces = ['barred'];
    const trying = use(good());
    await eventually('a verdict', async () => verdicts.at(-1) === 'False Forbidden');
    release();
    await trying;
    expect(clients).toHaveLength(3);
  });

  it('in a Secret that is not watched are not read, whatever is in it', async () => {
    await credentials.use('elsewhere', good(), stop.signal);
    expect(verdicts).toEqual(['False SecretNotListed']);
    expect(clients).toEqual([]);
  });

  it('never show up in a verdict', async () => {
    const said: string[] = [];
    const mute = new Credentials({
      timeoutMs: 1000,
      trial: () => ({ labelSelector: undefined, namespaces: undefined }),
      onVerdict: ({ message }) => said.push(message),
      onClient: () => undefined,
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
