/** Linkerd's settings and trust anchors in one cluster, as its ConfigMaps have them. */
import { Default } from '../../../crds/wire.ts';
import { parseYaml } from '../../../operator/kube/access/yaml.ts';
import { CONFIG_MAPS } from '../common/kinds.ts';
import type { ConfigMap } from './objects.ts';
import type { Read, Reader } from './reader.ts';

/** The ConfigMap that Linkerd keeps its settings in. */
export const LINKERD_CONFIG = 'linkerd-config';
/** The ConfigMap that proxies get their trust anchors from, also where another tool maintains them. */
export const TRUST_ROOTS = 'linkerd-identity-trust-roots';

export interface Linkerd {
  readonly clusterDomain: string;
  readonly trustDomain: string;
  /** PEM; empty if neither ConfigMap has any. */
  readonly anchors: string;
  /** As in `edge-26.8.1`; undefined if it is not noted. */
  readonly version: string | undefined;
}

/** Linkerd's settings; undefined if there are none, or why they are not valid YAML. */
export type LinkerdRead = Read<Linkerd | { readonly invalid: string } | undefined>;

/** Reads Linkerd's settings, and the trust anchors where the settings have none. */
export const readLinkerd = async (reader: Reader, namespace: string): Promise<LinkerdRead> => {
  const config = await reader.find<ConfigMap>(CONFIG_MAPS, LINKERD_CONFIG, namespace);
  if (!config.ok || config.value === undefined) return config as LinkerdRead;
  const settings = linkerdOf(config.value);
  if ('invalid' in settings || settings.anchors !== '') return { ok: true, value: settings };
  const roots = await reader.find<ConfigMap>(CONFIG_MAPS, TRUST_ROOTS, namespace);
  return roots.ok ? { ok: true, value: { ...settings, anchors: roots.value?.data?.['ca-bundle.crt'] ?? '' } } : roots;
};

const linkerdOf = ({ data }: ConfigMap): Linkerd | { readonly invalid: string } => {
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
