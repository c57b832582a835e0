/**
 * The clients of an export (rule M3): meshed identities that may reach a Service through the gateway, as an annotation
 * names them beside the export. Whoever may write a Service may write it, so it is bounded before it is parsed.
 */
import { type Checked, type FieldError, fieldError } from './field-error.ts';
import { isDnsLabel, isDnsSubdomain } from './names.ts';
import { Annotation } from './wire.ts';

/** A ServiceAccount whose pods may reach an export. */
export interface Client {
  /** Namespace of the ServiceAccount, in its own cluster. */
  readonly namespace: string;
  /** Name of the ServiceAccount. */
  readonly serviceAccount: string;
  /**
   * Identity trust domain of Linkerd in the cluster of the client.
   * @default - that of the cluster that exports
   */
  readonly trustDomain?: string | undefined;
}

/** Whom an export names: these clients, or `everyone` in the mesh. */
export type Clients = 'everyone' | readonly Client[];

/** Most characters of the annotation. */
export const CLIENTS_MAX_LENGTH = 8_192;
/** Most clients of one export. */
export const MAX_CLIENTS = 64;

const FORM = 'write namespace/serviceaccount or namespace/serviceaccount@trust-domain, separated by commas, or *';
const EVERYONE = '*';

/** Value of the annotation for these clients. */
export const clientsText = (clients: Clients): string =>
  clients === 'everyone'
    ? EVERYONE
    : clients
        .map(
          ({ namespace, serviceAccount, trustDomain }) =>
            `${namespace}/${serviceAccount}${trustDomain === undefined ? '' : `@${trustDomain}`}`,
        )
        .join(',');

/** Reads the annotation. An empty one names nobody. */
export function readClients(text: string): Checked<Clients> {
  const refuse = (value: string | undefined, reason: string, remedy: string): Checked<Clients> => ({
    ok: false,
    errors: [fieldError(`metadata.annotations["${Annotation.clients}"]`, value, reason, remedy)],
  });
  if (text.length > CLIENTS_MAX_LENGTH)
    return refuse(undefined, `must have at most ${CLIENTS_MAX_LENGTH} characters`, 'name fewer ServiceAccounts, or *');
  const items = text.split(',').map((item) => item.trim());
  if (items.length === 1 && items[0] === '') return { ok: true, value: [] };
  if (items.length === 1 && items[0] === EVERYONE) return { ok: true, value: 'everyone' };
  if (items.length > MAX_CLIENTS)
    return refuse(
      undefined,
      `must name at most ${MAX_CLIENTS} clients`,
      'let several share a ServiceAccount, or name *',
    );
  const clients: Client[] = [];
  for (const item of items) {
    const client = clientOf(item);
    if (clientErrors('', client).some((error) => error !== undefined))
      return refuse(item, 'must be a valid client', FORM);
    clients.push(client);
  }
  return { ok: true, value: clients };
}

/** Errors of one client, below a path such as `clients[0].`. */
export const clientErrors = (
  path: string,
  { namespace, serviceAccount, trustDomain }: Client,
): readonly (FieldError | undefined)[] => [
  isDnsLabel(namespace) ? undefined : fieldError(`${path}namespace`, namespace, 'must be a valid DNS label'),
  isDnsSubdomain(serviceAccount)
    ? undefined
    : fieldError(`${path}serviceAccount`, serviceAccount, 'must be a valid DNS subdomain'),
  trustDomain === undefined || isDnsSubdomain(trustDomain)
    ? undefined
    : fieldError(`${path}trustDomain`, trustDomain, 'must be a valid DNS subdomain'),
];

/** An item without its parts has empty ones, which are invalid. */
function clientOf(item: string): Client {
  const parts = /^(?<namespace>[^/@]*)\/(?<account>[^/@]*)(?:@(?<domain>[^/@]*))?$/.exec(item)?.groups;
  const { namespace = '', account = '', domain } = parts ?? {};
  return { namespace, serviceAccount: account, ...(domain !== undefined && { trustDomain: domain }) };
}
