import { ApiObject, App, Chart, JsonPatch } from 'cdk8s';
import { describe, expect, test } from 'vitest';

import type { NodeRequirement } from '../../../constructs/common/pod-props.ts';
import { Gateway, type GatewayProps } from '../../../constructs/gateway/gateway.ts';
import { type ApiJson, render } from '../../../constructs/rendered/render.ts';
import { errorsOf } from '../errors-of.ts';
import * as plus from '../plus-defaults.ts';

const gateway = (props?: GatewayProps): Readonly<Record<string, ApiJson>> =>
  Object.fromEntries(
    render((chart) => {
      new Gateway(chart, 'gateway', props);
    }).map((object) => [object.kind, object]),
  );

const LABELS = { app: 'linkerd-gateway', 'linkerd.io/extension': 'multicluster' };
/** Linkerd's chart selects by this alone, and a Deployment's selector is for life. */
const PODS = { app: 'linkerd-gateway' };
const NOT_SAFE = { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' };
const METADATA = { name: 'linkerd-gateway', namespace: 'linkerd-multicluster', labels: LABELS };

describe('a gateway', () => {
  test('is what the contract says, three times over', () => {
    expect(Object.values(gateway())).toEqual([
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: METADATA, automountServiceAccountToken: false },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: METADATA,
        spec: {
          ...plus.DEPLOYMENT,
          replicas: 3,
          selector: { matchLabels: PODS },
          template: {
            metadata: {
              labels: LABELS,
              annotations: {
                'linkerd.io/inject': 'enabled',
                'config.linkerd.io/enable-gateway': 'true',
                'config.linkerd.io/proxy-require-identity-inbound-ports': '4143',
                'config.linkerd.io/default-inbound-policy': 'all-authenticated',
                'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true',
              },
            },
            spec: {
              ...plus.POD,
              serviceAccountName: 'linkerd-gateway',
              automountServiceAccountToken: false,
              securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
              containers: [
                {
                  name: 'pause',
                  image: 'registry.k8s.io/pause:3.10',
                  resources: { requests: { cpu: '1m', memory: '4Mi' } },
                  securityContext: {
                    ...plus.SECURITY_CONTEXT,
                    allowPrivilegeEscalation: false,
                    capabilities: { drop: ['ALL'] },
                    readOnlyRootFilesystem: true,
                    runAsNonRoot: true,
                    runAsUser: 65535,
                    runAsGroup: 65535,
                    seccompProfile: { type: 'RuntimeDefault' },
                  },
                },
              ],
              affinity: {
                podAntiAffinity: {
                  preferredDuringSchedulingIgnoredDuringExecution: [
                    {
                      weight: 100,
                      podAffinityTerm: {
                        topologyKey: 'kubernetes.io/hostname',
                        labelSelector: { matchLabels: PODS },
                      },
                    },
                  ],
                },
              },
              topologySpreadConstraints: [
                {
                  topologyKey: 'topology.kubernetes.io/zone',
                  maxSkew: 1,
                  whenUnsatisfiable: 'ScheduleAnyway',
                  labelSelector: { matchLabels: PODS },
                },
              ],
            },
          },
        },
      },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          ...METADATA,
          annotations: {
            'mirror.linkerd.io/gateway-identity':
              'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local',
            'mirror.linkerd.io/probe-period': '3',
            'mirror.linkerd.io/probe-path': '/ready',
            'mirror.linkerd.io/multicluster-gateway': 'true',
          },
        },
        spec: {
          type: 'LoadBalancer',
          selector: { app: 'linkerd-gateway' },
          ports: [
            { name: 'mc-gateway', protocol: 'TCP', port: 4143, targetPort: 4143 },
            { name: 'mc-probe', protocol: 'TCP', port: 4191, targetPort: 4191 },
          ],
        },
      },
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: METADATA,
        spec: { maxUnavailable: 1, selector: { matchLabels: PODS } },
      },
    ]);
  });

  test('takes every setting of its load balancer', () => {
    const { Service } = gateway({
      namespace: 'mesh',
      linkerdNamespace: 'l5d',
      trustDomain: 'west.example.com',
      probePath: '/live',
      probePeriod: '1m30s',
      service: {
        loadBalancerClass: 'example.com/internal',
        loadBalancerIP: '203.0.113.7',
        loadBalancerSourceRanges: ['198.51.100.0/24', '2001:db8::/32'],
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 30100,
        port: 443,
        probePort: 8443,
        nodePort: 30143,
        probeNodePort: 30191,
        annotations: { 'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb' },
      },
    });

    expect(Service).toMatchObject({
      metadata: {
        namespace: 'mesh',
        annotations: {
          'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb',
          'mirror.linkerd.io/gateway-identity': 'linkerd-gateway.mesh.serviceaccount.identity.l5d.west.example.com',
          'mirror.linkerd.io/probe-period': '1m30s',
          'mirror.linkerd.io/probe-path': '/live',
        },
      },
      spec: {
        type: 'LoadBalancer',
        loadBalancerClass: 'example.com/internal',
        loadBalancerIP: '203.0.113.7',
        loadBalancerSourceRanges: ['198.51.100.0/24', '2001:db8::/32'],
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 30100,
        // Whatever ports it is reached by, the proxy listens on its own.
        ports: [
          { name: 'mc-gateway', protocol: 'TCP', port: 443, targetPort: 4143, nodePort: 30143 },
          { name: 'mc-probe', protocol: 'TCP', port: 8443, targetPort: 4191, nodePort: 30191 },
        ],
      },
    });
    expect(Service!.spec).not.toHaveProperty('annotations');
  });

  test('can be reached by node ports', () => {
    const { Service } = gateway({ service: { type: 'NodePort', nodePort: 30143, probeNodePort: 30191 } });

    expect(Service!.spec).toMatchObject({ type: 'NodePort', ports: [{ nodePort: 30143 }, { nodePort: 30191 }] });
  });

  test('takes every setting of where its pods run', () => {
    const { Deployment } = gateway({
      replicas: 5,
      antiAffinity: 'required',
      topologySpread: [{ topologyKey: 'rack', maxSkew: 2, whenUnsatisfiable: 'DoNotSchedule' }],
      nodeSelector: { pool: 'edge' },
      tolerations: [{ key: 'edge', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }],
      resources: { requests: { cpu: '10m' }, limits: { memory: '16Mi' } },
      image: 'registry.example/pause:1',
    });

    expect(Deployment!.spec).toMatchObject({
      replicas: 5,
      // Where each pod has a node of its own, there may be none for one more.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      template: {
        spec: {
          containers: [
            {
              image: 'registry.example/pause:1',
              resources: { requests: { cpu: '10m' }, limits: { memory: '16Mi' } },
            },
          ],
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: PODS } },
              ],
            },
          },
          topologySpreadConstraints: [
            {
              topologyKey: 'rack',
              maxSkew: 2,
              whenUnsatisfiable: 'DoNotSchedule',
              labelSelector: { matchLabels: PODS },
            },
          ],
          nodeSelector: { pool: 'edge' },
          tolerations: [{ key: 'edge', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }],
        },
      },
    });
  });

  test('takes what users say about its pods, and keeps what makes them a gateway', () => {
    const required = {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'In' as const, values: ['edge'] }] }],
    };
    const preferred = [
      { weight: 10, preference: { matchExpressions: [{ key: 'spot', operator: 'DoesNotExist' as const }] } },
    ];
    const { Deployment } = gateway({
      imagePullSecrets: ['registry', 'mirror'],
      podLabels: { team: 'mesh' },
      podAnnotations: { 'config.linkerd.io/proxy-cpu-request': '100m', ...NOT_SAFE },
      deploymentAnnotations: { 'reloader.example.com/auto': 'true' },
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: required,
        preferredDuringSchedulingIgnoredDuringExecution: preferred,
      },
      terminationGracePeriod: '1m30s',
      revisionHistoryLimit: 3,
      runAsUser: 2103,
      resources: { requests: { cpu: '1e-1', memory: '1.5Mi' } },
    });

    expect(Deployment).toHaveProperty('metadata.annotations', { 'reloader.example.com/auto': 'true' });
    expect(Deployment!.spec).toMatchObject({
      revisionHistoryLimit: 3,
      template: {
        metadata: {
          labels: { ...LABELS, team: 'mesh' },
          annotations: { 'linkerd.io/inject': 'enabled', 'config.linkerd.io/proxy-cpu-request': '100m', ...NOT_SAFE },
        },
        spec: {
          imagePullSecrets: [{ name: 'registry' }, { name: 'mirror' }],
          terminationGracePeriodSeconds: 90,
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: required,
              preferredDuringSchedulingIgnoredDuringExecution: preferred,
            },
          },
          containers: [
            {
              resources: { requests: { cpu: '1e-1', memory: '1.5Mi' } },
              securityContext: { runAsUser: 2103, runAsGroup: 2103 },
            },
          ],
        },
      },
    });
  });

  test('of one replica has no budget that a drain could not get past', () => {
    expect(gateway({ replicas: 1, antiAffinity: 'none' })).not.toHaveProperty('PodDisruptionBudget');
  });

  test('says its identity to the Links that lead to it, and takes patches', () => {
    const chart = new Chart(new App(), 'mesh', { namespace: 'mesh' });
    const made = new Gateway(chart, 'gateway');
    ApiObject.of(made.service).addJsonPatch(JsonPatch.add('/spec/allocateLoadBalancerNodePorts', false));

    expect(made.identity).toBe('linkerd-gateway.mesh.serviceaccount.identity.linkerd.cluster.local');
    expect(ApiObject.of(made.service).toJson()).toHaveProperty('spec.allocateLoadBalancerNodePorts', false);
  });
});

describe('an invalid gateway', () => {
  test('is refused with every reason at once', () => {
    expect(
      errorsOf(() =>
        gateway({
          namespace: 'Mesh',
          linkerdNamespace: 'l.5',
          trustDomain: 'a..b',
          probePath: 'ready',
          probePeriod: 0.5,
          image: '',
          replicas: -1,
          topologySpread: [{ topologyKey: '-', maxSkew: 0 }],
          nodeSelector: { pool: 'a b' },
          tolerations: [
            { value: 'x' },
            { key: 'a', operator: 'Exists', value: 'b', tolerationSeconds: 1 },
            { key: 'a', effect: 'NoExecute', tolerationSeconds: -1 },
          ],
          resources: { requests: { cpu: 'much' }, limits: { memory: '1 Gi' } },
          service: {
            loadBalancerClass: 'a b',
            loadBalancerIP: 'west.example',
            loadBalancerSourceRanges: ['198.51.100.0', 'fe80::1%eth0/64'],
            healthCheckNodePort: 30143,
            port: 0,
            probePort: 70000,
            nodePort: 30143,
            annotations: { 'mirror.linkerd.io/probe-path': '/x', 'a b': 'c' },
          },
        }),
      ),
    ).toEqual([
      'namespace: "Mesh" must be a valid DNS label',
      'linkerdNamespace: "l.5" must be a valid DNS label',
      'trustDomain: "a..b" must be a valid DNS subdomain',
      'service.loadBalancerClass: "a b" must be a valid class name',
      'service.loadBalancerIP: "west.example" must be a valid IP address',
      'service.loadBalancerSourceRanges[0]: "198.51.100.0" must be a network in CIDR notation',
      'service.loadBalancerSourceRanges[1]: "fe80::1%eth0/64" must be a network in CIDR notation',
      'service.healthCheckNodePort: 30143 may only be used with type LoadBalancer and externalTrafficPolicy Local',
      'service.port: 0 must be between 1 and 65535',
      'service.probePort: 70000 must be between 1 and 65535',
      'service: [30143,30143] must have a different node port for each purpose',
      'service.annotations["mirror.linkerd.io/probe-path"]: "/x" must not be set: the gateway sets it',
      'service.annotations["a b"]: "c" must be a valid annotation key',
      'probePath: "ready" must be a valid path',
      'probePeriod: 0.5 must be a valid period',
      'image: "" must be a valid image reference',
      'replicas: -1 must be a whole number of at least 0',
      'topologySpread[0].topologyKey: "-" must be a valid label key',
      'topologySpread[0].maxSkew: 0 must be a whole number of at least 1',
      'nodeSelector.pool: "a b" must be a valid label',
      'tolerations[0].key: is required unless operator is Exists',
      'tolerations[1].value: "b" must be empty when operator is Exists',
      'tolerations[1].tolerationSeconds: 1 may only be used with effect NoExecute',
      'tolerations[2].tolerationSeconds: -1 must be a whole number of at least 0',
      'resources.requests.cpu: "much" must be a valid quantity',
      'resources.limits.memory: "1 Gi" must be a valid quantity',
    ]);
  });

  test('is refused for what the API server refuses of its pods and its Service, and for nothing else', () => {
    const spread = { topologyKey: 'rack' };
    const service = { annotations: { 'Example.com/Foo': 'bar' } };
    expect(() =>
      gateway({
        topologySpread: [spread, { ...spread, whenUnsatisfiable: 'DoNotSchedule' }],
        tolerations: [{ key: 'a', value: 'b' }],
        resources: { requests: { cpu: '1', 'example.com/card': '1', 'hugepages-2Mi': '4Mi' } },
        service,
      }),
    ).not.toThrow();
    expect(
      errorsOf(() =>
        gateway({
          topologySpread: [spread, { ...spread, whenUnsatisfiable: 'ScheduleAnyway' }],
          tolerations: [{ key: 'a', value: 'b c' }],
          resources: { requests: { cpus: '1' } },
          service,
        }),
      ),
    ).toEqual([
      'topologySpread[1].topologyKey: "rack" must be unique',
      'tolerations[0].value: "b c" must be a valid taint value',
      'resources.requests.cpus: "1" must be of a resource of containers',
    ]);
  });

  test('is refused for what its pods cannot have', () => {
    const term = (matchExpressions: readonly NodeRequirement[]) => ({ matchExpressions });
    expect(
      errorsOf(() =>
        gateway({
          imagePullSecrets: ['A'],
          podLabels: { app: 'mine', team: 'a b' },
          podAnnotations: { 'linkerd.io/inject': 'disabled', 'a b': 'c' },
          deploymentAnnotations: { '-': 'x' },
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term([])] },
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 0, preference: term([{ key: 'a b', operator: 'In' }]) },
              { weight: 1, preference: term([{ key: 'a', operator: 'Gt', values: ['x'] }]) },
              { weight: 1, preference: term([{ key: 'a', operator: 'Exists', values: ['x'] }]) },
            ],
          },
          terminationGracePeriod: '1500ms',
          revisionHistoryLimit: -1,
          runAsUser: 0,
        }),
      ),
    ).toEqual([
      'imagePullSecrets[0]: "A" must be a valid DNS subdomain',
      'podLabels.app: "mine" must not be set: the construct sets it',
      'podLabels.team: "a b" must be a valid label',
      'podAnnotations["linkerd.io/inject"]: "disabled" must not be set: the construct sets it',
      'podAnnotations["a b"]: "c" must be a valid annotation',
      'deploymentAnnotations.-: "x" must be a valid annotation',
      'nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions: [] must not be empty',
      'nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: 0 must be a whole number between 1 and 100',
      'nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key: "a b" must be a valid label key',
      'nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values: [] must not be empty when operator is In',
      'nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].preference.matchExpressions[0].values: ["x"] must be one integer when operator is Gt',
      'nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[2].preference.matchExpressions[0].values: ["x"] must be empty when operator is Exists',
      'terminationGracePeriod: "1500ms" must be a whole number of seconds',
      'revisionHistoryLimit: -1 must be a whole number of at least 0',
      'runAsUser: 0 must be a whole number of at least 1',
    ]);
  });

  test('is refused if it asks a ClusterIP Service for what load balancers and node ports have', () => {
    expect(
      errorsOf(() =>
        gateway({
          service: {
            type: 'ClusterIP',
            loadBalancerIP: '203.0.113.7',
            loadBalancerSourceRanges: [],
            externalTrafficPolicy: 'Local',
            nodePort: 30143,
            probeNodePort: 30191,
            port: 4191,
          },
        }),
      ),
    ).toEqual([
      'service.loadBalancerIP: "203.0.113.7" may only be used with type LoadBalancer',
      'service.loadBalancerSourceRanges: [] may only be used with type LoadBalancer',
      'service.externalTrafficPolicy: "Local" may only be used with types LoadBalancer and NodePort',
      'service.probePort: 4191 must differ from port',
      'service.nodePort: 30143 may only be used with types LoadBalancer and NodePort',
      'service.probeNodePort: 30191 may only be used with types LoadBalancer and NodePort',
    ]);
  });
});
