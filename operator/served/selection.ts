/** The settings of a Link that decide what is read from its target, and what follows from them. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { LinkSettings } from '../../crds/index.ts';
import type { TargetOptions } from '../target/target.ts';

/** Settings of a Link that decide what is read from its target. */
export type Selection = Pick<
  LinkSettings,
  'selector' | 'remoteDiscoverySelector' | 'federatedServiceSelector' | 'gateway' | 'targetNamespaces'
>;

/** Returns the selectors with which the target is read. */
export const selectorsOf = ({
  selector,
  remoteDiscoverySelector,
  federatedServiceSelector,
  gateway,
}: Selection): TargetOptions['selectors'] => ({
  gateway: selector,
  flat: remoteDiscoverySelector,
  members: federatedServiceSelector,
  // A federated Service may lead through gateways though this Link does not ask for that (rule I5).
  readsMemberSlices: gateway !== undefined,
});

/** Reports whether no selector selects anything, so that no Service of the target is read (rule A1). */
export const selectsNothing = ({ selector, remoteDiscoverySelector, federatedServiceSelector }: Selection): boolean =>
  [selector, remoteDiscoverySelector, federatedServiceSelector].every((each) => each === undefined);

/** Reports whether two selections read the same from a target. */
export const isReadAlike = (a: Selection, b: Selection): boolean =>
  a.selector?.query === b.selector?.query &&
  a.remoteDiscoverySelector?.query === b.remoteDiscoverySelector?.query &&
  a.federatedServiceSelector?.query === b.federatedServiceSelector?.query &&
  (a.federatedServiceSelector === undefined || (a.gateway === undefined) === (b.gateway === undefined)) &&
  isDeepStrictEqual(a.targetNamespaces, b.targetNamespaces);

/**
 * Reports whether settings are equal, apart from the confirmation of a loss. The generation does not show that: after a
 * restore of the source cluster from a backup, one generation may stand for two specs.
 */
export const isApplied = (a: LinkSettings, b: LinkSettings): boolean =>
  JSON.stringify({ ...a, confirmPrune: undefined }) === JSON.stringify({ ...b, confirmPrune: undefined });
