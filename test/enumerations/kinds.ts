/** The kinds that the clusters of a scene have besides Kubernetes' own, and which objects the operator makes. */
import { failoverCrd, linkCrd, mcsCrds } from '../../crds/index.ts';
import { AboutApi, FailoverApi, LinkApi, McsApi, RouteApi } from '../../crds/wire.ts';

/** A kind of the Gateway API, whatever is in it: these scenes do not judge what that API takes. */
const route = (kind: string, plural: string, apiVersion: string): object => {
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

/** CRDs of the source, as an installation applies them. */
export const sourceCrds: readonly object[] = [
  linkCrd,
  failoverCrd,
  ...mcsCrds,
  route('HTTPRoute', 'httproutes', RouteApi.HTTPRoute),
  route('GRPCRoute', 'grpcroutes', RouteApi.GRPCRoute),
  route('TCPRoute', 'tcproutes', RouteApi.TCPRoute),
];

/** CRDs of a target that exports by the MCS API. */
export const targetCrds: readonly object[] = mcsCrds;

export const LINK = { apiVersion: LinkApi.apiVersion, kind: LinkApi.kind } as const;
export const SERVICE_FAILOVER = { apiVersion: FailoverApi.apiVersion, kind: FailoverApi.kind } as const;
export const SERVICE_EXPORT = { apiVersion: McsApi.apiVersion, kind: McsApi.serviceExport.kind } as const;
export const SERVICE_IMPORT = { apiVersion: McsApi.apiVersion, kind: McsApi.serviceImport.kind } as const;
export const CLUSTER_PROPERTY = { apiVersion: AboutApi.apiVersion, kind: AboutApi.clusterProperty.kind } as const;
