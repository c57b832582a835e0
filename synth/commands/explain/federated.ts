/**
 * One federated Service: whether it is there, who has joined it, why others have not, and what its clients reach. A member
 * that does not join keeps no other from being reached.
 */
import { federatedName, Label, LOCAL_WRITE_LEASE, memberName } from '../../../crds/wire.ts';
import { cut } from '../../../operator/kube/errors.ts';
import { type Lease, LEASES, type Service, SERVICES } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { type FederatedService, readFederated } from '../common/federated.ts';
import { holderOf } from '../common/lease.ts';
import type { LinkObject } from '../common/link-object.ts';
import { type LinkReport, listsAll, reportOf, type ServiceReport } from '../common/link-status.ts';
import { ifAllowed } from '../common/readable.ts';
import { byKubectl, byLinkspan, operatorLog, type Place } from '../common/remedies.ts';
import type { ServiceRef } from './facts.ts';
import { ok, type Step, stop, warning } from './step.ts';
import type { Explanation } from './steps.ts';

/** What the source cluster has of a federated Service. */
export interface FederationFacts {
  /** The source, and the namespace of the extension in it. */
  readonly source: Place;
  /** The Services that join. */
  readonly member: ServiceRef;
  /** Undefined if there is none. */
  readonly federated: FederatedService | undefined;
  /** The Service that has the name of the federated one, whoever made it. */
  readonly live: Service | undefined;
  /** The Service of the source that may join; undefined if there is none. */
  readonly local: Service | undefined;
  /** Who writes local memberships: empty if nobody does, undefined if that may not be read. */
  readonly localHolder: string | undefined;
  /** Links, and what each reports of its member. */
  readonly links: readonly { readonly link: LinkReport; readonly report: ServiceReport | undefined }[];
}

/**
 * Reads what is known of a federated Service, by its own name or that of its members; undefined if neither the cluster nor a
 * Link knows of one.
 */
export const federationFactsOf = async (
  source: Cluster,
  links: readonly LinkObject[],
  { namespace, name }: ServiceRef,
): Promise<FederationFacts | undefined> => {
  const reports = links.map(reportOf);
  const all = await readFederated(source, namespace);
  const isKnown = (member: string): boolean =>
    all.some((each) => each.member === member) ||
    reports.some(({ members }) => members.some((each) => each.namespace === namespace && each.name === member));
  const member = [memberName(name), name].find((each) => each !== undefined && isKnown(each));
  if (member === undefined) return undefined;
  const [live, local, lease] = await Promise.all([
    source.find<Service>(SERVICES, { namespace, name: federatedName(member) }),
    source.find<Service>(SERVICES, { namespace, name: member }),
    ifAllowed(() => source.find<Lease>(LEASES, { namespace: reports[0]?.namespace ?? '', name: LOCAL_WRITE_LEASE })),
  ]);
  return {
    source: { kubeconfig: source.kubeconfig, context: source.context, namespace: reports[0]?.namespace ?? '' },
    member: { namespace, name: member },
    federated: all.find((each) => each.member === member),
    live,
    local,
    localHolder: 'found' in lease ? holderOf(lease.found) : undefined,
    links: reports.map((link) => ({
      link,
      report: link.members.find((each) => each.namespace === namespace && each.name === member),
    })),
  };
};

/** Explains one federated Service. */
export const explainFederated = (facts: FederationFacts): Explanation => {
  const { federated } = facts;
  const members = facts.links.flatMap((each) => memberOf(facts, each));
  const local = localMember(facts);
  const all = [...local, ...members];
  const ofMembers = all.map(({ step }) => step);
  if (federated === undefined) return { steps: [...ofMembers, serviceStep(facts)], reached: [] };
  const reached = [...new Set(all.flatMap(({ addresses }) => addresses))];
  const steps = [serviceStep(facts), ...ofMembers];
  if (reached.length > 0) return { steps, reached };
  const remedy = `see ${byLinkspan(facts.source, 'status')}`;
  return { steps: [...steps, stop('endpoints', 'no member has a ready address', remedy)], reached };
};

const serviceStep = ({ federated, live, member, source }: FederationFacts): Step => {
  const title = `Service ${member.namespace}/${federatedName(member.name)}`;
  if (federated !== undefined) {
    const { mode } = federated.membership;
    const how = mode === 'gateway' ? 'leads through gateways' : 'finds the pods of its members on a flat network';
    return ok('Service', `${title} is in ${source.context}, and ${how}`);
  }
  return live === undefined
    ? stop('Service', `${title} is not in ${source.context}: no Service has joined it`)
    : stop('Service', `${title} of ${source.context} is no federated Service`, 'rename or delete it');
};

/** What one cluster has to do with the federated Service. */
interface Member {
  readonly step: Step;
  /** What clients reach there. */
  readonly addresses: readonly string[];
}

/** The Service of the source itself. */
const localMember = (facts: FederationFacts): readonly Member[] => {
  const { federated, local, localHolder, member, source } = facts;
  const title = `Service ${member.namespace}/${member.name} of ${source.context}`;
  if (federated?.membership.local === true) return [joined(facts, federated, undefined, title)];
  if (local === undefined) return [];
  if (local.metadata.labels?.[Label.federated] === undefined) {
    return [{ step: ok('local', `${title} has no label ${Label.federated}: it has not joined`), addresses: [] }];
  }
  const held =
    localHolder === undefined
      ? ''
      : `: ${localHolder === '' ? 'nobody holds' : `${cut(localHolder)} holds`} Lease ${LOCAL_WRITE_LEASE}`;
  const remedy = `see the Events of the Service, and --federated-selector of the operator of ${source.context}`;
  return [{ step: warning('local', `${title} has not joined${held}`, remedy), addresses: [] }];
};

const memberOf = (facts: FederationFacts, { link, report }: FederationFacts['links'][number]): readonly Member[] => {
  const { federated, member } = facts;
  const isListed = federated?.membership.clusters.has(link.cluster) === true;
  const title = `Service ${member.namespace}/${member.name} of ${link.cluster}`;
  if (report?.isMirrored === false) {
    const message = `${title} does not join, ${report.reason}: ${report.message}`;
    return [{ step: warning('member', message), addresses: [] }];
  }
  if (federated === undefined || !isListed) {
    if (report === undefined) return [];
    const remedy = `wait a moment, then ${operatorLog(facts.source)}`;
    return [{ step: warning('member', `${title} is reported to join, and is not a member`, remedy), addresses: [] }];
  }
  const found = joined(facts, federated, link.cluster, title);
  const silent = listsAll(link.members)
    ? `Link ${link.name} does not report on it: its membership stays as it was`
    : '';
  const note = report === undefined ? silent : report.message;
  return [{ ...found, step: { ...found.step, message: `${found.step.message}${note === '' ? '' : `; ${note}`}` } }];
};

/** A member, and what of it clients reach. */
const joined = (
  { source }: FederationFacts,
  { membership, slices, service }: FederatedService,
  cluster: string | undefined,
  title: string,
): Member => {
  const step = cluster === undefined ? 'local' : 'member';
  if (membership.mode !== 'gateway') {
    const pods = cluster ?? source.context;
    return { step: ok(step, `${title} has joined: Linkerd finds its pods`), addresses: [`the pods of ${pods}`] };
  }
  const own = slices.filter(({ metadata }) => metadata.labels?.[Label.federationMember] === cluster);
  const ready = own
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready ?? true)
    .flatMap(({ addresses }) => addresses)
    .map((address) => cut(address));
  if (ready.length > 0)
    return { step: ok(step, `${title} has joined: clients reach ${ready.join(', ')}`), addresses: ready };
  const why = cluster === undefined ? 'no pod of it is ready' : 'its gateway is down, or no pod of it is ready';
  const { namespace = '', name } = service.metadata;
  const label = `${Label.serviceName}=${name}`;
  const remedy = `see ${byKubectl(source, '-n', namespace, 'get', 'endpointslices', '-l', label)}`;
  return { step: warning(step, `${title} has joined, and has no ready address: ${why}`, remedy), addresses: [] };
};
