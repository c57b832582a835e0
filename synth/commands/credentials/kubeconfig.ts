/** The kubeconfig in a credentials Secret of the source, and what another one keeps of it. No error quotes it. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { Yaml } from 'cdk8s';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { formatFieldErrors } from '../../../crds/field-error.ts';
import { CredentialsSecret } from '../../../crds/wire.ts';
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
      /** The same kubeconfig with another token. */
      readonly withToken: (token: string) => string;
    }
  | { readonly ok: false; readonly reason: string };

/** Reads a credentials Secret that is to have another token. */
export const readKubeconfig = (secret: Secret): KubeconfigRead => {
  const credentials = readCredentials(secret);
  if (!credentials.ok) return credentials;
  const document = parseYaml(credentials.text) as Kubeconfig;
  const [{ name, user }] = document.users;
  if (user.token === undefined) return { ok: false, reason: 'has a client certificate, and no token' };
  const withToken = (token: string): string => {
    const rotated = Yaml.stringify({ ...document, users: [{ name, user: { ...user, token } }] });
    const read = parseTargetKubeconfig(rotated);
    if (!read.ok) throw new Error(formatFieldErrors(read.errors));
    return rotated;
  };
  const [{ cluster }] = document.clusters;
  const apiServer = {
    server: cluster.server,
    caData: cluster['certificate-authority-data'],
    tlsServerName: cluster['tls-server-name'],
  };
  return { ok: true, token: user.token, apiServer, withToken };
};

/**
 * A rendered credentials Secret in the place of one that is there: it keeps CA certificates that the operator has added to
 * those of the same server, and the text of a kubeconfig that says the same.
 */
export const asWritten = (object: ApiJson, live: Secret | undefined): ApiJson => {
  const [before, after] = [readCredentials(live), readCredentials(object)];
  if (!before.ok || !after.ok) return object;
  const [old, fresh] = [before, after].map(({ text }) => parseYaml(text) as Kubeconfig) as [Kubeconfig, Kubeconfig];
  const [{ cluster: held }] = old.clusters;
  const [{ cluster, ...named }] = fresh.clusters;
  const ca = held['certificate-authority-data'];
  const isKept = held.server === cluster.server && holdsAll(ca, cluster['certificate-authority-data']);
  const merged = isKept
    ? { ...fresh, clusters: [{ ...named, cluster: { ...cluster, 'certificate-authority-data': ca } }] }
    : fresh;
  const text = isDeepStrictEqual(merged, old) ? before.text : Yaml.stringify(merged);
  return { ...object, data: { [CredentialsSecret.key]: Buffer.from(text).toString('base64') } };
};

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Reports whether a bundle has each certificate of another; both are PEM, in base64. */
const holdsAll = (bundle = '', other = ''): boolean => {
  const certificates = (data: string): readonly string[] =>
    Buffer.from(data, 'base64')
      .toString()
      .match(CERTIFICATE)
      ?.map((each) => each.replace(/\s/g, '')) ?? [];
  const held = new Set(certificates(bundle));
  return held.size > 0 && certificates(other).every((each) => held.has(each));
};
