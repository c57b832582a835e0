import {
  type Action,
  type Desired,
  type Owned,
  type OwnedKind,
  plan,
  type Settled,
} from '../../operator/runtime/plan.ts';

/** Objects that are ours, by kind. */
export const byKind = (owned: readonly Owned[]): readonly OwnedKind[] =>
  [...Map.groupBy(owned, ({ of }) => of)].map(([of, all]) => ({ of, objects: all.map(({ object }) => object) }));

/** The plan, made without a pause between its parts. */
export function planned(desired: readonly Desired[], owned: readonly Owned[], settled?: Settled): readonly Action[] {
  const work = plan(desired, byKind(owned), settled);
  for (;;) {
    const part = work.next();
    if (part.done === true) return part.value;
  }
}
