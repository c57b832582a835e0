/**
 * A simulated test cluster: an in-memory API server on loopback that keeps the interface of the real one, with
 * switches for faults and a back door to its objects. Starting one costs milliseconds.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderKubeconfig } from '../kubeconfig.ts';
import type { AuditEntry, StartOptions, TestCluster } from '../types.ts';
import { CERTIFICATE } from '../certificate.ts';
import { startControllers } from './controllers/index.ts';
import { serviceAccountOf } from './controllers/token.ts';
import type { Faults } from './faults.ts';
import type { User } from './kinds/rbac.ts';
import { Registry } from './storage/registry.ts';
import type { RequestInfo } from './request.ts';
import { HttpFace } from './http-face.ts';
import { ApiServer } from './server.ts';
import { userOfToken } from './tokens.ts';
import { Store } from './store.ts';

/** What a simulated cluster can be started with besides. */
export interface SimulationOptions extends StartOptions {
  /**
   * Time between bookmarks on a watch, in milliseconds.
   * @default 60000
   */
  readonly bookmarkIntervalMs?: number;
  /**
   * From 0 up to 1: decides which requests fail when a fault befalls a fraction of them.
   * @default Math.random
   */
  readonly random?: () => number;
}

/** A simulated cluster, and what a test may do to it that no real one offers. */
export interface SimulatedCluster extends TestCluster {
  readonly backing: 'simulated';
  readonly faults: Faults;
  /** The objects, without going through HTTP. */
  readonly store: Store;
  /** Bytes of response bodies sent to matching requests, running watches included, since the last clearAudit(). */
  bytesSent(matches?: (request: RequestInfo) => boolean): number;
}

/** Starts a simulated cluster. */
export async function startSimulated(options: SimulationOptions): Promise<SimulatedCluster> {
  const cluster = new Simulation(options);
  await cluster.open();
  return cluster;
}

const MASTERS: User = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };

class Simulation implements SimulatedCluster {
  readonly backing = 'simulated';
  readonly name: string;
  readonly adminToken = randomUUID();
  readonly caData = Buffer.from(CERTIFICATE).toString('base64');
  readonly store: Store;
  readonly #users: ReadonlyMap<string, User>;
  readonly #registry = new Registry();
  readonly #server: ApiServer;
  readonly #face: HttpFace;
  readonly #stopControllers: () => void;
  #directory = '';

  constructor(options: SimulationOptions) {
    this.name = options.name;
    const others = (options.users ?? []).map(
      ({ name, groups = [], token }) => [token, { name, groups: [...groups, 'system:authenticated'] }] as const,
    );
    this.#users = new Map<string, User>([[this.adminToken, MASTERS], ...others]);
    this.store = new Store(this.#registry);
    this.#server = new ApiServer({
      registry: this.#registry,
      authenticate: (token) =>
        this.#users.get(token) ?? userOfToken(this.#registry, token) ?? serviceAccountOf(this.#registry, token),
      bookmarkIntervalMs: options.bookmarkIntervalMs ?? 60_000,
      audit: options.audit ?? true,
      random: options.random ?? Math.random,
    });
    this.#face = new HttpFace(this.#server);
    this.#stopControllers = startControllers(this.#registry, options.controllers ?? []);
  }

  get server(): string {
    return this.#face.url;
  }

  get faults(): Faults {
    return this.#server.faults;
  }

  get kubeconfig(): string {
    return this.kubeconfigFor(this.adminToken);
  }

  get kubeconfigFile(): string {
    return join(this.#directory, 'kubeconfig');
  }

  kubeconfigFor(token: string): string {
    return renderKubeconfig({ name: this.name, server: this.server, caData: this.caData, token });
  }

  async open(): Promise<void> {
    const [directory] = await Promise.all([mkdtemp(join(tmpdir(), `linkspan-${this.name}-`)), this.#face.listen()]);
    this.#directory = directory;
    await writeFile(this.kubeconfigFile, this.kubeconfig, { mode: 0o600 });
  }

  async audit(): Promise<readonly AuditEntry[]> {
    return this.#server.audit.entries();
  }

  async clearAudit(): Promise<void> {
    this.#server.audit.clear();
  }

  bytesSent(matches: (request: RequestInfo) => boolean = () => true): number {
    return this.#server.audit.bytesSent(matches);
  }

  pause(): void {
    this.#server.pause();
  }

  resume(): void {
    this.#server.resume();
  }

  async kill(): Promise<void> {
    await this.#face.close();
  }

  async start(): Promise<void> {
    this.#registry.storage.compact();
    await this.#face.listen();
  }

  async stop(): Promise<void> {
    this.#stopControllers();
    await this.#face.close();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
