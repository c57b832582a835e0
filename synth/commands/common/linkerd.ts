/** Linkerd's settings in one cluster, as its ConfigMap `linkerd-config` has them. */
import { Default } from '../../../crds/wire.ts';
import { parseYaml } from '../../../operator/kube/access/yaml.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import type { Cluster } from './cluster.ts';
import { byLinkerd } from './remedies.ts';
import { CommandError } from './command-error.ts';
import { CONFIG_MAPS } from './kinds.ts';

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** The ConfigMap that Linkerd keeps its settings in. */
export const LINKERD_CONFIG = 'linkerd-config';

/** DNS domain of a cluster, and the identity trust domain of its Linkerd. */
export interface Domains {
  readonly clusterDomain: string;
  readonly trustDomain: string;
}

export interface Linkerd extends Domains {
  /** PEM; empty if there are none. */
  readonly anchors: string;
  /** As in `edge-26.8.1`; undefined if it is not noted. */
  readonly version: string | undefined;
}

/** Reads the settings in their ConfigMap, or why they are not valid YAML. */
export const linkerdOf = ({ data }: ConfigMap): Linkerd | { readonly invalid: string } => {
  let values: Readonly<Record<string, unknown>>;
  try {
    values = (parseYaml(data?.['values'] ?? '') ?? {}) as typeof values;
  } catch (error) {
    return { invalid: (error as Error).message };
  }
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const clusterDomain = text('clusterDomain') ?? Default.clusterDomain;
  return {
    clusterDomain,
    trustDomain: text('identityTrustDomain') ?? clusterDomain,
    anchors: text('identityTrustAnchorsPEM') ?? '',
    version: text('linkerdVersion'),
  };
};

/**
 * Reads the domains of a cluster; undefined if there is no Linkerd in that namespace.
 * @throws CommandError if its settings are not valid YAML
 */
export const readDomains = async (cluster: Cluster, namespace: string): Promise<Domains | undefined> => {
  const ref = { namespace, name: LINKERD_CONFIG };
  const found = await cluster.find<ConfigMap>(CONFIG_MAPS, ref);
  if (found === undefined) return undefined;
  const linkerd = linkerdOf(found);
  if (!('invalid' in linkerd)) return { clusterDomain: linkerd.clusterDomain, trustDomain: linkerd.trustDomain };
  const reason = `is not valid YAML: ${linkerd.invalid}`;
  const remedy = `see ${byLinkerd(cluster, 'check', '--linkerd-namespace', namespace)}`;
  throw new CommandError([{ object: cluster.title(CONFIG_MAPS.kind, ref), reason, remedy }]);
};
