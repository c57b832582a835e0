/** What users make with cdk8s-plus takes our constructs as it takes its own: by their types, and in what is rendered. */
import { App, Chart } from 'cdk8s';
import {
  ApiResource,
  ClusterRole,
  HorizontalPodAutoscaler,
  Ingress,
  IngressBackend,
  Metric,
  MetricTarget,
  NetworkPolicy,
  NetworkPolicyIpBlock,
  NetworkPolicyPort,
  Node,
  NodeTaintQuery,
  Role,
  Service,
} from 'cdk8s-plus-27';
import { describe, expect, test } from 'vitest';
import { Gateway } from '../../constructs/gateway/gateway.ts';
import { RemoteAccess } from '../../constructs/gateway/remote-access.ts';
import { type ApiJson, render } from '../../constructs/rendered/render.ts';
import { MirrorOperator } from '../../constructs/operator/mirror-operator.ts';
import { ServiceRoute } from '../../constructs/rendered/route/service-route.ts';
import { TrafficSplit } from '../../constructs/services/traffic-split.ts';
import { errorsOf } from './errors-of.ts';

const IMAGE = 'registry.example/linkspan:0.1.0';
const the = (kind: string, objects: readonly ApiJson[]): ApiJson => objects.find((object) => object.kind === kind)!;

describe('of cdk8s-plus', () => {
  test('an autoscaler takes a gateway, whose number of pods it then sets', () => {
    const objects = render((chart) => {
      const { deployment } = new Gateway(chart, 'gateway');
      new HorizontalPodAutoscaler(chart, 'autoscaler', { target: deployment, minReplicas: 2, maxReplicas: 5 });
    });

    expect(the('HorizontalPodAutoscaler', objects).spec).toMatchObject({
      minReplicas: 2,
      maxReplicas: 5,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'linkerd-gateway' },
    });
    expect(the('Deployment', objects).spec).not.toHaveProperty('replicas');
  });

  test('an autoscaler is refused by a gateway that has a number of pods', () => {
    const app = new App();
    const chart = new Chart(app, 'chart');
    const { deployment } = new Gateway(chart, 'gateway', { replicas: 4 });
    const metrics = [Metric.resourceCpu(MetricTarget.averageUtilization(70))];
    new HorizontalPodAutoscaler(chart, 'autoscaler', { target: deployment, maxReplicas: 5, metrics });

    expect(chart.node.findAll().flatMap(({ node }) => node.validate())).toEqual([
      'HorizontalPodAutoscaler target cannot have a fixed number of replicas (4).',
    ]);
  });

  test('a NetworkPolicy selects the pods of a gateway and of an operator by their own labels', () => {
    const objects = render((chart) => {
      const gateway = new Gateway(chart, 'gateway');
      const operator = new MirrorOperator(chart, 'operator', { image: IMAGE, networkPolicy: false });
      const policy = new NetworkPolicy(chart, 'policy', {
        metadata: { namespace: 'linkerd-multicluster' },
        selector: gateway.deployment,
      });
      policy.addIngressRule(NetworkPolicyIpBlock.ipv4(chart, 'east', '198.51.100.0/24'), [NetworkPolicyPort.tcp(4143)]);
      policy.addIngressRule(operator.deployment, [NetworkPolicyPort.tcp(4191)]);
    });

    const pods = { 'app.kubernetes.io/name': 'linkspan', 'app.kubernetes.io/component': 'operator' };
    expect(the('NetworkPolicy', objects).spec).toMatchObject({
      podSelector: { matchLabels: { app: 'linkerd-gateway' } },
      ingress: [
        { from: [{ ipBlock: { cidr: '198.51.100.0/24' } }], ports: [{ port: 4143 }] },
        { from: [{ podSelector: { matchLabels: pods } }], ports: [{ port: 4191 }] },
      ],
    });
  });

  test('a Role is bound to our ServiceAccounts, and ours to those of others', () => {
    const objects = render((chart) => {
      const operator = new MirrorOperator(chart, 'operator', { image: IMAGE });
      const access = new RemoteAccess(chart, 'access', { sourceCluster: 'east' });
      const role = new Role(chart, 'role', { metadata: { name: 'secrets', namespace: 'shop' } });
      role.allowRead(ApiResource.SECRETS);
      role.bind(operator.serviceAccount);
      const nodes = new ClusterRole(chart, 'nodes', { metadata: { name: 'nodes' } });
      nodes.allowRead(ApiResource.NODES);
      nodes.bind(access.serviceAccount);
      const [grant] = access.grants;
      grant!.binding.addSubjects(operator.serviceAccount);
      if (grant!.role instanceof ClusterRole) grant!.role.allowRead(ApiResource.CONFIG_MAPS);
    });
    const subject = (name: string) => ({ kind: 'ServiceAccount', name, namespace: 'linkerd-multicluster' });
    const remote = 'linkerd-service-mirror-remote-access-east';
    const bindings = objects.filter(({ kind }) => kind.endsWith('Binding'));

    expect(bindings.find(({ metadata }) => metadata.namespace === 'shop')).toMatchObject({
      roleRef: { kind: 'Role', name: 'secrets' },
      subjects: [subject('linkspan-operator')],
    });
    const ofNodes = bindings.find((binding) => (binding['roleRef'] as { readonly name: string }).name === 'nodes');
    expect(ofNodes).toMatchObject({ subjects: [subject(remote)] });
    expect(bindings.find(({ metadata }) => metadata.name === remote)).toMatchObject({
      subjects: [subject(remote), subject('linkspan-operator')],
    });
    const rules = objects.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === remote)?.['rules'];
    expect((rules as readonly object[]).at(-1)).toMatchObject({
      resources: ['configmaps'],
      verbs: ['get', 'list', 'watch'],
    });
  });

  test('an Ingress leads to the metrics of an operator', () => {
    const objects = render((chart) => {
      const operator = new MirrorOperator(chart, 'operator', { image: IMAGE });
      const ingress = new Ingress(chart, 'ingress', { metadata: { namespace: operator.namespace } });
      ingress.addHostRule('linkspan.example.com', '/metrics', IngressBackend.fromService(operator.metricsService));
    });

    expect(the('Ingress', objects)).toHaveProperty('spec.rules.0.http.paths.0.backend', {
      service: { name: 'linkspan-operator', port: { number: 9999 } },
    });
  });

  test('what is asked of our Deployments is rendered beside what cdk8s-plus has no words for', () => {
    const objects = render((chart) => {
      const { deployment } = new Gateway(chart, 'gateway', {
        nodeSelector: { pool: 'edge' },
        tolerations: [{ key: 'edge', operator: 'Exists' }],
      });
      deployment.scheduling.tolerate(Node.tainted(NodeTaintQuery.any()));
      deployment.addContainer({ name: 'agent', image: 'registry.example/agent:1' });
      deployment.podMetadata.addAnnotation('config.linkerd.io/proxy-cpu-request', '100m');
    });

    expect(the('Deployment', objects)).toMatchObject({
      spec: {
        template: {
          metadata: { annotations: { 'config.linkerd.io/proxy-cpu-request': '100m', 'linkerd.io/inject': 'enabled' } },
          spec: {
            nodeSelector: { pool: 'edge' },
            tolerations: [{ key: 'edge', operator: 'Exists' }, { operator: 'Exists' }],
            containers: [{ name: 'pause', securityContext: { capabilities: { drop: ['ALL'] } } }, { name: 'agent' }],
          },
        },
      },
    });
  });

  test('Services are split and routed, here and as mirrors of those of other clusters', () => {
    const objects = render((chart) => {
      const service = new Service(chart, 'web', {
        metadata: { name: 'web', namespace: 'shop' },
        ports: [{ name: 'http', port: 8080 }],
      });
      const backends = [
        { service, weight: 90 },
        { service, targetCluster: 'west', weight: 10 },
      ];
      new TrafficSplit(chart, 'split', { service, backends });
      new ServiceRoute(chart, 'route', { service, backends });
    });

    expect(the('TrafficSplit', objects)).toMatchObject({
      metadata: { name: 'web', namespace: 'shop' },
      spec: { service: 'web', backends: [{ service: 'web' }, { service: 'web-west' }] },
    });
    expect(the('HTTPRoute', objects)).toMatchObject({
      metadata: { name: 'web', namespace: 'shop' },
      spec: {
        parentRefs: [{ name: 'web', port: 8080 }],
        rules: [
          {
            backendRefs: [
              { name: 'web', port: 8080 },
              { name: 'web-west', port: 8080 },
            ],
          },
        ],
      },
    });
  });

  test('a Service without a single port to route is refused without one that is named', () => {
    const service = { service: 'web', backends: [{ service: 'web', weight: 1 }] };
    expect(errorsOf(() => new ServiceRoute(new Chart(new App(), 'chart'), 'route', service))).toEqual([
      'port: is required unless service is a Service of cdk8s-plus with one port',
    ]);
  });
});
