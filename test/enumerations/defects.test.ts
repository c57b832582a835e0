/** Each class can fail: with a defect in the operator, one of its plans finds it. */
import { expect, test } from 'vitest';
import type { Defect } from '../mutants/defect.ts';
import { defectOf } from '../mutants/faults.ts';
import { CLASSES } from './classes/index.ts';
import { withDefects } from './print.ts';
import { search } from './search.ts';

const NOT_TAKEN_BACK: Defect = {
  name: 'what was excluded is not copied again when that is taken back',
  file: 'operator/link/session.ts',
  find: 'if (isApplied(settings, before)) return;',
  replace: 'if (isApplied(settings, before) || before.excludedLabels.length > 0) return;',
  tests: [],
};

const NOT_PUT_RIGHT: Defect = {
  name: 'what others change in the status of a ServiceFailover is not noticed',
  file: 'operator/failover/watched.ts',
  find: 'isDeepStrictEqual(before?.status, after?.status)',
  replace: 'true',
  tests: [],
};

const NOT_KEPT: Defect = {
  name: 'an answer about pods is forgotten before all that it is needed for is done',
  file: 'operator/mirrors/derivation.ts',
  find: 'if (!isPending) from.target?.pods.forget(key);',
  replace: 'from.target?.pods.forget(key);',
  tests: [],
};

/** For each class, a defect, or the name of one of test/mutants/defects, and what the names of plans contain that find it. */
const FOUND: readonly (readonly [id: string, defect: string | Defect, named: string])[] = [
  [
    'S1',
    'R4 endpoint mirrors are deleted while the endpoints of the target are not known',
    'headless: the operator is',
  ],
  ['S2', 'an endpoint mirror is deleted before the target has confirmed that its pod is gone', '"gone and back": west'],
  ['S3', 'a version that has expired is watched again', 'watches are deaf'],
  ['S4', 'a mirror is deleted before the target has confirmed it', 'flat: event'],
  [
    'S5',
    'L69 a write that was sent under a Lease is given up, and may be made later',
    'export: the operator is stopped',
  ],
  ['S6', 'endpoints of a Service that could not be changed are deleted', 'hostnames appear: DELETED Service'],
  [
    'S7',
    'L83 a status that a restored backup has taken back is never written again',
    'import: the source is restored to write',
  ],
  ['S8', 'R4 endpoint mirrors are deleted while the endpoints of the target are not known', 'headless, "up"'],
  ['A1', 'headless Services are mirrored as such though that is turned off', 'enableHeadlessServices'],
  ['A2', NOT_TAKEN_BACK, 'Link: spec.excludedLabels'],
  ['A3', 'a Service that becomes headless is changed in place, which is refused', 'hostnames appear'],
  ['A4', NOT_PUT_RIGHT, 'ServiceFailover: status.active'],
  ['E1', 'before the first verdict after a restart mirrors with Endpoints are ready', '"dead": a restart'],
  ['E2', 'a repair that somebody keeps undoing is repeated without a pause', 'Endpoints shop/web-west is undone'],
  ['P1', 'a name that is given up is noticed by a retry', 'one name'],
  ['P2', NOT_KEPT, 'hostnames appear'],
  ['W1', 'a version that has expired is watched again', 'expire'],
];

test('there is a defect for each class', () => {
  const found = FOUND.map(([id]) => id);
  expect(CLASSES.map(({ id }) => id).filter((id) => !found.includes(id))).toEqual([]);
});

test.each(
  FOUND.map(([id, defect, named]) => ({ id, named, defect: typeof defect === 'string' ? defectOf(defect) : defect })),
)('$id finds: $defect.name', { timeout: 300_000 }, async ({ id, named, defect }) => {
  await withDefects([defect], async (worker) => {
    for await (const { failures } of search({ classes: [id], threads: 2, named, untilFailure: true, worker }))
      expect(failures.length).toBeGreaterThan(0);
  });
});
