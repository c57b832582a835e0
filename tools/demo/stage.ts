/**
 * What a play is played on: the source cluster east and its targets, a node that runs pods in each, the gateways of the
 * targets, and the operator. Disposing of it leaves no process and no file, however far it came.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { linkCrd } from '../../crds/index.ts';
import { probeName } from '../../crds/wire.ts';
import { type Backing, startCluster, type TestCluster } from '../../test/cluster/index.ts';
import { Processes } from '../../test/cluster/real/processes.ts';
import { api, installCrd, type ObjectRef, startKubelet } from '../../test/cluster/workload/index.ts';
import { TestGateway } from '../../test/support/gateway.ts';
import { OPERATOR_COMMAND, OperatorProcess } from '../../test/support/operator-process.ts';
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

/** The cluster with the Links and the operator. */
export const SOURCE = 'east';

/** Clusters of a play, by name. */
export type Clusters<Target extends string, Value> = Readonly<Record<typeof SOURCE | Target, Value>>;

export interface StageOptions<Target extends string> {
  readonly backing: Backing;
  /** Names of the target clusters; each has a gateway. */
  readonly targets: readonly Target[];
  /** Definitions that the source has beside the Link's. @default none */
  readonly crds?: readonly ObjectRef[] | undefined;
  readonly terminal: Terminal;
  /** Ends every wait. */
  readonly signal: AbortSignal;
}

export class Stage<Target extends string> implements AsyncDisposable {
  readonly terminal: Terminal;
  readonly clusters: Clusters<Target, TestCluster>;
  readonly kubectl: Clusters<Target, Kubectl>;
  readonly gateways: Readonly<Record<Target, TestGateway>>;
  /** A file with a context for each cluster. */
  readonly kubeconfigFile: string;
  readonly #stack: AsyncDisposableStack;
  readonly #signal: AbortSignal;
  readonly #operatorDied: AbortController;
  #operator: OperatorProcess | undefined;

  private constructor(
    { terminal, signal }: StageOptions<Target>,
    clusters: Clusters<Target, TestCluster>,
    gateways: Stage<Target>['gateways'],
    processes: Processes,
    stack: AsyncDisposableStack,
  ) {
    this.terminal = terminal;
    this.clusters = clusters;
    this.gateways = gateways;
    this.kubeconfigFile = join(processes.dir, 'kubeconfig');
    this.#stack = stack;
    this.#operatorDied = new AbortController();
    this.#signal = AbortSignal.any([signal, this.#operatorDied.signal]);
    this.kubectl = mapValues(clusters, (cluster) => {
      const client = new Kubectl(cluster, terminal, this.#signal);
      stack.defer(() => client.close());
      return client;
    });
  }

  /** All clusters up, east knowing the Link, the gateways alive; no operator yet. */
  static async set<Target extends string>(options: StageOptions<Target>): Promise<Stage<Target>> {
    await using stack = new AsyncDisposableStack();
    const processes = new Processes('demo');
    stack.defer(() => processes.close());
    const clusters = await byName([SOURCE, ...options.targets], async (name, index) => {
      const cluster = await startCluster({ backing: options.backing, name, controllers: CONTROLLERS, audit: false });
      stack.defer(() => cluster.stop());
      const kubelet = await startKubelet(cluster, { podCidr: `10.${42 + index}.0.0/16` });
      stack.defer(() => kubelet.stop());
      return cluster;
    });
    const gateways = await byName(options.targets, async () => {
      const gateway = new TestGateway();
      await gateway.revive();
      stack.defer(() => gateway.die());
      return gateway;
    });
    await prepareSource(clusters[SOURCE], [linkCrd, ...(options.crds ?? [])]);
    const stage = new Stage(options, clusters, gateways, processes, stack.move());
    await writeFile(stage.kubeconfigFile, mergedKubeconfig(Object.values(clusters)), { mode: 0o600 });
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
   * Starts the operator, as a user would type it, with further flags of the play.
   * @returns where its admin port is
   */
  async runOperator(further: readonly string[]): Promise<string> {
    const flags = [
      `--kubeconfig=${this.kubeconfigFile}`,
      `--context=${SOURCE}`,
      ...further,
      ...Object.entries<TestGateway>(this.gateways).map(
        ([target, { address }]) =>
          `--probe-connect-to=${probeName(target)}.${LINKS_NAMESPACE}.svc=${address.host}:${address.port}`,
      ),
      '--admin-address=127.0.0.1:0',
    ];
    this.terminal.command(OPERATOR_COMMAND, ...flags);
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

const prepareSource = async (east: TestCluster, crds: readonly ObjectRef[]): Promise<void> => {
  const client = api(east);
  try {
    for (const crd of crds) await installCrd(east, crd);
    await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: LINKS_NAMESPACE } });
  } finally {
    await client.close();
  }
};

/** Waits until all have settled before it reports a failure, so that everything that has started is known. */
const byName = async <Name extends string, Value>(
  names: readonly Name[],
  make: (name: Name, index: number) => Promise<Value>,
): Promise<Readonly<Record<Name, Value>>> => {
  const making = names.map(async (name, index) => [name, await make(name, index)] as const);
  await Promise.allSettled(making);
  return Object.fromEntries(await Promise.all(making)) as Record<Name, Value>;
};

const mapValues = <Name extends string, From, To>(
  record: Readonly<Record<Name, From>>,
  map: (value: From) => To,
): Readonly<Record<Name, To>> =>
  Object.fromEntries(Object.entries<From>(record).map(([name, value]) => [name, map(value)])) as Record<Name, To>;
