/** The life of a Link, beside another. */
import { linkCrd } from '../../../crds/index.ts';
import { link as linkObject, LINKS_NAMESPACE } from '../../support/builders.ts';
import { coarsely, timeUntil } from '../look.ts';
import { LINK } from '../kinds.ts';
import type { Scene } from '../scene.ts';
import { FEDERATED, SPEC, type Users } from '../users.ts';
import type { Life } from './life.ts';

const conditionOf = (users: Users, name: string, type: string): string | undefined => {
  const { status } = (users.linkOf(name) ?? {}) as {
    readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  };
  return status?.conditions?.find((each) => each.type === type)?.status;
};

/** How long it takes until a gateway that swallows everything is known to be dead. */
const verdictTime = async (scene: Scene, users: Users): Promise<string> => {
  const gateway = '10.9.0.1:4191';
  scene.internet.weather(gateway, 'stalled');
  const ms = await timeUntil(scene, 900_000, () => conditionOf(users, 'west', 'GatewayAlive') !== 'True');
  scene.internet.weather(gateway, 'fair');
  await scene.rest();
  return coarsely(ms);
};

const selects = (value: string) => ({ matchLabels: { 'mirror.linkerd.io/exported': value } });

const begin = (users: Users): void => {
  users.discover();
  users.claimIds();
  users.credentials('west');
  for (const target of ['west', 'bar'] as const) {
    users.service(target, 'web');
    users.pods(target, 'web', '-');
    users.service(target, 'db', { kind: 'headless' });
    users.pods(target, 'db', 'db-0');
    users.service(target, 'direct', { exported: 'remote-discovery' });
    users.service(target, 'joined', { exported: 'none', member: true });
    users.pods(target, 'joined', '-');
    users.service(target, 'cash', { namespace: 'till' });
  }
  users.in('west').put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'new' } });
  users.service('west', 'first', { namespace: 'new' });
  users.service('west', 'shared', { exported: 'none' });
  users.pods('west', 'shared', '-');
  users.exportService('west', 'shared');
  users.link('bar', { enableHeadlessServices: true, federation: 'gateway', ...FEDERATED });
};

export const linkLife: Life = {
  name: 'Link',
  crd: linkCrd,
  at: 'source',
  object: { ...LINK, namespace: LINKS_NAMESPACE, name: 'west' },
  spec: linkObject('west', { ...SPEC, enableHeadlessServices: true, federation: 'gateway', ...FEDERATED }).spec,
  begin,
  samples: {
    'spec.targetClusterName': ['far'],
    'spec.targetClusterDomain': ['other.local'],
    'spec.targetClusterLinkerdNamespace': ['mesh'],
    'spec.clusterCredentialsSecret': ['elsewhere'],
    'spec.gatewayAddress': ['203.0.113.99', '203.0.113.98,gateway.example'],
    'spec.gatewayPort': ['4444'],
    'spec.gatewayIdentity': ['other.identity'],
    'spec.probeSpec': [{ path: '/live', port: '4192', period: '9s' }],
    'spec.probeSpec.path': ['/live'],
    'spec.probeSpec.port': ['4192'],
    'spec.probeSpec.period': ['9s'],
    'spec.probeSpec.timeout': ['4s'],
    'spec.probeSpec.failureThreshold': ['9'],
    'spec.selector': [selects('remote-discovery')],
    'spec.selector.matchLabels': [{ 'example.com/tag': 'a' }],
    'spec.selector.matchExpressions': [[{ key: 'mirror.linkerd.io/exported', operator: 'Exists' }]],
    'spec.selector.matchExpressions[].key': ['example.com/tag'],
    'spec.selector.matchExpressions[].values': [['a']],
    'spec.remoteDiscoverySelector': [selects('true')],
    'spec.remoteDiscoverySelector.matchLabels': [{ 'example.com/tag': 'a' }],
    'spec.remoteDiscoverySelector.matchExpressions[].key': ['example.com/tag'],
    'spec.remoteDiscoverySelector.matchExpressions[].values': [['a']],
    'spec.federatedServiceSelector': [selects('true')],
    'spec.federatedServiceSelector.matchLabels': [selects('true').matchLabels],
    'spec.federatedServiceSelector.matchExpressions[].key': ['example.com/tag'],
    'spec.federatedServiceSelector.matchExpressions[].values': [['a']],
    'spec.excludedAnnotations': [['example.com/note']],
    'spec.excludedLabels': [['example.com/*']],
    'spec.targetNamespaces': [['till']],
    'spec.importPolicy': [{ namespaces: ['shop', 'till'] }],
    'spec.importPolicy.namespaces': [['till']],
    'spec.importPolicy.names': [['web']],
    'spec.importPolicy.ports': [['22']],
    'spec.importPolicy.types': [['Headless']],
    'spec.importPolicy.approval': ['required'],
    'spec.importPolicy.approved': [['shop/web']],
  },
  silent: {
    'spec.targetClusterLinkerdNamespace="mesh"': "Linkerd's own controllers read it; nothing here does",
    'spec.serviceExports=true': 'as absent',
    'spec.excludedAnnotations=absent': 'before it, what is not there is excluded',
    'spec.excludedLabels=absent': 'before it, what is not there is excluded',
    'spec.importPolicy.approval=absent': 'before it, none is required',
    'spec.enableHeadlessServices=true': 'it is true',
    'spec.enableHeadlessServices=absent': 'false by default',
    'spec.enableNamespaceCreation=false': 'Namespaces are never deleted (A6)',
    'spec.enableNamespaceCreation=absent': 'false by default',
  },
  pasts: {
    'spec.clusterCredentialsSecret="elsewhere"': 'what was read before stays (E2)',
    'spec.gatewayAddress=absent': 'mirrors stay, and new ones wait for a gateway',
    'spec.gatewayAddress=""': 'likewise',
  },
  leaves: { 'spec.enableNamespaceCreation': 'Namespaces are never deleted (A6)' },
  isOfOthers: (id) => /bar/.test(id),
  measures: { 'spec.probeSpec': verdictTime },
};
