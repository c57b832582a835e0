/** A member of a federated Service. Pure. */
import { crossesGateway, type MirrorMode, type MirrorPort } from '../../constructs/rendered/index.ts';
import type { Service } from '../kube/objects.ts';
import type { Refusal } from '../mirror/reasons.ts';
import type { TargetParty } from './observed.ts';

/** A cluster whose Service is a member. */
export interface Member {
  /** The target cluster; undefined for the local cluster. */
  readonly target: TargetParty | undefined;
  /**
   * The Service that joins. Undefined if the membership stays as it is: the Service is not known or is too large (see
   * `kept`), or another operator or controller decides about the membership.
   */
  readonly service: Service | undefined;
  /** Why the membership stays as it is although the Service is known. @default - no reason is known */
  readonly kept?: Refusal;
  /** Note for the status: which ports of the federated Service the member lacks. */
  readonly note?: string;
}

/** Reports whether the gateway of a target has an address. */
export const isResolved = (target: TargetParty | undefined): boolean => (target?.gateway?.addresses.length ?? 0) > 0;

/**
 * Returns the ports of a Service that a federated Service of this mode can have: in gateway mode, only ports that can
 * cross a gateway.
 */
export function portsIn(mode: MirrorMode, service: Service | undefined): readonly MirrorPort[] {
  const ports = (service?.spec?.ports ?? []).map(
    ({ name, protocol, port, targetPort, appProtocol }) =>
      ({ name, protocol, port, targetPort, appProtocol }) as MirrorPort,
  );
  return mode === 'gateway' ? ports.filter(crossesGateway) : ports;
}
