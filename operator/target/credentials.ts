/**
 * Makes the client for a target from the Link's credentials Secret (rules E2, E3). New credentials are tried before
 * they replace working ones; bad ones change only the verdict. The first ones are used without a trial: there are none
 * to keep, and a target that is down will come back.
 */
import { formatFieldErrors } from '../../crds/field-error.ts';
import { CredentialsSecret, FIELD_MANAGER, UserAgent } from '../../crds/wire.ts';
import { backoffMs, RECONNECT_BACKOFF, sleep } from '../kube/backoff.ts';
import { type ClientHooks, KubeClient } from '../kube/client.ts';
import { type Verdict, verdict } from '../kube/conditions.ts';
import { type ApiError, describe, isForbidden, isUnauthorized } from '../kube/errors.ts';
import type { Network } from '../kube/network.ts';
import { parseTargetKubeconfig, type TargetAccess } from '../kube/access/secret-kubeconfig.ts';
import { type Secret, SERVICES } from '../kube/objects.ts';

export interface CredentialsOptions {
  /** Deadline of requests to the target. */
  readonly timeoutMs: number | undefined;
  readonly network?: Network | undefined;
  /** Hooks that count the requests to the target. */
  readonly hooks?: ClientHooks;
  /** Names of the only Secrets that are watched; undefined: all of the type. */
  readonly listed?: readonly string[] | undefined;
  /** Returns what the credentials must allow to list; one of several namespaces is enough. */
  readonly trial: () => {
    readonly labelSelector: string | undefined;
    readonly namespaces: readonly string[] | undefined;
  };
  readonly onVerdict: (found: Verdict) => void;
  readonly onClient: (client: KubeClient) => void;
}

/** More than twice those of an EndpointSlice with 1,000 endpoints; they take up to 70 ms to parse and check. */
const MAX_VALUES = 50_000;

export class Credentials {
  readonly #options: CredentialsOptions;
  #client: KubeClient | undefined;
  #fingerprint: string | undefined;
  #trial = new AbortController();

  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  get client(): KubeClient | undefined {
    return this.#client;
  }

  /** Reports whether the client in use was made from the Secret as it is now. */
  get inUse(): boolean {
    return this.#client !== undefined && !this.#pending;
  }

  #pending = false;

  /** Uses the credentials of a Secret as it is now; a newer call ends an older one. */
  async use(name: string, secret: Secret | undefined, signal: AbortSignal): Promise<void> {
    this.#trial.abort();
    this.#trial = new AbortController();
    const current = AbortSignal.any([signal, this.#trial.signal]);
    this.#pending = true;
    const found = this.#read(name, secret);
    if ('problem' in found) {
      this.#options.onVerdict(found.problem);
      return;
    }
    if (found.fingerprint === this.#fingerprint) {
      this.#pending = false;
      this.#options.onVerdict(verdict('True', 'Valid', ''));
      return;
    }
    const { timeoutMs, network, hooks } = this.#options;
    const client = new KubeClient(found.access, {
      userAgent: UserAgent.target,
      fieldManager: FIELD_MANAGER,
      maxValues: MAX_VALUES,
      ...hooks,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(network === undefined ? {} : { network }),
    });
    if (this.#client !== undefined && !(await this.#tried(client, current))) {
      await client.close();
      return;
    }
    if (current.aborted) {
      await client.close();
      return;
    }
    const old = this.#client;
    this.#client = client;
    this.#fingerprint = found.fingerprint;
    this.#pending = false;
    this.#options.onVerdict(verdict('True', 'Valid', ''));
    this.#options.onClient(client);
    await old?.close();
  }

  async close(): Promise<void> {
    this.#trial.abort();
    await this.#client?.close();
  }

  /** Tries the client until it works (true), or until newer credentials come (false). */
  async #tried(client: KubeClient, signal: AbortSignal): Promise<boolean> {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        await this.#list(client, signal);
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        const reason = isUnauthorized(error) ? 'Unauthorized' : isForbidden(error) ? 'Forbidden' : 'Untried';
        const message = `the new credentials do not work; the old ones stay in use: ${describe(error)}`;
        this.#options.onVerdict(verdict('False', reason, message));
        await sleep(backoffMs(attempt, RECONNECT_BACKOFF, Math.random), signal);
      }
    }
    return false;
  }

  /** @throws ApiError 403 if listing is forbidden in every namespace */
  async #list(client: KubeClient, signal: AbortSignal): Promise<void> {
    const { labelSelector, namespaces = [undefined] } = this.#options.trial();
    let refusal: ApiError | undefined;
    for (const namespace of namespaces) {
      try {
        await client.list(SERVICES, { limit: 1, labelSelector, namespace }, signal);
        return;
      } catch (error) {
        if (!isForbidden(error)) throw error;
        refusal = error;
      }
    }
    if (refusal !== undefined) throw refusal;
  }

  #read(name: string, secret: Secret | undefined): Read {
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

type Read = { readonly problem: Verdict } | TargetAccess;

function read(name: string, secret: Secret | undefined): Read {
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
  const parsed = parseTargetKubeconfig(Buffer.from(encoded, 'base64').toString('utf8'));
  if (parsed.ok) return parsed.value;
  return no('KubeconfigInvalid', `Secret ${name}, ${CredentialsSecret.key}: ${formatFieldErrors(parsed.errors)}`);
}
