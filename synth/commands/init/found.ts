/** What of Linkspan runs in a cluster: how the operator and the gateway were installed, and the Links. Nothing is written. */
import { credentialsName, OPERATOR_CONTAINER, OPERATOR_NAME } from '../../../crds/wire.ts';
import { propSettings } from '../../../crds/operator-settings.ts';
import type { MulticlusterProps } from '../../../constructs/index.ts';
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import { Cluster } from '../common/cluster.ts';
import { readCredentials } from '../common/credentials-secret.ts';
import { DEPLOYMENTS, LINKS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { givenFlags, type OperatorDeployment } from '../common/operator-settings.ts';
import { readable } from '../common/readable.ts';
import { installedProps } from '../install/manifests.ts';
import { findRecord } from '../install/survey.ts';
import { secretNameOf } from '../link/held.ts';
import type { InitFlags } from './flags.ts';

/** A Link, and what its credentials say of its target. */
export interface FoundLink {
  readonly link: LinkObject;
  /** URL of the API server; undefined if the credentials cannot be read. */
  readonly server: string | undefined;
  /** Whether Linkerd's control plane has credentials of the target, as a flat network needs. */
  readonly isFlat: boolean;
}

/** What runs in a cluster. */
export interface Found {
  /** Props of the operator; undefined if there is none. */
  readonly operator: Readonly<Record<string, unknown>> | undefined;
  /** Props of all parts as `linkspan install` was given them; undefined if it has not installed them. */
  readonly installed: MulticlusterProps | undefined;
  readonly links: readonly FoundLink[];
  /** What cannot be read. */
  readonly notes: readonly string[];
}

/** Nothing is known. */
export const NOTHING: Found = { operator: undefined, installed: undefined, links: [], notes: [] };

/**
 * Reads what runs.
 * @throws TerminalError for a context that cannot be used
 */
export const findRunning = async (
  { kubeconfig, namespace, linkerdNamespace }: InitFlags,
  context: string,
): Promise<Found> => {
  const cluster = await Cluster.open({ kubeconfig, context });
  const notes: string[] = [];
  const tried = async <T>(read: () => Promise<T>, otherwise: T): Promise<T> => {
    const answer = await readable(read);
    if ('found' in answer) return answer.found;
    notes.push(`context ${context}: what runs there is not all in the file: ${answer.obstacle}`);
    return otherwise;
  };
  try {
    const [record, deployment, links] = await Promise.all([
      tried(() => findRecord(cluster, namespace), undefined),
      tried(() => cluster.find<OperatorDeployment>(DEPLOYMENTS, { namespace, name: OPERATOR_NAME }), undefined),
      tried(() => cluster.list<LinkObject>(LINKS, { namespace }), []),
    ]);
    const credentialsOf = (within: string, name: string): Promise<Secret | undefined> =>
      tried(() => cluster.find<Secret>(SECRETS, { namespace: within, name }), undefined);
    const found = await Promise.all(
      links.map(async (link): Promise<FoundLink> => {
        const cluster = link.spec?.targetClusterName ?? link.metadata.name;
        const [own, copy] = await Promise.all([
          credentialsOf(namespace, secretNameOf(link, cluster)),
          credentialsOf(linkerdNamespace, credentialsName(cluster)),
        ]);
        const read = readCredentials(own);
        return { link, server: read.ok ? read.access.access.server : undefined, isFlat: copy !== undefined };
      }),
    );
    const installed = record && installedProps(namespace, record.settings);
    return { operator: operatorProps(deployment, installed), installed, links: found, notes };
  } finally {
    await cluster.close();
  }
};

/** The props as they were given, those in the arguments of the Deployment as they are now. */
const operatorProps = (
  deployment: OperatorDeployment | undefined,
  installed: MulticlusterProps | undefined,
): Readonly<Record<string, unknown>> | undefined => {
  if (deployment === undefined) return undefined;
  const containers = deployment.spec?.template?.spec?.containers ?? [];
  const image = containers.find(({ name }) => name === OPERATOR_CONTAINER)?.image;
  const flags = givenFlags(deployment) ?? {};
  const given = propSettings.flatMap(([name, { type }]): readonly (readonly [string, unknown])[] => {
    const value = flags[name];
    if (typeof value === 'boolean') return [[name, value]];
    if (typeof value !== 'string') return [];
    if (type === 'names') return [[name, value.split(',')]];
    return [[name, type === 'integer' ? Number(value) : value]];
  });
  const named = new Set<string>(propSettings.map(([name]) => name));
  const others = Object.entries(installed?.operator ?? {}).filter(([name]) => !named.has(name));
  return {
    ...Object.fromEntries(others),
    ...(image !== undefined && { image }),
    credentialsSecrets: 'any',
    ...Object.fromEntries(given),
  };
};
