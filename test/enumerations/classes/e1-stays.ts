/**
 * E1: once all is right, it stays right, at every instant: whatever changes nothing about what is wanted causes no write, and
 * no Link is not ready for a moment.
 */
import { sleep } from '../../../operator/kube/backoff.ts';
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import { namespace } from '../../support/builders.ts';
import { sourceCrds } from '../kinds.ts';
import type { PlanClass } from '../plan.ts';
import { course } from '../run.ts';
import { RUNS, runOf } from '../runs/index.ts';
import type { Scene, Setting } from '../scene.ts';
import { Users } from '../users.ts';

/** What happens, though nothing else is wanted. */
interface Event {
  readonly setting?: Setting;
  /** Whether another process goes on. @default false */
  readonly isStart?: boolean;
  readonly happen: (scene: Scene, users: Users) => void;
  /** Objects that may be written for it, by `<Kind> <namespace>/<name>`. @default none */
  readonly mayWrite?: RegExp;
  /** Time in which nothing may happen. @default that of a rest */
  readonly quietMs?: number;
}

const DOWN_MS = 3_000;
const HOUR_MS = 3_600_000;

/** The replica that has made the last write. */
const leaderOf = ({ writes }: Scene): number => Number(/^linkspan-(\d)/.exec(writes.all.at(-1)?.process ?? '')?.[1]);

const EVENTS: Readonly<Record<string, Event>> = {
  'a restart': { isStart: true, happen: (scene) => scene.restart('stop', DOWN_MS) },
  'a crash': { isStart: true, happen: (scene) => scene.restart('kill', DOWN_MS) },
  'a change of leader': {
    setting: { replicas: 2 },
    isStart: true,
    happen: (scene) => scene.operators.end(leaderOf(scene), 'stop'),
  },
  'a leader that is killed': {
    setting: { replicas: 2 },
    isStart: true,
    happen: (scene) => scene.operators.end(leaderOf(scene), 'kill'),
    quietMs: 90_000,
  },
  'a list anew of the source': { happen: ({ source }) => source.faults.expireWatches() },
  'a list anew of west': { happen: ({ targets }) => targets.west.faults.expireWatches() },
  'a list anew of bar': { happen: ({ targets }) => targets.bar.faults.expireWatches() },
  'a source that is away': {
    happen: ({ source, world }) => {
      source.goDown();
      world.after(world.users, DOWN_MS, () => source.start());
    },
  },
  'new credentials': {
    happen: (_, users) => {
      if (users.linkOf('west') !== undefined) users.credentials('west');
    },
    // It says which ones are in use.
    mayWrite: /^Link [^/]+\/west$/,
  },
  'CRDs that are applied again': {
    happen: ({ source }) => {
      for (const crd of sourceCrds) source.put(crd);
    },
  },
  'a neighbour that comes': {
    happen: (_, users) =>
      users.link('late', {
        targetClusterName: 'late',
        selector: {},
        remoteDiscoverySelector: {},
        serviceExports: false,
      }),
    mayWrite: /\/(late|probe-late(-ipv4)?)$/,
  },
  'a namespace that comes': { happen: ({ source }) => source.put(namespace('of-nobody')) },
  'an hour that passes': { happen: () => undefined, quietMs: HOUR_MS },
};

interface Data {
  readonly run: string;
  readonly step: number;
  readonly event: string;
}

/** Whether an object says that it is ready; undefined if it says nothing of that. */
function readyOf({ status }: KubeObject): boolean | undefined {
  const { conditions } = (status ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  const ready = conditions?.find(({ type }) => type === 'Ready');
  return ready && ready.status === 'True';
}

export const stays: PlanClass<Data> = {
  id: 'E1',
  about: 'once right, it stays right through restarts, lists, renewals and neighbours: no write, no moment not ready',

  list: () =>
    Promise.resolve(
      RUNS.flatMap(({ name: run, steps }) =>
        steps.flatMap(({ name, forgets }, step) =>
          Object.entries(EVENTS).flatMap(([event, { isStart = false }]) =>
            isStart && forgets !== undefined
              ? []
              : [{ name: `${run}, after "${name}": ${event}`, data: { run, step, event } }],
          ),
        ),
      ),
    ),

  play: async ({ run: name, step, event }) => {
    const run = runOf(name);
    const { setting, happen, mayWrite, quietMs } = EVENTS[event]!;
    const problems: string[] = [];
    const { complaints } = await course(run, {
      ...(setting && { setting }),
      until: step,
      after: async (scene, at) => {
        if (at !== step) return;
        const from = scene.writes.telling.length;
        scene.writes.onWrite = ({ id }, _, { previous, object }) => {
          if (previous && readyOf(previous) === true && readyOf(object) !== true) problems.push(`${id} is not ready`);
        };
        happen(scene, new Users(scene));
        if (quietMs === undefined) await scene.rest();
        else await sleep(quietMs);
        const written = scene.writes.telling.slice(from).filter(({ id }) => mayWrite?.test(id) !== true);
        problems.push(...written.slice(0, 5).map(({ type, id }) => `${type} ${id} though nothing else is wanted`));
      },
    });
    return [...complaints, ...problems];
  },
};
