/** Schemas of the props of TrafficSplit and Exported. */
import { choice, object } from '../common/schema.ts';
import { SPLIT } from '../mirror/index.ts';

export const TRAFFIC_SPLIT_PROPS = object('A TrafficSplit', SPLIT, 'service', 'backends');

export const EXPORT_OPTIONS = object('Export of Services', {
  mode: choice(
    'Mode of mirrors: through the gateway, or from pod to pod on a flat network; default gateway',
    'gateway',
    'remote-discovery',
  ),
});
