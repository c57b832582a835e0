/**
 * The headless mirror of one Service as it was last rendered. Of slices, those are rendered that have changed: a
 * Service may have thousands of pods, and an event of one of them changes one slice (rule E10).
 */
import {
  HeadlessMirror,
  type HeadlessMirrorAddress,
  type HeadlessMirrorEndpoints,
  type HeadlessMirrorPart,
  type HeadlessMirrorProps,
  type HeadlessMirrorSubset,
  HeadlessSlices,
  render,
} from '../../constructs/rendered/index.ts';
import { desiredOf, type Manifests, merged } from './manifests.ts';
import { keyOfPorts } from './target-endpoints.ts';

/** Props that all pods of a Service have in common. */
export type SharedProps = Omit<HeadlessMirrorProps, 'endpoints'>;

/** The endpoints of a headless mirror, without the pods. */
export type CommonEndpoints = Omit<HeadlessMirrorEndpoints, 'subsets'>;

/** What is listed of the pods, group by group; that of a group in which nothing changes is the same object. */
export type ListedPods = ReadonlyMap<number, readonly HeadlessMirrorSubset[]>;

const NOBODY: ListedPods = new Map();

/** The name of the part that is the Service alone, or the Service with all its endpoints. */
const WHOLE = '';

/** What was rendered of one slice. */
interface OfSlice {
  readonly addresses: readonly HeadlessMirrorAddress[];
  readonly ports: string;
  readonly desired: Manifests;
}

export class RenderedHeadless {
  readonly #isTurnOver: () => boolean;
  /** All but the pods, as JSON. */
  #common = '';
  /** The pods of {@link #desired}; undefined while it has to be rendered. */
  #listed: ListedPods | undefined;
  #desired = desiredOf([]);
  readonly #slices = new HeadlessSlices();
  /** What {@link #slices} holds. */
  #sliced = NOBODY;
  /** By the suffixes of slices. */
  #rendered: ReadonlyMap<string, OfSlice> = new Map();

  /** @param isTurnOver reports whether the rest is left for the next turn */
  constructor(isTurnOver: () => boolean) {
    this.#isTurnOver = isTurnOver;
  }

  /**
   * Returns what is desired of the mirror, in which is the same what does not change; undefined if some of it is left for
   * the next turn.
   * @param endpoints undefined if it gets none
   * @throws InvalidPropsError as the construct does
   */
  desired(shared: SharedProps, endpoints: CommonEndpoints | undefined, listed = NOBODY): Manifests | undefined {
    const common = JSON.stringify([shared, endpoints]);
    if (common !== this.#common) {
      this.#common = common;
      this.#rendered = new Map();
    } else if (this.#listed !== undefined && areSame(listed, this.#listed)) return this.#desired;
    this.#listed = undefined;
    const desired =
      endpoints?.kind === 'slices'
        ? this.#inSlices(shared, endpoints, listed)
        : rendered(shared, WHOLE, endpoints && { ...endpoints, subsets: mergedSubsets(listed.values()) });
    if (desired === undefined) return undefined;
    this.#desired = desired;
    this.#listed = listed;
    return desired;
  }

  #inSlices(shared: SharedProps, endpoints: CommonEndpoints, listed: ListedPods): Manifests | undefined {
    this.#slices.change(beside(this.#sliced, listed), beside(listed, this.#sliced));
    this.#sliced = listed;
    const slices = new Map<string, OfSlice>();
    const whole = this.#rendered.get(WHOLE);
    slices.set(WHOLE, whole ?? { addresses: [], ports: '', desired: rendered(shared, WHOLE, undefined) });
    let isUnfinished = false;
    let anew = 0;
    for (const part of this.#slices.parts()) {
      const before = this.#rendered.get(part.suffix);
      const isSame = before !== undefined && isOf(before, part);
      isUnfinished ||= !isSame && anew > 0 && this.#isTurnOver();
      if (isSame || isUnfinished) {
        if (before !== undefined) slices.set(part.suffix, before);
        continue;
      }
      slices.set(part.suffix, slice(shared, endpoints, part));
      anew += 1;
    }
    this.#rendered = slices;
    return isUnfinished ? undefined : merged([...slices.values()].map(({ desired }) => desired));
  }
}

/** Whether a part has been rendered as it is. */
const isOf = ({ addresses, ports }: OfSlice, { subset }: HeadlessMirrorPart): boolean =>
  ports === JSON.stringify(subset.ports) && areSameAddresses(addresses, subset.addresses);

const slice = (shared: SharedProps, endpoints: CommonEndpoints, { suffix, subset }: HeadlessMirrorPart): OfSlice => ({
  addresses: subset.addresses,
  ports: JSON.stringify(subset.ports),
  desired: rendered(shared, suffix, { ...endpoints, subsets: [subset] }),
});

/** Whether two hold the very same groups. */
const areSame = (a: ListedPods, b: ListedPods): boolean =>
  a === b || (a.size === b.size && [...a].every(([at, group]) => b.get(at) === group));

const areSameAddresses = (a: readonly HeadlessMirrorAddress[], b: readonly HeadlessMirrorAddress[]): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** Returns what one lists that another does not, in the groups that they do not share. */
function beside(one: ListedPods, other: ListedPods): readonly HeadlessMirrorSubset[] {
  return [...one].flatMap(([at, group]) => {
    const others = other.get(at);
    if (others === group) return [];
    const known = new Set((others ?? []).flatMap(({ ports, addresses }) => addresses.map((each) => idOf(ports, each))));
    return group.map(({ ports, addresses }) => ({
      ports,
      addresses: addresses.filter((each) => !known.has(idOf(ports, each))),
    }));
  });
}

const idOf = (ports: HeadlessMirrorSubset['ports'], { hostname, ip }: HeadlessMirrorAddress): string =>
  `${hostname} ${ip} ${keyOfPorts(ports)}`;

/** Returns the subsets of all groups, one for each set of ports. */
const mergedSubsets = (groups: Iterable<readonly HeadlessMirrorSubset[]>): readonly HeadlessMirrorSubset[] =>
  [...Map.groupBy([...groups].flat(), ({ ports }) => keyOfPorts(ports)).values()].map((same) => ({
    ports: same[0]?.ports ?? [],
    addresses: same.flatMap(({ addresses }) => addresses),
  }));

/** Renders one part of the mirror: the Service goes with the whole, and a slice gets its own name. */
function rendered(shared: SharedProps, suffix: string, endpoints: HeadlessMirrorEndpoints | undefined): Manifests {
  const objects = render((chart) => new HeadlessMirror(chart, 'rendered', { ...shared, endpoints }));
  if (suffix === WHOLE) return desiredOf(objects);
  const [{ metadata: { name } } = { metadata: { name: '' } }, ...slices] = objects;
  return desiredOf(slices.map((slice) => ({ ...slice, metadata: { ...slice.metadata, name: `${name}-${suffix}` } })));
}
