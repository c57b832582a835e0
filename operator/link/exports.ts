/**
 * What the target of one Link exports: the watches on it, what is known well enough to decide on, and the deletions
 * that are held (rule E6). A change leads to keys that are reconciled; nothing is written here.
 */
import { isDeepStrictEqual } from 'node:util';
import type { LinkSettings } from '../../crds/index.ts';
import type { KubeClient } from '../kube/client.ts';
import { splitKey } from '../kube/objects.ts';
import type { Observed } from '../mirror/observed.ts';
import { MALFORMED_RATE, Throttle } from '../runtime/rate.ts';
import { PROBE_KEY } from '../source/owner.ts';
import { type ExportState, Losses } from '../target/losses.ts';
import { Target, type TargetObstacle } from '../target/target.ts';
import type { Environment, LinkReport } from './environment.ts';
import type { Mirrors } from './mirrors.ts';

/** Settings that decide how a target is read. */
type Selection = Pick<
  LinkSettings,
  'name' | 'cluster' | 'selector' | 'remoteDiscoverySelector' | 'targetNamespaces' | 'confirmPrune'
>;

export interface ExportsOptions {
  readonly settings: Selection;
  readonly mirrors: Mirrors;
  readonly env: Environment;
  readonly report: LinkReport;
  /** Ends all watches. */
  readonly signal: AbortSignal;
  /** Called when the target can be read (undefined), or when some of it cannot. */
  readonly onReachable: (obstacle: TargetObstacle | undefined) => void;
}

export class Exports {
  readonly #options: ExportsOptions;
  readonly #losses = new Losses();
  readonly #malformed = new Throttle<string>(MALFORMED_RATE, (what, more) => this.#reportMalformed(what, more));
  #settings: Selection;
  #target: Target | undefined;
  /** Identity of the API server that is read. */
  #apiServer: string | undefined;

  constructor(options: ExportsOptions) {
    this.#options = options;
    this.#settings = options.settings;
  }

  /** Number of deletions that are held. */
  get held(): number {
    return this.#losses.count;
  }

  /** Returns the keys of all exported Services. */
  keys(): ReadonlySet<string> {
    return this.#target?.keys() ?? new Set();
  }

  /** Returns what the target says about one Service. */
  observe(key: string): Pick<Observed, 'target' | 'slices' | 'decidable'> {
    const target = this.#target?.get(key);
    return {
      target,
      slices: target && this.#target?.slicesOf(key),
      decidable: this.#target?.decides(key) === true && !(target === undefined && this.#losses.isHeld(key)),
    };
  }

  /** Reads with this client from now on. If it leads to another API server, everything is listed anew (rule E2). */
  use(client: KubeClient): void {
    const isSameCluster = this.#apiServer === client.apiServer;
    this.#apiServer = client.apiServer;
    if (this.#target !== undefined) {
      this.#target.use(client, { isSameCluster });
      return;
    }
    this.#target = this.#makeTarget();
    this.#target.run(client, this.#options.signal);
  }

  /**
   * Applies a changed spec or annotations. If the selectors changed, the target is watched anew, and mirrors stay as
   * they are until its lists are complete.
   * @param client client in use
   * @returns whether the target is watched anew
   */
  update(settings: Selection, client: KubeClient | undefined): boolean {
    const before = this.#settings;
    this.#settings = settings;
    for (const key of this.#losses.confirm(settings.confirmPrune)) this.#options.mirrors.add(key);
    if (this.#target === undefined || isReadAlike(settings, before)) return false;
    this.#target.stop();
    this.#options.mirrors.progress.restart();
    this.#losses.restarted();
    this.#target = this.#makeTarget();
    if (client !== undefined) this.#target.run(client, this.#options.signal);
    return true;
  }

  /** Counts the mirrors in a namespace that could not be read when the target was listed. */
  namespaceRead(namespace: string): void {
    if (this.#target?.synced === true) this.#countLosses(this.#target, namespace);
  }

  stop(): void {
    this.#target?.stop();
    this.#malformed.flush();
  }

  #makeTarget(): Target {
    const { env, onReachable } = this.#options;
    const { selector, remoteDiscoverySelector, targetNamespaces } = this.#settings;
    // A target that was replaced may still report.
    const isCurrent = (): boolean => this.#target === target;
    const target: Target = new Target({
      selectors: { gateway: selector, flat: remoteDiscoverySelector },
      namespaces: targetNamespaces,
      timings: env.tuning.targetTimings,
      labelCopyMs: env.tuning.labelCopyMs,
      onChange: (key) => {
        if (isCurrent()) this.#changed(target, key);
      },
      onRelisted: (what) => {
        if (isCurrent()) this.#relisted(target, what);
      },
      onReachable: (obstacle) => {
        if (isCurrent()) onReachable(obstacle);
      },
      onMalformed: (what) => this.#malformed.add(what),
    });
    return target;
  }

  #reportMalformed(what: string, more: number): void {
    const { env, report } = this.#options;
    const others = more === 0 ? '' : `, and ${more} more`;
    env.log.warn(
      { link: this.#settings.name, object: what, ...(more > 0 && { more }) },
      'the target sent an object that the API does not allow; it is ignored',
    );
    report.event('Warning', 'MalformedObject', `ignored an object that the target sent: ${what}${others}`);
  }

  #changed(target: Target, key: string): void {
    const { mirrors, env, report } = this.#options;
    mirrors.progress.changed(key);
    const state = stateOf(target, key);
    if (this.#losses.changed(key, state)) report.statusChanged();
    // A Service that is gone claims nothing, also while another operator writes for the Link (rule A7).
    if (state === 'gone' && !this.#losses.isHeld(key)) env.claims.withdraw({ cluster: this.#settings.cluster, key });
    mirrors.add(key);
  }

  #relisted(target: Target, what: 'services' | 'slices'): void {
    const { mirrors, report } = this.#options;
    if (what === 'services') this.#countLosses(target);
    mirrors.relisted(target.keys());
    report.statusChanged();
  }

  /** @param within only namespace whose mirrors are counted: mirrors in others may just be going one by one */
  #countLosses(target: Target, within?: string): void {
    const { mirrors, env, report } = this.#options;
    const { name: link, cluster, confirmPrune } = this.#settings;
    const mirrored = new Set([...env.source.keysOf(cluster)].filter((key) => key !== PROBE_KEY));
    const isCounted = (key: string): boolean => within === undefined || splitKey(key).namespace === within;
    const before = this.#losses.count;
    const released = this.#losses.relisted(
      mirrored,
      (key) => (isCounted(key) || target.get(key) !== undefined ? stateOf(target, key) : undefined),
      confirmPrune,
    );
    const held = this.#losses.count;
    if (held > 0 && held !== before) {
      env.log.warn({ link, held }, 'the target no longer lists many mirrored Services; their mirrors are not deleted');
      const message = `the target no longer lists ${held} of ${mirrored.size} mirrored Services; their mirrors are not deleted`;
      report.event('Warning', 'PruneHeld', message);
    }
    for (const key of released) mirrors.add(key);
  }
}

function stateOf(target: Target, key: string): ExportState {
  if (target.get(key) !== undefined) return 'exported';
  return target.decides(key) ? 'gone' : undefined;
}

const isReadAlike = (a: Selection, b: Selection): boolean =>
  a.selector?.query === b.selector?.query &&
  a.remoteDiscoverySelector?.query === b.remoteDiscoverySelector?.query &&
  isDeepStrictEqual(a.targetNamespaces, b.targetNamespaces);
