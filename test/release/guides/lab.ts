/**
 * Two clusters as the reader of a guide has them: real API servers with Kubernetes' own controllers, contexts `east` and
 * `west` of one kubeconfig, and `linkspan` and `kubectl` in PATH. Stand-ins do what needs more than API servers: a kubelet
 * that reports pods as running, a cloud that gives load balancers their addresses, and, for each pod of the operator, the
 * operator itself, under the ServiceAccount of the pod and with its arguments.
 */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { Command } from 'commander';
import { probeName } from '../../../crds/wire.ts';
import { addOperatorFlags, type FlagValues } from '../../../operator/config/flags.ts';
import { startCluster, type TestCluster } from '../../cluster/index.ts';
import { requireBinary } from '../../cluster/real/binaries.ts';
import { api, type Api, type Kubelet, type KubeObject, startKubelet } from '../../cluster/workload/index.ts';
import { mergedKubeconfig } from '../../../tools/demo/kubeconfig.ts';
import { LINKS_NAMESPACE } from '../../support/builders.ts';
import { TestGateway } from '../../support/gateway.ts';
import { TestOperator } from '../../support/operator.ts';
import { type Outcome, ROOT, shell } from '../packaging/packed.ts';
import { linkerdCrds, linkerdSettings } from './linkerd.ts';

const NAMES = ['east', 'west'] as const;
type Name = (typeof NAMES)[number];

/** Load balancers take their addresses from here. */
const CLOUD: Readonly<Record<Name, string>> = { east: '203.0.113.', west: '198.51.100.' };
const PODS: Readonly<Record<Name, string>> = { east: '10.245.0.0/16', west: '10.246.0.0/16' };

/** Kubernetes' own controllers that the guides rely on. */
export const CONTROLLERS = [
  'deployment-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'replicaset-controller',
  'serviceaccount-token-controller',
  'statefulset-controller',
];

/** How a lab is set up. */
export interface LabOptions {
  /** Of the names of the contexts. @default none */
  readonly prefix?: string;
  /** Kubernetes' own that run. @default all that the guides rely on */
  readonly controllers?: readonly string[];
}

export class Lab {
  readonly east: Api;
  readonly west: Api;
  readonly clusters: Readonly<Record<Name, TestCluster>>;
  readonly #gateway: TestGateway;
  readonly #directory: string;
  readonly #prefix: string;
  readonly #ends: (() => Promise<unknown>)[];

  private constructor(
    clusters: Readonly<Record<Name, TestCluster>>,
    gateway: TestGateway,
    directory: string,
    prefix: string,
    ends: (() => Promise<unknown>)[],
  ) {
    this.clusters = clusters;
    this.east = api(clusters.east);
    this.west = api(clusters.west);
    this.#gateway = gateway;
    this.#directory = directory;
    this.#prefix = prefix;
    this.#ends = ends;
  }

  /** Both clusters, empty, with all that runs beside them. */
  static async start({ prefix = '', controllers = CONTROLLERS }: LabOptions = {}): Promise<Lab> {
    const [east, west] = await Promise.all(NAMES.map((name) => startCluster({ backing: 'real', name, controllers })));
    if (east === undefined || west === undefined) throw new Error('two clusters are started');
    const directory = await mkdtemp(join(tmpdir(), 'linkspan-guides-'));
    const gateway = new TestGateway();
    await gateway.revive();
    const kubelets = await Promise.all(
      NAMES.map((name) => startKubelet({ east, west }[name], { podCidr: PODS[name] })),
    );
    const lab = new Lab(
      { east, west },
      gateway,
      directory,
      prefix,
      kubelets.map((kubelet: Kubelet) => () => kubelet.stop()),
    );
    await lab.#furnish();
    for (const name of NAMES) {
      lab.#follow<LoadBalancer>(name, SERVICE, (object) => lab.#giveAddress(name, object));
      lab.#runOperators(name);
    }
    return lab;
  }

  /**
   * Types commands into a shell, in a folder of the lab's own.
   * @returns exit code and output, when all of them have ended or the first has failed
   */
  type(commands: string): Promise<Outcome> {
    const path = [join(this.#directory, 'bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
    const home = join(this.#directory, 'home');
    return shell(home, commands, { PATH: path, HOME: home, KUBECONFIG: join(this.#directory, 'config') });
  }

  /** The settings of a Linkerd whose clusters trust one another: their anchor is some certificate. */
  linkerdSettings(): string {
    return linkerdSettings(Buffer.from(this.clusters.east.caData, 'base64').toString());
  }

  /** What Linkspan reads of Linkerd, in both clusters. */
  async installLinkerd(): Promise<void> {
    await this.write('linkerd-crds.yaml', linkerdCrds());
    await this.write('linkerd.yaml', this.linkerdSettings());
    const contexts = NAMES.map((name) => `${this.#prefix}${name}`);
    const { code, stderr } = await this.type(
      contexts
        .map((context) => `kubectl --context=${context} apply --server-side -f linkerd-crds.yaml -f linkerd.yaml`)
        .join('\n'),
    );
    if (code !== 0) throw new Error(stderr);
  }

  /** Puts a file into the folder in which commands are typed. */
  write(file: string, text: string): Promise<void> {
    return writeFile(join(this.#directory, 'home', file), text);
  }

  /** Puts a program into PATH: a script of `sh`. */
  async program(name: string, script: string): Promise<void> {
    const file = join(this.#directory, 'bin', name);
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#ends.map((end) => end()));
    await Promise.all([this.east.close(), this.west.close(), this.#gateway.die()]);
    await Promise.all(NAMES.map((name) => this.clusters[name].stop()));
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #furnish(): Promise<void> {
    await Promise.all(['bin', 'home'].map((folder) => mkdir(join(this.#directory, folder))));
    await writeFile(
      join(this.#directory, 'config'),
      mergedKubeconfig(NAMES.map((name) => ({ ...reached(this.clusters[name]), name: `${this.#prefix}${name}` }))),
    );
    await this.program('linkspan', `exec "${process.execPath}" "${join(ROOT, 'synth', 'cli.ts')}" "$@"`);
    await this.program('kubectl', `exec "${requireBinary('kubectl')}" "$@"`);
  }

  /** Calls back with each object of a kind, and with each change of one, until the lab stops. */
  #follow<T extends KubeObject>(
    name: Name,
    kind: { readonly apiVersion: string; readonly kind: string },
    changed: (object: T, isGone: boolean) => Promise<void>,
  ): void {
    const client = api(this.clusters[name], { userAgent: 'linkspan-test-cloud' });
    const stopping = new AbortController();
    const follow = async (): Promise<void> => {
      while (!stopping.signal.aborted) {
        try {
          const { items, resourceVersion } = await client.listAll<T>(kind);
          for (const item of items) await changed(item, false);
          for await (const { type, object } of client.watch<T>(kind, { resourceVersion }, stopping.signal)) {
            if (type === 'ERROR') break;
            if (type !== 'BOOKMARK') await changed(object, type === 'DELETED');
          }
        } catch (error) {
          if (!stopping.signal.aborted) console.error(`the lab's ${name} starts again: ${String(error)}`);
        }
      }
    };
    const following = follow();
    this.#ends.push(async () => {
      stopping.abort();
      await following;
      await client.close();
    });
  }

  /** Gives a load balancer its address, as a cloud does. */
  async #giveAddress(name: Name, service: LoadBalancer): Promise<void> {
    if (service.spec.type !== 'LoadBalancer' || service.status?.loadBalancer?.ingress !== undefined) return;
    const status = { loadBalancer: { ingress: [{ ip: `${CLOUD[name]}20` }] } };
    await this[name].patch(service, { status }, { subresource: 'status' });
  }

  /** Runs the operator of each pod that has one, from when the pod runs to when it is gone. */
  #runOperators(name: Name): void {
    const operators = new Map<string, Promise<TestOperator>>();
    this.#ends.push(async () => {
      await Promise.all([...operators.values()].map(async (operator) => (await operator).stop()));
    });
    this.#follow<Pod>(name, POD, async (pod, isGone) => {
      const { uid } = pod.metadata;
      const runs = pod.status?.phase === 'Running' && pod.metadata.deletionTimestamp === undefined && !isGone;
      if (runs && isOperator(pod) && !operators.has(uid)) operators.set(uid, this.#runOperator(name, pod));
      if (!runs && operators.has(uid)) {
        const stopped = await operators.get(uid);
        operators.delete(uid);
        await stopped?.stop();
      }
    });
  }

  async #runOperator(name: Name, pod: Pod): Promise<TestOperator> {
    const account = pod.spec.serviceAccountName;
    const path = `/api/v1/namespaces/${pod.metadata.namespace ?? ''}/serviceaccounts/${account}/token`;
    const { body } = await this[name].request<{ readonly status: { readonly token: string } }>('POST', path, {
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
    });
    const kubeconfig = join(this.#directory, `${pod.metadata.name}.kubeconfig`);
    await writeFile(kubeconfig, this.clusters[name].kubeconfigFor(body.status.token));
    const [, ...args] = pod.spec.containers.flatMap((container) => container.args ?? []);
    const flags = addOperatorFlags(new Command()).parse(args, { from: 'user' }).opts<FlagValues>();
    const probes = NAMES.map(
      (cluster) => `${probeName(cluster)}.${LINKS_NAMESPACE}.svc=127.0.0.1:${this.#gateway.address.port}`,
    );
    return new TestOperator(kubeconfig, this.#gateway, {
      flags: {
        ...flags,
        identity: pod.metadata.name,
        adminAddress: '127.0.0.1:0',
        probeConnectTo: probes,
      },
    });
  }
}

/** What a kubeconfig says of a cluster. */
const reached = ({ server, caData, adminToken }: TestCluster) => ({ server, caData, adminToken });

const SERVICE = { apiVersion: 'v1', kind: 'Service' };
const POD = { apiVersion: 'v1', kind: 'Pod' };

interface LoadBalancer extends KubeObject {
  readonly spec: { readonly type?: string };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly object[] } };
}

interface Pod extends KubeObject {
  readonly spec: {
    readonly serviceAccountName: string;
    readonly containers: readonly { readonly args?: readonly string[] }[];
  };
  readonly status?: { readonly phase?: string };
}

const isOperator = ({ spec }: Pod): boolean => spec.containers.some(({ args }) => args?.[0] === 'operator');
