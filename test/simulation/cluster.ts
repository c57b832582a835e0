/**
 * One simulated API server in one world: a process of its own, with its storage open to the history, so that every effect
 * of a write is seen in the very step in which it happens, and whose it was is known for certain.
 */
import { bearer, type ClusterAccess } from '../../operator/kube/access/access.ts';
import { renderKubeconfig } from '../cluster/kubeconfig.ts';
import { CERTIFICATE } from '../cluster/simulated/certificate.ts';
import { startControllers } from '../cluster/simulated/controllers/index.ts';
import type { Exchange } from '../cluster/simulated/exchange.ts';
import type { Faults } from '../cluster/simulated/faults.ts';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { Registry } from '../cluster/simulated/storage/registry.ts';
import { idOf, type Resource } from '../cluster/simulated/kinds/resources.ts';
import { ApiServer } from '../cluster/simulated/server.ts';
import type { Snapshot, StorageEvent } from '../cluster/simulated/storage/storage.ts';
import { type Manifest, Store } from '../cluster/simulated/store.ts';
import type { Internet, Sender } from './world/internet.ts';
import { randomFor, uuidOf } from './world/random.ts';
import type { SimulatedProcess } from './world/world.ts';

/** Period of bookmarks, which distinguish a quiet watch from a silent one: that of a real API server. */
const BOOKMARK_MS = 60_000;

const CA_DATA = Buffer.from(CERTIFICATE).toString('base64');

/** What a cluster is made with. */
export interface HistoryClusterOptions {
  readonly name: string;
  /** By their kube-controller-manager names. @default none */
  readonly controllers?: readonly string[];
  /** Put into every cluster of this name before its history; the same each time. */
  readonly objects: readonly object[];
  readonly internet: Internet;
}

/** What clusters hold at first, by name: made once, as histories come by the hundred. */
const snapshots = new Map<string, Snapshot>();

const snapshotOf = ({ name, objects }: HistoryClusterOptions): Snapshot => {
  let snapshot = snapshots.get(name);
  if (snapshot === undefined) {
    const store = new Store(new Registry());
    for (const object of objects) store.upsert(object as Manifest);
    snapshot = store.snapshot();
    snapshots.set(name, snapshot);
  }
  return snapshot;
};

export class HistoryCluster {
  readonly name: string;
  /** Its `host:port`. */
  readonly at: string;
  readonly process: SimulatedProcess;
  readonly #internet: Internet;
  readonly #uuids: () => number;
  readonly #registry: Registry;
  readonly #store: Store;
  readonly #tokens = new Map<string, string>();
  readonly #server: ApiServer;
  readonly #stopControllers: () => void;
  readonly #senders = new WeakMap<Exchange, Sender>();
  readonly #backUps: Snapshot[] = [];
  /** Of the request that is being carried out. */
  #sender: Sender | undefined;

  constructor(options: HistoryClusterOptions) {
    const { name, controllers = [], internet } = options;
    const { world } = internet;
    this.name = name;
    this.at = `${name}.example:6443`;
    this.process = world.process(name);
    this.#internet = internet;
    this.#uuids = randomFor(world.seed, `${name} uuids`);
    this.#registry = new Registry(snapshotOf(options), () => uuidOf(this.#uuids));
    this.#store = new Store(this.#registry);
    this.#server = new ApiServer({
      registry: this.#registry,
      authenticate: (token) =>
        this.#tokens.has(token)
          ? { name: this.#tokens.get(token)!, groups: ['system:masters', 'system:authenticated'] }
          : undefined,
      bookmarkIntervalMs: BOOKMARK_MS,
      audit: false,
      onCarryingOut: (exchange) => {
        this.#sender = exchange && this.#senders.get(exchange);
      },
      random: randomFor(world.seed, `${name} faults`),
    });
    this.#stopControllers = world.as(this.process, () => startControllers(this.#registry, controllers));
    this.start();
  }

  /** Of its latest write. */
  get revision(): number {
    return this.#registry.storage.revision;
  }

  get faults(): Faults {
    return this.#server.faults;
  }

  start(): void {
    const serve = (exchange: Exchange & Sender): void => {
      this.#senders.set(exchange, exchange);
      void this.#server.handle(exchange);
    };
    this.#internet.listen(this.at, { process: this.process, serve });
  }

  stop(): void {
    this.#stopControllers();
  }

  /** A new token of a user. */
  admit(user = 'admin'): string {
    const token = uuidOf(this.#uuids);
    this.#tokens.set(token, user);
    return token;
  }

  /** The token is good for nothing from now on; requests under way are still carried out. */
  expel(token: string): void {
    this.#tokens.delete(token);
  }

  kubeconfigFor(token: string): string {
    return renderKubeconfig({ name: this.name, server: `https://${this.at}`, caData: CA_DATA, token });
  }

  accessFor(token: string): ClusterAccess {
    return { server: `https://${this.at}`, tls: {}, authorization: () => Promise.resolve(bearer(token)) };
  }

  /** Creates or replaces an object, as a user of the cluster does. */
  put(manifest: object): void {
    this.#store.upsert(manifest as Manifest);
  }

  /** Deletes an object, as a user of the cluster does. */
  remove(apiVersion: string, kind: string, namespace: string | undefined, name: string): void {
    this.#store.delete(apiVersion, kind, namespace, name);
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
    const namespaces = this.#registry.byKind('v1', 'Namespace');
    if (namespaces !== undefined) this.#registry.delete(namespaces, undefined, name, {});
  }

  /** Keeps what there is now, to be restored later. */
  backUp(): void {
    this.#backUps.push(this.#store.snapshot());
  }

  /** Goes back to the latest backup, if there is one: what came after it is gone without an event. */
  restore(): void {
    const backUp = this.#backUps.pop();
    if (backUp !== undefined) this.faults.restoreFrom(backUp);
  }

  /** Told of every effect of a request: nothing but the operator makes any. */
  onOperatorWrite(listener: (sender: Sender, resource: Resource, event: StorageEvent) => void): void {
    for (const resource of this.#registry.resources()) {
      this.#registry.storage.collection(idOf(resource)).listen((event) => {
        if (this.#sender !== undefined) listener(this.#sender, resource, event);
      });
    }
  }
}
