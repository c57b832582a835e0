/**
 * The credentials of requests to one API server, as they are now: tokens and CAs are rotated, so they are asked for
 * again from time to time. A program that a kubeconfig names may hang; a request waits for it within its own deadline
 * only.
 */
import { untilAborted } from './abort.ts';
import type { ClusterAccess, Headers, TlsMaterial } from './access/access.ts';
import { ConnectionError } from './errors.ts';

/** How long credentials are reused before they are asked for again. */
const REFRESH_MS = 30_000;

/** How long an answer is awaited before it is asked for anew: each time may leave a program that hangs. */
const PATIENCE_MS = 60_000;

export class Authenticator {
  readonly #access: ClusterAccess;
  #tls: TlsMaterial;
  #found: { readonly headers: Headers; readonly untilMs: number } | undefined;
  #asking: { readonly headers: Promise<Headers>; readonly sinceMs: number } | undefined;

  constructor(access: ClusterAccess) {
    this.#access = access;
    this.#tls = access.tls;
  }

  /** The TLS options as they were when the credentials were last asked for. */
  get tls(): TlsMaterial {
    return this.#tls;
  }

  /**
   * Returns the headers of a request.
   * @param what is tried with them, for errors
   * @throws ConnectionError if they are not there when the signal aborts; whatever the access throws
   */
  async headers(what: string, signal: AbortSignal): Promise<Headers> {
    const now = performance.now();
    if (this.#found !== undefined && this.#found.untilMs >= now) return this.#found.headers;
    if (this.#asking === undefined || now - this.#asking.sinceMs > PATIENCE_MS) {
      this.#asking = { headers: this.#ask(), sinceMs: now };
    }
    const { headers } = this.#asking;
    try {
      return await untilAborted(headers, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new ConnectionError(`${what}: the credentials for ${this.#access.server} were not provided in time`);
    }
  }

  /** Forgets credentials that were refused. */
  forget(): void {
    this.#found = undefined;
    this.#access.refused?.();
  }

  async #ask(): Promise<Headers> {
    const { authorization, currentTls, reuseMs } = this.#access;
    try {
      const [headers, tls] = await Promise.all([authorization(), currentTls?.()]);
      if (tls !== undefined) this.#tls = tls;
      this.#found = { headers, untilMs: performance.now() + Math.min(REFRESH_MS, reuseMs?.() ?? REFRESH_MS) };
      return headers;
    } finally {
      this.#asking = undefined;
    }
  }
}
