/**
 * What kube-apiserver fills in when it reads an object of a built-in kind. Defaulting changes the object in place and
 * happens before ownership is recorded, so that a creator owns the defaults of what it created.
 */
import type { KubeObject } from '../storage/object.ts';

type Mutable = Record<string, unknown>;
type Defaulting = (object: KubeObject) => void;

/** Sets the fields that are absent. */
const fill = (target: Mutable, defaults: Mutable): void => {
  for (const [field, value] of Object.entries(defaults)) target[field] ??= value;
};

const section = (parent: object, field: string): Mutable => ((parent as Mutable)[field] ??= {}) as Mutable;

const items = (parent: Mutable, field: string): readonly Mutable[] => (parent[field] ?? []) as Mutable[];

function service(object: KubeObject): void {
  const spec = section(object, 'spec');
  fill(spec, { sessionAffinity: 'None', type: 'ClusterIP' });
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  else fill(spec, { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } });
  if (spec.type !== 'ExternalName') fill(spec, { internalTrafficPolicy: 'Cluster' });
  if (spec.type === 'NodePort' || spec.type === 'LoadBalancer') fill(spec, { externalTrafficPolicy: 'Cluster' });
  if (spec.type === 'LoadBalancer') fill(spec, { allocateLoadBalancerNodePorts: true });
  omitEmpty(spec, ['ports', 'selector']);
  for (const port of items(spec, 'ports')) {
    fill(port, { protocol: 'TCP' });
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
  }
  fill(section(object, 'status'), { loadBalancer: {} });
}

function endpoints(object: KubeObject): void {
  for (const subset of items(object, 'subsets')) {
    omitEmpty(subset, ['addresses', 'notReadyAddresses', 'ports']);
    for (const port of items(subset, 'ports')) fill(port, { protocol: 'TCP' });
  }
}

function endpointSlice(object: KubeObject): void {
  for (const list of ['endpoints', 'ports']) if (items(object, list).length === 0) object[list] = null;
  for (const endpoint of items(object, 'endpoints')) fill(endpoint, { conditions: {} });
  for (const port of items(object, 'ports')) fill(port, { name: '', protocol: 'TCP' });
}

function podSpec(spec: Mutable): void {
  fill(spec, {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
  for (const container of [...items(spec, 'containers'), ...items(spec, 'initContainers')]) {
    const image = typeof container.image === 'string' ? container.image : '';
    fill(container, {
      imagePullPolicy: /:(?!latest$)[^/]+$/.test(image) ? 'IfNotPresent' : 'Always',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    });
    for (const port of items(container, 'ports')) fill(port, { protocol: 'TCP' });
  }
}

function pod(object: KubeObject): void {
  const spec = section(object, 'spec');
  podSpec(spec);
  fill(spec, { enableServiceLinks: true });
  fill(section(object, 'status'), { phase: 'Pending', qosClass: 'BestEffort' });
}

function statefulSet(object: KubeObject): void {
  const spec = section(object, 'spec');
  fill(spec, {
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    revisionHistoryLimit: 10,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  });
  podSpec(section(section(spec, 'template'), 'spec'));
  fill(section(object, 'status'), { replicas: 0, availableReplicas: 0 });
}

function secret(object: KubeObject): void {
  fill(object, { type: 'Opaque' });
  if (object.stringData === undefined) return;
  const data = section(object, 'data');
  for (const [key, text] of Object.entries(object.stringData as Record<string, string>)) {
    data[key] = Buffer.from(text).toString('base64');
  }
  delete object.stringData;
}

function namespace(object: KubeObject): void {
  object.metadata.labels = { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name };
  section(object, 'spec');
  fill(section(object, 'status'), { phase: 'Active' });
}

function definition(object: KubeObject): void {
  const spec = section(object, 'spec');
  const names = section(spec, 'names');
  const kind = String(names.kind);
  fill(names, { singular: kind.toLowerCase(), listKind: `${kind}List` });
  fill(spec, { conversion: { strategy: 'None' } });
}

const binding = (object: KubeObject): void => {
  fill(section(object, 'roleRef'), { apiGroup: 'rbac.authorization.k8s.io' });
  for (const subject of items(object, 'subjects')) {
    if (subject.kind !== 'ServiceAccount') fill(subject, { apiGroup: 'rbac.authorization.k8s.io' });
  }
};

const DEFAULTING: Readonly<Record<string, Defaulting>> = {
  Service: service,
  Endpoints: endpoints,
  EndpointSlice: endpointSlice,
  Pod: pod,
  StatefulSet: statefulSet,
  Secret: secret,
  Namespace: namespace,
  CustomResourceDefinition: definition,
  RoleBinding: binding,
  ClusterRoleBinding: binding,
  Lease: (object) => void section(object, 'spec'),
  Node: (object) => void section(object, 'spec'),
  Event: (object) => fill(object, { reportingComponent: '', reportingInstance: '' }),
};

/** Top-level maps and lists that are left out when there is nothing in them. */
const OMITTED_IF_EMPTY = ['binaryData', 'data', 'subjects', 'subsets'];

const omitEmpty = (target: Mutable, names: readonly string[]): void => {
  for (const name of names) {
    const value = target[name];
    if (value === null || (typeof value === 'object' && Object.keys(value).length === 0))
      Reflect.deleteProperty(target, name);
  }
};

/** The defaulting of a built-in kind. */
export const defaultsOf =
  (kind: string): Defaulting =>
  (object) => {
    DEFAULTING[kind]?.(object);
    omitEmpty(object, OMITTED_IF_EMPTY);
  };
