/** All classes of the search. */
import type { PlanClass } from '../plan.ts';
import { properties } from './a1-properties.ts';
import { ownFields } from './a4-own-fields.ts';
import { mistakes } from './a2-mistakes.ts';
import { atOnceOrNot } from './a3-at-once.ts';
import { stays } from './e1-stays.ts';
import { contenders } from './e2-contenders.ts';
import { promptness } from './p1-promptness.ts';
import { questions } from './p2-questions.ts';
import { stops } from './s1-stops.ts';
import { lagging } from './s2-lag.ts';
import { watches } from './w1-watches.ts';
import { events } from './s4-events.ts';
import { leases } from './s5-leases.ts';
import { refusals } from './s6-refusals.ts';
import { restores } from './s7-restores.ts';
import { denials } from './s8-denials.ts';
import { unseen } from './s3-unseen.ts';

export const CLASSES: readonly PlanClass[] = [
  ...[stops, lagging, unseen, events, leases, refusals, restores, denials],
  ...[properties, mistakes, atOnceOrNot, ownFields],
  ...[stays, contenders, promptness, questions],
  watches,
].map((each) => each as unknown as PlanClass);

/** @throws RangeError if there is none of that id */
export function classOf(id: string): PlanClass {
  const found = CLASSES.find((each) => each.id === id);
  if (found === undefined) {
    throw new RangeError(`no class is called "${id}": there are ${CLASSES.map((each) => each.id).join(', ')}`);
  }
  return found;
}
