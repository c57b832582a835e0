/** What comes after an installation: it depends on what the cluster has. */
import { printLine, warn } from '../../print.ts';
import type { Cluster } from '../common/cluster.ts';
import type { ClusterFlags } from '../common/flags.ts';
import { LINKS } from '../common/kinds.ts';
import { ifAllowed } from '../common/readable.ts';
import { byLinkspan } from '../common/remedies.ts';
import { operatorRuns } from './rollout.ts';
import { linkerdControllers } from './survey.ts';
import { VERSION } from './version.ts';

/** Says what is there now, and the next command, unless that cannot be read. */
export const sayNext = async (cluster: Cluster, flags: Where): Promise<void> => {
  const said = await ifAllowed(() => sayWhatIsThere(cluster, flags));
  if ('obstacle' in said)
    printLine(`Linkspan ${VERSION} is written to ${cluster.context}; what is next: ${said.obstacle}`);
};

type Where = Pick<ClusterFlags, 'namespace' | 'linkerdNamespace'>;

/** Linkerd's controllers are named: they go on. */
const sayWhatIsThere = async (cluster: Cluster, { namespace, linkerdNamespace }: Where): Promise<void> => {
  const controllers = await linkerdControllers(cluster, namespace);
  const { kubeconfig, context } = cluster;
  const command = (name: string): string => byLinkspan({ kubeconfig, context, namespace, linkerdNamespace }, name);
  for (const { name, targetCluster } of controllers) {
    warn(
      `${cluster.title('Deployment', { namespace, name })}: Linkerd's controller mirrors ${targetCluster}, until ` +
        `${command('migrate')} hands its Link over`,
    );
  }
  const links = await cluster.list(LINKS, { namespace });
  const next =
    links.length === 0
      ? `${command('link')} with --to-context gives it a target`
      : controllers.length > 0
        ? `${command('migrate')} hands the Links of Linkerd's controllers over`
        : `${command('check')} says whether its Links work`;
  const state = await operatorRuns(cluster, namespace);
  printLine(
    'done' in state
      ? `Linkspan ${VERSION} is installed in ${cluster.context}; ${next}`
      : `Linkspan ${VERSION} is written to ${cluster.context}, and its operator does not run yet: ${state.pending}; ` +
          `when it does, ${next}`,
  );
};
