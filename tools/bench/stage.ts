/**
 * Where everything is measured: two clusters of real API servers, a gateway, Links that lead to the target, and the
 * operator as a process of its own.
 */
import { writeFile } from 'node:fs/promises';
import { linkCrd } from '../../crds/index.ts';
import { sourceAccess } from '../../operator/kube/access/in-cluster.ts';
import { KubeClient } from '../../operator/kube/client.ts';
import { startCluster, type TestCluster } from '../../test/cluster/index.ts';
import { renderKubeconfig } from '../../test/cluster/kubeconfig.ts';
import {
  type Api,
  api,
  eventually,
  installCrd,
  type Kubelet,
  type ObjectRef,
  startKubelet,
} from '../../test/cluster/workload/index.ts';
import { credentials, link, LINKS_NAMESPACE, namespace } from '../../test/support/builders.ts';
import { DelayProxy } from '../../test/support/delay-proxy.ts';
import { TestGateway } from '../../test/support/gateway.ts';
import { OperatorProcess } from '../../test/support/operator-process.ts';
import { SHIPPED_ENVIRONMENT, SHIPPED_NODE_FLAGS } from '../../test/support/shipped.ts';
import { MirrorWatch } from './mirror-watch.ts';
import { PodAccount } from './pod-account.ts';
import { NAMESPACE, POD_LABELS } from './services.ts';

/** What the operator does at once by default; the raw writes are given the same. */
export const CONCURRENCY = 16;
const PROBE = { path: '/ready', port: '4191', period: '1s', timeout: '1s', failureThreshold: '3' };

export interface StageOptions {
  /** Of the operator's node, besides those that it always has. */
  readonly nodeFlags: readonly string[];
  /** Whether the operator gets its credentials as a pod does. */
  readonly asPod: boolean;
  /** Further fields of each Link's spec, by the Link's name, which is also the name of its target cluster. */
  readonly links: Readonly<Record<string, object>>;
  /** Whether the target runs a pod, and Kubernetes' controller that makes slices of it. */
  readonly runsPods: boolean;
  /** Of `linkspan operator`, besides those that it always has. @default none */
  readonly flags?: readonly string[];
  /** Whether the operator reaches the source by a connection that can be slowed down. @default false */
  readonly delaysSource?: boolean;
}

interface LinkObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

type Parts = Pick<Stage, 'eastCluster' | 'westCluster' | 'east' | 'west' | 'gateway' | 'watch' | 'client' | 'links'>;

/** How the operator reaches the source cluster. */
interface Way {
  readonly kubeconfigFile: string;
  readonly account: PodAccount | undefined;
  readonly delay: DelayProxy | undefined;
}

export class Stage {
  readonly eastCluster: TestCluster;
  readonly westCluster: TestCluster;
  readonly east: Api;
  readonly west: Api;
  readonly gateway: TestGateway;
  readonly watch: MirrorWatch;
  /** A client of the source cluster as the operator has one. */
  readonly client: KubeClient;
  /** Names of the Links. */
  readonly links: readonly string[];
  readonly #kubelet: Kubelet | undefined;
  readonly #nodeFlags: readonly string[];
  readonly #flags: readonly string[];
  readonly #way: Way;
  #operator: OperatorProcess | undefined;

  private constructor(
    parts: Parts,
    kubelet: Kubelet | undefined,
    { nodeFlags, flags = [] }: Pick<StageOptions, 'nodeFlags' | 'flags'>,
    way: Way,
  ) {
    this.eastCluster = parts.eastCluster;
    this.westCluster = parts.westCluster;
    this.east = parts.east;
    this.west = parts.west;
    this.gateway = parts.gateway;
    this.watch = parts.watch;
    this.client = parts.client;
    this.links = parts.links;
    this.#kubelet = kubelet;
    this.#nodeFlags = nodeFlags;
    this.#flags = flags;
    this.#way = way;
  }

  static async set({ asPod, links, runsPods, delaysSource = false, ...rest }: StageOptions): Promise<Stage> {
    const controllers = runsPods ? ['endpointslice-controller'] : [];
    const [eastCluster, westCluster] = await Promise.all([
      startCluster({ backing: 'real', name: 'east' }),
      startCluster({ backing: 'real', name: 'west', controllers, audit: false }),
    ]);
    const [east, west, gateway] = [api(eastCluster), api(westCluster), new TestGateway()];
    await gateway.revive();
    await installCrd(eastCluster, linkCrd);
    for (const name of [LINKS_NAMESPACE, NAMESPACE]) await east.apply(namespace(name));
    await west.apply(namespace(NAMESPACE));
    const kubelet = runsPods ? await runPod(westCluster, west) : undefined;
    for (const [name, spec] of Object.entries(links)) {
      await east.apply(credentials(name, westCluster.kubeconfig));
      await east.apply(link(name, { probeSpec: PROBE, ...spec }));
    }
    const access = await sourceAccess({ kubeconfig: eastCluster.kubeconfigFile });
    const client = new KubeClient(access, { userAgent: 'bench', fieldManager: 'bench', connections: 32 });
    const watch = await MirrorWatch.start(east);
    const way = await wayTo(eastCluster, { asPod, delaysSource });
    const parts = { eastCluster, westCluster, east, west, gateway, watch, client, links: Object.keys(links) };
    return new Stage(parts, kubelet, rest, way);
  }

  /** The operator that runs now. */
  get operator(): OperatorProcess {
    if (this.#operator === undefined) throw new Error('no operator runs');
    return this.#operator;
  }

  /** Starts the operator and waits until every Link is Ready. */
  async startOperator(): Promise<void> {
    const operator = this.launchOperator();
    // Its address is logged first, and entries are passed once.
    await operator.up();
    await operator.logged(({ msg }) => msg === 'the target can be read');
    await eventually(
      'every Link is Ready',
      async () => {
        const found = await Promise.all(this.links.map((name) => this.east.get<LinkObject>(link(name))));
        return found.every((each) =>
          each?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
        );
      },
      60_000,
    );
  }

  /** Starts the operator and waits for nothing. @param flags besides those of the stage */
  launchOperator(flags: readonly string[] = []): OperatorProcess {
    const { account, kubeconfigFile } = this.#way;
    const { host, port } = this.gateway.address;
    const probes = this.links.map((name) => `probe-${name}.${LINKS_NAMESPACE}.svc=${host}:${port}`);
    this.#operator = new OperatorProcess({
      built: true,
      nodeFlags: [...SHIPPED_NODE_FLAGS, ...this.#nodeFlags],
      env: { ...SHIPPED_ENVIRONMENT, ...account?.env },
      flags: [
        ...(account === undefined ? [`--kubeconfig=${kubeconfigFile}`] : []),
        `--probe-connect-to=${probes.join(',')}`,
        `--concurrency=${CONCURRENCY}`,
        '--log-level=info',
        ...this.#flags,
        ...flags,
      ],
    });
    return this.#operator;
  }

  /** Lets each answer of the source reach the operator so much later than it is given. */
  delaySource(ms: number): void {
    const { delay } = this.#way;
    if (delay === undefined) throw new Error('this stage does not delay the source');
    delay.delayMs = ms;
  }

  async stopOperator(): Promise<void> {
    await this.#operator?.stop();
    this.#operator = undefined;
  }

  async stop(): Promise<void> {
    await this.stopOperator();
    await Promise.all([this.#way.account?.unmount(), this.#way.delay?.stop()]);
    await Promise.all([this.watch.stop(), this.#kubelet?.stop(), this.client.close(), this.gateway.die()]);
    await Promise.all([this.east.close(), this.west.close()]);
    await Promise.all([this.eastCluster.stop(), this.westCluster.stop()]);
  }
}

const wayTo = async (
  cluster: TestCluster,
  { asPod, delaysSource }: Required<Pick<StageOptions, 'asPod' | 'delaysSource'>>,
): Promise<Way> => {
  const delay = delaysSource ? await DelayProxy.start(new URL(cluster.server)) : undefined;
  const server = delay === undefined ? cluster.server : `https://127.0.0.1:${delay.port}`;
  const account = asPod ? await PodAccount.mount(cluster, server) : undefined;
  if (delay === undefined) return { kubeconfigFile: cluster.kubeconfigFile, account, delay };
  const { caData, adminToken: token } = cluster;
  const kubeconfigFile = `${cluster.kubeconfigFile}.delayed`;
  await writeFile(kubeconfigFile, renderKubeconfig({ name: 'east', server, caData, token }));
  return { kubeconfigFile, account, delay };
};

/** A pod that every Service selects, on a node of its own. */
const runPod = async (cluster: TestCluster, target: Api): Promise<Kubelet> => {
  const kubelet = await startKubelet(cluster);
  const container = { name: 'web', image: 'web' };
  await target.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: NAMESPACE, labels: POD_LABELS },
    spec: { containers: [container] },
  } as ObjectRef);
  return kubelet;
};
