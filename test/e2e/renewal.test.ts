/** P2, P3: a token that ends is renewed by the operator in time, on API servers that make tokens and refuse them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RemoteAccess } from '../../constructs/gateway/remote-access.ts';
import { render } from '../../constructs/rendered/render.ts';
import { readAccountToken } from '../../operator/kube/account-token.ts';
import type { AuditEntry } from '../cluster/index.ts';
import { onReal } from '../cluster/on-each-backing.ts';
import { eventually, type ObjectRef } from '../cluster/workload/index.ts';
import { credentials, link, LINKS_NAMESPACE, namespace } from '../support/builders.ts';
import { exportReady } from '../support/exports.ts';
import { inventory } from '../support/inventory.ts';
import { installMcs } from '../support/mcs.ts';
import type { LinkCondition } from '../support/objects.ts';
import type { TestOperator } from '../support/operator.ts';
import { applySecret, caIn, kubeconfigIn, requestToken, tokenIn } from '../support/tokens.ts';
import { ANCHOR } from '../support/trust-anchors.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const ACCOUNT = 'linkerd-service-mirror-remote-access-east';
const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'cluster-credentials-west', namespace: LINKS_NAMESPACE },
};
const PEER: ObjectRef = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'linkspan-peer-east', namespace: LINKS_NAMESPACE },
};
/** Of the ten minutes that an API server grants at least, this is about a second. */
const RENEWED_AFTER = 0.002;
/** How many renewals are judged: RENEWALS=100 in the environment for more. */
const RENEWALS = Number(process.env['RENEWALS'] ?? 10);
const RENEWALS_WITHIN_MS = 20_000 + RENEWALS * 3_000;

const isGood = (valid: LinkCondition | undefined): boolean =>
  valid?.status === 'True' && !valid.message.includes('not renewed');

/** Lists what is mirrored. A quiet watch is asked every half minute, for one object, whether it has missed anything: this does not. */
const isList = ({ verb, uri }: AuditEntry): boolean => verb === 'list' && !uri.includes('limit=1&');

/** What Kubernetes publishes in each namespace. */
const rootCa = (pem: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'kube-root-ca.crt', namespace: LINKS_NAMESPACE },
  data: { 'ca.crt': pem },
});

onReal('a token that ends', () => {
  let clusters: TwoClusters;
  let operator: TestOperator;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'real' });
    // Watched wherever they can be: a kind that is not served would be asked for again and again, renewed or not.
    await Promise.all([installMcs(clusters.eastCluster), installMcs(clusters.westCluster)]);
    const { west } = clusters;
    await west.apply(namespace(LINKS_NAMESPACE));
    const access = render((chart) => {
      new RemoteAccess(chart, 'access', { sourceCluster: 'east', namespace: LINKS_NAMESPACE });
    });
    for (const object of access) await west.apply(object);
    await west.apply(rootCa(caIn(clusters.westCluster.kubeconfig)));
    await clusters.east.apply(link('west'));
    await giveFirst();
    operator = clusters.operator({ tuning: { renewedAfter: RENEWED_AFTER } });
    await exportReady(clusters, 'web');
    await clusters.ready();
  });
  afterAll(() => clusters.stop());

  const giveFirst = async (): Promise<void> => {
    const { uid } = (await clusters.west.get<{ metadata: { uid: string } }>(PEER))!.metadata;
    const boundTo = { apiVersion: 'v1', kind: 'Secret', name: PEER.metadata.name, uid };
    const token = await requestToken(clusters.westCluster, { namespace: LINKS_NAMESPACE, name: ACCOUNT }, boundTo);
    await applySecret(clusters.eastCluster, credentials('west', clusters.westCluster.kubeconfigFor(token)));
  };
  const kubeconfigNow = (): Promise<string> => kubeconfigIn(clusters.east, SECRET);
  const tokenNow = async () => readAccountToken(tokenIn(await kubeconfigNow()))!;
  const renewals = async (): Promise<number> =>
    (await clusters.westCluster.audit()).filter(
      ({ verb, resource, subresource }) =>
        verb === 'create' && resource === 'serviceaccounts' && subresource === 'token',
    ).length;

  test(
    'P2: is renewed again and again, and nothing is listed, written or unread for it',
    { timeout: RENEWALS_WITHIN_MS + 30_000 },
    async () => {
      await eventually('the operator is at rest', () => operator.settled());
      const before = await inventory(clusters);
      await clusters.westCluster.clearAudit();
      await clusters.eastCluster.clearAudit();
      const began = Date.now();
      await eventually(`${RENEWALS} renewals`, async () => (await renewals()) >= RENEWALS, RENEWALS_WITHIN_MS);
      const asked = await clusters.westCluster.audit();
      const own = asked.filter(({ user }) => user.endsWith(`:${ACCOUNT}`));
      expect(own.filter(isList)).toEqual([]);
      expect(own.filter(({ code }) => code >= 400)).toEqual([]);
      const written = (await clusters.eastCluster.audit()).filter(({ verb }) =>
        ['create', 'patch', 'update', 'delete'].includes(verb),
      );
      const kinds = new Set(
        written
          .filter(({ resource }) => resource !== 'leases')
          .map(({ resource, subresource }) => [resource, subresource].join('/')),
      );
      expect([...kinds].filter((each) => !['secrets/', 'links/status'].includes(each))).toEqual([]);
      expect(await inventory(clusters)).toEqual(before);
      const condition = await clusters.condition('CredentialsValid');
      expect(condition).toMatchObject({ status: 'True', reason: 'Valid' });
      expect(condition!.message).toMatch(/is in use; its token ends at \d{4}-/);
      expect((await tokenNow()).boundTo?.name).toBe(PEER.metadata.name);
      await exportReady(clusters, 'api');
      if (process.env['RENEWALS'] !== undefined)
        console.log(
          `${RENEWALS} renewals in ${Math.round((Date.now() - began) / 1_000)} s, ${own.length} requests of the account`,
        );
    },
  );

  test('P3: comes with the CA that is to follow, beside the one of now, as soon as the target publishes it', async () => {
    await eventually('the operator is at rest', () => operator.settled());
    const before = await inventory(clusters);
    await clusters.west.apply(rootCa(ANCHOR));
    await eventually('both are in the kubeconfig', async () => {
      const found = caIn(await kubeconfigNow()).match(/BEGIN CERTIFICATE/g);
      return found?.length === 2;
    });
    await clusters.westCluster.clearAudit();
    await eventually('three more renewals', async () => (await renewals()) >= 3, 30_000);
    const own = (await clusters.westCluster.audit()).filter(({ user }) => user.endsWith(`:${ACCOUNT}`));
    expect(own.filter((each) => isList(each) || each.code >= 400)).toEqual([]);
    expect(await inventory(clusters)).toEqual(before);
    expect(isGood(await clusters.condition('CredentialsValid'))).toBe(true);
  });

  test('P1: is void once the Secret of its peer is deleted; the Link says so, and takes new credentials', async () => {
    await clusters.west.delete(PEER);
    await eventually(
      'the target refuses the token',
      async () => {
        return !isGood(await clusters.condition('CredentialsValid'));
      },
      120_000,
    );
    await clusters.west.apply(PEER);
    await giveFirst();
    await eventually('they are used', async () => isGood(await clusters.condition('CredentialsValid')), 50_000);
    await exportReady(clusters, 'again');
  });
});
