/**
 * The addresses of a target's gateway as the endpoints of everything that is reached through it (rule C1):
 * ready, not ready while the gateway is not alive, and none while no endpoint is ready behind the target Service.
 */
import type { FieldError } from '../../../crds/field-error.ts';
import { ipAddress, portNumber } from '../../common/prop-rules.ts';
import type { EndpointsKind, EndpointsSubset } from './endpoints.ts';
import type { EndpointPort } from './ports.ts';

/** A gateway as the endpoints of a mirror. */
export interface GatewayEndpoints {
  /** IP addresses of the gateway, in any order. */
  readonly addresses: readonly string[];
  /** The gateway's port: `spec.gatewayPort` of the Link. */
  readonly port: number;
  /**
   * TLS identity of the gateway: `spec.gatewayIdentity` of the Link.
   * @default - none: proxies send plaintext
   */
  readonly identity?: string | undefined;
  /**
   * The last verdict of the gateway's probe.
   * @default true
   */
  readonly alive?: boolean | undefined;
  /**
   * True if an endpoint is ready behind the target Service.
   * @default true
   */
  readonly ready?: boolean | undefined;
  /**
   * What to render the addresses as.
   * @default endpoints
   */
  readonly kind?: EndpointsKind | undefined;
}

/** The one subset of a mirror: the gateway's addresses, and each Service port by name on the gateway's port. */
export const gatewaySubset = (gateway: GatewayEndpoints, ports: readonly EndpointPort[]): EndpointsSubset => ({
  addresses: gateway.addresses.map((ip) => ({ ip })),
  ports: ports.map(({ name, protocol }) => ({ name, protocol, port: gateway.port })),
  state: gatewayState(gateway),
});

const gatewayState = ({ ready = true, alive = true }: GatewayEndpoints): EndpointsSubset['state'] => {
  if (!ready) return 'absent';
  return alive ? 'ready' : 'not-ready';
};

/** Errors of a gateway's port and addresses, below `path`. */
export const gatewayErrors = (
  { port, addresses }: Pick<GatewayEndpoints, 'port' | 'addresses'>,
  path = 'endpoints.',
): readonly (FieldError | undefined)[] => [
  portNumber(`${path}port`, port),
  ...addresses.map((address, index) => ipAddress(`${path}addresses[${index}]`, address)),
];
