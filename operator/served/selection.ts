/** The settings of a Link that decide what is read from its target, and what of it is used. Pure. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { LinkSettings } from '../../crds/index.ts';
import type { TargetOptions } from '../target/target.ts';

/** Settings of a Link that decide which objects are read from its target. */
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
  // A federated Service may lead through gateways even if this Link does not ask for gateways (rule I5).
  readsMemberSlices: gateway !== undefined,
});

/** Reports whether no selector selects anything, so that no Service of the target is read (rule A1). */
export const selectsNothing = ({ selector, remoteDiscoverySelector, federatedServiceSelector }: Selection): boolean =>
  [selector, remoteDiscoverySelector, federatedServiceSelector].every((each) => each === undefined);

/** Reports whether two selections read the same objects from a target. */
export const isReadAlike = (a: Selection, b: Selection): boolean =>
  a.selector?.query === b.selector?.query &&
  a.remoteDiscoverySelector?.query === b.remoteDiscoverySelector?.query &&
  a.federatedServiceSelector?.query === b.federatedServiceSelector?.query &&
  (a.federatedServiceSelector === undefined || (a.gateway === undefined) === (b.gateway === undefined)) &&
  isDeepStrictEqual(a.targetNamespaces, b.targetNamespaces);

/** Settings of a Link that decide what it asks of a target, and of which. */
export type Asked = Selection & Pick<LinkSettings, 'serviceExports' | 'importPolicy' | 'credentialsSecret'>;

/**
 * Returns a digest of the settings of a Link that can take away what a target exports.
 * @param isHeadless whether headless Services are mirrored pod by pod
 */
export function digestOfAsked(settings: Asked, isHeadless: boolean): string {
  const { selector, remoteDiscoverySelector, federatedServiceSelector } = settings;
  const { targetNamespaces, serviceExports, importPolicy, credentialsSecret } = settings;
  const queries = [selector, remoteDiscoverySelector, federatedServiceSelector].map((each) => each?.query);
  const asked = [queries, targetNamespaces, serviceExports, importPolicy, credentialsSecret, isHeadless];
  return createHash('sha256').update(textOf(asked)).digest('base64url').slice(0, 16);
}

/** Returns JSON of settings. The entries of a set are in it, which JSON leaves out otherwise. */
const textOf = (settings: unknown): string =>
  JSON.stringify(settings, (_, value: unknown) => (value instanceof Set ? [...value].sort() : value));

/**
 * Reports whether settings are equal, apart from the confirmation of a loss. Equal generations would not prove this,
 * because after a restore of the source cluster from a backup one generation may stand for two specs.
 */
export const isApplied = (a: LinkSettings, b: LinkSettings): boolean =>
  textOf({ ...a, confirmPrune: undefined }) === textOf({ ...b, confirmPrune: undefined });
