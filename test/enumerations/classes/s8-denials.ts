/**
 * S8: what the operator reads may not be read while a step happens, or cannot be. It keeps what it cannot decide, sees the rest, and
 * comes to the same end once that is over; no object is made or deleted for it.
 */
import { sleep } from '../../../operator/kube/backoff.ts';
import type { Disposer } from '../../cluster/simulated/faults.ts';
import type { RequestInfo } from '../../cluster/simulated/request.ts';
import type { PlanClass } from '../plan.ts';
import { course, differences, reference } from '../run.ts';
import { RUNS, runOf } from '../runs/index.ts';
import type { ClusterName } from '../scene.ts';

const HOWS = ['goes on', 'starts anew'] as const;
type How = (typeof HOWS)[number];

/** What is answered: the right is missing, or the server fails, as where the webhook of a CRD is down. */
const ANSWERS = { 'may not': 403, cannot: 500 } as const;
type Answer = keyof typeof ANSWERS;

interface Data {
  readonly run: string;
  readonly step: number;
  readonly how: How;
  readonly answer: Answer;
  readonly cluster: ClusterName;
  /** Plural of what may not be read there. */
  readonly resource: string;
}

/** Within which it is asked again whether something may be read. */
const ASKED_MS = 1_800_000;
const LOOK_MS = 5_000;

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

const askedBy = ({ path, query }: RequestInfo): string =>
  [path, query.get('labelSelector'), query.get('fieldSelector')].join(' ');

export const denials: PlanClass<Data> = {
  id: 'S8',
  about: 'what is read is denied or fails while a step happens: the same end, and nothing is made or deleted for it',

  list: async () => {
    const plans = await Promise.all(
      RUNS.map(async (run) => {
        const { listed } = await reference(run);
        return run.steps.flatMap(({ name, forgets, isRecordedBy }, step) =>
          [...listed].flatMap(([cluster, resources]) =>
            [...resources].sort().flatMap((resource) =>
              HOWS.filter(
                (how) => how === 'goes on' || (forgets ?? run.steps[step - 1]?.forgets ?? isRecordedBy) === undefined,
              ).flatMap((how) =>
                (Object.keys(ANSWERS) as Answer[]).map((answer) => ({
                  name: `${run.name}, "${name}": the operator ${how}, and ${answer} read ${resource} of ${cluster}`,
                  data: { run: run.name, step, how, answer, cluster, resource },
                })),
              ),
            ),
          ),
        );
      }),
    );
    return plans.flat();
  },

  play: async ({ run: name, step, how, answer, cluster, resource }) => {
    const run = runOf(name);
    const wanted = await reference(run);
    const isRead = (request: RequestInfo): boolean => READS.has(request.verb) && request.resource === resource;
    let grant: Disposer = () => undefined;
    /** What was refused, until it is asked for again. */
    const refused = new Set<string>();
    const found = await course(run, {
      until: step,
      before: (scene, at) => {
        if (at !== step) return;
        const { faults } = scene.clusters[cluster];
        grant = faults.refuse({
          failure: { kind: 'status', code: ANSWERS[answer] },
          match: (request) => isRead(request) && refused.add(askedBy(request)).size > 0,
        });
        faults.dropWatches(isRead);
        if (how === 'starts anew') scene.restart('stop');
      },
      after: async (scene, at) => {
        if (at !== step) return;
        grant();
        scene.listen(cluster, (request) => isRead(request) && refused.delete(askedBy(request)));
        for (let waitedMs = 0; refused.size > 0 && waitedMs < ASKED_MS; waitedMs += LOOK_MS) await sleep(LOOK_MS);
        await scene.rest(run.steps[step]?.restMs);
      },
    });
    const { forgets, unread } = run.steps[step]!;
    const isRight = (problem: string): boolean =>
      unread?.differs.test(problem) === true && (unread.resource ?? resource) === resource;
    const stale = [...(found.states[step] ?? [])].filter(([, text]) => text.includes(`(${ANSWERS[answer]})`));
    return [
      // Where more depends on what was known before, another state is as right.
      ...(forgets === undefined
        ? differences(run, wanted, found, step).filter((each) => !isRight(each))
        : found.complaints),
      ...stale.map(([id, text]) => `${id} still says that something may not be read: ${text}`),
    ];
  },
};
