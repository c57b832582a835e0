/**
 * What a target cluster, or one namespace of it, exports to one Link: watches its Services by the Link's selectors and
 * the EndpointSlices behind them, and nothing else, so that what is not exported costs nothing. Members of federated
 * Services are watched beside what is exported: a Service may be both.
 */
import type { Selector } from '../../../crds/selector.ts';
import type { KubeClient } from '../../kube/client.ts';
import { type Service, SERVICES } from '../../kube/objects.ts';
import { DEFAULT_TIMINGS } from '../../runtime/reflector.ts';
import { type Exported, exportedAs } from '../read/exported.ts';
import { readService } from '../read/objects.ts';
import { PodRereads } from '../certain/pod-rereads.ts';
import { Rereads } from '../certain/rereads.ts';
import { type SelectedOptions, SelectedServices, type WatchSettings } from './selected.ts';
import { WatchedAspect } from './watched-aspect.ts';

export interface TargetSelectors {
  readonly gateway: Selector | undefined;
  readonly flat: Selector | undefined;
  /** Members of federated Services. @default - none */
  readonly members?: Selector | undefined;
  /** Whether the slices behind members are read, which only a gateway needs. @default false */
  readonly readsMemberSlices?: boolean;
  /** Whether the slices behind what is exported in flat mode are read, which only failover needs. @default false */
  readonly readsFlatSlices?: boolean;
}

export interface ExportWatchOptions extends WatchSettings {
  readonly selectors: TargetSelectors;
  /**
   * Called when a target Service, or what is behind it, may have changed.
   * @param key `namespace/name`
   * @param left hostnames of pods that a watch, not a list, reported as gone from a slice of the Service
   */
  readonly onChange: (key: string, left?: readonly string[]) => void;
  /** Called when a Service that is, was or comes to be a member, or what is behind it, may have changed. */
  readonly onMember?: ((key: string) => void) | undefined;
  /**
   * Called when Services were listed anew, and every exported Service and every member is known.
   * @param lost whether some are no longer, and this list was not asked for by `relist`
   */
  readonly onRelisted: (lost: boolean) => void;
  /** Called when what is behind Services was listed anew, and every exported Service and every member is known. */
  readonly onSlicesRelisted: () => void;
  /** Called with the key of a Service that was asked for, when the target has answered. */
  readonly onAnswer: (key: string) => void;
  /** Called with the key of a Service that was asked for as a member, when the target has answered. */
  readonly onMemberAnswer?: ((key: string) => void) | undefined;
  /** Called with the key of a Service that was asked for, when the target does not answer at first. */
  readonly onUnanswered: (key: string, error: unknown) => void;
}

/** What differs between the watches of each selector. */
type Watched = Pick<SelectedOptions, 'selector' | 'prefix' | 'readsSlices' | 'onService' | 'onSlices' | 'onPods'>;

export class ExportWatch {
  /** The exported Services, and how; flat mode wins (rule A1). */
  readonly mirrored: WatchedAspect<Exported>;
  /** The Services that are selected as members. */
  readonly members: WatchedAspect<Service>;
  /** The pods behind what is exported in gateway mode. */
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
    const { onAnswer, onMemberAnswer, onUnanswered, timings } = options;
    this.#readsFlatSlices = options.selectors.readsFlatSlices ?? false;
    const backoff = timings?.backoff ?? DEFAULT_TIMINGS.backoff;
    const common = { of: SERVICES, read: readService, onUnanswered, backoff };
    const rereads = new Rereads<Service>({ ...common, onAnswer });
    const memberRereads = new Rereads<Service>({ ...common, onAnswer: (key) => onMemberAnswer?.(key) });
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
      onAnswer,
      onUnanswered,
      backoff,
    });
  }

  /** Whether every exported Service and every member is known: only then is one that is not there known to be gone. */
  get synced(): boolean {
    return this.#isRunning && this.#all.every(({ synced }) => synced);
  }

  /** Whether everything that is read has been listed and is being watched. Slices found by name may still be looked for. */
  get open(): boolean {
    return this.#isRunning && this.#all.every(({ open }) => open);
  }

  /** Whether every list of Services that `relist` asked for has completed. */
  get current(): boolean {
    return this.#all.every(({ current }) => current);
  }

  /** Forgets what the target answered, and asks it again where that settled nothing. */
  askAnew(): void {
    this.mirrored.askAnew();
    this.members.askAnew();
    this.pods.askAnew(() => false);
  }

  /** Reads the slices behind what is exported in flat mode from now on. */
  readFlatSlices(): void {
    this.#readsFlatSlices = true;
    if (!this.#stopped.signal.aborted) this.#flat?.readSlices();
  }

  /** Starts watching. */
  run(client: KubeClient, signal: AbortSignal): void {
    this.#isRunning = true;
    const either = AbortSignal.any([signal, this.#stopped.signal]);
    for (const rereads of [...this.#rereads, this.pods]) rereads.run(client, either);
    const { onChange, onMember, selectors } = this.#options;
    const { gateway, flat, members, readsMemberSlices = false } = selectors;
    const onService = (key: string): void => this.#changed(key);
    const watch = (watched: Watched): SelectedServices => this.#watch(watched, client, signal);
    if (gateway !== undefined) {
      const onPods = (key: string): void => this.pods.forget(key);
      this.#gateway = watch({ selector: gateway, readsSlices: true, onService, onSlices: onChange, onPods });
    }
    if (flat !== undefined) {
      const onSlices = (key: string): void => onChange(key);
      const common = { prefix: 'flat ', onSlices, readsSlices: this.#readsFlatSlices };
      this.#flat = watch({ ...common, selector: flat, onService });
    }
    if (members !== undefined) {
      const onSlices = (key: string): void => onMember?.(key);
      const onMemberService = (key: string): void => {
        this.members.forget(key);
        onSlices(key);
      };
      const common = { prefix: 'member ', onSlices, readsSlices: readsMemberSlices };
      this.#members = watch({ ...common, selector: members, onService: onMemberService });
    }
    // Nothing is selected: that is known without a request.
    if (this.#all.length === 0) this.#options.onRelisted(false);
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
    this.#options.onChange(key);
  }

  #watch(watched: Watched, client: KubeClient, signal: AbortSignal): SelectedServices {
    const { namespace, timings, labelCopyMs, onRelisted, onSlicesRelisted, onState, ...rest } = this.#options;
    const { readSlice, onHeard, onMalformed } = rest;
    return new SelectedServices({
      ...watched,
      namespace,
      timings,
      labelCopyMs,
      readSlice,
      onHeard,
      onMalformed,
      client,
      signal,
      onRelisted: (lost) => {
        this.askAnew();
        if (this.synced) onRelisted(lost);
      },
      onSlicesRelisted: () => {
        this.pods.askAnew(() => false);
        if (this.synced) onSlicesRelisted();
      },
      onState,
    });
  }
}

const selectedBy = (selector: Selector | undefined, service: Service | undefined): Service | undefined =>
  selector?.matches(service?.metadata.labels) === true ? service : undefined;

const isSameVersion = (a: Service | undefined, b: Service | undefined): boolean =>
  a?.metadata.resourceVersion === b?.metadata.resourceVersion;
