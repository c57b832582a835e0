/**
 * How a target's gateway is reached, read from its Service as `linkerd multicluster link-gen` reads it: addresses from
 * its load balancer, ports by their names, and identity and probe from its annotations. Pure.
 */
import { addressProblem } from '../../../crds/gateway-address.ts';
import { parseDuration } from '../../../crds/duration.ts';
import { Annotation, Default } from '../../../crds/wire.ts';
import type { Service } from '../../../operator/kube/objects.ts';
import type { Problem } from '../common/command-error.ts';

/** The Service of a gateway, with what its load balancer has written. */
export interface GatewayService extends Service {
  readonly status?: {
    readonly loadBalancer?: {
      readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[];
    };
  };
}

/** What a Link says of the gateway. */
export interface GatewayFacts {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly identity: string;
  readonly probe: { readonly path: string; readonly port: number; readonly period: string };
}

/** What the user has given instead. */
export interface GivenGateway {
  readonly addresses?: readonly string[] | undefined;
  readonly port?: number | undefined;
  /** Whether the command can wait for an address. @default true */
  readonly canWait?: boolean;
}

export type GatewayRead =
  | { readonly ok: true; readonly gateway: GatewayFacts }
  /** `isPending`: all that is missing is an address, which a load balancer may still write. */
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly isPending: boolean };

/**
 * Reads the Service of a gateway.
 * @param title the Service and its cluster, for messages
 */
export const readGatewayService = (service: GatewayService, title: string, given: GivenGateway): GatewayRead => {
  const problems: Problem[] = [];
  const report = (reason: string, remedy: string): void => void problems.push({ object: title, reason, remedy });
  const { annotations = {} } = service.metadata;

  const identity = annotations[Annotation.gatewayIdentity] ?? '';
  if (identity === '') {
    report(
      `has no annotation ${Annotation.gatewayIdentity}, without which proxies send plaintext`,
      'install the gateway again, or name another with --gateway-name and --gateway-namespace',
    );
  }
  const port = given.port ?? portOf(service, Default.gatewayPortName);
  if (port === undefined) report(`has no port named ${Default.gatewayPortName}`, 'name it with --gateway-port');
  const probePort = portOf(service, Default.probePortName);
  if (probePort === undefined) {
    report(`has no port named ${Default.probePortName}, on which it is probed`, 'add it to the Service');
  }
  const period = probePeriod(annotations[Annotation.probePeriod]);
  if (period === undefined) {
    report(`has an annotation ${Annotation.probePeriod} that is not a duration`, 'write seconds, or as in 3s');
  }
  const addresses = given.addresses ?? balancerAddresses(service);
  for (const address of addresses) {
    const reason = addressProblem(address);
    if (reason !== undefined)
      report(`address ${address} ${reason}`, 'name one that the source reaches with --gateway-addresses');
  }
  const settled = problems.length;
  if (addresses.length === 0) reportNoAddress(service, given, report);
  if (problems.length > 0 || port === undefined || probePort === undefined || period === undefined) {
    return { ok: false, problems, isPending: settled === 0 && isBalanced(service) };
  }
  const path = annotations[Annotation.probePath] ?? Default.probePath;
  return { ok: true, gateway: { addresses, port, identity, probe: { path, port: probePort, period } } };
};

const isBalanced = ({ spec }: GatewayService): boolean => spec?.type === 'LoadBalancer';

const reportNoAddress = (
  service: GatewayService,
  { canWait = true }: GivenGateway,
  report: (reason: string, remedy: string) => void,
): void => {
  if (isBalanced(service)) {
    const wait = canWait ? 'wait for it with --wait' : 'run the command again when it has one';
    report('its load balancer has no address yet', `${wait}, or name one with --gateway-addresses`);
  } else {
    const type = service.spec?.type ?? 'ClusterIP';
    report(`is of type ${type}, which has no addresses of its own`, 'name them with --gateway-addresses');
  }
};

/** The addresses of a load balancer, each once. An IP wins over a host name, as for Linkerd. */
export const balancerAddresses = ({ status }: GatewayService): readonly string[] => [
  ...new Set(
    (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => {
      const address = ip || hostname;
      return address === undefined || address === '' ? [] : [address];
    }),
  ),
];

/** The port that other clusters connect to: a node's, where the Service has no load balancer. */
const portOf = ({ spec }: GatewayService, name: string): number | undefined => {
  const found = (spec?.ports ?? []).find((port) => port.name === name);
  return spec?.type === 'NodePort' ? found?.nodePort : found?.port;
};

/** A duration; whole seconds may be written as a number. */
const probePeriod = (text = '3'): string | undefined => {
  const period = /^\d+$/.test(text) ? `${text}s` : text;
  try {
    return parseDuration(period) > 0 ? period : undefined;
  } catch {
    return undefined;
  }
};
