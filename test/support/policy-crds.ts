/** The CRDs of Linkerd's policy that the operator writes, with any fields, and statuses that are written by themselves. */
import type { ObjectRef } from '../cluster/workload/index.ts';

/** Linkerd's policy kinds, with any fields. */
export const policyCrds = (): readonly ObjectRef[] =>
  [
    ['httproutes', 'HTTPRoute', 'v1beta3'],
    ['servers', 'Server', 'v1beta3'],
    ['authorizationpolicies', 'AuthorizationPolicy', 'v1alpha1'],
    ['meshtlsauthentications', 'MeshTLSAuthentication', 'v1alpha1'],
    ['networkauthentications', 'NetworkAuthentication', 'v1alpha1'],
  ].map(
    ([plural = '', kind = '', version = '']) =>
      ({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `${plural}.policy.linkerd.io` },
        spec: {
          group: 'policy.linkerd.io',
          scope: 'Namespaced',
          names: { kind, plural },
          versions: [
            {
              ...{ name: version, served: true, storage: true, subresources: { status: {} } },
              schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
            },
          ],
        },
      }) as ObjectRef,
  );
