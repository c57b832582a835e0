/**
 * The credentials of a target cluster: one kubeconfig in two Secrets. The operator reads the copy in the Link's
 * namespace; Linkerd's destination controller, for flat and federated mode, the one beside the control plane.
 * The kubeconfig is self-contained: one https server, its CA, one token. Errors never quote the token.
 */
import { ApiObject, Yaml } from 'cdk8s';
import { Construct } from 'constructs';
import { fieldError } from '../crds/validate.ts';
import { Annotation, credentialsName, CredentialsSecret, Default, Label } from '../crds/wire.ts';
import { type Finding, refuse } from './invalid-props.ts';
import { dnsLabel, dnsSubdomain } from './prop-rules.ts';

/** Properties of {@link LinkCredentials}. */
export interface LinkCredentialsProps {
  /** Name of the target cluster. */
  readonly cluster: string;
  /** URL of the target's API server; https. */
  readonly server: string;
  /** CA certificates of that server: PEM, in base64, as `certificate-authority-data` of a kubeconfig. */
  readonly caData: string;
  /** Bearer token of a ServiceAccount of the target. A secret: mind where the rendered manifest is kept. */
  readonly token: string;
  /**
   * Name in the server's certificate, where it is not the host of the URL.
   * @default - the host of the URL
   */
  readonly tlsServerName?: string | undefined;
  /**
   * DNS domain of the target cluster.
   * @default cluster.local
   */
  readonly clusterDomain?: string | undefined;
  /**
   * Identity trust domain of the target's Linkerd.
   * @default - the cluster domain, as Linkerd has it
   */
  readonly trustDomain?: string | undefined;
  /**
   * Namespace of the Link.
   * @default linkerd-multicluster
   */
  readonly linkNamespace?: string | undefined;
  /**
   * Namespace of Linkerd's control plane in the source cluster.
   * @default linkerd
   */
  readonly controlPlaneNamespace?: string | undefined;
  /**
   * Which Secrets to render: the Link's alone, which is enough for gateway mode, or the control plane's too.
   * @default - both, as `linkerd multicluster link` does
   */
  readonly copies?: 'link' | 'both' | undefined;
}

/**
 * Secret `cluster-credentials-<cluster>`, in the Link's namespace and in the control plane's.
 * @throws InvalidPropsError naming every prop that a kubeconfig for the operator cannot have
 */
export class LinkCredentials extends Construct {
  /** Name of both Secrets. */
  readonly name: string;
  /** The Secret that the operator reads. */
  readonly linkSecret: ApiObject;
  /** The Secret that Linkerd's destination controller reads; undefined if only the Link's was asked for. */
  readonly controlPlaneSecret: ApiObject | undefined;

  constructor(scope: Construct, id: string, props: LinkCredentialsProps) {
    super(scope, id);
    const {
      cluster,
      clusterDomain = Default.clusterDomain,
      trustDomain = clusterDomain,
      linkNamespace = Default.multiclusterNamespace,
      controlPlaneNamespace = Default.controlPlaneNamespace,
      copies = 'both',
    } = props;
    this.name = credentialsName(cluster);
    refuse(`LinkCredentials ${linkNamespace}/${this.name}`, [
      dnsLabel('cluster', cluster),
      serverUrl('server', props.server),
      caCertificates('caData', props.caData),
      bearerToken('token', props.token),
      props.tlsServerName === undefined ? undefined : dnsSubdomain('tlsServerName', props.tlsServerName),
      dnsSubdomain('clusterDomain', clusterDomain),
      dnsSubdomain('trustDomain', trustDomain),
      dnsLabel('linkNamespace', linkNamespace),
      dnsLabel('controlPlaneNamespace', controlPlaneNamespace),
      copies === 'both' && linkNamespace === controlPlaneNamespace
        ? fieldError('controlPlaneNamespace', controlPlaneNamespace, "is the Link's: two Secrets of one name")
        : undefined,
    ]);

    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: CredentialsSecret.type,
      data: { [CredentialsSecret.key]: Buffer.from(kubeconfig(props)).toString('base64') },
    };
    this.linkSecret = new ApiObject(this, 'Resource', {
      ...secret,
      metadata: { name: this.name, namespace: linkNamespace },
    });
    this.controlPlaneSecret =
      copies === 'both'
        ? new ApiObject(this, 'ControlPlane', {
            ...secret,
            metadata: {
              name: this.name,
              namespace: controlPlaneNamespace,
              labels: { [Label.credentialsClusterName]: cluster },
              annotations: { [Annotation.trustDomain]: trustDomain, [Annotation.clusterDomain]: clusterDomain },
            },
          })
        : undefined;
  }
}

/** The kubeconfig as text. */
export const kubeconfig = ({
  cluster,
  server,
  caData,
  token,
  tlsServerName,
}: Pick<LinkCredentialsProps, 'cluster' | 'server' | 'caData' | 'token' | 'tlsServerName'>): string =>
  Yaml.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: cluster,
        cluster: {
          server,
          'certificate-authority-data': caData,
          ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
        },
      },
    ],
    users: [{ name: cluster, user: { token } }],
    contexts: [{ name: cluster, context: { cluster, user: cluster } }],
    'current-context': cluster,
  });

/** URL of an API server that credentials may be sent to. */
export const serverUrl = (path: string, value: string): Finding => {
  const url = URL.parse(value);
  if (url?.protocol !== 'https:') return fieldError(path, value, 'is no https URL', 'as in https://203.0.113.7:6443');
  if (url.username || url.password) return fieldError(path, undefined, 'holds a user name or password');
  return undefined;
};

/** PEM certificates in base64. */
export const caCertificates = (path: string, value: string): Finding => {
  const pem = /^[A-Za-z0-9+/]+={0,2}$/.test(value) ? Buffer.from(value, 'base64').toString('latin1') : '';
  return /-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.test(pem)
    ? undefined
    : fieldError(path, undefined, 'is no base64 of PEM certificates', 'certificate-authority-data of a kubeconfig');
};

const bearerToken = (path: string, value: string): Finding => {
  if (value === '') return fieldError(path, undefined, 'is empty');
  return /^[\x21-\x7e]+$/.test(value)
    ? undefined
    : fieldError(path, undefined, 'holds spaces, line breaks or other text');
};
