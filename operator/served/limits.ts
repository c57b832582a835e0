/**
 * What one target may cost (rule E10): how many of each sort are served, how many namespaces are created for it, and how many
 * bytes are written.
 */
import { flagOf } from '../../crds/operator-setting-names.ts';
import type { OperatorConfig } from '../config/config.ts';
import { bytesOf } from '../mirror/bytes.ts';
import type { OwnedObjects } from '../mirror/observed.ts';
import type { SourceStores } from '../source/stores.ts';
import type { Counted } from '../target/certain/counted.ts';
import { Volume } from '../target/certain/volume.ts';
import type { LinkReport } from './environment.ts';

export interface LimitsOptions {
  readonly maxWrittenMib: OperatorConfig['maxWrittenMib'];
  readonly cluster: string;
  readonly source: Pick<SourceStores, 'keysOf' | 'ownedBy'>;
  /** Whatever is limited in number. */
  readonly sorts: readonly Counted[];
  /** What takes bytes. */
  readonly mirrored: Pick<Counted, 'changed'>;
  readonly report: LinkReport;
}

const MIB = 1024 * 1024;

export class Limits {
  readonly #options: LimitsOptions;
  readonly #written: Volume;

  constructor(options: LimitsOptions) {
    const { maxWrittenMib, cluster, source, mirrored, report } = options;
    this.#options = options;
    this.#written = new Volume({
      most: maxWrittenMib * MIB,
      found: () => [...source.keysOf(cluster)].map((key) => [key, volumeOf(source.ownedBy({ cluster, key }))]),
      onRoom: (keys) => {
        mirrored.changed(keys);
        report.statusChanged();
      },
    });
  }

  /** Reports whether all that is derived from a target Service may take so many bytes. */
  admitsBytes(key: string, bytes: number): boolean {
    return this.#written.admits(key, bytes);
  }

  /** What is more than the limits allow; undefined if nothing is. */
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

const volumeOf = ({ services, endpoints, slices }: OwnedObjects): number =>
  [...services, ...endpoints, ...slices].reduce((sum, object) => sum + bytesOf(object), 0);

const excessText = ({ what, setting, most, excess }: Counted): string | undefined =>
  excess === undefined
    ? undefined
    : `the target exports ${excess} ${what}, of which ${most} are served (${flagOf(setting)})`;

const refusedText = (refused: number, mostMib: number): string | undefined =>
  refused === 0
    ? undefined
    : `${refused} of its Services would take what is written for it beyond ${mostMib} MiB (${flagOf('maxWrittenMib')})`;
