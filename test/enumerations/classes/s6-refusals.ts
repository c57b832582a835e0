/**
 * S6: each write is refused, and not carried out. All comes to the same end, no object is made or deleted once more, and nothing
 * is deleted sooner than in a run without: what waits for a write waits for its success.
 */
import { sleep } from '../../../operator/kube/backoff.ts';
import { type Course, course, differences, lastingWrites, reference, type Run } from '../run.ts';
import { RUNS, runOf } from '../runs/index.ts';
import { idOf, isTelling, type Write } from '../writes.ts';
import type { PlanClass } from '../plan.ts';

/** How a write is refused, and of which writes that is tried: what is denied is tried again late (H4). */
const HOWS = {
  'is answered with 503': { code: 503, times: 1, forMs: 0 },
  'is denied twice': { code: 403, times: 2, forMs: 0 },
  // As long as the deletion of what is replaced may have the write tried again at once (D3).
  'is denied for a while': { code: 403, times: 1, forMs: 20_000 },
} as const;

/** How a write is refused; a creation that is not the first may be one of what replaces another. */
function howsOf(type: Write['type'], nth: number): readonly How[] {
  if (type === 'DELETED') return ['is answered with 503', 'is denied twice'];
  return type === 'ADDED' && nth > 0 ? ['is answered with 503', 'is denied for a while'] : ['is answered with 503'];
}

type How = keyof typeof HOWS;

/** Within which a write that was denied is tried again (H4). */
const RETRIED_MS = 1_800_000;
const LOOK_MS = 5_000;

interface Data {
  readonly run: string;
  readonly how: How;
  /** `<Kind> <namespace>/<name>`. */
  readonly id: string;
  readonly type: Write['type'];
  /** Which of the writes of that type of the object, from 0. */
  readonly nth: number;
}

/** Whether a request may make a write: what is created or changed is applied. */
const makes = (verb: string, type: Write['type']): boolean => verb === (type === 'DELETED' ? 'delete' : 'patch');

/** `<plural> <namespace>/<name>`, as a request has it. */
const requestOf = (id: string): string => {
  const [kind = '', name = ''] = id.split(' ');
  return `${kind.toLowerCase()}${kind.endsWith('s') ? '' : 's'} ${name}`;
};

/** Whether an object is Endpoints or a slice of the Service of that name. */
const isAbout = (id: string, service: string): boolean => {
  const [, name = ''] = id.split(' ');
  return name === service || name.startsWith(`${service}.`) || name.startsWith(`${service}-ipv`);
};

/**
 * Endpoints whose deletion comes before the last write of their Service, and comes after it in the course to which nothing
 * happens.
 */
function tooSoon(wanted: Course, found: Course): readonly string[] {
  const order = ({ writes }: Course): ReadonlyMap<string, readonly [at: number, type: Write['type']]> =>
    new Map(writes.map((write, at) => [write.id, [at, write.type] as const]));
  const [before, after] = [order(wanted), order(found)];
  return [...before].flatMap(([id, [at, type]]) => {
    if (type !== 'DELETED' || !/^Endpoint/.test(id)) return [];
    return [...before].flatMap(([other, [otherAt, otherType]]) => {
      const [kind, service = ''] = other.split(' ');
      if (kind !== 'Service' || otherType === 'DELETED' || otherAt > at || !isAbout(id, service)) return [];
      const [now, then] = [after.get(id), after.get(other)];
      if (now === undefined || then === undefined || then[0] < now[0]) return [];
      return [`${id} was deleted before ${other} was written`];
    });
  });
}

/** A Service that is made within this time after it was deleted is replaced. */
const REPLACED_WITHIN_MS = 50;

/** A Service that was not there for so long was not replaced at once. */
const ABSENT_MS = 1000;

/** How long each Service that is replaced is not there at most, in milliseconds, by `<Kind> <namespace>/<name>`. */
function absences({ writes }: Course): ReadonlyMap<string, number> {
  const absences = new Map<string, number>();
  const deletedMs = new Map<string, number>();
  for (const { id, type, atMs } of writes) {
    if (type === 'DELETED' && id.startsWith('Service ')) deletedMs.set(id, atMs);
    if (type !== 'ADDED') continue;
    absences.set(id, Math.max(absences.get(id) ?? 0, atMs - (deletedMs.get(id) ?? atMs)));
  }
  return absences;
}

/** Services that go before it is known that what replaces them is accepted (D3); not such as another cluster has next. */
function absentLonger({ mayFlap }: Run, wanted: Course, found: Course): readonly string[] {
  const after = absences(found);
  return [...absences(wanted)].flatMap(([id, ms]) =>
    mayFlap?.test(id) !== true && ms > 0 && ms < REPLACED_WITHIN_MS && (after.get(id) ?? 0) >= ABSENT_MS
      ? [`${id} was not there for ${after.get(id)!.toFixed()} ms while it was replaced`]
      : [],
  );
}

export const refusals: PlanClass<Data> = {
  id: 'S6',
  about:
    'each write is refused: the same end, as many creations and deletions, and nothing goes before what it waits for',

  list: async () => {
    const plans = await Promise.all(
      RUNS.map(async (run) => {
        const counts = new Map<string, number>();
        const told = (await lastingWrites(run)).filter(isTelling);
        return told.flatMap(({ id, type }) => {
          const nth = counts.get(`${type} ${id}`) ?? 0;
          counts.set(`${type} ${id}`, nth + 1);
          return howsOf(type, nth).map((how) => ({
            name: `${run.name}: ${type} ${id}, number ${nth + 1}, ${how}`,
            data: { run: run.name, how, id, type, nth },
          }));
        });
      }),
    );
    return plans.flat();
  },

  play: async ({ run: name, how, id, type, nth }) => {
    const run = runOf(name);
    const wanted = await reference(run);
    let done = 0;
    let isRefused = false;
    const found = await course(run, {
      after: async (scene) => {
        for (let waitedMs = 0; isRefused && done <= nth && waitedMs < RETRIED_MS; waitedMs += LOOK_MS)
          await sleep(LOOK_MS);
        if (isRefused) await scene.rest();
      },
      begin: ({ source, writes, world }) => {
        const { code, times, forMs } = HOWS[how];
        let left: number = times;
        let untilMs = -Infinity;
        writes.onWrite = (write) => {
          if (write.id === id && write.type === type) done += 1;
        };
        source.faults.refuse({
          failure: { kind: 'status', code },
          match: ({ verb, resource, namespace = '', name: of = '' }) => {
            if (done !== nth || !makes(verb, type) || (left === 0 && world.nowMs >= untilMs)) return false;
            const within = resource === 'namespaces' ? '' : namespace;
            // Before an object is replaced, it is tried whether one of another name would be accepted (D3).
            const isTry = type === 'ADDED' && nth > 0 && of.startsWith('linkspan-try-');
            const asked = `${resource} ${within}/${of}`;
            if (isTry ? !requestOf(id).startsWith(`${resource} ${within}/`) : asked !== requestOf(id)) return false;
            const isThere = source.objects().some((object) => idOf(object) === id);
            if (type === 'ADDED' && isThere !== isTry) return false;
            if (left === times) untilMs = world.nowMs + forMs;
            left = Math.max(0, left - 1);
            isRefused = true;
            return true;
          },
        });
      },
    });
    return [
      ...(isRefused ? [] : ['no such request was made']),
      ...differences(run, wanted, found),
      ...tooSoon(wanted, found),
      ...absentLonger(run, wanted, found),
    ];
  },
};
