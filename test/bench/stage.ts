/**
 * Where everything is measured: two clusters of real API servers, Kubernetes' own endpointslice-controller in the
 * target, a gateway, a Link, and as many running Services as are asked for, none of them exported yet.
 */
import { linkCrd } from '../../crds/index.ts';
import { KubeClient } from '../../operator/kube/client.ts';
import { sourceAccess } from '../../operator/kube/access/in-cluster.ts';
import { startCluster, type TestCluster } from '../cluster/index.ts';
import {
  type Api,
  api,
  eventually,
  installCrd,
  type Kubelet,
  type KubeObject,
  type ObjectRef,
  startKubelet,
} from '../cluster/workload/index.ts';
import { credentials, link, LINKS_NAMESPACE, namespace, service } from '../support/builders.ts';
import { concurrently } from '../support/concurrently.ts';
import { TestGateway } from '../support/gateway.ts';
import { OperatorProcess } from '../support/operator-process.ts';
import { MirrorWatch } from './mirror-watch.ts';
import { PodAccount } from './pod-account.ts';

/** What the operator does at once by default; the raw writes are given the same. */
export const CONCURRENCY = 16;
/** As the operator's Deployment sets it: a small young generation, which a process that mostly waits does not miss. */
const NODE_FLAGS = ['--max-semi-space-size=1'];
/** Requests at once by which the stage itself is set. */
const SETUP_CONCURRENCY = 32;
const NAMESPACE = 'shop';
/** Behind every Service: what is measured depends on slices, not on pods. */
const POD_LABELS = { app: 'web' };

interface Slice extends KubeObject {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[];
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
  readonly #kubelet: Kubelet;
  readonly #nodeFlags: readonly string[];
  readonly #account: PodAccount | undefined;
  #operator: OperatorProcess | undefined;

  private constructor(
    parts: Pick<Stage, 'eastCluster' | 'westCluster' | 'east' | 'west' | 'gateway' | 'watch' | 'client'>,
    kubelet: Kubelet,
    nodeFlags: readonly string[],
    account: PodAccount | undefined,
  ) {
    this.eastCluster = parts.eastCluster;
    this.westCluster = parts.westCluster;
    this.east = parts.east;
    this.west = parts.west;
    this.gateway = parts.gateway;
    this.watch = parts.watch;
    this.client = parts.client;
    this.#kubelet = kubelet;
    this.#nodeFlags = nodeFlags;
    this.#account = account;
  }

  /**
   * @param nodeFlags of the operator's node
   * @param asPod whether it gets its credentials as a pod does
   */
  static async set(nodeFlags: readonly string[], asPod: boolean): Promise<Stage> {
    const [eastCluster, westCluster] = await Promise.all([
      startCluster({ backing: 'real', name: 'east' }),
      startCluster({ backing: 'real', name: 'west', controllers: ['endpointslice-controller'], audit: false }),
    ]);
    const [east, west, gateway] = [api(eastCluster), api(westCluster), new TestGateway()];
    await gateway.revive();
    await installCrd(eastCluster, linkCrd);
    for (const name of [LINKS_NAMESPACE, NAMESPACE]) await east.apply(namespace(name));
    await west.apply(namespace(NAMESPACE));
    const kubelet = await startKubelet(westCluster);
    const container = { name: 'web', image: 'web' };
    await west.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: NAMESPACE, labels: POD_LABELS },
      spec: { containers: [container] },
    } as ObjectRef);
    await east.apply(credentials('west', westCluster.kubeconfig));
    const probeSpec = { path: '/ready', port: '4191', period: '1s', timeout: '1s', failureThreshold: '3' };
    await east.apply(link('west', { probeSpec }));
    const access = await sourceAccess({ kubeconfig: eastCluster.kubeconfigFile });
    const client = new KubeClient(access, { userAgent: 'bench', fieldManager: 'bench', connections: 32 });
    const watch = await MirrorWatch.start(east);
    const account = asPod ? await PodAccount.mount(eastCluster) : undefined;
    return new Stage({ eastCluster, westCluster, east, west, gateway, watch, client }, kubelet, nodeFlags, account);
  }

  /** The operator that runs now. */
  get operator(): OperatorProcess {
    if (this.#operator === undefined) throw new Error('no operator runs');
    return this.#operator;
  }

  /** Starts the operator and waits until the Link is Ready. */
  async startOperator(): Promise<void> {
    const { host, port } = this.gateway.address;
    this.#operator = new OperatorProcess({
      built: true,
      nodeFlags: [...NODE_FLAGS, ...this.#nodeFlags],
      env: this.#account?.env ?? {},
      flags: [
        ...(this.#account === undefined ? [`--kubeconfig=${this.eastCluster.kubeconfigFile}`] : []),
        `--probe-connect-to=probe-west.${LINKS_NAMESPACE}.svc=${host}:${port}`,
        `--concurrency=${CONCURRENCY}`,
        '--log-level=info',
      ],
    });
    await this.#operator.logged(({ msg }) => msg === 'the target can be read');
    await eventually('the Link is Ready', async () => (await this.#ready()) === 'True', 60_000);
  }

  async stopOperator(): Promise<void> {
    await this.#operator?.stop();
    this.#operator = undefined;
  }

  /** Services that run in the target, each with a ready endpoint in a slice, and are not exported. */
  async addServices(names: readonly string[]): Promise<void> {
    await concurrently(names, SETUP_CONCURRENCY, (name) =>
      this.west.create(service(name, { namespace: NAMESPACE, selector: POD_LABELS })),
    );
    await eventually(
      'every Service has a ready endpoint',
      async () => {
        const slices = await this.west.list<Slice>({
          apiVersion: 'discovery.k8s.io/v1',
          kind: 'EndpointSlice',
          namespace: NAMESPACE,
        });
        const running = new Set(
          slices
            .filter(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready === true) === true)
            .map(({ metadata }) => metadata.labels?.['kubernetes.io/service-name']),
        );
        return names.every((name) => running.has(name));
      },
      120_000,
    );
  }

  /** Puts the export label on Services, `true` or another value that no selector knows, or takes it away. */
  async label(names: readonly string[], value: 'true' | 'other' | null): Promise<void> {
    const labels = { 'mirror.linkerd.io/exported': value };
    await concurrently(names, SETUP_CONCURRENCY, (name) =>
      this.west.patch(service(name, { namespace: NAMESPACE }), { metadata: { labels } }),
    );
  }

  async stop(): Promise<void> {
    await this.stopOperator();
    await this.#account?.unmount();
    await Promise.all([this.watch.stop(), this.#kubelet.stop(), this.client.close(), this.gateway.die()]);
    await Promise.all([this.east.close(), this.west.close()]);
    await Promise.all([this.eastCluster.stop(), this.westCluster.stop()]);
  }

  async #ready(): Promise<string | undefined> {
    const found = await this.east.get<{
      readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
    }>(link('west'));
    return found?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  }
}
