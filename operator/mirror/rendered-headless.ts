/**
 * The headless mirror of one Service as it was last rendered. Of slices, those are rendered that have changed: a Service may
 * have thousands of pods, and an event of one of them changes one slice (rule E10).
 */
import {
  type ApiJson,
  HeadlessMirror,
  type HeadlessMirrorAddress,
  type HeadlessMirrorEndpoints,
  headlessMirrorParts,
  type HeadlessMirrorProps,
  type HeadlessMirrorSubset,
  render,
} from '../../constructs/rendered/index.ts';

/** Props that all pods of a Service have in common. */
export type SharedProps = Omit<HeadlessMirrorProps, 'endpoints'>;

/** Objects, and the props that they were rendered from, as JSON. */
interface OfProps {
  readonly props: string;
  readonly objects: readonly ApiJson[];
}

/** The part that is the Service alone, or the Service with all its endpoints. */
const WHOLE = '';

export class RenderedHeadless {
  /** By the suffixes of slices. */
  #parts: ReadonlyMap<string, OfProps> = new Map();
  #objects: readonly ApiJson[] = [];
  /** All but the subsets, as JSON. */
  #common = '';
  #subsets: readonly HeadlessMirrorSubset[] = [];
  /** By hostname. */
  #addresses: ReadonlyMap<string, HeadlessMirrorAddress> = new Map();

  /**
   * Returns the objects of the mirror; the same list while nothing of it changes.
   * @throws InvalidPropsError as the construct does
   */
  objects(shared: SharedProps, endpoints: HeadlessMirrorEndpoints | undefined): readonly ApiJson[] {
    const text = JSON.stringify(shared);
    const subsets = this.#known(endpoints?.subsets ?? []);
    const common = `${text} ${JSON.stringify({ ...endpoints, subsets: endpoints && [] })}`;
    if (common === this.#common && areSame(subsets, this.#subsets)) return this.#objects;
    const parts = new Map<string, OfProps>();
    const add = (suffix: string, given: HeadlessMirrorEndpoints | undefined): void => {
      const props = `${text} ${JSON.stringify(given)}`;
      const before = this.#parts.get(suffix);
      parts.set(suffix, before?.props === props ? before : { props, objects: rendered(shared, suffix, given) });
    };
    if (endpoints?.kind === 'slices') {
      add(WHOLE, undefined);
      for (const { suffix, subset } of headlessMirrorParts(subsets)) {
        add(suffix, { ...endpoints, subsets: [subset] });
      }
    } else add(WHOLE, endpoints);
    const objects = [...parts.values()].flatMap((part) => part.objects);
    const isSame = objects.length === this.#objects.length && objects.every((each, at) => each === this.#objects[at]);
    if (!isSame) this.#objects = objects;
    this.#parts = parts;
    this.#common = common;
    this.#subsets = subsets;
    return this.#objects;
  }

  /** Returns subsets with the identical addresses that were given before, so that what was remembered of those still holds. */
  #known(subsets: readonly HeadlessMirrorSubset[]): readonly HeadlessMirrorSubset[] {
    const known = new Map<string, HeadlessMirrorAddress>();
    const knownOf = (given: HeadlessMirrorAddress): HeadlessMirrorAddress => {
      const before = this.#addresses.get(given.hostname);
      const address = before?.ip === given.ip ? before : given;
      known.set(given.hostname, address);
      return address;
    };
    const same = subsets.map(({ addresses, ...subset }) => ({ ...subset, addresses: addresses.map(knownOf) }));
    this.#addresses = known;
    return same;
  }
}

/** Whether two lists hold the very same addresses, and ports of one value. */
const areSame = (a: readonly HeadlessMirrorSubset[], b: readonly HeadlessMirrorSubset[]): boolean =>
  a.length === b.length &&
  a.every(({ addresses, ports }, at) => {
    const other = b[at];
    return (
      addresses.length === other?.addresses.length &&
      addresses.every((address, index) => address === other.addresses[index]) &&
      JSON.stringify(ports) === JSON.stringify(other.ports)
    );
  });

/** Renders one part of the mirror: the Service goes with the whole, and a slice gets its own name. */
function rendered(shared: SharedProps, suffix: string, endpoints: HeadlessMirrorEndpoints | undefined) {
  const objects = render((chart) => new HeadlessMirror(chart, 'rendered', { ...shared, endpoints }));
  if (suffix === WHOLE) return objects;
  const [{ metadata: { name } } = { metadata: { name: '' } }, ...slices] = objects;
  return slices.map((slice) => ({ ...slice, metadata: { ...slice.metadata, name: `${name}-${suffix}` } }));
}
