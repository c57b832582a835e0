/**
 * Errors of a set of clusters, by path in its props: rules that no single part can check, and rules that a part would
 * report by a path of its own.
 */
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { Default } from '../../crds/wire.ts';
import { cidr } from '../common/cidr.ts';
import {
  dnsLabel,
  dnsSubdomain,
  gatewayAddress,
  labelsErrors,
  nameList,
  targetClusterName,
} from '../common/prop-rules.ts';
import { caCertificates, serverUrl } from '../link/kubeconfig.ts';
import type { ClusterCredentials, ClusterSetMember, ClusterSetProps } from './props.ts';

/** Errors of the set as a whole. */
export const setErrors = ({
  members,
  credentials,
  flat,
  federation,
  namespace,
  linkerdNamespace,
  labels,
  links = [],
  mcs,
}: ClusterSetProps): (FieldError | undefined)[] => {
  const names = members.map(({ name }) => name);
  return [
    members.length === 0
      ? fieldError('members', members, 'must not be empty', 'write at least one cluster')
      : undefined,
    ...names.map((name, index) =>
      names.indexOf(name) < index ? fieldError(`members[${index}].name`, name, 'must be unique') : undefined,
    ),
    namespace === undefined ? undefined : dnsLabel('namespace', namespace),
    linkerdNamespace === undefined ? undefined : dnsLabel('linkerdNamespace', linkerdNamespace),
    flat === true &&
    (namespace ?? Default.multiclusterNamespace) === (linkerdNamespace ?? Default.controlPlaneNamespace)
      ? fieldError(
          'namespace',
          namespace,
          'must differ from linkerdNamespace: both have a credentials Secret of the same name',
        )
      : undefined,
    federation === 'flat' && flat !== true
      ? fieldError('federation', federation, 'requires flat to be true: pods connect to pods of other clusters')
      : undefined,
    ...links.map((link, index) =>
      link.federation === 'flat' && flat !== true
        ? fieldError(
            `links[${index}].federation`,
            'flat',
            'requires flat to be true: pods connect to pods of other clusters',
          )
        : undefined,
    ),
    mcs === undefined ? undefined : dnsLabel('mcs.clusterSet', mcs.clusterSet),
    ...labelsErrors('labels', labels),
    ...sharedAddressErrors(members),
    ...credentialsErrors(credentials ?? { type: 'left-out' }),
  ];
};

const credentialsErrors = ({ type, store, keyPrefix }: ClusterCredentials): readonly (FieldError | undefined)[] => {
  const external = 'external-secret';
  if (type === external) {
    return [
      store === undefined
        ? fieldError('credentials.store', undefined, `is required when type is ${external}`)
        : dnsSubdomain('credentials.store.name', store.name),
      keyPrefix === '' ? fieldError('credentials.keyPrefix', '', 'must not be empty') : undefined,
    ];
  }
  return Object.entries({ store, keyPrefix }).map(([field, value]) =>
    value === undefined
      ? undefined
      : fieldError(`credentials.${field}`, value, `may only be used with type ${external}`, 'remove it'),
  );
};

/** Errors of one member, by itself or as part of the set. */
export const memberErrors = (
  path: string,
  {
    name,
    clusterDomain,
    trustDomain,
    gatewayAddresses,
    gateway,
    apiServer,
    exportNamespaces,
    networks,
  }: ClusterSetMember,
  { flat, federation, credentials = { type: 'left-out' } }: ClusterSetProps,
  isTarget: boolean,
): readonly (FieldError | undefined)[] => [
  targetClusterName(`${path}.name`, name),
  clusterDomain === undefined ? undefined : dnsSubdomain(`${path}.clusterDomain`, clusterDomain),
  trustDomain === undefined ? undefined : dnsSubdomain(`${path}.trustDomain`, trustDomain),
  ...addressErrors(
    `${path}.gatewayAddresses`,
    gatewayAddresses,
    isTarget && (flat !== true || federation === 'gateway'),
  ),
  ...(gateway === undefined ? [] : gatewayErrors(`${path}.gateway`, gateway, gatewayAddresses !== undefined)),
  ...(apiServer === undefined
    ? [
        isTarget && credentials.type !== 'left-out'
          ? fieldError(`${path}.apiServer`, undefined, 'is required unless credentials are left out')
          : undefined,
      ]
    : [
        serverUrl(`${path}.apiServer.url`, apiServer.url),
        caCertificates(`${path}.apiServer.caData`, apiServer.caData),
        apiServer.tlsServerName === undefined
          ? undefined
          : dnsSubdomain(`${path}.apiServer.tlsServerName`, apiServer.tlsServerName),
      ]),
  ...nameList(`${path}.exportNamespaces`, exportNamespaces, dnsLabel, 'namespace'),
  exportNamespaces !== undefined && flat === true
    ? fieldError(
        `${path}.exportNamespaces`,
        exportNamespaces,
        "must not be set together with flat: Linkerd's destination controller reads whole clusters",
        'remove it',
      )
    : undefined,
  networks?.length === 0
    ? fieldError(`${path}.networks`, networks, 'must not be empty', 'name networks, or leave it out for any')
    : undefined,
  ...(networks ?? []).map((network, index) => cidr(`${path}.networks[${index}]`, network)),
];

const addressErrors = (
  path: string,
  addresses: readonly string[] | undefined,
  isRequired: boolean,
): readonly (FieldError | undefined)[] => {
  if (addresses === undefined || addresses.length === 0) {
    if (addresses === undefined && !isRequired) return [];
    return [
      fieldError(path, addresses, 'is required: other clusters connect to the gateway', 'write at least one address'),
    ];
  }
  return addresses.map((address, index) => gatewayAddress(`${path}[${index}]`, address));
};

/** Errors of shared addresses. All gateways have one identity by default, so requests to a wrong cluster would succeed. */
const sharedAddressErrors = (members: readonly ClusterSetMember[]): readonly FieldError[] => {
  const owners = new Map<string, { readonly name: string; readonly index: number }>();
  return members.flatMap(({ name, gatewayAddresses = [] }, index) =>
    gatewayAddresses.flatMap((address, at) => {
      const key = address.toLowerCase();
      const owner = owners.get(key);
      if (owner === undefined) owners.set(key, { name, index });
      if (owner === undefined) return [];
      const path = `members[${index}].gatewayAddresses[${at}]`;
      return owner.index === index
        ? fieldError(path, address, 'must be unique')
        : fieldError(path, address, `must not be an address of the gateway of ${owner.name}`);
    }),
  );
};

const gatewayErrors = (
  path: string,
  { service: { type, nodePort, probeNodePort } = {} }: NonNullable<ClusterSetMember['gateway']>,
  isAddressed: boolean,
): readonly (FieldError | undefined)[] => {
  if (!isAddressed)
    return [
      fieldError(path, undefined, 'must not be set without gatewayAddresses', 'write gatewayAddresses, or remove it'),
    ];
  if (type !== 'NodePort') return [];
  // Links cannot know ports that Kubernetes chooses.
  return Object.entries({ nodePort, probeNodePort }).map(([field, port]) =>
    port === undefined
      ? fieldError(`${path}.service.${field}`, undefined, 'is required: Links to a NodePort gateway need it')
      : undefined,
  );
};
