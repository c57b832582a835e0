/**
 * Reads the networks that clients of the gateway connect from, and reports whether the networks that a policy requires
 * exist (rule M4). The operator keeps a copy of the networks that the gateway's NetworkAuthentication names. If the
 * NetworkAuthentication vanishes, the copy stays as it was, so that clients of exports are not refused. Pure.
 */
import type { SourceNetwork } from '../../constructs/rendered/index.ts';
import { PolicyApi } from '../../crds/wire.ts';
import { type Authorization, isOurs, type Networks } from './objects.ts';

export interface SourceNetworks {
  /** Networks that the gateway's NetworkAuthentication names; undefined if it is missing or names no networks. */
  readonly named: readonly SourceNetwork[] | undefined;
  /**
   * Networks that the copy is to name. While the gateway's NetworkAuthentication names none, these are the networks
   * that the copy names now. Undefined if there is no copy either.
   */
  readonly wanted: readonly SourceNetwork[] | undefined;
  /** Whether there is a copy that names networks, so that policies which require it admit clients. */
  readonly isKept: boolean;
}

/** Reads the networks from all NetworkAuthentications in the namespace of the gateway. */
export function sourceNetworks(all: readonly Networks[]): SourceNetworks {
  const kept = namesOf(all.find((each) => each.metadata.name === PolicyApi.keptNetworks && isOurs(each)));
  const named = namesOf(all.find(({ metadata }) => metadata.name === PolicyApi.sourceCluster));
  return { named, wanted: named ?? kept, isKept: kept !== undefined };
}

/**
 * Reports whether all NetworkAuthentications that a policy requires exist and name networks. If one is missing, the
 * policy admits nobody. NetworkAuthentications in other namespaces are not known, and count as existing.
 */
export function hasItsNetworks({ metadata, spec }: Authorization, all: readonly Networks[]): boolean {
  return (spec?.requiredAuthenticationRefs ?? []).every(
    ({ kind, name, namespace = metadata.namespace }) =>
      kind !== 'NetworkAuthentication' ||
      namespace !== metadata.namespace ||
      namesOf(all.find((each) => each.metadata.name === name)) !== undefined,
  );
}

const namesOf = (object: Networks | undefined): readonly SourceNetwork[] | undefined => {
  const { networks = [] } = object?.spec ?? {};
  return networks.length === 0 ? undefined : networks;
};
