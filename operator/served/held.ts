/**
 * The deletions of one Link's mirrors and memberships that are held (rule E6). What a list of the target, or a change of
 * settings, takes away is counted against what is mirrored, Services and pods alike, against the members of federated Services, and against the
 * parts in ServiceImports; what a watch reports goes one by one, and is never held.
 */
import { splitKey } from '../kube/objects.ts';
import { PROBE_KEY } from '../source/owner.ts';
import type { SourceStores } from '../source/stores.ts';
import type { Digest } from '../target/certain/confirmed.ts';
import { type ExportState, importKey, Losses, membershipKey, serviceOf } from '../target/certain/losses.ts';
import type { AspectView, TargetView } from '../target/aspect.ts';
import type { SharedEnvironment } from './environment.ts';
import type { LinkReport } from './environment.ts';
import { Pods } from './pods.ts';

export interface HeldDeletionsOptions {
  readonly link: string;
  readonly cluster: string;
  readonly env: Pick<SharedEnvironment, 'config' | 'log'> & {
    readonly source: Pick<SourceStores, 'keysOf' | 'membershipsOf' | 'ownedBy'>;
  };
  readonly report: LinkReport;
  /** Whether headless Services are mirrored pod by pod. */
  readonly isHeadless: () => boolean;
  /** @default - the cluster has no part in ServiceImports */
  readonly imports?: ImportsView | undefined;
  /**
   * Puts on record what the user has confirmed, before anything of it is deleted; undefined if that is certain anyway.
   * @default - nothing is on record
   */
  readonly record?: (() => Promise<void> | undefined) | undefined;
}

/** The part of the cluster in ServiceImports. */
export interface ImportsView {
  /** Keys of the ServiceImports that it has a part in. */
  parts(): Iterable<string>;
  stateOf(key: string): ExportState;
}

export class HeldDeletions {
  readonly #options: HeldDeletionsOptions;
  readonly #losses = new Losses();
  /** The pods that have endpoint mirrors, of which some are held. */
  readonly pods: Pods;

  constructor(options: HeldDeletionsOptions) {
    const { cluster, env, isHeadless } = options;
    this.#options = options;
    this.pods = new Pods({
      cluster,
      source: env.source,
      losses: this.#losses,
      graceMs: env.config.endpointMirrorGraceMs,
      isHeadless,
      maxServicePods: env.config.maxServicePods,
    });
  }

  /** Number of deletions that are held. */
  get count(): number {
    return this.#losses.count;
  }

  /** What confirms the deletions that are held; undefined if there are none. */
  get confirmation(): string | undefined {
    return this.#losses.confirmation;
  }

  /** Some of what is held, for messages. */
  get some(): readonly string[] {
    return this.#losses.some;
  }

  /**
   * Reports whether a Service's mirror can be decided about: the target decides, and no deletion of it, or of pods without
   * which it could not stay as it is, is held.
   */
  decides(target: TargetView, key: string): boolean {
    if (!target.mirrored.decides(key) || this.pods.heldAs(target, key) === 'as it is') return false;
    return !(target.mirrored.get(key) === undefined && this.#losses.isHeld(key));
  }

  /** Reports whether a Service's membership can be decided about: the target decides, and it is not held. */
  decidesMember(target: TargetView, key: string): boolean {
    const isHeld = target.members.get(key) === undefined && this.#losses.isHeld(this.#membership(key));
    return target.members.decides(key) && !isHeld;
  }

  /** Reports whether it is held that the cluster's part in a ServiceImport ends. */
  holdsImport(key: string): boolean {
    return this.#losses.isHeld(this.#import(key));
  }

  /** Reports whether a Service is certainly not exported, and its mirror may go. */
  isGone(target: TargetView, key: string): boolean {
    return stateOf(target.mirrored, key) === 'gone' && !this.#losses.isHeld(key);
  }

  /**
   * Notes a change of one Service.
   * @param left hostnames of pods that a watch reported as gone from one of its slices
   */
  changed(target: TargetView, key: string, left: readonly string[]): void {
    const released = [this.#losses.changed(key, stateOf(target.mirrored, key)), this.pods.changed(target, key, left)];
    if (this.#losses.isCrowded) this.#losses.forgetGone(new Set(this.#states(target, undefined).keys()));
    this.#reportIf(released.includes(true));
  }

  /** Notes a change of one Service that is or was a member. */
  memberChanged(target: TargetView, key: string): void {
    this.#reportIf(this.#losses.changed(this.#membership(key), stateOf(target.members, key)));
  }

  /** Notes a change of one ServiceExport. */
  importChanged(key: string): void {
    this.#reportIf(this.#losses.changed(this.#import(key), this.#options.imports?.stateOf(key)));
  }

  /** Forgets what watches reported: they are made anew, for other selectors. */
  restarted(): void {
    this.#losses.restarted();
  }

  /**
   * The user may have confirmed a loss.
   * @param confirmed asked again when that is on record
   * @param release told the keys of Services to reconcile: their deletions are held no longer
   */
  confirm(confirmed: () => string | undefined, release: (keys: ReadonlySet<string>) => void): void {
    if (!this.#losses.confirming(confirmed())) return;
    const confirm = (): void => release(this.#released(this.#losses.confirm(confirmed())));
    const recorded = this.#options.record?.();
    if (recorded === undefined) confirm();
    else void recorded.then(confirm);
  }

  /** Returns digests of what the user has confirmed and is not gone yet. */
  confirmed(target: TargetView | undefined): ReadonlySet<Digest> {
    const { confirmed } = this.#losses;
    if (target !== undefined && confirmed.digests.size > 0) confirmed.retain(this.#states(target, undefined).keys());
    return confirmed.digests;
  }

  /** What the user confirmed before a restart. Returns the keys of Services to reconcile: their deletions are held no longer. */
  resume(confirmed: Iterable<Digest>): ReadonlySet<string> {
    return this.#released(this.#losses.resume(confirmed));
  }

  /**
   * Counts what the lists of the target, and the settings of the Link and the operator, take away.
   * @param target undefined: it is not being read, and only what is said of ServiceExports is counted
   * @param confirmed what the user has confirmed, if anything
   * @param within only namespace whose mirrors are counted: mirrors in others may just be going one by one
   * @returns keys of Services to reconcile: their deletions are held no longer
   */
  relisted(target: TargetView | undefined, confirmed: string | undefined, within?: string): ReadonlySet<string> {
    const states = this.#states(target, within);
    if (target !== undefined) this.#losses.confirmed.retain(states.keys());
    const before = this.#losses.count;
    const released = this.#losses.relisted(new Set(states.keys()), (key) => states.get(key), confirmed);
    if (this.#losses.count !== before) this.#warnOfHeld(states.size);
    return this.#released(released);
  }

  #membership(key: string): string {
    return membershipKey(key, this.#options.cluster);
  }

  #import(key: string): string {
    return importKey(key, this.#options.cluster);
  }

  /** Returns the state of each Service and pod that has mirrors, and of each membership and part in a ServiceImport. */
  #states(target: TargetView | undefined, within: string | undefined): ReadonlyMap<string, ExportState> {
    const { cluster, env, imports } = this.#options;
    const isCounted = (key: string): boolean => within === undefined || splitKey(key).namespace === within;
    const states = new Map<string, ExportState>();
    if (target !== undefined) {
      for (const key of env.source.keysOf(cluster))
        if (key !== PROBE_KEY) states.set(key, stateOf(target.mirrored, key));
      for (const [key, state] of this.pods.states(target)) states.set(key, state);
      for (const key of env.source.membershipsOf(cluster)) {
        states.set(this.#membership(key), stateOf(target.members, key));
      }
    }
    for (const key of imports?.parts() ?? []) states.set(this.#import(key), imports?.stateOf(key));
    for (const [key, state] of states) if (state === 'gone' && !isCounted(key)) states.set(key, undefined);
    return states;
  }

  /** Returns the Services of keys that are held no longer, which the status of the Link is to say. */
  #released(keys: readonly string[]): ReadonlySet<string> {
    this.#reportIf(keys.length > 0);
    return new Set(keys.map(serviceOf));
  }

  #reportIf(isReleased: boolean): void {
    if (isReleased) this.#options.report.statusChanged();
  }

  /** @param mirrored number of Services and pods that have mirrors, of memberships and of parts in ServiceImports */
  #warnOfHeld(mirrored: number): void {
    const { link, env, report } = this.#options;
    const held = this.#losses.count;
    report.statusChanged();
    if (held === 0) return;
    env.log.warn(
      { link, held },
      'the target no longer lists much of what is mirrored, federated or imported, or the settings no longer ask for it; that is not deleted',
    );
    const message = `the target no longer lists ${held} of ${mirrored} mirrored Services, pods, members of federated Services and exports, or the settings no longer ask for them; what they have here stays`;
    report.event('Warning', 'PruneHeld', message);
  }
}

function stateOf(aspect: AspectView<unknown>, key: string): ExportState {
  if (aspect.get(key) !== undefined) return 'exported';
  return aspect.decides(key) ? 'gone' : undefined;
}
