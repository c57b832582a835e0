/**
 * The Link CRD that Linkerd's own chart installs, as far as it matters: the fields of its three versions and no other,
 * so that the API server prunes whatever Linkspan adds to spec and status.
 */
import type { ObjectRef } from '../cluster/workload/index.ts';

const STRING = { type: 'string' };
const STRINGS = { type: 'array', items: STRING };

const object = (properties: object) => ({ type: 'object', properties });

const SELECTOR = object({
  matchLabels: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  matchExpressions: { type: 'array', items: object({ key: STRING, operator: STRING, values: STRINGS }) },
});

const REFERENCE = object({ name: STRING, namespace: STRING, kind: STRING, group: STRING });

const SERVICES = {
  type: 'array',
  items: object({
    controllerName: STRING,
    remoteRef: REFERENCE,
    conditions: {
      type: 'array',
      items: object({
        type: STRING,
        status: STRING,
        reason: STRING,
        message: STRING,
        lastTransitionTime: STRING,
        localRef: REFERENCE,
      }),
    },
  }),
};

const SPEC = object({
  targetClusterName: STRING,
  targetClusterDomain: STRING,
  targetClusterLinkerdNamespace: STRING,
  clusterCredentialsSecret: STRING,
  gatewayAddress: STRING,
  gatewayPort: STRING,
  gatewayIdentity: STRING,
  probeSpec: object({ path: STRING, port: STRING, period: STRING, timeout: STRING, failureThreshold: STRING }),
  selector: SELECTOR,
  remoteDiscoverySelector: SELECTOR,
  federatedServiceSelector: SELECTOR,
  excludedAnnotations: STRINGS,
  excludedLabels: STRINGS,
});

const version = (name: string) => ({
  name,
  served: true,
  storage: name === 'v1alpha3',
  subresources: { status: {} },
  schema: {
    openAPIV3Schema: object({
      apiVersion: STRING,
      kind: STRING,
      metadata: { type: 'object' },
      spec: SPEC,
      status: object({ mirrorServices: SERVICES, federatedServices: SERVICES }),
    }),
  },
});

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'links.multicluster.linkerd.io' },
  spec: {
    group: 'multicluster.linkerd.io',
    names: { plural: 'links', singular: 'link', kind: 'Link', listKind: 'LinkList' },
    scope: 'Namespaced',
    versions: ['v1alpha1', 'v1alpha2', 'v1alpha3'].map(version),
  },
};

/** To be installed in place of ours. */
export const linkerdLinkCrd: ObjectRef = definition;
