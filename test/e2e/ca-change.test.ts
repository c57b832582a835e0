/** P3: the CA of the API server changes while a Link is served; the next one is known before it is used. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RemoteAccess } from '../../constructs/gateway/remote-access.ts';
import { render } from '../../constructs/rendered/render.ts';
import { peerSecretName, remoteAccessName } from '../../crds/wire.ts';
import type { AuditEntry } from '../cluster/index.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../cluster/certificate.ts';
import { renderKubeconfig } from '../cluster/kubeconfig.ts';
import { onReal } from '../cluster/on-each-backing.ts';
import { eventually } from '../cluster/workload/index.ts';
import { credentials, link, LINKS_NAMESPACE, namespace, secretRef } from '../support/builders.ts';
import { exportReady } from '../support/exports.ts';
import { inventory } from '../support/inventory.ts';
import { installMcs } from '../support/mcs.ts';
import { TlsFront } from '../support/tls-front.ts';
import { applySecret, caIn, kubeconfigIn, requestToken, tokenIn } from '../support/tokens.ts';
import { TwoClusters } from '../support/two-clusters.ts';
import { SERVER } from '../synth/kubeconfigs/certificates.ts';

const ACCOUNT = { namespace: LINKS_NAMESPACE, name: remoteAccessName('east') };
const PEER = peerSecretName(ACCOUNT.name);
const SECRET = secretRef('cluster-credentials-west');
/** Of the ten minutes that an API server grants at least, this is about a second. */
const RENEWED_AFTER = 0.002;

const isList = ({ verb, uri }: AuditEntry): boolean => verb === 'list' && !/limit=1(&|$)/.test(uri);

onReal('the CA of an API server', () => {
  let clusters: TwoClusters;
  let front: TlsFront;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'real' });
    await Promise.all([installMcs(clusters.eastCluster), installMcs(clusters.westCluster)]);
    const { east, west, westCluster } = clusters;
    front = await TlsFront.start(new URL(westCluster.server), SERVER);
    await west.apply(namespace(LINKS_NAMESPACE));
    const access = render((chart) => {
      new RemoteAccess(chart, 'access', { sourceCluster: 'east', namespace: LINKS_NAMESPACE });
    });
    for (const object of access) await west.apply(object);
    await publish(SERVER.cert);
    const token = await requestToken(westCluster, ACCOUNT, { apiVersion: 'v1', kind: 'Secret', name: PEER });
    const caData = Buffer.from(SERVER.cert).toString('base64');
    const kubeconfig = renderKubeconfig({ name: 'west', server: front.url, caData, token });
    await applySecret(clusters.eastCluster, credentials('west', kubeconfig));
    await east.apply(link('west'));
    clusters.operator({ tuning: { renewedAfter: RENEWED_AFTER } });
    await exportReady(clusters, 'web');
    await clusters.ready();
  }, 120_000);
  afterAll(async () => {
    await clusters.stop();
    await front.stop();
  });

  /** What Kubernetes publishes in each namespace. */
  const publish = (pem: string) =>
    clusters.west.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kube-root-ca.crt', namespace: LINKS_NAMESPACE },
      data: { 'ca.crt': pem },
    } as never);
  const kubeconfigNow = (): Promise<string> => kubeconfigIn(clusters.east, SECRET);
  const knownCas = async (): Promise<number> => caIn(await kubeconfigNow()).match(/BEGIN CERTIFICATE/g)?.length ?? 0;
  const tokenNow = async (): Promise<string> => tokenIn(await kubeconfigNow());
  /** Waits until the token was renewed so many times more: each renewal asks over a connection of its own. */
  const renewed = async (times: number): Promise<void> => {
    for (let count = 0; count < times; count++) {
      const before = await tokenNow();
      await eventually('another token', async () => (await tokenNow()) !== before, 30_000);
    }
  };
  /** What the operator asked of the target since the last call of `clearAudit`. */
  const asked = async () =>
    (await clusters.westCluster.audit()).filter(({ user }) => user.endsWith(`:${ACCOUNT.name}`));
  const unchanged = async (before: Awaited<ReturnType<typeof inventory>>): Promise<void> => {
    const now = await inventory(clusters);
    expect(Object.fromEntries(Object.keys(before).map((name) => [name, now[name]]))).toEqual(before);
    expect((await clusters.condition('CredentialsValid'))?.status).toBe('True');
    await clusters.ready();
  };

  test('P3: is another one, and nothing is listed, written or unread for it', { timeout: 120_000 }, async () => {
    await publish(`${SERVER.cert}${CERTIFICATE}`);
    await eventually('both are known', async () => (await knownCas()) === 2, 30_000);
    await renewed(2);
    const before = await inventory(clusters);
    await clusters.westCluster.clearAudit();

    front.replace({ cert: CERTIFICATE, key: PRIVATE_KEY });
    await publish(CERTIFICATE);
    await renewed(3);
    const own = await asked();
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter((each) => isList(each) || each.code >= 400)).toEqual([]);
    await unchanged(before);
  });

  test('H3: has each kind listed once where the connections end with it, and nothing written', async () => {
    const before = await inventory(clusters);
    await clusters.westCluster.clearAudit();
    front.drop();
    await renewed(2);
    await exportReady(clusters, 'after');
    const lists = (await asked()).filter(isList).map(({ uri }) => uri);
    expect(lists.length).toBeGreaterThan(0);
    expect(lists).toEqual([...new Set(lists)]);
    expect((await asked()).filter(({ code }) => code >= 400)).toEqual([]);
    await unchanged(before);
  });
});
