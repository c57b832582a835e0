/**
 * Finds out whether a ServiceExport that a cluster no longer lists is certainly gone (rule K5). The operator asks the
 * cluster for this one ServiceExport. If the ServiceExport does not exist, the operator asks whether ServiceExports can
 * be created. They cannot be created while their CRD is being deleted, and the deletion of a CRD removes all
 * ServiceExports before it removes the CRD. ServiceExports that vanished with their CRD count as gone only some time
 * after the CRD is back. If a list shows no ServiceExport at all, the same time passes before those count as gone
 * that have not been seen since: they may have vanished with their CRD while the operator did not watch. Only list and
 * discovery requests are sent.
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
  /** Called when exports that vanished with their CRD begin to count as gone. */
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
   * exist. False while the export may come back with its CRD.
   */
  confirmsNone(key: string): boolean {
    return this.#absence.leftMs(key) <= 0 && this.#isNone(key);
  }

  /**
   * Asks the cluster for an export. Does nothing if the cluster has been asked already, or while the export may come
   * back with its CRD.
   */
  ask(key: string): void {
    if (this.#absence.leftMs(key) <= 0) this.#rereads.ask(key);
  }

  /** Notes that an export exists. */
  saw(key: string): void {
    this.#absence.saw(key);
  }

  /** Notes that the cluster does not serve ServiceExports, or has none at all. */
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
   * Forgets all answers. Asks again about exports whose answer had not arrived yet, and about exports that existed by
   * their answer.
   */
  askAnew(): void {
    this.#rereads.askAnew((key) => this.#isNone(key));
  }

  /** Forgets that the cluster did not serve ServiceExports, and cancels the wait for their return. */
  stop(): void {
    this.#absence.stop();
  }

  #isNone(key: string): boolean {
    const answer = this.#rereads.answer(key);
    return answer !== undefined && answer.object === undefined;
  }

  /** Lists objects, and notes at once if the kind is not served, because a watch may notice that late. */
  readonly #list: KubeClient['list'] = async (...asked) => {
    try {
      return await this.#client.list(...asked);
    } catch (error) {
      if (isNotFound(error)) this.#absence.noticed();
      throw error;
    }
  };
}
