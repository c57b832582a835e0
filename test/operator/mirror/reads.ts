/** How often a decision looks at objects: its cost, which is the same on every machine. */
import type { KubeObject } from '../../../operator/kube/objects.ts';

export class Reads {
  count = 0;

  /** Objects whose reads are counted. */
  of<T extends KubeObject>(objects: readonly T[]): readonly T[] {
    return objects.map((object) => {
      const { metadata } = object;
      const get = (): T['metadata'] => {
        this.count += 1;
        return metadata;
      };
      return Object.defineProperty({ ...object }, 'metadata', { enumerable: true, get });
    });
  }
}
