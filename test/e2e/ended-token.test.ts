/** P4: the operator was away for longer than its token lives, on API servers that refuse what has ended. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RemoteAccess } from '../../constructs/gateway/remote-access.ts';
import { render } from '../../constructs/rendered/render.ts';
import { remoteAccessName } from '../../crds/wire.ts';
import { onReal } from '../cluster/on-each-backing.ts';
import { eventually } from '../cluster/workload/index.ts';
import { credentials, link, LINKS_NAMESPACE, namespace, objectRef } from '../support/builders.ts';
import { exportReady } from '../support/exports.ts';
import { inventory } from '../support/inventory.ts';
import { applySecret, requestToken } from '../support/tokens.ts';
import { TwoClusters } from '../support/two-clusters.ts';
import { linkspanHere } from '../synth/in-process.ts';

const ACCOUNT = { namespace: LINKS_NAMESPACE, name: remoteAccessName('east') };
const HOUR_S = 3_600;

onReal('an operator that was away for longer than its token lives', () => {
  let clusters: TwoClusters;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'real', west: { controllers: ['serviceaccount-token-controller'] } });
    const { east, west } = clusters;
    await west.apply(namespace(LINKS_NAMESPACE));
    const access = render((chart) => {
      new RemoteAccess(chart, 'access', { sourceCluster: 'east', namespace: LINKS_NAMESPACE });
    });
    for (const object of access) await west.apply(object);
    await east.apply(link('west'));
  }, 120_000);
  afterAll(() => clusters.stop());

  const give = (token: string) =>
    applySecret(clusters.eastCluster, credentials('west', clusters.westCluster.kubeconfigFor(token)));

  /** A token as the target made it, if it had made it two hours ago for one hour. */
  const ended = async (): Promise<string> => {
    const { uid } = (await clusters.west.get(objectRef('v1', 'ServiceAccount', ACCOUNT.name, LINKS_NAMESPACE)))!
      .metadata;
    const issuer = 'https://kubernetes.default.svc.cluster.local';
    const issued = Math.floor(Date.now() / 1_000) - 2 * HOUR_S;
    return clusters.westCluster.signToken!({
      ...{ iss: issuer, aud: [issuer], iat: issued, nbf: issued, exp: issued + HOUR_S },
      sub: `system:serviceaccount:${LINKS_NAMESPACE}:${ACCOUNT.name}`,
      'kubernetes.io': { namespace: LINKS_NAMESPACE, serviceaccount: { name: ACCOUNT.name, uid } },
    });
  };

  test('keeps all mirrors and says so; the command that it names mends it', { timeout: 120_000 }, async () => {
    await give(await requestToken(clusters.westCluster, ACCOUNT));
    clusters.operator();
    await exportReady(clusters, 'web');
    await clusters.ready();
    await clusters.stopOperators();
    const before = await inventory(clusters);

    await give(await ended());
    clusters.operator();
    const said = await eventually('it says that the token ended', async () => {
      const found = await clusters.condition('CredentialsValid');
      if (found?.reason !== 'CredentialsExpired') throw new Error(JSON.stringify(found));
      return found;
    });
    expect(said.message).toMatch(/ended at \d{4}-.*, and only the target can give another/);
    expect(await inventory(clusters)).toEqual(before);

    const [, named = ''] = /run `linkspan ([a-z -]+)` with the contexts of both clusters/.exec(said.message) ?? [];
    expect(named).toBe('credentials mint --name west --apply');
    // The context of a target is seldom called as its Link.
    const folder = await mkdtemp(join(tmpdir(), 'linkspan-ended-token-'));
    const file = join(folder, 'kubeconfig');
    await writeFile(file, clusters.westCluster.kubeconfig.replaceAll(': west', ': prod-west'));
    const { code, stderr } = await linkspanHere(
      ...named.split(' '),
      `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`,
      `--to-kubeconfig=${file}`,
      '--to-context=prod-west',
      `--api-server-address=${clusters.westCluster.server}`,
    );
    await rm(folder, { recursive: true });
    expect(code, stderr).toBe(0);
    await eventually(
      'the new token is used',
      async () => (await clusters.condition('CredentialsValid'))?.status === 'True',
    );
    expect(await inventory(clusters)).toEqual(before);
    await exportReady(clusters, 'again');
  });
});
