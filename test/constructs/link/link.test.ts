import { App, Chart, Duration, JsonPatch } from 'cdk8s';
import { describe, expect, test } from 'vitest';

import { Link } from '../../../constructs/link/link.ts';
import type { LinkProps } from '../../../constructs/link/props.ts';
import { render } from '../../../constructs/rendered/render.ts';
import { readLink } from '../../../crds/link/settings.ts';
import { errorsOf } from '../errors-of.ts';

const link = (props: Partial<LinkProps> = {}) =>
  render((chart) => {
    new Link(chart, 'link', { targetCluster: 'west', ...props });
  })[0]!;

const SELECTORS = {
  selector: { matchLabels: { 'mirror.linkerd.io/exported': 'true' } },
  remoteDiscoverySelector: { matchLabels: { 'mirror.linkerd.io/exported': 'remote-discovery' } },
  federatedServiceSelector: { matchLabels: { 'mirror.linkerd.io/federated': 'member' } },
};

describe('a Link', () => {
  test('to a gateway has what `linkerd multicluster link` writes', () => {
    expect(link({ gatewayAddresses: ['203.0.113.7'] })).toEqual({
      apiVersion: 'multicluster.linkerd.io/v1alpha3',
      kind: 'Link',
      metadata: { name: 'west', namespace: 'linkerd-multicluster' },
      spec: {
        targetClusterName: 'west',
        targetClusterDomain: 'cluster.local',
        targetClusterLinkerdNamespace: 'linkerd',
        clusterCredentialsSecret: 'cluster-credentials-west',
        gatewayAddress: '203.0.113.7',
        gatewayPort: '4143',
        gatewayIdentity: 'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local',
        probeSpec: { path: '/ready', port: '4191', period: '3s', timeout: '30s', failureThreshold: '3' },
        ...SELECTORS,
      },
    });
  });

  test('without a gateway says nothing of one', () => {
    expect(link().spec).toEqual({
      targetClusterName: 'west',
      targetClusterDomain: 'cluster.local',
      targetClusterLinkerdNamespace: 'linkerd',
      clusterCredentialsSecret: 'cluster-credentials-west',
      remoteDiscoverySelector: SELECTORS.remoteDiscoverySelector,
      federatedServiceSelector: SELECTORS.federatedServiceSelector,
    });
  });

  test('takes every field in the form people write it', () => {
    const rendered = link({
      name: 'to-west',
      namespace: 'mesh',
      labels: { team: 'a' },
      annotations: { note: 'b' },
      targetClusterDomain: 'west.example.com',
      targetLinkerdNamespace: 'l5d',
      clusterCredentialsSecret: 'west-kubeconfig',
      gatewayAddresses: ['gateway.west.example.com', '2001:db8::7'],
      gatewayPort: 30143,
      gatewayIdentity: 'gateway.identity.west',
      probe: {
        path: '/live',
        port: 30191,
        period: Duration.minutes(1),
        timeout: Duration.millis(1500),
        failureThreshold: 5,
      },
      selector: { matchExpressions: [{ key: 'export', operator: 'Exists' }] },
      remoteDiscoverySelector: {},
      federatedServiceSelector: { matchLabels: { federate: 'yes' } },
      federation: 'gateway',
      serviceExports: false,
      excludedLabels: ['team', 'example.com/*'],
      excludedAnnotations: [],
      targetNamespaces: ['shop', 'bank'],
      enableHeadlessServices: true,
      enableNamespaceCreation: false,
    });

    expect(rendered).toEqual({
      apiVersion: 'multicluster.linkerd.io/v1alpha3',
      kind: 'Link',
      metadata: { name: 'to-west', namespace: 'mesh', labels: { team: 'a' }, annotations: { note: 'b' } },
      spec: {
        targetClusterName: 'west',
        targetClusterDomain: 'west.example.com',
        targetClusterLinkerdNamespace: 'l5d',
        clusterCredentialsSecret: 'west-kubeconfig',
        targetNamespaces: ['shop', 'bank'],
        gatewayAddress: 'gateway.west.example.com,2001:db8::7',
        gatewayPort: '30143',
        gatewayIdentity: 'gateway.identity.west',
        probeSpec: { path: '/live', port: '30191', period: '60s', timeout: '1500ms', failureThreshold: '5' },
        selector: { matchExpressions: [{ key: 'export', operator: 'Exists' }] },
        remoteDiscoverySelector: {},
        federatedServiceSelector: { matchLabels: { federate: 'yes' } },
        federation: 'gateway',
        serviceExports: false,
        excludedLabels: ['team', 'example.com/*'],
        excludedAnnotations: [],
        enableHeadlessServices: true,
        enableNamespaceCreation: false,
      },
    });
  });

  test('K1: leaves out that ServiceExports are imported, which is the default', () => {
    expect(link({ serviceExports: true }).spec).not.toHaveProperty('serviceExports');
  });

  test('takes a Go duration as it is', () => {
    expect(link({ gatewayAddresses: ['203.0.113.7'], probe: { period: '1m30s' } }).spec).toHaveProperty(
      'probeSpec.period',
      '1m30s',
    );
  });

  test('is read by the operator as it was meant', () => {
    expect(readLink(link({ gatewayAddresses: ['203.0.113.7'], probe: { period: Duration.seconds(5) } }))).toMatchObject(
      {
        ok: true,
        value: {
          cluster: 'west',
          gateway: { addresses: ['203.0.113.7'], port: 4143 },
          probe: { periodMs: 5000, port: 4191 },
        },
      },
    );
  });

  test("lives in the chart's namespace where the chart has one", () => {
    const chart = new Chart(new App(), 'mesh', { namespace: 'mesh' });
    const made = new Link(chart, 'link', { targetCluster: 'west' });

    expect(made.namespace).toBe('mesh');
    expect(made.link.metadata.namespace).toBe('mesh');
  });

  test('takes patches', () => {
    const [patched] = render((chart) => {
      new Link(chart, 'link', { targetCluster: 'west' }).link.addJsonPatch(
        JsonPatch.remove('/spec/federatedServiceSelector'),
      );
    });

    expect(patched!.spec).not.toHaveProperty('federatedServiceSelector');
  });
});

describe('E7: an invalid Link', () => {
  test('is refused with every field and reason at once, by the names of its props', () => {
    const errors = errorsOf(() =>
      link({
        targetCluster: 'West',
        targetClusterDomain: 'a..b',
        gatewayAddresses: ['300.1.2.3'],
        gatewayPort: 0,
        probe: { path: 'ready', port: 70000, period: '0s', timeout: 'abc', failureThreshold: 0 },
        selector: { matchExpressions: [{ key: 'export', operator: 'In' }] },
      }),
    );

    expect(errors.map((error) => error.split(':')[0])).toEqual(
      expect.arrayContaining([
        'targetCluster',
        'targetClusterDomain',
        'gatewayAddresses[0]',
        'gatewayPort',
        'probe.path',
        'probe.port',
        'probe.period',
        'probe.timeout',
        'probe.failureThreshold',
        'selector.matchExpressions[0].values',
      ]),
    );
    expect(errors).toContain('gatewayPort: 0 must be between 1 and 65535');
  });

  test('is refused if it mirrors through a gateway that it does not have', () => {
    expect(errorsOf(() => link({ selector: { matchLabels: { a: 'b' } } }))).toEqual([
      expect.stringContaining('gatewayAddresses: is required'),
    ]);
  });

  test('is refused for a Service that is approved twice, as the API server refuses it', () => {
    const importPolicy = { approval: 'required', approved: ['shop/web', 'shop/web'] } as const;
    expect(errorsOf(() => link({ importPolicy }))).toEqual(['importPolicy.approved[1]: "shop/web" must be unique']);
  });

  test('is named in the message', () => {
    expect(() => link({ gatewayAddresses: ['203.0.113.7'], gatewayPort: 0 })).toThrow(
      'Link linkerd-multicluster/west: gatewayPort: 0 must be between 1 and 65535',
    );
  });
});
