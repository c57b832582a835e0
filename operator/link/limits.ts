/**
 * What one target may cost (rule E10): how many of its Services are mirrored or join federated Services, how many pods
 * have an endpoint mirror, and how many namespaces are created for it.
 */
import { flagOf } from '../../crds/operator-settings.ts';
import type { OperatorConfig } from '../config/config.ts';
import type { SourceStores } from '../source/stores.ts';
import { type Candidate, Cap } from '../target/cap.ts';
import { podKey, serviceOf } from '../target/losses.ts';
import type { MembersView, TargetView } from '../target/target.ts';
import type { Pods } from './pods.ts';

export interface LimitsOptions {
  readonly config: Pick<OperatorConfig, 'maxMirrors' | 'maxEndpointMirrors'>;
  readonly pods: Pods;
  readonly source: Pick<SourceStores, 'membershipsOf' | 'ownedBy'>;
  readonly cluster: string;
  readonly target: () => TargetView | undefined;
  /** Called with keys of Services that are served in another way now. */
  readonly onChange: (keys: ReadonlySet<string>) => void;
  /** What of the target is federated, if that is limited too. @default - nothing */
  readonly members?: () => MembersView | undefined;
  /** What of the target is exported by the MCS API. @default - nothing */
  readonly imports?: CandidatesView | undefined;
}

/** What may be served, if the limit allows it. */
export interface CandidatesView {
  readonly size: number;
  candidates(): Iterable<Candidate>;
}

export class Limits {
  readonly #options: LimitsOptions;
  readonly #services: Cap;
  readonly #pods: Cap;
  readonly #members: Cap;
  readonly #imports: Cap;

  constructor(options: LimitsOptions) {
    const { config, pods, source, cluster, target, members = () => undefined, imports } = options;
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
    this.#members = new Cap({
      most: config.maxMirrors,
      count: () => members()?.memberCount ?? 0,
      candidates: () => {
        const joined = source.membershipsOf(cluster);
        return [...(members()?.memberKeys() ?? [])].map((key) => ({
          key,
          since: members()?.member(key)?.metadata.creationTimestamp ?? '',
          isMirrored: joined.has(key),
        }));
      },
      onChange,
    });
    this.#imports = new Cap({
      most: config.maxMirrors,
      count: () => imports?.size ?? 0,
      candidates: () => imports?.candidates() ?? [],
      onChange,
    });
  }

  admits(key: string): boolean {
    return this.#services.admits(key);
  }

  admitsPod(key: string, hostname: string): boolean {
    return this.#pods.admits(podKey(key, hostname));
  }

  admitsMember(key: string): boolean {
    return this.#members.admits(key);
  }

  admitsImport(key: string): boolean {
    return this.#imports.admits(key);
  }

  /** Notes that the exports or members of the target have changed. */
  changed(): void {
    this.#services.changed();
    this.#pods.changed();
    this.#members.changed();
    this.#imports.changed();
  }

  /** Returns what is more than the limits allow; undefined if nothing is. */
  get excess(): string | undefined {
    const { config } = this.#options;
    const texts = [
      excessText('Services', this.#services.excess, 'maxMirrors', config.maxMirrors),
      excessText('pods of headless Services', this.#pods.excess, 'maxEndpointMirrors', config.maxEndpointMirrors),
      excessText('members of federated Services', this.#members.excess, 'maxMirrors', config.maxMirrors),
      excessText('Services by ServiceExports', this.#imports.excess, 'maxMirrors', config.maxMirrors),
    ].filter((text) => text !== undefined);
    return texts.length === 0
      ? undefined
      : `${texts.join('; ')}. What is served stays, and beside it the oldest are; export fewer, or raise the limit`;
  }

  stop(): void {
    this.#services.stop();
    this.#pods.stop();
    this.#members.stop();
    this.#imports.stop();
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
    : `the target exports ${count} ${what}, of which ${most} are served (${flagOf(setting)})`;
