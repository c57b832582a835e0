/**
 * The claims of one target Service on local names (rule A7). They are entered once, before anything is decided by the names
 * that come of them: what is decided is then a function of values alone.
 */
import type { ClaimOwner, NameClaims, NameOf, Names } from './names.ts';
import type { Observed } from './observed.ts';
import { claimsOf, type Shape, shapeOf } from './shape.ts';

/** The form of a target Service's mirror, and the names that it gets. */
export interface Named extends Names {
  /** An error if what the target sent has no form. */
  readonly shape: Shape | Error;
}

/** Replaces the claims of a target Service by what it claims now, unless nothing can be decided about it. */
export function enterClaims(observed: Observed, all: Pick<NameClaims, 'replace' | 'resolve' | 'revisionOf'>): Named {
  try {
    const shape = shapeOf(observed);
    const { namespace, name, link } = observed;
    const owner: ClaimOwner = { cluster: link.cluster, key: `${namespace}/${name}` };
    const { own, pods } = claimsOf(observed, shape);
    if (shape.kind !== 'undecided') all.replace(owner, namespace, own === undefined ? [] : [own], pods);
    const nameOf: NameOf = (hostname) => {
      const claim = hostname === undefined ? own : pods.get(hostname);
      return claim && all.resolve(namespace, claim);
    };
    return { shape, nameOf, revision: all.revisionOf(owner) };
  } catch (error) {
    return { shape: error instanceof Error ? error : new Error(String(error)), nameOf: () => undefined, revision: 0 };
  }
}
