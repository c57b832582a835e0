/**
 * Which fields of an installation are settings, that stay as others have set them, and which are its own implementation,
 * that it takes over from Linkerd's chart. Whatever is neither is not changed where others have set it, unless
 * `--force-conflicts` says so. Pure.
 */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { Annotation, COMMAND_LINE } from '../../../crds/wire.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import { type FieldPath, managersOf, without } from '../common/change-set/fields.ts';
import { ALL_FIELDS } from '../common/change-set/want.ts';

const POD = ['spec', 'template', 'spec'] as const;
const CONTAINERS = [...POD, 'containers', '*'] as const;
const SPEC: readonly FieldPath[] = [['spec']];
const RULES: readonly FieldPath[] = [['rules'], ['roleRef'], ['subjects']];

/** What an administrator, an autoscaler or a chart's values choose. */
const SETTINGS: Readonly<Record<string, readonly FieldPath[]>> = {
  Namespace: [['metadata', 'labels', '*']],
  Service: [
    ['metadata', 'annotations', '*'],
    ['spec', 'type'],
    ['spec', 'ports', '*'],
    ...['externalTrafficPolicy', 'healthCheckNodePort', 'loadBalancerClass', 'loadBalancerIP'].map((name) => [
      'spec',
      name,
    ]),
    ['spec', 'loadBalancerSourceRanges'],
  ],
  Deployment: [
    ['spec', 'replicas'],
    ['spec', 'revisionHistoryLimit'],
    ['spec', 'strategy'],
    ['metadata', 'annotations', '*'],
    ['spec', 'template', 'metadata', 'annotations', '*'],
    ...['nodeSelector', 'tolerations', 'affinity', 'topologySpreadConstraints', 'terminationGracePeriodSeconds'].map(
      (name) => [...POD, name],
    ),
    [...POD, 'imagePullSecrets'],
    [...CONTAINERS, 'resources'],
    [...CONTAINERS, 'imagePullPolicy'],
  ],
  PodDisruptionBudget: SPEC,
  NetworkPolicy: SPEC,
  Server: SPEC,
  AuthorizationPolicy: SPEC,
  MeshTLSAuthentication: SPEC,
  NetworkAuthentication: SPEC,
  ServiceAccount: [['automountServiceAccountToken'], ['imagePullSecrets']],
};

/** Kinds of rights: those of others stay; what ours lack, the operator cannot do without. */
const RIGHTS: readonly string[] = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];

/** Fields that stay as others have set them. */
export const settingsIn = (kind: string, isOurs: boolean): readonly FieldPath[] =>
  RIGHTS.includes(kind) && !isOurs ? RULES : (SETTINGS[kind] ?? []);

/** How an installation works, whoever has installed it before. */
const IMPLEMENTATION: Readonly<Record<string, readonly FieldPath[]>> = {
  CustomResourceDefinition: ALL_FIELDS,
  // The record of `install` itself.
  ConfigMap: ALL_FIELDS,
  Service: [
    ['metadata', 'annotations', Annotation.gatewayIdentity],
    ['metadata', 'annotations', Annotation.multiclusterGateway],
  ],
  Deployment: [
    ['spec', 'template', 'metadata', 'labels'],
    [...POD, 'securityContext'],
    [...POD, 'automountServiceAccountToken'],
    [...CONTAINERS, 'securityContext'],
    [...POD, 'containers', 'pause', 'image'],
  ],
  NetworkAuthentication: [['metadata', 'annotations', Annotation.sourceNetworks]],
};

/** Fields that are changed whoever has set them. Labels of the namespace are its administrator's. */
export const implementationOf = (kind: string): readonly FieldPath[] => [
  ...(kind === 'Namespace' ? [] : [['metadata', 'labels']]),
  ...(IMPLEMENTATION[kind] ?? []),
];

/** Where the networks are that clients of the gateway connect from. */
export const NETWORKS: FieldPath = ['spec', 'networks'];

/** An object without what makes no sense beside what others have set: that a gateway is open, a budget's other limit. */
export const besideForeign = (object: ApiJson, live: KubeObject): ApiJson => {
  const isForeign = (...path: FieldPath): boolean => managersOf(live, path, COMMAND_LINE).length > 0;
  if (object.kind === 'PodDisruptionBudget' && isForeign('spec', 'minAvailable'))
    return without(object, ['spec', 'maxUnavailable']);
  return object.kind === 'NetworkAuthentication' && isForeign(...NETWORKS) && !isOpen(live)
    ? without(object, ['metadata', 'annotations', Annotation.sourceNetworks])
    : object;
};

/** Networks of a NetworkAuthentication. */
interface NetworkAuthentication extends KubeObject {
  readonly spec?: { readonly networks?: readonly { readonly cidr?: string; readonly except?: readonly string[] }[] };
}

/** Reports whether a NetworkAuthentication lets in every address of a family. */
export const isOpen = ({ spec }: NetworkAuthentication): boolean =>
  (spec?.networks ?? []).some(({ cidr = '', except = [] }) => cidr.endsWith('/0') && except.length === 0);
