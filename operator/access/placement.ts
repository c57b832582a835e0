/**
 * Decides which route has which host names (rule M4). Each set of clients has routes with at most 16 host names each. A
 * host name stays in its route. A host name that moves to another set is in both routes until the new route is in
 * effect, and leaves the old route only then. Pure.
 */
import { MAX_HOSTS } from '../../constructs/rendered/index.ts';
import type { Export, Identities } from './exports.ts';
import { type AccessRoute, isAccepted, placeOf, routeName } from './objects.ts';

/** A route, and the host names that it is to have. A route without host names is to be deleted. */
export interface Placement {
  readonly set: string;
  readonly name: string;
  readonly hosts: readonly string[];
}

/** The exports of one set of clients. */
export interface Group {
  readonly identities: Identities;
  readonly exports: readonly Export[];
}

/** Reports which clients the existing objects authorize. */
export interface Effect {
  /** Reports whether the MeshTLSAuthentication of a set exists. */
  hasClients(set: string): boolean;
  /** Reports whether a policy authorizes the clients of a set for the route of this name. */
  isAuthorized(set: string, name: string): boolean;
}

export interface Assignment {
  readonly placements: readonly Placement[];
  /** Keys of the exports whose host names are all in effect, in routes of the right set. */
  readonly placed: ReadonlySet<string>;
  /** Whether all host names are in effect in routes of the right set, and no route has other host names. */
  readonly isSettled: boolean;
}

/** A route that is being filled with host names. */
interface Slot {
  readonly set: string;
  readonly name: string;
  readonly index: number;
  readonly hosts: Set<string>;
  /** The host names that the existing route has, whether or not it is to keep them. */
  readonly live: ReadonlySet<string>;
  readonly isInEffect: boolean;
}

/** Assigns the host names of all exports to routes. */
export function assignHosts(
  groups: ReadonlyMap<string, Group>,
  routes: readonly AccessRoute[],
  effect: Effect,
): Assignment {
  const slots = slotsOf(routes, effect);
  const wanted = new Map<string, string>();
  for (const [set, { exports }] of groups)
    for (const { hosts } of exports) for (const host of hosts) wanted.set(host, set);
  const settled = settledHosts(wanted, slots);
  const homeless = new Map<string, string[]>([...groups.keys()].map((set) => [set, []]));
  const housed = keepHosts(wanted, slots, settled);
  for (const [host, set] of wanted) if (!housed.has(host)) homeless.get(set)?.push(host);
  for (const [set, hosts] of homeless) fill(set, hosts, slots);
  const placed = new Set<string>();
  for (const { exports } of groups.values())
    for (const { key, hosts } of exports) if (hosts.every((host) => settled.has(host))) placed.add(key);
  const placements = slots.map(({ set, name, hosts }) => ({ set, name, hosts: [...hosts].sort() }));
  const isStale = slots.some(({ set, live }) => [...live].some((host) => wanted.get(host) !== set));
  return { placements, placed, isSettled: !isStale && [...wanted.keys()].every((host) => settled.has(host)) };
}

/** Returns the existing routes in the order of their numbers. A route whose name has another form gets no host. */
function slotsOf(routes: readonly AccessRoute[], effect: Effect): Slot[] {
  const slots = routes.map((each): Slot => {
    const { name } = each.metadata;
    const { set, index } = placeOf(each) ?? { set: '', index: -1 };
    const isInEffect = isAccepted(each) && effect.isAuthorized(set, name);
    return {
      set,
      name,
      index,
      hosts: new Set(),
      live: new Set(each.spec?.hostnames),
      isInEffect,
    };
  });
  return slots.sort((a, b) => a.index - b.index || (a.name < b.name ? -1 : 1));
}

/** Returns the host names that are in effect in a route of the right set. */
function settledHosts(wanted: ReadonlyMap<string, string>, slots: readonly Slot[]): ReadonlySet<string> {
  const settled = new Set<string>();
  for (const { set, index, live, isInEffect } of slots) {
    if (!isInEffect || index < 0) continue;
    for (const host of live) if (wanted.get(host) === set) settled.add(host);
  }
  return settled;
}

/**
 * Leaves each host name in its route. A host name that moves to another set also stays in its old route until it is in
 * effect in a new one. Returns the host names that need no new place.
 */
function keepHosts(
  wanted: ReadonlyMap<string, string>,
  slots: readonly Slot[],
  settled: ReadonlySet<string>,
): ReadonlySet<string> {
  const housed = new Set<string>();
  // If two routes of one set have the same host, the route that is in effect keeps the host.
  const preferred = [...slots].sort((a, b) => Number(b.isInEffect) - Number(a.isInEffect) || a.index - b.index);
  for (const { set, index, hosts, live } of preferred) {
    for (const host of live) {
      const isHome = wanted.get(host) === set && index >= 0;
      if (isHome ? !housed.has(host) : wanted.has(host) && !settled.has(host)) hosts.add(host);
      if (isHome) housed.add(host);
    }
  }
  return housed;
}

/** Gives each host name a place: in an existing route of the set that has room, otherwise in a new route. */
function fill(set: string, hosts: readonly string[], slots: Slot[]): void {
  const rest = [...hosts].sort().values();
  const own = slots.filter((slot) => slot.set === set && slot.index >= 0);
  const used = new Set(own.map(({ index }) => index));
  let index = 0;
  let at = 0;
  for (const host of rest) {
    while (at < own.length && isFull(own[at])) at += 1;
    const slot = own[at] ?? newSlot();
    slot.hosts.add(host);
  }

  function newSlot(): Slot {
    while (used.has(index)) index += 1;
    used.add(index);
    const slot: Slot = {
      set,
      index,
      name: routeName(set, index),
      hosts: new Set(),
      live: new Set(),
      isInEffect: false,
    };
    own.push(slot);
    slots.push(slot);
    return slot;
  }
}

const isFull = (slot: Slot | undefined): boolean => slot !== undefined && slot.hosts.size >= MAX_HOSTS;
