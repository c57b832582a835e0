/**
 * The CRDs of what our constructs write beside Links, for API servers that validate strictly. Those that are published
 * as Go modules are the real ones, read when they are asked for, which takes the Go toolchain. Linkerd's policy and SMI's
 * TrafficSplit are not to be had that way (SMI's only for API servers of before 1.22): stand-ins have the fields of theirs
 * that our constructs write, as they define them, and no others, so that a field that is misspelt is refused.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { ObjectRef } from '../cluster/workload/index.ts';
import { goModule } from './go-module.ts';

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const texts: Schema = { type: 'array', items: text };
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
    metadata: { name: `${plural}.${group}` },
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
const DNS_NAME = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const group: Schema = { ...text, maxLength: 253, pattern: `^$|^${DNS_NAME}(\\.${DNS_NAME})*$` };
const kind: Schema = { ...text, minLength: 1, maxLength: 63 };
const name: Schema = { ...text, minLength: 1, maxLength: 253 };

const standIns: readonly ObjectRef[] = [
  crd(
    POLICY,
    'v1beta3',
    'Server',
    'servers',
    object(
      {
        accessPolicy: { ...text, default: 'deny' },
        podSelector: object({ matchLabels: { type: 'object', additionalProperties: text } }),
        port: { 'x-kubernetes-int-or-string': true },
        proxyProtocol: { ...text, default: 'unknown' },
      },
      ['podSelector', 'port'],
    ),
  ),
  crd(
    POLICY,
    'v1alpha1',
    'AuthorizationPolicy',
    'authorizationpolicies',
    object({
      targetRef: object({ group, kind, name }, ['kind', 'name']),
      requiredAuthenticationRefs: list(object({ group, kind, name, namespace: text }, ['kind', 'name'])),
    }),
  ),
  crd(
    POLICY,
    'v1alpha1',
    'MeshTLSAuthentication',
    'meshtlsauthentications',
    object(
      {
        identities: list({ ...text, pattern: `^(\\*|${DNS_NAME})(\\.${DNS_NAME})*$` }),
        identityRefs: list(object({ group, kind, name, namespace: text }, ['kind'])),
      },
      [],
    ),
  ),
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
    object({ service: text, backends: list(object({ service: text, weight: { type: 'number' } })) }),
  ),
];

/** Where the real ones are: module, version, file. */
const published = [
  ['sigs.k8s.io/gateway-api', 'v1.6.3', 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  [
    'github.com/external-secrets/external-secrets',
    'v1.3.2',
    'config/crds/bases/external-secrets.io_externalsecrets.yaml',
  ],
  [
    'github.com/prometheus-operator/prometheus-operator',
    'v0.85.0',
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  ],
  [
    'github.com/prometheus-operator/prometheus-operator',
    'v0.85.0',
    'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
  ],
] as const;

/** The CRDs, to be installed before what they define is applied. */
export const meshCrds: Iterable<ObjectRef> = {
  *[Symbol.iterator]() {
    yield* standIns;
    for (const [module, version, file] of published) {
      yield load(readFileSync(join(goModule(module, version), file), 'utf8')) as ObjectRef;
    }
  },
};
