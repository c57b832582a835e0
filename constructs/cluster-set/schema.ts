/** Schemas of the props of Multicluster and ClusterSet. */
import {
  choice,
  described,
  falseOr,
  flag,
  list,
  map,
  object,
  serviceAccounts,
  text,
  texts,
  without,
} from '../common/schema.ts';
import { GATEWAY_PROPS, REMOTE_ACCESS_PROPS } from '../gateway/schema.ts';
import { API_SERVER, LINK_PROPS, SECRET_STORE } from '../link/schema.ts';
import { MONITORING_PROPS } from '../monitoring/schema.ts';
import { MIRROR_OPERATOR_PROPS } from '../operator/schema.ts';

const NAMESPACE = text('Namespace of the multicluster extension; default linkerd-multicluster');
const SCRAPERS = serviceAccounts(
  "ServiceAccounts, in each cluster, that may read the metrics of the gateway's proxy; default prometheus in linkerd-viz",
);
const POD_SECURITY = choice(
  "Pod Security Standard that the namespace of the extension enforces; restricted with Linkerd's CNI plugin; default privileged",
  'privileged',
  'restricted',
);
const LINKERD_NAMESPACE = text("Namespace of Linkerd's control plane; default linkerd");
const GATEWAY = without(GATEWAY_PROPS, 'namespace', 'linkerdNamespace', 'trustDomain');
const OPERATOR = without(MIRROR_OPERATOR_PROPS, 'namespace', 'linkerdNamespace');
const MONITORING = without(MONITORING_PROPS, 'operator');

export const MULTICLUSTER_PROPS = object('All parts of one cluster', {
  namespace: NAMESPACE,
  podSecurity: POD_SECURITY,
  linkerdNamespace: LINKERD_NAMESPACE,
  trustDomain: text('Identity trust domain of Linkerd in this cluster; default cluster.local'),
  gateway: falseOr('The gateway; false for no gateway; default a LoadBalancer with three replicas', GATEWAY),
  scrapers: SCRAPERS,
  sourceNetworks: texts('Networks in CIDR notation that clients of the gateway connect from; default all'),
  sources: list(
    'Source clusters that may read the exports of this cluster; default none',
    without(REMOTE_ACCESS_PROPS, 'namespace'),
  ),
  operator: OPERATOR,
  monitoring: MONITORING,
  links: list('Links to target clusters; default none', without(LINK_PROPS, 'namespace')),
  crd: flag('Whether to render the CRD of the Link; default true if there is an operator or a Link'),
});

const member = object(
  'A member of the set: one cluster',
  {
    name: text('Name of the cluster; Links to it have this name, and mirrors of its Services end in it'),
    clusterDomain: text('DNS domain of the cluster; default cluster.local'),
    trustDomain: text('Identity trust domain of Linkerd in the cluster; default the cluster domain'),
    gatewayAddresses: texts(
      'IP addresses or host names of the gateway; required of a target unless flat is true; default none',
    ),
    gateway: GATEWAY,
    apiServer: object(
      'API server of the cluster, as other clusters reach it; required of a target unless credentials are left out; default none',
      API_SERVER,
      'url',
      'caData',
    ),
    exportNamespaces: texts(
      'The only namespaces that other clusters may read and mirror from; excludes flat; default all',
    ),
    networks: texts('Networks in CIDR notation that the requests of the cluster to gateways come from; default any'),
  },
  'name',
);

const topology = object(
  'Topology of the Links between the members; default full mesh',
  {
    type: choice(
      'Links of each cluster with each other, of each hub with each other cluster, or of the listed pairs',
      'full-mesh',
      'hub-and-spokes',
      'pairs',
    ),
    hubs: texts('Names of the hubs, required for type hub-and-spokes; default none'),
    pairs: list(
      'Pairs, required for type pairs; Links in both directions take two pairs; default none',
      object(
        'A pair: a source that mirrors from a target',
        { source: text('Name of the cluster that mirrors'), target: text('Name of the cluster that exports') },
        'source',
        'target',
      ),
    ),
  },
  'type',
);

const LINK = without(
  LINK_PROPS,
  'targetCluster',
  'name',
  'namespace',
  'labels',
  'annotations',
  'targetClusterDomain',
  'targetTrustDomain',
  'targetLinkerdNamespace',
  'clusterCredentialsSecret',
  'targetNamespaces',
);

const link = object(
  'What the Link of one pair has otherwise than the set would give it',
  {
    source: text('Name of the cluster that mirrors'),
    target: text('Name of the cluster that exports'),
    ...LINK.properties,
  },
  'source',
  'target',
);

const credentials = object(
  'Credentials of targets, which are rendered without their tokens; default left out',
  {
    type: choice(
      'What to render: an ExternalSecret that adds the token, a Secret without a token, or nothing',
      'external-secret',
      'placeholder',
      'left-out',
    ),
    store: SECRET_STORE,
    keyPrefix: text(
      'Prefix of the keys <keyPrefix>/<source>/<target> of tokens in the store, for type external-secret; default linkspan',
    ),
  },
  'type',
);

export const CLUSTER_SET_PROPS = object(
  "Clusters that use each other's Services, and the Links between them",
  {
    members: list('The clusters; at least one, each with a unique name', member),
    topology,
    links: list(
      'What single Links have otherwise than the set would give them, such as selectors of their own; default none',
      link,
    ),
    operator: described(without(OPERATOR, 'targetClusters'), 'The operator of every cluster that has a target'),
    monitoring: MONITORING,
    credentials,
    scrapers: SCRAPERS,
    linkerdController: flag(
      "Whether Linkerd's own controller and linkerd multicluster check can use the accounts of source clusters too; default true",
    ),
    flat: flag('Whether pods can connect to pods of other clusters, as flat mode needs; default false'),
    federation: choice(
      'How the members of federated Services are reached: through gateways, or on a flat network; default flat if flat is true, else gateway',
      'gateway',
      'flat',
    ),
    serviceExports: flag('Whether clusters import what the ServiceExports of others export; default true'),
    mcs: object(
      'The MCS API in every cluster: its CRDs, and what the clusters are called; default none',
      {
        clusterSet: text('Id of the set; the id of each cluster is its name'),
        crds: flag('Whether to render the CRDs of the MCS API and of ClusterProperty; default true'),
      },
      'clusterSet',
    ),
    namespace: NAMESPACE,
    podSecurity: POD_SECURITY,
    linkerdNamespace: LINKERD_NAMESPACE,
    labels: map('Labels of every object of every cluster; default none'),
  },
  'members',
  'operator',
);
