/**
 * What one target may cost (rule E10): how many of its Services are mirrored or join federated Services, how many pods
 * have an endpoint mirror, and how many namespaces are created for it.
 */
import { flagOf } from '../../crds/operator-settings.ts';
import type { OperatorConfig } from '../config/config.ts';
import { bytesOf } from '../mirror/bytes.ts';
import type { OwnedObjects } from '../mirror/observed.ts';
import type { Service } from '../kube/objects.ts';
import type { SourceStores } from '../source/stores.ts';
import { type Candidate, Cap } from '../target/certain/cap.ts';
import { podKey, serviceOf as serviceKeyOf } from '../target/certain/losses.ts';
import type { AspectView, TargetView } from '../target/aspect.ts';
import { Volume } from '../target/certain/volume.ts';
import type { Pods } from './pods.ts';

export interface LimitsOptions {
  readonly config: Pick<OperatorConfig, 'maxMirrors' | 'maxEndpointMirrors' | 'maxServicePods' | 'maxWrittenMib'>;
  readonly pods: Pods;
  readonly source: Pick<SourceStores, 'keysOf' | 'membershipsOf' | 'ownedBy'>;
  readonly cluster: string;
  readonly target: () => TargetView | undefined;
  /** Called with keys of Services that are served in another way now. */
  readonly onChange: (keys: ReadonlySet<string>) => void;
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
  readonly #written: Volume;

  constructor(options: LimitsOptions) {
    const { config, pods, source, cluster, target, imports } = options;
    this.#options = options;
    const onChange = (keys: readonly string[]): void => options.onChange(new Set(keys.map(serviceKeyOf)));
    const capOf = <T>(of: CappedAspect<T>): Cap =>
      new Cap({
        most: config.maxMirrors,
        count: () => of.aspect()?.size ?? 0,
        candidates: () => candidatesOf(of),
        onChange,
      });
    this.#services = capOf({
      aspect: () => target()?.mirrored,
      serviceOf: ({ service }) => service,
      there: () => (key) => source.ownedBy({ cluster, key }).services.length > 0,
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
    this.#members = capOf({
      aspect: () => target()?.members,
      serviceOf: (service) => service,
      there: () => {
        const joined = source.membershipsOf(cluster);
        return (key) => joined.has(key);
      },
    });
    this.#imports = new Cap({
      most: config.maxMirrors,
      count: () => imports?.size ?? 0,
      candidates: () => imports?.candidates() ?? [],
      onChange,
    });
    this.#written = new Volume({
      most: config.maxWrittenMib * MIB,
      found: () => [...source.keysOf(cluster)].map((key) => [key, volumeOf(source.ownedBy({ cluster, key }))]),
      onRoom: onChange,
    });
  }

  admits(key: string): boolean {
    return this.#services.admits(key);
  }

  admitsPod(key: string, hostname: string): boolean {
    return this.#pods.admits(podKey(key, hostname));
  }

  /** Reports whether all that is derived from a target Service may take so many bytes. */
  admitsBytes(key: string, bytes: number): boolean {
    return this.#written.admits(key, bytes);
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
      ...crowdTexts(this.#options.pods.crowds, config.maxServicePods),
      refusedText(this.#written.refused, config.maxWrittenMib),
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
    this.#written.stop();
  }
}

/** One sort of what a target exports, of which so many are served. */
interface CappedAspect<T> {
  readonly aspect: () => AspectView<T> | undefined;
  readonly serviceOf: (exported: T) => Service;
  /** Returns what tells whether something has been made of a key. */
  readonly there: () => (key: string) => boolean;
}

function candidatesOf<T>({ aspect, serviceOf, there }: CappedAspect<T>): readonly Candidate[] {
  const all = aspect();
  const isMirrored = there();
  return [...(all?.keys() ?? [])].map((key) => {
    const exported = all?.get(key);
    const since = (exported && serviceOf(exported).metadata.creationTimestamp) ?? '';
    return { key, since, isMirrored: isMirrored(key) };
  });
}

const MIB = 1024 * 1024;

/** Most Services that are named. */
const NAMED = 3;

const volumeOf = ({ services, endpoints, slices }: OwnedObjects): number =>
  [...services, ...endpoints, ...slices].reduce((sum, object) => sum + bytesOf(object), 0);

function crowdTexts(crowds: ReadonlyMap<string, number>, most: number): readonly string[] {
  const named = [...crowds].slice(0, NAMED).map(([key, pods]) => `${key} has ${pods}`);
  const more = crowds.size > NAMED ? [`${crowds.size - NAMED} more have too many`] : [];
  if (named.length === 0) return [];
  return [
    `of the pods of one headless Service ${most} are served (${flagOf('maxServicePods')}): ${[...named, ...more].join(', ')}`,
  ];
}

const refusedText = (refused: number, mostMib: number): string | undefined =>
  refused === 0
    ? undefined
    : `${refused} of its Services would take what is written for it beyond ${mostMib} MiB (${flagOf('maxWrittenMib')})`;

const excessText = (
  what: string,
  count: number | undefined,
  setting: 'maxMirrors' | 'maxEndpointMirrors',
  most: number,
): string | undefined =>
  count === undefined
    ? undefined
    : `the target exports ${count} ${what}, of which ${most} are served (${flagOf(setting)})`;
