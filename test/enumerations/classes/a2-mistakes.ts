/**
 * A2: an object is changed and then as it was, for each value of each property of each kind of ours. The state is that from
 * before; what a value does not take away keeps its uid and ClusterIP; and one that is invalid, or refused, touches nothing
 * but the status that says so.
 */
import { type Alive, type Change, inLife, textOf } from '../lives/alive.ts';
import { LIVES, lifeOf } from '../lives/index.ts';
import { idIn, propertiesIn, propertyIn } from '../lives/life.ts';
import type { PlanClass } from '../plan.ts';
import { differentStates } from '../state.ts';

export interface ValueOfLife {
  readonly life: string;
  readonly property: string;
  /** Index into the values of the property. */
  readonly value: number;
}

/** A plan for each value of each property of each life. */
export const valuePlans = (): readonly { readonly name: string; readonly data: ValueOfLife }[] =>
  LIVES.flatMap((life) =>
    propertiesIn(life).flatMap((property) =>
      property.values.map((each, value) => ({
        name: `${life.name}: ${property.name} = ${textOf(each)}`,
        data: { life: life.name, property: property.name, value },
      })),
    ),
  );

async function thereAndBack(
  alive: Alive,
  { life: name, property: of, value }: ValueOfLife,
): Promise<readonly string[]> {
  const life = lifeOf(name);
  const property = propertyIn(life, of);
  await alive.begin();
  const first = await alive.look(property);
  const there = await alive.change(property, property.values[value]);
  const back = await alive.restore(property);
  const isMistake = there.isInvalid || there.refused !== undefined;
  const problems = isMistake ? touchedBy(there, idIn(life)) : [];
  for (const [id, identity] of first.identities) {
    const [then, now] = [there.after.identities.get(id), back.after.identities.get(id)];
    // A mirror of another form is another Service (D3).
    if (then === identity && now !== identity) problems.push(`${id} is another: ${now ?? 'gone'}, not ${identity}`);
  }
  if (life.leaves?.[of] !== undefined) return problems;
  return [...problems, ...differentStates(first.objects, back.after.objects)];
}

/** What a mistake did to other objects than the one that it is in. */
function touchedBy({ before, after }: Change, subject: string): string[] {
  const others = (objects: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
    new Map([...objects].filter(([id]) => id !== subject));
  return differentStates(others(before.objects), others(after.objects)).map((each) => `the mistake changed ${each}`);
}

export const mistakes: PlanClass<ValueOfLife> = {
  id: 'A2',
  about: 'each value, then what was before: the same state, the same ClusterIPs; a mistake touches nothing',
  list: () => Promise.resolve(valuePlans()),
  play: (data) => inLife(lifeOf(data.life), (alive) => thereAndBack(alive, data)),
};
