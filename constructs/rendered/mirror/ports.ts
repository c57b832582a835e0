/**
 * Ports as mirrors have them, written out as the API server stores them: protocol and targetPort are never left to
 * its defaults, so that what is rendered can be compared with what is there.
 */
import { type FieldError, fieldError } from '../../../crds/field-error.ts';
import { isLabelKey } from '../../../crds/names.ts';
import { dnsLabel, portNumber, portNumberOrName } from '../../common/prop-rules.ts';

/** Transport protocols of Kubernetes ports. */
export type Protocol = 'TCP' | 'UDP' | 'SCTP';

/** A port of an endpoint: where a pod listens. */
export interface EndpointPort {
  /**
   * Name of the port; Linkerd finds a mirror's port on its endpoints by it.
   * @default - unnamed, which only a single port may be
   */
  readonly name?: string | undefined;
  /** Port number. */
  readonly port: number;
  /**
   * Transport protocol of the port.
   * @default TCP
   */
  readonly protocol?: Protocol | undefined;
  /**
   * Application protocol, as in `kubernetes.io/h2c`.
   * @default - none
   */
  readonly appProtocol?: string | undefined;
}

/** A port of a Service. */
export interface MirrorPort extends EndpointPort {
  /**
   * Port of the pods behind the Service, by number or name.
   * @default - the Service's port
   */
  readonly targetPort?: number | string | undefined;
}

/** A gateway carries TCP alone: UDP and SCTP ports are left out of a gateway-mode mirror (rule A5). */
export const crossesGateway = (port: EndpointPort): boolean => (port.protocol ?? 'TCP') === 'TCP';

/** The `spec.ports` of a Service; an empty name counts as none. */
export const servicePorts = (ports: readonly MirrorPort[]) =>
  ports.map(({ name, protocol = 'TCP', port, targetPort = port, appProtocol }) => ({
    name: name || undefined,
    protocol,
    port,
    targetPort,
    appProtocol: appProtocol || undefined,
  }));

/** What the API server would refuse in the ports of a Service; `omitted` are those left out of it beforehand. */
export const portErrors = (
  ports: readonly MirrorPort[],
  omitted: readonly MirrorPort[] = [],
): readonly (FieldError | undefined)[] => {
  if (ports.length === 0) {
    const reason =
      omitted.length > 0 ? 'must have a TCP port: UDP and SCTP do not cross a gateway' : 'must not be empty';
    return [fieldError('ports', omitted, reason)];
  }
  const names = new Set<string>();
  const numbers = new Set<string>();
  return ports.flatMap(({ name = '', port, protocol = 'TCP', targetPort = port, appProtocol }, index) => {
    const path = `ports[${index}]`;
    const number = `${port}/${protocol}`;
    const errors = [
      portNumber(`${path}.port`, port),
      numbers.has(number) ? fieldError(`${path}.port`, number, 'must be unique') : undefined,
      name === '' && ports.length > 1
        ? fieldError(`${path}.name`, undefined, 'is required when there are several ports')
        : undefined,
      name === '' ? undefined : dnsLabel(`${path}.name`, name),
      name !== '' && names.has(name) ? fieldError(`${path}.name`, name, 'must be unique') : undefined,
      targetPort === port ? undefined : portNumberOrName(`${path}.targetPort`, targetPort),
      applicationProtocol(`${path}.appProtocol`, appProtocol),
    ];
    names.add(name);
    numbers.add(number);
    return errors;
  });
};

/** Checks an application protocol, which may be absent. */
export const applicationProtocol = (path: string, value: string | undefined): FieldError | undefined =>
  value === undefined || value === '' || isLabelKey(value)
    ? undefined
    : fieldError(path, value, 'must be a valid label key', 'as in kubernetes.io/h2c');
