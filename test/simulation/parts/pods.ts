/** Pods of the source cluster, and Kubernetes' controllers that make endpoints of what selects them (rule C3). */
import { LINKS_NAMESPACE } from '../../support/builders.ts';
import { NAMESPACES } from '../command.ts';
import { putOwnPod } from '../source-users.ts';
import type { Feature } from './part.ts';

export const podsFeature: Feature = {
  name: 'pods',
  isIn: ({ hasPods = false }) => hasPods,
  sourceObjects: [],
  sourceControllers: ['endpointslice-controller', 'endpoints-controller', 'endpointslice-mirroring-controller'],
  targetObjects: [],
  flags: {},
  quiet: [],
  join: ({ east }) => {
    for (const namespace of [LINKS_NAMESPACE, ...NAMESPACES]) putOwnPod(east, namespace);
    return { play: () => false, problems: () => [] };
  },
};
