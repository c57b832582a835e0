/**
 * The kubeconfig of a test cluster: YAML, self-contained, one context named after the cluster, token authentication.
 * Both backings hand out this form, which is also the one that a credentials Secret holds.
 */

/** What goes into a kubeconfig. */
export interface KubeconfigProps {
  /** Name of the cluster, the user and the context. */
  readonly name: string;
  readonly server: string;
  /** PEM, base64; without it the server is reached without TLS. */
  readonly caData?: string;
  readonly token: string;
}

/** Renders a kubeconfig. */
export const renderKubeconfig = ({ name, server, caData, token }: KubeconfigProps): string =>
  `apiVersion: v1
kind: Config
current-context: ${name}
clusters:
  - name: ${name}
    cluster:
      server: ${server}
      ${caData === undefined ? 'insecure-skip-tls-verify: true' : `certificate-authority-data: ${caData}`}
users:
  - name: ${name}
    user:
      token: ${token}
contexts:
  - name: ${name}
    context:
      cluster: ${name}
      user: ${name}
`;
