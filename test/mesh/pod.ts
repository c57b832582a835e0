/**
 * A pod without containers: a network namespace with an application and, beside it, Linkerd's proxy. Its Pod object is
 * what the injector would have made of it, and has the status that a kubelet would report.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { access, chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Annotation } from '../../crds/wire.ts';
import { httpStatus } from '../cluster/real/http-status.ts';
import type { RunningProcess } from '../cluster/real/processes.ts';
import type { ObjectRef } from '../cluster/workload/index.ts';
import { objectRef } from '../support/builders.ts';
import { linkerdBinary } from './binaries.ts';
import { ControlPort, LINKERD, OTHER_TRUST_DOMAIN, TRUST_DOMAIN } from './control-plane.ts';
import type { MeshCluster } from './mesh-cluster.ts';
import { AppPort, type Batch, type Latency, type Order, type Outcomes, type Reply } from './messages.ts';
import { PodNetwork } from './network.ts';
import { PROXY_USER, proxyEnvironment, ProxyPort, redirect } from './proxy.ts';

/** What a pod is started with. */
export interface PodOptions {
  readonly name: string;
  /** @default shop */
  readonly namespace?: string;
  /** @default - `app: <name>` */
  readonly labels?: Readonly<Record<string, string>>;
  /** Annotations of the pod, which configure its proxy. @default none */
  readonly annotations?: Readonly<Record<string, string>>;
  /** @default - the name of the pod */
  readonly serviceAccount?: string;
  /** Headless Service that knows the pod by its name. @default none */
  readonly subdomain?: string;
  /** Whether it has a proxy. @default true */
  readonly meshed?: boolean;
  /** Whether its identity is of {@link OTHER_TRUST_DOMAIN}. @default false */
  readonly stranger?: boolean;
  /** A public address, on the network of another cluster. @default none */
  readonly public?: { readonly address: string; readonly of: MeshCluster };
}

const APP_PORTS = [
  { name: 'http', containerPort: AppPort.http1 },
  { name: 'http2', containerPort: AppPort.http2 },
  { name: 'tcp', containerPort: AppPort.tcp },
];
/** Destination takes a pod for meshed by all of these. */
const PROXY_CONTAINER = {
  name: 'linkerd-proxy',
  image: 'proxy',
  ports: [
    { name: 'linkerd-proxy', containerPort: ProxyPort.inbound },
    { name: 'linkerd-admin', containerPort: ProxyPort.admin },
  ],
  env: [
    { name: 'LINKERD2_PROXY_INBOUND_LISTEN_ADDR', value: `0.0.0.0:${ProxyPort.inbound}` },
    { name: 'LINKERD2_PROXY_CONTROL_LISTEN_ADDR', value: `0.0.0.0:${ProxyPort.control}` },
    { name: 'LINKERD2_PROXY_ADMIN_LISTEN_ADDR', value: `0.0.0.0:${ProxyPort.admin}` },
  ],
  // The policy controller admits probes, of other clusters too, to the paths that a pod declares.
  livenessProbe: { httpGet: { path: '/live', port: ProxyPort.admin } },
  readinessProbe: { httpGet: { path: '/ready', port: ProxyPort.admin } },
};

/** A pod that runs. */
export class MeshPod {
  readonly name: string;
  readonly network: PodNetwork;
  readonly #cluster: MeshCluster;
  readonly #options: PodOptions;
  readonly #app: ChildProcess;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #proxy: RunningProcess | undefined;
  #orders = 0;

  private constructor(cluster: MeshCluster, options: PodOptions, network: PodNetwork, app: ChildProcess) {
    this.name = options.name;
    this.network = network;
    this.#cluster = cluster;
    this.#options = options;
    this.#app = app;
    app.on('message', (reply: Reply) => this.#waiting.get(reply.id)?.(reply));
  }

  /** Starts a pod, and waits until its proxy has an identity and it is ready. */
  static async start(cluster: MeshCluster, options: PodOptions): Promise<MeshPod> {
    const { name, meshed = true } = options;
    const network = await PodNetwork.create(cluster.processes, name, cluster.bridge);
    if (options.public !== undefined) await network.addPublicAddress(options.public.address, options.public.of.bridge);
    const program = join(import.meta.dirname, 'agent.ts');
    const inside = network.within([process.execPath, program, name, cluster.bridge.address]);
    const app = spawn(inside.path, inside.args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    cluster.processes.watchOver(app);
    const pod = new MeshPod(cluster, options, network, app);
    const up = new Promise<Reply>((resolve) => pod.#waiting.set(0, resolve));
    await pod.#create();
    if (meshed) await pod.revive();
    await up;
    await pod.setReady(true);
    return pod;
  }

  /** Makes requests from within the pod. @throws Error if they could not be made at all */
  async requests(batch: Batch): Promise<Outcomes> {
    return (await this.#make(batch)).outcomes;
  }

  /** Makes requests, and says how long their answers took. @throws Error if they could not be made at all */
  async latency(batch: Batch): Promise<Latency> {
    return (await this.#make(batch)).latency;
  }

  async #make(batch: Batch): Promise<{ readonly outcomes: Outcomes; readonly latency: Latency }> {
    const { outcomes, latency, error } = await this.#order({ batch });
    if (outcomes === undefined || latency === undefined) throw new Error(`${this.name}: ${error ?? 'no answer'}`);
    return { outcomes, latency };
  }

  /** How many requests its application has answered, by protocol. */
  async served(): Promise<Outcomes> {
    return (await this.#order({ served: true })).served ?? {};
  }

  /** What its proxy has counted: it answers the pod itself, as it does a port that is forwarded. */
  metrics(): Promise<string> {
    const program = 'fetch(process.argv[1]).then((answer) => answer.text()).then((text) => process.stdout.write(text))';
    return this.network.run(process.execPath, '-e', program, `http://127.0.0.1:${ProxyPort.admin}/metrics`);
  }

  /** What the kubelet reports of it. */
  async setReady(ready: boolean): Promise<void> {
    const conditions = ['Initialized', 'ContainersReady', 'Ready'].map((type) => ({
      type,
      status: type === 'Initialized' || ready ? 'True' : 'False',
    }));
    const { address } = this.network;
    const status = { phase: 'Running', podIP: address, podIPs: [{ ip: address }], conditions };
    await this.#cluster.client.patch(this.#ref, { status }, { subresource: 'status' });
  }

  /** Ends the proxy at once, as a node that fails does. */
  async killProxy(): Promise<void> {
    await this.#proxy?.kill();
  }

  /** Starts the proxy, and waits until it is ready. */
  async revive(): Promise<void> {
    if (this.#proxy?.isRunning === true) return;
    const { env, dir } = await this.#identity();
    if (this.#proxy === undefined) await redirect(this.network, this.#cluster.bridge.address);
    const run = (program: 'proxy-identity' | 'linkerd2-proxy') =>
      this.#cluster.processes.run({
        name: `${this.name}-${program}`,
        env,
        ...this.network.within([linkerdBinary(program)], PROXY_USER),
      });
    // It writes key and request, then looks for the proxy where Linkerd's image has it.
    await run('proxy-identity').exited;
    await access(join(dir, 'csr.der'));
    const proxy = (this.#proxy = run('linkerd2-proxy'));
    const url = `http://${this.network.address}:${ProxyPort.admin}/ready`;
    await proxy.until(async () => (await httpStatus(url)) === 200);
  }

  /** Deletes the pod, and ends what runs in it. */
  async delete(): Promise<void> {
    await this.#cluster.client.delete(this.#ref, { gracePeriodSeconds: 0 });
    await this.#proxy?.kill();
    this.#app.disconnect();
    await this.network.close();
  }

  get #ref(): ObjectRef {
    return objectRef('v1', 'Pod', this.name, this.#namespace);
  }

  get #namespace(): string {
    return this.#options.namespace ?? 'shop';
  }

  get #account(): string {
    return this.#options.serviceAccount ?? this.name;
  }

  async #create(): Promise<void> {
    const { client, node } = this.#cluster;
    const { labels = { app: this.name }, annotations = {}, subdomain, meshed = true } = this.#options;
    await client.apply(objectRef('v1', 'ServiceAccount', this.#account, this.#namespace));
    const mesh = { 'linkerd.io/control-plane-ns': LINKERD, 'linkerd.io/proxy-deployment': this.name };
    const pod = {
      ...this.#ref,
      metadata: {
        ...this.#ref.metadata,
        labels: { ...labels, ...(meshed && mesh) },
        annotations: { [Annotation.opaquePorts]: String(AppPort.tcp), ...annotations },
      },
      spec: {
        nodeName: node,
        serviceAccountName: this.#account,
        ...(subdomain !== undefined && { hostname: this.name, subdomain }),
        containers: [{ name: 'app', image: 'app', ports: APP_PORTS }, ...(meshed ? [PROXY_CONTAINER] : [])],
      },
    };
    await client.create(pod);
    await this.setReady(false);
  }

  /** Writes what the proxy knows itself by, for its user to read. */
  async #identity(): Promise<{ readonly env: Readonly<Record<string, string>>; readonly dir: string }> {
    const { client, node, anchor, processes } = this.#cluster;
    const dir = join(processes.dir, `${this.name}-identity`);
    const tokenFile = join(dir, 'token');
    await mkdir(dir, { recursive: true });
    const request = { spec: { audiences: ['identity.l5d.io'], expirationSeconds: 86_400 } };
    const { body, code } = await client.request<{ readonly status?: { readonly token: string } }>(
      'POST',
      `/api/v1/namespaces/${this.#namespace}/serviceaccounts/${this.#account}/token`,
      { body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', ...request } },
    );
    if (body.status === undefined) throw new Error(`no token for ${this.#account}: ${code}`);
    await writeFile(tokenFile, body.status.token);
    await chown(dir, PROXY_USER, PROXY_USER);
    await chmod(processes.dir, 0o755);
    const { stranger = false, annotations = {} } = this.#options;
    const publicAddress = this.#options.public?.address;
    const env = proxyEnvironment({
      namespace: this.#namespace,
      pod: this.name,
      node,
      serviceAccount: this.#account,
      trustDomain: stranger ? OTHER_TRUST_DOMAIN : TRUST_DOMAIN,
      identityPort: stranger ? ControlPort.strangers : ControlPort.identity,
      annotations,
      addresses: [this.network.address, ...(publicAddress === undefined ? [] : [publicAddress])],
      ports: [...APP_PORTS.map(({ containerPort }) => containerPort), ProxyPort.inbound, ProxyPort.admin],
      identityDir: dir,
      tokenFile,
      trustAnchors: anchor.certificate,
    });
    return { env, dir };
  }

  #order(order: { readonly batch: Batch } | { readonly served: true }): Promise<Reply> {
    this.#orders += 1;
    const id = this.#orders;
    return new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error(`the application of ${this.name} has ended`));
      this.#waiting.set(id, (reply) => {
        this.#waiting.delete(id);
        this.#app.off('exit', ended);
        resolve(reply);
      });
      this.#app.once('exit', ended);
      this.#app.send({ id, ...order } satisfies Order);
    });
  }
}
