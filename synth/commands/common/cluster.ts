/**
 * A cluster that a command reads and writes, by a context of a kubeconfig of any kind. Every failure names the context
 * and what the user can do.
 */
import { COMMAND_LINE } from '../../../crds/wire.ts';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import type { ClusterAccess } from '../../../operator/kube/access/access.ts';
import { kubeconfigAccess, kubeconfigServer, loadSourceKubeconfig } from '../../../operator/kube/access/kubeconfig.ts';
import type { KubeconfigServer, SourceKubeconfigOptions } from '../../../operator/kube/access/kubeconfig.ts';
import { KubeClient } from '../../../operator/kube/client.ts';
import { namespacedResources, type NamespacedResources, servedVerbs } from '../../../operator/kube/discovery.ts';
import { sleep } from '../../../operator/kube/backoff.ts';
import {
  ApiError,
  ConnectionError,
  describe,
  isConflict,
  isForbidden,
  isNamespaceGone,
  isTooManyRequests,
  isUnauthorized,
  TerminalError,
  unlessNotFound,
} from '../../../operator/kube/errors.ts';
import { type KubeObject, NAMESPACES, type Resource } from '../../../operator/kube/objects.ts';
import { podPath } from '../../../operator/kube/paths.ts';
import { printLine } from '../../print.ts';
import { changes, type ChangesOptions } from './changes.ts';
import { CommandError, ExitCode } from './command-error.ts';
import { resourceOf } from './kinds.ts';
import { listAll } from './list-all.ts';

/** How often a busy server is asked, and how long it is left alone when it does not say. */
const ATTEMPTS = 10;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 5_000;

/** What became of an object. */
export type Outcome = 'created' | 'configured' | 'unchanged' | 'deleted';

/** Name and namespace of an object. */
interface Ref {
  readonly namespace?: string | undefined;
  readonly name: string;
}

export class Cluster {
  /** Name of the context, by which messages call the cluster. */
  readonly context: string;
  /** Path of the kubeconfig, as it was given. @default - none was given */
  readonly kubeconfig: string | undefined;
  /** How the kubeconfig reaches the cluster. */
  readonly reachedBy: KubeconfigServer;
  readonly #client: KubeClient;
  readonly #isUnchecked: boolean;

  private constructor(reachedBy: KubeconfigServer, client: KubeClient, kubeconfig?: string, isUnchecked = false) {
    this.context = reachedBy.context;
    this.kubeconfig = kubeconfig;
    this.reachedBy = reachedBy;
    this.#client = client;
    this.#isUnchecked = isUnchecked;
  }

  /** Whether CAs of this machine prove the server, and no kubeconfig says which. */
  get isProvenByMachine(): boolean {
    return this.reachedBy.caData === undefined && !this.#isUnchecked;
  }

  /**
   * Loads the kubeconfig; nothing is asked of the cluster yet.
   * @throws TerminalError if the kubeconfig or the context is not there, or cannot be used
   */
  static async open(options: SourceKubeconfigOptions): Promise<Cluster> {
    const config = loadSourceKubeconfig(options);
    const client = new KubeClient(await kubeconfigAccess(config), {
      userAgent: COMMAND_LINE,
      fieldManager: COMMAND_LINE,
    });
    const isUnchecked = config.cluster['insecure-skip-tls-verify'] === true;
    return new Cluster(kubeconfigServer(config), client, options.kubeconfig, isUnchecked);
  }

  /**
   * A cluster that is reached by credentials from a Secret; nothing is asked of it yet.
   * @param name by which messages call the cluster
   */
  static reach(name: string, access: ClusterAccess): Cluster {
    const client = new KubeClient(access, { userAgent: COMMAND_LINE, fieldManager: COMMAND_LINE });
    const reachedBy = { context: name, server: access.server, caData: undefined, tlsServerName: undefined };
    return new Cluster(reachedBy, client);
  }

  /** This cluster, where every write is a dry run: the API server answers as it would, and nothing changes. */
  trial(): Cluster {
    return new Cluster(this.reachedBy, this.#client.trial(), this.kubeconfig, this.#isUnchecked);
  }

  /** An object as messages name it: `Service shop/web of west`. */
  title(kind: string, { namespace, name }: Ref): string {
    return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`} of ${this.context}`;
  }

  /** Reports whether the API server serves a resource that objects can be created of. */
  serves(of: Resource): Promise<boolean> {
    return this.#ask(async () => (await servedVerbs(this.#client, of)).includes('create'));
  }

  /** The object; undefined if there is none. */
  find<T extends KubeObject>(of: Resource, { namespace, name }: Ref): Promise<T | undefined> {
    return this.#ask(() => this.#client.read<T>(of, namespace, name).catch(unlessNotFound));
  }

  /** All objects of a resource in a namespace or everywhere; none if the API server does not serve the resource. */
  list<T extends KubeObject>(
    of: Resource,
    options: { readonly namespace?: string; readonly labelSelector?: string; readonly fieldSelector?: string },
  ): Promise<readonly T[]> {
    return this.#ask(() => listAll<T>(this.#client, of, options));
  }

  /** Every resource that can be listed and has namespaces, and what is not known of them. */
  namespacedResources(): Promise<NamespacedResources> {
    return this.#ask(() => namespacedResources(this.#client));
  }

  /** What {@link apply} would make of an object, by this field manager or another; nothing is written. */
  preview<T extends KubeObject>(object: ApiJson, fieldManager = COMMAND_LINE): Promise<T> {
    return this.#ask(() => this.#client.tryApply<T>(resourceOf(object), object, fieldManager));
  }

  /**
   * Yields at once, whenever objects of a resource have changed, and at least every so often, until the signal aborts. What
   * fails is watched anew, and reported on stderr when it begins to fail.
   */
  changes(of: Resource, namespace: string, options: ChangesOptions): AsyncGenerator<void> {
    const report = (error: unknown): void =>
      printLine(`${this.context} cannot be watched, trying again: ${describe(error)}`);
    return changes(this.#client, of, namespace, { ...options, onFailure: report });
  }

  /** What a pod answers at a path; the obstacle instead if it cannot be asked. */
  async podText(
    pod: { readonly namespace: string; readonly name: string; readonly port: number },
    path: string,
    timeoutMs: number,
  ): Promise<{ readonly text: string } | { readonly obstacle: string }> {
    const what = `get ${path} of Pod ${pod.namespace}/${pod.name}`;
    try {
      return { text: await this.#client.text(podPath(pod, path), what, timeoutMs) };
    } catch (error) {
      return { obstacle: describe(error) };
    }
  }

  /**
   * What the API server answers to something that is posted and not kept, such as a review, or a request for a token.
   * @param to where it is posted; of itself by default
   */
  ask<T extends KubeObject>(of: Resource, question: object, to?: Parameters<KubeClient['ask']>[2]): Promise<T> {
    return this.#ask(() => this.#client.ask<T>(of, question, to));
  }

  /** Creates an object by server-side apply. @throws CommandError, caused by a conflict, if there is one of its name */
  async create(object: ApiJson): Promise<void> {
    const { metadata } = object;
    // No object has this version: one of the name, even one that was created just now, is a conflict.
    const created = { ...object, metadata: { ...metadata, resourceVersion: '1' } };
    await this.#ask(() => this.#client.apply(resourceOf(object), created));
  }

  /** Creates an object with fields that stay when it is applied without them, as labels of others are to. */
  async post(object: ApiJson): Promise<void> {
    await this.#ask(() => this.#client.create(resourceOf(object), object));
  }

  /** Server-side apply, forced. With the uid and resourceVersion of what was read, of just that object. */
  async apply(object: ApiJson): Promise<Outcome> {
    const of = resourceOf(object);
    const before = await this.find(of, object.metadata);
    const after = await this.#ask(() => this.#client.apply(of, object));
    if (before === undefined) return 'created';
    return before.metadata.resourceVersion === after.metadata.resourceVersion ? 'unchanged' : 'configured';
  }

  /** A merge patch: `null` removes a field. */
  async patch(of: Resource, { namespace, name }: Ref, patch: object): Promise<void> {
    await this.#ask(() => this.#client.patch(of, { namespace, name }, patch));
  }

  /**
   * What tells this cluster from all others, whatever it is called and by whichever address it is reached: the uid of
   * Namespace kube-system. Undefined if it cannot be read.
   */
  async uid(): Promise<string | undefined> {
    try {
      return (await this.find(NAMESPACES, { name: 'kube-system' }))?.metadata.uid;
    } catch (error) {
      if (error instanceof CommandError && isForbidden(error.cause)) return undefined;
      throw error;
    }
  }

  /** Deletes just this object; nothing happens if it is gone. */
  async delete(of: Resource, { metadata: { namespace, name, uid } }: KubeObject): Promise<void> {
    await this.#ask(() => this.#client.delete(of, { namespace, name }, { uid }).catch(unlessNotFound));
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** Asks, and asks again while the server is too busy, as it is for a moment after a kind was added. */
  async #ask<T>(question: () => Promise<T>, attempts = ATTEMPTS): Promise<T> {
    try {
      return await question();
    } catch (error) {
      if (isTooManyRequests(error) && attempts > 1) {
        await sleep(Math.min(error.retryAfterMs ?? RETRY_MS, MAX_RETRY_MS));
        return this.#ask(question, attempts - 1);
      }
      const problem = { object: this.context, reason: describe(error), remedy: this.#remedy(error) };
      throw new CommandError([problem], ExitCode.failed, error);
    }
  }

  #remedy(error: unknown): string {
    if (isUnauthorized(error)) return `log in to the cluster again: the credentials of ${this.context} are refused`;
    if (isNamespaceGone(error)) return 'create the namespace, or name another';
    if (isForbidden(error)) return 'use a context that may do this, or have it granted';
    if (isConflict(error)) return 'somebody else has changed it: run the command again';
    // One aggregated API that is down fails what asks for all kinds.
    if (error instanceof ApiError && error.code === 503) {
      return `see which APIService of ${this.context} is not available, and run the command again`;
    }
    if (error instanceof ApiError) return 'see what the API server says';
    if (error instanceof ConnectionError && error.cause instanceof TerminalError) return 'log in to the cluster again';
    return `check that ${this.#client.server} is up, and can be reached from here`;
  }
}

/**
 * Opens a cluster, gives it to a command, and closes it.
 * @throws TerminalError if the kubeconfig or the context is not there, or cannot be used
 */
export const withCluster = async <T>(
  { kubeconfig, context }: SourceKubeconfigOptions,
  command: (cluster: Cluster) => Promise<T>,
): Promise<T> => {
  const cluster = await Cluster.open({ kubeconfig, context });
  try {
    return await command(cluster);
  } finally {
    await cluster.close();
  }
};
