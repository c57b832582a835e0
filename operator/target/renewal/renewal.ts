/**
 * Renews the ServiceAccount token for one target before it expires (rules P2, P3, P5). The operator asks the target for
 * another token of the same account, tries it, and writes it into the Secret that held the old one. Like any other new
 * credentials, the new token is used after a watch has shown the Secret. A Secret that other software manages is never
 * written.
 */
import { CredentialsSecret, RootCa } from '../../../crds/wire.ts';
import type { ClusterAccess } from '../../kube/access/access.ts';
import { backoffMs, type BackoffPolicy, sleep } from '../../kube/backoff.ts';
import type { KubeClient } from '../../kube/client.ts';
import { describe, isConflict, isForbidden, isNotFound } from '../../kube/errors.ts';
import type { KeptSecret } from '../../kube/keeper.ts';
import {
  CONFIG_MAPS,
  type KubeObject,
  SECRETS,
  SELF_SUBJECT_REVIEWS,
  SERVICE_ACCOUNTS,
  TOKEN_REQUESTS,
} from '../../kube/objects.ts';
import {
  type AccountToken,
  isSameAccount,
  readAccountToken,
  RENEWED_AFTER,
  renewalMs,
  successorRequest,
  type TokenRequest,
  userOf,
} from '../../kube/account-token.ts';
import { FENCED_RETRY_MS, FencedError } from '../../runtime/fence.ts';
import { renewedKubeconfig } from './renewed-kubeconfig.ts';

/** The requests to a target that a renewal needs. */
export type AskedTarget = Pick<KubeClient, 'ask' | 'read'>;

/** Credentials that are in use, and the Secret that they came from. */
export interface CredentialsInUse {
  readonly secret: KeptSecret;
  /** The kubeconfig in the Secret, YAML. */
  readonly text: string;
  readonly token: AccountToken;
  readonly client: AskedTarget;
}

export interface RenewalOptions {
  /** Namespace of the Secret. */
  readonly namespace: string;
  /** Client for the source cluster. It sends writes only while this replica certainly leads. */
  readonly source: Pick<KubeClient, 'patch'>;
  /**
   * Tries new credentials. Returns the user name that the target reports for them; undefined if it reports none.
   * Rejects if they do not work.
   */
  readonly tryOut: (access: ClusterAccess, signal: AbortSignal) => Promise<string | undefined>;
  /**
   * Called when the reason why the token is not renewed has changed. The reason is undefined if nothing prevents the
   * renewal.
   */
  readonly onProblem: (problem: string | undefined) => void;
  /**
   * Fraction of a token's lifetime after which the token is renewed. Up to 5 % of this fraction is taken off at random,
   * so 0.8 becomes 0.76 to 0.8. Thus Links that began together do not renew together. @default 0.8
   */
  readonly part?: number | undefined;
  /** Returns a number in [0, 1), uniformly distributed. @default Math.random */
  readonly random?: () => number;
}

/**
 * Delay after a failed attempt. By default, the first attempt is made when 20 to 24 % of the token's lifetime are left.
 * It is made earlier after {@link Renewal.hurry}, and later if less was left when the operator first read the token.
 */
const RETRY: BackoffPolicy = { baseMs: 5_000, capMs: 300_000 };

/**
 * Longest single wait, in milliseconds. After each wait, the wall clock is read again, because timers stop while a
 * machine is paused, but the token comes closer to its end.
 */
const MAX_WAIT_MS = 60_000;

export class Renewal {
  readonly #options: RenewalOptions;
  #end = new AbortController();
  #hurry = new AbortController();
  #problem: string | undefined;

  constructor(options: RenewalOptions) {
    this.#options = options;
  }

  /** Why the token is not renewed; undefined if nothing prevents its renewal. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /**
   * Starts to renew the token of these credentials before it expires. Stops renewing the token of earlier credentials.
   * If other software manages the Secret, the token is not renewed, and {@link problem} says so.
   * @param inUse undefined if there is no token to renew
   */
  follow(inUse: CredentialsInUse | undefined, signal: AbortSignal): void {
    this.#end.abort();
    this.#end = new AbortController();
    this.#hurry = new AbortController();
    if (inUse !== undefined) void this.#run(inUse, AbortSignal.any([signal, this.#end.signal]));
    else this.#found(undefined);
  }

  /**
   * Renews the token at once, without waiting until its renewal is due. Called when the target has refused a token that
   * has not expired. Does not shorten the delay after a failed attempt. Does nothing if other software manages the
   * Secret.
   */
  hurry(): void {
    this.#hurry.abort();
  }

  stop(): void {
    this.#end.abort();
  }

  async #run(inUse: CredentialsInUse, signal: AbortSignal): Promise<void> {
    const { random = Math.random, part = RENEWED_AFTER } = this.#options;
    const { keeper } = inUse.secret;
    if (keeper !== undefined) {
      this.#found(`${keeper.name} keeps the Secret, so that the operator does not write it`);
      return;
    }
    const dueMs = renewalMs(inUse.token, random(), part);
    // A problem that prevented the renewal of former credentials does not concern these credentials.
    if (Date.now() < dueMs) this.#found(undefined);
    const hurry = this.#hurry.signal;
    while (!hurry.aborted && !signal.aborted && Date.now() < dueMs) {
      await sleep(Math.min(dueMs - Date.now(), MAX_WAIT_MS), signal, hurry);
    }
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        await this.#renew(inUse, signal);
        this.#found(undefined);
        return;
      } catch (error) {
        // After a conflict, the watch shows the Secret that somebody else wrote, and `follow` is called for it.
        if (!signal.aborted && !isConflict(error)) this.#found(describe(error));
      }
      await sleep(backoffMs(attempt, RETRY, random), signal);
    }
  }

  async #renew({ secret, text, token, client }: CredentialsInUse, signal: AbortSignal): Promise<void> {
    const { namespace, source, tryOut } = this.#options;
    const next = await askForSuccessor(client, token, signal);
    const publishedCa = await publishedCaOf(client, token.namespace, signal);
    const renewed = renewedKubeconfig(text, { token: next, publishedCa }, Date.now());
    const user = await tryOut(renewed.access, signal);
    // A target that accepts a client certificate goes by that, and not by the token.
    const isAccount = user === undefined || user === userOf(token) || user === (await reviewSelf(client, signal))?.user;
    if (!isAccount) throw new Error('the target gave a token of another account');
    const { name, uid, resourceVersion } = secret.metadata;
    const data = { [CredentialsSecret.key]: Buffer.from(renewed.text).toString('base64') };
    const write = (): Promise<unknown> =>
      source.patch(SECRETS, { namespace, name }, { metadata: { uid, resourceVersion }, data }, signal);
    await whenSent(write, signal);
  }

  #found(problem: string | undefined): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.onProblem(problem);
  }
}

/**
 * Sends a write as soon as this replica certainly leads. While the client holds the write back with a
 * {@link FencedError}, tries again every second: the renewal has not failed (rule H4), and the operator does not ask
 * for another token.
 * @throws any error of the write except a {@link FencedError}; the reason of the signal if it aborts
 */
async function whenSent(write: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (!(error instanceof FencedError)) throw error;
    }
    await sleep(FENCED_RETRY_MS, signal);
    signal.throwIfAborted();
  }
}

/**
 * Asks the target for another token of the same account, checks the token, and returns it.
 * @throws Error if the target gives no token, or gives a token that never ends, belongs to another account, or does not
 *   end later than the present token
 */
async function askForSuccessor(client: AskedTarget, token: AccountToken, signal: AbortSignal): Promise<string> {
  const { namespace, account: name } = token;
  const to = { of: SERVICE_ACCOUNTS, namespace, name, subresource: 'token' };
  const answer = await client.ask<TokenRequest>(TOKEN_REQUESTS, successorRequest(token), to, signal);
  const next = answer.status?.token;
  const read = typeof next === 'string' ? readAccountToken(next) : undefined;
  if (typeof next !== 'string' || read === undefined) throw new Error('the target gave no token that ends');
  if (!isSameAccount(read, token)) throw new Error('the target gave a token of another account');
  if (read.expiresAtMs <= token.expiresAtMs) throw new Error('the target gave a token that ends no later');
  return next;
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Returns the CA certificates that a target publishes, as PEM; undefined if it publishes none, or if the operator is
 * not allowed to read them.
 */
async function publishedCaOf(client: AskedTarget, namespace: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { data } = await client.read<ConfigMap>(CONFIG_MAPS, namespace, RootCa.name, signal);
    const pem = data?.[RootCa.key];
    return typeof pem === 'string' ? pem : undefined;
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

/** Request that asks an API server which user the credentials of the requesting client belong to, and the answer. */
export interface SelfSubjectReview extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: unknown; readonly uid?: unknown } };
}

/**
 * Returns the user name and the uid that an API server reports for the credentials of a client; undefined if the server
 * does not report both, does not serve this request, or forbids it.
 */
export async function reviewSelf(
  client: Pick<KubeClient, 'ask'>,
  signal: AbortSignal,
): Promise<{ readonly user: string; readonly uid: string } | undefined> {
  try {
    const { status } = await client.ask<SelfSubjectReview>(SELF_SUBJECT_REVIEWS, {}, undefined, signal);
    const { username, uid } = status?.userInfo ?? {};
    return typeof username === 'string' && typeof uid === 'string' ? { user: username, uid } : undefined;
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined;
    throw error;
  }
}
