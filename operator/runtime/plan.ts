/** The actions that lead from what is ours to what should be. Pure: no client, no clock. */
import { type EndpointSlice, keyOf, type KubeObject, type Resource, type Service } from '../kube/objects.ts';
import { changesOf } from './changes.ts';
import { isEquivalent, type Comparison } from './compare.ts';
import { each, type InParts } from './turns.ts';

/** An object as it should be. */
export interface Desired {
  readonly of: Resource;
  readonly object: KubeObject;
  readonly comparison?: Comparison;
  /** For a Service to be created: Endpoints of its name exist and are ours, so no others need to be looked for. */
  readonly endpointsProven?: true;
  /** It changes in one write: nobody may see it with a part of what goes, as another manager owns that (A8). */
  readonly atOnce?: true;
}

/** An object as it is; the caller has proven that it is ours. */
export interface Owned {
  readonly of: Resource;
  readonly object: KubeObject;
}

/** All objects of one kind as they are; the caller has proven that they are ours. */
export interface OwnedKind {
  readonly of: Resource;
  readonly objects: readonly KubeObject[];
}

/** Slices that others gave a Service of ours, which has no selector (rule C3). */
export interface ForeignSlices {
  readonly service: Service;
  readonly slices: readonly EndpointSlice[];
  /** Whether there may be unobserved v1 Endpoints that Kubernetes made of a selector, and mirrors into slices again. */
  readonly mayHaveEndpoints?: true;
}

export type Action =
  | ({ readonly op: 'create' } & Desired)
  | ({ readonly op: 'update'; readonly live: KubeObject } & Desired)
  /** An object that cannot be changed in place: it is deleted, then created. */
  | ({ readonly op: 'replace'; readonly live: KubeObject } & Desired)
  | ({ readonly op: 'delete' } & Owned)
  /** Slices that are not ours, by the Service that they are of: `object`. */
  | ({ readonly op: 'clear'; readonly of: Resource; readonly object: Service } & Omit<ForeignSlices, 'service'>);

/** Name of a resource, which no other has: Linkerd and the Gateway API both have HTTPRoutes. */
export const nameOf = ({ plural, group }: Resource): string => `${plural}.${group}`;

/** Identifies an object among those of all kinds. */
export const idOf = (of: Resource, object: KubeObject): string => `${nameOf(of)}/${keyOf(object)}`;

interface Pair {
  readonly desired: Desired;
  readonly live: Owned;
}

/**
 * What the plans of one step of one key have found to be as it should be. What has not changed since, on either side, is
 * not compared again: an event of one pod costs what one pod costs, however many there are (rule E10).
 */
export class Settled {
  /** What the last plan was made of. */
  #desired: readonly Desired[] = [];
  #owned: ReadonlyMap<Resource, readonly KubeObject[]> = new Map();
  /** By id: what is desired, and the object that is so. */
  readonly #pairs = new Map<string, Pair>();
  /** What is in no pair. */
  readonly #looseDesired = new Set<Desired>();
  readonly #looseOwned = new Map<KubeObject, Owned>();
  /** Whether two of those that are desired have one name. */
  #hasTwins = false;

  /** Takes note of what is desired and owned now. */
  *observe(desired: readonly Desired[], owned: readonly OwnedKind[]): InParts<void> {
    const { gone, come } = changesOf(this.#desired, desired);
    this.#desired = desired;
    yield* each(gone, (one) => this.#undesired(one));
    yield* each(come, (one) => this.#looseDesired.add(one));
    const before = this.#owned;
    this.#owned = new Map(owned.map(({ of, objects }) => [of, objects]));
    for (const of of new Set([...before.keys(), ...this.#owned.keys()])) {
      const changes = changesOf(before.get(of) ?? [], this.#owned.get(of) ?? []);
      yield* each(changes.gone, (object) => this.#lost({ of, object }));
      yield* each(changes.come, (object) => this.#looseOwned.set(object, { of, object }));
    }
    const ids = new Set<string>();
    this.#hasTwins = false;
    yield* each([...this.#looseDesired], (one) => {
      const id = idOf(one.of, one.object);
      this.#hasTwins ||= ids.has(id) || this.#pairs.has(id);
      ids.add(id);
      this.#part(id);
    });
  }

  /** What is desired and in no pair. Of two of one name the first counts, whichever was there before. */
  get desired(): readonly Desired[] {
    return this.#hasTwins ? this.#desired.filter((one) => this.#looseDesired.has(one)) : [...this.#looseDesired];
  }

  /** What is owned and in no pair. */
  get owned(): readonly Owned[] {
    return [...this.#looseOwned.values()];
  }

  /** Remembers that an object is as it should be. */
  settle(id: string, desired: Desired, live: Owned): void {
    this.#pairs.set(id, { desired, live });
    this.#looseDesired.delete(desired);
    this.#looseOwned.delete(live.object);
  }

  #undesired(one: Desired): void {
    const id = idOf(one.of, one.object);
    if (this.#pairs.get(id)?.desired === one) this.#part(id);
    this.#looseDesired.delete(one);
  }

  #lost(one: Owned): void {
    const id = idOf(one.of, one.object);
    if (this.#pairs.get(id)?.live.object === one.object) this.#part(id);
    this.#looseOwned.delete(one.object);
  }

  #part(id: string): void {
    const pair = this.#pairs.get(id);
    if (pair === undefined) return;
    this.#pairs.delete(id);
    this.#looseDesired.add(pair.desired);
    this.#looseOwned.set(pair.live.object, pair.live);
  }
}

/**
 * The actions that lead from `owned` to `desired`; none if they are equivalent. Creations and changes come first, so
 * that an object that replaces another under a new name exists before the old one is deleted. Of two desired objects of
 * one name only the first counts: the API server would refuse to create the other for ever. That of thousands of pods
 * takes long, and is made in parts (rule E10).
 * @param settled what the last plan of the same objects has found. @default - nothing
 */
export function* plan(
  desired: readonly Desired[],
  owned: readonly OwnedKind[],
  settled = new Settled(),
): InParts<readonly Action[]> {
  yield* settled.observe(desired, owned);
  const [rest, others] = [settled.desired, settled.owned];
  const live = new Map<string, Owned>();
  yield* each(others, (one) => live.set(idOf(one.of, one.object), one));
  const wanted = new Set<string>();
  const writes: Action[] = [];
  yield* each(rest, (one) => {
    const id = idOf(one.of, one.object);
    if (wanted.has(id)) return;
    wanted.add(id);
    const current = live.get(id);
    if (current === undefined) {
      writes.push({ op: 'create', ...one });
      return;
    }
    const change = changeOf(one, current.object);
    if (change === undefined) settled.settle(id, one, current);
    else writes.push(change);
  });
  const deletions: Action[] = [];
  yield* each(others, ({ of, object }) => {
    if (!wanted.has(idOf(of, object))) deletions.push({ op: 'delete', of, object });
  });
  return [...writes, ...deletions];
}

/** Returns the write that makes an object as it should be; undefined if it is. */
function changeOf(one: Desired, live: KubeObject): Action | undefined {
  if (isImmutablyDifferent(one, live)) return { op: 'replace', live, ...one };
  return isEquivalent(one.of, one.object, live, one.comparison) ? undefined : { op: 'update', live, ...one };
}

/** Whether a field differs that cannot be changed: whether a Service is headless, or a slice's address type. */
function isImmutablyDifferent({ of, object }: Desired, live: KubeObject): boolean {
  const headless = (service: KubeObject & { readonly spec?: { readonly clusterIP?: string } }): boolean =>
    service.spec?.clusterIP === 'None';
  const family = (slice: KubeObject & { readonly addressType?: string }): unknown => slice.addressType;
  if (of.kind === 'Service') return headless(object) !== headless(live);
  if (of.kind === 'EndpointSlice') return family(object) !== family(live);
  return false;
}
