/**
 * One simulated API server in one world: a process of its own, with its storage open to the history, so that every effect
 * of a write is seen in the very step in which it happens, and whose it was is known for certain.
 */
import { bearer, type ClusterAccess } from '../../operator/kube/access/access.ts';
import { renderKubeconfig } from '../cluster/kubeconfig.ts';
import { CERTIFICATE } from '../cluster/certificate.ts';
import { startControllers } from '../cluster/simulated/controllers/index.ts';
import type { Exchange } from '../cluster/simulated/exchange.ts';
import type { Faults } from '../cluster/simulated/faults.ts';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { Registry } from '../cluster/simulated/storage/registry.ts';
import { idOf, type Resource } from '../cluster/simulated/kinds/resources.ts';
import { ApiServer } from '../cluster/simulated/server.ts';
import { type Collection, keyOf, type Snapshot, type StorageEvent } from '../cluster/simulated/storage/storage.ts';
import { type Manifest, Store } from '../cluster/simulated/store.ts';
import { type Manner, mannered } from './manners.ts';
import type { Internet, Sender } from './world/internet.ts';
import { randomFor, uuidOf } from './world/random.ts';
import type { SimulatedProcess } from './world/world.ts';

/** Period of bookmarks, which distinguish a quiet watch from a silent one: that of a real API server. */
const BOOKMARK_MS = 60_000;

/** The longest that a timer can wait. */
const NEVER_MS = 2 ** 31 - 1;

/** Users that may do less than all: their groups, of which `readerRoles` says what they may do. */
const READERS: ReadonlySet<string> = new Set(['without watch', 'without slices']);

/** The rights of users that may not do all that a Link needs. */
export const readerRoles: readonly object[] = [
  { user: 'without watch', verbs: ['get', 'list'], resources: ['services', 'endpointslices'] },
  { user: 'without slices', verbs: ['get', 'list', 'watch'], resources: ['services'] },
].flatMap(({ user, verbs, resources }) => {
  const name = user.replace(' ', '-');
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  return [
    {
      ...{ apiVersion, kind: 'ClusterRole', metadata: { name } },
      rules: [{ apiGroups: ['', 'discovery.k8s.io'], resources, verbs }],
    },
    {
      ...{ apiVersion, kind: 'ClusterRoleBinding', metadata: { name } },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    },
  ];
});

const CA_DATA = Buffer.from(CERTIFICATE).toString('base64');

/** What a cluster is made with. */
export interface HistoryClusterOptions {
  readonly name: string;
  /** By their kube-controller-manager names. @default none */
  readonly controllers?: readonly string[];
  /** Put into every cluster of this name and variant before its history; the same each time. */
  readonly objects: readonly object[];
  /** @default - none */
  readonly variant?: string;
  /** How many versions have been written before. @default 0 */
  readonly ahead?: number | undefined;
  /** Whether watches get bookmarks. @default true */
  readonly bookmarks?: boolean | undefined;
  readonly internet: Internet;
  /** Told of each request that arrives. */
  readonly onRequest?: ((request: Request) => void) | undefined;
}

/** Told of a write. */
type Listener = (sender: Request | undefined, resource: Resource, event: StorageEvent) => void;

/** A request that has arrived. */
export type Request = Exchange & Sender;

/** What clusters hold at first, by name and variant: made once, as histories come by the hundred. */
const snapshots = new Map<string, Snapshot>();

const snapshotOf = ({ name, variant = '', objects }: HistoryClusterOptions): Snapshot => {
  const key = `${name} ${variant}`;
  let snapshot = snapshots.get(key);
  if (snapshot === undefined) {
    const store = new Store(new Registry());
    for (const object of objects) store.upsert(object as Manifest);
    snapshot = store.snapshot();
    snapshots.set(key, snapshot);
  }
  return snapshot;
};

const userOf = (name: string) => ({
  name,
  groups: READERS.has(name) ? ['system:authenticated'] : ['system:masters', 'system:authenticated'],
});

/** What is in a cluster, to be read. */
export type Content = Pick<HistoryCluster, 'get' | 'list' | 'has'>;

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
  readonly #startControllers: () => () => void;
  #stopControllers: () => void;
  readonly #senders = new WeakMap<Exchange, Request>();
  readonly #past: Snapshot[] = [];
  readonly #listeners: Listener[] = [];
  readonly #requestListeners: ((request: Request) => void)[] = [];
  /** Requests that have arrived and are not over. */
  readonly #underWay = new Set<Request>();
  /** Those whose events are heard. */
  readonly #heard = new WeakSet<Collection>();
  #isDown = false;
  /** How it answers. */
  manner: Manner | undefined;
  /** What comes between it and a request; undefined: nothing. */
  wrap: ((request: Request) => Exchange | undefined) | undefined;
  /** The request that is being carried out. */
  #sender: Request | undefined;

  constructor(options: HistoryClusterOptions) {
    const { name, controllers = [], internet, ahead = 0, bookmarks = true, onRequest } = options;
    this.#onRequest = onRequest;
    const { world } = internet;
    this.name = name;
    this.at = `${name}.example:6443`;
    this.process = world.process(name);
    this.#internet = internet;
    this.#uuids = randomFor(world.seed, `${name} uuids`);
    const first = snapshotOf(options);
    this.#registry = new Registry(first, () => uuidOf(this.#uuids));
    for (let written = 0; written < ahead; written += 1) this.#registry.storage.advance();
    this.#store = new Store(this.#registry);
    this.#server = new ApiServer({
      registry: this.#registry,
      authenticate: (token) => (this.#tokens.has(token) ? userOf(this.#tokens.get(token)!) : undefined),
      bookmarkIntervalMs: bookmarks ? BOOKMARK_MS : NEVER_MS,
      audit: false,
      onCarryingOut: (exchange) => {
        this.#sender = exchange && this.#senders.get(exchange);
        if (this.#sender !== undefined) for (const listener of this.#requestListeners) listener(this.#sender);
      },
      random: randomFor(world.seed, `${name} faults`),
    });
    this.#startControllers = () => world.as(this.process, () => startControllers(this.#registry, controllers));
    this.#stopControllers = this.#startControllers();
    this.#hear();
    const serve = (exchange: Request): void => {
      this.#underWay.add(exchange);
      exchange.onClose(() => this.#underWay.delete(exchange));
      this.#onRequest?.(exchange);
      const served = this.wrap?.(exchange) ?? (this.manner === undefined ? exchange : mannered(exchange, this.manner));
      this.#senders.set(served, exchange);
      void this.#server.handle(served);
    };
    this.#serve = serve;
    this.start();
  }

  readonly #onRequest: ((request: Request) => void) | undefined;
  readonly #serve: (exchange: Request) => void;

  /** Of its latest write. */
  get revision(): number {
    return this.#registry.storage.revision;
  }

  get faults(): Faults {
    return this.#server.faults;
  }

  /** Whether nobody can reach it. */
  get isDown(): boolean {
    return this.#isDown;
  }

  /** Listens, if it does not yet. */
  start(): void {
    if (this.#internet.serverAt(this.at) !== undefined) return;
    this.#isDown = false;
    this.#internet.listen(this.at, { process: this.process, serve: this.#serve });
  }

  /**
   * Listens no more, and its connections break: a request that it has not carried out yet it never will, whatever it is
   * restored to. What users do meanwhile is there when it listens again.
   */
  goDown(): void {
    this.#isDown = true;
    this.#internet.listen(this.at, undefined);
    for (const request of [...this.#underWay]) request.destroy();
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

  /** A token that is not admitted yet. */
  admitLater(): { readonly token: string; readonly admit: () => void } {
    const token = uuidOf(this.#uuids);
    return { token, admit: () => void this.#tokens.set(token, 'admin') };
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

  /** Stores an object past all validation. */
  putRaw(object: KubeObject): void {
    const { namespace, name } = object.metadata;
    this.#collectionOf(object).put(keyOf(namespace, name), object);
  }

  /** Deletes an object past all that holds it. */
  removeRaw(object: KubeObject): void {
    const { namespace, name } = object.metadata;
    this.#collectionOf(object).remove(keyOf(namespace, name));
  }

  #collectionOf({ apiVersion, kind }: KubeObject): Collection {
    return this.#registry.storage.collection(idOf(this.#registry.byKind(apiVersion, kind)!));
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

  /** Whether there can be objects of a kind. */
  has({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): boolean {
    return this.#registry.byKind(apiVersion, kind) !== undefined;
  }

  /** The addresses of Services that are gone can be had again after so long. */
  releaseAddressesAfter(ms: number): void {
    this.#registry.releaseMs = ms;
  }

  /** All objects of all kinds, by kind and name. */
  objects(): readonly KubeObject[] {
    return this.#registry
      .resources()
      .flatMap((resource) => this.#registry.storage.collection(idOf(resource)).entries())
      .map(([, object]) => object);
  }

  /** Deletes a namespace with all that is in it, and its finalization takes a moment, as it does. */
  removeNamespace(name: string): void {
    if (this.get('v1', 'Namespace', undefined, name) === undefined) return;
    const namespaces = this.#registry.byKind('v1', 'Namespace');
    if (namespaces !== undefined) this.#registry.delete(namespaces, undefined, name, {});
  }

  /** Keeps what there is now, to be restored later. */
  backUp(): void {
    this.#past.push(this.#store.snapshot());
  }

  /**
   * Goes back to what was kept so many times ago, or first: what came after it is gone without an event, and what is
   * written from now on gets the same versions as that. Afterwards so many more versions are written.
   * @returns whether anything had been kept
   */
  restore(back: number, more = 0): boolean {
    const kept = this.#past.at(-back) ?? this.#past[0];
    if (kept === undefined) return false;
    this.faults.restoreFrom(kept);
    this.#hear();
    for (let written = 0; written < more; written += 1) this.#registry.storage.advance();
    return true;
  }

  /** What the controllers of the cluster made and somebody took away without an event is made again. */
  restartControllers(): void {
    this.#stopControllers();
    this.#stopControllers = this.#startControllers();
  }

  /** Told of every write. @param listener its sender is undefined for those of users and controllers */
  onWrite(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Hears of writes of all kinds: one whose definition is put back is another. */
  #hear(): void {
    for (const resource of this.#registry.resources()) {
      const collection = this.#registry.storage.collection(idOf(resource));
      if (this.#heard.has(collection)) continue;
      this.#heard.add(collection);
      collection.listen((event) => {
        if (resource.plural === 'customresourcedefinitions') this.#hear();
        for (const listener of this.#listeners) listener(this.#sender, resource, event);
      });
    }
  }

  /** Told of every request just before it is carried out: nothing but the operator sends any. */
  onOperatorRequest(listener: (request: Request) => void): void {
    this.#requestListeners.push(listener);
  }

  /** Told of every effect of a request: nothing but the operator makes any. */
  onOperatorWrite(listener: (sender: Request, resource: Resource, event: StorageEvent) => void): void {
    this.onWrite((sender, resource, event) => {
      if (sender !== undefined) listener(sender, resource, event);
    });
  }
}
