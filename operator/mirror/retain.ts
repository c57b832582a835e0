/**
 * What must not be deleted although it is not desired: the one place that decides it. The answer is a value that filters
 * the plan; whoever executes the plan asks nothing else.
 */
import { Label, mirrorName } from '../../crds/wire.ts';
import { SERVICES, type KubeObject, type Resource } from '../kube/objects.ts';
import type { Observed } from './observed.ts';
import type { Shape } from './shape.ts';

/** Reports whether an owned object stays, whatever is desired. */
export type Retain = (of: Resource, object: KubeObject) => boolean;

const nothing: Retain = () => false;
const everything: Retain = () => true;

/**
 * - Everything stays of what cannot be decided: the target has not been listed, or the deletion is held (rule E6).
 * - Everything stays where mirrors may not be written, and where nothing is known of what is there.
 * - While endpoints are not known, those of a mirror stay, and so does every endpoint mirror (lesson L7).
 */
export function retained({ name, link }: Observed, shape: Shape): Retain {
  switch (shape.kind) {
    case 'undecided':
      return everything;
    case 'refused':
      return shape.existing === 'keep' ? everything : nothing;
    case 'clusterIP':
      return shape.endpoints === undefined ? endpointsOf(mirrorName(name, link.cluster)) : nothing;
    case 'headless':
      return shape.endpoints === undefined ? everything : nothing;
    case 'absent':
    case 'flat':
      return nothing;
  }
}

const endpointsOf =
  (service: string): Retain =>
  (of, { metadata }) =>
    of !== SERVICES && (metadata.name === service || metadata.labels?.[Label.serviceName] === service);
