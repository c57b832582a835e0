/**
 * What flags say of the gateway of one way. A Link records it, since it cannot be read of the target: an address that was
 * given is not an address of the gateway's Service, and the Service may not be the usual one. Pure.
 */
import { Annotation } from '../../../crds/wire.ts';
import type { LinkObject } from '../common/link-object.ts';
import type { GivenGateway } from './gateway.ts';

/** What the user has said of one way. */
export interface Given extends GivenGateway {
  readonly apiServerAddress: string | undefined;
  /** The flag of that address. */
  readonly addressFlag: string;
  /** The gateway's Service. @default - that of the Link, else `linkerd-gateway` beside the extension */
  readonly gatewayName?: string | undefined;
  readonly gatewayNamespace?: string | undefined;
  /** What the Link records of this. @default - nothing */
  readonly record?: string | undefined;
}

const ADDRESSES = 'gatewayAddress';
const PORT = 'gatewayPort';
const SERVICE = 'gateway=';

/**
 * What is given, and what a Link has been given before: its addresses, its port, its gateway's Service. An empty list of
 * addresses leaves them to the Service again.
 */
export const withGivenBefore = (
  link: LinkObject | undefined,
  given: Given,
): { readonly read: Given; readonly record: string | undefined } => {
  const { spec, metadata } = link ?? { metadata: { name: '' } };
  const words = (metadata.annotations?.[Annotation.given] ?? '').split(',');
  const [namespace, name] =
    words
      .find((word) => word.startsWith(SERVICE))
      ?.slice(SERVICE.length)
      .split('/') ?? [];
  const listed = given.addresses ?? (words.includes(ADDRESSES) ? spec?.gatewayAddress?.split(',') : undefined) ?? [];
  const addresses = listed.length === 0 ? undefined : listed;
  const port = given.port ?? (words.includes(PORT) ? Number(spec?.gatewayPort) : undefined);
  const gatewayName = given.gatewayName ?? name;
  const gatewayNamespace = given.gatewayNamespace ?? namespace;
  const record = [
    ...(addresses === undefined ? [] : [ADDRESSES]),
    ...(port === undefined ? [] : [PORT]),
    ...(gatewayName === undefined && gatewayNamespace === undefined
      ? []
      : [`${SERVICE}${gatewayNamespace ?? ''}/${gatewayName ?? ''}`]),
  ].join(',');
  return {
    read: { ...given, addresses, port, gatewayName, gatewayNamespace },
    record: record === '' ? undefined : record,
  };
};
