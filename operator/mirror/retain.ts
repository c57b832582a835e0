/**
 * What must not be deleted although it is not desired. Only this file decides it. The answer is a value that filters
 * the plan before it is executed.
 */
import { Label, mirrorName } from '../../crds/wire.ts';
import { SERVICES } from '../kube/objects.ts';
import type { Retain } from '../runtime/pass.ts';
import type { Observed } from './observed.ts';
import type { Shape } from './shape.ts';

const nothing: Retain = () => false;
const everything: Retain = () => true;

/**
 * Returns what is retained for a shape.
 * - If nothing can be decided, since the target has not been listed or the deletion is held (rule E6): everything.
 * - In a namespace where mirrors may not be written, or that cannot be read: everything.
 * - While endpoints are not known: those of a mirror, and every endpoint mirror (lesson L7).
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
