import { KubeConfig } from '@kubernetes/client-node';
import { JsonPatch } from 'cdk8s';
import { describe, expect, test } from 'vitest';

import { LinkCredentials, type LinkCredentialsProps } from '../../../constructs/link/link-credentials.ts';
import { type ApiJson, render } from '../../../constructs/rendered/render.ts';
import { errorsOf } from '../errors-of.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const CA = base64('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n');
/** As long as real ones, and so longer than a line of YAML. */
const TOKEN = `eyJhbGciOiJSUzI1NiJ9.${'a'.repeat(900)}.sig-_nature`;

const WEST: LinkCredentialsProps = {
  targetCluster: 'west',
  server: 'https://203.0.113.7:6443',
  caData: CA,
  token: TOKEN,
};

const credentials = (props: Partial<LinkCredentialsProps> = {}) =>
  render((chart) => {
    new LinkCredentials(chart, 'credentials', { ...WEST, ...props });
  });

const kubeconfigOf = (secret: ApiJson): string =>
  Buffer.from((secret.data as { kubeconfig: string }).kubeconfig, 'base64').toString();

describe('the credentials of a target', () => {
  test("are one kubeconfig in two Secrets: the Link's, and the control plane's with what Linkerd requires of it", () => {
    const data = { kubeconfig: expect.any(String) as string };
    const secrets = credentials({ targetTrustDomain: 'trust.example', targetClusterDomain: 'west.example' });

    expect(secrets).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'cluster-credentials-west', namespace: 'linkerd-multicluster' },
        type: 'mirror.linkerd.io/remote-kubeconfig',
        data,
      },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: 'cluster-credentials-west',
          namespace: 'linkerd',
          labels: { 'multicluster.linkerd.io/cluster-name': 'west' },
          annotations: {
            'multicluster.linkerd.io/trust-domain': 'trust.example',
            'multicluster.linkerd.io/cluster-domain': 'west.example',
          },
        },
        type: 'mirror.linkerd.io/remote-kubeconfig',
        data,
      },
    ]);
    expect(secrets[0]!.data).toEqual(secrets[1]!.data);
  });

  test('hold a kubeconfig with nothing in it but the server, its CA and the token', () => {
    const config = new KubeConfig();
    config.loadFromString(kubeconfigOf(credentials({ tlsServerName: 'kubernetes.default.svc' })[0]!));

    expect(config.getCurrentCluster()).toEqual({
      name: 'west',
      server: 'https://203.0.113.7:6443',
      caData: CA,
      skipTLSVerify: false,
      tlsServerName: 'kubernetes.default.svc',
    });
    expect(config.getCurrentUser()).toMatchObject({ name: 'west', token: TOKEN });
    expect(config.clusters).toHaveLength(1);
    expect(config.users).toHaveLength(1);
    expect(kubeconfigOf(credentials()[0]!)).not.toContain('tls-server-name');
  });

  test('can be the copy of the Link alone', () => {
    expect(credentials({ copies: 'link', namespace: 'mesh' }).map(({ metadata }) => metadata)).toEqual([
      { name: 'cluster-credentials-west', namespace: 'mesh' },
    ]);
  });

  test('take the cluster domain for the trust domain, as Linkerd does', () => {
    expect(credentials({ targetClusterDomain: 'west.example' })[1]!.metadata.annotations).toEqual({
      'multicluster.linkerd.io/trust-domain': 'west.example',
      'multicluster.linkerd.io/cluster-domain': 'west.example',
    });
  });

  test('take patches', () => {
    const [secret] = render((chart) => {
      new LinkCredentials(chart, 'credentials', WEST).linkSecret.addJsonPatch(JsonPatch.add('/immutable', true));
    });

    expect(secret).toHaveProperty('immutable', true);
  });
});

describe('invalid credentials', () => {
  test('are refused with every reason at once', () => {
    expect(
      errorsOf(() =>
        credentials({
          targetCluster: 'West',
          server: 'http://203.0.113.7',
          caData: base64('no certificate'),
          token: '',
          tlsServerName: '*',
          targetClusterDomain: '.',
          targetTrustDomain: '-',
          namespace: 'a.b',
          linkerdNamespace: 'a.b',
        }),
      ),
    ).toEqual([
      'targetCluster: "West" must be a valid DNS label',
      'server: "http://203.0.113.7" must be an https URL',
      'caData: must be base64 of PEM certificates',
      'tlsServerName: "*" must be a valid DNS subdomain',
      'targetClusterDomain: "." must be a valid DNS subdomain',
      'targetTrustDomain: "-" must be a valid DNS subdomain',
      'namespace: "a.b" must be a valid DNS label',
      'linkerdNamespace: "a.b" must be a valid DNS label',
      'linkerdNamespace: "a.b" must differ from the namespace of the Link: both have a Secret of the same name',
      'token: must not be empty',
    ]);
  });

  test.each([
    { server: 'https://admin:hunter2@203.0.113.7' },
    { token: 'hunter2\nhunter2' },
    { caData: 'hunter2 hunter2' },
    { caData: base64('-----BEGIN RSA PRIVATE KEY-----\nhunter2') },
  ])('are not quoted: %o', (props) => {
    const [error] = errorsOf(() => credentials(props));

    expect(error).not.toContain('hunter2');
    expect(error).not.toContain(base64('hunter2').slice(0, 6));
  });
});
