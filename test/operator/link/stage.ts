/**
 * A source cluster in this process, simulated, with the operator's own stores over it: what the parts of a Link's life
 * work on. Mirrors, Links and Leases are put there as others would have left them.
 */
import { linkCrd } from '../../../crds/index.ts';
import { type OperatorConfig, parseOperatorConfig } from '../../../operator/config/config.ts';
import type { Tuning } from '../../../operator/config/tuning.ts';
import { sourceAccess } from '../../../operator/kube/access/in-cluster.ts';
import { KubeClient } from '../../../operator/kube/client.ts';
import { FairSemaphore } from '../../../operator/kube/semaphore.ts';
import type { Environment } from '../../../operator/link/environment.ts';
import { createMetrics } from '../../../operator/metrics/index.ts';
import { NameClaims } from '../../../operator/mirror/names.ts';
import { Interruptions } from '../../../operator/runtime/interruptions.ts';
import { SourceCluster } from '../../../operator/source/source.ts';
import { LEADERS } from '../../cluster/guests.ts';
import { type SimulatedCluster, startSimulated } from '../../cluster/simulated/start.ts';
import type { Manifest } from '../../cluster/simulated/store.ts';
import { installCrd, type ObjectRef } from '../../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, LINKS_NAMESPACE, namespace, service, slice } from '../../support/builders.ts';
import { FAST } from '../../support/operator.ts';
import { type LogRecord, recordingLog } from './recorded.ts';

export interface StageOptions {
  readonly flags?: Readonly<Record<string, string | string[] | boolean>>;
  readonly tuning?: Tuning;
}

export interface LeaseRecord {
  readonly holder: string;
  /** The cluster that it records. */
  readonly cluster: string | undefined;
  /** What it records of a confirmed loss. */
  readonly confirmed?: string | undefined;
}

/** Those of an operator whose Leases a busy machine does not lose. */
const FLAGS = {
  identity: 'linkspan-0',
  adminAddress: '127.0.0.1:0',
  leaseDuration: '30s',
  renewDeadline: '20s',
  retryPeriod: '20ms',
  endpointMirrorGrace: '0s',
};

export class Stage {
  readonly east: SimulatedCluster;
  readonly client: KubeClient;
  readonly config: OperatorConfig;
  readonly tuning: Tuning;
  readonly metrics = createMetrics({ process: false });
  /** `level message` of all that was logged. */
  readonly lines: string[] = [];
  readonly records: LogRecord[] = [];
  readonly log = recordingLog(this.lines, this.records);
  /** Whether the operator leads. */
  readonly mayWrite = (): boolean => true;
  /** Whether a replica has ceased to write. */
  readonly hasCeased = (identity: string): boolean => identity === 'linkspan-ceased';
  readonly #ended = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  private constructor(east: SimulatedCluster, client: KubeClient, config: OperatorConfig, tuning: Tuning) {
    this.east = east;
    this.client = client;
    this.config = config;
    this.tuning = tuning;
  }

  /** A cluster with namespaces, and the Link CRD. */
  static async start({ flags = {}, tuning = {} }: StageOptions = {}): Promise<Stage> {
    const east = await startSimulated({ name: 'east' });
    await installCrd(east, linkCrd);
    for (const name of ['shop', LINKS_NAMESPACE, 'kube-system']) east.store.upsert(namespace(name) as Manifest);
    const parsed = parseOperatorConfig({ ...FLAGS, kubeconfig: east.kubeconfigFile, ...flags }, {});
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
    const client = new KubeClient(await sourceAccess({ kubeconfig: east.kubeconfigFile }), {
      userAgent: 'linkspan-test',
      fieldManager: 'linkspan',
    });
    return new Stage(east, client, parsed.value, { ...FAST, removalGraceMs: 0, ...tuning });
  }

  /** What parts of a Link's life are given, with the source cluster read. */
  async environment(): Promise<Environment> {
    const { client, config, tuning, metrics, log } = this;
    const { namespace: own, mirrorNamespaces } = config;
    const source = new SourceCluster({ client, namespace: own, mirrorNamespaces, timings: tuning.sourceTimings, log });
    this.#running = source.run(this.#ended.signal);
    await source.whenSynced(this.#ended.signal);
    const writes = new FairSemaphore(client.connections);
    const rest = { families: new Set(['IPv4'] as const), claims: new NameClaims(), mayWrite: this.mayWrite };
    const presence = { holdMs: () => Promise.resolve(0) };
    const interruptions = new Interruptions();
    const { hasCeased } = this;
    const nothing = (): void => undefined;
    const federations = {
      ...{ join: nothing, leave: nothing, add: nothing, interrupt: () => Promise.resolve() },
      underWayOf: () => [],
    };
    const discovery = { has: () => true };
    return {
      federations,
      discovery,
      client,
      presence,
      writes,
      interruptions,
      hasCeased,
      config,
      tuning,
      metrics,
      log,
      source,
      ...rest,
    };
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    this.east.faults.clear();
    await this.#running;
    await this.client.close();
    await this.east.stop();
  }

  put(object: ObjectRef): void {
    this.east.store.upsert(object as Manifest);
  }

  /** A mirror as an operator left it, with ready Endpoints. */
  mirror(name: string, cluster = 'west', within = 'shop'): void {
    const labels = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': cluster };
    const metadata = { name: `${name}-${cluster}`, namespace: within, labels };
    this.put(service(metadata.name, { namespace: within, labels, selector: null }));
    this.east.store.upsert({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata,
      subsets: [{ addresses: [{ ip: GATEWAY }], ports: [{ name: 'http', port: 4143, protocol: 'TCP' }] }],
    });
  }

  /** Names of the Services in a namespace. */
  services(within = 'shop'): readonly string[] {
    return this.east.store.list('v1', 'Service', within).map(({ metadata }) => metadata.name);
  }

  /** Whether these Services, and no others, are in namespace shop. */
  has(...names: readonly string[]): boolean {
    return this.services().join() === [...names].sort().join();
  }

  /** The addresses of Endpoints in shop, `!` before those that are not ready. */
  addresses(name: string): readonly string[] {
    const found = this.east.store.get('v1', 'Endpoints', 'shop', name) as
      | { readonly subsets?: readonly Record<'addresses' | 'notReadyAddresses', { readonly ip: string }[]>[] }
      | undefined;
    return (found?.subsets ?? []).flatMap(({ addresses = [], notReadyAddresses = [] }) => [
      ...addresses.map(({ ip }) => ip),
      ...notReadyAddresses.map(({ ip }) => `!${ip}`),
    ]);
  }

  /** A Lease of a Link as it would be left. */
  lease(link: string, holder: string, cluster?: string, name = `service-mirror-write-${link}`, seconds = 3600): void {
    const time = '2026-01-01T00:00:00.000000Z';
    this.put({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name,
        namespace: LINKS_NAMESPACE,
        ...(cluster !== undefined && { annotations: { 'linkspan.dev/target-cluster': cluster } }),
      },
      spec: { holderIdentity: holder, leaseDurationSeconds: seconds, acquireTime: time, renewTime: time },
    } as ObjectRef);
  }

  /** The Leases of Links, by Link. */
  leases(): Readonly<Record<string, LeaseRecord>> {
    const prefix = 'service-mirror-write-';
    const found = this.east.store.list('coordination.k8s.io/v1', 'Lease', LINKS_NAMESPACE);
    return Object.fromEntries(
      found.flatMap((lease) => {
        const { name, annotations } = lease.metadata as { readonly name: string; readonly annotations?: Annotations };
        const { spec } = lease as { readonly spec?: { readonly holderIdentity?: string } };
        const record = {
          holder: spec?.holderIdentity ?? '',
          cluster: annotations?.['linkspan.dev/target-cluster'],
          confirmed: annotations?.['linkspan.dev/confirmed'],
        };
        return name.startsWith(prefix) ? [[name.slice(prefix.length), record]] : [];
      }),
    );
  }
}

type Annotations = Readonly<Record<string, string>>;

/** A target cluster with Services in namespace shop, each with one ready pod; it has two more admins. */
export async function startTarget(...names: readonly string[]): Promise<SimulatedCluster> {
  const west = await startSimulated({ name: 'west', users: LEADERS });
  west.store.upsert(namespace('shop') as Manifest);
  for (const name of names) exportFrom(west, name);
  return west;
}

export function exportFrom(target: SimulatedCluster, name: string): void {
  target.store.upsert({ ...service(name, { labels: EXPORTED }) });
  target.store.upsert(slice(name) as Manifest);
}
