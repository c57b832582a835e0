/**
 * Clusters of which each has a Link to each other one, and an operator of its own in this process. Gateways are not
 * probed, but for one that a test names.
 */
import { linkCrd } from '../../crds/index.ts';
import { type Backing, borrowCluster, type TestCluster } from '../cluster/index.ts';
import { api, type Api, eventually, installCrd, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { credentials, link, LINKS_NAMESPACE, namespace } from './builders.ts';
import { TestGateway } from './gateway.ts';
import type { LinkCondition, LinkObject, ServiceObject } from './objects.ts';
import { type OperatorOptions, TestOperator } from './operator.ts';

const REMOTE = 'multicluster.linkerd.io/remote-discovery';
const LOCAL = 'multicluster.linkerd.io/local-discovery';

/** One cluster of the mesh. */
export interface Peer {
  readonly name: string;
  readonly cluster: TestCluster;
  readonly api: Api;
}

export interface FederatedObject extends ServiceObject {
  readonly metadata: ServiceObject['metadata'] & { readonly annotations?: Readonly<Record<string, string>> };
}

/** The control plane's copy of the credentials of a cluster, by which Linkerd's destination controller finds its pods. */
export const discoveryCredentials = (cluster: string): ObjectRef => {
  const { metadata, ...rest } = credentials(cluster, 'is not read');
  return {
    ...rest,
    metadata: {
      ...metadata,
      namespace: 'linkerd',
      labels: { 'multicluster.linkerd.io/cluster-name': cluster },
      annotations: {
        'multicluster.linkerd.io/trust-domain': 'cluster.local',
        'multicluster.linkerd.io/cluster-domain': 'cluster.local',
      },
    },
  } as ObjectRef;
};

export class FullMesh {
  readonly peers: readonly Peer[];
  /** What the operators probe as the gateway of `west`. */
  readonly gateway = new TestGateway();
  readonly #operators = new Map<string, TestOperator>();

  private constructor(peers: readonly Peer[]) {
    this.peers = peers;
  }

  /** Clusters with namespace shop, all Links and the control plane's credentials; no operator yet. */
  static async start(backing: Backing, ...names: readonly string[]): Promise<FullMesh> {
    return FullMesh.over(await Promise.all(names.map((name) => borrowCluster(backing, name))));
  }

  /** The same over clusters that run; they end with the mesh. */
  static async over(clusters: readonly TestCluster[]): Promise<FullMesh> {
    const peers = clusters.map((cluster) => ({ name: cluster.name, cluster, api: api(cluster) }));
    const names = peers.map(({ name }) => name);
    const mesh = new FullMesh(peers);
    await mesh.gateway.revive();
    await Promise.all(
      peers.map(async ({ cluster, api: own }) => {
        await installCrd(cluster, linkCrd);
        for (const each of [LINKS_NAMESPACE, 'linkerd', 'shop']) await own.apply(namespace(each));
      }),
    );
    // Of Links made in one second the first by name is the elder, and so it is when a second ends between them.
    for (const from of names) for (const to of [...names].sort()) if (from !== to) await mesh.link(from, to);
    return mesh;
  }

  peer(name: string): Peer {
    const found = this.peers.find((each) => each.name === name);
    if (found === undefined) throw new RangeError(`no cluster ${name}`);
    return found;
  }

  /** Gives a cluster a Link to another, in place of the one that it has. */
  async link(from: string, to: string, spec: object = {}): Promise<void> {
    const { api: own } = this.peer(from);
    await own.apply(credentials(to, this.peer(to).cluster.kubeconfig));
    await own.apply(discoveryCredentials(to));
    await own.apply(link(to, { ...LINK, ...spec }));
  }

  /** Starts the operator of each of these clusters. */
  operate(names: readonly string[] = this.peers.map(({ name }) => name), options: OperatorOptions = {}): void {
    for (const name of names) {
      const { kubeconfigFile } = this.peer(name).cluster;
      this.#operators.set(name, new TestOperator(kubeconfigFile, this.gateway, options));
    }
  }

  operator(name: string): TestOperator {
    const found = this.#operators.get(name);
    if (found === undefined) throw new RangeError(`no operator in ${name}`);
    return found;
  }

  async stopOperator(name: string): Promise<void> {
    await this.#operators.get(name)?.stop();
    this.#operators.delete(name);
  }

  /** The federated Service of a name in a cluster. */
  federated(at: string, name: string): Promise<FederatedObject | undefined> {
    const ref = { apiVersion: 'v1', kind: 'Service', metadata: { name: `${name}-federated`, namespace: 'shop' } };
    return this.peer(at).api.get<FederatedObject>(ref);
  }

  /** Its members on a flat network, `(local)` first. Undefined if there is no such Service. */
  async members(at: string, name: string): Promise<string | undefined> {
    const found = await this.federated(at, name);
    if (found === undefined) return undefined;
    const { annotations = {} } = found.metadata;
    const local = annotations[LOCAL] === undefined ? [] : ['(local)'];
    return [...local, ...(annotations[REMOTE] ?? '').split(',').filter((entry) => entry !== '')].join();
  }

  /** Its slices, each with the addresses in it, `!` before those that are not ready. */
  async slices(at: string, name: string): Promise<Readonly<Record<string, readonly string[]>>> {
    const listed = await this.peer(at).api.list<SliceObject>({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      namespace: 'shop',
      labelSelector: `kubernetes.io/service-name=${name}-federated`,
    });
    return Object.fromEntries(
      listed.map(({ metadata, endpoints }) => [
        metadata.name,
        (endpoints ?? []).flatMap(({ addresses, conditions }) =>
          addresses.map((address) => (conditions?.ready === false ? `!${address}` : address)),
        ),
      ]),
    );
  }

  /** What a Link says of one of its members. */
  async memberCondition(at: string, of: string, name: string): Promise<LinkCondition | undefined> {
    const found = await this.peer(at).api.get<LinkObject>(link(of));
    return found?.status?.federatedServices?.find(({ remoteRef }) => remoteRef.name === name)?.conditions[0];
  }

  /** A condition of a Link. */
  async condition(at: string, of: string, type: string): Promise<LinkCondition | undefined> {
    const found = await this.peer(at).api.get<LinkObject>(link(of));
    return found?.status?.conditions?.find((each) => each.type === type);
  }

  /** Waits until all Links of a cluster are Ready. */
  async ready(at: string): Promise<void> {
    await eventually(`the Links of ${at} are Ready`, async () => {
      const links = await this.peer(at).api.list<LinkObject>({ ...link(''), namespace: LINKS_NAMESPACE });
      return links.every(({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True');
    });
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#operators.keys()].map((name) => this.stopOperator(name)));
    await Promise.all([...this.peers.map((each) => each.api.close()), this.gateway.die()]);
    await Promise.all(this.peers.map(({ cluster }) => cluster.stop()));
  }
}

interface SliceObject extends KubeObject {
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly conditions?: { readonly ready?: boolean };
  }[];
}

/** As `linkerd multicluster link` writes it, without a probe. */
const LINK = {
  probeSpec: undefined,
  federatedServiceSelector: { matchLabels: { 'mirror.linkerd.io/federated': 'member' } },
};
