/** P1: `linkspan credentials revoke` cuts one peer off in the target, on API servers that make tokens and refuse them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RemoteAccess } from '../../constructs/gateway/remote-access.ts';
import { render } from '../../constructs/rendered/render.ts';
import { peerSecretName, remoteAccessName } from '../../crds/wire.ts';
import { parseTargetKubeconfig } from '../../operator/kube/access/secret-kubeconfig.ts';
import { KubeClient } from '../../operator/kube/client.ts';
import { ApiError } from '../../operator/kube/errors.ts';
import { SERVICE_ACCOUNTS, SERVICES, TOKEN_REQUESTS } from '../../operator/kube/objects.ts';
import type { TokenRequest } from '../../operator/kube/account-token.ts';
import { onReal } from '../cluster/on-each-backing.ts';
import { eventually, type ObjectRef } from '../cluster/workload/index.ts';
import { LINKS_NAMESPACE, namespace, objectRef, secretRef } from '../support/builders.ts';
import { requestToken } from '../support/tokens.ts';
import { TwoClusters } from '../support/two-clusters.ts';
import { linkspanHere } from '../synth/in-process.ts';
import type { Outcome } from '../synth/linkspan.ts';

const PEERS = ['east', 'north'] as const;
const VOID_WITHIN_MS = 90_000;

onReal('linkspan credentials revoke', () => {
  let clusters: TwoClusters;
  /** A token of each peer, bound to its Secret. */
  const tokens: Record<string, string> = {};
  /** What a thief has made of the token of east: it is bound to nothing. */
  let stolen: string;

  beforeAll(async () => {
    clusters = await TwoClusters.start({
      backing: 'real',
      west: { controllers: ['serviceaccount-token-controller'] },
    });
    const { west, westCluster } = clusters;
    await west.apply(namespace(LINKS_NAMESPACE));
    for (const peer of PEERS) {
      const access = render((chart) => {
        new RemoteAccess(chart, 'access', { sourceCluster: peer, namespace: LINKS_NAMESPACE });
      });
      for (const object of access) await west.apply(object);
      const bound = (await west.get(secretRef(peerSecretName(peer))))!.metadata;
      const account = { namespace: LINKS_NAMESPACE, name: remoteAccessName(peer) };
      const to = { apiVersion: 'v1', kind: 'Secret', name: bound.name, uid: bound.uid };
      tokens[peer] = await requestToken(westCluster, account, to);
    }
    stolen = await withToken(tokens['east']!, async (client) => {
      const to = {
        of: SERVICE_ACCOUNTS,
        namespace: LINKS_NAMESPACE,
        name: remoteAccessName('east'),
        subresource: 'token',
      };
      const { status } = await client.ask<TokenRequest>(TOKEN_REQUESTS, { spec: { expirationSeconds: 600 } }, to);
      return String(status?.token);
    });
  }, 120_000);
  afterAll(() => clusters.stop());

  const withToken = async <R>(token: string, use: (client: KubeClient) => Promise<R>): Promise<R> => {
    const parsed = parseTargetKubeconfig(clusters.westCluster.kubeconfigFor(token));
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
    const client = new KubeClient(parsed.value.access, { userAgent: 'test', fieldManager: 'test' });
    return use(client).finally(() => client.close());
  };
  /** The code with which the target answers to a token. */
  const answer = (token: string): Promise<number> =>
    withToken(token, (client) =>
      client.list(SERVICES, {}).then(
        () => 200,
        (error: unknown): number => {
          if (error instanceof ApiError) return error.code;
          throw error;
        },
      ),
    );
  const run = (peer: string, ...args: readonly string[]): Promise<Outcome> =>
    linkspanHere('credentials', 'revoke', peer, `--kubeconfig=${clusters.westCluster.kubeconfigFile}`, ...args);

  test('prints what it would delete, and deletes nothing without --apply', async () => {
    expect(await Promise.all([tokens['east']!, tokens['north']!, stolen].map(answer))).toEqual([200, 200, 200]);
    const { code, stdout, stderr } = await run('east');
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(remoteAccessName('east'));
    expect(stdout).not.toContain('north');
    expect(await answer(tokens['east']!)).toBe(200);
  });

  test.each([
    ['default', [], 2, 'may be that of several source clusters'],
    ['East', [], 2, 'must be a valid DNS label'],
    ['other', ['--service-account-name=foreign'], 1, 'is not known as an account of a source cluster'],
  ])('refuses %s %j', async (peer, args, expected, message) => {
    const foreign = objectRef('v1', 'ServiceAccount', 'foreign', LINKS_NAMESPACE);
    await clusters.west.apply(foreign);
    const { code, stderr } = await run(peer, ...args, '--apply');
    expect(stderr).toContain(message);
    expect(code).toBe(expected);
    expect(await clusters.west.get(foreign)).toBeDefined();
  });

  test("P1 voids every token of a peer, a stolen one too, and no other peer's", { timeout: 120_000 }, async () => {
    const { code, stdout, stderr } = await run('east', '--apply');
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`serviceaccount/${remoteAccessName('east')} deleted in`);
    const began = Date.now();
    await eventually(
      'both tokens are refused with 401',
      async () => (await answer(tokens['east']!)) === 401 && (await answer(stolen)) === 401,
      VOID_WITHIN_MS,
    );
    console.log(`401 after ${((Date.now() - began) / 1_000).toFixed(1)} s`);
    expect(await answer(tokens['north']!)).toBe(200);
    expect(await clusters.west.get(secretRef(peerSecretName('north')))).toBeDefined();
  });

  test('names who may be meant where it finds no account, and not for a name that was given', async () => {
    const other = objectRef('v1', 'ServiceAccount', 'remote-access-east', LINKS_NAMESPACE);
    const labels = { 'linkerd.io/extension': 'multicluster' };
    await clusters.west.apply({ ...other, metadata: { ...other.metadata, labels } } as ObjectRef);
    const { code, stderr } = await run('east', '--apply');
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^warning: (\S+) is read with linkerd-service-mirror-remote-access-north, remote-access-east: if one of them is that of east, name it with --service-account-name\nnothing is left in \1 of ServiceAccount linkerd-multicluster\/linkerd-service-mirror-remote-access-east\n$/,
    );
    const named = await run('east', '--service-account-name=remote-access-east', '--apply');
    expect(named.code, named.stderr).toBe(0);
    expect(await clusters.west.get(other)).toBeUndefined();
    const again = await run('east', '--service-account-name=remote-access-east', '--apply');
    expect([again.code, again.stderr.includes('warning')]).toEqual([0, false]);
  });

  test('says the second time that nothing is left', async () => {
    await run('north', '--apply');
    const { code, stderr } = await run('east', '--apply');
    expect(code).toBe(0);
    expect(stderr).toMatch(/^nothing is left in \S+ that east could read it with\n$/);
  });
});
