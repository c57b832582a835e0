/**
 * What the guide is played on: clusters east and west, a node that runs pods in each, the gateway of west, and the
 * operator. Disposing of it leaves no process and no file, however far it came.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { linkCrd } from '../../crds/index.ts';
import { type Backing, startCluster, type TestCluster } from '../cluster/index.ts';
import { Processes } from '../cluster/real/processes.ts';
import { api, installCrd, startKubelet } from '../cluster/workload/index.ts';
import { TestGateway } from '../support/gateway.ts';
import { OperatorProcess } from '../support/operator-process.ts';
import { mergedKubeconfig } from './kubeconfig.ts';
import { Kubectl } from './kubectl.ts';
import type { Terminal } from './terminal.ts';

/** Where the Link lives. */
export const LINKS_NAMESPACE = 'linkerd-multicluster';

/** By their names in kube-controller-manager: what the guide needs, and what a user's own `kubectl delete` does. */
const CONTROLLERS = [
  'statefulset-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'namespace-controller',
  'garbage-collector-controller',
];

export interface StageOptions {
  readonly backing: Backing;
  readonly terminal: Terminal;
  /** Ends every wait. */
  readonly signal: AbortSignal;
}

export class Stage implements AsyncDisposable {
  readonly terminal: Terminal;
  readonly clusters: { readonly east: TestCluster; readonly west: TestCluster };
  readonly east: Kubectl;
  readonly west: Kubectl;
  readonly gateway: TestGateway;
  /** A file with contexts east and west. */
  readonly kubeconfigFile: string;
  readonly #stack: AsyncDisposableStack;
  readonly #signal: AbortSignal;
  readonly #operatorDied: AbortController;
  #operator: OperatorProcess | undefined;

  private constructor(
    { terminal, signal }: StageOptions,
    clusters: Stage['clusters'],
    gateway: TestGateway,
    processes: Processes,
    stack: AsyncDisposableStack,
  ) {
    this.terminal = terminal;
    this.clusters = clusters;
    this.gateway = gateway;
    this.kubeconfigFile = join(processes.dir, 'kubeconfig');
    this.#stack = stack;
    this.#operatorDied = new AbortController();
    this.#signal = AbortSignal.any([signal, this.#operatorDied.signal]);
    const kubectl = (cluster: TestCluster): Kubectl => {
      const client = new Kubectl(cluster, terminal, this.#signal);
      stack.defer(() => client.close());
      return client;
    };
    this.east = kubectl(clusters.east);
    this.west = kubectl(clusters.west);
  }

  /** Both clusters up, east knowing the Link, the gateway alive; no operator yet. */
  static async set(options: StageOptions): Promise<Stage> {
    await using stack = new AsyncDisposableStack();
    const processes = new Processes('demo');
    stack.defer(() => processes.close());
    const [east, west] = await all(
      ['east', 'west'].map(async (name, index) => {
        const cluster = await startCluster({ backing: options.backing, name, controllers: CONTROLLERS, audit: false });
        stack.defer(() => cluster.stop());
        const kubelet = await startKubelet(cluster, { podCidr: `10.${42 + index}.0.0/16` });
        stack.defer(() => kubelet.stop());
        return cluster;
      }),
    );
    const gateway = new TestGateway();
    await gateway.revive();
    stack.defer(() => gateway.die());
    await prepareSource(east!);
    const stage = new Stage(options, { east: east!, west: west! }, gateway, processes, stack.move());
    await writeFile(stage.kubeconfigFile, mergedKubeconfig([east!, west!]), { mode: 0o600 });
    return stage;
  }

  /** Aborts when the demo is interrupted, or the operator has died. */
  get signal(): AbortSignal {
    return this.#signal;
  }

  /** What the operator has logged so far. */
  get operatorLog(): readonly string[] {
    return this.#operator?.log() ?? [];
  }

  /** The file it logs to. */
  get operatorLogFile(): string | undefined {
    return this.#operator?.logFile;
  }

  /**
   * Starts the operator.
   * @returns where its admin port is
   */
  async runOperator(flags: readonly string[]): Promise<string> {
    const operator = new OperatorProcess({ flags });
    void operator.died().then(() => this.#operatorDied.abort(new Error('the operator has ended by itself')));
    this.#operator = operator;
    this.#stack.defer(async () => {
      await operator.stop();
    });
    const { host, port } = await operator.up().catch((error: unknown) => {
      this.#signal.throwIfAborted();
      throw error;
    });
    return `${host}:${port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

const prepareSource = async (east: TestCluster): Promise<void> => {
  const client = api(east);
  try {
    await installCrd(east, linkCrd);
    await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: LINKS_NAMESPACE } });
  } finally {
    await client.close();
  }
};

/** Waits until all have settled before it reports a failure, so that everything that has started is known. */
const all = async <T>(promises: readonly Promise<T>[]): Promise<readonly T[]> => {
  await Promise.allSettled(promises);
  return Promise.all(promises);
};
