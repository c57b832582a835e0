/**
 * The Links that an installation leaves: those that `linkspan migrate --back` has handed back stay with their mirrors, which
 * Linkerd's controllers follow. All others need the operator.
 */
import { LinkApi, LOCAL_MIRROR } from '../../../crds/wire.ts';
import type { Cluster } from '../common/cluster.ts';
import type { Problem } from '../common/command-error.ts';
import { kubectl, linkspan } from '../common/command-text.ts';
import type { FederatedService } from '../common/federated.ts';
import { DEPLOYMENTS, LINKS } from '../common/kinds.ts';
import { withNamespaces } from '../common/remedies.ts';
import { readWritten, type WrittenLink } from '../migrate/local-state.ts';
import { type Deployment, isSuspended, replicasOf } from '../migrate/state.ts';

/** The Links of a namespace, and who follows what the operator has made of them. */
export interface LinksLeft {
  readonly links: readonly WrittenLink[];
  /** Replicas of Linkerd's local mirror; undefined if it is not installed. */
  readonly localReplicas: number | undefined;
}

export const readLinks = async (cluster: Cluster, namespace: string): Promise<LinksLeft> => {
  const [{ links }, local] = await Promise.all([
    readWritten(cluster, namespace),
    cluster.find<Deployment>(DEPLOYMENTS, { namespace, name: LOCAL_MIRROR }),
  ]);
  return { links, localReplicas: local && replicasOf(local) };
};

/** The operator leaves a Link for good only if it is suspended: else it takes over from whoever lets go of the Lease. */
const isHandedBack = ({ link, writer }: WrittenLink): boolean => isSuspended(link) && writer === 'another';

const clusterOf = ({ link }: Pick<WrittenLink, 'link'>): string => link.spec?.targetClusterName ?? '';

/** The clusters that have a Link: their mirrors go with it, or stay with it. */
export const linkedClusters = ({ links }: LinksLeft): ReadonlySet<string> => new Set(links.map(clusterOf));

/**
 * Who follows a federated Service without the operator: `others`, `local-mirror` if its Deployment is started again, or nobody.
 * Linkerd's local mirror deletes one that leads through gateways.
 */
export const followerOf = (
  { links, localReplicas }: LinksLeft,
  { membership: { mode, clusters, local } }: FederatedService,
): 'others' | 'local-mirror' | undefined => {
  const handedBack = new Set(links.filter(isHandedBack).map(clusterOf));
  if (mode === 'gateway' || [...clusters].some((each) => !handedBack.has(each))) return undefined;
  if (!local || (localReplicas ?? 0) > 0) return 'others';
  return localReplicas === undefined ? undefined : 'local-mirror';
};

/** The Links that need the operator, or that nobody would write for. */
export const linkProblems = (
  cluster: Cluster,
  at: { readonly namespace: string; readonly linkerdNamespace: string },
  { links }: LinksLeft,
): readonly Problem[] =>
  links
    .filter((each) => !isHandedBack(each))
    .map(({ link, name, writer, holder = '' }) => {
      const target = clusterOf({ link });
      const unlinkIt = linkspan(cluster, 'unlink', '--name', target, ...withNamespaces(at), '--apply');
      const remove = kubectl(cluster, '-n', at.namespace, 'delete', LinkApi.crd, name);
      const unlink = name === target ? unlinkIt : `\`${remove}\`, then \`${unlinkIt}\``;
      const back = linkspan(cluster, 'migrate', name, '--back', '--apply', ...withNamespaces(at));
      const object = cluster.title(LINKS.kind, link.metadata);
      if (isSuspended(link)) {
        const reason = writer === 'operator' ? `${holder} still holds its Lease` : 'nobody writes for it';
        const remedy = `to keep its mirrors, have Linkerd's controller write for it: ${back}; or ${unlink}`;
        return { object, reason: `is suspended, and ${reason}`, remedy };
      }
      return writer === 'another'
        ? { object, reason: 'is there', remedy: `leave it to ${holder}, which writes for it: ${back}; or ${unlink}` }
        : { object, reason: 'is there', remedy: unlink };
    });
