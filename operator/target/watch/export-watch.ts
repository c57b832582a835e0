/**
 * What a target cluster, or one namespace of it, exports to one Link: watches its Services by the Link's selectors and
 * the EndpointSlices behind them, and nothing else, so that what is not exported costs nothing. Members of federated
 * Services are watched beside what is exported: a Service may be both.
 */
import type { Selector } from '../../../crds/selector.ts';
import type { KubeClient } from '../../kube/client.ts';
import { type EndpointSlice, type Service, SERVICES } from '../../kube/objects.ts';
import { DEFAULT_TIMINGS } from '../../runtime/reflector.ts';
import { type Exported, exportedAs } from '../read/exported.ts';
import { readService } from '../read/objects.ts';
import { PodRereads } from '../certain/pod-rereads.ts';
import { Rereads } from '../certain/rereads.ts';
import { type SelectedOptions, SelectedServices, type WatchSettings } from './selected.ts';

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
  readonly #options: ExportWatchOptions;
  #isRunning = false;
  #readsFlatSlices: boolean;
  #gateway: SelectedServices | undefined;
  #flat: SelectedServices | undefined;
  #members: SelectedServices | undefined;
  readonly #rereads: Rereads<Service>;
  readonly #memberRereads: Rereads<Service>;
  readonly #podRereads: PodRereads;
  readonly #stopped = new AbortController();

  constructor(options: ExportWatchOptions) {
    this.#options = options;
    const { onAnswer, onMemberAnswer, onUnanswered, timings } = options;
    this.#readsFlatSlices = options.selectors.readsFlatSlices ?? false;
    const backoff = timings?.backoff ?? DEFAULT_TIMINGS.backoff;
    const common = { of: SERVICES, read: readService, onUnanswered, backoff };
    this.#rereads = new Rereads<Service>({ ...common, onAnswer });
    this.#memberRereads = new Rereads<Service>({ ...common, onAnswer: (key) => onMemberAnswer?.(key) });
    this.#podRereads = new PodRereads({
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

  /** The exported Service, and how; flat mode wins (rule A1). */
  get(key: string): Exported | undefined {
    return exportedAs(this.#gateway?.get(key), this.#flat?.get(key));
  }

  /** The Service, if it is selected as a member. */
  member(key: string): Service | undefined {
    return this.#members?.get(key);
  }

  /** Asks the target for one Service, unless it has been asked. */
  ask(key: string): void {
    this.#rereads.ask(key);
  }

  /** Whether the target, asked for the one Service, has answered what {@link get} returns. */
  confirms(key: string): boolean {
    if (this.#exported.length === 0) return true;
    const answer = this.#rereads.answer(key);
    return answer !== undefined && isSame(this.#exportedAs(answer.object), this.get(key));
  }

  /** Forgets what the target answers when it is asked for one Service. */
  forgetAnswer(key: string): void {
    this.#rereads.forget(key);
  }

  /** Asks the target for the pods behind one Service, unless it has been asked. */
  askForPods(key: string): void {
    this.#podRereads.ask(key);
  }

  /** Whether the target, asked for the pods behind one Service, has answered that this is not among them. */
  lacksPod(key: string, hostname: string): boolean {
    return this.#podRereads.lacks(key, hostname);
  }

  /** Forgets what the target answers when it is asked for the pods behind one Service. */
  forgetPods(key: string): void {
    this.#podRereads.forget(key);
  }

  /** Asks the target for one Service as a member, unless it has been asked. */
  askForMember(key: string): void {
    this.#memberRereads.ask(key);
  }

  /** Whether the target, asked for the one Service, has answered that it is no member. */
  confirmsNoMember(key: string): boolean {
    const { members } = this.#options.selectors;
    if (members === undefined) return true;
    const answer = this.#memberRereads.answer(key);
    return answer !== undefined && (answer.object === undefined || !members.matches(answer.object.metadata.labels));
  }

  /** Forgets what the target answers when it is asked for one Service as a member. */
  forgetMemberAnswer(key: string): void {
    this.#memberRereads.forget(key);
  }

  /** Forgets what the target answered, and asks it again where that settled nothing. */
  askAnew(): void {
    this.#rereads.askAnew((key) => this.confirms(key));
    this.#memberRereads.askAnew((key) => this.confirmsNoMember(key));
    this.#podRereads.askAnew(() => false);
  }

  /** Number of exported Services; one that is exported in both modes counts twice. */
  get size(): number {
    return this.#exported.reduce((sum, { size }) => sum + size, 0);
  }

  /** Keys of all exported Services, in either mode. */
  keys(): ReadonlySet<string> {
    return new Set(this.#exported.flatMap((each) => each.keys()));
  }

  get memberCount(): number {
    return this.#members?.size ?? 0;
  }

  /** Keys of all members. */
  memberKeys(): readonly string[] {
    return this.#members?.keys() ?? [];
  }

  /** The slices behind an exported Service; undefined while it is not known which there are. */
  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    const exporting = this.#flat?.get(key) === undefined ? this.#gateway : this.#flat;
    return exporting === undefined ? [] : exporting.slicesOf(key);
  }

  /** Reads the slices behind what is exported in flat mode from now on. */
  readFlatSlices(): void {
    this.#readsFlatSlices = true;
    if (!this.#stopped.signal.aborted) this.#flat?.readSlices();
  }

  /** The slices behind a member; undefined while it is not known which there are. */
  memberSlicesOf(key: string): readonly EndpointSlice[] | undefined {
    return this.#options.selectors.readsMemberSlices === true ? this.#members?.slicesOf(key) : undefined;
  }

  /** Starts watching. */
  run(client: KubeClient, signal: AbortSignal): void {
    this.#isRunning = true;
    const either = AbortSignal.any([signal, this.#stopped.signal]);
    for (const rereads of [this.#rereads, this.#memberRereads, this.#podRereads]) rereads.run(client, either);
    const { onChange, onMember, selectors } = this.#options;
    const { gateway, flat, members, readsMemberSlices = false } = selectors;
    const onService = (key: string): void => this.#changed(key);
    const watch = (watched: Watched): SelectedServices => this.#watch(watched, client, signal);
    if (gateway !== undefined) {
      const onPods = (key: string): void => this.#podRereads.forget(key);
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
        this.#memberRereads.forget(key);
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
    this.#rereads.forget(key);
    this.#podRereads.forget(key);
    this.#options.onChange(key);
  }

  /** How the selectors export a Service. */
  #exportedAs(service: Service | undefined): Exported | undefined {
    const { gateway, flat } = this.#options.selectors;
    const by = (selector: Selector | undefined): Service | undefined =>
      selector?.matches(service?.metadata.labels) === true ? service : undefined;
    return exportedAs(by(gateway), by(flat));
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
        this.#podRereads.askAnew(() => false);
        if (this.synced) onSlicesRelisted();
      },
      onState,
    });
  }
}

const isSame = (a: Exported | undefined, b: Exported | undefined): boolean =>
  a?.mode === b?.mode && a?.service.metadata.resourceVersion === b?.service.metadata.resourceVersion;
