/**
 * Spreads the addresses of a Service over EndpointSlices, stably (rule D10). Addresses are divided by the bits of a hash
 * of each, as often as it takes for every part to fit into a slice. So which part an address is in depends on it and on
 * how crowded its part is: a pod that comes or goes changes one slice, and divides or joins two at most.
 *
 * The name of a part changes when it is divided, so the slices of its halves are created before the old one is deleted,
 * and no address is missing in between.
 */
import { hash } from 'node:crypto';

/** Most endpoints in one slice: what Kubernetes' own controllers put into one. The API server accepts 1000. */
export const MAX_ENDPOINTS = 100;

/** What is spread: an address behind a Service. */
interface Address {
  readonly ip: string;
  readonly hostname?: string | undefined;
}

/** The addresses of one slice. */
export interface SlicePart<A> {
  /** Bits of the hash that its addresses share; empty if all of them fit into one slice. */
  readonly bits: string;
  /** In the order that they were given in. */
  readonly addresses: readonly A[];
}

/** Addresses as they are divided: those of one slice, or two halves. */
export type SliceTree<A> = SlicePart<A> | Fork<A>;

interface Fork<A> {
  readonly bits: string;
  /** Number of addresses. */
  readonly size: number;
  readonly halves: readonly SliceTree<A>[];
}

/** @param addresses each of them once */
export const fillSlices = <A extends Address>(addresses: readonly A[]): readonly SlicePart<A>[] =>
  partsOf(treeOf(addresses));

/** Divides addresses. @param addresses each of them once */
export const treeOf = <A extends Address>(addresses: readonly A[], bits = ''): SliceTree<A> =>
  addresses.length <= MAX_ENDPOINTS
    ? { bits, addresses }
    : divided(
        addresses.map((address) => ({ address, hash: hashOf(address) })),
        bits,
      );

interface Hashed<A> {
  readonly address: A;
  readonly hash: Buffer;
}

function divided<A>(hashed: readonly Hashed<A>[], bits: string): SliceTree<A> {
  if (hashed.length <= MAX_ENDPOINTS) return { bits, addresses: hashed.map(({ address }) => address) };
  const half = (bit: number): SliceTree<A> =>
    divided(
      hashed.filter(({ hash: of }) => bitAt(of, bits.length) === bit),
      `${bits}${bit}`,
    );
  return { bits, size: hashed.length, halves: [half(0), half(1)] };
}

/**
 * Returns what a tree is once some addresses have gone and others come: what its addresses would be divided into. Parts in
 * which nothing changes are the same objects.
 * @param gone some of those that it has, by their values
 * @param sort puts addresses into their order
 */
export function changedTree<A extends Address>(
  tree: SliceTree<A>,
  gone: readonly A[],
  come: readonly A[],
  sort: (addresses: readonly A[]) => readonly A[],
): SliceTree<A> {
  if (gone.length + come.length === 0) return tree;
  if ('addresses' in tree) {
    const stay = tree.addresses.filter((each) => !gone.some((other) => isSame(each, other)));
    return treeOf(sort([...stay, ...come]), tree.bits);
  }
  const { bits } = tree;
  const among = (all: readonly A[], bit: number): readonly A[] => all.filter((each) => isIn(each, bits, bit));
  const halves = tree.halves.map((half, bit) => changedTree(half, among(gone, bit), among(come, bit), sort));
  const size = halves.reduce((sum, half) => sum + sizeOf(half), 0);
  if (size > MAX_ENDPOINTS) return { bits, size, halves };
  return { bits, addresses: sort(halves.flatMap(partsOf).flatMap(({ addresses }) => addresses)) };
}

/** Returns the slices that a tree comes to; a single one, if it is empty. */
export function partsOf<A>(tree: SliceTree<A>): readonly SlicePart<A>[] {
  if ('halves' in tree) return tree.halves.flatMap(partsOf);
  return tree.addresses.length === 0 && tree.bits !== '' ? [] : [tree];
}

const sizeOf = <A>(tree: SliceTree<A>): number => ('halves' in tree ? tree.size : tree.addresses.length);

const isSame = (a: Address, b: Address): boolean => a.hostname === b.hostname && a.ip === b.ip;

/** Whether an address is in one of the halves of those whose hashes begin with the same bits. */
const isIn = (address: Address, bits: string, bit: number): boolean => bitAt(hashOf(address), bits.length) === bit;

const bitAt = (hash: Buffer, index: number): number => ((hash[index >> 3] ?? 0) >> (7 - (index & 7))) & 1;

const hashOf = ({ hostname = '', ip }: Address): Buffer => hash('sha256', `${hostname} ${ip}`, 'buffer');
