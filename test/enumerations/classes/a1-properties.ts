/**
 * A1: every property of every kind of ours is set, changed and taken away, one after another in one life. Each change shows, in
 * objects, in a condition or in what the operator asks; nothing of others changes; and at the end all is as it was.
 */
import { LIVES, lifeOf } from '../lives/index.ts';
import { type Alive, type Change, inLife, shows, textOf } from '../lives/alive.ts';
import { type Life, propertiesIn, propertyIn } from '../lives/life.ts';
import type { PlanClass } from '../plan.ts';
import { ABSENT, type Property } from '../properties.ts';
import { differentStates } from '../state.ts';

interface Data {
  readonly life: string;
  /** Names of the properties that change, in this order. */
  readonly properties: readonly string[];
}

/** What is wrong about what came of a change. */
function problemsOf(change: Change, expected: Expected): readonly string[] {
  const { text, before, after, refused, isSame, touched } = change;
  const problems = touched.length === 0 ? [] : [`${text} touched ${touched.join(', ')}`];
  const isNews = refused === undefined && !isSame;
  if (isNews && !shows(change) && expected === 'shows') problems.push(`${text} shows nowhere`);
  if (isNews && shows(change) && expected === 'silent') problems.push(`${text} shows, though it is listed as silent`);
  if (!isNews) {
    const changes = differentStates(before.objects, after.objects);
    if (changes.length > 0) problems.push(`${text} is ${refused ?? 'nothing new'}, but changes ${changes.join('; ')}`);
  }
  return problems;
}

/** What is known of a value: it shows, it changes nothing, or, since it is empty, it may mean what absent means. */
type Expected = 'shows' | 'silent' | 'either';

const expectedOf = ({ silent }: Life, { name, values }: Property, value: unknown): Expected => {
  if (`${name}=${textOf(value)}` in silent) return 'silent';
  return values.indexOf(value) > values.indexOf(ABSENT) ? 'either' : 'shows';
};

async function touchAll(alive: Alive, properties: readonly Property[]): Promise<readonly string[]> {
  const { life } = alive;
  const problems: string[] = [];
  await alive.begin();
  for (const property of properties) {
    const first = await alive.look(property);
    for (const value of property.values) {
      const change = await alive.change(property, value);
      problems.push(...problemsOf(change, expectedOf(life, property, value)));
    }
    const { after } = await alive.restore(property);
    if (life.leaves?.[property.name] !== undefined) continue;
    const left = differentStates(first.objects, after.objects);
    problems.push(...left.map((each) => `after ${property.name}: ${each}`));
  }
  return problems;
}

export const properties: PlanClass<Data> = {
  id: 'A1',
  about: 'every property of every kind of ours set, changed and taken away: each change shows, nothing else changes',

  list: () =>
    Promise.resolve(
      LIVES.flatMap((life) => {
        const names = propertiesIn(life).map(({ name }) => name);
        return [
          ...names.map((name) => ({ name: `${life.name}: ${name}`, data: { life: life.name, properties: [name] } })),
          { name: `${life.name}: all in one life`, data: { life: life.name, properties: names } },
        ];
      }),
    ),

  play: ({ life: name, properties: names }) => {
    const life = lifeOf(name);
    return inLife(life, (alive) =>
      touchAll(
        alive,
        names.map((each) => propertyIn(life, each)),
      ),
    );
  },

  notes: () =>
    Promise.resolve(
      LIVES.map((life) => {
        const all = propertiesIn(life);
        const values = all.reduce((sum, property) => sum + property.values.length, 0);
        return `${life.name}: ${all.length} properties, ${values} values: ${all.map(({ name }) => name).join(', ')}`;
      }),
    ),
};
