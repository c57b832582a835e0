/** What a Link says of itself. */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';

/** Annotation that leaves a Link to another controller (H9). */
export const SUSPENDED = 'linkspan.dev/suspended';

/** The period of probes that makes a Link invalid. */
export const INVALID_PERIOD = '0s';

/** The `gatewayAddress` of a Link that has no gateway. */
export const NO_GATEWAY = '';

/** The cluster that a Link names. */
export const clusterOf = (link: KubeObject | undefined): string | undefined =>
  (link?.spec as { readonly targetClusterName?: string } | undefined)?.targetClusterName;

/** Whether a Link is valid, and not left to another controller. */
export function isServable({ metadata: { annotations = {} }, spec }: KubeObject): boolean {
  const { probeSpec } = spec as { readonly probeSpec?: { readonly period?: string } };
  return probeSpec?.period !== INVALID_PERIOD && !(SUSPENDED in annotations);
}
