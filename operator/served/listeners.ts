/** Who is notified of what may have changed of one sort of a target's exports. */
import type { CountedListener } from '../target/certain/counted.ts';

export interface AspectListener extends CountedListener {
  /** All were listed anew, and are known. */
  listed(): void;
  /** They are about to be listed by another selector. */
  restarted(): void;
}

/** Is notified of what is mirrored. */
export interface MirrorListener extends AspectListener {
  /** The target has changed a Service: its mirror follows from now on. */
  seen(key: string): void;
}
