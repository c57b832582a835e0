import type { Defect } from '../defect.ts';

const GATEWAY = { file: 'constructs/gateway/gateway.ts', tests: ['test/constructs/gateway/gateway.test.ts'] };
const OPERATOR = {
  file: 'constructs/operator/mirror-operator.ts',
  tests: ['test/constructs/operator/mirror-operator.test.ts'],
};
const TREE = { file: 'constructs/tree/write-tree.ts', tests: ['test/constructs/tree/write-tree.test.ts'] };
const RIGHTS = { ...OPERATOR, file: 'constructs/operator/rights.ts', rule: 'H6' };
const FEDERATED = {
  file: 'constructs/rendered/federated/members.ts',
  tests: ['test/constructs/rendered/federated/federated-service.test.ts'],
};
const COMPOSITION = ['test/constructs/composition.test.ts'];

export const CONSTRUCTS: readonly Defect[] = [
  {
    ...RIGHTS,
    name: 'an operator that imports nothing may write ServiceImports',
    find: '...(settings.serviceImports ? importRules : []),',
    replace: '...importRules,',
  },
  {
    ...RIGHTS,
    name: 'an operator that imports nothing may read what the cluster is called',
    find: '...(settings.serviceImports ? clusterIdRules : []),',
    replace: '...clusterIdRules,',
  },
  {
    name: 'a source cluster may read all that a target says of itself',
    file: 'constructs/gateway/remote-access.ts',
    rule: 'H6',
    find: '    resourceNames: [AboutApi.clusterId],',
    replace: '',
    tests: ['test/constructs/gateway/remote-access.test.ts'],
  },
  {
    ...GATEWAY,
    name: "a gateway selects by more than Linkerd's chart does, and cannot be applied over it",
    find: 'pods: GATEWAY_PODS',
    replace: 'pods: GATEWAY_LABELS',
  },
  {
    ...GATEWAY,
    name: 'the cluster autoscaler keeps a node for the sake of a gateway',
    find: '[Annotation.safeToEvict]: Value.true,',
    replace: '',
  },
  {
    name: 'clusters without a flat network federate on one',
    file: 'constructs/cluster-set/cluster-set.ts',
    rule: 'I5',
    find: "federation = flat ? undefined : 'gateway',",
    replace: 'federation,',
    tests: ['test/constructs/cluster-set/cluster-set.test.ts'],
  },
  {
    ...TREE,
    name: 'files are written and deleted through symbolic links',
    find: 'if (isFile ? found.isFile() : found.isDirectory()) continue;',
    replace: 'continue;',
  },
  {
    ...TREE,
    name: 'files that Git checked out with CRLF are foreign',
    find: 'split(/\\r?\\n/)',
    replace: "split('\\n')",
  },
  {
    ...TREE,
    name: 'the line ends of files that others keep are told to Git',
    find: 'if (isAbsentOrOurs(folder)) wanted',
    replace: 'wanted',
  },
  {
    name: 'a source cluster in which a Link is ready hides one in which it is not',
    file: 'constructs/monitoring/dashboard-queries.ts',
    find: '`min by (${by})',
    replace: '`max by (${by})',
    tests: ['test/constructs/monitoring/dashboard.test.ts'],
  },
  {
    name: 'server-side apply joins the selectors of a Link',
    file: 'crds/link/schema.ts',
    rule: 'E5',
    find: "'x-kubernetes-map-type': 'atomic',",
    replace: '',
    tests: ['test/crds/link/server-side-apply.test.ts'],
  },
  {
    name: 'the namespace admits no pod that sets up its network',
    file: 'constructs/cluster-set/multicluster.ts',
    find: ', [Label.podSecurity]: podSecurity',
    replace: '',
    tests: ['test/constructs/cluster-set/multicluster.test.ts'],
  },
  {
    name: 'a rollout waits for a node that there is not',
    file: 'constructs/common/deployment.ts',
    find: "props.antiAffinity === 'required' &&",
    replace: 'false &&',
    tests: GATEWAY.tests,
  },
  {
    name: 'an autoscaler is refused for a number of pods that nobody gave',
    file: 'constructs/common/deployment.ts',
    find: '...(this.#fixedReplicas !== undefined && { replicas: this.#fixedReplicas })',
    replace: 'replicas: 3',
    tests: COMPOSITION,
  },
  {
    name: 'a NetworkPolicy looks for a label that the pods do not have',
    file: 'constructs/common/deployment.ts',
    find: 'override toPodSelectorConfig(',
    replace: 'otherPodSelectorConfig(',
    tests: COMPOSITION,
  },
  {
    name: "no Link can go back to Linkerd's controller",
    file: 'constructs/gateway/remote-access.ts',
    find: 'linkerdController ? controllerRules : []',
    replace: 'false ? controllerRules : []',
    tests: ['test/constructs/gateway/remote-access.test.ts'],
  },
  {
    ...OPERATOR,
    name: 'linkerd multicluster check does not find the Deployment of the operator',
    find: 'metadata: { ...metadata, labels: found },',
    replace: 'metadata,',
  },
  {
    ...OPERATOR,
    name: 'a default of deny keeps Prometheus from the operator',
    find: 'this.scrapePolicy = meshed ?',
    replace: 'this.scrapePolicy = !meshed ?',
  },
  {
    name: 'everybody reads which Services are exported and who uses them',
    file: 'constructs/common/scrape-policy.ts',
    find: "...(scrapers === 'anybody' &&",
    replace: '...(scrapers !== undefined &&',
    tests: ['test/constructs/gateway/gateway-policy.test.ts'],
  },
  {
    file: 'constructs/monitoring/alerts.ts',
    name: 'an alert has no runbook',
    find: 'runbook_url: runbookUrl(alert),',
    replace: '',
    tests: ['test/constructs/monitoring/alerts.test.ts'],
  },
  {
    ...FEDERATED,
    name: 'the order of members depends on the order in which they joined',
    rule: 'I2',
    find: '[...targetClusters] .sort()',
    replace: '[...targetClusters]',
  },
  {
    ...FEDERATED,
    name: 'a member gets a port of a federated Service that it has under another number',
    rule: 'I5',
    find: '`${name}/${port}/${protocol}`',
    replace: '`${name}/${protocol}`',
  },
  {
    ...FEDERATED,
    name: 'the slices of a federated Service have the names of those of a mirror',
    rule: 'I5',
    find: 'slicePrefix: `${name}.${targetCluster}`',
    replace: 'slicePrefix: `${name}-${targetCluster}`',
  },
  {
    ...FEDERATED,
    file: 'constructs/rendered/mirror/copied-slice.ts',
    name: 'a local endpoint does not lead Linkerd to its pod',
    rule: 'I5',
    find: 'conditions: conditions ?? {}, hostname, targetRef,',
    replace: 'conditions: conditions ?? {}, hostname,',
  },
  {
    ...FEDERATED,
    name: 'a federated Service that leads through gateways has an annotation that hides its slices',
    file: 'constructs/rendered/federated/federated-service.ts',
    rule: 'I5',
    find: '...(isFlat && membershipAnnotations(',
    replace: '...(true && membershipAnnotations(',
  },
  {
    name: 'a mirror takes over a mark of ours',
    rule: 'B2',
    file: 'constructs/rendered/mirror/copied-metadata.ts',
    find: '`${OWN_DOMAIN}/*`,',
    replace: '',
    tests: ['test/constructs/rendered/mirror/copied-metadata.test.ts'],
  },
];
