/** The kubeconfig in a credentials Secret of the source, and the same with another token. No error quotes it. Pure. */
import { Yaml } from 'cdk8s';
import { formatFieldErrors } from '../../../crds/field-error.ts';
import { parseTargetKubeconfig } from '../../../operator/kube/access/secret-kubeconfig.ts';
import { parseYaml } from '../../../operator/kube/access/yaml.ts';
import type { Secret } from '../../../operator/kube/objects.ts';
import type { ApiServer } from '../link/api-server.ts';
import { readCredentials } from '../common/credentials-secret.ts';

interface Kubeconfig {
  readonly clusters: readonly [
    {
      readonly cluster: {
        readonly server: string;
        readonly 'certificate-authority-data'?: string;
        readonly 'tls-server-name'?: string;
      };
    },
  ];
  readonly users: readonly [{ readonly name: string; readonly user: { readonly token?: string } }];
}

export type KubeconfigRead =
  | {
      readonly ok: true;
      readonly token: string;
      readonly apiServer: ApiServer;
      readonly withToken: (token: string) => Rotated;
    }
  | { readonly ok: false; readonly reason: string };

/** A kubeconfig that was rotated. */
export interface Rotated {
  readonly text: string;
  /** By which the operator reports that it is in use. */
  readonly fingerprint: string;
}

/** Reads a credentials Secret that is to have another token. */
export const readKubeconfig = (secret: Secret): KubeconfigRead => {
  const credentials = readCredentials(secret);
  if (!credentials.ok) return credentials;
  const document = parseYaml(credentials.text) as Kubeconfig;
  const [{ name, user }] = document.users;
  if (user.token === undefined) return { ok: false, reason: 'has a client certificate, and no token' };
  const withToken = (token: string): Rotated => {
    const rotated = Yaml.stringify({ ...document, users: [{ name, user: { ...user, token } }] });
    const read = parseTargetKubeconfig(rotated);
    if (!read.ok) throw new Error(formatFieldErrors(read.errors));
    return { text: rotated, fingerprint: read.value.fingerprint };
  };
  const [{ cluster }] = document.clusters;
  const apiServer = {
    server: cluster.server,
    caData: cluster['certificate-authority-data'],
    tlsServerName: cluster['tls-server-name'],
  };
  return { ok: true, token: user.token, apiServer, withToken };
};
