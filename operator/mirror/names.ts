/**
 * Who gets a local name when several target objects want it (rule A7). Claims are data about both clusters' state, of
 * every Link, so the outcome is a function of what there is, never of what came first to our ears.
 *
 * A claimant lists the names it would take, best first. Of the claimants of one name a first choice beats a fallback,
 * then the older target Service wins, then the one first by identity. A Service has one choice; an endpoint mirror
 * falls back to `<hostname>-<service>-<cluster>` and, when that is too long or taken, to a hashed form of it.
 */
import { createHash } from 'node:crypto';
import { isServiceName, LABEL_MAX_LENGTH } from '../../crds/names.ts';
import { mirrorName } from '../../crds/wire.ts';

/** One target object's wish for names in one source namespace. */
export interface Claim {
  /** What wants the name: unique among all claims. */
  readonly id: string;
  /** Local names, best first; all valid Service names. */
  readonly names: readonly string[];
  /** creationTimestamp of the target Service, RFC 3339. */
  readonly since: string;
}

/** The names an endpoint mirror would take, best first; none if the hostname makes no valid name. */
export function endpointMirrorNames(hostname: string, service: string, cluster: string): readonly string[] {
  const long = mirrorName(`${hostname}-${service}`, cluster);
  const digest = createHash('sha256').update(`${hostname}.${service}.${cluster}`).digest('hex').slice(0, 10);
  // The cut never leaves a dash before the dash.
  const hashed = `${long.slice(0, LABEL_MAX_LENGTH - digest.length - 1).replace(/-+$/, '')}-${digest}`;
  return [mirrorName(hostname, cluster), long, hashed].filter(isServiceName);
}

interface Contender {
  readonly rank: number;
  readonly claim: Claim;
}

/** An id so that it sorts by its name first: `foo@bar-west` before `foo-bar@west`. */
const byName = (id: string): string => id.replace(/[@#]/g, ' ');

/** Whether `a` goes before `b`. */
const beats = (a: Contender, b: Contender): boolean => {
  if ((a.rank === 0) !== (b.rank === 0)) return a.rank === 0;
  if (a.claim.since !== b.claim.since) return a.claim.since < b.claim.since;
  return byName(a.claim.id) < byName(b.claim.id);
};

/** The claims of every Link's sessions on local names. */
export class NameClaims {
  /** `namespace/name` → contenders, by claim id. */
  readonly #contenders = new Map<string, Map<string, Contender>>();
  /** Owner → its claims, by id. An owner is whatever is reconciled as one. */
  readonly #owners = new Map<string, { readonly namespace: string; readonly claims: ReadonlyMap<string, Claim> }>();

  /**
   * Replaces what `owner` claims.
   * @returns the other owners that contend for a name whose contenders changed: they may win or lose it.
   */
  replace(owner: string, namespace: string, claims: readonly Claim[]): ReadonlySet<string> {
    const before = this.#owners.get(owner);
    const next = new Map(claims.map((claim) => [claim.id, claim]));
    if (before !== undefined && before.namespace === namespace && sameClaims(before.claims, next)) return new Set();
    const touched = new Set<string>();
    if (before !== undefined) {
      for (const claim of before.claims.values()) this.#withdraw(before.namespace, claim, touched);
    }
    if (next.size === 0) this.#owners.delete(owner);
    else this.#owners.set(owner, { namespace, claims: next });
    for (const claim of next.values()) this.#enter(namespace, claim, touched);
    const affected = new Set<string>();
    for (const key of touched) {
      for (const id of this.#contenders.get(key)?.keys() ?? []) affected.add(ownerOf(id));
    }
    affected.delete(owner);
    return affected;
  }

  /** The name a claim gets, or the winner of its last choice if it gets none. */
  resolve(namespace: string, claim: Claim): { readonly name: string } | { readonly lostTo: string } {
    let lostTo = claim.id;
    for (const [rank, name] of claim.names.entries()) {
      const winner = this.#winner(`${namespace}/${name}`, { rank, claim });
      if (winner.claim.id === claim.id) return { name };
      lostTo = winner.claim.id;
    }
    return { lostTo };
  }

  #winner(key: string, own: Contender): Contender {
    let best = own;
    for (const contender of this.#contenders.get(key)?.values() ?? []) {
      if (contender.claim.id !== best.claim.id && beats(contender, best)) best = contender;
    }
    return best;
  }

  #enter(namespace: string, claim: Claim, touched: Set<string>): void {
    for (const [rank, name] of claim.names.entries()) {
      const key = `${namespace}/${name}`;
      const contenders = this.#contenders.get(key) ?? new Map<string, Contender>();
      contenders.set(claim.id, { rank, claim });
      this.#contenders.set(key, contenders);
      touched.add(key);
    }
  }

  #withdraw(namespace: string, claim: Claim, touched: Set<string>): void {
    for (const name of claim.names) {
      const key = `${namespace}/${name}`;
      const contenders = this.#contenders.get(key);
      contenders?.delete(claim.id);
      if (contenders?.size === 0) this.#contenders.delete(key);
      else touched.add(key);
    }
  }
}

/** A claim's id is its owner, or its owner and a hostname. */
export const claimId = (owner: string, hostname?: string): string =>
  hostname === undefined ? owner : `${owner}#${hostname}`;

const ownerOf = (id: string): string => id.split('#', 1)[0] ?? id;

function sameClaims(a: ReadonlyMap<string, Claim>, b: ReadonlyMap<string, Claim>): boolean {
  if (a.size !== b.size) return false;
  for (const [id, claim] of b) {
    const other = a.get(id);
    if (other?.since !== claim.since || other.names.join() !== claim.names.join()) return false;
  }
  return true;
}
