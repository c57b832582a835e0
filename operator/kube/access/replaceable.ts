/**
 * Access to an API server whose credentials are replaced while requests go on: the next request has the new ones, and
 * what is under way, watches among it, ends as it would have.
 */
import type { ClusterAccess } from './access.ts';

export class ReplaceableAccess implements ClusterAccess {
  readonly server: string;
  readonly tls: ClusterAccess['tls'];
  #current: ClusterAccess;

  constructor(first: ClusterAccess) {
    this.#current = first;
    this.server = first.server;
    this.tls = first.tls;
  }

  /** Uses other credentials for the same server from now on. */
  replace(next: ClusterAccess): void {
    this.#current = next;
  }

  readonly authorization = (): ReturnType<ClusterAccess['authorization']> => this.#current.authorization();

  readonly currentTls = (): Promise<ClusterAccess['tls']> => Promise.resolve(this.#current.tls);

  /** They are asked for with each request: it costs nothing. */
  readonly reuseMs = (): number => -1;
}
