/** Schemas of the props of Link and of the credentials of its target. */
import { choice, flag, integer, labelSelector, map, object, secret, text, texts, time } from '../common/schema.ts';

export const LINK_PROPS = object(
  'A Link to a target cluster',
  {
    targetCluster: text('Name of the target cluster; mirrors are called <service>-<name>'),
    name: text('Name of the Link; default the name of the target cluster'),
    namespace: text('Namespace of the Link; default linkerd-multicluster'),
    labels: map('Labels of the Link; default none'),
    annotations: map('Annotations of the Link; default none'),
    targetClusterDomain: text('DNS domain of the target cluster; default cluster.local'),
    targetTrustDomain: text('Identity trust domain of Linkerd in the target; default its cluster domain'),
    targetLinkerdNamespace: text("Namespace of Linkerd's control plane in the target; default linkerd"),
    clusterCredentialsSecret: text(
      'Name of the Secret with the kubeconfig of the target, in the namespace of the Link; default cluster-credentials-<target cluster>',
    ),
    targetNamespaces: texts('The only namespaces of the target that are read; default all'),
    gatewayAddresses: texts(
      "IP addresses and host names of the target's gateway; default no gateway, for a flat network only",
    ),
    gatewayPort: integer('Port of the gateway; default 4143'),
    gatewayIdentity: text('TLS identity of the gateway; default that of linkerd-gateway in linkerd-multicluster'),
    probe: object("Probes of the gateway's health; default /ready on port 4191, every 3s", {
      path: text('Path of the health endpoint; default /ready'),
      port: integer('Port of the health endpoint; default 4191'),
      period: time('Time between probes; default 3s'),
      timeout: time('Time after which a probe without an answer fails; default 30s'),
      failureThreshold: integer('Number of consecutive failed probes after which the gateway is down; default 3'),
    }),
    selector: labelSelector(
      'Services to mirror through the gateway; {} selects none; default those labelled mirror.linkerd.io/exported: "true", if there is a gateway',
    ),
    remoteDiscoverySelector: labelSelector(
      'Services to mirror in flat mode; {} selects none; default those labelled mirror.linkerd.io/exported: remote-discovery',
    ),
    federatedServiceSelector: labelSelector(
      'Services that join the federated Service of their name; {} selects none; default those labelled mirror.linkerd.io/federated: member',
    ),
    federation: choice(
      'How the members of federated Services are reached: through the gateway of the target, or on a flat network; default flat',
      'gateway',
      'flat',
    ),
    serviceExports: flag('Whether to import what the ServiceExports of the target export; default true'),
    excludedLabels: texts('Labels that are not copied to mirrors, exact keys or prefix/*; default none'),
    excludedAnnotations: texts('Annotations that are not copied to mirrors, exact keys or prefix/*; default none'),
    enableHeadlessServices: flag('Whether to mirror headless Services pod by pod; default that of the operator'),
    enableNamespaceCreation: flag('Whether to create the namespaces that mirrors need; default that of the operator'),
  },
  'targetCluster',
);

/** Properties of the connection to an API server. */
export const API_SERVER = {
  url: text('URL of the API server; https'),
  caData: text('CA certificates of the API server as base64 of PEM, like certificate-authority-data of a kubeconfig'),
  tlsServerName: text('Name in the certificate of the API server; default the host of the URL'),
} as const;

const CREDENTIALS = {
  targetCluster: text('Name of the target cluster; mirrors are called <service>-<name>'),
  server: API_SERVER.url,
  caData: API_SERVER.caData,
  tlsServerName: API_SERVER.tlsServerName,
  targetClusterDomain: text('DNS domain of the target cluster; default cluster.local'),
  targetTrustDomain: text('Identity trust domain of Linkerd in the target; default its cluster domain'),
  namespace: text('Namespace of the Link; default linkerd-multicluster'),
  linkerdNamespace: text("Namespace of Linkerd's control plane in the source cluster; default linkerd"),
  copies: choice(
    "Secrets to render: that of the Link (link), or that of Linkerd's control plane too (both); default both",
    'link',
    'both',
  ),
} as const;

export const LINK_CREDENTIALS_PROPS = object(
  'The credentials of a target cluster',
  { ...CREDENTIALS, token: secret('Bearer token of a ServiceAccount of the target') },
  'targetCluster',
  'server',
  'caData',
  'token',
);

export const SECRET_STORE = object(
  'Store of the tokens, required for type external-secret; default none',
  {
    name: text('Name of the store'),
    kind: choice('Kind of the store; default ClusterSecretStore', 'ClusterSecretStore', 'SecretStore'),
  },
  'name',
);

export const CREDENTIALS_REFERENCE_PROPS = object(
  'The credentials of a target cluster, without the token',
  {
    ...CREDENTIALS,
    token: object(
      'Place of the token for external-secrets; default none: a Secret without a token is rendered',
      {
        store: SECRET_STORE,
        key: text('Key of the token in the store'),
        property: text('Property of the value that holds the token; default the whole value'),
      },
      'store',
      'key',
    ),
  },
  'targetCluster',
  'server',
  'caData',
);
