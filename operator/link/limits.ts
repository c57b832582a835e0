/**
 * What one target may cost (rule E10): how many of its Services are mirrored, how many pods have an endpoint mirror, and
 * how many namespaces are created for it.
 */
import { flagOf } from '../../crds/operator-settings.ts';
import type { OperatorConfig } from '../config/config.ts';
import type { SourceStores } from '../source/stores.ts';
import { Cap } from '../target/cap.ts';
import { podKey, serviceOf } from '../target/losses.ts';
import type { TargetView } from '../target/target.ts';
import type { Pods } from './pods.ts';

export interface LimitsOptions {
  readonly config: Pick<OperatorConfig, 'maxMirrors' | 'maxEndpointMirrors'>;
  readonly pods: Pods;
  readonly source: Pick<SourceStores, 'ownedBy'>;
  readonly cluster: string;
  readonly target: () => TargetView | undefined;
  /** Called with keys of Services that are served in another way now. */
  readonly onChange: (keys: ReadonlySet<string>) => void;
}

export class Limits {
  readonly #options: LimitsOptions;
  readonly #services: Cap;
  readonly #pods: Cap;

  constructor(options: LimitsOptions) {
    const { config, pods, source, cluster, target } = options;
    this.#options = options;
    const onChange = (keys: readonly string[]): void => options.onChange(new Set(keys.map(serviceOf)));
    this.#services = new Cap({
      most: config.maxMirrors,
      count: () => target()?.size ?? 0,
      candidates: () =>
        [...(target()?.keys() ?? [])].map((key) => ({
          key,
          since: target()?.get(key)?.service.metadata.creationTimestamp ?? '',
          isMirrored: source.ownedBy({ cluster, key }).services.length > 0,
        })),
      onChange,
    });
    this.#pods = new Cap({
      most: config.maxEndpointMirrors,
      count: () => pods.count,
      candidates: () => {
        const current = target();
        return current === undefined ? [] : pods.candidates(current);
      },
      onChange,
    });
  }

  admits(key: string): boolean {
    return this.#services.admits(key);
  }

  admitsPod(key: string, hostname: string): boolean {
    return this.#pods.admits(podKey(key, hostname));
  }

  /** Notes that the exports of the target have changed. */
  changed(): void {
    this.#services.changed();
    this.#pods.changed();
  }

  /** Returns what is more than the limits allow; undefined if nothing is. */
  get excess(): string | undefined {
    const { config } = this.#options;
    const texts = [
      excessText('Services', this.#services.excess, 'maxMirrors', config.maxMirrors),
      excessText('pods of headless Services', this.#pods.excess, 'maxEndpointMirrors', config.maxEndpointMirrors),
    ].filter((text) => text !== undefined);
    return texts.length === 0
      ? undefined
      : `${texts.join('; ')}. What is mirrored stays, and beside it the oldest are; export fewer, or raise the limit`;
  }

  stop(): void {
    this.#services.stop();
    this.#pods.stop();
  }
}

const excessText = (
  what: string,
  count: number | undefined,
  setting: 'maxMirrors' | 'maxEndpointMirrors',
  most: number,
): string | undefined =>
  count === undefined
    ? undefined
    : `the target exports ${count} ${what}, of which ${most} are mirrored (${flagOf(setting)})`;
