/** Linkerd's proxy beside an application: what linkerd-init and the injector do for it, for a pod that is a namespace. */
import { Annotation } from '../../crds/wire.ts';
import { ControlPort, LINKERD } from './control-plane.ts';
import type { PodNetwork } from './network.ts';

/** The user that proxies run as: what it sends is not led to the proxy again. */
export const PROXY_USER = 2102;
export const ProxyPort = { inbound: 4143, outbound: 4140, admin: 4191, control: 4190 } as const;

/** Leads what the pod sends and receives to its proxy, and the control plane to its loopback interface. */
export const redirect = async (network: PodNetwork, node: string): Promise<void> => {
  await network.script(
    `ip4() { iptables -w -t nat -A "$@"; }
     echo 1 >/proc/sys/net/ipv4/conf/all/route_localnet
     ip4 OUTPUT -p tcp -d 127.0.0.1 -m multiport --dports "$2" -j DNAT --to-destination "$1"
     ip4 POSTROUTING -p tcp -s 127.0.0.1 -d "$1" -j MASQUERADE
     ip4 OUTPUT -m owner --uid-owner ${PROXY_USER} -j RETURN
     ip4 OUTPUT -o lo -j RETURN
     ip4 OUTPUT -p tcp -j REDIRECT --to-port ${ProxyPort.outbound}
     ip4 PREROUTING -p tcp --dport ${ProxyPort.control}:${ProxyPort.admin} -j RETURN
     ip4 PREROUTING -p tcp -j REDIRECT --to-port ${ProxyPort.inbound}`,
    node,
    Object.values(ControlPort).join(','),
  );
};

/** What a proxy has to know of its pod. */
export interface ProxyProps {
  readonly namespace: string;
  readonly pod: string;
  readonly node: string;
  readonly serviceAccount: string;
  readonly trustDomain: string;
  readonly identityPort: number;
  readonly annotations: Readonly<Record<string, string>>;
  /** All addresses of the pod. */
  readonly addresses: readonly string[];
  readonly ports: readonly number[];
  /** Folder of the key and the certificate request. */
  readonly identityDir: string;
  readonly tokenFile: string;
  /** PEM. */
  readonly trustAnchors: string;
}

/** Name of the identity of a ServiceAccount. */
export const identityOf = (account: string, namespace: string, trustDomain: string): string =>
  `${account}.${namespace}.serviceaccount.identity.${LINKERD}.${trustDomain}`;

/** Environment of a proxy, as the injector makes it of the annotations of the pod. */
export const proxyEnvironment = (props: ProxyProps): Readonly<Record<string, string>> => {
  const { namespace, pod, node, trustDomain, annotations } = props;
  const controller = (name: string): string => identityOf(`linkerd-${name}`, LINKERD, trustDomain);
  const identityPorts = annotations[Annotation.requireIdentityPorts];
  return prefixed({
    LOG: 'warn',
    DESTINATION_SVC_ADDR: `127.0.0.1:${ControlPort.destination}`,
    DESTINATION_SVC_NAME: controller('destination'),
    DESTINATION_PROFILE_NETWORKS: '10.0.0.0/8',
    DESTINATION_PROFILE_SUFFIXES: 'svc.cluster.local.',
    DESTINATION_CONTEXT: JSON.stringify({ ns: namespace, nodeName: node, pod }),
    POLICY_SVC_ADDR: `127.0.0.1:${ControlPort.policy}`,
    POLICY_SVC_NAME: controller('destination'),
    POLICY_CLUSTER_NETWORKS: '10.0.0.0/8',
    POLICY_WORKLOAD: JSON.stringify({ ns: namespace, pod }),
    IDENTITY_SVC_ADDR: `127.0.0.1:${props.identityPort}`,
    IDENTITY_SVC_NAME: controller('identity'),
    IDENTITY_DIR: props.identityDir,
    IDENTITY_TRUST_ANCHORS: props.trustAnchors,
    IDENTITY_TOKEN_FILE: props.tokenFile,
    IDENTITY_LOCAL_NAME: identityOf(props.serviceAccount, namespace, trustDomain),
    INBOUND_DEFAULT_POLICY: annotations[Annotation.defaultInboundPolicy] ?? 'all-unauthenticated',
    INBOUND_IPS: props.addresses.join(','),
    INBOUND_PORTS: props.ports.join(','),
    INBOUND_LISTEN_ADDR: `0.0.0.0:${ProxyPort.inbound}`,
    OUTBOUND_LISTEN_ADDR: `127.0.0.1:${ProxyPort.outbound}`,
    OUTBOUND_LISTEN_ADDRS: `127.0.0.1:${ProxyPort.outbound}`,
    CONTROL_LISTEN_ADDR: `0.0.0.0:${ProxyPort.control}`,
    ADMIN_LISTEN_ADDR: `0.0.0.0:${ProxyPort.admin}`,
    ...(annotations[Annotation.enableGateway] === 'true' && { INBOUND_GATEWAY_SUFFIXES: 'svc.cluster.local.' }),
    ...(identityPorts !== undefined && { INBOUND_PORTS_REQUIRE_IDENTITY: identityPorts }),
  });
};

const prefixed = (variables: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [`LINKERD2_PROXY_${name}`, value]));
