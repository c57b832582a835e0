/**
 * One simulated API server for one history: made in a millisecond or two, with its storage open to the history, so
 * that every effect of a write is seen in the very step in which it happens, and whose it was is known for certain.
 */
import { randomUUID } from 'node:crypto';
import { renderKubeconfig } from '../cluster/kubeconfig.ts';
import { CERTIFICATE } from '../cluster/simulated/certificate.ts';
import { startControllers } from '../cluster/simulated/controllers/index.ts';
import type { Faults } from '../cluster/simulated/faults.ts';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { Registry } from '../cluster/simulated/storage/registry.ts';
import { idOf, type Resource } from '../cluster/simulated/kinds/resources.ts';
import { ApiServer } from '../cluster/simulated/server.ts';
import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import { type Manifest, Store } from '../cluster/simulated/store.ts';

/** Watches hear something this often, so that a silent one is told from a quiet one. */
const BOOKMARK_MS = 250;

export class HistoryCluster {
  readonly name: string;
  readonly #registry = new Registry();
  readonly #store = new Store(this.#registry);
  readonly #tokens = new Set<string>();
  readonly #server: ApiServer;
  readonly #stopControllers: () => void;
  #acting = false;

  /** @param random from 0 up to 1: which requests a fault befalls */
  constructor(name: string, controllers: readonly string[], random: () => number) {
    this.name = name;
    this.#server = new ApiServer({
      registry: this.#registry,
      authenticate: (token) =>
        this.#tokens.has(token) ? { name: 'admin', groups: ['system:masters', 'system:authenticated'] } : undefined,
      bookmarkIntervalMs: BOOKMARK_MS,
      audit: false,
      random,
    });
    this.#stopControllers = startControllers(this.#registry, controllers);
  }

  get faults(): Faults {
    return this.#server.faults;
  }

  async start(): Promise<void> {
    await this.#server.listen();
  }

  async stop(): Promise<void> {
    this.#stopControllers();
    await this.#server.close();
  }

  /** A new user's token. */
  admit(): string {
    const token = randomUUID();
    this.#tokens.add(token);
    return token;
  }

  /** The token is good for nothing from now on; requests under way are still carried out. */
  expel(token: string): void {
    this.#tokens.delete(token);
  }

  kubeconfigFor(token: string): string {
    const caData = Buffer.from(CERTIFICATE).toString('base64');
    return renderKubeconfig({ name: this.name, server: this.#server.url, caData, token });
  }

  /** Creates or replaces an object, as a user of the cluster does. */
  put(manifest: object): void {
    this.#act(() => this.#store.upsert(manifest as Manifest));
  }

  /** Deletes an object, as a user of the cluster does. */
  remove(apiVersion: string, kind: string, namespace: string | undefined, name: string): void {
    this.#act(() => this.#store.delete(apiVersion, kind, namespace, name));
  }

  get(apiVersion: string, kind: string, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#store.get(apiVersion, kind, namespace, name);
  }

  list(apiVersion: string, kind: string): readonly KubeObject[] {
    return this.#store.list(apiVersion, kind);
  }

  /** Deletes a namespace with all that is in it, and its finalization takes a moment, as it does. */
  removeNamespace(name: string): void {
    if (this.get('v1', 'Namespace', undefined, name) === undefined) return;
    this.#act(() => {
      const namespaces = this.#registry.byKind('v1', 'Namespace');
      if (namespaces !== undefined) this.#registry.delete(namespaces, undefined, name, {});
    });
  }

  /** Told of every effect that was not of the history's own making. */
  onForeignWrite(listener: (resource: Resource, event: StorageEvent) => void): void {
    for (const resource of this.#registry.resources()) {
      this.#registry.storage.collection(idOf(resource)).listen((event) => {
        if (!this.#acting) listener(resource, event);
      });
    }
  }

  #act(write: () => unknown): void {
    this.#acting = true;
    try {
      write();
    } finally {
      this.#acting = false;
    }
  }
}
