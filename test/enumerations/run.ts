/** A reference run: what users do, step by step, each once all is at rest. What it comes to is what each plan is judged by. */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { conditionsOf } from '../simulation/link-users.ts';
import { type ClusterName, CLUSTERS, inScene, type Scene, type Setting } from './scene.ts';
import { differentStates, type State } from './state.ts';
import { Users } from './users.ts';
import { differentLives, livesIn, type Write } from './writes.ts';

export interface Step {
  readonly name: string;
  readonly act: (users: Users, scene: Scene) => void;
  /**
   * Whether what comes of it depends on what was before, by a rule: the same objects, put at once, come to another state.
   * @default false
   */
  readonly hasPast?: boolean;
  /** Time in which it has come about. @default 8000 */
  readonly withinMs?: number;
  /** Why an operator that starts then reports something else. @default it does not */
  readonly forgets?: string;
  /** Why who is stopped amidst it does not come to the same end. @default it does */
  readonly isLostBy?: string;
  /** What may differ, by a rule, where something was not to be read while it happened. @default nothing */
  readonly unread?: {
    /** Plural of what was not to be read. @default anything */
    readonly resource?: string;
    readonly differs: RegExp;
  };
  /** Writes that record what was done, by `<type> <Kind> <namespace>/<name>`: who is stopped before knows nothing of it. @default none */
  readonly isRecordedBy?: RegExp;
  /** Time without a write after which all is at rest. @default as that of the scene */
  readonly restMs?: number;
  /**
   * Objects that are not written from then until the next step, by `<Kind> <namespace>/<name>`: they are somebody else's, or would
   * be in the way of such.
   * @default none
   */
  readonly untouched?: RegExp;
  /**
   * What objects have in them once it has come about, by `<Kind> <namespace>/<name>`: what a rule asks for where no other course
   * tells.
   * @default nothing
   */
  readonly shows?: Readonly<Record<string, string>>;
}

export interface Run {
  readonly name: string;
  readonly setting?: Setting;
  readonly steps: readonly Step[];
  /** Objects that may be made once more for a moment: by one that starts, or as two Links come about. @default none */
  readonly mayFlap?: RegExp;
}

/** What a run comes to. */
export interface Course {
  /** After each step, at rest. */
  readonly states: readonly State[];
  readonly objects: readonly (readonly KubeObject[])[];
  readonly writes: readonly Write[];
  /** By step: when it began, and how many writes had been made by then. */
  readonly begun: readonly { readonly writes: number; readonly atMs: number }[];
  /** By cluster, plurals of what was listed there. */
  readonly listed: ReadonlyMap<ClusterName, ReadonlySet<string>>;
  readonly complaints: readonly string[];
}

/** What is done to a run while it plays. */
export interface Disturbance {
  readonly setting?: Setting;
  /** Before the first step. */
  readonly begin?: (scene: Scene) => void;
  /** Just before a step. */
  readonly before?: (scene: Scene, step: number) => void;
  /** Once all is at rest after a step. */
  readonly after?: (scene: Scene, step: number) => Promise<void> | void;
  /** The step after which it ends. @default the last */
  readonly until?: number;
}

/** Plays a run in a scene of its own. */
export async function course(run: Run, disturbance: Disturbance = {}): Promise<Course> {
  const states: State[] = [];
  const objects: (readonly KubeObject[])[] = [];
  const begun: { readonly writes: number; readonly atMs: number }[] = [];
  const listed = new Map<ClusterName, Set<string>>();
  const { until = run.steps.length - 1 } = disturbance;
  const { value: writes = [], complaints } = await inScene(
    { ...run.setting, ...disturbance.setting },
    async (scene) => {
      const users = new Users(scene);
      for (const name of CLUSTERS) {
        const resources = new Set<string>();
        listed.set(name, resources);
        scene.listen(name, ({ verb, resource }) => {
          if (verb === 'list') resources.add(resource);
        });
      }
      disturbance.begin?.(scene);
      for (const [index, step] of run.steps.slice(0, until + 1).entries()) {
        begun.push({ writes: scene.writes.all.length, atMs: scene.world.nowMs });
        disturbance.before?.(scene, index);
        step.act(users, scene);
        await scene.rest(step.restMs);
        await disturbance.after?.(scene, index);
        states.push(scene.state);
        objects.push(scene.source.objects());
      }
      return [...scene.writes.all];
    },
  );
  const touched = run.steps.flatMap((step, index) => touchedIn(step, writes.slice(...between(begun, index))));
  const wrong = states.flatMap((state, index) => [
    ...hiddenIn(run.steps[index]!, state),
    ...leftIn(run.steps[index]!, state),
  ]);
  const old = objects.flatMap((each, index) => oldIn(run.steps[index]!, each));
  return { states, objects, begun, writes, listed, complaints: [...complaints, ...touched, ...wrong, ...old] };
}

/** The numbers of the writes after which a step began and ended; none if it never began. */
const between = (begun: Course['begun'], step: number): [from: number, to: number | undefined] => [
  begun[step]?.writes ?? Infinity,
  begun[step + 1]?.writes,
];

const touchedIn = ({ name, untouched }: Step, writes: readonly Write[]): readonly string[] =>
  writes
    .filter(({ id }) => untouched?.test(id) === true)
    .map(({ type, id }) => `${type} ${id} after "${name}", though it is not to be written then`);

const hiddenIn = ({ name, shows = {} }: Step, state: State): readonly string[] =>
  Object.entries(shows)
    .filter(([id, text]) => state.get(id)?.includes(text) !== true)
    .map(([id, text]) => `${id} does not show ${text} after "${name}"`);

/** Probe Services of Links that are gone. */
const leftIn = ({ name }: Step, state: State): readonly string[] =>
  [...state.keys()].flatMap((id) => {
    const [, link] = /^Service linkerd-multicluster\/probe-(.+)$/.exec(id) ?? [];
    return link === undefined || state.has(`Link linkerd-multicluster/${link}`)
      ? []
      : [`${id} is left of a Link that is gone after "${name}"`];
  });

/** Conditions of a Link that tell of no target. */
const OF_LINK: readonly unknown[] = ['Accepted', 'Ready', 'PruneHeld'];

/** What suspended Links still say of their targets, at which nobody looks any more (H9). */
const oldIn = ({ name }: Step, objects: readonly KubeObject[]): readonly string[] =>
  objects
    .filter((object) => conditionsOf(object).some(({ type, reason }) => type === 'Accepted' && reason === 'Suspended'))
    .flatMap((link) =>
      conditionsOf(link)
        .filter(({ type, status }) => !OF_LINK.includes(type) && status !== 'Unknown')
        .map(
          ({ type, status }) => `Link ${link.metadata.name} says ${type} ${status} after "${name}", and is suspended`,
        ),
    );

const references = new Map<string, Promise<Course>>();

/** The course of a run to which nothing happens; played once in a process. */
export function reference(run: Run): Promise<Course> {
  let found = references.get(run.name);
  if (found === undefined) references.set(run.name, (found = course(run)));
  return found;
}

/** The writes of a run to which nothing happens, up to the step of which who is stopped amidst it loses something. */
export async function lastingWrites(run: Run): Promise<readonly Write[]> {
  const { writes, begun } = await reference(run);
  const lost = run.steps.findIndex(({ isLostBy }) => isLostBy !== undefined);
  return writes.slice(0, begun[lost]?.writes);
}

/**
 * What is wrong about a course of a run that was disturbed: another end, or objects that were made or deleted more often.
 * @param step the last one of the course. @default the last of the run
 */
export function differences(run: Run, wanted: Course, found: Course, step = run.steps.length - 1): readonly string[] {
  const lives = livesIn(wanted.writes.slice(0, wanted.begun[step + 1]?.writes));
  const flaps = (each: string): boolean => run.mayFlap?.test(each.split(' was ')[0]!) === true;
  return [
    ...found.complaints,
    ...differentStates(wanted.states[step]!, found.states[step] ?? new Map()),
    ...differentLives(lives, livesIn(found.writes)).filter((each) => !flaps(each)),
  ];
}
