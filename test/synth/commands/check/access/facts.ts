/** What `linkspan check --gateway-access` reads of a cluster whose exports all name their clients, as values. */
import type { KubeObject, Service } from '../../../../../operator/kube/objects.ts';
import { ACCESS_CHECKS } from '../../../../../synth/commands/check/access/checks.ts';
import type { AccessSurvey } from '../../../../../synth/commands/check/access/survey.ts';
import { readMetrics } from '../../../../../synth/commands/check/access/usage.ts';
import { outlookOf } from '../../../../../synth/commands/check/access/verdicts.ts';
import { type Checked, runChecks } from '../../../../../synth/commands/check/report.ts';
import { EXPORTED, LINKS_NAMESPACE, service } from '../../../../support/builders.ts';
import { ANCHOR } from '../../../../support/trust-anchors.ts';
import { operatorDeployment, pod, read } from '../facts.ts';
import { textOf } from '../installed.ts';
import { connections, type CountedUse, inShop, metricsText } from './proxy-metrics.ts';

/** A Service of the cluster, which is exported to the clients that it names. */
export const exported = (name: string, clients?: string, options: Parameters<typeof service>[1] = {}): Service =>
  service(name, {
    labels: EXPORTED,
    ...options,
    annotations: { ...options.annotations, ...(clients !== undefined && { 'linkspan.dev/clients': clients }) },
  });

/** What the proxy of `gateway-0` has counted. */
export const countedUses = (...uses: readonly CountedUse[]) =>
  readMetrics(metricsText(...uses.map(connections)).split('\n'), 'gateway-0');

export const gatewayPod = (name: string) =>
  pod(name, {
    status: {
      phase: 'Running',
      containerStatuses: [{ name: 'linkerd-proxy', state: { running: { startedAt: '2026-11-20T10:00:00Z' } } }],
    },
  });

export const policy = (name: string, labels: Readonly<Record<string, string>> = {}): KubeObject & { spec: object } => ({
  metadata: { name, namespace: LINKS_NAMESPACE, labels },
  spec: { targetRef: { kind: 'Server', name: 'linkerd-gateway' } },
});

/** A survey of a cluster in which all is ready to be closed. */
export const survey = (changed: Partial<AccessSurvey> = {}): AccessSurvey => ({
  context: 'west',
  namespace: LINKS_NAMESPACE,
  linkerdNamespace: 'linkerd',
  link: undefined,
  version: '0.1.0',
  server: 'https://west.example',
  kubernetes: read('v1.36.0'),
  unread: [],
  linkerd: read({ clusterDomain: 'cluster.local', trustDomain: 'cluster.local', anchors: ANCHOR, version: undefined }),
  operator: read(operatorDeployment()),
  config: {} as AccessSurvey['config'],
  gateway: read({ metadata: { name: 'linkerd-gateway', namespace: LINKS_NAMESPACE } }),
  authorizations: read([policy('linkerd-gateway', { 'linkspan.dev/gateway-access': 'open' })]),
  networks: read([{ metadata: { name: 'source-cluster' }, spec: { networks: [{ cidr: '0.0.0.0/0' }] } }]),
  services: read([exported('web', 'shop/a')]),
  serviceExports: read([]),
  pods: read([gatewayPod('gateway-0')]),
  counted: countedUses({ client: 'shop/a', host: inShop('web') }),
  ...changed,
});

/** What is found of a survey, check by check. */
export const checked = (changed: Partial<AccessSurvey> = {}): readonly Checked[] => {
  const all = survey(changed);
  return runChecks(ACCESS_CHECKS, { ...all, outlook: outlookOf(all) });
};

/** The findings, each in a line; and the checks that were skipped, with the reason. */
export const found = (changed: Partial<AccessSurvey> = {}): readonly string[] =>
  checked(changed).flatMap((each) => [
    ...textOf([each]),
    ...(each.skipped === undefined ? [] : [`${each.id} skipped ${each.skipped}`]),
    ...(each.partly === undefined ? [] : [`${each.id} partly ${each.partly}`]),
  ]);
