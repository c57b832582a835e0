/**
 * Creates the client for a target from the credentials Secret of the Link (rules E2, E3). The target is read with the
 * old client until the new one can read everything that the old one can. If the new credentials are for the same server
 * and ServiceAccount, the old client switches to them, so that nothing is read anew (rule P2). Invalid credentials only
 * change the condition `CredentialsValid` and end the renewal of the token in use; the client stays in use.
 */
import { formatFieldErrors } from '../../crds/field-error.ts';
import { CredentialsSecret, FIELD_MANAGER, UserAgent } from '../../crds/wire.ts';
import type { ClusterAccess } from '../kube/access/access.ts';
import { ReplaceableAccess } from '../kube/access/replaceable.ts';
import { backoffMs, RECONNECT_BACKOFF, sleep } from '../kube/backoff.ts';
import { type ClientHooks, KubeClient } from '../kube/client.ts';
import { toTime, type Verdict, verdict } from '../kube/conditions.ts';
import { describe, isForbidden, isUnauthorized } from '../kube/errors.ts';
import type { Network } from '../kube/network.ts';
import { inUseMessage, parseTargetKubeconfig, type TargetAccess } from '../kube/access/secret-kubeconfig.ts';
import type { KeptSecret } from '../kube/keeper.ts';
import { type AccountToken, isSameAccount, readAccountToken, userOf } from '../kube/account-token.ts';
import { Renewal, type RenewalOptions, reviewSelf } from './renewal/renewal.ts';

export interface CredentialsOptions {
  /** Time within which the target must answer a request, in milliseconds; undefined for the default of the client. */
  readonly timeoutMs: number | undefined;
  readonly network?: Network | undefined;
  /** Hooks that count the requests to the target. */
  readonly hooks?: ClientHooks;
  /**
   * Names of the Secrets that the operator is allowed to read; undefined if it watches all Secrets of the credentials
   * type.
   */
  readonly listed?: readonly string[] | undefined;
  /** Options for renewing tokens before they expire. @default - tokens are not renewed */
  readonly renewal?: Omit<RenewalOptions, 'tryOut' | 'onProblem'> | undefined;
  /** Returns the command that mints credentials for the Link. The user adds the flags for the clusters' contexts. */
  readonly mint: () => string;
  readonly onVerdict: (found: Verdict) => void;
  /**
   * Puts a client in use for reading the target. The first client is used at once. A later client is used as soon as it
   * can read everything that its predecessor can.
   * @param onProblem called when the reason why the client cannot be used yet has changed
   * @param signal ends the attempt
   * @returns whether the client is in use; false if the attempt was ended first
   */
  readonly adopt: (client: KubeClient, onProblem: (error: unknown) => void, signal: AbortSignal) => Promise<boolean>;
}

/**
 * Maximum number of JSON values in one object of a response: more than twice as many as in an EndpointSlice with 1,000
 * endpoints. Parsing and checking this number of values takes up to 70 ms.
 */
const MAX_VALUES = 50_000;

/** Credentials in use, and their client. */
interface InUse {
  readonly client: KubeClient;
  readonly access: ReplaceableAccess;
  readonly fingerprint: string;
  /** Undefined if the credentials are not a ServiceAccount token that expires. */
  readonly token: AccountToken | undefined;
}

export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #renewal: Renewal | undefined;
  #inUse: InUse | undefined;
  #trial = new AbortController();
  /** Whether the credentials of the present Secret are not in use: they are missing, invalid or still being tried. */
  #pending = false;
  /**
   * An expired token that the target has refused. The local clock alone does not prove that a token has expired,
   * because the clock may be fast.
   */
  #ended: AccountToken | undefined;

  constructor(options: CredentialsOptions) {
    const { renewal } = options;
    this.#options = options;
    this.#renewal =
      renewal &&
      new Renewal({
        ...renewal,
        tryOut: (access, signal) => this.#userOf(access, signal),
        onProblem: () => this.#reportValid(),
      });
  }

  /** Whether the credentials of the present Secret are in use. */
  get inUse(): boolean {
    return this.#inUse !== undefined && !this.#pending;
  }

  /** Condition `CredentialsValid`; undefined unless the credentials of the present Secret are in use. */
  get valid(): Verdict | undefined {
    if (!this.inUse || this.#inUse === undefined) return undefined;
    const { token } = this.#inUse;
    // The target also refuses to renew an expired token, so the problem of the renewal adds nothing.
    if (token !== undefined && token === this.#ended) return this.#expired(token);
    return valid(this.#inUse, this.#renewal?.problem);
  }

  /** The ServiceAccount token in use; undefined if none is in use, or if it does not expire. */
  get token(): AccountToken | undefined {
    return this.#inUse?.token;
  }

  /**
   * Called when the target has refused the credentials in use. If their token has not expired, hurries its renewal:
   * see {@link Renewal.hurry}.
   * @returns the verdict if the token has expired; undefined if it has not expired, or if no ServiceAccount token that
   *   expires is in use
   */
  refused(): Verdict | undefined {
    const token = this.#inUse?.token;
    if (token === undefined) return undefined;
    if (Date.now() >= token.expiresAtMs) {
      this.#ended = token;
      return this.#expired(token);
    }
    this.#renewal?.hurry();
    return undefined;
  }

  /**
   * Puts the credentials of the present Secret in use. The first credentials are used at once, later ones as soon as
   * they work. A new call ends the attempt of an earlier call.
   * @param name name of the Secret
   * @param secret undefined if no Secret of the credentials type has this name
   */
  async use(name: string, secret: KeptSecret | undefined, signal: AbortSignal): Promise<void> {
    this.#trial.abort();
    this.#trial = new AbortController();
    const current = AbortSignal.any([signal, this.#trial.signal]);
    this.#pending = true;
    const found = this.#read(name, secret);
    if ('problem' in found) {
      this.#renewal?.follow(undefined, signal);
      this.#options.onVerdict(found.problem);
      return;
    }
    const { inUse, old } = await this.#adopted(found, current);
    if (inUse !== undefined) {
      this.#inUse = inUse;
      // A newer Secret may have arrived while these credentials were adopted.
      if (!current.aborted) {
        this.#pending = false;
        const { client, token } = inUse;
        this.#renewal?.follow(token && secret && { secret, text: found.text, token, client }, signal);
        this.#reportValid();
      }
    }
    await old?.close();
  }

  async close(): Promise<void> {
    this.#trial.abort();
    this.#renewal?.stop();
    await this.#inUse?.client.close();
  }

  /**
   * Puts credentials in use, in the present client or in a new client. Waits until they work, unless they are the first
   * credentials.
   * @returns the credentials, or none if the attempt was ended first; and the client to close, if there is one: the
   *   former client, or the new client if it was not put in use
   */
  async #adopted(
    found: Found,
    signal: AbortSignal,
  ): Promise<{ readonly inUse?: InUse; readonly old?: KubeClient | undefined }> {
    const before = this.#inUse;
    const { fingerprint } = found;
    if (before?.fingerprint === fingerprint) return { inUse: before };
    const token = readAccountToken(found.token ?? '');
    if (before !== undefined && token !== undefined && (await this.#isSuccessor(before, token, found, signal))) {
      before.access.replace(found.access);
      return { inUse: { ...before, fingerprint, token } };
    }
    if (signal.aborted) return {};
    const access = new ReplaceableAccess(found.access);
    const client = this.#clientFor(access);
    const isAdopted = await this.#options.adopt(client, (error) => this.#options.onVerdict(unusable(error)), signal);
    return isAdopted ? { inUse: { client, access, fingerprint, token }, old: before?.client } : { old: client };
  }

  /**
   * Reports whether new credentials are for the same server and the same ServiceAccount as the credentials in use.
   * Compares the servers and the tokens first. If they match, the server must confirm the account: waits until the
   * server answers. Resolves with false if the signal aborts first.
   */
  async #isSuccessor(
    { access, token: before }: InUse,
    token: AccountToken,
    found: Found,
    signal: AbortSignal,
  ): Promise<boolean> {
    const isAlike = found.access.server === access.server && found.access.tls.servername === access.tls.servername;
    if (!isAlike || before === undefined || !isSameAccount(before, token)) return false;
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        return (await this.#userOf(found.access, signal, before.uid)) === userOf(token) && !signal.aborted;
      } catch (error) {
        if (signal.aborted) break;
        this.#options.onVerdict(unusable(error));
      }
      await sleep(backoffMs(attempt, RECONNECT_BACKOFF, Math.random), signal);
    }
    return false;
  }

  /**
   * Returns the user name that the target reports for credentials. Undefined if it reports none, or if `uid` is given
   * and is not the uid of that user.
   */
  async #userOf(access: ClusterAccess, signal: AbortSignal, uid?: string): Promise<string | undefined> {
    const client = this.#clientFor(access);
    try {
      const found = await reviewSelf(client, signal);
      return uid === undefined || found?.uid === uid ? found?.user : undefined;
    } finally {
      await client.close();
    }
  }

  #clientFor(access: ClusterAccess): KubeClient {
    const { timeoutMs, network, hooks } = this.#options;
    return new KubeClient(access, {
      userAgent: UserAgent.target,
      fieldManager: FIELD_MANAGER,
      maxValues: MAX_VALUES,
      ...hooks,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(network === undefined ? {} : { network }),
    });
  }

  #reportValid(): void {
    const { valid: found } = this;
    if (found !== undefined) this.#options.onVerdict(found);
  }

  #expired({ expiresAtMs, namespace, account }: AccountToken): Verdict {
    return verdict(
      'False',
      'CredentialsExpired',
      `the token of ServiceAccount ${namespace}/${account} ended at ${toTime(new Date(expiresAtMs))}, and only the target can give another: run \`${this.#options.mint()}\` with the contexts of both clusters`,
    );
  }

  #read(name: string, secret: KeptSecret | undefined): Read {
    const { listed } = this.#options;
    if (listed === undefined || listed.includes(name)) return read(name, secret);
    return {
      problem: verdict(
        'False',
        'SecretNotListed',
        `Secret ${name} is not among --credentials-secrets (${listed.join(', ')}), the only ones that the operator may read: add it to credentialsSecrets of MirrorOperator, which renders the flag and the right, or put the kubeconfig into one of these`,
      ),
    };
  }
}

/**
 * Returns the verdict on credentials in use. The message contains the beginning of the fingerprint of the credentials,
 * so that whoever rotates credentials can see that the operator uses the new ones.
 */
function valid({ fingerprint, token }: InUse, problem: string | undefined): Verdict {
  const ends = token === undefined ? '' : `; its token ends at ${toTime(new Date(token.expiresAtMs))}`;
  const why = token === undefined || problem === undefined ? '' : `, and is not renewed: ${problem}`;
  return verdict('True', 'Valid', `${inUseMessage(fingerprint)}${ends}${why}`);
}

function unusable(error: unknown): Verdict {
  const reason = isUnauthorized(error) ? 'Unauthorized' : isForbidden(error) ? 'Forbidden' : 'Untried';
  return verdict('False', reason, `the new credentials do not work; the old ones stay in use: ${describe(error)}`);
}

/** The text of a valid kubeconfig, and the access that it gives. */
interface Found extends TargetAccess {
  readonly text: string;
}

type Read = { readonly problem: Verdict } | Found;

function read(name: string, secret: KeptSecret | undefined): Read {
  const no = (reason: string, message: string) => ({ problem: verdict('False', reason, message) });
  if (secret === undefined) {
    return no(
      'SecretNotFound',
      `Secret ${name} does not exist, or is not of type ${CredentialsSecret.type}: create it with the target's kubeconfig`,
    );
  }
  const encoded = secret.data?.[CredentialsSecret.key];
  if (encoded === undefined)
    return no(
      'SecretInvalid',
      `Secret ${name} has no data key ${CredentialsSecret.key}: put the target's kubeconfig there`,
    );
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const parsed = parseTargetKubeconfig(text);
  if (parsed.ok) return { ...parsed.value, text };
  return no('KubeconfigInvalid', `Secret ${name}, ${CredentialsSecret.key}: ${formatFieldErrors(parsed.errors)}`);
}
