/** What a command wants of a cluster, as values: objects with the fields that it sets, and objects that are to go. */
import type { ApiJson } from '../../../../constructs/rendered/render.ts';
import type { KubeObject, Resource } from '../../../../operator/kube/objects.ts';
import type { Cluster } from '../cluster.ts';
import type { FieldPath } from './fields.ts';

/** An object that is to be there, with these fields. */
export interface Want {
  readonly cluster: Cluster;
  readonly object: ApiJson;
  /**
   * Fields that stay as they are where somebody else has set them: settings that the object has beside ours. `*` stands
   * for any one step.
   * @default - none
   */
  readonly yields?: readonly FieldPath[];
  /**
   * Fields that are changed whoever has set them, since a flag names them, or since they are what the command is for.
   * @default - none: a field that somebody else has set to another value refuses the command
   */
  readonly takes?: readonly FieldPath[];
}

/** Every field of an object, for {@link Want.takes}: what `--force-conflicts` says. */
export const ALL_FIELDS: readonly FieldPath[] = [[]];

/** An object that is there. */
export interface Existing {
  readonly cluster: Cluster;
  readonly of: Resource;
  /** As it was read. */
  readonly object: KubeObject;
}

/** One that is to go: just the one that was read. */
export type Unwanted = Existing;
