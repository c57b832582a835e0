/**
 * Limits what one target may cost (rule E10): how many exports of each aspect are served, and how many bytes are
 * written.
 */
import { flagOf } from '../../crds/operator-setting-names.ts';
import type { OperatorConfig } from '../config/config.ts';
import { sizeOf } from '../mirror/bytes.ts';
import type { OwnedObjects } from '../mirror/observed.ts';
import type { SourceStores } from '../source/stores.ts';
import type { Counted } from '../target/certain/counted.ts';
import { type RoomListener, Volume } from '../target/certain/volume.ts';
import type { LinkReport } from './environment.ts';

/** The aspects whose objects are limited in bytes. */
type Written = Readonly<Record<WrittenSort, Pick<Counted, 'changed'>>>;
export type WrittenSort = 'mirrored' | 'members' | 'exports';

export interface LimitsOptions {
  readonly maxWrittenMib: OperatorConfig['maxWrittenMib'];
  readonly cluster: string;
  readonly source: Pick<SourceStores, 'keysOf' | 'membershipsOf' | 'ownedBy'>;
  /** Returns the keys of the ServiceImports that the cluster is part of. */
  readonly parts: () => Iterable<string>;
  /** The aspects that are limited in number. */
  readonly sorts: readonly Counted[];
  readonly written: Written;
  readonly report: LinkReport;
}

const MIB = 1024 * 1024;

export class Limits implements RoomListener {
  readonly #options: LimitsOptions;
  readonly #written: Volume;

  constructor(options: LimitsOptions) {
    this.#options = options;
    this.#written = new Volume({
      most: options.maxWrittenMib * MIB,
      found: () => found(options),
      listener: this,
    });
  }

  roomFor(ids: readonly string[]): void {
    const { written, report } = this.#options;
    for (const [sort, keys] of bySort(ids)) written[sort].changed(keys);
    report.statusChanged();
  }

  /**
   * Reports whether the objects that are derived from a target Service, as one export of an aspect, may take this many
   * bytes in total.
   */
  admitsBytes(sort: WrittenSort, key: string, bytes: number): boolean {
    const { refused } = this.#written;
    const before = refused.size;
    const isAdmitted = this.#written.admits(idOf(sort, key), bytes);
    if (refused.size !== before) this.#options.report.statusChanged();
    return isAdmitted;
  }

  /** Text about the limits that are exceeded; undefined if none is. */
  get excess(): string | undefined {
    const { sorts, maxWrittenMib } = this.#options;
    const texts = [
      ...sorts.map(excessText),
      ...sorts.flatMap(({ notes }) => notes),
      refusedText(this.#written.refused, maxWrittenMib),
    ].filter((text) => text !== undefined);
    return texts.length === 0
      ? undefined
      : `${texts.join('; ')}. What is served stays, and beside it the oldest are; export fewer, or raise the limit`;
  }

  stop(): void {
    for (const each of this.#options.sorts) each.stop();
    this.#written.stop();
  }
}

/** Returns an id that distinguishes the exports of one Service in different aspects. */
const idOf = (sort: WrittenSort, key: string): string => `${sort} ${key}`;

const parted = (id: string) => id.split(' ') as [WrittenSort, string];

function bySort(ids: readonly string[]): ReadonlyMap<WrittenSort, readonly string[]> {
  const groups = [...Map.groupBy(ids.map(parted), ([sort]) => sort)];
  return new Map(groups.map(([sort, of]) => [sort, of.map(([, key]) => key)]));
}

/**
 * Returns the exports that have objects in the source cluster, with the bytes that these objects take. The bytes are
 * undefined for members and for ServiceExports: other clusters are part of their objects too, so the bytes are known
 * only once the target is known.
 */
const found = ({ cluster, source, parts }: LimitsOptions): readonly (readonly [string, number | undefined])[] => [
  ...[...source.keysOf(cluster)].map(
    (key) => [idOf('mirrored', key), volumeOf(source.ownedBy({ cluster, key }))] as const,
  ),
  ...[...source.membershipsOf(cluster)].map((key) => [idOf('members', key), undefined] as const),
  ...[...parts()].map((key) => [idOf('exports', key), undefined] as const),
];

const volumeOf = ({ services, endpoints, slices }: OwnedObjects): number =>
  [...services, ...endpoints, ...slices].reduce((sum, object) => sum + sizeOf(object), 0);

const excessText = ({ what, setting, excess }: Counted): string | undefined =>
  excess === undefined
    ? undefined
    : `the target exports ${excess.exported} ${what}, of which ${excess.served} are served (${flagOf(setting)})`;

/** @param ids of exports; one Service may be refused in several aspects */
const refusedText = (ids: ReadonlySet<string>, mostMib: number): string | undefined => {
  const services = new Set([...ids].map((id) => parted(id)[1]));
  return services.size === 0
    ? undefined
    : `${services.size} of its Services would take what is written for it beyond ${mostMib} MiB (${flagOf('maxWrittenMib')})`;
};
