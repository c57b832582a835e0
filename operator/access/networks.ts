/**
 * The networks that clients of the gateway connect from, and whether policies that require them let anybody in (rule
 * M4). The operator keeps a copy of those that the gateway's NetworkAuthentication names: if that vanishes, the copy
 * stays as it was, so that what is exported is not refused. Pure.
 */
import type { SourceNetwork } from '../../constructs/rendered/index.ts';
import { PolicyApi } from '../../crds/wire.ts';
import { type Authorization, isOurs, type Networks } from './objects.ts';

export interface SourceNetworks {
  /** What the gateway's NetworkAuthentication names; undefined if it is missing or names no networks. */
  readonly named: readonly SourceNetwork[] | undefined;
  /**
   * What the copy is to name: what it named last while the gateway's names nothing; undefined if nothing was ever
   * named.
   */
  readonly wanted: readonly SourceNetwork[] | undefined;
  /** Whether there is a copy that lets clients in. */
  readonly isKept: boolean;
}

/** Reads the networks from all NetworkAuthentications in the namespace of the gateway. */
export function sourceNetworks(all: readonly Networks[]): SourceNetworks {
  const kept = namesOf(all.find((each) => each.metadata.name === PolicyApi.keptNetworks && isOurs(each)));
  const named = namesOf(all.find(({ metadata }) => metadata.name === PolicyApi.sourceCluster));
  return { named, wanted: named ?? kept, isKept: kept !== undefined };
}

/**
 * Reports whether all networks that a policy requires are there: without one of them, it lets nobody in. Networks in
 * other namespaces are not known, and count as there.
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
