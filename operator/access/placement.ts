/**
 * Which route has which host names (rule M4): each set of clients has routes of at most 16. A host name stays where it
 * is. One that comes to another set is in both routes until the new one is in effect, and goes only then. Pure.
 */
import { MAX_HOSTS } from '../../constructs/rendered/index.ts';
import type { Export, Identities } from './exports.ts';
import { type AccessRoute, isAccepted, placeOf, routeName } from './objects.ts';

/** A route, and the host names that it is to have; without one it is to go. */
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

/** Reports what is authorized by what there is. */
export interface Effect {
  /** Whether the identities of a set are known to Linkerd. */
  hasClients(set: string): boolean;
  /** Whether a route of that name lets in the clients of a set. */
  isAuthorized(set: string, name: string): boolean;
}

export interface Assignment {
  readonly placements: readonly Placement[];
  /** Keys of the exports whose host names are all in effect where they are to be. */
  readonly placed: ReadonlySet<string>;
  /** Whether routes have all host names that they are to have, and no others. */
  readonly isSettled: boolean;
}

/** A route as it is filled. */
interface Slot {
  readonly set: string;
  readonly name: string;
  readonly index: number;
  readonly hosts: Set<string>;
  /** The host names that it has, whoever is to have them. */
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

/** The routes there are, in the order of their numbers. One whose name is of another make gets no host. */
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

/** The host names that a route which is in effect has for those who may. */
function settledHosts(wanted: ReadonlyMap<string, string>, slots: readonly Slot[]): ReadonlySet<string> {
  const settled = new Set<string>();
  for (const { set, index, live, isInEffect } of slots) {
    if (!isInEffect || index < 0) continue;
    for (const host of live) if (wanted.get(host) === set) settled.add(host);
  }
  return settled;
}

/**
 * Leaves host names where they are, and where they were until they are in effect elsewhere. Returns those that need no
 * place.
 */
function keepHosts(
  wanted: ReadonlyMap<string, string>,
  slots: readonly Slot[],
  settled: ReadonlySet<string>,
): ReadonlySet<string> {
  const housed = new Set<string>();
  // Of two routes of one set that have a host, the one that is in effect keeps it.
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

/** Gives host names a place: in routes of the set with room, then in new ones. */
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
