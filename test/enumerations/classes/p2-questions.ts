/**
 * P2: nothing is asked twice. In a step of a run to which nothing happens, no object is asked for by its name more than once: an
 * answer is kept until it has been used, and what watches show is not asked for.
 */
import type { RequestInfo } from '../../cluster/simulated/request.ts';
import type { PlanClass } from '../plan.ts';
import { course } from '../run.ts';
import { RUNS, runOf } from '../runs/index.ts';
import { CLUSTERS } from '../scene.ts';

interface Data {
  readonly run: string;
}

/** A Lease is read anew each time, before it is written (H1); the id of a cluster is watched by its name. */
const OFTEN: ReadonlySet<string> = new Set(['leases', 'clusterproperties']);

/** What a request asks for: an object, or the slices of a Service; undefined if it asks for all of a kind. */
function askedFor({ verb, resource, namespace = '', name, selected, query }: RequestInfo): string | undefined {
  if (resource === '' || OFTEN.has(resource)) return undefined;
  const ofService = /^kubernetes\.io\/service-name=(.+)$/.exec(query.get('labelSelector') ?? '')?.[1];
  const of = verb === 'get' ? name : verb === 'list' ? (selected ?? ofService) : undefined;
  return of === undefined ? undefined : `${resource} ${namespace}/${of}`;
}

export const questions: PlanClass<Data> = {
  id: 'P2',
  about: 'in each step of each run, no object and no pods of a Service are asked for by name more than once',

  list: () => Promise.resolve(RUNS.map(({ name: run }) => ({ name: run, data: { run } }))),

  play: async ({ run: name }) => {
    const run = runOf(name);
    let asked = new Map<string, number>();
    const problems: string[] = [];
    const { complaints } = await course(run, {
      begin: (scene) => {
        for (const cluster of CLUSTERS) {
          scene.listen(cluster, (request) => {
            const object = askedFor(request);
            const question = `${object} of ${cluster}`;
            if (object !== undefined) asked.set(question, (asked.get(question) ?? 0) + 1);
          });
        }
      },
      after: (_, step) => {
        for (const [object, times] of asked)
          if (times > 1) problems.push(`"${run.steps[step]!.name}": ${object} was asked for ${times} times`);
        asked = new Map();
      },
    });
    return [...complaints, ...problems];
  },
};
