/** What is read of ServiceFailovers, and of the Services that they name. */
import { parseDuration } from '../../../crds/duration.ts';
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import { LINKS_NAMESPACE } from '../../support/builders.ts';
import type { FailoverSpec } from '../command.ts';
import { SECOND_NAMESPACE } from '../operators.ts';
import type { Sender } from '../world/internet.ts';

export type Backend = FailoverSpec['backends'][number];

/** Endpoints of a Service. */
export interface Counts {
  readonly ready: number;
  readonly total: number;
}

interface ServicePort {
  readonly port: number;
  readonly protocol?: string;
  readonly appProtocol?: string;
}

export interface Status {
  readonly operator?: string;
  readonly observedGeneration?: number;
  readonly active?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  readonly backends?: readonly {
    readonly service: string;
    readonly ready: boolean;
    readonly weight?: number;
    readonly readyEndpoints?: number;
    readonly endpoints?: number;
  }[];
}

export const statusOf = (failover: KubeObject): Status => failover['status'] ?? {};
export const specOf = (failover: KubeObject): FailoverSpec => failover.spec as FailoverSpec;

/** One endpoint at least, or as many as the backend asks for. */
export function isEnough({ ready, total }: Counts, { minReady = 1 }: Backend): boolean {
  if (ready === 0) return false;
  return typeof minReady === 'number' ? ready >= minReady : ready / total >= Number.parseInt(minReady) / 100;
}

export const tcpPortsOf = (service: KubeObject | undefined): readonly number[] =>
  tcpOf(service).map(({ port }) => port);

/** Whether Linkerd does not look into the connections to a port: what the Service says of its protocol comes first. */
export function isOpaque(service: KubeObject, number: number): boolean {
  const listed = (service.metadata.annotations?.['config.linkerd.io/opaque-ports'] ?? '').split(',').map(Number);
  const appProtocol = tcpOf(service).find(({ port }) => port === number)?.appProtocol;
  return appProtocol === undefined ? listed.includes(number) : !['http', 'kubernetes.io/h2c'].includes(appProtocol);
}

const tcpOf = (service: KubeObject | undefined): readonly ServicePort[] =>
  ((service?.spec as { readonly ports?: readonly ServicePort[] } | undefined)?.ports ?? []).filter(
    ({ protocol = 'TCP' }) => protocol === 'TCP',
  );

/** Half a minute, unless it says otherwise (J1). */
export const holdDownMs = (failover: KubeObject): number => parseDuration(specOf(failover).holdDown ?? '30s');

export const keyOf = ({ metadata: { namespace, name } }: KubeObject): string => `${namespace}/${name}`;

/** Namespace of the operator that sent something. */
export const ownNamespace = ({ process }: Sender): string =>
  process.name.startsWith(SECOND_NAMESPACE) ? SECOND_NAMESPACE : LINKS_NAMESPACE;
