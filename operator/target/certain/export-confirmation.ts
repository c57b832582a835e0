/**
 * Whether an export that a cluster does not list is certainly none (rule K5). The cluster is asked for that one export, and
 * whether it serves the kind, since a CRD that is being deleted takes its objects away first. What went with its CRD is
 * not confirmed to be gone until a while after that is back. Lists and discovery alone are requested.
 */
import type { BackoffPolicy } from '../../kube/backoff.ts';
import type { KubeClient } from '../../kube/client.ts';
import { servedVerbs } from '../../kube/discovery.ts';
import { isNotFound } from '../../kube/errors.ts';
import { Absence } from '../../runtime/absence.ts';
import { readTargetExport, SERVICE_EXPORTS, type ServiceExport } from '../read/mcs-objects.ts';
import type { AnswerListener } from './questions.ts';
import { Rereads } from './rereads.ts';

/** Learns what the cluster answers about exports. */
export interface ConfirmationListener extends AnswerListener {
  /** What went with its CRD can be confirmed to be gone. */
  graceEnded(): void;
}

export interface ExportConfirmationOptions {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  /** How long an export that could not be asked for waits. */
  readonly backoff: BackoffPolicy;
  /** Time for which exports that went with their CRD stay once it is back, in milliseconds. @default 600000 */
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

  /** Reports whether the cluster, asked for an export that it does not list, has answered that there is none. */
  confirmsNone(key: string): boolean {
    return this.#absence.leftMs(key) <= 0 && this.#isNone(key);
  }

  /** Asks the cluster for an export, unless it has been asked, or the export may be about to come back with its CRD. */
  ask(key: string): void {
    if (this.#absence.leftMs(key) <= 0) this.#rereads.ask(key);
  }

  /** Notes that there is an export. */
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

  /** Forgets the questions about exports that nobody asks for any more. */
  forgetAll(isNeedless: (key: string) => boolean): void {
    this.#rereads.forgetAll(isNeedless);
  }

  /** Forgets what the cluster answered, and asks it again where that settled nothing. */
  askAnew(): void {
    this.#rereads.askAnew((key) => this.#isNone(key));
  }

  /** Forgets that there was no such kind. */
  stop(): void {
    this.#absence.stop();
  }

  #isNone(key: string): boolean {
    const answer = this.#rereads.answer(key);
    return answer !== undefined && answer.object === undefined;
  }

  /** Lists objects; a kind that is not served is noted at once, since a watch may be late to notice it. */
  readonly #list: KubeClient['list'] = async (...asked) => {
    try {
      return await this.#client.list(...asked);
    } catch (error) {
      if (isNotFound(error)) this.#absence.noticed();
      throw error;
    }
  };
}
