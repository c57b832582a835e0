/**
 * The kinds the simulated API server knows: what each is called, how it is versioned, and the few switches in which
 * kube-apiserver treats one kind differently from another. Custom resources join them through their definitions.
 */
import { defaultsOf } from './defaults.ts';
import type { KubeObject } from '../storage/object.ts';
import { shapeOfKind, type Shape } from '../apply/shape.ts';
import type { FieldError } from '../storage/status.ts';
import type { Column } from '../kubectl/table.ts';
import { validationOf } from './validation.ts';

/** One resource of the API. */
export interface Resource {
  readonly group: string;
  /** Served versions, the preferred one first. */
  readonly versions: readonly string[];
  readonly storageVersion: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly subresources: readonly ('status' | 'scale' | 'binding' | 'token')[];
  /** Whether PUT to a name that does not exist creates it. */
  readonly createOnUpdate: boolean;
  /** Whether PUT may leave out resourceVersion. */
  readonly unconditionalUpdate: boolean;
  /** Whether DELETE answers with the object instead of a Status. */
  readonly returnsDeleted: boolean;
  /** What changes of make a new generation; content is everything but metadata, and status where it is a subresource. */
  readonly generation: 'spec' | 'content' | 'content and labels' | 'none';
  /** Whether it is defined by a CustomResourceDefinition. */
  readonly custom: boolean;
  shapeOf(version: string): Shape;
  /** Fills in, in place, what decoding fills in; drops, in place, what the schema does not know. */
  normalize(object: KubeObject, version: string): void;
  validate(object: KubeObject, old: KubeObject | undefined): readonly FieldError[];
  /** What an apply may not contain, each with the reason: fields that a custom resource's schema does not declare. */
  undeclared?(object: KubeObject, version: string): readonly string[];
  /** Printer columns of a custom resource; built-in kinds have theirs in table.ts. */
  columnsOf?(version: string): readonly Column[];
}

/** `v1`, or `apps/v1`. */
export const groupVersion = (group: string, version: string): string =>
  group === '' ? version : `${group}/${version}`;

/** Where a resource is stored. */
export const idOf = ({ group, plural }: Pick<Resource, 'group' | 'plural'>): string => `${group}/${plural}`;

type Overrides = Partial<Resource> & Pick<Resource, 'kind' | 'plural'>;

function builtIn(group: string, version: string, overrides: Overrides): Resource {
  const { kind } = overrides;
  const shape = shapeOfKind(kind);
  return {
    group,
    versions: [version],
    storageVersion: version,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: true,
    subresources: [],
    createOnUpdate: false,
    unconditionalUpdate: true,
    returnsDeleted: false,
    generation: 'none',
    custom: false,
    shapeOf: () => shape,
    normalize: defaultsOf(kind),
    validate: validationOf(kind),
    ...overrides,
  };
}

const core = (overrides: Overrides): Resource => builtIn('', 'v1', overrides);
const rbac = (overrides: Overrides): Resource =>
  builtIn('rbac.authorization.k8s.io', 'v1', { createOnUpdate: true, ...overrides });

export const NAMESPACES = core({
  kind: 'Namespace',
  plural: 'namespaces',
  shortNames: ['ns'],
  namespaced: false,
  subresources: ['status'],
  returnsDeleted: true,
});

export const SERVICES = core({
  kind: 'Service',
  plural: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  subresources: ['status'],
  createOnUpdate: true,
  returnsDeleted: true,
});

export const ENDPOINTS = core({
  kind: 'Endpoints',
  plural: 'endpoints',
  singular: 'endpoints',
  shortNames: ['ep'],
  createOnUpdate: true,
});

export const PODS = core({
  kind: 'Pod',
  plural: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  subresources: ['status', 'binding'],
  returnsDeleted: true,
  generation: 'spec',
});

export const SECRETS = core({ kind: 'Secret', plural: 'secrets' });

export const CONFIG_MAPS = core({ kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'] });

export const SERVICE_ACCOUNTS = core({
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  subresources: ['token'],
  returnsDeleted: true,
});

export const ENDPOINT_SLICES = builtIn('discovery.k8s.io', 'v1', {
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  generation: 'content and labels',
});

export const STATEFUL_SETS = builtIn('apps', 'v1', {
  kind: 'StatefulSet',
  plural: 'statefulsets',
  shortNames: ['sts'],
  categories: ['all'],
  subresources: ['status', 'scale'],
  generation: 'spec',
});

export const DEFINITIONS = builtIn('apiextensions.k8s.io', 'v1', {
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  shortNames: ['crd', 'crds'],
  namespaced: false,
  subresources: ['status'],
  unconditionalUpdate: false,
  returnsDeleted: true,
  generation: 'spec',
});

export const ROLES = rbac({ kind: 'Role', plural: 'roles' });
export const CLUSTER_ROLES = rbac({ kind: 'ClusterRole', plural: 'clusterroles', namespaced: false });
export const ROLE_BINDINGS = rbac({ kind: 'RoleBinding', plural: 'rolebindings' });
export const CLUSTER_ROLE_BINDINGS = rbac({
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
});

/** Every built-in resource. */
export const BUILT_IN: readonly Resource[] = [
  NAMESPACES,
  SERVICES,
  ENDPOINTS,
  PODS,
  CONFIG_MAPS,
  SECRETS,
  core({ kind: 'Event', plural: 'events', shortNames: ['ev'], createOnUpdate: true }),
  core({ kind: 'Node', plural: 'nodes', shortNames: ['no'], namespaced: false, subresources: ['status'] }),
  SERVICE_ACCOUNTS,
  ENDPOINT_SLICES,
  builtIn('coordination.k8s.io', 'v1', {
    kind: 'Lease',
    plural: 'leases',
    createOnUpdate: true,
    unconditionalUpdate: false,
  }),
  STATEFUL_SETS,
  // What is not run here is only kept.
  builtIn('apps', 'v1', {
    kind: 'Deployment',
    plural: 'deployments',
    shortNames: ['deploy'],
    categories: ['all'],
    subresources: ['status', 'scale'],
    generation: 'spec',
  }),
  builtIn('policy', 'v1', {
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    shortNames: ['pdb'],
    subresources: ['status'],
    generation: 'spec',
  }),
  builtIn('networking.k8s.io', 'v1', {
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    singular: 'networkpolicy',
    shortNames: ['netpol'],
    generation: 'spec',
  }),
  DEFINITIONS,
  ROLES,
  CLUSTER_ROLES,
  ROLE_BINDINGS,
  CLUSTER_ROLE_BINDINGS,
];
