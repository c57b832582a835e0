/**
 * Stands in for Linkerd's service-mirror controller of one Link: takes the Lease `service-mirror-write-<link>` as
 * client-go's leader election does, and while it holds it keeps gateway-mode mirrors in Linkerd's shape, written by
 * POST and PUT under field manager `controller`. What it does not have, such as appProtocol, the real one does not
 * copy.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Api,
  api,
  ApiError,
  type KubeObject,
  type ObjectMeta,
  type ObjectRef,
} from '../cluster/workload/index.ts';
import type { TestCluster } from '../cluster/index.ts';
import { LINKS_NAMESPACE } from './builders.ts';
import type { EndpointsObject } from './objects.ts';

/** Field manager of Linkerd's controller: the name of its binary. */
const FIELD_MANAGER = 'controller';
/** User agent of its requests in the audit log. */
export const LINKERD_AGENT = 'linkerd-service-mirror';

export interface LinkerdOptions {
  /** `spec.holderIdentity`: the name of its pod. @default linkerd-controller-0 */
  readonly identity?: string;
  /** @default west */
  readonly link?: string;
  /** Name of its Lease. @default - that of the Link */
  readonly lease?: string;
  /** @default 203.0.113.10 */
  readonly gatewayAddress?: string;
  /** Of the Lease, in seconds. @default 2 */
  readonly leaseDurationSeconds?: number;
  /** Whether it writes mirrors while it holds the Lease. @default true */
  readonly mirrors?: boolean;
}

interface Port {
  readonly name?: string;
  readonly protocol?: string;
  readonly port: number;
  readonly targetPort?: number | string;
}

interface Service extends KubeObject {
  readonly spec: { readonly ports?: readonly Port[]; readonly clusterIP?: string };
}

interface Slice extends KubeObject {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[] | null;
}

interface LeaseRecord {
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly leaseTransitions: number;
}

interface Lease extends KubeObject {
  readonly spec?: Partial<LeaseRecord>;
}

const RETRY_PERIOD_MS = 100;
const RENEW_DEADLINE_PART = 0.75;

/** One controller process. */
export class LinkerdController {
  readonly identity: string;
  readonly #link: string;
  readonly #leaseName: string;
  readonly #gatewayAddress: string;
  readonly #leaseDurationSeconds: number;
  readonly #mirrors: boolean;
  readonly #source: Api;
  readonly #target: Api;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #killed = false;
  #leading = false;
  #passes = 0;
  #observed: { readonly record: string; readonly atMs: number } | undefined;

  /** Starts at once. */
  constructor(source: TestCluster, target: TestCluster, options: LinkerdOptions = {}) {
    this.identity = options.identity ?? 'linkerd-controller-0';
    this.#link = options.link ?? 'west';
    this.#leaseName = options.lease ?? `service-mirror-write-${this.#link}`;
    this.#gatewayAddress = options.gatewayAddress ?? '203.0.113.10';
    this.#leaseDurationSeconds = options.leaseDurationSeconds ?? 2;
    this.#mirrors = options.mirrors ?? true;
    this.#source = api(source, { userAgent: LINKERD_AGENT });
    this.#target = api(target, { userAgent: LINKERD_AGENT });
    this.#running = this.#run();
  }

  get leading(): boolean {
    return this.#leading;
  }

  /** How often it has brought the mirrors up to date. */
  get passes(): number {
    return this.#passes;
  }

  /** As on SIGTERM: ends its writes, then releases the Lease. */
  async stop(): Promise<void> {
    await this.#end();
  }

  /** As on SIGKILL: nothing is released; the Lease has to expire. */
  async kill(): Promise<void> {
    this.#killed = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.all([this.#source.close(), this.#target.close()]);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      if (await this.#tryAcquireOrRenew()) await this.#lead();
      else await pause(signal);
    }
    if (!this.#killed && this.#leading) await this.#release();
    this.#leading = false;
  }

  /** Renews and mirrors in turn until stopped, or not renewed within the deadline. */
  async #lead(): Promise<void> {
    const { signal } = this.#stopping;
    let renewedMs = performance.now();
    this.#leading = true;
    while (!signal.aborted) {
      if (this.#mirrors) await this.#mirrorAll().catch(() => undefined);
      await pause(signal);
      if (signal.aborted) return;
      if (await this.#tryAcquireOrRenew()) renewedMs = performance.now();
      else if (performance.now() - renewedMs > this.#leaseDurationSeconds * 1000 * RENEW_DEADLINE_PART) {
        this.#leading = false;
        return;
      }
    }
  }

  /** client-go's step of the same name. */
  async #tryAcquireOrRenew(): Promise<boolean> {
    const now = microTime();
    const taken: LeaseRecord = {
      holderIdentity: this.identity,
      leaseDurationSeconds: this.#leaseDurationSeconds,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 0,
    };
    try {
      const lease = await this.#source.get<Lease>(this.#lease);
      if (lease === undefined) {
        await this.#source.create(withSpec(this.#lease, taken), { fieldManager: FIELD_MANAGER });
        return true;
      }
      const { spec = {} } = lease;
      const holder = spec.holderIdentity ?? '';
      const record = JSON.stringify(spec);
      if (this.#observed?.record !== record) this.#observed = { record, atMs: performance.now() };
      const validUntilMs = this.#observed.atMs + (spec.leaseDurationSeconds ?? 0) * 1000;
      if (holder !== '' && holder !== this.identity && validUntilMs > performance.now()) return false;
      const { acquireTime = now, leaseTransitions = 0 } = spec;
      const renewed =
        holder === this.identity
          ? { ...taken, acquireTime, leaseTransitions }
          : { ...taken, leaseTransitions: leaseTransitions + 1 };
      await this.#source.replace(withSpec(lease, renewed), { fieldManager: FIELD_MANAGER });
      return true;
    } catch {
      return false;
    }
  }

  async #release(): Promise<void> {
    const lease = await this.#source.get<Lease>(this.#lease);
    if (lease?.spec?.holderIdentity !== this.identity) return;
    const now = microTime();
    const vacant: LeaseRecord = {
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: lease.spec.leaseTransitions ?? 0,
    };
    await this.#source.replace(withSpec(lease, vacant), { fieldManager: FIELD_MANAGER });
  }

  /** Brings every mirror up to date: writes those that differ, and deletes those that are no longer exported. */
  async #mirrorAll(): Promise<void> {
    const exported = await this.#target.list<Service>({
      apiVersion: 'v1',
      kind: 'Service',
      labelSelector: 'mirror.linkerd.io/exported=true',
    });
    const slices = await this.#target.list<Slice>({ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' });
    const labelSelector = `mirror.linkerd.io/mirrored-service=true,mirror.linkerd.io/cluster-name=${this.#link}`;
    const mirrors = await this.#source.list<Service>({ apiVersion: 'v1', kind: 'Service', labelSelector });
    const byKey = new Map(mirrors.map((mirror) => [keyOf(mirror), mirror]));
    for (const service of exported) {
      if (this.#stopping.signal.aborted) return;
      const wanted = this.#mirrorOf(service);
      const live = byKey.get(keyOf(wanted));
      byKey.delete(keyOf(wanted));
      const isCurrent = live !== undefined && version(live) === service.metadata.resourceVersion;
      if (!isCurrent) await this.#put(wanted, live);
      // A slice comes after its Service, and changes without it.
      const ready = isReady(service, slices);
      const endpoints = this.#endpointsOf(service, ready);
      const found = await this.#source.get<EndpointsObject>(endpoints);
      if (!isCurrent || hasAddresses(found) !== ready) await this.#put(endpoints, found);
    }
    for (const gone of byKey.values()) {
      if (this.#stopping.signal.aborted) return;
      await this.#source.delete({ ...gone, apiVersion: 'v1', kind: 'Endpoints' });
      await this.#source.delete(gone);
    }
    this.#passes += 1;
  }

  async #put(wanted: ObjectRef, live: KubeObject | undefined): Promise<void> {
    if (live === undefined) {
      await this.#source.create(wanted, { fieldManager: FIELD_MANAGER }).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.code === 409)) throw error;
      });
      return;
    }
    // As from an informer's copy: labels, annotations and what it renders replaced, the rest as it was.
    const { metadata, ...body } = wanted as ObjectRef & { readonly spec?: object };
    const spec = 'spec' in body && { spec: { ...(live as Service).spec, ...body.spec } };
    const replaced = { ...live, ...body, ...spec, metadata: { ...live.metadata, ...metadata } };
    await this.#source.replace(replaced, { fieldManager: FIELD_MANAGER });
  }

  #mirrorOf({ metadata, spec }: Service): ObjectRef {
    return linkerdMirror(this.#link, metadata, spec.ports ?? []);
  }

  #endpointsOf({ metadata, spec }: Service, ready: boolean): ObjectRef {
    return linkerdEndpoints(this.#link, metadata, spec.ports ?? [], ready ? [this.#gatewayAddress] : []);
  }

  get #lease(): ObjectRef {
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: this.#leaseName, namespace: LINKS_NAMESPACE },
    };
  }
}

/** What of a target Service its mirror is made of. */
type Target = Pick<ObjectMeta, 'name' | 'labels' | 'annotations'> & {
  readonly namespace?: string;
  readonly resourceVersion?: string;
};

/** The mirror Service of a target Service, as Linkerd's controller writes it. */
export const linkerdMirror = (cluster: string, target: Target, ports: readonly Port[]): ObjectRef => {
  const { name, namespace = 'shop', labels = {}, annotations = {}, resourceVersion = '1' } = target;
  const manifest = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: `${name}-${cluster}`,
      namespace,
      labels: { ...withoutOwn(labels), ...ownLabels(cluster) },
      annotations: {
        ...withoutOwn(annotations),
        'mirror.linkerd.io/remote-resource-version': resourceVersion,
        'mirror.linkerd.io/remote-svc-fq-name': `${name}.${namespace}.svc.cluster.local`,
      },
    },
    spec: {
      ports: ports.map((port) => ({
        name: port.name,
        protocol: port.protocol ?? 'TCP',
        port: port.port,
        targetPort: port.targetPort ?? port.port,
      })),
    },
  };
  return manifest;
};

/** The Endpoints beside it: the gateway, or nothing if no pod behind the target Service is ready. */
export const linkerdEndpoints = (
  cluster: string,
  target: Target,
  ports: readonly Port[],
  addresses: readonly string[],
): ObjectRef => {
  const { name, namespace = 'shop', labels = {} } = target;
  const manifest = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      name: `${name}-${cluster}`,
      namespace,
      labels: { ...withoutOwn(labels), ...ownLabels(cluster) },
      annotations: {
        'mirror.linkerd.io/remote-svc-fq-name': `${name}.${namespace}.svc.cluster.local`,
        'mirror.linkerd.io/remote-gateway-identity':
          'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local',
      },
    },
    subsets:
      addresses.length === 0
        ? []
        : [
            {
              addresses: addresses.map((ip) => ({ ip })),
              ports: ports.map((port) => ({ name: port.name, protocol: port.protocol ?? 'TCP', port: 4143 })),
            },
          ],
  };
  return manifest;
};

const ownLabels = (cluster: string) => ({
  'mirror.linkerd.io/mirrored-service': 'true',
  'mirror.linkerd.io/cluster-name': cluster,
});

const withoutOwn = (map: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(map).filter(([key]) => !key.startsWith('mirror.linkerd.io/')));

const withSpec = (object: ObjectRef, spec: LeaseRecord): ObjectRef => ({ ...object, spec }) as ObjectRef;

const keyOf = ({ metadata }: ObjectRef): string => `${metadata.namespace ?? ''}/${metadata.name}`;

const version = ({ metadata }: KubeObject): string | undefined =>
  metadata.annotations?.['mirror.linkerd.io/remote-resource-version'];

const isReady = ({ metadata }: Service, slices: readonly Slice[]): boolean =>
  slices
    .filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === metadata.name)
    .filter((slice) => slice.metadata.namespace === metadata.namespace)
    .some(({ endpoints }) => (endpoints ?? []).some(({ conditions }) => conditions?.ready !== false));

const hasAddresses = (endpoints: EndpointsObject | undefined): boolean =>
  (endpoints?.subsets ?? []).some(({ addresses = [] }) => addresses.length > 0);

/** RFC 3339 with microseconds, as `metav1.MicroTime` has it. */
const microTime = (): string => new Date().toISOString().replace('Z', '000Z');

const pause = (signal: AbortSignal): Promise<void> =>
  sleep(RETRY_PERIOD_MS, undefined, { signal }).catch(() => undefined);
