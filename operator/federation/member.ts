/** A member of a federated Service. Pure. */
import { crossesGateway, type MirrorMode, type MirrorPort } from '../../constructs/rendered/index.ts';
import type { Service } from '../kube/objects.ts';
import type { Refusal } from '../mirror/reasons.ts';
import type { TargetParty } from './observed.ts';

/** A member of a federated Service, and the cluster that has it. */
export interface Member {
  /** The target cluster; undefined for the local cluster. */
  readonly target: TargetParty | undefined;
  /**
   * The Service that joins. Undefined if the membership stays as it is, for one of these reasons:
   * - The Service is not known.
   * - The Service is too large (see `kept`).
   * - This operator does not hold the Lease under which the membership is written (`Knowledge` is `anothers`).
   */
  readonly service: Service | undefined;
  /**
   * Why the membership stays as it is although this operator knows the Service and holds the Lease of the membership.
   * @default - the Service joins or is not known, or this operator does not hold that Lease
   */
  readonly kept?: Refusal;
  /** Note for the status: which ports of the federated Service the member lacks. */
  readonly note?: string;
}

/** Reports whether the gateway of a target has an address. */
export const isResolved = (target: TargetParty | undefined): boolean => (target?.gateway?.addresses.length ?? 0) > 0;

/**
 * Returns those ports of a Service that a federated Service can have in this mode: all of them in flat mode, and only
 * those that can cross a gateway in gateway mode.
 */
export function portsIn(mode: MirrorMode, service: Service | undefined): readonly MirrorPort[] {
  const ports = (service?.spec?.ports ?? []).map(
    ({ name, protocol, port, targetPort, appProtocol }) =>
      ({ name, protocol, port, targetPort, appProtocol }) as MirrorPort,
  );
  return mode === 'gateway' ? ports.filter(crossesGateway) : ports;
}
