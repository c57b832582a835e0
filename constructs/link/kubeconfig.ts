/**
 * Credentials of a target cluster, with or without a token: one kubeconfig in two Secrets. The operator reads the copy in
 * the Link's namespace. Linkerd's destination controller reads the copy beside the control plane, for flat and federated
 * mode. The kubeconfig is self-contained: one https server, its CA, one token.
 */
import { Yaml } from 'cdk8s';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { Annotation, credentialsName, Default, Label } from '../../crds/wire.ts';
import { dnsLabel, dnsSubdomain, targetClusterName } from '../common/prop-rules.ts';

/** Credentials without the token. */
export interface CredentialsProps {
  /** Name of the target cluster; mirrors are called `<service>-<name>`. */
  readonly targetCluster: string;
  /** URL of the API server; https. */
  readonly server: string;
  /** CA certificates of the API server as base64 of PEM, like `certificate-authority-data` of a kubeconfig. */
  readonly caData: string;
  /**
   * Name in the certificate of the API server.
   * @default - the host of the URL
   */
  readonly tlsServerName?: string | undefined;
  /**
   * DNS domain of the target cluster.
   * @default cluster.local
   */
  readonly targetClusterDomain?: string | undefined;
  /**
   * Identity trust domain of Linkerd in the target.
   * @default - its cluster domain
   */
  readonly targetTrustDomain?: string | undefined;
  /**
   * Namespace of the Link.
   * @default - the chart's, else `linkerd-multicluster`
   */
  readonly namespace?: string | undefined;
  /**
   * Namespace of Linkerd's control plane in the source cluster.
   * @default linkerd
   */
  readonly linkerdNamespace?: string | undefined;
  /**
   * Secrets to render: that of the Link (`link`), which is enough for gateway mode, or that of Linkerd's control plane too
   * (`both`).
   * @default both
   */
  readonly copies?: 'link' | 'both' | undefined;
}

/** Props that stand in for invalid ones. */
export const STAND_IN: CredentialsProps = { targetCluster: 'invalid', server: 'https://invalid', caData: '' };

/** Metadata of a Secret. */
export interface SecretMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Metadata of the Secrets `cluster-credentials-<cluster>`: that of the operator, and that of Linkerd's control plane. */
export const credentialsCopies = (
  {
    targetCluster,
    targetClusterDomain = Default.clusterDomain,
    targetTrustDomain = targetClusterDomain,
    namespace,
    linkerdNamespace = Default.controlPlaneNamespace,
    copies = 'both',
  }: CredentialsProps,
  chartNamespace: string = Default.multiclusterNamespace,
): { readonly link: SecretMetadata; readonly controlPlane: SecretMetadata | undefined } => {
  const name = credentialsName(targetCluster);
  return {
    link: { name, namespace: namespace ?? chartNamespace },
    controlPlane:
      copies === 'both'
        ? {
            name,
            namespace: linkerdNamespace,
            labels: { [Label.credentialsClusterName]: targetCluster },
            annotations: {
              [Annotation.trustDomain]: targetTrustDomain,
              [Annotation.clusterDomain]: targetClusterDomain,
            },
          }
        : undefined,
  };
};

/** Errors of the kubeconfig and its Secrets. */
export const credentialsErrors = (
  props: CredentialsProps,
  chartNamespace: string | undefined,
): readonly (FieldError | undefined)[] => {
  const { targetClusterDomain = Default.clusterDomain, targetTrustDomain = targetClusterDomain, tlsServerName } = props;
  const { link, controlPlane } = credentialsCopies(props, chartNamespace);
  return [
    targetClusterName('targetCluster', props.targetCluster),
    serverUrl('server', props.server),
    caCertificates('caData', props.caData),
    tlsServerName === undefined ? undefined : dnsSubdomain('tlsServerName', tlsServerName),
    dnsSubdomain('targetClusterDomain', targetClusterDomain),
    dnsSubdomain('targetTrustDomain', targetTrustDomain),
    dnsLabel('namespace', link.namespace),
    dnsLabel('linkerdNamespace', controlPlane?.namespace ?? Default.controlPlaneNamespace),
    link.namespace === controlPlane?.namespace
      ? fieldError(
          'linkerdNamespace',
          controlPlane.namespace,
          'must differ from the namespace of the Link: both have a Secret of the same name',
        )
      : undefined,
  ];
};

/** The kubeconfig as text. */
export const kubeconfig = ({
  targetCluster,
  server,
  caData,
  token,
  tlsServerName,
}: CredentialsProps & { readonly token: string }): string =>
  Yaml.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: targetCluster,
        cluster: {
          server,
          'certificate-authority-data': caData,
          ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
        },
      },
    ],
    users: [{ name: targetCluster, user: { token } }],
    contexts: [{ name: targetCluster, context: { cluster: targetCluster, user: targetCluster } }],
    'current-context': targetCluster,
  });

/** Checks the URL of an API server, which credentials are sent to. */
export const serverUrl = (path: string, value: string): FieldError | undefined => {
  const url = URL.parse(value);
  if (url?.protocol !== 'https:')
    return fieldError(path, value, 'must be an https URL', 'as in https://203.0.113.7:6443');
  if (url.username || url.password) return fieldError(path, undefined, 'must not contain a user name or password');
  return undefined;
};

/** Checks PEM certificates in base64. */
export const caCertificates = (path: string, value: string): FieldError | undefined => {
  const pem = /^[A-Za-z0-9+/]+={0,2}$/.test(value) ? Buffer.from(value, 'base64').toString('latin1') : '';
  return /-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.test(pem)
    ? undefined
    : fieldError(
        path,
        undefined,
        'must be base64 of PEM certificates',
        'copy certificate-authority-data of a kubeconfig',
      );
};
