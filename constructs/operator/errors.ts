/** Errors of the props of MirrorOperator. */
import { type FieldError, fieldError, fieldPath } from '../../crds/field-error.ts';
import { isPartOf } from '../../crds/network.ts';
import { isProtectedNamespace, PROTECTED_KIND } from '../../crds/operator-values.ts';
import { parseSelector } from '../../crds/selector.ts';
import { Default, OperatorPort } from '../../crds/wire.ts';
import { cidr } from '../common/cidr.ts';
import { podErrors } from '../common/pod-props.ts';
import { dnsLabel, imageReference, portNumber } from '../common/prop-rules.ts';
import { scraperErrors } from '../common/scrape-policy.ts';
import { OWN_POD_KEYS } from './pods.ts';
import type { IpBlock, MirrorOperatorProps, NetworkPolicyPeer } from './props.ts';
import { operatorSettingsErrors } from './settings.ts';

/** Ports of Linkerd's proxy, which shares the pods' network. */
const PROXY_PORTS: readonly number[] = [4140, Default.gatewayPort, 4190, Default.probePort];

/** Variables that the construct sets from the pod's fields. */
const OWN_ENV: readonly string[] = ['POD_NAME', 'POD_IPS'];

/** Errors of the props, by path; `namespace` is the one of the operator. */
export const mirrorOperatorErrors = (
  props: MirrorOperatorProps,
  namespace: string,
): readonly (FieldError | undefined)[] => {
  const { linkerdNamespace = Default.controlPlaneNamespace, adminPort = OperatorPort.number, networkPolicy } = props;
  const { targetClusters = [], mirrorNamespaces = [], meshed = true, flat = false } = props;
  return [
    imageReference('image', props.image),
    dnsLabel('namespace', namespace),
    dnsLabel('linkerdNamespace', linkerdNamespace),
    flat && namespace === linkerdNamespace
      ? fieldError(
          'namespace',
          namespace,
          'must not be the namespace of the control plane on a flat network: each has rights of its own',
          'install into another namespace, or without flat',
        )
      : undefined,
    ...targetClusters.map((cluster, index) => dnsLabel(`targetClusters[${index}]`, cluster)),
    portNumber('adminPort', adminPort),
    meshed && PROXY_PORTS.includes(adminPort)
      ? fieldError(
          'adminPort',
          adminPort,
          "must not be a port of Linkerd's proxy",
          `choose a port other than ${PROXY_PORTS.join(', ')}`,
        )
      : undefined,
    ...(networkPolicy ? peerErrors(networkPolicy.from) : []),
    ...scraperErrors('scrapers', props.scrapers ?? 'anybody'),
    ...operatorSettingsErrors(props),
    props.grantNamespaceCreation === true && props.mirrorNamespaces !== undefined
      ? limitedError('grantNamespaceCreation', 'mirrorNamespaces')
      : undefined,
    ...mirrorNamespaces.map((name, index) =>
      isProtectedNamespace(name, { controlPlaneNamespace: linkerdNamespace, namespace })
        ? fieldError(`mirrorNamespaces[${index}]`, name, `must not be ${PROTECTED_KIND}`)
        : undefined,
    ),
    ...envErrors(props.env ?? {}),
    ...podErrors(props, OWN_POD_KEYS),
  ];
};

/** To the API server, a rule without peers allows all. */
const peerErrors = (peers: readonly NetworkPolicyPeer[]): readonly (FieldError | undefined)[] =>
  peers.length === 0
    ? [
        fieldError(
          'networkPolicy.from',
          peers,
          'must not be empty: the API server would allow all',
          'name peers, or leave networkPolicy out to allow all',
        ),
      ]
    : peers.flatMap((peer, index): readonly (FieldError | undefined)[] => {
        const path = `networkPolicy.from[${index}]`;
        const { ipBlock, ...selectors } = peer;
        const isSelecting = Object.keys(selectors).length > 0;
        if (ipBlock === undefined && !isSelecting)
          return [fieldError(path, peer, 'must have podSelector, namespaceSelector or ipBlock')];
        if (ipBlock === undefined) return selectorErrors(path, peer);
        return [
          isSelecting
            ? fieldError(path, undefined, 'must not have both ipBlock and selectors', 'write two peers')
            : undefined,
          ...networkErrors(`${path}.ipBlock`, ipBlock),
        ];
      });

/**
 * Error of a field that has namespaces created, where the operator may write only to namespaces that exist.
 * @param mirrorNamespaces path of the field that limits it
 */
export const limitedError = (path: string, mirrorNamespaces: string): FieldError =>
  fieldError(
    path,
    true,
    `must not be set together with ${mirrorNamespaces}, which must exist`,
    'create them, or leave one of the two out',
  );

const networkErrors = (path: string, { cidr: whole, except = [] }: IpBlock): readonly (FieldError | undefined)[] => {
  const invalid = cidr(`${path}.cidr`, whole);
  const partOf = (at: string, part: string): FieldError | undefined =>
    invalid === undefined && !isPartOf(part, whole)
      ? fieldError(at, part, `must be a part of ${whole}, and not all of it`, 'name a network within it, or remove it')
      : undefined;
  return [
    invalid,
    ...except.map((each, index) => cidr(`${path}.except[${index}]`, each) ?? partOf(`${path}.except[${index}]`, each)),
  ];
};

/** Errors of the selectors of a peer. */
const selectorErrors = (path: string, peer: NetworkPolicyPeer): readonly FieldError[] =>
  (['podSelector', 'namespaceSelector'] as const).flatMap((name) => {
    const read = parseSelector(peer[name], `${path}.${name}`);
    return read.ok ? [] : read.errors;
  });

const envErrors = (env: Readonly<Record<string, string>>): readonly (FieldError | undefined)[] =>
  Object.entries(env).map(([name, value]) => {
    const path = fieldPath('env', name);
    if (OWN_ENV.includes(name)) return fieldError(path, value, 'must not be set: the construct sets it');
    return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
      ? undefined
      : fieldError(path, value, 'must be a valid name of an environment variable');
  });
