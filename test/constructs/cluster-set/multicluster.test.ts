import { App, Chart } from 'cdk8s';
import { describe, expect, test } from 'vitest';

import { Gateway } from '../../../constructs/gateway/gateway.ts';
import { GatewayPolicy } from '../../../constructs/gateway/gateway-policy.ts';
import { ServiceFailoverCrd } from '../../../constructs/services/service-failover-crd.ts';
import { LinkCrd } from '../../../constructs/link/link-crd.ts';
import { Link } from '../../../constructs/link/link.ts';
import type { LinkProps } from '../../../constructs/link/props.ts';
import { MirrorOperator } from '../../../constructs/operator/mirror-operator.ts';
import type { MirrorOperatorProps } from '../../../constructs/operator/props.ts';
import { Multicluster, type MulticlusterProps } from '../../../constructs/cluster-set/multicluster.ts';
import { RemoteAccess } from '../../../constructs/gateway/remote-access.ts';
import { render } from '../../../constructs/rendered/render.ts';
import { errorsOf } from '../errors-of.ts';

const multicluster = (props?: MulticlusterProps) =>
  render((chart) => {
    new Multicluster(chart, 'multicluster', props);
  });

const NAMESPACE = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: 'linkerd-multicluster',
    labels: { 'linkerd.io/extension': 'multicluster', 'pod-security.kubernetes.io/enforce': 'privileged' },
  },
};

const byName = (objects: readonly object[]): readonly string[] =>
  objects.map((object) => JSON.stringify(object)).sort();

describe("a cluster's side of multi-cluster", () => {
  test('is all of its parts as they are by themselves, with what they have in common said once', () => {
    const sourceNetworks = ['198.51.100.0/24'];
    const west = { targetCluster: 'west', gatewayAddresses: ['203.0.113.7'] };
    const north = { targetCluster: 'north' };
    const made = multicluster({
      namespace: 'mesh',
      linkerdNamespace: 'l5d',
      trustDomain: 'east.example.com',
      gateway: { replicas: 2, service: { type: 'NodePort' } },
      sourceNetworks,
      sources: [{ sourceCluster: 'west' }, { sourceCluster: 'north', flat: true, longLivedToken: true }],
      operator: { image: 'linkspan:1', enableHeadlessServices: true },
      links: [west, north],
    });
    const parts = render((chart) => {
      const common = { namespace: 'mesh', linkerdNamespace: 'l5d' };
      new Gateway(chart, 'a', {
        ...common,
        trustDomain: 'east.example.com',
        replicas: 2,
        service: { type: 'NodePort' },
      });
      new GatewayPolicy(chart, 'b', { namespace: 'mesh', sourceNetworks });
      new RemoteAccess(chart, 'c', { namespace: 'mesh', sourceCluster: 'west' });
      new RemoteAccess(chart, 'd', { namespace: 'mesh', sourceCluster: 'north', flat: true, longLivedToken: true });
      new LinkCrd(chart, 'e');
      new ServiceFailoverCrd(chart, 'ee');
      new MirrorOperator(chart, 'f', {
        ...common,
        image: 'linkspan:1',
        enableHeadlessServices: true,
        targetClusters: ['west', 'north'],
        credentialsSecrets: ['cluster-credentials-west', 'cluster-credentials-north'],
        flat: true,
      });
      new Link(chart, 'g', { ...west, namespace: 'mesh' });
      new Link(chart, 'h', { ...north, namespace: 'mesh' });
    });

    expect(made[0]).toEqual({ ...NAMESPACE, metadata: { ...NAMESPACE.metadata, name: 'mesh' } });
    expect(byName(made.slice(1))).toEqual(byName(parts));
  });

  test('H6: lets the operator read the Secrets of its Links, those it is given besides, or any', () => {
    const secrets = (links: readonly LinkProps[], credentialsSecrets?: 'any' | readonly string[]) => {
      const objects = multicluster({ operator: { image: 'linkspan', credentialsSecrets }, links });
      const { rules } = objects.find(({ kind }) => kind === 'Role') as unknown as {
        readonly rules: readonly {
          readonly resources: readonly string[];
          readonly resourceNames?: readonly string[];
        }[];
      };
      const names = rules
        .filter(({ resources }) => resources.includes('secrets'))
        .flatMap((rule) => rule.resourceNames);
      return names[0] === undefined ? undefined : names;
    };
    const west = { targetCluster: 'west' };
    const flatless = { federatedServiceSelector: {}, serviceExports: false };
    const north = { targetCluster: 'north', clusterCredentialsSecret: 'to-north', ...flatless };
    expect(secrets([west, north])).toEqual(['cluster-credentials-west', 'to-north']);
    expect(secrets([west], ['later', 'cluster-credentials-west'])).toEqual(['later', 'cluster-credentials-west']);
    expect(secrets([west], 'any')).toBeUndefined();
    expect(secrets([])).toBeUndefined();
  });

  test('H6: lets the operator see the credentials of the control plane if a Link joins or imports on a flat network', () => {
    const sees = (link: Partial<LinkProps>, operator: Partial<MirrorOperatorProps> = {}) =>
      multicluster({
        operator: { image: 'linkspan', ...operator },
        links: [{ targetCluster: 'west', ...link }],
      }).some(({ metadata }) => metadata.namespace === 'linkerd');
    const gatewayAddresses = ['203.0.113.7'];
    const joins = { serviceExports: false };
    const imports = { federatedServiceSelector: {} };
    expect(sees({})).toBe(true);
    expect(sees(joins)).toBe(true);
    expect(sees({ ...joins, gatewayAddresses })).toBe(true);
    expect(sees(imports)).toBe(true);
    expect(sees({ ...imports, federation: 'flat', gatewayAddresses })).toBe(true);
    expect(sees({ ...imports, ...joins })).toBe(false);
    expect(sees({ ...imports, gatewayAddresses })).toBe(false);
    expect(sees(imports, { serviceImports: false })).toBe(false);
    expect(sees({ federation: 'gateway', gatewayAddresses })).toBe(false);
    expect(
      multicluster({ operator: { image: 'linkspan' } }).every((each) => each.metadata.namespace !== 'linkerd'),
    ).toBe(true);
  });

  test('H6: lets the operator see the copy of the control plane for a Link whose own Secret has another name', () => {
    const seen = (link: Partial<LinkProps>, operator: Partial<MirrorOperatorProps> = {}) => {
      const north = { targetCluster: 'north', clusterCredentialsSecret: 'to-north', ...link };
      const objects = multicluster({ operator: { image: 'linkspan', ...operator }, links: [north] });
      const role = objects.find(({ kind, metadata }) => kind === 'Role' && metadata.namespace === 'linkerd');
      const { rules = [] } = (role ?? {}) as {
        readonly rules?: readonly { readonly resourceNames: readonly string[] }[];
      };
      const [deployment] = objects.filter(({ kind }) => kind === 'Deployment').slice(-1);
      const flag = /--credentials-secrets=([^"]*)/.exec(JSON.stringify(deployment))?.[1];
      return { copies: rules.flatMap(({ resourceNames }) => resourceNames), flag };
    };
    const both = ['to-north', 'cluster-credentials-north'];
    expect(seen({})).toEqual({ copies: both, flag: both.join(',') });
    expect(seen({ federatedServiceSelector: {} })).toEqual({ copies: both, flag: both.join(',') });
    expect(seen({ federatedServiceSelector: {} }, { serviceImports: false })).toEqual({ copies: [], flag: 'to-north' });
    expect(seen({ federatedServiceSelector: {}, serviceExports: false })).toEqual({ copies: [], flag: 'to-north' });
    expect(seen({}, { flat: false })).toEqual({ copies: [], flag: 'to-north' });
  });

  test('H6, A3: lets the operator create namespaces if a Link has it do so, without it doing so for other Links', () => {
    const creates = (link: Partial<LinkProps>, operator: Partial<MirrorOperatorProps> = {}) => {
      const links = [{ targetCluster: 'north' }, { targetCluster: 'west', ...link }];
      const objects = multicluster({ operator: { image: 'linkspan', ...operator }, links });
      const { rules } = objects.find(({ kind }) => kind === 'ClusterRole') as unknown as {
        readonly rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
      };
      const isGranted = rules.some(({ resources, verbs }) => resources[0] === 'namespaces' && verbs.includes('create'));
      return { isGranted, isDefault: JSON.stringify(objects).includes('--enable-namespace-creation') };
    };
    const wanting = { enableNamespaceCreation: true };
    expect(creates(wanting)).toEqual({ isGranted: true, isDefault: false });
    expect(creates({ enableNamespaceCreation: false })).toEqual({ isGranted: false, isDefault: false });
    expect(creates({})).toEqual({ isGranted: false, isDefault: false });
    expect(creates(wanting, { grantNamespaceCreation: false })).toEqual({ isGranted: false, isDefault: false });
    expect(creates({}, { grantNamespaceCreation: true })).toEqual({ isGranted: true, isDefault: false });
  });

  test('lists what others need before those others', () => {
    const kinds = multicluster({ operator: { image: 'linkspan' }, links: [{ targetCluster: 'west' }] }).map(
      ({ kind }) => kind,
    );

    expect(kinds[0]).toBe('Namespace');
    expect(kinds.indexOf('CustomResourceDefinition')).toBeLessThan(kinds.indexOf('Link'));
  });

  test('by default is that of a target: a gateway that any mesh client may use', () => {
    const kinds = multicluster().map(({ kind }) => kind);

    expect(kinds.sort()).toEqual([
      'AuthorizationPolicy',
      'AuthorizationPolicy',
      'Deployment',
      'MeshTLSAuthentication',
      'Namespace',
      'NetworkAuthentication',
      'PodDisruptionBudget',
      'Server',
      'Server',
      'Service',
      'ServiceAccount',
    ]);
  });

  test("admits pods whose proxy sets up its network, and with Linkerd's CNI plugin need not", () => {
    expect(multicluster()[0]).toEqual(NAMESPACE);
    expect(multicluster({ podSecurity: 'restricted' })[0]).toHaveProperty('metadata.labels', {
      'linkerd.io/extension': 'multicluster',
      'pod-security.kubernetes.io/enforce': 'restricted',
    });
  });

  test('of a source only has no gateway, and no CRD if that is kept elsewhere', () => {
    const objects = multicluster({ gateway: false, crd: false, links: [{ targetCluster: 'west' }] });

    expect(objects.map(({ kind }) => kind)).toEqual(['Namespace', 'Link']);
  });

  test('exposes its parts', () => {
    const chart = new Chart(new App(), 'mesh', { namespace: 'mesh' });
    const made = new Multicluster(chart, 'multicluster', {
      sources: [{ sourceCluster: 'west' }],
      operator: { image: 'linkspan' },
      links: [{ targetCluster: 'west' }],
    });

    expect(made.namespace.metadata.name).toBe('mesh');
    expect(made.gateway?.namespace).toBe('mesh');
    expect(made.gatewayPolicy?.server.metadata.namespace).toBe('mesh');
    expect(made.remoteAccess.map(({ name }) => name)).toEqual(['linkerd-service-mirror-remote-access-west']);
    expect(made.operator?.namespace).toBe('mesh');
    expect(made.links.map(({ namespace }) => namespace)).toEqual(['mesh']);
    expect(made.crd).toBeDefined();
    expect(made.failoverCrd?.crd.metadata.name).toBe('servicefailovers.linkspan.dev');
  });
});

describe("an invalid cluster's side", () => {
  test('is refused for what is wrong with all its parts at once, by the paths of its own props', () => {
    expect(
      errorsOf(() =>
        multicluster({
          linkerdNamespace: 'l.5',
          gateway: { replicas: -1 },
          sourceNetworks: ['all'],
          sources: [{ sourceCluster: 'West', name: 'west' }],
          operator: { image: '' },
          links: [{ targetCluster: 'west', gatewayAddresses: ['203.0.113.7'], gatewayPort: 0 }],
        }),
      ),
    ).toEqual([
      'linkerdNamespace: "l.5" must be a valid DNS label',
      'gateway.replicas: -1 must be a whole number of at least 0',
      'sourceNetworks[0]: "all" must be a network in CIDR notation',
      'sources[0].sourceCluster: "West" must be a valid DNS label',
      'operator.image: "" must be a valid image reference',
      'links[0].gatewayPort: 0 must be between 1 and 65535',
    ]);
  });

  test('A3: is refused if a Link has namespaces created by an operator that is limited to namespaces', () => {
    const links = [{ targetCluster: 'north' }, { targetCluster: 'west', enableNamespaceCreation: true }];
    expect(
      errorsOf(() => multicluster({ operator: { image: 'linkspan', mirrorNamespaces: ['shop'] }, links })),
    ).toEqual([
      'links[1].enableNamespaceCreation: true must not be set together with operator.mirrorNamespaces, which must exist',
    ]);
  });

  test('is refused if it names a cluster twice', () => {
    expect(
      errorsOf(() =>
        multicluster({
          sources: [{ sourceCluster: 'west' }, { sourceCluster: 'west' }],
          links: [{ targetCluster: 'north' }, { targetCluster: 'north' }],
        }),
      ),
    ).toEqual([
      'sources[1]: "linkerd-service-mirror-remote-access-west" must be unique',
      'links[1]: "north" must be unique',
    ]);
  });
});
