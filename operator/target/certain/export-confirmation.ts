/**
 * Finds out whether a ServiceExport that a cluster no longer lists is certainly gone (rule K5). The operator asks the
 * cluster for this one ServiceExport. If the ServiceExport does not exist, the operator asks whether ServiceExports can
 * be created. They cannot be created while their CRD is being deleted, and the deletion of a CRD removes all
 * ServiceExports before it removes the CRD. Only list and discovery requests are sent.
 *
 * ServiceExports that vanished with their CRD count as gone only after a grace period, which starts when the CRD is
 * back. The same grace period starts when a list shows no ServiceExport at all, because the CRD might have been deleted
 * while the operator did not watch. The grace period does not apply to a ServiceExport that has been seen since the
 * period started.
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
  /** Called when the grace period is over: from now on, exports that vanished with their CRD can count as gone. */
  graceEnded(): void;
}

export interface ExportConfirmationOptions {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  /** Delay before a question that failed is asked again. */
  readonly backoff: BackoffPolicy;
  /**
   * Grace period after the CRD of ServiceExports is back, in milliseconds. Until it ends, exports that vanished with
   * the CRD do not count as gone. @default 600000
   */
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

  /** Sends the questions to the cluster until the signal aborts. */
  run(signal: AbortSignal): void {
    this.#rereads.run({ list: this.#list }, signal);
  }

  /**
   * Reports whether the cluster, asked for an export that it does not list, has answered that the export does not
   * exist. An invalid export counts as one that does not exist. False during the grace period, unless the export has
   * been seen since the period started.
   */
  confirmsNone(key: string): boolean {
    return this.#absence.leftMs(key) <= 0 && this.#isNone(key);
  }

  /**
   * Asks the cluster for an export. Does nothing if the cluster has been asked already. Does nothing during the grace
   * period either, unless the export has been seen since the period started.
   */
  ask(key: string): void {
    if (this.#absence.leftMs(key) <= 0) this.#rereads.ask(key);
  }

  /** Notes that an export exists. */
  saw(key: string): void {
    this.#absence.saw(key);
  }

  /** Starts the grace period anew. Called when the cluster does not serve ServiceExports, or lists none. */
  missing(): void {
    this.#absence.noticed();
  }

  /** Forgets what the cluster answered about an export. */
  forget(key: string): void {
    this.#rereads.forget(key);
  }

  /** Forgets questions and answers that are no longer needed. */
  forgetAll(isNeedless: (key: string) => boolean): void {
    this.#rereads.forgetAll(isNeedless);
  }

  /**
   * Forgets all answers. Asks again about each export whose question had no answer yet, or whose answer was that the
   * export exists.
   */
  askAnew(): void {
    this.#rereads.askAnew((key) => this.#isNone(key));
  }

  /** Ends the grace period without a call of {@link ConfirmationListener.graceEnded}. */
  stop(): void {
    this.#absence.stop();
  }

  #isNone(key: string): boolean {
    const answer = this.#rereads.answer(key);
    return answer !== undefined && answer.object === undefined;
  }

  /**
   * Lists objects. If the cluster does not serve ServiceExports, starts the grace period anew at once, because a watch
   * might notice this only later.
   */
  readonly #list: KubeClient['list'] = async (...asked) => {
    try {
      return await this.#client.list(...asked);
    } catch (error) {
      if (isNotFound(error)) this.#absence.noticed();
      throw error;
    }
  };
}
