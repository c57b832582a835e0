/**
 * A test cluster of real servers on loopback: etcd, kube-apiserver and, where a test asks for them, Kubernetes' own
 * controllers and CoreDNS. Nothing needs root or containers; everything lives in one temporary directory.
 */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AuditLog, auditPolicy } from './audit-log.ts';
import { requireBinary } from './binaries.ts';
import { Etcd } from './etcd.ts';
import { httpStatus } from './http-status.ts';
import { serviceImportCrd } from '../../../crds/index.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../certificate.ts';
import { renderKubeconfig } from '../kubeconfig.ts';
import { type PortBlock, reservePorts } from './ports.ts';
import { Processes, type RunningProcess } from './processes.ts';
import type { AuditEntry, StartOptions, TestCluster, TestUser } from '../types.ts';
import { installCrd } from '../workload/crd.ts';

const HOST = '127.0.0.1';
/** Endpoints may not be on loopback: the API server advertises an address of a range reserved for documentation. */
const ADVERTISED_ADDRESS = '192.0.2.1';
const SERVICE_CIDR = '10.96.0.0/16';
const SERVICE_CIDR_V6 = 'fd00:10:96::/112';
/** Memory for time: a server that lives for seconds need not tidy up as often. */
const GO_ENV = { GOGC: '400' };

/**
 * Starts a cluster; about 3 s on two cores.
 * @throws Error with the tail of its log when a server does not come up
 */
export const startReal = async (options: StartOptions): Promise<RealCluster> => {
  const ports = await reservePorts();
  const processes = new Processes(options.name);
  try {
    const cluster = new RealCluster(options, processes, ports);
    await cluster.launch();
    return cluster;
  } catch (error) {
    await processes.close();
    ports.release();
    throw error;
  }
};

/** A cluster of real servers that runs. */
export class RealCluster implements TestCluster {
  readonly backing = 'real';
  readonly name: string;
  readonly server: string;
  readonly adminToken = randomUUID();
  readonly kubeconfigFile: string;
  readonly dns?: { readonly address: string; readonly port: number };
  readonly #options: StartOptions;
  readonly #processes: Processes;
  readonly #ports: PortBlock;
  readonly #etcdUrl: string;
  readonly #peerUrl: string;
  readonly #port: number;
  readonly #controllersPort: number;
  readonly #dnsHealthPort: number;
  readonly #controllersToken = randomUUID();
  readonly #auditLog: AuditLog | undefined;
  readonly #etcd: Etcd;
  /** What every cluster has as soon as it is up. */
  #original: ReadonlySet<string> = new Set();
  #apiServer: RunningProcess | undefined;
  #etcdServer: RunningProcess | undefined;
  #manager: RunningProcess | undefined;
  #paused = false;
  #stopped = false;

  constructor(options: StartOptions, processes: Processes, ports: PortBlock) {
    this.name = options.name;
    this.#options = options;
    this.#processes = processes;
    this.#ports = ports;
    this.#etcdUrl = `http://${HOST}:${ports.take()}`;
    this.#peerUrl = `http://${HOST}:${ports.take()}`;
    this.#etcd = new Etcd(this.#etcdUrl);
    this.#port = ports.take();
    this.#controllersPort = ports.take();
    this.#dnsHealthPort = ports.take();
    this.server = `https://${HOST}:${this.#port}`;
    this.kubeconfigFile = this.#file('admin.kubeconfig');
    if (options.audit ?? true) this.#auditLog = new AuditLog(this.#file('audit.log'));
    if (options.dns) this.dns = { address: HOST, port: ports.take() };
  }

  get caData(): string {
    return Buffer.from(CERTIFICATE).toString('base64');
  }

  get kubeconfig(): string {
    return this.kubeconfigFor(this.adminToken);
  }

  kubeconfigFor(token: string): string {
    return renderKubeconfig({ name: this.name, server: this.server, caData: this.caData, token });
  }

  async audit(): Promise<readonly AuditEntry[]> {
    await this.#flushAudit();
    return (await this.#auditLog?.read()) ?? [];
  }

  async clearAudit(): Promise<void> {
    await this.#flushAudit();
    await this.#auditLog?.clear();
  }

  async signToken(claims: object): Promise<string> {
    const parts = [{ alg: 'ES256', typ: 'JWT' }, claims].map((each) =>
      Buffer.from(JSON.stringify(each)).toString('base64url'),
    );
    const key = { key: await readFile(this.#file('sa.key')), dsaEncoding: 'ieee-p1363' } as const;
    return [...parts, sign('sha256', Buffer.from(parts.join('.')), key).toString('base64url')].join('.');
  }

  pause(): void {
    this.#apiServer?.pause();
    this.#paused = true;
  }

  resume(): void {
    this.#apiServer?.signal('SIGCONT');
    this.#paused = false;
  }

  async kill(): Promise<void> {
    await this.#apiServer?.kill();
    this.#apiServer = undefined;
    this.#paused = false;
  }

  async start(): Promise<void> {
    if (this.#stopped) throw new Error(`cluster ${this.name} is stopped for good: its data is gone`);
    if (this.#apiServer === undefined) await this.#runApiServer();
  }

  /** Keeps a copy of all data; the API server is away for a few seconds. */
  async backup(): Promise<void> {
    await this.#copyData('etcd', 'backup');
  }

  /** Puts back the data of the last {@link backup}; resourceVersions go back with it. */
  async restore(): Promise<void> {
    await this.#copyData('backup', 'etcd');
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    await this.#processes.close();
    this.#ports.release();
  }

  /** Writes the files, then starts every server that the options ask for. */
  async launch(): Promise<void> {
    await Promise.all([this.#runEtcd(), this.#writeFiles()]);
    await this.#runApiServer();
    await writeFile(this.kubeconfigFile, this.kubeconfig);
    // CoreDNS starts with the kinds that it reads.
    if (this.#options.dns === 'clusterset') await installCrd(this, serviceImportCrd);
    await Promise.all([this.runControllers(this.#options.controllers ?? []), this.#runDns()]);
    this.#original = await this.#etcd.keys();
    await this.clearAudit();
  }

  /** Takes away whatever was written since the start, but for the kinds that were installed, and ends the controllers. */
  async reset(): Promise<void> {
    this.resume();
    await this.#manager?.kill();
    await this.start();
    await this.#etcd.deleteAllBut(this.#original);
    await this.clearAudit();
  }

  /** Replaces one directory of data by another while no server uses them. */
  async #copyData(from: string, to: string): Promise<void> {
    await this.kill();
    await this.#etcdServer?.kill();
    await rm(this.#file(to), { recursive: true, force: true });
    await cp(this.#file(from), this.#file(to), { recursive: true });
    await this.#runEtcd();
    await this.start();
  }

  get #servingCertificate(): readonly string[] {
    return [`--tls-cert-file=${this.#file('serving.crt')}`, `--tls-private-key-file=${this.#file('serving.key')}`];
  }

  #file(name: string): string {
    return join(this.#processes.dir, name);
  }

  async #writeFiles(): Promise<void> {
    const { privateKey, publicKey } = generateKeyPairSync('ec', {
      namedCurve: 'prime256v1',
      privateKeyEncoding: { type: 'sec1', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const users: readonly TestUser[] = [
      { name: 'admin', groups: ['system:masters'], token: this.adminToken },
      { name: 'system:kube-controller-manager', groups: ['system:masters'], token: this.#controllersToken },
      ...(this.#options.users ?? []),
    ];
    await Promise.all([
      writeFile(this.#file('serving.crt'), CERTIFICATE),
      writeFile(this.#file('serving.key'), PRIVATE_KEY),
      writeFile(this.#file('sa.key'), privateKey),
      writeFile(this.#file('sa.pub'), publicKey),
      writeFile(this.#file('tokens.csv'), users.map(tokenLine).join('')),
      writeFile(this.#file('audit-policy.json'), JSON.stringify(auditPolicy)),
      writeFile(this.#file('admission.json'), JSON.stringify(admission(this.#options.podSecurity ?? 'privileged'))),
    ]);
  }

  async #runEtcd(): Promise<void> {
    const etcd = (this.#etcdServer = this.#processes.run({
      name: 'etcd',
      path: requireBinary('etcd'),
      env: GO_ENV,
      args: [
        '--name=default',
        `--data-dir=${this.#file('etcd')}`,
        `--listen-client-urls=${this.#etcdUrl}`,
        `--advertise-client-urls=${this.#etcdUrl}`,
        `--listen-peer-urls=${this.#peerUrl}`,
        `--initial-advertise-peer-urls=${this.#peerUrl}`,
        `--initial-cluster=default=${this.#peerUrl}`,
        '--unsafe-no-fsync',
        '--log-level=warn',
      ],
    }));
    await etcd.until(async () => (await httpStatus(`${this.#etcdUrl}/health`)) === 200);
  }

  async #runApiServer(): Promise<void> {
    this.#apiServer = this.#processes.run({
      name: 'kube-apiserver',
      path: requireBinary('kube-apiserver'),
      env: GO_ENV,
      args: [
        `--etcd-servers=${this.#etcdUrl}`,
        `--bind-address=${HOST}`,
        `--secure-port=${this.#port}`,
        `--advertise-address=${ADVERTISED_ADDRESS}`,
        '--endpoint-reconciler-type=none',
        ...this.#servingCertificate,
        `--service-cluster-ip-range=${SERVICE_CIDR}${this.#options.dualStack ? `,${SERVICE_CIDR_V6}` : ''}`,
        `--token-auth-file=${this.#file('tokens.csv')}`,
        '--authorization-mode=RBAC',
        '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
        `--service-account-signing-key-file=${this.#file('sa.key')}`,
        `--service-account-key-file=${this.#file('sa.pub')}`,
        // Pods wait for their namespace's default ServiceAccount, which this controller alone makes.
        ...(this.#runs('serviceaccount-controller') ? [] : ['--disable-admission-plugins=ServiceAccount']),
        // A test that needs throttling enables it itself.
        '--enable-priority-and-fairness=false',
        '--max-requests-inflight=0',
        '--max-mutating-requests-inflight=0',
        `--admission-control-config-file=${this.#file('admission.json')}`,
        ...(this.#auditLog?.flags(this.#file('audit-policy.json')) ?? []),
      ],
    });
    await this.#apiServer.until(async () => {
      // The server is ready before the namespaces that every cluster has exist.
      return (await this.#get('/readyz')) === 200 && (await this.#get('/api/v1/namespaces/default')) === 200;
    });
  }

  /** Runs Kubernetes' own controllers, by their kube-controller-manager names; until {@link reset}. */
  async runControllers(controllers: readonly string[]): Promise<void> {
    if (controllers.length === 0) return;
    await writeFile(this.#file('controllers.kubeconfig'), this.kubeconfigFor(this.#controllersToken));
    const manager = (this.#manager = this.#processes.run({
      name: 'kube-controller-manager',
      path: requireBinary('kube-controller-manager'),
      args: [
        `--kubeconfig=${this.#file('controllers.kubeconfig')}`,
        `--controllers=${controllers.join(',')}`,
        `--bind-address=${HOST}`,
        `--secure-port=${this.#controllersPort}`,
        ...this.#servingCertificate,
        `--service-account-private-key-file=${this.#file('sa.key')}`,
        `--root-ca-file=${this.#file('serving.crt')}`,
        '--leader-elect=false',
        '--kube-api-qps=1000',
        '--kube-api-burst=2000',
      ],
    }));
    await manager.until(
      async () => (await httpStatus(`https://${HOST}:${this.#controllersPort}/healthz`, { ca: CERTIFICATE })) === 200,
    );
  }

  async #runDns(): Promise<void> {
    if (this.dns === undefined) return;
    const isOfSet = this.#options.dns === 'clusterset';
    await writeFile(
      this.#file('Corefile'),
      `.:${this.dns.port} {
  bind ${HOST}
  ready ${HOST}:${this.#dnsHealthPort}
  errors
  kubernetes cluster.local ${isOfSet ? 'clusterset.local' : ''} {
    kubeconfig ${this.kubeconfigFile} ${this.name}
    ttl 0
    ${isOfSet ? 'multicluster clusterset.local' : ''}
  }
}
`,
    );
    const coredns = this.#processes.run({
      name: 'coredns',
      path: requireBinary('coredns'),
      args: ['-conf', this.#file('Corefile')],
    });
    await coredns.until(async () => (await httpStatus(`http://${HOST}:${this.#dnsHealthPort}/ready`)) === 200);
  }

  #runs(controller: string): boolean {
    return this.#options.controllers?.includes(controller) ?? false;
  }

  #get(path: string): Promise<number> {
    return httpStatus(`${this.server}${path}`, { ca: CERTIFICATE, token: this.adminToken });
  }

  /** Entries are written just after their answers: one that was asked for now comes after all that were answered. */
  async #flushAudit(): Promise<void> {
    const apiServer = this.#apiServer;
    if (this.#auditLog === undefined || apiServer === undefined || this.#paused) return;
    const marker = randomUUID();
    await this.#get(`/version?marker=${marker}`);
    await apiServer.until(() => this.#auditLog!.reached(marker), 10_000);
  }
}

/** A line of the token file: token, user, uid, "groups". */
const tokenLine = ({ name, groups = [], token }: TestUser): string =>
  `${token},${name},${name},"${groups.join(',')}"\n`;

/** What the API server admits where a namespace does not say. */
const admission = (podSecurity: string) => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AdmissionConfiguration',
  plugins: [
    {
      name: 'PodSecurity',
      configuration: {
        apiVersion: 'pod-security.admission.config.k8s.io/v1',
        kind: 'PodSecurityConfiguration',
        defaults: { enforce: podSecurity, 'enforce-version': 'latest' },
        exemptions: {},
      },
    },
  ],
});
