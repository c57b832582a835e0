/**
 * Makes the client for a target from the Link's credentials Secret (rules E2, E3), and offers it to what reads the target,
 * which keeps reading with the old one until the new one has proven itself. Bad credentials change only the verdict.
 */
import { formatFieldErrors } from '../../crds/field-error.ts';
import { CredentialsSecret, FIELD_MANAGER, UserAgent } from '../../crds/wire.ts';
import { type ClientHooks, KubeClient } from '../kube/client.ts';
import { type Verdict, verdict } from '../kube/conditions.ts';
import { describe, isForbidden, isUnauthorized } from '../kube/errors.ts';
import type { Network } from '../kube/network.ts';
import { inUseMessage, parseTargetKubeconfig, type TargetAccess } from '../kube/access/secret-kubeconfig.ts';
import type { Secret } from '../kube/objects.ts';

export interface CredentialsOptions {
  /** Deadline of requests to the target. */
  readonly timeoutMs: number | undefined;
  readonly network?: Network | undefined;
  /** Hooks that count the requests to the target. */
  readonly hooks?: ClientHooks;
  /** Names of the only Secrets that are watched; undefined: all of the type. */
  readonly listed?: readonly string[] | undefined;
  readonly onVerdict: (found: Verdict) => void;
  /**
   * Reads the target with a client from now on: the first one at once, another one as soon as everything that is read can
   * be read with it.
   * @param onProblem called on change with why it cannot be used yet
   * @param signal ends the trial
   * @returns whether it is in use; false if the signal aborted first
   */
  readonly adopt: (client: KubeClient, onProblem: (error: unknown) => void, signal: AbortSignal) => Promise<boolean>;
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

  /** Reports whether the client in use was made from the Secret as it is now. */
  get inUse(): boolean {
    return this.#client !== undefined && !this.#pending;
  }

  /** Condition `CredentialsValid` while the client in use was made from the Secret as it is now. */
  get valid(): Verdict | undefined {
    return this.inUse && this.#fingerprint !== undefined ? valid(this.#fingerprint) : undefined;
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
      this.#options.onVerdict(valid(found.fingerprint));
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
    if (!(await this.#options.adopt(client, (error) => this.#options.onVerdict(unusable(error)), current))) {
      await client.close();
      return;
    }
    const old = this.#client;
    this.#client = client;
    this.#fingerprint = found.fingerprint;
    // Newer ones may have come in the moment in which these were adopted.
    if (!current.aborted) {
      this.#pending = false;
      this.#options.onVerdict(valid(found.fingerprint));
    }
    await old?.close();
  }

  async close(): Promise<void> {
    this.#trial.abort();
    await this.#client?.close();
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

/** The message tells who rotates credentials when the operator has taken up the new ones. */
const valid = (fingerprint: string): Verdict => verdict('True', 'Valid', inUseMessage(fingerprint));

function unusable(error: unknown): Verdict {
  const reason = isUnauthorized(error) ? 'Unauthorized' : isForbidden(error) ? 'Forbidden' : 'Untried';
  return verdict('False', reason, `the new credentials do not work; the old ones stay in use: ${describe(error)}`);
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
