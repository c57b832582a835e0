import { describe, expect, test } from 'vitest';

import { copiedAnnotations, copiedLabels } from '../../../../constructs/rendered/mirror/copied-metadata.ts';

describe('B2: what a mirror takes over of its target', () => {
  test('copies what users put there', () => {
    const labels = { app: 'web', 'app.kubernetes.io/name': 'web', 'app.kubernetes.io/part-of': 'shop', empty: '' };

    expect(copiedLabels(labels)).toEqual(labels);
    expect(copiedAnnotations(labels)).toEqual(labels);
  });

  test.each([
    'mirror.linkerd.io/exported',
    'mirror.linkerd.io/gateway-identity',
    'multicluster.linkerd.io/remote-discovery',
    'service.kubernetes.io/topology-mode',
    'service.kubernetes.io/topology-aware-hints',
    'kubectl.kubernetes.io/last-applied-configuration',
    'endpointslice.kubernetes.io/skip-mirror',
    'argocd.argoproj.io/instance',
    'argocd.argoproj.io/tracking-id',
    'app.kubernetes.io/instance',
    'app.kubernetes.io/managed-by',
    'helm.sh/chart',
    'meta.helm.sh/release-name',
    'kustomize.toolkit.fluxcd.io/name',
    'helm.toolkit.fluxcd.io/name',
    'external-dns.alpha.kubernetes.io/hostname',
    'service.beta.kubernetes.io/aws-load-balancer-type',
    'service.beta.kubernetes.io/azure-load-balancer-internal',
    'cloud.google.com/neg',
    'networking.gke.io/load-balancer-type',
    'metallb.universe.tf/address-pool',
    'metallb.io/loadBalancerIPs',
    'lbipam.cilium.io/ips',
    'load-balancer.hetzner.cloud/location',
    'linkspan.dev/federation',
    'constructor',
  ])('leaves out %s', (key) => {
    expect(copiedLabels({ [key]: 'x', app: 'web' })).toEqual({ app: 'web' });
    expect(copiedAnnotations({ [key]: 'x', app: 'web' })).toEqual({ app: 'web' });
  });

  test.each([
    'mirror.linkerd.io.example.com/exported',
    'service.kubernetes.io/service-proxy-name',
    'app.kubernetes.io/instance-id',
    'sub.metallb.io/pool',
    'mirror.linkerd.io',
  ])('keeps %s, which only looks like one of them', (key) => {
    expect(copiedLabels({ [key]: 'x' })).toEqual({ [key]: 'x' });
  });

  test('leaves out what the Link excludes, by key or by all of the prefix', () => {
    const metadata = {
      team: 'a',
      'example.com/a': '1',
      'example.com/b': '2',
      'www.example.com/a': '3',
      'example.com': '4',
    };

    expect(copiedLabels(metadata, ['team', 'example.com/*'])).toEqual({ 'www.example.com/a': '3', 'example.com': '4' });
    expect(copiedAnnotations(metadata, ['example.com/a'])).toEqual({
      team: 'a',
      'example.com/b': '2',
      'www.example.com/a': '3',
      'example.com': '4',
    });
  });

  test('takes a prefix for a prefix and nothing less', () => {
    const metadata = { 'example.com/team-a': '1', exampl: '2' };

    expect(copiedLabels(metadata, ['example.com/team-*', 'example/*', '*', 'exampl*', 'examp/*'])).toEqual(metadata);
  });
});

describe('B3', () => {
  test('always copies opaque-ports, whatever the Link excludes', () => {
    const annotations = { 'config.linkerd.io/opaque-ports': '3306', 'config.linkerd.io/skip': 'x' };

    expect(copiedAnnotations(annotations, ['config.linkerd.io/*', 'config.linkerd.io/opaque-ports'])).toEqual({
      'config.linkerd.io/opaque-ports': '3306',
    });
  });
});
