/**
 * Two clusters behind gates, and a command that is stopped at one of its writes. Before each stop the clusters are made
 * anew, so that one stop knows nothing of another.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import type { Backing, TestCluster } from '../../cluster/index.ts';
import type { KubeObject } from '../../cluster/workload/index.ts';
import { namespace, secretRef } from '../../support/builders.ts';
import { installLinkerd } from '../../support/linkerd-cluster.ts';
import { TwoClusters } from '../../support/two-clusters.ts';
import { linkspanHere } from '../in-process.ts';
import type { Outcome } from '../linkspan.ts';
import { endState, type State } from './end-state.ts';
import { type Right, rightsOf } from './rights.ts';
import { type GatedWrite, WriteGate } from './write-gate.ts';

const CONTROLLERS = ['serviceaccount-token-controller', 'root-ca-certificate-publisher-controller'];

const CLI = new URL('../../../synth/cli.ts', import.meta.url).pathname;

/**
 * What ends a command, or tries to, at a write. After a cut no request of it reaches a cluster any more, so that what is
 * left is what SIGKILL leaves; but it costs no process.
 */
export type Stop = 'SIGKILL' | 'cut' | 'SIGINT' | 'EPIPE';

/** A command that was run, and what it wrote. */
export interface GatedRun extends Outcome {
  readonly writes: readonly string[];
  /** A signal that has ended it. */
  readonly signal: NodeJS.Signals | null;
}

export class StopStage {
  readonly clusters: TwoClusters;
  readonly #directory: string;
  readonly #gates: readonly WriteGate[];
  readonly #files: readonly [east: string, west: string];
  /** What was found wrong right after a write. */
  readonly failures: string[] = [];
  #writes: string[] = [];
  #stopAt: { readonly number: number; readonly how: Stop } | undefined;
  #child: ReturnType<typeof spawn> | undefined;
  #interrupt: () => void = () => undefined;
  /** Whether no request reaches the clusters any more. */
  #isCut = false;
  readonly #rights = new Set<Right>();
  #lacking: Right | undefined;

  private constructor(
    clusters: TwoClusters,
    directory: string,
    gates: readonly WriteGate[],
    files: readonly [string, string],
    bind: (stage: StopStage) => void,
  ) {
    this.clusters = clusters;
    this.#directory = directory;
    this.#gates = gates;
    this.#files = files;
    bind(this);
  }

  static async start(backing: Backing): Promise<StopStage> {
    const clusters = await TwoClusters.start({
      backing,
      east: { controllers: CONTROLLERS },
      west: { controllers: CONTROLLERS },
    });
    for (const [cluster, client] of [
      [clusters.eastCluster, clusters.east],
      [clusters.westCluster, clusters.west],
    ] as const) {
      await installLinkerd({ cluster, client });
      await client.apply(namespace('linkerd-multicluster'));
    }
    const directory = await mkdtemp(join(tmpdir(), 'linkspan-stops-'));
    let stage: StopStage | undefined;
    const actions = {
      isCut: () => stage?.isCut ?? false,
      before: (write: GatedWrite) => stage?.before(write),
      after: (write: GatedWrite) => stage?.after(write) ?? Promise.resolve(true),
    };
    const open = (cluster: TestCluster): Promise<WriteGate> => {
      const isDenied = (method: string, url: string) => stage?.isDenied(cluster.name, method, url) ?? false;
      return WriteGate.open(cluster, { ...actions, isDenied });
    };
    const gates = await Promise.all([clusters.eastCluster, clusters.westCluster].map(open));
    const file = async (cluster: TestCluster, gate: WriteGate | undefined): Promise<string> => {
      const path = join(directory, `${cluster.name}.yaml`);
      await writeFile(path, cluster.kubeconfig.replaceAll(cluster.server, gate?.url ?? ''));
      return path;
    };
    const files = [await file(clusters.eastCluster, gates[0]), await file(clusters.westCluster, gates[1])] as const;
    return new StopStage(clusters, directory, gates, files, (made) => (stage = made));
  }

  /** Flags by which commands reach both clusters through the gates. */
  get pair(): readonly string[] {
    const [east, west] = this.#files;
    return [`--kubeconfig=${east}`, '--context=east', `--to-kubeconfig=${west}`, '--to-context=west'];
  }

  /** Flags by which commands reach the source through its gate. */
  get east(): readonly string[] {
    return [`--kubeconfig=${this.#files[0]}`, '--context=east'];
  }

  /** Flags by which commands reach the target through its gate. */
  get west(): readonly string[] {
    return [`--kubeconfig=${this.#files[1]}`, '--context=west'];
  }

  /** Runs a command that prepares, and is never stopped. */
  async prepare(...args: readonly string[]): Promise<void> {
    const { code, stdout, stderr } = await this.run(args);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  }

  /** Runs a command whose user lacks a right. @param right undefined if it lacks none */
  async runWithout(right: Right | undefined, args: readonly string[]): Promise<GatedRun> {
    this.#rights.clear();
    this.#lacking = right;
    const run = await this.run(args);
    this.#lacking = undefined;
    return run;
  }

  /** The rights that the last run has used, or has asked for. */
  get rights(): readonly Right[] {
    return [...this.#rights].toSorted();
  }

  isDenied(cluster: string, method: string, url: string): boolean {
    const rights = rightsOf(cluster, method, url);
    for (const each of rights) this.#rights.add(each);
    return this.#lacking !== undefined && rights.includes(this.#lacking);
  }

  /**
   * Runs a command: in this process, but for what only a process can show.
   * @param stopAt the write, counted from 1, at which it is stopped
   */
  async run(args: readonly string[], stopAt?: { readonly number: number; readonly how: Stop }): Promise<GatedRun> {
    this.#writes = [];
    this.#stopAt = stopAt;
    this.#isCut = false;
    const before = process.listeners('SIGINT');
    this.#interrupt = () => {
      for (const listener of process.listeners('SIGINT')) if (!before.includes(listener)) listener('SIGINT');
    };
    const isProcess = stopAt?.how === 'SIGKILL' || stopAt?.how === 'EPIPE';
    const ended = isProcess ? await this.#spawn(args) : { ...(await linkspanHere(...args)), signal: null };
    this.#isCut = false;
    this.#stopAt = undefined;
    return { ...ended, writes: this.#writes };
  }

  async #spawn(args: readonly string[]): Promise<Omit<GatedRun, 'writes'>> {
    const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
      child.once('close', (...ended) => resolve(ended)),
    );
    this.#child = undefined;
    return { code: code ?? -1, signal, stdout, stderr };
  }

  /** Both clusters, as they are compared. @param isExact whether the numbers and the values of tokens count */
  async state(isExact = false): Promise<{ readonly east: State; readonly west: State }> {
    const { east, west } = this.clusters;
    return { east: await endState(east, isExact), west: await endState(west, isExact) };
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  before({ what }: GatedWrite): void {
    this.#writes.push(what);
    if (this.#stopAt?.number !== this.#writes.length) return;
    if (this.#stopAt.how === 'SIGINT') this.#interrupt();
    if (this.#stopAt.how === 'EPIPE') this.#child?.stdout?.destroy();
  }

  async after({ what }: GatedWrite): Promise<boolean> {
    this.failures.push(...(await this.#deadCredentials()).map((each) => `after ${what}: ${each}`));
    if (this.#stopAt?.number !== this.#writes.length) return true;
    if (this.#stopAt.how === 'SIGKILL') this.#child?.kill('SIGKILL');
    if (this.#stopAt.how === 'cut') this.#isCut = true;
    return this.#stopAt.how !== 'SIGKILL' && !this.#isCut;
  }

  /** The last token that each Secret of credentials had: whoever reads the Secret uses it until there is another. */
  readonly #inUse = new Map<string, { readonly token: string; readonly uid: string | undefined }>();

  /** Credentials that are in use, and do not work. */
  async #deadCredentials(): Promise<readonly string[]> {
    const { east } = this.clusters;
    if ((await east.get(LINK)) === undefined) return [];
    const found: string[] = [];
    for (const within of ['linkerd-multicluster', ...OF_LINKERD]) {
      const secret = await east.get<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(
        secretRef('cluster-credentials-west', within),
      );
      const kubeconfig = Buffer.from(secret?.data?.['kubeconfig'] ?? '', 'base64').toString();
      const token = /token: "?([^\s"]+)/.exec(kubeconfig)?.[1];
      if (token === undefined) continue;
      const before = this.#inUse.get(within);
      const isSame = before !== undefined && before.uid === secret?.metadata.uid;
      if (OF_LINKERD.includes(within) && isSame && before.token !== token)
        found.push(`the copy in namespace ${within} is another in place, which Linkerd's controller does not notice`);
      this.#inUse.set(within, { token, uid: secret?.metadata.uid });
    }
    const answers = await Promise.all(
      [...this.#inUse].map(
        async ([within, { token }]) => [within, await isAccepted(this.clusters.westCluster, token)] as const,
      ),
    );
    const dead = answers.filter(([, accepted]) => !accepted);
    return [...found, ...dead.map(([within]) => `the token in namespace ${within} is refused`)];
  }

  async stop(): Promise<void> {
    await Promise.all(this.#gates.map((gate) => gate.close()));
    await this.clusters.stop();
    await rm(this.#directory, { recursive: true });
  }
}

/** Where the control plane may have its copy. */
const OF_LINKERD: readonly string[] = ['linkerd', 'l5d'];

const LINK = {
  apiVersion: 'multicluster.linkerd.io/v1alpha3',
  kind: 'Link',
  metadata: { name: 'west', namespace: 'linkerd-multicluster' },
};

/** Reports whether an API server knows a token, and lets it list Services. */
const isAccepted = async ({ server }: TestCluster, token: string): Promise<boolean> => {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const { statusCode, body } = await request(`${server}/api/v1/services?limit=1`, {
      dispatcher,
      headers: { authorization: `Bearer ${token}` },
    });
    await body.dump();
    return statusCode === 200;
  } finally {
    await dispatcher.close();
  }
};
