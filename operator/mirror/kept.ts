/** Mirrors of ours that are kept as they are, with endpoints that follow the gateway (rule C1). */
import { SERVICES } from '../kube/objects.ts';
import { refreshedEndpoints } from './gateway-endpoints.ts';
import { keptServices } from './kept-services.ts';
import { type Manifests, NOTHING } from './manifests.ts';
import type { Observed } from './observed.ts';
import { indexOf } from './owned-index.ts';
import type { StayingRender } from './rendered.ts';

/**
 * Our Services as they are, and endpoints of ours, which follow the gateway.
 * @param names of Services; nothing else is looked at. @default - all
 */
export function keptAs(observed: Observed, staying: StayingRender, names?: Iterable<string>): Manifests {
  const { services } = indexOf(observed.owned);
  const ofNames = names === undefined ? services.values() : [...names].flatMap((name) => services.get(name) ?? []);
  return {
    ...NOTHING,
    services: keptServices(observed, [...ofNames]),
    endpoints: refreshedEndpoints(observed, staying, names),
  };
}

/** One of our Services as it is, and its endpoints, which follow the gateway: what it must be no construct takes. */
export function kept(observed: Observed, name: string, staying: StayingRender): Manifests {
  const live = indexOf(observed.owned).services.get(name);
  if (live === undefined) return NOTHING;
  const manifests = keptAs(observed, staying, [name]);
  return manifests.services.length > 0 ? manifests : { ...manifests, services: [{ of: SERVICES, object: live }] };
}
