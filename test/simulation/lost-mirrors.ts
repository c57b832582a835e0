/** What {@link Lost} judges of mirrors: those with a ClusterIP, under names that nothing else wants. */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { MANY } from './command.ts';
import { clusterOf } from './link-state.ts';
import { isTcp, specOf } from './oracle.ts';
import type { Kept, LostOptions } from './lost.ts';
import { EXPORT_LABEL } from './target-users.ts';

/** Names of Services that nothing else wants. */
const UNDISPUTED: ReadonlySet<string> = new Set(['web', 'alt', ...MANY]);
/** Exports that are mirrored, in whichever mode. */
const EXPORTS: ReadonlySet<string | undefined> = new Set(['true', 'remote-discovery']);

const HEADLESS = 'mirror.linkerd.io/headless-mirror-svc-name';

export const MIRRORS: Pick<LostOptions, 'clusterOf' | 'isExported' | 'isCertain' | 'termsOf'> = {
  clusterOf,
  isExported: ({ metadata: { labels = {} } }) => EXPORTS.has(labels[EXPORT_LABEL]),
  isCertain: (service) => {
    const { type, clusterIP, ports } = specOf(service);
    const hasTcp = Array.isArray(ports) && ports.some(isTcp);
    return type !== 'ExternalName' && clusterIP !== 'None' && hasTcp;
  },
  termsOf: (link) => {
    const { selector, remoteDiscoverySelector, importPolicy } = (link?.spec ?? {}) as {
      readonly importPolicy?: object;
      readonly selector?: object;
      readonly remoteDiscoverySelector?: object;
    };
    // What it excludes goes (N4).
    if (importPolicy !== undefined) return undefined;
    return [selector, remoteDiscoverySelector].every((each) => Object.keys(each ?? {}).length > 0) ? '' : undefined;
  },
};

/** A mirror as something that is kept; undefined: one that may be made anew, as the headless ones and those of pods may. */
export function keptMirror(cluster: string, { metadata, spec }: KubeObject): Kept | undefined {
  const { uid = '', namespace = '', name, labels = {} } = metadata;
  const of = name.slice(0, -cluster.length - 1);
  if (!UNDISPUTED.has(of) || HEADLESS in labels) return undefined;
  if ((spec as { readonly clusterIP?: string }).clusterIP === 'None') return undefined;
  return { id: uid, cluster, key: `${namespace}/${of}` };
}
