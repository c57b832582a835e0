/**
 * Confirms that a ServiceExport which a cluster does not list is certainly gone (rule K5). The cluster is asked for
 * that one export, and whether it serves the kind: a CRD that is being deleted removes its objects first. Exports
 * that vanished with their CRD are not confirmed to be gone until some time after the CRD is back. Only lists and
 * discovery are requested.
 */
import type { BackoffPolicy } from '../../kube/backoff.ts';
import type { KubeClient } from '../../kube/client.ts';
import { servedVerbs } from '../../kube/discovery.ts';
import { isNotFound } from '../../kube/errors.ts';
import { Absence } from '../../runtime/absence.ts';
import { readTargetExport, SERVICE_EXPORTS, type ServiceExport } from '../read/mcs-objects.ts';
import type { AnswerListener } from './questions.ts';
import { Rereads } from './rereads.ts';

/** Receives the answers of the cluster about exports. */
export interface ConfirmationListener extends AnswerListener {
  /** Handles that exports which vanished with their CRD can be confirmed to be gone now. */
  graceEnded(): void;
}

export interface ExportConfirmationOptions {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  /** Wait before a question that failed is asked again. */
  readonly backoff: BackoffPolicy;
  /** Time for which exports that vanished with their CRD stay after it is back, in milliseconds. @default 600000 */
  readonly returnGraceMs?: number | undefined;
  readonly listener: ConfirmationListener;
}

export class ExportConfirmation {
  readonly #client: ExportConfirmationOptions['client'];
  readonly #rereads: Rereads<ServiceExport>;
  readonly #absence: Absence;

  constructor({ client, backoff, returnGraceMs, listener }: ExportConfirmationOptions) {
    this.#client = client;
    this.#absence = new Absence({ graceMs: returnGraceMs, onEnd: () => listener.graceEnded() });
    this.#rereads = new Rereads<ServiceExport>({
      of: SERVICE_EXPORTS,
      read: readTargetExport,
      checkNone: async (signal) => {
        if ((await servedVerbs(client, SERVICE_EXPORTS, signal)).includes('create')) return;
        this.#absence.noticed();
        throw new Error('its CRD is missing, or being deleted');
      },
      listener,
      backoff,
    });
  }

  /** Asks until the signal aborts. */
  run(signal: AbortSignal): void {
    this.#rereads.run({ list: this.#list }, signal);
  }

  /** Reports whether the cluster, asked for an export that it does not list, has answered that it does not exist. */
  confirmsNone(key: string): boolean {
    return this.#absence.leftMs(key) <= 0 && this.#isNone(key);
  }

  /** Asks the cluster for an export, unless it has been asked already, or the export may come back with its CRD. */
  ask(key: string): void {
    if (this.#absence.leftMs(key) <= 0) this.#rereads.ask(key);
  }

  /** Notes that an export exists. */
  saw(key: string): void {
    this.#absence.saw(key);
  }

  /** Notes that the kind is not served. */
  missing(): void {
    this.#absence.noticed();
  }

  /** Forgets what the cluster answered about an export. */
  forget(key: string): void {
    this.#rereads.forget(key);
  }

  /** Forgets questions that are no longer needed. */
  forgetAll(isNeedless: (key: string) => boolean): void {
    this.#rereads.forgetAll(isNeedless);
  }

  /** Forgets all answers. Asks again about exports without an answer, and about those that exist by the answer. */
  askAnew(): void {
    this.#rereads.askAnew((key) => this.#isNone(key));
  }

  /** Forgets when the kind was not served. */
  stop(): void {
    this.#absence.stop();
  }

  #isNone(key: string): boolean {
    const answer = this.#rereads.answer(key);
    return answer !== undefined && answer.object === undefined;
  }

  /** Lists objects. It notes at once that a kind is not served, since a watch may notice that late. */
  readonly #list: KubeClient['list'] = async (...asked) => {
    try {
      return await this.#client.list(...asked);
    } catch (error) {
      if (isNotFound(error)) this.#absence.noticed();
      throw error;
    }
  };
}
