/**
 * The slices of a headless mirror, divided as {@link HeadlessMirror} divides them, and kept up to date: a Service may have
 * thousands of pods, and where one of them comes or goes, only the slice that it is in is another.
 */
import { isIPv6 } from '../../common/prop-rules.ts';
import { type Family, sliceSuffix } from '../../../crds/slice-names.ts';
import { ordered } from './endpoints.ts';
import { changedTree, partsOf, type SlicePart, type SliceTree, treeOf } from './fill-slices.ts';
import { type HeadlessMirrorAddress, type HeadlessMirrorSubset, placeOfSubset } from './headless-mirror.ts';
import { crossesGateway, type EndpointPort } from './ports.ts';

/** A part of the endpoints of a headless mirror that is one slice. */
export interface HeadlessMirrorPart {
  /** What the name of the slice ends with, after a dash. */
  readonly suffix: string;
  /** By itself, it is rendered as the first slice of the mirror. The addresses are the same list while none of them changes. */
  readonly subset: HeadlessMirrorSubset;
}

const FAMILIES: readonly Family[] = ['IPv4', 'IPv6'];

type Tree = SliceTree<HeadlessMirrorAddress>;

/** The pods that listen on the same ports. */
interface OfPorts {
  readonly ports: readonly EndpointPort[];
  readonly trees: Readonly<Record<Family, Tree>>;
}

const EMPTY: Tree = treeOf<HeadlessMirrorAddress>([]);

export class HeadlessSlices {
  /** By the ports, as JSON. */
  readonly #subsets = new Map<string, OfPorts>();

  /**
   * Takes pods out and in. No pod is in it twice with the same ports.
   * @param gone as they were taken in
   */
  change(gone: readonly HeadlessMirrorSubset[], come: readonly HeadlessMirrorSubset[]): void {
    for (const subset of gone) this.#changeOne(subset.ports, subset.addresses, []);
    for (const subset of come) this.#changeOne(subset.ports, [], subset.addresses);
  }

  /** Returns the slices, those of IPv4 first. */
  parts(): readonly HeadlessMirrorPart[] {
    const subsets = [...this.#subsets.values()]
      .map(({ ports, trees }) => ({
        ports: ports.filter(crossesGateway),
        IPv4: filled(trees.IPv4),
        IPv6: filled(trees.IPv6),
      }))
      .filter(({ ports }) => ports.length > 0)
      .map((subset) => ({ subset, place: placeOfSubset(firstOf([...subset.IPv4, ...subset.IPv6]), subset) }))
      .sort((a, b) => (a.place < b.place ? -1 : 1))
      .map(({ subset }) => subset);
    return FAMILIES.flatMap((family) =>
      subsets
        .filter((subset) => subset[family].length > 0)
        .flatMap(({ ports, ...parts }, index) =>
          parts[family].map(({ bits, addresses }) => ({
            suffix: sliceSuffix(family, index, bits),
            subset: { ports, addresses },
          })),
        ),
    );
  }

  #changeOne(
    ports: readonly EndpointPort[],
    gone: readonly HeadlessMirrorAddress[],
    come: readonly HeadlessMirrorAddress[],
  ): void {
    const key = JSON.stringify(ports);
    const before = this.#subsets.get(key) ?? { ports, trees: { IPv4: EMPTY, IPv6: EMPTY } };
    const treeOfFamily = (family: Family): Tree => {
      const among = (all: readonly HeadlessMirrorAddress[]) =>
        all.filter(({ ip }) => isIPv6(ip) === (family === 'IPv6'));
      return changedTree(before.trees[family], among(gone), among(come), ordered);
    };
    const trees = { IPv4: treeOfFamily('IPv4'), IPv6: treeOfFamily('IPv6') };
    if (filled(trees.IPv4).length + filled(trees.IPv6).length === 0) this.#subsets.delete(key);
    else this.#subsets.set(key, { ports: before.ports, trees });
  }
}

const filled = (tree: Tree): readonly SlicePart<HeadlessMirrorAddress>[] =>
  partsOf(tree).filter(({ addresses }) => addresses.length > 0);

/** Returns the first hostname. */
const firstOf = (parts: readonly SlicePart<HeadlessMirrorAddress>[]): string | undefined =>
  parts.map(({ addresses: [first] }) => first?.hostname ?? '').sort()[0];
