/**
 * Rights of the operator in its own cluster, each for a request that it makes (rule H6). Server-side apply writes
 * mirrors, which takes `patch`, and `create` for a new object. `get` reads an object that has the name of a mirror.
 */
import type { OperatorSettingValues } from '../../crds/operator-setting-names.ts';
import { AboutApi, Default, FailoverApi, LinkApi, McsApi, PolicyApi, RouteApi } from '../../crds/wire.ts';
import type { PolicyRule } from '../common/grant.ts';
import type { EndpointsKind } from '../rendered/index.ts';

const READ = ['list', 'watch'] as const;
const WRITE = ['get', 'create', 'patch', 'delete'] as const;
const SLICES = { group: 'discovery.k8s.io', resources: ['endpointslices'] } as const;

const EVENTS: PolicyRule = {
  group: '',
  resources: ['events'],
  verbs: ['get', 'create', 'patch'],
  why: 'reports on Links, on ServiceFailovers, on ServiceExports and ServiceImports, and on Services that are to join federated Services; counts a repeated report in the existing Event',
};

/** Rights to read the mirrors of all Links by label, wherever mirrors may be. */
const readRules: readonly PolicyRule[] = [
  {
    group: '',
    resources: ['services', 'endpoints'],
    verbs: READ,
    why: 'watches its mirrors and their endpoints by label, and reverts changes of others',
  },
  {
    ...SLICES,
    verbs: READ,
    why: 'watches the slices that it has written, and those that Kubernetes makes of its Services, by label',
  },
];

/** Rights to read Namespaces, which only a ClusterRole can grant. An operator that is limited to namespaces knows their names. */
const watchNamespacesRules: readonly PolicyRule[] = [
  {
    group: '',
    resources: ['namespaces'],
    verbs: READ,
    why: 'watches which namespaces exist, and mirrors into a new one as soon as it is created',
  },
];

/**
 * Rights to write Services, their endpoints and Events, and to remove endpoints of the other kind, wherever mirrors may be. They
 * always include `get` on Endpoints: the API server would delete foreign Endpoints that have the name of a new Service.
 */
const mirrorRules = (endpoints: EndpointsKind): readonly PolicyRule[] => [
  {
    group: '',
    resources: ['services'],
    verbs: WRITE,
    why: 'creates, changes and deletes mirrors and the probe Service; `get` tells a mirror from a foreign Service of the same name',
  },
  endpoints === 'endpoints'
    ? {
        group: '',
        resources: ['endpoints'],
        verbs: WRITE,
        why: 'writes the endpoints of mirrors; `get` finds foreign ones, which are left alone',
      }
    : {
        group: '',
        resources: ['endpoints'],
        verbs: ['get', 'delete'],
        why: 'finds foreign ones, which are left alone; deletes those that it wrote before it wrote slices, and those that Kubernetes makes of its Services',
      },
  endpoints === 'slices'
    ? {
        ...SLICES,
        verbs: WRITE,
        why: 'writes the endpoints of mirrors and of federated Services that lead through gateways; `get` finds foreign ones, which are left alone; deletes those that others give its Services',
      }
    : {
        ...SLICES,
        verbs: ['delete'],
        why: 'deletes those that it wrote before it wrote Endpoints, or for federated Services, and those that others give its Services',
      },
  EVENTS,
];

/** Rights beyond these to write federated Services, which have slices, wherever they may be. */
const federationRules = (endpoints: EndpointsKind): readonly PolicyRule[] =>
  endpoints === 'slices'
    ? []
    : [
        {
          ...SLICES,
          verbs: ['get', 'create', 'patch'],
          why: 'writes the endpoints of federated Services that lead through gateways; `get` finds foreign ones, which are left alone',
        },
      ];

/** The right to see which clusters Linkerd's control plane has credentials for, in its namespace. */
const discoveryRules = (secrets: readonly string[] | undefined): readonly PolicyRule[] => [
  {
    group: '',
    resources: ['secrets'],
    resourceNames: secrets,
    verbs: READ,
    why: "sees for which clusters Linkerd's control plane has credentials: only those are members of federated Services on a flat network",
  },
];

/** Rights to create namespaces for mirrors. */
const namespaceRules: readonly PolicyRule[] = [
  {
    group: '',
    resources: ['namespaces'],
    verbs: ['get', 'create', 'patch'],
    why: 'creates namespaces that mirrors need; `get` finds one that is being deleted',
  },
];

/** Rights to serve ServiceFailovers, wherever they may be. */
const failoverRules: readonly PolicyRule[] = [
  {
    group: FailoverApi.group,
    resources: [FailoverApi.plural],
    verbs: ['get', ...READ],
    why: 'reads where requests are to go; `get` makes sure that one is gone before its routes go',
  },
  {
    group: FailoverApi.group,
    resources: [`${FailoverApi.plural}/status`],
    verbs: ['patch'],
    why: 'reports the state of each ServiceFailover',
  },
  {
    group: RouteApi.group,
    resources: ['httproutes', 'grpcroutes', 'tcproutes'],
    verbs: [...READ, ...WRITE],
    why: 'writes the routes of ServiceFailovers; reads those of others, which may be in their way; `get` tells its own from a foreign route of the same name',
  },
  {
    group: 'policy.linkerd.io',
    resources: ['httproutes'],
    verbs: READ,
    why: "reads Linkerd's own HTTPRoutes, which may be in the way of those of ServiceFailovers",
  },
  {
    group: 'linkerd.io',
    resources: ['serviceprofiles'],
    verbs: READ,
    why: 'reports a ServiceProfile for which routes are ignored',
  },
  {
    group: 'split.smi-spec.io',
    resources: ['trafficsplits'],
    verbs: [...READ, 'patch'],
    why: 'serves the TrafficSplits of users of linkerd-failover',
  },
];

/** Rights to import what clusters export by the MCS API, wherever mirrors may be. The Services are written as mirrors are. */
const importRules: readonly PolicyRule[] = [
  {
    group: McsApi.group,
    resources: [McsApi.serviceExport.plural],
    verbs: READ,
    why: 'reads what this cluster exports: exports of the same Service in several clusters may conflict',
  },
  {
    group: McsApi.group,
    resources: [`${McsApi.serviceExport.plural}/status`],
    verbs: ['patch'],
    why: 'reports whether each export of this cluster is valid, and what it conflicts with',
  },
  {
    group: McsApi.group,
    resources: [McsApi.serviceImport.plural],
    verbs: [...READ, ...WRITE],
    why: 'writes what clusters export; `get` tells its own from a foreign ServiceImport of the same name',
  },
  {
    group: McsApi.group,
    resources: [`${McsApi.serviceImport.plural}/status`],
    verbs: ['patch'],
    why: 'reports which clusters a ServiceImport leads to',
  },
];

/** The right to read what the cluster is called in its set, which only a ClusterRole can grant. */
const clusterIdRules: readonly PolicyRule[] = [
  {
    group: AboutApi.group,
    resources: [AboutApi.clusterProperty.plural],
    resourceNames: [AboutApi.clusterId],
    verbs: READ,
    why: 'reads what this cluster is called in its set; `local` without this right',
  },
];

/** Rights to read what this cluster exports by the MCS API, for who may come through its gateway. */
const exportedRules: readonly PolicyRule[] = [
  {
    group: McsApi.group,
    resources: [McsApi.serviceExport.plural],
    verbs: READ,
    why: 'reads what this cluster exports: only that is admitted through its gateway',
  },
];

/** Rights to keep the policy of the gateway, in the operator's namespace. */
const accessRules: readonly PolicyRule[] = [
  {
    group: PolicyApi.group,
    resources: ['servers'],
    resourceNames: [Default.gatewayName],
    verbs: READ,
    why: 'sees whether there is a gateway to write a policy for',
  },
  {
    group: PolicyApi.group,
    resources: ['httproutes', 'authorizationpolicies', 'meshtlsauthentications', 'networkauthentications'],
    verbs: [...READ, ...WRITE],
    why: 'writes who may come through the gateway; `get` tells its own from a foreign object of the same name',
  },
];

/**
 * Rights in the operator's namespace: to Links and their status, credentials and Leases.
 * @param secrets names of the Secrets with the credentials of Links; undefined for all in the namespace
 */
const ownRules = (secrets: readonly string[] | undefined): readonly PolicyRule[] => [
  { group: LinkApi.group, resources: [LinkApi.plural], verbs: READ, why: 'reads what to mirror' },
  {
    group: LinkApi.group,
    resources: [`${LinkApi.plural}/status`],
    verbs: ['patch'],
    why: 'reports the state of each Link',
  },
  {
    group: '',
    resources: ['secrets'],
    resourceNames: secrets,
    verbs: [...READ, 'patch'],
    why: 'reads the credentials of targets, follows their rotation, and writes the tokens that it has renewed',
  },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'list', 'create', 'update', 'delete'],
    why: 'elects one writer for all Links, and for each Link; `list` finds what Links left that were deleted while no operator ran',
  },
];

/** What the rights of an operator depend on: its settings, and the network. */
export interface RightsSettings extends Pick<
  OperatorSettingValues,
  | 'namespace'
  | 'controlPlaneNamespace'
  | 'mirrorNamespaces'
  | 'credentialsSecrets'
  | 'endpoints'
  | 'enableNamespaceCreation'
  | 'failover'
  | 'serviceImports'
  | 'gatewayAccess'
> {
  /** Whether members of federated Services are reached on a flat network. */
  readonly flat: boolean;
}

/** Rights in one place. */
export interface PlacedRules {
  /** Tells the place from the others. */
  readonly id: string;
  /** The only namespace in which they hold; undefined for the whole cluster. */
  readonly namespace: string | undefined;
  readonly rules: readonly PolicyRule[];
}

/** All rights that an operator needs with these settings, each place once. */
export const operatorRules = (settings: RightsSettings): readonly PlacedRules[] => {
  const { namespace, mirrorNamespaces, credentialsSecrets, endpoints, enableNamespaceCreation } = settings;
  const mirrors = [...readRules, ...mirrorRules(endpoints)];
  const services = [
    ...mirrors,
    ...federationRules(endpoints),
    ...(settings.failover ? failoverRules : []),
    ...(settings.serviceImports ? importRules : []),
  ];
  const access = settings.gatewayAccess !== undefined;
  const own = [...ownRules(credentialsSecrets), ...(access ? accessRules : [])];
  const discovery = settings.flat
    ? [{ id: 'Discovery', namespace: settings.controlPlaneNamespace, rules: discoveryRules(credentialsSecrets) }]
    : [];
  if (mirrorNamespaces === undefined) {
    const unbounded = [
      ...(settings.serviceImports ? clusterIdRules : []),
      ...(access && !settings.serviceImports ? exportedRules : []),
      ...watchNamespacesRules,
      ...(enableNamespaceCreation ? namespaceRules : []),
    ];
    return [
      { id: 'Cluster', namespace: undefined, rules: [...services, ...unbounded] },
      { id: 'Own', namespace, rules: own },
      ...discovery,
    ];
  }
  return [
    // Probe Services are in the operator's namespace.
    { id: 'Own', namespace, rules: [...own, ...mirrors] },
    ...mirrorNamespaces.map((each) => ({ id: `Mirrors-${each}`, namespace: each, rules: services })),
    ...discovery,
  ];
};
