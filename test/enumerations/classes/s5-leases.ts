/**
 * S5: a write takes effect late, while the operator goes on, or is stopped; or it is on its way when the machine of the operator
 * sleeps until another replica leads. The operator writes nothing that its Leases do not allow, and no Link says that it is synced
 * before it is, by the judges that each scene has, and all comes to the same end.
 */
import { sleep } from '../../../operator/kube/backoff.ts';
import type { Exchange } from '../../cluster/simulated/exchange.ts';
import type { Request } from '../../simulation/cluster.ts';
import { Passing } from '../../simulation/manners.ts';
import type { PlanClass } from '../plan.ts';
import { course, type Run } from '../run.ts';
import { RUNS, runOf } from '../runs/index.ts';
import type { Scene, Setting } from '../scene.ts';
import { differentStates, type State } from '../state.ts';

/** How late a write takes effect: before the operator gives up waiting for it (H2). */
const LATE_MS = 3_000;
/** Longer than any Lease, and shorter than users wait before the next step. */
const ASLEEP_MS = 35_000;
/** Longer than the write takes: who starts before would make it void by a write of its own. */
const DOWN_MS = 5_000;

/** One way to disturb the operator while a write is on its way. */
interface How {
  readonly setting: Setting;
  /** @returns what the API server gets of it */
  readonly disturb: (scene: Scene, request: Request, replica: number) => Exchange | undefined;
}

const HOWS = {
  'goes on while nothing comes of': { setting: { replicas: 1 }, disturb: (_, request) => new Late(request) },
  'is stopped amidst': {
    setting: { replicas: 1 },
    disturb: ({ operators, world }, request, replica) => {
      operators.end(replica, 'stop');
      world.after(world.users, DOWN_MS, () => operators.start(replica));
      return new Late(request);
    },
  },
  'sleeps past its Leases amidst': {
    setting: { replicas: 2 },
    disturb: ({ operators }, _, replica) => {
      operators.pause(replica, ASLEEP_MS);
      return undefined;
    },
  },
} as const satisfies Readonly<Record<string, How>>;
type HowName = keyof typeof HOWS;

interface Data {
  readonly run: string;
  readonly how: HowName;
  /** Of the request, from 1 over all that write to the source. */
  readonly index: number;
}

/** A request that is carried out late, whether or not anybody waits for its answer. */
class Late extends Passing {
  override get closed(): boolean {
    return false;
  }

  override async text(): Promise<string> {
    await sleep(LATE_MS);
    return super.text();
  }
}

const replicaOf = ({ process }: Request): number => Number(/^linkspan-(\d)/.exec(process.name)?.[1]);

/** Tells of each request that may write to the source, as it arrives. @param onSent returns what takes its place */
function number(scene: Scene, onSent: (request: Request, index: number) => Exchange | undefined): void {
  let count = 0;
  scene.source.wrap = (request) => (request.method === 'GET' ? undefined : onSent(request, ++count));
}

interface Reference {
  readonly state: State;
  /** By number: what each request wrote that says something. */
  readonly writes: ReadonlyMap<number, string>;
}

const references = new Map<string, Promise<Reference>>();

/** A run to which nothing happens, with so many replicas. */
function reference(run: Run, setting: Setting): Promise<Reference> {
  const key = `${run.name} ${setting.replicas}`;
  const found = references.get(key) ?? play(run, setting);
  references.set(key, found);
  return found;
}

async function play(run: Run, setting: Setting): Promise<Reference> {
  const numbers = new Map<Request, number>();
  const writes = new Map<number, string>();
  const lost = run.steps.findIndex(({ isLostBy }) => isLostBy !== undefined);
  let current = 0;
  const { states } = await course(run, {
    setting,
    before: (_, step) => void (current = step),
    begin: (scene) => {
      number(scene, (request, index) => void numbers.set(request, index));
      scene.writes.onWrite = ({ kind, type, id, isRenewal }, request) => {
        const what = `${type} ${id}`;
        const isLost = (lost >= 0 && current >= lost) || run.steps[current]!.isRecordedBy?.test(what) === true;
        if (kind !== 'Event' && !isRenewal && !isLost) writes.set(numbers.get(request)!, what);
      };
    },
  });
  return { state: states.at(-1)!, writes };
}

export const leases: PlanClass<Data> = {
  id: 'S5',
  about:
    'a late write, a stop or a sleep amidst one: nothing is written without its Leases or synced too early, the same end',

  list: async () => {
    const plans = await Promise.all(
      RUNS.flatMap((run) =>
        (Object.keys(HOWS) as HowName[]).map(async (how) =>
          [...(await reference(run, HOWS[how].setting)).writes].map(([index, what]) => ({
            name: `${run.name}: the operator ${how} request ${index}, ${what}`,
            data: { run: run.name, how, index },
          })),
        ),
      ),
    );
    return plans.flat();
  },

  play: async ({ run: name, how, index }) => {
    const run = runOf(name);
    const { setting, disturb }: How = HOWS[how];
    const wanted = await reference(run, setting);
    const found = await course(run, {
      setting,
      begin: (scene) =>
        number(scene, (request, at) => (at === index ? disturb(scene, request, replicaOf(request)) : undefined)),
    });
    return [...found.complaints, ...differentStates(wanted.state, found.states.at(-1) ?? new Map())];
  },
};
