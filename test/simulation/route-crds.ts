/** The kinds of routes that a source cluster may have. */
import { RouteApi } from '../../crds/wire.ts';

/** Linkerd's own HTTPRoutes. */
export const POLICY_ROUTE = 'policy.linkerd.io/v1beta3';

/** A kind of route, whatever is in it: nothing here judges what its API takes. */
const crd = (kind: string, plural: string, apiVersion: string): object => {
  const [group, version] = apiVersion.split('/');
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { kind, plural, singular: kind.toLowerCase() } },
      versions: [
        {
          ...{ name: version, served: true, storage: true, subresources: { status: {} } },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
};

/** CRDs of the Gateway API. */
export const routeCrds: readonly object[] = [
  crd('HTTPRoute', 'httproutes', RouteApi.HTTPRoute),
  crd('GRPCRoute', 'grpcroutes', RouteApi.GRPCRoute),
  crd('TCPRoute', 'tcproutes', RouteApi.TCPRoute),
];

export const policyRouteCrd: object = crd('HTTPRoute', 'httproutes', POLICY_ROUTE);
