/**
 * Rights of the operator in its own cluster, each for a request that it makes (rule H6). Server-side apply writes
 * mirrors, which takes `patch`, and `create` for a new object. `get` reads an object that has the name of a mirror.
 */
import { DERIVED_KINDS, type DerivedKinds } from '../../crds/derived-kinds.ts';
import type { OperatorSettingValues } from '../../crds/operator-setting-names.ts';
import { LinkApi } from '../../crds/wire.ts';
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
    why: "sees for which clusters Linkerd's control plane has credentials: only those are members of federated Services, and reached by ServiceImports, on a flat network",
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

/** Rights to what is derived beside mirrors, in one sort of places. */
const derivedRules = (where: DerivedKinds['where'], settings: RightsSettings): readonly PolicyRule[] =>
  DERIVED_KINDS.filter((each) => each.where === where && each.isOn(settings)).flatMap(({ kinds }) => rulesOf(kinds));

/** Kinds of one group that have the same rights for the same reason have one rule. */
const rulesOf = (kinds: DerivedKinds['kinds']): readonly PolicyRule[] => {
  const rules: PolicyRule[] = [];
  for (const { group, plural, names: resourceNames, verbs, why, status } of Object.values(kinds)) {
    const last = rules.at(-1);
    if (last?.group === group && last.why === why) {
      rules[rules.length - 1] = { ...last, resources: [...last.resources, plural] };
    } else rules.push({ group, resources: [plural], ...(resourceNames && { resourceNames }), verbs, why });
    if (status !== undefined) rules.push({ group, resources: [`${plural}/status`], verbs: ['patch'], why: status });
  }
  return rules;
};

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
  /** Whether members of federated Services, or what is imported, are reached on a flat network. */
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
  const services = [...mirrors, ...federationRules(endpoints), ...derivedRules('mirrors', settings)];
  const own = [...ownRules(credentialsSecrets), ...derivedRules('own', settings)];
  const discovery = settings.flat
    ? [{ id: 'Discovery', namespace: settings.controlPlaneNamespace, rules: discoveryRules(credentialsSecrets) }]
    : [];
  if (mirrorNamespaces === undefined) {
    const unbounded = [
      ...derivedRules('cluster', settings),
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
