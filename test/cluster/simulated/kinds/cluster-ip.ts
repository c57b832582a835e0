/**
 * Cluster IPs and node ports of Services: handed out in order, so that an address that was released is not soon
 * another Service's, as happens on a real cluster with its large random range.
 */
import type { KubeObject } from '../storage/object.ts';
import { invalid, unprocessable, type Named } from '../storage/status.ts';

interface ServicePort {
  nodePort?: number;
}

interface ServiceSpec {
  type?: string;
  clusterIP?: string;
  clusterIPs?: string[];
  ipFamilies?: string[];
  ipFamilyPolicy?: string;
  selector?: Record<string, string>;
  ports?: ServicePort[];
}

const RANGE_SIZE = 65_534;
/** Time until the address of a Service that is gone can be had again, in milliseconds, mostly. */
export const RELEASE_MS = 20;
const FIRST_NODE_PORT = 30_000;
const NODE_PORTS = 2_768;
const NOT_ALLOCATED = new Set(['', 'None']);

const specOf = (service: KubeObject): ServiceSpec => service.spec as ServiceSpec;
const usesNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer';

/** The allocator of one cluster, for 10.96.0.0/16. */
export class ClusterIPs {
  #used = new Set<string>();
  #next = 10;
  #nextNodePort = 0;
  /** Time until the address of a Service that is gone can be had again, in milliseconds. */
  releaseMs = RELEASE_MS;

  /** Starts over from the Services that exist. */
  reset(services: Iterable<KubeObject>): void {
    this.#used = new Set();
    for (const service of services) this.take(service);
  }

  /** Notes the address of a Service that has been stored. */
  take(service: KubeObject): void {
    const { clusterIP = '' } = specOf(service);
    if (!NOT_ALLOCATED.has(clusterIP)) this.#used.add(clusterIP);
  }

  /** Gives back the address that a Service no longer has. */
  release(service: KubeObject): void {
    this.#used.delete(specOf(service).clusterIP ?? '');
  }

  /** Gives back the address of a Service that is gone: as on a real API server, a moment after watches have told of it. */
  releaseSoon(service: KubeObject): void {
    const used = this.#used;
    setTimeout(() => used.delete(specOf(service).clusterIP ?? ''), this.releaseMs).unref();
  }

  /** Completes a Service, in place, that is created or changed: addresses, families, node ports. */
  prepare(service: KubeObject, old: KubeObject | undefined, resource: Named): void {
    const spec = specOf(service);
    if (spec.type === 'ExternalName') {
      if (spec.clusterIP === '') delete spec.clusterIP;
      return;
    }
    const before = old === undefined ? undefined : specOf(old);
    if (spec.clusterIP === undefined || spec.clusterIP === '') {
      spec.clusterIP = spec.clusterIPs?.[0] ?? before?.clusterIP ?? this.#allocate();
    } else if (spec.clusterIP !== before?.clusterIP && this.#used.has(spec.clusterIP)) {
      throw unprocessable(resource, service.metadata.name, [
        invalid(
          'spec.clusterIPs',
          [spec.clusterIP],
          `failed to allocate IP ${spec.clusterIP}: provided IP is already allocated`,
        ),
      ]);
    }
    spec.clusterIPs = [spec.clusterIP];
    const anyFamily = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0;
    spec.ipFamilyPolicy ??= before?.ipFamilyPolicy ?? (anyFamily ? 'RequireDualStack' : 'SingleStack');
    spec.ipFamilies ??= before?.ipFamilies ?? (anyFamily ? ['IPv4', 'IPv6'] : ['IPv4']);
    if (usesNodePorts(spec)) this.#nodePorts(spec, before);
    else for (const port of spec.ports ?? []) delete port.nodePort;
  }

  #nodePorts(spec: ServiceSpec, before: ServiceSpec | undefined): void {
    for (const [index, port] of (spec.ports ?? []).entries()) {
      port.nodePort ??= before?.ports?.[index]?.nodePort ?? FIRST_NODE_PORT + (this.#nextNodePort++ % NODE_PORTS);
    }
  }

  #allocate(): string {
    for (;;) {
      this.#next = (this.#next % RANGE_SIZE) + 1;
      const ip = `10.96.${this.#next >> 8}.${this.#next & 255}`;
      if (!this.#used.has(ip)) return ip;
    }
  }
}
