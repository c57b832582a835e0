/** The actions that lead from what is ours to what should be. Pure: no client, no clock. */
import { type EndpointSlice, keyOf, type KubeObject, type Resource, type Service } from '../kube/objects.ts';
import { isEquivalent, type Comparison } from './compare.ts';

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

/**
 * The actions that lead from `owned` to `desired`; none if they are equivalent. Creations and changes come first, so
 * that an object that replaces another under a new name exists before the old one is deleted. Of two desired objects of
 * one name only the first counts: the API server would refuse to create the other for ever.
 */
export function plan(desired: readonly Desired[], owned: readonly Owned[]): readonly Action[] {
  const { rest, others } = unsettled(desired, owned);
  if (rest.length === 0 && others.length === 0) return [];
  const live = new Map(others.map(({ of, object }) => [idOf(of, object), object]));
  const wanted = new Set<string>();
  const writes: Action[] = [];
  let there: ReadonlySet<string> | undefined;
  for (const each of rest) {
    const id = idOf(each.of, each.object);
    if (wanted.has(id)) continue;
    wanted.add(id);
    const current = live.get(id);
    if (current === undefined) {
      there ??= new Set(owned.map(({ of, object }) => idOf(of, object)));
      if (!there.has(id)) writes.push({ op: 'create', ...each });
    } else if (isImmutablyDifferent(each, current)) writes.push({ op: 'replace', live: current, ...each });
    else if (!isSettled(each, current)) {
      writes.push({ op: 'update', live: current, ...each });
    }
  }
  const deletions = others
    .filter(({ of, object }) => !wanted.has(idOf(of, object)))
    .map(({ of, object }): Action => ({ op: 'delete', of, object }));
  return [...writes, ...deletions];
}

/** What has to be looked at: mostly all but a few of thousands of pods are as they were found to be before. */
function unsettled(desired: readonly Desired[], owned: readonly Owned[]) {
  const there = new Set(owned.map(({ object }) => object));
  const rest = desired.filter(({ object }) => {
    const live = settled.get(object);
    return live === undefined || !there.delete(live);
  });
  return { rest, others: there.size === 0 ? [] : owned.filter(({ object }) => there.has(object)) };
}

/** The live object that each desired one was last found equivalent to. */
const settled = new WeakMap<KubeObject, KubeObject>();

/**
 * Whether there is nothing to write. What is desired again and again, since it is not rendered anew, is compared once.
 */
function isSettled({ of, object, comparison }: Desired, live: KubeObject): boolean {
  if (settled.get(object) === live) return true;
  const isSame = isEquivalent(of, object, live, comparison);
  if (isSame) settled.set(object, live);
  return isSame;
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
