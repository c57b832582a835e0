import { ApiObject, App, Chart, Duration, JsonPatch } from 'cdk8s';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';

import { MirrorOperator } from '../../../constructs/operator/mirror-operator.ts';
import type { MirrorOperatorProps } from '../../../constructs/operator/props.ts';
import { type ApiJson, render } from '../../../constructs/rendered/render.ts';
import { flagOf } from '../../../crds/operator-setting-names.ts';
import { operatorSettings } from '../../../crds/operator-settings.ts';
import { parseOperatorConfig } from '../../../operator/config/config.ts';
import { addOperatorFlags, type FlagValues } from '../../../operator/config/flags.ts';
import { errorsOf } from '../errors-of.ts';
import * as plus from '../plus-defaults.ts';

const operator = (props: Partial<MirrorOperatorProps> = {}): readonly ApiJson[] =>
  render((chart) => {
    new MirrorOperator(chart, 'operator', { image: 'registry.example/linkspan:0.1.0', ...props });
  });

const the = (kind: string, objects: readonly ApiJson[]): ApiJson => objects.find((object) => object.kind === kind)!;

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
    };
  };
}

const deploymentOf = (objects: readonly ApiJson[]) => the('Deployment', objects) as unknown as Deployment;

/** What the operator makes of the arguments in the manifest. */
const configOf = (objects: readonly ApiJson[]) => {
  const [, ...args] = deploymentOf(objects).spec.template.spec.containers[0]!.args;
  const flags = addOperatorFlags(new Command()).parse(args, { from: 'user' }).opts<FlagValues>();
  const parsed = parseOperatorConfig(flags, { POD_NAME: 'linkspan-operator-0' });
  expect(parsed).toMatchObject({ ok: true });
  return parsed.ok ? parsed.value : undefined;
};

const PODS = { 'app.kubernetes.io/name': 'linkspan', 'app.kubernetes.io/component': 'operator' };
const LABELS = { ...PODS, 'linkerd.io/extension': 'multicluster' };
const METADATA = { name: 'linkspan-operator', namespace: 'linkerd-multicluster', labels: LABELS };
const SAFE_TO_EVICT = { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' };
const RBAC = 'rbac.authorization.k8s.io';
const READ = ['list', 'watch'];
const WRITE = ['get', 'create', 'patch', 'delete'];
const READ_RULES = [
  { apiGroups: [''], resources: ['services'], verbs: READ },
  { apiGroups: [''], resources: ['endpoints'], verbs: READ },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: READ },
];
const MIRROR_RULES = [
  { apiGroups: [''], resources: ['services'], verbs: WRITE },
  { apiGroups: [''], resources: ['endpoints'], verbs: WRITE },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['delete'] },
  { apiGroups: [''], resources: ['events'], verbs: ['get', 'create', 'patch'] },
];
const FEDERATION_RULES = [
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'create', 'patch'] },
];
const NAMESPACE_RULES = [{ apiGroups: [''], resources: ['namespaces'], verbs: READ }];
const OWN_RULES = [
  { apiGroups: ['multicluster.linkerd.io'], resources: ['links'], verbs: READ },
  { apiGroups: ['multicluster.linkerd.io'], resources: ['links/status'], verbs: ['patch'] },
  { apiGroups: [''], resources: ['secrets'], verbs: [...READ, 'patch'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['get', 'list', 'create', 'update', 'delete'],
  },
];

const FAILOVER_RULES = [
  { apiGroups: ['linkspan.dev'], resources: ['servicefailovers'], verbs: ['get', ...READ] },
  { apiGroups: ['linkspan.dev'], resources: ['servicefailovers/status'], verbs: ['patch'] },
  ...['httproutes', 'grpcroutes', 'tcproutes'].map((plural) => ({
    apiGroups: ['gateway.networking.k8s.io'],
    resources: [plural],
    verbs: [...READ, ...WRITE],
  })),
  { apiGroups: ['policy.linkerd.io'], resources: ['httproutes'], verbs: READ },
  { apiGroups: ['linkerd.io'], resources: ['serviceprofiles'], verbs: READ },
  { apiGroups: ['split.smi-spec.io'], resources: ['trafficsplits'], verbs: [...READ, 'patch'] },
];

const IMPORT_RULES = [
  { apiGroups: ['multicluster.x-k8s.io'], resources: ['serviceexports'], verbs: READ },
  { apiGroups: ['multicluster.x-k8s.io'], resources: ['serviceexports/status'], verbs: ['patch'] },
  { apiGroups: ['multicluster.x-k8s.io'], resources: ['serviceimports'], verbs: [...READ, ...WRITE] },
  { apiGroups: ['multicluster.x-k8s.io'], resources: ['serviceimports/status'], verbs: ['patch'] },
];
const CLUSTER_ID_RULES = [
  {
    apiGroups: ['about.k8s.io'],
    resources: ['clusterproperties'],
    resourceNames: ['cluster.clusterset.k8s.io'],
    verbs: READ,
  },
];

const granted = (kind: 'ClusterRole' | 'Role', rules: readonly object[], namespace?: string) => [
  {
    apiVersion: `${RBAC}/v1`,
    kind,
    metadata: { name: 'linkspan-operator', labels: LABELS, ...(namespace !== undefined && { namespace }) },
    rules,
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: `${kind}Binding`,
    metadata: { name: 'linkspan-operator', labels: LABELS, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup: RBAC, kind, name: 'linkspan-operator' },
    subjects: [{ kind: 'ServiceAccount', name: 'linkspan-operator', namespace: 'linkerd-multicluster' }],
  },
];

describe('an operator', () => {
  test('runs twice, restricted, probed and found by Prometheus, with the rights that it needs', () => {
    expect(operator()).toEqual([
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: METADATA, automountServiceAccountToken: false },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: METADATA,
        spec: {
          ...plus.DEPLOYMENT,
          replicas: 2,
          selector: { matchLabels: PODS },
          template: {
            metadata: { labels: LABELS, annotations: { 'linkerd.io/inject': 'enabled', ...SAFE_TO_EVICT } },
            spec: {
              ...plus.POD,
              serviceAccountName: 'linkspan-operator',
              automountServiceAccountToken: true,
              securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
              containers: [
                {
                  name: 'controller',
                  image: 'registry.example/linkspan:0.1.0',
                  args: [
                    'operator',
                    '--namespace=linkerd-multicluster',
                    '--control-plane-namespace=linkerd',
                    '--admin-address=0.0.0.0:9999',
                  ],
                  env: [
                    { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
                    { name: 'POD_IPS', valueFrom: { fieldRef: { fieldPath: 'status.podIPs' } } },
                    { name: 'NODE_OPTIONS', value: '--max-semi-space-size=1' },
                  ],
                  ports: [{ name: 'linkspan-admin', containerPort: 9999, protocol: 'TCP' }],
                  livenessProbe: {
                    ...plus.PROBE,
                    httpGet: { ...plus.HTTP_GET, path: '/healthz', port: 'linkspan-admin' },
                    initialDelaySeconds: 10,
                  },
                  readinessProbe: {
                    ...plus.PROBE,
                    httpGet: { ...plus.HTTP_GET, path: '/readyz', port: 'linkspan-admin' },
                  },
                  resources: { requests: { cpu: '20m', memory: '128Mi' } },
                  securityContext: {
                    ...plus.SECURITY_CONTEXT,
                    allowPrivilegeEscalation: false,
                    capabilities: { drop: ['ALL'] },
                    readOnlyRootFilesystem: true,
                    runAsNonRoot: true,
                    runAsUser: 65532,
                    runAsGroup: 65532,
                    seccompProfile: { type: 'RuntimeDefault' },
                  },
                },
              ],
              affinity: {
                podAntiAffinity: {
                  preferredDuringSchedulingIgnoredDuringExecution: [
                    {
                      weight: 100,
                      podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: PODS } },
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
        metadata: METADATA,
        spec: {
          type: 'ClusterIP',
          selector: PODS,
          ports: [{ name: 'linkspan-admin', protocol: 'TCP', port: 9999, targetPort: 9999 }],
        },
      },
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: METADATA,
        spec: { maxUnavailable: 1, selector: { matchLabels: PODS } },
      },
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: METADATA,
        spec: {
          podSelector: { matchLabels: PODS },
          policyTypes: ['Ingress'],
          ingress: [{ ports: [9999, 4143, 4191].map((port) => ({ protocol: 'TCP', port })) }],
        },
      },
      {
        apiVersion: 'policy.linkerd.io/v1beta3',
        kind: 'Server',
        metadata: METADATA,
        spec: {
          podSelector: { matchLabels: PODS },
          port: 'linkspan-admin',
          proxyProtocol: 'HTTP/1',
          accessPolicy: 'all-unauthenticated',
        },
      },
      ...granted('ClusterRole', [
        ...READ_RULES,
        ...MIRROR_RULES,
        ...FEDERATION_RULES,
        ...FAILOVER_RULES,
        ...IMPORT_RULES,
        ...CLUSTER_ID_RULES,
        ...NAMESPACE_RULES,
      ]),
      ...granted('Role', OWN_RULES, 'linkerd-multicluster'),
    ]);
  });

  test('is found by `linkerd multicluster gateways` and `check` once it is said which clusters it links to', () => {
    const deployment = the('Deployment', operator({ targetClusters: ['west', 'north'] }));
    const labels = { ...LABELS, component: 'controller', 'mirror.linkerd.io/cluster-name': 'west' };

    expect(deployment).toHaveProperty('metadata.labels', labels);
    expect(deployment).toHaveProperty('spec.template.metadata.labels', labels);
    expect(deployment).toHaveProperty('spec.selector.matchLabels', PODS);
  });

  test('in the mesh is scraped by whom it is told, and outside of it has no policy of the mesh', () => {
    const scrapers = [{ name: 'prometheus', namespace: 'linkerd-viz' }];
    const policies = (props: Partial<MirrorOperatorProps>) =>
      operator(props).filter(({ apiVersion }) => apiVersion.startsWith('policy.linkerd.io/'));

    expect(policies({ scrapers })).toMatchObject([
      { kind: 'Server', spec: { port: 'linkspan-admin' } },
      {
        kind: 'AuthorizationPolicy',
        metadata: METADATA,
        spec: {
          targetRef: { kind: 'Server', name: 'linkspan-operator' },
          requiredAuthenticationRefs: [{ kind: 'ServiceAccount', ...scrapers[0] }],
        },
      },
    ]);
    expect(policies({ scrapers })[0]!.spec).not.toHaveProperty('accessPolicy');
    expect(policies({ meshed: false })).toEqual([]);
  });

  test('H6: limited to namespaces, may read and write in these and its own, and has no right elsewhere', () => {
    const objects = operator({ mirrorNamespaces: ['shop', 'bank'] });

    expect(objects.filter(({ apiVersion }) => apiVersion.startsWith(RBAC))).toEqual([
      ...granted('Role', [...OWN_RULES, ...READ_RULES, ...MIRROR_RULES], 'linkerd-multicluster'),
      ...granted(
        'Role',
        [...READ_RULES, ...MIRROR_RULES, ...FEDERATION_RULES, ...FAILOVER_RULES, ...IMPORT_RULES],
        'shop',
      ),
      ...granted(
        'Role',
        [...READ_RULES, ...MIRROR_RULES, ...FEDERATION_RULES, ...FAILOVER_RULES, ...IMPORT_RULES],
        'bank',
      ),
    ]);
    expect(configOf(objects)).toMatchObject({ mirrorNamespaces: ['shop', 'bank'] });
  });

  test('H6: may read the Secrets that it is given the names of and no others, and watches each by its name', () => {
    const objects = operator({ credentialsSecrets: ['west', 'north'] });

    expect(the('Role', objects)).toHaveProperty(
      'rules',
      OWN_RULES.flatMap((rule) =>
        rule.resources[0] === 'secrets'
          ? ['west', 'north'].map((name) => ({ ...rule, resourceNames: [name] }))
          : [rule],
      ),
    );
    expect(configOf(objects)).toMatchObject({ credentialsSecrets: ['west', 'north'] });
    expect(the('Role', operator({ credentialsSecrets: 'any' }))).toHaveProperty('rules', OWN_RULES);
  });

  test("H6: may read Secrets of the control plane's namespace only on a flat network, and those that it is given alone", () => {
    const inControlPlane = (props: Partial<MirrorOperatorProps>) =>
      operator(props).filter(({ metadata }) => metadata.namespace === 'l5d');
    expect(inControlPlane({ linkerdNamespace: 'l5d' })).toEqual([]);
    expect(inControlPlane({ linkerdNamespace: 'l5d', flat: true })).toEqual(
      granted('Role', [{ apiGroups: [''], resources: ['secrets'], verbs: READ }], 'l5d'),
    );
    expect(inControlPlane({ linkerdNamespace: 'l5d', flat: true, credentialsSecrets: ['west'] })).toEqual(
      granted('Role', [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['west'], verbs: READ }], 'l5d'),
    );
  });

  test('says of every right what it is for', () => {
    const chart = new Chart(new App(), 'chart');
    const { grants } = new MirrorOperator(chart, 'operator', { image: 'linkspan', enableNamespaceCreation: true });
    expect(grants.flatMap(({ rules }) => rules).filter(({ why }) => why === undefined)).toEqual([]);
  });

  test('H6: has rights on slices if it writes slices, and on namespaces if it makes them', () => {
    const role = the('ClusterRole', operator({ endpoints: 'slices', enableNamespaceCreation: true }));

    expect(role).toHaveProperty('rules', [
      ...READ_RULES,
      { apiGroups: [''], resources: ['services'], verbs: WRITE },
      { apiGroups: [''], resources: ['endpoints'], verbs: ['get', 'delete'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: WRITE },
      { apiGroups: [''], resources: ['events'], verbs: ['get', 'create', 'patch'] },
      ...FAILOVER_RULES,
      ...IMPORT_RULES,
      ...CLUSTER_ID_RULES,
      ...NAMESPACE_RULES,
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'create', 'patch'] },
    ]);
  });

  test('H6: has no right to routes where it serves no ServiceFailovers', () => {
    const objects = operator({ failover: false });

    expect(the('ClusterRole', objects)).toHaveProperty('rules', [
      ...READ_RULES,
      ...MIRROR_RULES,
      ...FEDERATION_RULES,
      ...IMPORT_RULES,
      ...CLUSTER_ID_RULES,
      ...NAMESPACE_RULES,
    ]);
    expect(configOf(objects)).toMatchObject({ failover: false });
    expect(configOf(operator())).toMatchObject({ failover: true });
  });

  test('H6: has no right to objects of the MCS API where it imports nothing', () => {
    const objects = operator({ serviceImports: false });

    expect(the('ClusterRole', objects)).toHaveProperty('rules', [
      ...READ_RULES,
      ...MIRROR_RULES,
      ...FEDERATION_RULES,
      ...FAILOVER_RULES,
      ...NAMESPACE_RULES,
    ]);
    expect(configOf(objects)).toMatchObject({ serviceImports: false });
    expect(configOf(operator())).toMatchObject({ serviceImports: true });
  });

  test('is told by its props what its flags say', () => {
    const objects = operator({
      namespace: 'mesh',
      linkerdNamespace: 'l5d',
      enableHeadlessServices: true,
      enableNamespaceCreation: true,
      federatedSelector: '',
      endpoints: 'slices',
      probeVia: 'address',
      gatewayResolvePeriod: Duration.minutes(2),
      leaseDuration: '1m',
      renewDeadline: Duration.seconds(20),
      retryPeriod: Duration.millis(500),
      concurrency: 32,
      logLevel: 'debug',
      logFormat: 'pretty',
      adminPort: 8080,
      adminHost: '::',
    });

    expect(configOf(objects)).toMatchObject({
      namespace: 'mesh',
      controlPlaneNamespace: 'l5d',
      enableHeadlessServices: true,
      enableNamespaceCreation: true,
      federatedSelector: '',
      endpoints: 'slices',
      probeVia: 'address',
      gatewayResolvePeriodMs: 120_000,
      leaseDurationMs: 60_000,
      renewDeadlineMs: 20_000,
      retryPeriodMs: 500,
      concurrency: 32,
      logLevel: 'debug',
      logFormat: 'pretty',
      adminAddress: { host: '::', port: 8080 },
    });
  });

  test('has a prop for each flag but those for tests and for running outside of a cluster', () => {
    const without = ['--kubeconfig', '--context', '--identity', '--probe-connect-to', '--leader-elect'];
    const rendered = operator({
      enableHeadlessServices: true,
      enableNamespaceCreation: true,
      failover: false,
      serviceImports: false,
      gatewayAccess: 'exported',
      gatewayTcp: 'meshed',
      clusterDomain: 'west.example',
      trustDomain: 'west.example',
      endpointMirrorGrace: '60s',
      maxMirrors: 1,
      maxEndpointMirrors: 1,
      maxServicePods: 1,
      maxWrittenMib: 1,
      maxNamespaces: 1,
      federatedSelector: '',
      endpoints: 'slices',
      probeVia: 'address',
      gatewayResolvePeriod: '60s',
      leaseDuration: '30s',
      renewDeadline: '10s',
      retryPeriod: '2s',
      concurrency: 16,
      logLevel: 'info',
      logFormat: 'json',
    });
    const named = operator({ mirrorNamespaces: ['shop'], credentialsSecrets: ['west'] });
    const args = [rendered, named].flatMap((objects) => deploymentOf(objects).spec.template.spec.containers[0]!.args);
    const flags = new Set(args.slice(1).map((arg) => arg.split('=')[0]!));

    const missing = operatorSettings
      .map(([name]) => flagOf(name))
      .filter((flag) => !flags.has(flag) && !flags.has(flag.replace('--', '--no-')));
    expect(missing.sort()).toEqual(without.sort());
  });

  test('outside of the mesh probes gateways directly', () => {
    const objects = operator({ meshed: false });

    expect(deploymentOf(objects).spec.template.metadata).toHaveProperty('annotations', {
      'linkerd.io/inject': 'disabled',
      ...SAFE_TO_EVICT,
    });
    expect(configOf(objects)).toMatchObject({ probeVia: 'address' });
  });

  test('lets a rollout take a pod down first, where each pod must have a node of its own', () => {
    const { spec } = the('Deployment', operator({ antiAffinity: 'required' }));
    expect(spec).toMatchObject({ strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } } });
  });

  test('lets in whom it is told to', () => {
    const from = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }];

    expect(the('NetworkPolicy', operator({ networkPolicy: { from } })).spec).toMatchObject({ ingress: [{ from }] });
    expect(operator({ networkPolicy: false }).some(({ kind }) => kind === 'NetworkPolicy')).toBe(false);
  });

  test('takes environment variables, but for those that it sets by itself', () => {
    const { env } = deploymentOf(operator({ env: { HTTPS_PROXY: 'http://proxy:3128', NODE_OPTIONS: '' } })).spec
      .template.spec.containers[0] as unknown as { readonly env: readonly object[] };

    expect(env.slice(2)).toEqual([
      { name: 'NODE_OPTIONS', value: '' },
      { name: 'HTTPS_PROXY', value: 'http://proxy:3128' },
    ]);
    expect(errorsOf(() => operator({ env: { POD_NAME: 'x', '1A': '' }, podLabels: { component: 'x' } }))).toEqual([
      'env.POD_NAME: "x" must not be set: the construct sets it',
      'env.1A: "" must be a valid name of an environment variable',
      'podLabels.component: "x" must not be set: the construct sets it',
    ]);
  });

  test('takes patches', () => {
    const objects = render((chart) => {
      ApiObject.of(new MirrorOperator(chart, 'operator', { image: 'linkspan' }).deployment).addJsonPatch(
        JsonPatch.add('/spec/template/spec/priorityClassName', 'system-cluster-critical'),
      );
    });

    expect(the('Deployment', objects)).toHaveProperty(
      'spec.template.spec.priorityClassName',
      'system-cluster-critical',
    );
  });
});

describe('an invalid operator', () => {
  test('is refused with every reason at once', () => {
    expect(
      errorsOf(() =>
        operator({
          image: '',
          namespace: 'Mesh',
          linkerdNamespace: 'l.5',
          targetClusters: ['West'],
          adminPort: 0,
          mirrorNamespaces: ['kube-system', 'l.5', 'shop', 'shop'],
          enableNamespaceCreation: true,
          gatewayResolvePeriod: '1ms',
          leaseDuration: '1500ms',
          renewDeadline: '2s',
          retryPeriod: 'soon',
          concurrency: 0,
          federatedSelector: 'a in b',
          replicas: 1.5,
        }),
      ),
    ).toEqual([
      'replicas: 1.5 must be an integer',
      'image: "" must be a valid image reference',
      'namespace: "Mesh" must be a valid DNS label',
      'linkerdNamespace: "l.5" must be a valid DNS label',
      'targetClusters[0]: "West" must be a valid DNS label',
      'adminPort: 0 must be between 1 and 65535',
      'mirrorNamespaces[1]: "l.5" must be a valid DNS label',
      'mirrorNamespaces: ["kube-system","l.5","shop","shop"] must name each namespace once',
      'federatedSelector: "a in b" must be a valid label selector',
      'gatewayResolvePeriod: "1ms" must be between 1s and 1h',
      'leaseDuration: "1500ms" must be a whole number of seconds',
      'retryPeriod: "soon" must be a valid duration',
      'concurrency: 0 must be a whole number between 1 and 256',
      'enableNamespaceCreation: true must not be set together with mirrorNamespaces, which must exist',
      'mirrorNamespaces[0]: "kube-system" must not be a namespace of Kubernetes, the control plane or the operator',
      'mirrorNamespaces[1]: "l.5" must not be a namespace of Kubernetes, the control plane or the operator',
    ]);
    expect(errorsOf(() => operator({ mirrorNamespaces: ['shop'], grantNamespaceCreation: true }))).toEqual([
      'grantNamespaceCreation: true must not be set together with mirrorNamespaces, which must exist',
    ]);
    const access = (gatewayAccess: MirrorOperatorProps['gatewayAccess']) =>
      errorsOf(() => operator({ mirrorNamespaces: ['shop'], gatewayAccess }));
    expect(access('clients')).toEqual([
      'gatewayAccess: "clients" must not be clients together with mirrorNamespaces: exports of other namespaces would be refused',
    ]);
    expect(access('open')).toEqual([
      'gatewayAccess: "open" must not be open together with mirrorNamespaces: the operator must read the exports of all namespaces',
    ]);
    expect(errorsOf(() => operator({ mirrorNamespaces: [] }))).toEqual(['mirrorNamespaces: [] must not be empty']);
    expect(errorsOf(() => operator({ retryPeriod: '9s' }))).toEqual([
      'retryPeriod: "9s" times 1.2 must be less than renewDeadline, which is 10s',
    ]);
  });
});
