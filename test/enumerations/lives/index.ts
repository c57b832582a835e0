/** All lives: those of each kind of ours that users write. */
import { failoverLife, weightsLife } from './failover.ts';
import type { Life } from './life.ts';
import { linkLife } from './link.ts';
import { mcsLives } from './mcs.ts';

export const LIVES: readonly Life[] = [linkLife, failoverLife, weightsLife, ...mcsLives];

/** @throws RangeError if there is none of that name */
export function lifeOf(name: string): Life {
  const life = LIVES.find((each) => each.name === name);
  if (life === undefined) throw new RangeError(`no life is called "${name}"`);
  return life;
}
