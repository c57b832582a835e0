/**
 * Watches what a cluster, or one namespace of it, exports: the Services that selectors select, and their
 * EndpointSlices. Services that no selector selects are not watched, so they cost nothing. Each selector has watches of
 * its own, because several selectors can select one Service: for example, one to mirror it and one to make it a member.
 */
import type { Selector } from '../../../crds/selector.ts';
import type { KubeClient } from '../../kube/client.ts';
import { type Service, SERVICES } from '../../kube/objects.ts';
import { DEFAULT_TIMINGS } from '../../runtime/reflector.ts';
import { type Exported, exportedAs } from '../read/exported.ts';
import { readService } from '../read/objects.ts';
import { PodRereads } from '../certain/pod-rereads.ts';
import type { AnswerListener } from '../certain/questions.ts';
import { isSameVersion, Rereads } from '../certain/rereads.ts';
import type { ExportListener, ListsListener } from './listeners.ts';
import { type SelectedOptions, SelectedServices, type WatchSettings } from './selected.ts';
import { WatchedAspect } from './watched-aspect.ts';

export interface TargetSelectors {
  readonly gateway: Selector | undefined;
  readonly flat: Selector | undefined;
  /** Selector of the members of federated Services. @default - nothing is selected */
  readonly members?: Selector | undefined;
  /** Whether slices of members are read. Those of a target are read only if its Link has a gateway. @default false */
  readonly readsMemberSlices?: boolean;
  /** Whether slices of Services exported in flat mode are read. Only failover needs these slices. @default false */
  readonly readsFlatSlices?: boolean;
}

export interface ExportWatchOptions extends WatchSettings {
  readonly selectors: TargetSelectors;
  readonly listener: ExportListener;
  /** Notified of completed lists once {@link ExportWatch.synced} is true. */
  readonly lists: ListsListener;
}

/** Options that differ from selector to selector. */
type Watched = Pick<SelectedOptions, 'selector' | 'prefix' | 'readsSlices' | 'listener'>;

export class ExportWatch {
  /** Exported Services with their modes. If the selectors of both modes select a Service, flat mode wins (rule A1). */
  readonly mirrored: WatchedAspect<Exported>;
  /** The Services that are selected as members. */
  readonly members: WatchedAspect<Service>;
  /** Answers of the target about the pods of Services that the selector of gateway mode selects. */
  readonly pods: PodRereads;
  readonly #options: ExportWatchOptions;
  #isRunning = false;
  #readsFlatSlices: boolean;
  #gateway: SelectedServices | undefined;
  #flat: SelectedServices | undefined;
  #members: SelectedServices | undefined;
  readonly #rereads: readonly Rereads<Service>[];
  readonly #stopped = new AbortController();

  constructor(options: ExportWatchOptions) {
    this.#options = options;
    const { listener, timings } = options;
    this.#readsFlatSlices = options.selectors.readsFlatSlices ?? false;
    const backoff = timings?.backoff ?? DEFAULT_TIMINGS.backoff;
    const unanswered = (key: string, error: unknown): void => listener.unanswered?.(key, error);
    const answers: AnswerListener = { answered: (key) => listener.serviceAnswered?.(key), unanswered };
    const memberAnswers: AnswerListener = { answered: (key) => listener.memberAnswered?.(key), unanswered };
    const common = { of: SERVICES, read: readService, backoff };
    const rereads = new Rereads<Service>({ ...common, listener: answers });
    const memberRereads = new Rereads<Service>({ ...common, listener: memberAnswers });
    this.#rereads = [rereads, memberRereads];
    const { gateway, flat, members, readsMemberSlices = false } = options.selectors;
    this.mirrored = new WatchedAspect<Exported>({
      isSelected: gateway !== undefined || flat !== undefined,
      watches: () => this.#exported,
      get: (key) => exportedAs(this.#gateway?.get(key), this.#flat?.get(key)),
      slicesOf: (key) => {
        const exporting = this.#flat?.get(key) === undefined ? this.#gateway : this.#flat;
        return exporting === undefined ? [] : exporting.slicesOf(key);
      },
      readAs: (service) => exportedAs(selectedBy(gateway, service), selectedBy(flat, service)),
      isSame: (a, b) => a?.mode === b?.mode && isSameVersion(a?.service, b?.service),
      rereads,
    });
    this.members = new WatchedAspect<Service>({
      isSelected: members !== undefined,
      watches: () => (this.#members === undefined ? [] : [this.#members]),
      get: (key) => this.#members?.get(key),
      slicesOf: (key) => (readsMemberSlices ? this.#members?.slicesOf(key) : undefined),
      readAs: (service) => selectedBy(members, service),
      isSame: isSameVersion,
      rereads: memberRereads,
    });
    this.pods = new PodRereads({
      get: (key) => this.#gateway?.get(key),
      isLabelled: (labels) => options.selectors.gateway?.matches(labels) === true,
      listener: answers,
      backoff,
    });
  }

  /**
   * Whether all exported Services and members have been listed. Until then, a Service that is missing here might be
   * exported.
   */
  get synced(): boolean {
    return this.#isRunning && this.#all.every(({ synced }) => synced);
  }

  /** Whether everything that is read has been listed and is being watched, except slices that are found by name. */
  get open(): boolean {
    return this.#isRunning && this.#all.every(({ open }) => open);
  }

  /** Whether every list that `relist` asked for has completed. */
  get current(): boolean {
    return this.#all.every(({ current }) => current);
  }

  /**
   * Forgets all answers of the target. Asks again about each Service whose answer has not arrived yet, or differs from
   * what the watches show. Asks again about the pods of each Service whose pods were asked about.
   */
  askAnew(): void {
    this.mirrored.askAnew();
    this.members.askAnew();
    this.pods.askAnew(() => false);
  }

  /** Starts to read the slices of Services that are exported in flat mode. */
  readFlatSlices(): void {
    this.#readsFlatSlices = true;
    if (!this.#stopped.signal.aborted) this.#flat?.readSlices();
  }

  /** Starts watching. */
  run(client: KubeClient, signal: AbortSignal): void {
    this.#isRunning = true;
    const either = AbortSignal.any([signal, this.#stopped.signal]);
    for (const rereads of [...this.#rereads, this.pods]) rereads.run(client, either);
    const { listener, selectors } = this.#options;
    const { gateway, flat, members, readsMemberSlices = false } = selectors;
    const service = (key: string): void => this.#changed(key);
    const watch = (watched: Watched): SelectedServices => this.#watch(watched, client, signal);
    if (gateway !== undefined) {
      this.#gateway = watch({
        selector: gateway,
        readsSlices: true,
        listener: {
          service,
          slices: (key, left) => listener.serviceChanged?.(key, left),
          pods: (key) => this.pods.forget(key),
        },
      });
    }
    if (flat !== undefined) {
      this.#flat = watch({
        selector: flat,
        prefix: 'flat ',
        readsSlices: this.#readsFlatSlices,
        listener: { service, slices: (key) => listener.serviceChanged?.(key) },
      });
    }
    if (members !== undefined) {
      const slices = (key: string): void => listener.memberChanged?.(key);
      const member = (key: string): void => {
        this.members.forget(key);
        slices(key);
      };
      this.#members = watch({
        selector: members,
        prefix: 'member ',
        readsSlices: readsMemberSlices,
        listener: { service: member, slices },
      });
    }
    // Without a selector, nothing is exported. No list is needed to know this.
    if (this.#all.length === 0) this.#options.lists.relisted(false);
  }

  /** Lists the Services anew. */
  relist(): void {
    for (const each of this.#all) each.relist();
  }

  stop(): void {
    this.#stopped.abort();
    for (const each of this.#all) each.stop();
  }

  get #exported(): readonly SelectedServices[] {
    return [this.#gateway, this.#flat].filter((each) => each !== undefined);
  }

  get #all(): readonly SelectedServices[] {
    return [...this.#exported, this.#members].filter((each) => each !== undefined);
  }

  #changed(key: string): void {
    this.mirrored.forget(key);
    this.pods.forget(key);
    this.#options.listener.serviceChanged?.(key);
  }

  #watch(watched: Watched, client: KubeClient, signal: AbortSignal): SelectedServices {
    const { namespace, timings, labelCopyMs, readSlice, reading, lists } = this.#options;
    return new SelectedServices({
      ...watched,
      namespace,
      timings,
      labelCopyMs,
      readSlice,
      reading,
      client,
      signal,
      lists: {
        relisted: (lost) => {
          this.askAnew();
          if (this.synced) lists.relisted(lost);
        },
        slicesRelisted: () => {
          this.pods.askAnew(() => false);
          if (this.synced) lists.slicesRelisted();
        },
      },
    });
  }
}

const selectedBy = (selector: Selector | undefined, service: Service | undefined): Service | undefined =>
  selector?.matches(service?.metadata.labels) === true ? service : undefined;
