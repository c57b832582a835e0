/**
 * One cluster as a check reads it: what is there, or why it cannot be read. Nothing is thrown, no request lacks a
 * deadline, and what could not be read is kept, so that no check passes for want of a look.
 */
import { COMMAND_LINE } from '../../../crds/wire.ts';
import { KubeClient } from '../../../operator/kube/client.ts';
import { servedVerbs, serverVersion } from '../../../operator/kube/discovery.ts';
import type { ClusterAccess } from '../../../operator/kube/access/access.ts';
import { ApiError, describe, isForbidden, isUnauthorized, unlessNotFound } from '../../../operator/kube/errors.ts';
import type { KubeObject, Resource } from '../../../operator/kube/objects.ts';
import { podPath } from '../../../operator/kube/paths.ts';
import { listAll } from '../common/list-all.ts';
import { ACCESS_REVIEWS, SELF_ACCESS_REVIEWS } from '../common/kinds.ts';

/** What was read, or why it was not. */
export type Read<T> = { readonly ok: true; readonly value: T } | Unread;

export interface Unread {
  readonly ok: false;
  /** What was to be read, as in `list services`. */
  readonly what: string;
  /** What the API server or the network answered. */
  readonly why: string;
  readonly obstacle: 'forbidden' | 'unauthorized' | 'unreachable' | 'refused';
}

/** A right to be asked for. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  /** Plural, with a subresource as in `links/status`. */
  readonly resource: string;
  /** Absent for all namespaces, or if the resource has none. */
  readonly namespace?: string;
  /** Absent for any name. */
  readonly name?: string;
}

/** A right as messages name it: `list endpointslices.discovery.k8s.io in namespace shop`. */
export const rightText = ({ verb, group, resource, namespace, name }: Right): string =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`}${name === undefined ? '' : ` "${name}"`}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;

interface ReaderOptions {
  /** Ends everything that is read. */
  readonly signal?: AbortSignal;
  /** Deadline of a request, in milliseconds. */
  readonly timeoutMs: number;
}

export class Reader {
  readonly #client: KubeClient;
  readonly #options: ReaderOptions;
  readonly #unread: Unread[] = [];
  /** Why nothing can be read at all. */
  #gone: Unread | undefined;

  constructor(access: ClusterAccess, options: ReaderOptions) {
    const { timeoutMs } = options;
    this.#client = new KubeClient(access, { userAgent: COMMAND_LINE, fieldManager: COMMAND_LINE, timeoutMs });
    this.#options = options;
  }

  /** URL of the API server. */
  get server(): string {
    return this.#client.server;
  }

  /** What could not be read so far, each once. */
  get unread(): readonly Unread[] {
    const byQuestion = new Map(this.#unread.map((each) => [each.what, each]));
    return [...byQuestion.values()].sort((one, other) => (one.what < other.what ? -1 : 1));
  }

  /** The version of the API server. When this cannot be read, nothing else is asked for. */
  async version(): Promise<Read<string>> {
    const version = await this.#read('get the version', () => serverVersion(this.#client, this.#signal()), false);
    if (!version.ok && version.obstacle !== 'forbidden') this.#gone = version;
    return version;
  }

  /** The object; undefined if there is none. */
  find<T extends KubeObject>(of: Resource, name: string, namespace?: string): Promise<Read<T | undefined>> {
    const title = namespace === undefined ? name : `${namespace}/${name}`;
    return this.#read(`get ${of.kind} ${title}`, () =>
      this.#client.read<T>(of, namespace, name, this.#signal()).catch(unlessNotFound),
    );
  }

  /** All objects; none if the API server does not serve the resource. */
  list<T extends KubeObject>(
    of: Resource,
    options: { readonly namespace?: string | undefined; readonly labelSelector?: string } = {},
  ): Promise<Read<readonly T[]>> {
    const within = options.namespace === undefined ? '' : ` in namespace ${options.namespace}`;
    return this.#read(`list ${of.plural}${within}`, () => listAll<T>(this.#client, of, options, this.#signal()));
  }

  /** Reports whether the API server serves a resource. */
  serves(of: Resource): Promise<Read<boolean>> {
    return this.#read(
      `discover ${of.plural}`,
      async () => (await servedVerbs(this.#client, of, this.#signal())).length > 0,
    );
  }

  /** Reports whether these credentials have a right. */
  may(right: Right): Promise<Read<boolean>> {
    return this.#review(SELF_ACCESS_REVIEWS, right, {});
  }

  /** Reports whether another user has a right, which only an administrator may ask. */
  mayUser(user: string, groups: readonly string[], right: Right): Promise<Read<boolean>> {
    return this.#review(ACCESS_REVIEWS, right, { user, groups });
  }

  /** What a pod answers at a path. It is not kept among what could not be read: who asks says so. */
  podText(
    pod: { readonly namespace: string; readonly name: string; readonly port: number },
    path: string,
  ): Promise<Read<string>> {
    const what = `get ${path} of Pod ${pod.namespace}/${pod.name}`;
    return this.#read(what, () => this.#client.text(podPath(pod, path), what, this.#options.timeoutMs), false);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #review(of: Resource, right: Right, subject: object): Promise<Read<boolean>> {
    const { verb, group, namespace, name } = right;
    const [resource = '', subresource] = right.resource.split('/');
    const spec = { ...subject, resourceAttributes: { verb, group, resource, subresource, namespace, name } };
    return this.#read(`ask for the right to ${rightText(right)}`, async () => {
      const review = { metadata: { name: '' }, spec };
      const { status } = await this.#client.create<KubeObject & { readonly status?: { readonly allowed?: boolean } }>(
        of,
        review,
        this.#signal(),
      );
      return status?.allowed === true;
    });
  }

  #signal(): AbortSignal | undefined {
    return this.#options.signal;
  }

  async #read<T>(what: string, ask: () => Promise<T>, isKept = true): Promise<Read<T>> {
    if (this.#gone !== undefined) return this.#gone;
    try {
      return { ok: true, value: await ask() };
    } catch (error) {
      const unread: Unread = { ok: false, what, why: describe(error), obstacle: obstacleOf(error) };
      if (isKept) this.#unread.push(unread);
      return unread;
    }
  }
}

const obstacleOf = (error: unknown): Unread['obstacle'] => {
  if (isForbidden(error)) return 'forbidden';
  if (isUnauthorized(error)) return 'unauthorized';
  return error instanceof ApiError ? 'refused' : 'unreachable';
};
