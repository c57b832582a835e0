/** A Link as commands read it: whatever the API server has stored, with the parts that commands look at. */
import type { LinkSpec } from '../../../crds/link/types.gen.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';

/** A condition of a Link. */
export interface LinkCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** RFC 3339. */
  readonly lastTransitionTime?: string;
  readonly observedGeneration?: number;
}

export interface LinkObject extends KubeObject {
  readonly spec?: LinkSpec;
  readonly status?: {
    readonly conditions?: readonly LinkCondition[];
    readonly gateway?: { readonly alive?: boolean };
  };
}

/** The Link's condition of a type, if it has one. */
export const conditionOf = (link: LinkObject | undefined, type: string): LinkCondition | undefined =>
  link?.status?.conditions?.find((condition) => condition.type === type);
