/**
 * Who gets a local name when several target objects want it (rule A7). Claims are data about the state of both
 * clusters, of every Link, so the outcome is a function of that state and never of the order of arrival.
 *
 * A claimant lists the names it would take, best first. Among the claimants of one name a first choice beats a
 * fallback. Between two Links the older Link wins, then the first by name: the ages that targets report do not count
 * there. Within one Link the older target Service wins, then the first by key. A Service has one choice; an endpoint
 * mirror falls back to `<hostname>-<service>-<cluster>` and, when that is too long or taken, to a hashed form.
 */
import { createHash } from 'node:crypto';
import { isServiceName, LABEL_MAX_LENGTH } from '../../crds/names.ts';
import { mirrorName } from '../../crds/wire.ts';
import { ByHostname, groupsBeside } from './by-hostname.ts';

/** Owner of a claim: a target Service of a target cluster, which is reconciled by one key. */
export interface ClaimOwner {
  readonly cluster: string;
  /** `namespace/name` of the target Service. */
  readonly key: string;
}

/** One target object's wish for names in one source namespace. */
export interface Claim {
  readonly owner: ClaimOwner;
  /** Hostname of the pod that an endpoint mirror stands for; absent for the Service's own mirror. */
  readonly hostname?: string;
  /** Local names, best first; all valid Service names. */
  readonly names: readonly string[];
  /** creationTimestamp of the target Service, RFC 3339. */
  readonly since: string;
  /** Whether Services of ours have all of these names, so that none of them is a mere fallback. @default false */
  readonly isKept?: boolean;
}

/** The name that a claim gets, or the claim that won its last choice. */
export type Resolved = { readonly name: string } | { readonly lostTo: Claim };

/** Reports the local name that a Service's mirror gets, or the endpoint mirror of one of its pods. */
export type NameOf = (hostname?: string) => Resolved | undefined;

/** The names that a Service's mirror and its endpoint mirrors get. */
export interface Names {
  readonly nameOf: NameOf;
  /** Another number if what a pod's name is may have changed although its claim has not. */
  readonly revision: number;
}

/** What decides between the claims of two Links. */
export interface Seniority {
  /** creationTimestamp of the Link, RFC 3339. */
  readonly createdAt: string;
  /** Name of the Link. */
  readonly name: string;
}

/**
 * Returns the names that an endpoint mirror would take, best first; none if no name made from the hostname is valid.
 */
export function endpointMirrorNames(hostname: string, service: string, cluster: string): readonly string[] {
  const long = mirrorName(`${hostname}-${service}`, cluster);
  const digest = createHash('sha256').update(`${hostname}.${service}.${cluster}`).digest('hex').slice(0, 10);
  // No dash is left before the dash that joins the digest.
  const hashed = `${long.slice(0, LABEL_MAX_LENGTH - digest.length - 1).replace(/-+$/, '')}-${digest}`;
  return [mirrorName(hostname, cluster), long, hashed].filter(isServiceName);
}

interface Contender {
  readonly rank: number;
  readonly claim: Claim;
  /** What it comes to if nobody else claims the name. */
  readonly alone: { readonly name: string };
}

/** Those who claim one name. */
type Contenders = ReadonlySet<Contender>;

const NOBODY: Contenders = new Set();

/** What one owner claims. */
interface OfOwner {
  /** Where the names are. */
  readonly namespace: string;
  readonly claims: readonly Claim[];
  readonly pods: ByHostname<Claim>;
  /** Number of times that another claim than those that were entered may have won or lost a name. */
  revision: number;
}

const NO_PODS = ByHostname.none<Claim>();

/** A cluster whose claims count. */
interface Party {
  readonly seniority: Seniority;
  /** Called when this key may have won or lost a name that it claims. */
  readonly notify: (key: string) => void;
  /** Its claims by the key of their owner. */
  readonly claims: Map<string, OfOwner>;
}

/** The claims on local names of all clusters that are served. */
export class NameClaims {
  readonly #parties = new Map<string, Party>();
  /** By namespace and name. */
  readonly #contenders = new Map<string, Map<string, Set<Contender>>>();

  /**
   * Lets a cluster take part.
   * @param notify called with each key of this cluster that may have won or lost a name to another key, and with the
   *   key that has won a name which an object took or gave up
   * @throws Error if the cluster already takes part: it has one session (rule E9)
   */
  join(cluster: string, seniority: Seniority, notify: (key: string) => void): void {
    if (this.#parties.has(cluster)) throw new Error(`cluster ${cluster} already claims names`);
    this.#parties.set(cluster, { seniority, notify, claims: new Map() });
  }

  /** Withdraws all claims of a cluster. */
  leave(cluster: string): void {
    for (const key of [...this.keysOf(cluster)]) this.withdraw({ cluster, key });
    this.#parties.delete(cluster);
  }

  /** Returns the keys of a cluster that claim names. */
  keysOf(cluster: string): Iterable<string> {
    return this.#parties.get(cluster)?.claims.keys() ?? [];
  }

  /** Reports whether `owner` claims any name. */
  has({ cluster, key }: ClaimOwner): boolean {
    return this.#parties.get(cluster)?.claims.has(key) === true;
  }

  /** Withdraws the claims of `owner`. */
  withdraw(owner: ClaimOwner): void {
    const before = this.#parties.get(owner.cluster)?.claims.get(owner.key);
    if (before !== undefined) this.replace(owner, before.namespace, []);
  }

  /**
   * Replaces the claims of `owner`, and notifies the others that claim one of the names concerned.
   * @param pods those of pods, of which only the groups are looked at in which something has changed. @default - none
   */
  replace(owner: ClaimOwner, namespace: string, claims: readonly Claim[], pods = NO_PODS): void {
    const party = this.#parties.get(owner.cluster);
    if (party === undefined) return;
    const before = party.claims.get(owner.key);
    const was = before ?? { namespace, claims: [], pods: NO_PODS, revision: 0 };
    const isMoved = was.namespace !== namespace;
    const touched = new Set<Contenders>();
    const entered = new Set<Claim>();
    const remove = (claim: Claim): void => this.#remove(was.namespace, claim, touched);
    const enter = (claim: Claim): void => {
      entered.add(claim);
      this.#enter(namespace, claim, touched);
    };
    without(was.claims, isMoved ? [] : claims).forEach(remove);
    withoutPods(was.pods, isMoved ? NO_PODS : pods).forEach(remove);
    if (claims.length + pods.size === 0) party.claims.delete(owner.key);
    else party.claims.set(owner.key, { namespace, claims, pods, revision: was.revision });
    without(claims, isMoved ? [] : was.claims).forEach(enter);
    withoutPods(pods, isMoved ? NO_PODS : was.pods).forEach(enter);
    this.#revise(touched, entered);
    this.#notify(owner, touched);
  }

  /**
   * Notifies the claimant that has won a name which an object took or gave up (rule A7). The others that claim the name
   * wait for the winner, not for the object.
   * @param by owner of the object, who is not notified. @default - none
   */
  passedOn(namespace: string, name: string, by?: ClaimOwner): void {
    const contenders = this.#contenders.get(namespace)?.get(name) ?? NOBODY;
    for (const any of contenders) {
      const { owner } = this.#winner(contenders, any).claim;
      if (by === undefined || !isSameOwner(owner, by)) this.#parties.get(owner.cluster)?.notify(owner.key);
      return;
    }
  }

  /**
   * Returns a number that is another if what an owner's claims come to may be, without any of them having been
   * replaced: somebody else has claimed one of the names, or claims it no more.
   */
  revisionOf({ cluster, key }: ClaimOwner): number {
    return this.#parties.get(cluster)?.claims.get(key)?.revision ?? 0;
  }

  /** Returns the name that a claim gets; undefined if it has no valid name. */
  resolve(namespace: string, claim: Claim): Resolved | undefined {
    const places = this.#contenders.get(namespace);
    const [first = ''] = claim.names;
    const alone = onlyOne(places?.get(first));
    if (alone !== undefined && isSame(alone.claim, claim)) return alone.alone;
    let lostTo: Claim | undefined;
    for (const [rank, name] of claim.names.entries()) {
      const winner = this.#winner(places?.get(name) ?? NOBODY, { rank: rankIn(claim, rank), claim, alone: { name } });
      if (winner.claim === claim) return winner.alone;
      lostTo = winner.claim;
    }
    return lostTo && { lostTo };
  }

  #winner(contenders: Contenders, own: Contender): Contender {
    let best = own;
    for (const contender of contenders) {
      if (!isSame(contender.claim, own.claim) && this.#beats(contender, best)) best = contender;
    }
    return best;
  }

  #beats(a: Contender, b: Contender): boolean {
    if ((a.rank === 0) !== (b.rank === 0)) return a.rank === 0;
    const [{ owner: ofA }, { owner: ofB }] = [a.claim, b.claim];
    if (ofA.cluster !== ofB.cluster) {
      const [first, second] = [this.#parties.get(ofA.cluster), this.#parties.get(ofB.cluster)];
      return compare(seniorityOf(first), seniorityOf(second)) < 0;
    }
    return compare(ageOf(a.claim), ageOf(b.claim)) < 0;
  }

  #enter(namespace: string, claim: Claim, touched: Set<Contenders>): void {
    const places = this.#contenders.get(namespace) ?? new Map<string, Set<Contender>>();
    this.#contenders.set(namespace, places);
    for (const [rank, name] of claim.names.entries()) {
      const contenders = places.get(name) ?? new Set<Contender>();
      contenders.add({ rank: rankIn(claim, rank), claim, alone: { name } });
      places.set(name, contenders);
      touched.add(contenders);
    }
  }

  #remove(namespace: string, claim: Claim, touched: Set<Contenders>): void {
    const places = this.#contenders.get(namespace);
    for (const name of claim.names) {
      const contenders = places?.get(name);
      if (contenders === undefined) continue;
      for (const contender of contenders) if (isSame(contender.claim, claim)) contenders.delete(contender);
      touched.add(contenders);
      if (contenders.size === 0) places?.delete(name);
    }
    if (places?.size === 0) this.#contenders.delete(namespace);
  }

  #revise(touched: Iterable<Contenders>, entered: ReadonlySet<Claim>): void {
    for (const contenders of touched) {
      // Nobody else wants the name, nor did anybody.
      const only = onlyOne(contenders);
      if (only !== undefined && entered.has(only.claim)) continue;
      for (const { claim } of contenders) {
        const of = this.#parties.get(claim.owner.cluster)?.claims.get(claim.owner.key);
        if (of !== undefined) of.revision += 1;
      }
    }
  }

  #notify(owner: ClaimOwner, touched: Iterable<Contenders>): void {
    const affected = new Map<string, Set<string>>();
    for (const contenders of touched) {
      for (const { claim } of contenders) {
        if (isSameOwner(claim.owner, owner)) continue;
        const keys = affected.get(claim.owner.cluster) ?? new Set<string>();
        affected.set(claim.owner.cluster, keys.add(claim.owner.key));
      }
    }
    for (const [cluster, keys] of affected) {
      for (const key of keys) this.#parties.get(cluster)?.notify(key);
    }
  }
}

/** Returns the rank of a name among those of a claim: a name that a Service of ours has is no mere fallback. */
const rankIn = ({ isKept = false }: Claim, index: number): number => (isKept ? 0 : index);

const isSameOwner = (a: ClaimOwner, b: ClaimOwner): boolean => a.cluster === b.cluster && a.key === b.key;

const isSame = (a: Claim, b: Claim): boolean => isSameOwner(a.owner, b.owner) && a.hostname === b.hostname;

const seniorityOf = (party: Party | undefined): readonly string[] => [
  party?.seniority.createdAt ?? '',
  party?.seniority.name ?? '',
];

const ageOf = ({ since, owner, hostname = '' }: Claim): readonly string[] => [since, owner.key, hostname];

/** Orders lists of equal length by their first difference. */
function compare(a: readonly string[], b: readonly string[]): number {
  for (const [index, text] of a.entries()) {
    const other = b[index] ?? '';
    if (text !== other) return text < other ? -1 : 1;
  }
  return 0;
}

/** Returns who claims a name, if it is one alone. */
function onlyOne(contenders: Contenders | undefined): Contender | undefined {
  if (contenders?.size !== 1) return undefined;
  const [only] = contenders;
  return only;
}

/** Returns those of the claims that are not among others. */
function without(claims: readonly Claim[], others: readonly Claim[]): readonly Claim[] {
  if (claims.length === 0 || others.length === 0) return claims;
  const byHostname = new Map(others.map((claim) => [claim.hostname, claim]));
  return claims.filter((claim) => {
    const other = byHostname.get(claim.hostname);
    return other !== claim && (other === undefined || !isAlike(claim, other));
  });
}

/** Returns those of the claims of pods that are not among others. */
const withoutPods = (pods: ByHostname<Claim>, others: ByHostname<Claim>): readonly Claim[] =>
  [...groupsBeside(pods, others)].flatMap((group) =>
    [...group.values()].filter((claim) => {
      const other = others.get(claim.hostname ?? '');
      return other !== claim && (other === undefined || !isAlike(claim, other));
    }),
  );

const isAlike = (a: Claim, b: Claim): boolean =>
  isSame(a, b) && a.since === b.since && a.isKept === b.isKept && a.names.join() === b.names.join();
