/** A Link as commands find it: whatever the API server has stored. What its status reports is read by `link-status.ts`. */
import type { LinkSpec } from '../../../crds/link/types.gen.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';

export interface LinkObject extends KubeObject {
  readonly spec?: LinkSpec;
  /** Foreign data: anything may be in it. */
  readonly status?: unknown;
}
