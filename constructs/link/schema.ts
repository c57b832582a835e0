/** Schemas of the props of Link and of the credentials of its target. */
import { choice, flag, integer, labelSelector, map, object, secret, text, texts, time } from '../common/schema.ts';

export const LINK_PROPS = object(
  'A Link to a target cluster',
  {
    targetCluster: text('Name of the target cluster'),
    name: text('Name of the Link; default that of the target cluster'),
    namespace: text('Namespace of the Link; default linkerd-multicluster'),
    labels: map('Labels of the Link'),
    annotations: map('Annotations of the Link'),
    targetClusterDomain: text('DNS domain of the target cluster; default cluster.local'),
    targetTrustDomain: text("Identity trust domain of the target's Linkerd; default its cluster domain"),
    targetLinkerdNamespace: text("Namespace of the target's Linkerd; default linkerd"),
    clusterCredentialsSecret: text('Name of the Secret with the kubeconfig of the target'),
    targetNamespaces: texts('The only namespaces of the target that are read; default all'),
    gatewayAddresses: texts("IP addresses and host names of the target's gateway"),
    gatewayPort: integer('Port of the gateway; default 4143'),
    gatewayIdentity: text('TLS identity of the gateway'),
    probe: object('How the gateway is probed', {
      path: text('Default /ready'),
      port: integer('Default 4191'),
      period: time('Time between probes; default 3s'),
      timeout: time('Time after which a probe has failed; default 30s'),
      failureThreshold: integer('Consecutive failures that make the gateway not alive; default 3'),
    }),
    selector: labelSelector('Services to mirror through the gateway'),
    remoteDiscoverySelector: labelSelector('Services to mirror in flat mode'),
    federatedServiceSelector: labelSelector('Services that join a federated Service'),
    excludedLabels: texts('Labels not to copy to mirrors'),
    excludedAnnotations: texts('Annotations not to copy to mirrors'),
    enableHeadlessServices: flag('Whether headless Services are mirrored pod by pod'),
    enableNamespaceCreation: flag('Whether namespaces that mirrors need are created'),
  },
  'targetCluster',
);

/** How an API server is reached. */
export const API_SERVER = {
  url: text('URL; https'),
  caData: text('CA certificates: PEM, in base64, as certificate-authority-data of a kubeconfig'),
  tlsServerName: text("Name in the server's certificate, where it is not the host of the URL"),
} as const;

const CREDENTIALS = {
  targetCluster: text('Name of the target cluster'),
  server: API_SERVER.url,
  caData: API_SERVER.caData,
  tlsServerName: API_SERVER.tlsServerName,
  targetClusterDomain: text('DNS domain of the target cluster; default cluster.local'),
  targetTrustDomain: text("Identity trust domain of the target's Linkerd; default its cluster domain"),
  namespace: text('Namespace of the Link; default linkerd-multicluster'),
  linkerdNamespace: text("Namespace of Linkerd's control plane in the source cluster; default linkerd"),
  copies: choice("The Link's Secret alone, or the control plane's too; default both", 'link', 'both'),
} as const;

export const LINK_CREDENTIALS_PROPS = object(
  'The credentials of a target cluster',
  { ...CREDENTIALS, token: secret('Bearer token') },
  'targetCluster',
  'server',
  'caData',
  'token',
);

export const SECRET_STORE = object(
  'The store of tokens, for external-secret',
  {
    name: text('Name of the store'),
    kind: choice('Default ClusterSecretStore', 'ClusterSecretStore', 'SecretStore'),
  },
  'name',
);

export const CREDENTIALS_REFERENCE_PROPS = object(
  'The credentials of a target cluster, without their token',
  {
    ...CREDENTIALS,
    token: object(
      'Where external-secrets finds the token',
      {
        store: SECRET_STORE,
        key: text('Key of the token in the store'),
        property: text("Property of that key's value"),
      },
      'store',
      'key',
    ),
  },
  'targetCluster',
  'server',
  'caData',
);
