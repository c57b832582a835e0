/**
 * Two clusters of a set for the requirements of the MCS conformance suite: linked both ways, with an operator in each, and
 * a namespace of its own for each requirement. The first cluster exports first; its id comes first too, so that its export
 * counts as the older one also where both were made in the same second.
 */
import { type Backing, borrowCluster, startCluster } from '../cluster/index.ts';
import type { Api } from '../cluster/workload/index.ts';
import { namespace, service, type ServiceOptions } from './builders.ts';
import { FullMesh } from './full-mesh.ts';
import { clusterId, installMcs, McsView, type Pod, podSlices, serviceExport } from './mcs.ts';
import type { Tuning } from '../../operator/config/tuning.ts';

/** How the operators reach the pods of each other's clusters. */
export type Reach = 'gateway' | 'flat';

/** One of the two clusters. */
export type At = 0 | 1;

export const BOTH: readonly At[] = [0, 1];

/** Names of the clusters, as their Links have them. */
const NAMES = ['east', 'west'] as const;
/** Ids of the clusters, as their ClusterProperties have them. */
export const IDS = ['one', 'two'] as const;
const GATEWAYS = ['203.0.113.10,2001:db8::10', '203.0.113.20,2001:db8::20'] as const;

/** Ports of the Service `hello`, as the suite has them. */
export const HELLO_PORTS: readonly object[] = [
  { name: 'tcp', port: 42, protocol: 'TCP' },
  { name: 'udp', port: 42, protocol: 'UDP' },
];

export interface ConformanceOptions {
  readonly backing: Backing;
  /** Whether the clusters have DNS, and addresses of both families. @default false */
  readonly dns?: boolean;
  readonly tuning?: Tuning;
}

export class ConformanceSet {
  readonly mesh: FullMesh;
  readonly #isDualStack: boolean;
  #reach: Reach = 'gateway';
  #namespaces = 0;

  private constructor(mesh: FullMesh, isDualStack: boolean) {
    this.mesh = mesh;
    this.#isDualStack = isDualStack;
  }

  static async start({ backing, dns = false, tuning = {} }: ConformanceOptions): Promise<ConformanceSet> {
    const start = (name: string) =>
      dns ? startCluster({ backing, name, dns: 'clusterset', dualStack: true }) : borrowCluster(backing, name);
    const clusters = await Promise.all(NAMES.map(start));
    await Promise.all(clusters.map(installMcs));
    const mesh = await FullMesh.over(clusters);
    const set = new ConformanceSet(mesh, dns);
    for (const at of BOTH) await set.api(at).apply(clusterId(IDS[at]));
    await set.reach('gateway');
    mesh.operate(NAMES, { tuning });
    for (const name of NAMES) await mesh.ready(name);
    return set;
  }

  api(at: At): Api {
    return this.mesh.peer(NAMES[at]).api;
  }

  view(at: At): McsView {
    return new McsView(this.api(at));
  }

  dns(at: At) {
    return this.mesh.peer(NAMES[at]).cluster.dns;
  }

  /** Has both clusters reach each other in that way. */
  async reach(federation: Reach): Promise<void> {
    this.#reach = federation;
    for (const at of BOTH) {
      const gatewayAddress = this.#isDualStack ? GATEWAYS[other(at)] : GATEWAYS[other(at)].split(',')[0];
      await this.mesh.link(NAMES[at], NAMES[other(at)], { federation, gatewayAddress });
    }
  }

  /** A namespace of its own in both clusters. */
  async hello(): Promise<Hello> {
    this.#namespaces += 1;
    const name = `mcs-conformance-${this.#namespaces}`;
    for (const at of BOTH) await this.api(at).apply(namespace(name));
    return new Hello(this, name, this.#isDualStack);
  }

  /** Where requests to the Service `hello` of a cluster go if these clusters export it. */
  routes(at: At, exporters: readonly At[], isDualStack = this.#isDualStack): readonly string[] {
    const isRemote = exporters.some((each) => each !== at);
    if (this.#reach === 'flat' && isRemote)
      return [...exporters.filter((each) => each === at).map(() => '(local)'), `hello@${NAMES[other(at)]}`];
    const ofFamilies = (addresses: readonly string[]) => addresses.slice(0, isDualStack ? 2 : 1);
    return exporters
      .flatMap((each) =>
        ofFamilies(each === at ? [podIP(each), podIPv6(each)] : GATEWAYS[each].split(',')).map(
          (address) => `${IDS[each]} ${address}`,
        ),
      )
      .sort();
  }

  stop(): Promise<void> {
    return this.mesh.stop();
  }
}

const other = (at: At): At => (at === 0 ? 1 : 0);

export const podIP = (at: At, index = 0): string => `10.24${4 + at}.0.${index + 1}`;
export const podIPv6 = (at: At, index = 0): string => `fd00:24${4 + at}::${index + 1}`;

/** The Service `hello` of the suite, in a namespace of its own. */
export class Hello {
  readonly namespace: string;
  readonly #set: ConformanceSet;
  readonly #isDualStack: boolean;

  constructor(set: ConformanceSet, name: string, isDualStack: boolean) {
    this.#set = set;
    this.namespace = name;
    this.#isDualStack = isDualStack;
  }

  get name(): string {
    return `hello.${this.namespace}.svc.clusterset.local`;
  }

  /** Creates the Service and, as Kubernetes does, its slices. */
  async create(at: At, options: ServiceOptions = {}, pods: readonly Omit<Pod, 'ip'>[] = [{}]): Promise<void> {
    const { ports = HELLO_PORTS, spec = {} } = options;
    await this.#set.api(at).create(
      service('hello', {
        ...options,
        namespace: this.namespace,
        ports,
        spec: {
          sessionAffinity: 'ClientIP',
          sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
          ipFamilyPolicy: 'PreferDualStack',
          ...spec,
        },
      }),
    );
    await this.pods(at, pods, ports);
  }

  /** Has the Service have these pods. */
  async pods(at: At, pods: readonly Omit<Pod, 'ip'>[], ports: readonly object[] = HELLO_PORTS): Promise<void> {
    const all = pods.flatMap((pod, index) => [
      { ...pod, ip: podIP(at, index) },
      ...(this.#isDualStack ? [{ ...pod, ip: podIPv6(at, index) }] : []),
    ]);
    for (const slice of podSlices('hello', all, { namespace: this.namespace, ports }))
      await this.#set.api(at).apply(slice);
  }

  async export(at: At, spec?: object): Promise<void> {
    await this.#set.api(at).create(serviceExport('hello', this.namespace, spec));
  }

  async unexport(at: At): Promise<void> {
    await this.#set.api(at).delete(serviceExport('hello', this.namespace));
  }

  /** Exports a Service of another name from the first cluster, and returns when all clusters have imported it. */
  async exportAnother(): Promise<void> {
    await this.#set.api(0).create(service('another', { namespace: this.namespace }));
    await this.#set.api(0).create(serviceExport('another', this.namespace));
    for (const at of BOTH) await this.#set.view(at).untilImport('is there', 'another', () => true, this.namespace);
  }
}
