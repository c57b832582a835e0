/**
 * The claims of one target Service on local names (rule A7). They are entered once, before anything is decided by the
 * names that come of them: what is decided is then a function of values alone.
 */
import { mirrorName } from '../../crds/wire.ts';
import { ByHostname } from './by-hostname.ts';
import { endpointMirrorsByPod } from './endpoint-mirrors.ts';
import type { Claim, ClaimOwner, NameClaims, NameOf, Names } from './names.ts';
import type { Observed } from './observed.ts';
import { indexOf } from './owned-index.ts';
import { type Claims, claimsOf, type Shape, shapeOf } from './shape.ts';

/** The form of a target Service's mirror, and the names that it gets. */
export interface Named extends Names {
  /** An error if what the target sent has no form. */
  readonly shape: Shape | Error;
}

type Entered = Pick<NameClaims, 'has' | 'replace' | 'resolve' | 'revisionOf'>;

/**
 * Replaces the claims of a target Service by what it claims now. Those of one about which nothing can be decided stay;
 * if it has none, since the operator has started meanwhile, it claims the names of what is kept.
 */
export function enterClaims(observed: Observed, all: Entered): Named {
  const { namespace, name, link } = observed;
  const owner: ClaimOwner = { cluster: link.cluster, key: `${namespace}/${name}` };
  const enter = ({ own, pods }: Claims): void => all.replace(owner, namespace, own === undefined ? [] : [own], pods);
  try {
    const shape = shapeOf(observed);
    const stay = shape.kind === 'undecided' && all.has(owner);
    const claims = stay ? NO_CLAIMS : claimsWith(observed, owner, shape);
    if (!stay) enter(claims);
    const { own, pods } = claims;
    const nameOf: NameOf = (hostname) => {
      const claim = hostname === undefined ? own : pods.get(hostname);
      return claim && all.resolve(namespace, claim);
    };
    return { shape, nameOf, revision: all.revisionOf(owner) };
  } catch (error) {
    if (!all.has(owner)) enter(keptClaims(observed, owner));
    return { shape: error instanceof Error ? error : new Error(String(error)), nameOf: () => undefined, revision: 0 };
  }
}

const NO_CLAIMS: Claims = { own: undefined, pods: ByHostname.none() };

/** Returns the claims that a shape needs, and those of what is kept with it. */
function claimsWith(observed: Observed, owner: ClaimOwner, shape: Shape): Claims {
  const isKept = shape.kind === 'undecided' || (shape.kind === 'refused' && shape.existing === 'keep');
  if (isKept) return keptClaims(observed, owner);
  const claims = claimsOf(observed, shape);
  const arePodsKept = shape.kind === 'headless' && shape.endpoints === undefined;
  return arePodsKept ? { ...claims, pods: keptClaims(observed, owner).pods } : claims;
}

/**
 * Returns the claims of the Services that are kept, on the names that they have. They count as the oldest: nobody else
 * can have these names before they are given up (L121).
 */
function keptClaims({ name, link, owned }: Observed, owner: ClaimOwner): Claims {
  const local = mirrorName(name, link.cluster);
  const claim = { owner, since: '', isKept: true };
  const isOwn = indexOf(owned).services.has(local);
  const pods = [...endpointMirrorsByPod(owned)].map(([hostname, services]): readonly [string, Claim] => [
    hostname,
    { ...claim, hostname, names: services.map(({ metadata }) => metadata.name) },
  ]);
  return { own: isOwn ? { ...claim, names: [local] } : undefined, pods: ByHostname.of(pods) };
}
