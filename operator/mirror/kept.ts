/** Mirrors of ours that are kept as they are, with endpoints that follow the gateway (rule C1). */
import { SERVICES } from '../kube/objects.ts';
import { refreshedEndpoints } from './gateway-endpoints.ts';
import { keptServices } from './kept-services.ts';
import { type Manifests, NOTHING, toDesired } from './manifests.ts';
import type { Observed } from './observed.ts';
import { indexOf } from './owned-index.ts';
import type { StayingRender } from './rendered.ts';

/** Reports whether what has the name of a Service stays as it is. */
export type Stays = (service: string) => boolean;

/** Our Services as they are, and endpoints of ours, which follow the gateway. @param stays @default - all */
export const keptAs = (observed: Observed, staying: StayingRender, stays: Stays = () => true): Manifests => ({
  ...NOTHING,
  services: keptServices(
    observed,
    observed.owned.services.filter(({ metadata }) => stays(metadata.name)),
  ),
  endpoints: refreshedEndpoints(observed, staying, stays).map(toDesired),
});

/** One of our Services as it is, and its endpoints, which follow the gateway: what it must be no construct takes. */
export function kept(observed: Observed, name: string, staying: StayingRender): Manifests {
  const live = indexOf(observed.owned).services.get(name);
  if (live === undefined) return NOTHING;
  const manifests = keptAs(observed, staying, (service) => service === name);
  return manifests.services.length > 0 ? manifests : { ...manifests, services: [{ of: SERVICES, object: live }] };
}
