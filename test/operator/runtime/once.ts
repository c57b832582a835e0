import { type Desired, idOf } from '../../../operator/runtime/plan.ts';

/**
 * Returns what is desired.
 * @throws Error if two objects of one name are desired: a plan takes the first of them, and nobody sees the other
 */
export function once(desired: readonly Desired[]): readonly Desired[] {
  const ids = desired.map(({ of, object }) => idOf(of, object));
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
  if (twice.length > 0) throw new Error(`desired twice: ${twice.join(', ')}`);
  return desired;
}
