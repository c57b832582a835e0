/**
 * Who writes local memberships of federated Services (rule I7), read from the source cluster: Linkerd's local mirror, this
 * operator, or nobody.
 */
import { LOCAL_MIRROR, LOCAL_WRITE_LEASE, OPERATOR_LEASE, writeLeaseName } from '../../../crds/wire.ts';
import { type Lease, LEASES } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { readFederated } from '../common/federated.ts';
import { DEPLOYMENTS, LINKS } from '../common/kinds.ts';
import { holderOf } from '../common/lease.ts';
import type { LinkObject } from '../common/link-object.ts';
import { isOperator } from '../common/link-served.ts';
import { type Deployment, identitiesOf, isSuspended, type Writing, writingUnder } from './state.ts';

/** A Link, and who writes for it. */
export interface WrittenLink extends Writing {
  readonly link: LinkObject;
  readonly name: string;
}

/** Linkerd's local mirror, and who writes local memberships. */
export interface LocalState extends Writing {
  readonly deployment: Deployment;
  /** All Links of the namespace, by name. */
  readonly links: readonly WrittenLink[];
  /** What the federated Services are known by, by `namespace/name`: uid and ClusterIP. */
  readonly federated: ReadonlyMap<string, string>;
  /** How many of them lead through gateways: Linkerd's local mirror deletes these (rule I7). */
  readonly throughGateways: number;
}

/** What becomes of Linkerd's local mirror on the way back: two never hold one Lease. */
export const STANDS_BY = `it stands by while the operator holds Lease ${LOCAL_WRITE_LEASE}, and takes over when the operator is uninstalled`;

/** The Links of a namespace by name, with who writes for each; all Leases, and who leads the operators. */
export const readWritten = async (
  cluster: Pick<Cluster, 'list'>,
  namespace: string,
): Promise<{
  readonly leases: ReadonlyMap<string, Lease>;
  readonly leader: string;
  readonly links: readonly WrittenLink[];
}> => {
  const [found, objects] = await Promise.all([
    cluster.list<Lease>(LEASES, { namespace }),
    cluster.list<LinkObject>(LINKS, { namespace }),
  ]);
  const leases = new Map(found.map((lease) => [lease.metadata.name, lease]));
  const operators = leases.get(OPERATOR_LEASE);
  const links = objects
    .map((link) => {
      const { name } = link.metadata;
      return {
        link,
        name,
        ...writingUnder(leases.get(writeLeaseName(name)), (holder) => isOperator(holder, operators, link)),
      };
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return { leases, leader: holderOf(operators), links };
};

/** Reads it; undefined if Linkerd's local mirror is not installed. */
export const readLocal = async (
  cluster: Pick<Cluster, 'find' | 'list'>,
  namespace: string,
): Promise<LocalState | undefined> => {
  const deployment = await cluster.find<Deployment>(DEPLOYMENTS, { namespace, name: LOCAL_MIRROR });
  if (deployment === undefined) return undefined;
  const [{ leases, leader, links }, federated] = await Promise.all([
    readWritten(cluster, namespace),
    readFederated(cluster),
  ]);
  // An operator that elects no leader is known by the Links that it writes for.
  const isOurs = (holder: string): boolean =>
    leader === '' ? links.some((each) => each.writer === 'operator' && each.holder === holder) : leader === holder;
  return {
    deployment,
    ...writingUnder(leases.get(LOCAL_WRITE_LEASE), isOurs),
    links,
    federated: identitiesOf(federated.map(({ service }) => service)),
    throughGateways: federated.filter(({ membership }) => membership.mode === 'gateway').length,
  };
};

/**
 * Links that this run does not hand over, and that come before local memberships: these go with the last Link, there and
 * back.
 * @param chosen names of the Links that this run hands over
 */
export const linksBefore = ({ links }: LocalState, chosen: ReadonlySet<string>, isBack: boolean): readonly string[] =>
  links
    .filter(({ name, link, writer }) => {
      const isOperators = writer === 'operator' && !isSuspended(link);
      return !chosen.has(name) && isOperators === isBack;
    })
    .map(({ name }) => name);
