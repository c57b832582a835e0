/** What a cluster file says of a cluster, as far as the cluster can be asked. */
import { setTimeout as sleep } from 'node:timers/promises';
import { addressProblem } from '../../../crds/gateway-address.ts';
import { caCertificates, serverUrl } from '../../../constructs/link/kubeconfig.ts';
import { Default } from '../../../crds/wire.ts';
import { kubeconfigServer, loadSourceKubeconfig } from '../../../operator/kube/access/kubeconfig.ts';
import { TerminalError } from '../../../operator/kube/errors.ts';
import { SERVICES } from '../../../operator/kube/objects.ts';
import { Cluster } from '../common/cluster.ts';
import { CommandError } from '../common/command-error.ts';
import { apiServerProblem } from '../link/api-server.ts';
import { balancerAddresses, type GatewayService } from '../link/gateway.ts';
import { type Domains, readDomains } from '../common/linkerd.ts';
import type { InitFlags } from './flags.ts';

/** How long a cluster may take to answer. */
const REACH_TIMEOUT_MS = 10_000;

/** An API server as other clusters reach it. */
export interface ApiServer {
  readonly url: string;
  /** PEM, in base64. */
  readonly caData: string;
  readonly tlsServerName: string | undefined;
}

/** As in a cluster file. */
export interface NodePorts {
  readonly nodePort?: number | undefined;
  readonly probeNodePort?: number | undefined;
}

/** One cluster of the file. */
export interface Surveyed {
  readonly context: string;
  readonly name: string;
  /** URL of the API server, as the kubeconfig has it. */
  readonly server: string;
  /** Undefined, with the reason, if others cannot use what the kubeconfig says. */
  readonly apiServer: ApiServer | { readonly problem: string };
  /** Undefined if there is no Linkerd, or no answer. */
  readonly domains: Domains | undefined;
  /** Addresses of the gateway's load balancer. */
  readonly gatewayAddresses: readonly string[];
  /** Ports of the nodes that lead to a gateway of type NodePort; undefined for another gateway, or one that was not read. */
  readonly nodePorts?: NodePorts | undefined;
  /** Why the cluster could not be asked; undefined if it answered. */
  readonly silence: string | undefined;
}

/** Asks a cluster. One that cannot be asked, or does not answer, is not an error: the user fills in what is missing. */
export const surveyCluster = async (
  { kubeconfig, namespace, linkerdNamespace }: InitFlags,
  context: string,
  name: string,
): Promise<Surveyed> => {
  let cluster: Cluster;
  try {
    cluster = await Cluster.open({ kubeconfig, context });
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    return unasked(kubeconfig, context, name, error.message);
  }
  const { server } = cluster.reachedBy;
  const known = { context, name, server, apiServer: apiServerOf(cluster) };
  try {
    const asked = Promise.all([
      readDomains(cluster, linkerdNamespace),
      cluster.find<GatewayService>(SERVICES, { namespace, name: Default.gatewayName }),
    ]);
    const late = new AbortController();
    const answer = await Promise.race([
      asked,
      sleep(REACH_TIMEOUT_MS, undefined, { signal: late.signal }).catch(() => undefined),
    ]).finally(() => late.abort());
    if (answer === undefined) {
      asked.catch(() => undefined);
      return {
        ...known,
        domains: undefined,
        gatewayAddresses: [],
        silence: `no answer in ${REACH_TIMEOUT_MS / 1000} s`,
      };
    }
    const [domains, gateway] = answer;
    return {
      ...known,
      domains,
      gatewayAddresses: addressesOf(gateway),
      nodePorts: nodePortsOf(gateway),
      silence: undefined,
    };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const silence = error.problems.map(({ reason }) => reason).join('; ');
    return { ...known, domains: undefined, gatewayAddresses: [], silence };
  } finally {
    await cluster.close();
  }
};

/** What the kubeconfig says of a cluster that cannot be asked. */
const unasked = (kubeconfig: string | undefined, context: string, name: string, silence: string): Surveyed => {
  const reachedBy = kubeconfigServer(loadSourceKubeconfig({ kubeconfig, context }));
  const { server } = reachedBy;
  const known = { context, name, server, domains: undefined, gatewayAddresses: [], silence };
  try {
    return { ...known, apiServer: apiServerOf({ reachedBy }) };
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    return { ...known, apiServer: { problem: error.message } };
  }
};

const apiServerOf = ({ reachedBy }: Pick<Cluster, 'reachedBy'>): Surveyed['apiServer'] => {
  const { server: url, caData, tlsServerName, context } = reachedBy;
  const own = apiServerProblem(reachedBy, 'other clusters', '');
  if (own !== undefined) return { problem: own.reason };
  if (serverUrl('', url) !== undefined) return { problem: `${url} is not an https URL` };
  if (caData === undefined || caCertificates('', caData) !== undefined)
    return { problem: `the kubeconfig has no CA of ${context}` };
  return { url, caData, tlsServerName };
};

/** Those that a cluster file can have. */
const addressesOf = (gateway: GatewayService | undefined): readonly string[] =>
  gateway === undefined ? [] : balancerAddresses(gateway).filter((address) => addressProblem(address) === undefined);

const nodePortsOf = (gateway: GatewayService | undefined): NodePorts | undefined => {
  const { type, ports = [] } = gateway?.spec ?? {};
  const portOf = (name: string): number | undefined => ports.find((port) => port.name === name)?.nodePort;
  return type === 'NodePort'
    ? { nodePort: portOf(Default.gatewayPortName), probeNodePort: portOf(Default.probePortName) }
    : undefined;
};
