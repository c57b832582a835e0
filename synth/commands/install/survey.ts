/** Whether Linkspan can be installed in a cluster: all that stands in the way, before anything is written. */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { Default, Label, OPERATOR_NAME, PolicyApi, Value } from '../../../crds/wire.ts';
import { apiVersionOf, type KubeObject, NAMESPACES, type Resource } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { kubectl } from '../common/command-text.ts';
import type { Problem } from '../common/command-error.ts';
import { CommandError } from '../common/command-error.ts';
import { CONFIG_MAPS, DEPLOYMENTS, resourceOf } from '../common/kinds.ts';
import { type Domains, LINKERD_CONFIG, readDomains } from '../common/linkerd.ts';
import { warn } from '../../print.ts';
import { isOurs } from './ownership.ts';
import { type InstallRecord, readRecord, RECORD_NAME, type RecordObject, type Settings } from './settings.ts';
import { givenTrustDomain } from './manifests.ts';

const INSTALL_LINKERD = 'install Linkerd there first, or name its namespace with --linkerd-namespace';

/** What the cluster lacks that the objects need, and what is in their place. */
export const clusterProblems = async (
  cluster: Cluster,
  namespace: string,
  linkerdNamespace: string,
  objects: readonly ApiJson[],
): Promise<readonly Problem[]> => {
  const [linkerd, own, operator, elsewhere, ...policies] = await Promise.all([
    cluster.find(NAMESPACES, { name: linkerdNamespace }),
    cluster.find(NAMESPACES, { name: namespace }),
    cluster.find(DEPLOYMENTS, { namespace, name: OPERATOR_NAME }),
    otherNamespaces(cluster, namespace),
    ...policyKinds(objects).map(async (of) => ((await cluster.serves(of)) ? undefined : of)),
  ]);
  const problem = (
    kind: string,
    ref: { namespace?: string; name: string },
    reason: string,
    remedy: string,
  ): Problem => ({
    object: cluster.title(kind, ref),
    reason,
    remedy,
  });
  const missing = policies.filter((of) => of !== undefined);
  return [
    ...(linkerd === undefined ? [problem('Namespace', { name: linkerdNamespace }, 'not found', INSTALL_LINKERD)] : []),
    ...missing.map((of) =>
      problem(
        'CustomResourceDefinition',
        { name: `${of.plural}.${of.group}` },
        `not found in version ${of.version}`,
        "install Linkerd's control plane there first, or upgrade it",
      ),
    ),
    ...(own?.metadata.deletionTimestamp === undefined
      ? []
      : [problem('Namespace', { name: namespace }, 'is being deleted', 'run the command again when it is gone')]),
    ...(operator === undefined || isOurs(operator)
      ? []
      : [
          problem(
            'Deployment',
            { namespace, name: OPERATOR_NAME },
            'was not made by linkspan install',
            'change it where its manifests are kept, or delete it first',
          ),
        ]),
    ...elsewhereProblems(cluster, elsewhere),
  ];
};

const policyKinds = (objects: readonly ApiJson[]): readonly Resource[] => {
  const kinds = objects.map(resourceOf).filter(({ group }) => group === PolicyApi.group);
  return [...new Map(kinds.map((of) => [`${apiVersionOf(of)} ${of.kind}`, of])).values()];
};

/** The other namespaces that Linkspan is installed in. */
export const otherNamespaces = async (cluster: Cluster, namespace: string): Promise<readonly string[]> => {
  const found = await cluster.list(CONFIG_MAPS, { labelSelector: `${Label.managedBy}=${Value.managedBy}` });
  return found.flatMap(({ metadata }) =>
    metadata.name === RECORD_NAME && metadata.namespace !== namespace ? (metadata.namespace ?? []) : [],
  );
};

/** Installations in other namespaces: the operator's ClusterRole has one name. */
export const elsewhereProblems = (cluster: Cluster, namespaces: readonly string[]): readonly Problem[] =>
  namespaces.map((namespace) => ({
    object: cluster.title('ConfigMap', { namespace, name: RECORD_NAME }),
    reason: 'Linkspan is installed in that namespace',
    remedy: `use --namespace ${namespace}, or uninstall it first`,
  }));

/** What is installed; undefined if nothing is, or not by `linkspan install`. */
export const findRecord = async (cluster: Cluster, namespace: string): Promise<InstallRecord | undefined> => {
  const ref = { namespace, name: RECORD_NAME };
  const found = await cluster.find<RecordObject>(CONFIG_MAPS, ref);
  if (found === undefined) return undefined;
  try {
    return readRecord(found);
  } catch (error) {
    const reason = `cannot be read: ${(error as Error).message}`;
    const removal = kubectl(cluster, '--namespace', namespace, 'delete', 'configmap', RECORD_NAME);
    const remedy = `delete it with \`${removal}\`, and install with the settings that you want`;
    throw new CommandError([{ object: cluster.title('ConfigMap', ref), reason, remedy }]);
  }
};

/**
 * The domains of Linkerd in the cluster; their defaults, with a warning, where it has no settings.
 * @throws CommandError if values files name another trust domain
 */
export const domainsOf = async (cluster: Cluster, settings: Settings): Promise<Domains> => {
  const { linkerdNamespace } = settings;
  const given = givenTrustDomain(settings);
  const domains = await readDomains(cluster, linkerdNamespace);
  const found = domains?.trustDomain;
  if (found !== undefined && given !== undefined && given !== found) {
    const reason = `${JSON.stringify(given)} is not the trust domain of Linkerd in ${cluster.context}, ${found}`;
    throw new CommandError([{ object: '--values: identityTrustDomain', reason, remedy: 'remove it' }]);
  }
  if (found === undefined && given === undefined) {
    warn(
      `${cluster.context} has no ConfigMap ${LINKERD_CONFIG} in namespace ${linkerdNamespace}: its trust domain is ` +
        `taken to be ${Default.clusterDomain}`,
    );
  }
  const { clusterDomain = Default.clusterDomain } = domains ?? {};
  return { clusterDomain, trustDomain: found ?? given ?? Default.clusterDomain };
};

/** Deployments of Linkerd's own service mirror controllers, each with the cluster that it mirrors. */
export const linkerdControllers = async (
  cluster: Cluster,
  namespace: string,
): Promise<readonly { readonly name: string; readonly targetCluster: string }[]> => {
  const found: readonly KubeObject[] = await cluster.list(DEPLOYMENTS, { namespace, labelSelector: Label.clusterName });
  return found
    .filter(({ metadata }) => metadata.name !== OPERATOR_NAME)
    .map(({ metadata }) => ({ name: metadata.name, targetCluster: metadata.labels?.[Label.clusterName] ?? '' }));
};
