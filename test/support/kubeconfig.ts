/** A kubeconfig as `linkerd multicluster link` writes it into a Secret; nothing listens at its server. */
import { CERTIFICATE } from '../cluster/certificate.ts';

export const TARGET_KUBECONFIG = `apiVersion: v1
kind: Config
clusters:
  - name: west
    cluster:
      certificate-authority-data: ${Buffer.from(CERTIFICATE).toString('base64')}
      server: https://192.0.2.1:6443
contexts:
  - name: west
    context:
      cluster: west
      user: linkerd-service-mirror-remote-access-default
current-context: west
preferences: {}
users:
  - name: linkerd-service-mirror-remote-access-default
    user:
      token: a-very-secret-token
`;
