/** What a Link reads of its target: the settings that decide it, and what they come to. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { LinkSettings } from '../../crds/index.ts';
import type { TargetOptions } from '../target/target.ts';

/** Settings of a Link that decide what of its target is read. */
export type Selection = Pick<
  LinkSettings,
  'selector' | 'remoteDiscoverySelector' | 'federatedServiceSelector' | 'gateway' | 'targetNamespaces'
>;

/** Returns the selectors by which the target is read. */
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

/** Reports whether the same is read by both. */
export const isReadAlike = (a: Selection, b: Selection): boolean =>
  a.selector?.query === b.selector?.query &&
  a.remoteDiscoverySelector?.query === b.remoteDiscoverySelector?.query &&
  a.federatedServiceSelector?.query === b.federatedServiceSelector?.query &&
  (a.federatedServiceSelector === undefined || (a.gateway === undefined) === (b.gateway === undefined)) &&
  isDeepStrictEqual(a.targetNamespaces, b.targetNamespaces);

/**
 * Reports whether settings agree in all but a confirmation. The generation alone does not show it: after a restore of
 * the source cluster from a backup one stands for two specs.
 */
export const isApplied = (a: LinkSettings, b: LinkSettings): boolean =>
  JSON.stringify({ ...a, confirmPrune: undefined }) === JSON.stringify({ ...b, confirmPrune: undefined });
