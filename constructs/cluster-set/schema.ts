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
  "ServiceAccounts that may read the metrics of the gateway's proxy; default prometheus in linkerd-viz",
);
const POD_SECURITY = choice(
  "Pod Security Standard of that namespace; restricted with Linkerd's CNI plugin, default privileged",
  'privileged',
  'restricted',
);
const LINKERD_NAMESPACE = text("Namespace of Linkerd's control plane; default linkerd");
const GATEWAY = without(GATEWAY_PROPS, 'namespace', 'linkerdNamespace', 'trustDomain');
const OPERATOR = without(MIRROR_OPERATOR_PROPS, 'namespace', 'linkerdNamespace');
const MONITORING = without(MONITORING_PROPS, 'operator');

export const MULTICLUSTER_PROPS = object("A cluster's whole side", {
  namespace: NAMESPACE,
  podSecurity: POD_SECURITY,
  linkerdNamespace: LINKERD_NAMESPACE,
  trustDomain: text('Identity trust domain; default cluster.local'),
  gateway: falseOr('The gateway; false for none', GATEWAY),
  scrapers: SCRAPERS,
  sourceNetworks: texts("Networks in CIDR notation that the gateway's clients come from; default all"),
  sources: list('The clusters that may read what is exported here', without(REMOTE_ACCESS_PROPS, 'namespace')),
  operator: OPERATOR,
  monitoring: MONITORING,
  links: list('The Links to target clusters', without(LINK_PROPS, 'namespace')),
  crd: flag("Whether the Link's CRD is rendered; default if there is an operator or a Link"),
});

const member = object(
  'One cluster',
  {
    name: text('Name of the cluster, and the end of the names of its mirrors'),
    clusterDomain: text('DNS domain of the cluster; default cluster.local'),
    trustDomain: text('Identity trust domain of its Linkerd; default the cluster domain'),
    gatewayAddresses: texts('IP addresses of its gateway, or host names that it is going to have'),
    gateway: GATEWAY,
    apiServer: object(
      'Its API server, as other clusters reach it; required unless credentials are left out',
      API_SERVER,
      'url',
      'caData',
    ),
    exportNamespaces: texts('The only namespaces that other clusters may read; default all; not for a flat network'),
    networks: texts('Networks in CIDR notation that its requests to gateways come from; default any'),
  },
  'name',
);

const topology = object(
  'How they are linked; default full mesh',
  {
    type: choice('Each with each, each hub with each other, or as listed', 'full-mesh', 'hub-and-spokes', 'pairs'),
    hubs: texts('Names of the hubs, for hub-and-spokes'),
    pairs: list(
      'For pairs; both ways between two clusters are two pairs',
      object(
        'One direction between two clusters',
        { source: text('The cluster that mirrors'), target: text('The cluster that exports') },
        'source',
        'target',
      ),
    ),
  },
  'type',
);

const credentials = object(
  'What stands for the credentials of targets, whose tokens are never written; default left out',
  {
    type: choice(
      'An ExternalSecret of external-secrets, a Secret without a token, or nothing',
      'external-secret',
      'placeholder',
      'left-out',
    ),
    store: SECRET_STORE,
    keyPrefix: text('Tokens are under <keyPrefix>/<source>/<target>; default linkspan'),
  },
  'type',
);

export const CLUSTER_SET_PROPS = object(
  "Clusters that use each other's Services: who they are, and how they are linked",
  {
    members: list('The clusters; each name once', member),
    topology,
    operator: described(without(OPERATOR, 'targetClusters'), 'The operator, in every cluster that has a target'),
    monitoring: MONITORING,
    credentials,
    scrapers: SCRAPERS,
    linkerdController: flag(
      "Whether Linkerd's own controller and linkerd multicluster check can use the accounts too; default true",
    ),
    flat: flag('Whether pods reach those of other clusters, for flat and federated mode; default false'),
    namespace: NAMESPACE,
    podSecurity: POD_SECURITY,
    linkerdNamespace: LINKERD_NAMESPACE,
    labels: map('Labels of every object; default none'),
  },
  'members',
  'operator',
);
