/**
 * Stand-ins for the CRDs of Linkerd's policy, of SMI and of the Gateway API: the fields that our constructs write, as
 * those define them, and no others, so that strict validation refuses a field that is misspelt.
 */
import type { ObjectRef } from '../cluster/workload.ts';

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const texts: Schema = { type: 'array', items: text };
const port: Schema = { type: 'integer', minimum: 1, maximum: 65_535 };
const weight: Schema = { type: 'integer', minimum: 0, maximum: 1_000_000 };
const object = (properties: Schema, required: readonly string[] = Object.keys(properties)): Schema => ({
  type: 'object',
  required,
  properties,
});
const list = (items: Schema): Schema => ({ type: 'array', items });

const crd = (group: string, version: string, kind: string, plural: string, spec: Schema): ObjectRef => {
  const manifest = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      // Groups under k8s.io are asked who has approved of them.
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', required: ['spec'], properties: { spec } } },
        },
      ],
    },
  };
  return manifest;
};

const POLICY = 'policy.linkerd.io';
const authenticationRef = object({ group: text, kind: text, name: text, namespace: text }, ['kind', 'name']);

/** The CRDs, to be installed before what they define is applied. */
export const meshCrds: readonly ObjectRef[] = [
  crd(
    POLICY,
    'v1beta3',
    'Server',
    'servers',
    object({
      podSelector: object({ matchLabels: { type: 'object', additionalProperties: text } }),
      port: { 'x-kubernetes-int-or-string': true },
    }),
  ),
  crd(
    POLICY,
    'v1alpha1',
    'AuthorizationPolicy',
    'authorizationpolicies',
    object({
      targetRef: object({ group: text, kind: text, name: text }, ['kind', 'name']),
      requiredAuthenticationRefs: list(authenticationRef),
    }),
  ),
  crd(POLICY, 'v1alpha1', 'MeshTLSAuthentication', 'meshtlsauthentications', object({ identities: texts })),
  crd(
    POLICY,
    'v1alpha1',
    'NetworkAuthentication',
    'networkauthentications',
    object({ networks: list(object({ cidr: text, except: texts }, ['cidr'])) }),
  ),
  crd(
    'split.smi-spec.io',
    'v1alpha2',
    'TrafficSplit',
    'trafficsplits',
    object({ service: text, backends: list(object({ service: text, weight })) }),
  ),
  crd(
    'gateway.networking.k8s.io',
    'v1',
    'HTTPRoute',
    'httproutes',
    object({
      parentRefs: list(object({ group: text, kind: text, name: text, port }, ['name'])),
      rules: list(object({ backendRefs: list(object({ name: text, port, weight }, ['name'])) })),
    }),
  ),
];
