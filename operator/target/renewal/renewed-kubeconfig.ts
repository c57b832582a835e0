/**
 * Puts a new token, and new CA certificates of the target, into the kubeconfig of a credentials Secret. Nothing else
 * changes, except the layout and the comments of the YAML. Pure.
 */
import { dump } from 'js-yaml';
import { formatFieldErrors } from '../../../crds/field-error.ts';
import { parseTargetKubeconfig, type TargetAccess } from '../../kube/access/secret-kubeconfig.ts';
import type { TargetKubeconfig } from '../../kube/access/secret-kubeconfig.schema.ts';
import { parseYaml } from '../../kube/access/yaml.ts';
import { rotatedCa } from './ca-bundle.ts';

/** The token and the CA certificates that go into a kubeconfig. */
export interface Renewed {
  readonly token: string;
  /**
   * PEM of the CA certificates that the target publishes; undefined if it publishes none, or if the operator is not
   * allowed to read them.
   */
  readonly publishedCa: string | undefined;
}

/** A kubeconfig and the access that it gives. */
export interface RenewedKubeconfig extends TargetAccess {
  readonly text: string;
}

/**
 * Returns the kubeconfig with a new token and, if they have changed, new CA certificates.
 * @param text a valid kubeconfig, YAML
 * @param nowMs Unix time in milliseconds
 * @throws Error if the result would not be valid
 */
export function renewedKubeconfig(text: string, { token, publishedCa }: Renewed, nowMs: number): RenewedKubeconfig {
  const document = parseYaml(text) as TargetKubeconfig;
  const [{ name, cluster }] = document.clusters;
  const [{ name: user, user: credentials }] = document.users;
  const current = Buffer.from(cluster['certificate-authority-data'], 'base64').toString('utf8');
  const ca = publishedCa === undefined ? current : rotatedCa(current, publishedCa, nowMs);
  const data = ca === current ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  const clusters = [{ name, cluster: { ...cluster, ...data } }];
  // A proxy in front of the API server may want the client certificate as well.
  const users = [{ name: user, user: { ...credentials, token } }];
  const renewed = dump({ ...document, clusters, users }, { lineWidth: -1 });
  const read = parseTargetKubeconfig(renewed);
  if (!read.ok) throw new Error(`the renewed kubeconfig is not valid: ${formatFieldErrors(read.errors)}`);
  return { ...read.value, text: renewed };
}
