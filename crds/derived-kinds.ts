/**
 * The kinds that the operator derives from, or writes, beside Services and what belongs to them: where each is in the
 * Kubernetes API, what the operator does with it, and why. What it watches and what a plan lists is of these; its roles, and
 * the page that explains them, are made of them.
 */
import type { OperatorSettingValues } from './operator-setting-names.ts';
import { AboutApi, Default, FailoverApi, McsApi, PolicyApi, RouteApi } from './wire.ts';

/** A kind, and the rights to it. */
export interface DerivedKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** Reason for the rights, in words. */
  readonly why: string;
  /** Reason for writing statuses. @default - none is written */
  readonly status?: string;
  /** Names of the only objects that are read. @default - all */
  readonly names?: readonly string[];
}

/** Kinds of which the same is derived. */
export interface DerivedKinds {
  /** Where: wherever mirrors may be, only if that is the whole cluster, or in the operator's namespace. */
  readonly where: 'mirrors' | 'cluster' | 'own';
  readonly isOn: (settings: Pick<OperatorSettingValues, 'failover' | 'serviceImports' | 'gatewayAccess'>) => boolean;
  readonly kinds: Readonly<Record<string, DerivedKind>>;
}

const READ = ['list', 'watch'] as const;
const READ_AND_WRITE = [...READ, 'get', 'create', 'patch', 'delete'] as const;

const kind = (apiVersion: string, plural: string, name: string, use: Pick<DerivedKind, 'verbs' | 'why'>) => {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  return { group, version, plural, kind: name, namespaced: true, ...use };
};

const routes = {
  verbs: READ_AND_WRITE,
  why: 'writes the routes of ServiceFailovers; reads those of others, which may be in their way; `get` tells its own from a foreign route of the same name',
};

/** Of ServiceFailovers and of the TrafficSplits of linkerd-failover. */
export const FAILOVER_KINDS = {
  failovers: {
    ...kind(FailoverApi.apiVersion, FailoverApi.plural, FailoverApi.kind, {
      verbs: ['get', ...READ],
      why: 'reads where requests are to go; `get` makes sure that one is gone before its routes go',
    }),
    status: 'reports the state of each ServiceFailover',
  },
  HTTPRoute: kind(RouteApi.HTTPRoute, 'httproutes', 'HTTPRoute', routes),
  GRPCRoute: kind(RouteApi.GRPCRoute, 'grpcroutes', 'GRPCRoute', routes),
  TCPRoute: kind(RouteApi.TCPRoute, 'tcproutes', 'TCPRoute', routes),
  /** Linkerd's own, which it takes beside those of the Gateway API. */
  policyRoutes: kind(PolicyApi.route, 'httproutes', 'HTTPRoute', {
    verbs: READ,
    why: "reads Linkerd's own HTTPRoutes, which may be in the way of those of ServiceFailovers",
  }),
  profiles: kind('linkerd.io/v1alpha2', 'serviceprofiles', 'ServiceProfile', {
    verbs: READ,
    why: 'reports a ServiceProfile for which routes are ignored',
  }),
  splits: kind(RouteApi.trafficSplit, 'trafficsplits', 'TrafficSplit', {
    verbs: [...READ, 'patch'],
    why: 'serves the TrafficSplits of users of linkerd-failover',
  }),
} as const;

const { serviceExport, serviceImport } = McsApi;

/** Of what clusters export by the MCS API. The Services are written as mirrors are. */
export const IMPORT_KINDS = {
  exports: {
    ...kind(McsApi.apiVersion, serviceExport.plural, serviceExport.kind, {
      verbs: READ,
      why: 'reads what this cluster exports: exports of the same Service in several clusters may conflict',
    }),
    status: 'reports whether each export of this cluster is valid, and what it conflicts with',
  },
  imports: {
    ...kind(McsApi.apiVersion, serviceImport.plural, serviceImport.kind, {
      verbs: READ_AND_WRITE,
      why: 'writes what clusters export; `get` tells its own from a foreign ServiceImport of the same name',
    }),
    status: 'reports which clusters a ServiceImport leads to',
  },
} as const;

/** What the cluster is called in its set, which only a ClusterRole can let anybody read. */
export const CLUSTER_ID_KINDS = {
  properties: {
    ...kind(AboutApi.apiVersion, AboutApi.clusterProperty.plural, AboutApi.clusterProperty.kind, {
      verbs: READ,
      why: 'reads what this cluster is called in its set; `local` without this right',
    }),
    namespaced: false,
    names: [AboutApi.clusterId],
  },
} as const;

/** What this cluster exports by the MCS API, for who may come through its gateway. */
export const EXPORTED_KINDS = {
  exports: kind(McsApi.apiVersion, serviceExport.plural, serviceExport.kind, {
    verbs: READ,
    why: 'reads what this cluster exports: only that is admitted through its gateway',
  }),
} as const;

const policy = {
  verbs: READ_AND_WRITE,
  why: 'writes who may come through the gateway; `get` tells its own from a foreign object of the same name',
};

/** The policy of the gateway. */
export const ACCESS_KINDS = {
  servers: {
    ...kind(PolicyApi.server, 'servers', 'Server', {
      verbs: READ,
      why: 'sees whether there is a gateway to write a policy for',
    }),
    names: [Default.gatewayName],
  },
  routes: kind(PolicyApi.route, 'httproutes', 'HTTPRoute', policy),
  authorizations: kind(PolicyApi.authorization, 'authorizationpolicies', 'AuthorizationPolicy', policy),
  authentications: kind(PolicyApi.authorization, 'meshtlsauthentications', 'MeshTLSAuthentication', policy),
  networks: kind(PolicyApi.authorization, 'networkauthentications', 'NetworkAuthentication', policy),
} as const;

/** All of them. */
export const DERIVED_KINDS: readonly DerivedKinds[] = [
  { where: 'mirrors', isOn: ({ failover }) => failover, kinds: FAILOVER_KINDS },
  { where: 'mirrors', isOn: ({ serviceImports }) => serviceImports, kinds: IMPORT_KINDS },
  { where: 'cluster', isOn: ({ serviceImports }) => serviceImports, kinds: CLUSTER_ID_KINDS },
  {
    where: 'cluster',
    isOn: ({ gatewayAccess, serviceImports }) => gatewayAccess !== undefined && !serviceImports,
    kinds: EXPORTED_KINDS,
  },
  { where: 'own', isOn: ({ gatewayAccess }) => gatewayAccess !== undefined, kinds: ACCESS_KINDS },
];
