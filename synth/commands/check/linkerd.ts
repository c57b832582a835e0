/** Linkerd's settings and trust anchors in one cluster, as a check reads them. */
import { CONFIG_MAPS } from '../common/kinds.ts';
import { type ConfigMap, type Linkerd, LINKERD_CONFIG, linkerdOf } from '../common/linkerd.ts';
import type { Read, Reader } from './reader.ts';

/** The ConfigMap that proxies get their trust anchors from, also where another tool maintains them. */
const TRUST_ROOTS = 'linkerd-identity-trust-roots';

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
