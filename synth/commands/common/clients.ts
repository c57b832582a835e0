/**
 * Meshed identities, and the clients that the annotation of an export names them by: `shop/web`, or `shop/web@east.example`
 * for another trust domain than that of the exporting cluster. Pure.
 */
import { type Client, clientsText, readClients } from '../../../crds/clients.ts';
import { Annotation, meshIdentity } from '../../../crds/wire.ts';
import { cut } from '../../../operator/kube/errors.ts';
import { keyOf, type KubeObject } from '../../../operator/kube/objects.ts';
import { fieldProblem, type Problem } from './command-error.ts';
import type { NamedCluster } from './command-text.ts';
import { byKubectl } from './remedies.ts';

/** What identities are made of in one cluster. */
export interface MeshNames {
  /** Namespace of Linkerd's control plane. */
  readonly controlPlaneNamespace: string;
  readonly trustDomain: string;
}

const EVERYONE = clientsText('everyone');

const IDENTITY =
  /^(?<account>.+)\.(?<namespace>[^.]+)\.serviceaccount\.identity\.(?<controlPlane>[^.]+)\.(?<domain>.+)$/;

/** The client that has an identity, as an annotation in a cluster of these names has it; undefined if none can name it. */
export const clientOf = (identity: string, names: MeshNames): Client | undefined => {
  const { account = '', namespace = '', controlPlane, domain = '' } = IDENTITY.exec(identity)?.groups ?? {};
  if (controlPlane !== names.controlPlaneNamespace) return undefined;
  const client = { namespace, serviceAccount: account, ...(domain !== names.trustDomain && { trustDomain: domain }) };
  const read = readClients(clientsText([client]));
  return read.ok ? client : undefined;
};

/** An identity as an annotation has it; the identity itself if none can name it. */
export const identityText = (identity: string, names: MeshNames): string => {
  const client = clientOf(identity, names);
  return client === undefined ? identity : clientsText([client]);
};

/** The identity that is meant by `shop/web`, `shop/web@east.example`, or an identity in full; undefined if it is none of these. */
export const readIdentity = (text: string, names: MeshNames): string | undefined => {
  if (IDENTITY.test(text) && !text.includes('/')) return text;
  const read = readClients(text);
  if (!read.ok || read.value === 'everyone' || read.value.length !== 1) return undefined;
  const [{ namespace, serviceAccount, trustDomain = names.trustDomain }] = read.value as readonly [Client];
  return meshIdentity(serviceAccount, namespace, names.controlPlaneNamespace, trustDomain);
};

/** The value of the annotation that names these clients beside those that it names by now. */
const withClients = (before: string, clients: readonly Client[]): string => {
  const named = [before, clientsText(clients)].flatMap((text) => text.split(',').map((each) => each.trim()));
  return named.includes(EVERYONE) ? EVERYONE : [...new Set(named.filter((each) => each !== ''))].join(',');
};

/** What is wrong with the annotation, and the remedy. */
export const clientsProblem = ({ reason, remedy }: Problem): string =>
  `annotation ${Annotation.clients} ${cut(reason)}: ${remedy}`;

/**
 * Names clients in the annotation of a Service, beside those that it names by now. No command writes one with an error:
 * that admits nobody.
 * @param who `it` or `them`
 */
export const nameClients = (
  cluster: NamedCluster,
  service: KubeObject,
  clients: readonly Client[],
  who: 'it' | 'them',
): string => {
  const { namespace = '', name, annotations } = service.metadata;
  const before = annotations?.[Annotation.clients] ?? '';
  const value = withClients(before, clients);
  const [mistake] = [before, value].map(readClients).flatMap((read) => (read.ok ? [] : read.errors));
  if (mistake !== undefined) return clientsProblem(fieldProblem(keyOf(service), mistake));
  const annotate = ['-n', namespace, 'annotate', 'service', name, `${Annotation.clients}=${value}`, '--overwrite'];
  return `name ${who}: ${byKubectl(cluster, ...annotate)}`;
};
