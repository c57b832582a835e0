/** A member of a federated Service. Pure. */
import { crossesGateway, type MirrorMode, type MirrorPort } from '../../constructs/rendered/index.ts';
import type { Service } from '../kube/objects.ts';
import type { Refusal } from '../mirror/reasons.ts';
import type { TargetParty } from './observed.ts';

/** A cluster whose Service is a member. */
export interface Member {
  /** Undefined for the local cluster. */
  readonly target: TargetParty | undefined;
  /** Undefined if the membership stays as it is, since what decides about it is not known, or is another's to decide. */
  readonly service: Service | undefined;
  /** Why the membership stays as it is although its Service is known. @default - it is not known, or another's to decide */
  readonly kept?: Refusal;
  /** What the member cannot have. */
  readonly note?: string;
}

/** Reports whether the gateway of a target has an address. */
export const isResolved = (target: TargetParty | undefined): boolean => (target?.gateway?.addresses.length ?? 0) > 0;

/** Returns the ports of a Service that a federated Service in this mode can have. */
export function portsIn(mode: MirrorMode, service: Service | undefined): readonly MirrorPort[] {
  const ports = (service?.spec?.ports ?? []).map(
    ({ name, protocol, port, targetPort, appProtocol }) =>
      ({ name, protocol, port, targetPort, appProtocol }) as MirrorPort,
  );
  return mode === 'gateway' ? ports.filter(crossesGateway) : ports;
}
