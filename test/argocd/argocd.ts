/**
 * Argo CD as it is installed, on loopback and without containers: repo server, both controllers and redis, over the CRDs
 * and the settings that its own manifests have. It runs on one cluster and applies to those that are registered.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { httpStatus } from '../cluster/real/http-status.ts';
import { type PortBlock, reservePorts } from '../cluster/real/ports.ts';
import { Processes } from '../cluster/real/processes.ts';
import type { TestCluster, TestUser } from '../cluster/types.ts';
import { type Api, api, eventually, installCrd, type ObjectRef } from '../cluster/workload/index.ts';
import { namespace } from '../support/builders.ts';
import { APPLICATION, type Application, ARGOCD_NAMESPACE, described } from './application.ts';
import { SyncHistory } from './sync-history.ts';
import { argoCdTools, findRedis, shippedObjects } from './tools.ts';

const HOST = '127.0.0.1';
const DEADLINE_MS = 120_000;

/** Whom Argo CD is to the API servers, told from everybody else in their audit logs. */
export const ARGOCD_USER: TestUser = { name: 'argocd', groups: ['system:masters'], token: randomUUID() };

/** A running Argo CD. */
export class ArgoCd {
  /** Its files; removed by {@link stop}. */
  readonly dir: string;
  readonly #cluster: TestCluster;
  readonly #api: Api;
  readonly #processes: Processes;
  readonly #ports: PortBlock;

  private constructor(cluster: TestCluster, processes: Processes, ports: PortBlock) {
    this.dir = processes.dir;
    this.#cluster = cluster;
    this.#api = api(cluster, { userAgent: 'linkspan-test' });
    this.#processes = processes;
    this.#ports = ports;
  }

  /**
   * Installs Argo CD on a cluster that knows {@link ARGOCD_USER}, and starts it.
   * @throws Error with the tail of its log when a part does not come up
   */
  static async start(cluster: TestCluster): Promise<ArgoCd> {
    const ports = await reservePorts();
    const argocd = new ArgoCd(cluster, new Processes('argocd'), ports);
    try {
      await argocd.#install();
      await argocd.#run();
      return argocd;
    } catch (error) {
      await argocd.stop();
      throw error;
    }
  }

  /** Makes a cluster one that Applications may name as their destination. */
  async register({ name, server, caData }: TestCluster): Promise<void> {
    const config = { bearerToken: ARGOCD_USER.token, tlsClientConfig: { caData } };
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: `cluster-${name}`,
        namespace: ARGOCD_NAMESPACE,
        labels: { 'argocd.argoproj.io/secret-type': 'cluster' },
      },
      stringData: { name, server, config: JSON.stringify(config) },
    };
    await this.#api.apply(secret);
  }

  /** An Application, or undefined. */
  application(name: string): Promise<Application | undefined> {
    return this.#api.get<Application>(application(name));
  }

  /** Has Argo CD look at Git and at the cluster at once. */
  async refresh(name: string): Promise<void> {
    await this.#api.patch(application(name), { metadata: { annotations: { [REFRESH]: 'normal' } } });
  }

  /** Has Argo CD compare an Application with Git and its cluster, and waits until it has. */
  async compare(name: string): Promise<void> {
    await this.refresh(name);
    await this.until(name, 'is compared', ({ metadata }) => metadata.annotations?.[REFRESH] === undefined);
  }

  /** Notes every state of sync that an Application is in, until stopped. */
  watch(): SyncHistory {
    return new SyncHistory(this.#api);
  }

  /** Waits for something to be so of an Application; when it never is, the error says what Argo CD says of it. */
  async until(
    name: string,
    what: string,
    isSo: (application: Application) => boolean,
    timeoutMs = DEADLINE_MS,
  ): Promise<Application> {
    let last: Application | undefined;
    try {
      return await eventually(
        `${name} ${what}`,
        async () => {
          last = await this.application(name);
          return last !== undefined && isSo(last) ? last : undefined;
        },
        timeoutMs,
      );
    } catch (error) {
      const said = [described(last), ...(await this.#complaints(name))].join('\n  ');
      throw new Error(`${name} ${what}: not so after ${timeoutMs} ms; ${said}`, { cause: error });
    }
  }

  /** Waits until Applications are Synced to a revision, all of it applied, and Healthy. */
  async settled(revision: string, ...names: readonly string[]): Promise<void> {
    for (const name of names) {
      await this.until(name, `is Synced to ${revision} and Healthy`, ({ status }) => {
        const { sync, health, operationState } = status ?? {};
        return (
          sync?.status === 'Synced' &&
          sync.revision === revision &&
          health?.status === 'Healthy' &&
          operationState?.phase !== 'Running'
        );
      });
    }
  }

  async stop(): Promise<void> {
    await this.#processes.close();
    this.#ports.release();
    await this.#api.close();
  }

  /** The last that the controller had to say against an Application. */
  async #complaints(name: string): Promise<readonly string[]> {
    const log = await readFile(join(this.dir, `${CONTROLLER}.log`), 'utf8');
    const lines = log.split('\n').filter((line) => /"level":"(error|warning)"/.test(line) && line.includes(name));
    return lines.slice(-3).map((line) => line.slice(0, 1_000));
  }

  async #install(): Promise<void> {
    await this.#api.apply(namespace(ARGOCD_NAMESPACE));
    for (const name of ['application', 'applicationset', 'appproject']) {
      for (const crd of shippedObjects('manifests', 'crds', `${name}-crd.yaml`)) await installCrd(this.#cluster, crd);
    }
    for (const name of SETTINGS) {
      for (const object of shippedObjects('manifests', 'base', 'config', `${name}.yaml`)) {
        const { metadata } = object;
        await this.#api.apply({ ...object, metadata: { ...metadata, namespace: ARGOCD_NAMESPACE } });
      }
    }
    const key = randomBytes(32).toString('base64');
    await this.#api.patch(ref('v1', 'Secret', 'argocd-secret'), { stringData: { 'server.secretkey': key } });
    const data = { 'timeout.reconciliation': '5s', 'timeout.reconciliation.jitter': '0s' };
    await this.#api.patch(ref('v1', 'ConfigMap', 'argocd-cm'), { data });
  }

  async #run(): Promise<void> {
    const kubeconfig = join(this.dir, 'kubeconfig');
    const home = join(this.dir, 'home');
    await mkdir(home);
    await writeFile(kubeconfig, this.#cluster.kubeconfigFor(ARGOCD_USER.token));
    const program = argoCdTools.require('argocd');
    const env = {
      HOME: home,
      TMPDIR: home,
      KUBECONFIG: kubeconfig,
      // So that the cluster it runs on is the one of KUBECONFIG.
      ARGOCD_FAKE_IN_CLUSTER: 'true',
      ARGOCD_GPG_ENABLED: 'false',
      ARGOCD_SYNC_WAVE_DELAY: '1',
    };
    const [redis, repo, repoMetrics, metrics, setMetrics, setProbe, setWebhook] = Array.from({ length: 7 }, () =>
      this.#ports.take(),
    );
    const run = (part: string, ...args: readonly string[]) =>
      this.#processes.run({ name: part, path: program, args, env: { ...env, ARGOCD_BINARY_NAME: part } });
    const serves = (port: number | undefined, path: string) => async () =>
      (await httpStatus(`http://${HOST}:${port!}${path}`)) === 200;

    const redisServer = this.#processes.run({
      name: 'redis',
      path: findRedis() ?? 'redis-server',
      args: ['--port', `${redis!}`, '--bind', HOST, '--save', '', '--appendonly', 'no', '--dir', this.dir],
    });
    await redisServer.until(() => answers(redis!));
    const repoServer = run(
      'argocd-repo-server',
      ...['--address', HOST, '--port', `${repo!}`, '--disable-tls'],
      ...['--metrics-address', HOST, '--metrics-port', `${repoMetrics!}`],
      ...['--redis', `${HOST}:${redis!}`],
      // Otherwise a commit is seen when what was said of the branch before has expired.
      ...['--revision-cache-expiration', '1s'],
    );
    const common = ['--namespace', ARGOCD_NAMESPACE, '--repo-server-plaintext'];
    const controller = run(
      CONTROLLER,
      ...common,
      ...['--repo-server', `${HOST}:${repo!}`],
      ...['--redis', `${HOST}:${redis!}`],
      ...['--metrics-port', `${metrics!}`],
      ...['--app-resync', '5', '--app-resync-jitter', '0'],
      // Health of each object in the Application itself, where it would be in redis.
      '--persist-resource-health',
    );
    const sets = run(
      'argocd-applicationset-controller',
      ...common,
      ...['--argocd-repo-server', `${HOST}:${repo!}`],
      ...['--metrics-addr', `${HOST}:${setMetrics!}`],
      ...['--probe-addr', `${HOST}:${setProbe!}`],
      ...['--webhook-addr', `${HOST}:${setWebhook!}`],
    );
    await Promise.all([
      repoServer.until(serves(repoMetrics, '/healthz')),
      controller.until(serves(metrics, '/healthz')),
      sets.until(serves(setMetrics, '/metrics')),
    ]);
  }
}

const CONTROLLER = 'argocd-application-controller';
const REFRESH = 'argocd.argoproj.io/refresh';

const SETTINGS = [
  'argocd-cm',
  'argocd-cmd-params-cm',
  'argocd-gpg-keys-cm',
  'argocd-rbac-cm',
  'argocd-secret',
  'argocd-ssh-known-hosts-cm',
  'argocd-tls-certs-cm',
];

const ref = (apiVersion: string, kind: string, name: string): ObjectRef => ({
  apiVersion,
  kind,
  metadata: { name, namespace: ARGOCD_NAMESPACE },
});
const application = (name: string): ObjectRef => ref(APPLICATION.apiVersion, APPLICATION.kind, name);

/** Whether anybody listens. */
const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: HOST, port });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
