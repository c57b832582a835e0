/** The credentials of a target in a Secret, read as the operator reads them (rule E3). No error quotes them. Pure. */
import { formatFieldErrors } from '../../../crds/field-error.ts';
import { CredentialsSecret } from '../../../crds/wire.ts';
import { parseTargetKubeconfig, type TargetAccess } from '../../../operator/kube/access/secret-kubeconfig.ts';
import { parseYaml } from '../../../operator/kube/access/yaml.ts';
import type { Secret } from '../../../operator/kube/objects.ts';

/** A Secret of a cluster, or a manifest of one that was never applied. */
export type SecretManifest = Secret & { readonly stringData?: Readonly<Record<string, string>> };

/** The credentials of a Secret. */
export type CredentialsRead =
  | { readonly ok: true; readonly access: TargetAccess; /** The kubeconfig. */ readonly text: string }
  /** Why there are none: the Secret, or the kubeconfig in it. */
  | { readonly ok: false; readonly in: 'Secret' | 'kubeconfig'; readonly reason: string };

/** Reads a credentials Secret; undefined if there is none. */
export const readCredentials = (secret: SecretManifest | undefined): CredentialsRead => {
  const no = (within: 'Secret' | 'kubeconfig', reason: string): CredentialsRead => ({ ok: false, in: within, reason });
  if (secret === undefined) return no('Secret', 'not found');
  if (secret.type !== CredentialsSecret.type) {
    return no('Secret', `is of type ${secret.type ?? 'Opaque'}, not ${CredentialsSecret.type}`);
  }
  const text = textOf(secret);
  if (text === undefined) return no('Secret', `has no data key ${CredentialsSecret.key}`);
  const parsed = parseTargetKubeconfig(text);
  return parsed.ok ? { ok: true, access: parsed.value, text } : no('kubeconfig', formatFieldErrors(parsed.errors));
};

const textOf = ({ data, stringData }: SecretManifest): string | undefined => {
  const encoded = data?.[CredentialsSecret.key];
  return (
    stringData?.[CredentialsSecret.key] ??
    (encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8'))
  );
};

/** Where a pod has the token of its own ServiceAccount, which the kubelet renews. */
const POD_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/**
 * Reports whether the kubeconfig in a Secret reads the token of the pod that uses it. That of Linkerd's destination
 * controller may, where the target trusts the tokens of the source (rule P6).
 */
export const readsPodToken = (secret: SecretManifest | undefined): boolean => {
  const text = secret?.type === CredentialsSecret.type ? textOf(secret) : undefined;
  if (text === undefined) return false;
  try {
    const { users } = parseYaml(text) as {
      readonly users?: readonly { readonly user?: { readonly tokenFile?: unknown } }[];
    };
    return users?.length === 1 && users[0]?.user?.tokenFile === POD_TOKEN;
  } catch {
    return false;
  }
};
