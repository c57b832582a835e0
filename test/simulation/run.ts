/**
 * Runs histories: plays one, lets everything recover, and waits until writes end; then the state must be what the
 * oracle expects, and stay so without a write. All of that is in virtual time. A history that fails is shrunk to the
 * fewest commands that still fail.
 */
import { isDeepStrictEqual } from 'node:util';
import { sleep } from '../../operator/kube/backoff.ts';
import { type Command, type History, historyOf, type LinkName, LINKS, TARGET_OF } from './command.ts';
import { expected, found, type LinkState, type SourceState } from './oracle.ts';
import { type LogRecord, Stage } from './stage.ts';
import { World } from './world/world.ts';

/** Time without a write after which the source cluster is at rest. */
const REST_MS = 60_000;
/** Time after the last command in which it must come to rest: longer than the longest wait before a retry. */
const DEADLINE_MS = 1_200_000;
const POLL_MS = 1_000;
/** How long a user looks at a held deletion before it is confirmed. */
const CONFIRM_MS = 10_000;

export interface Failure {
  readonly problems: readonly string[];
  /** What the operator logged, the last lines. */
  readonly log: readonly LogRecord[];
}

/**
 * Plays one history.
 * @param onMessage told of every request and answer, with its virtual time
 * @returns what is wrong, or undefined
 */
export async function run(
  history: History,
  seed: number,
  onMessage?: (text: string) => void,
): Promise<Failure | undefined> {
  const world = new World(seed);
  const problems: string[] = [];
  let stage: Stage | undefined;
  await world
    .run(async () => {
      stage = new Stage(history, world);
      stage.internet.onMessage = onMessage;
      for (const command of history.commands) {
        await stage.play(command);
        // What has been asked of servers gets on its way before the next thing happens.
        await sleep(1);
      }
      await stage.calm();
      problems.push(...(await rest(stage)));
      await stage.stop();
    })
    .catch((error: unknown) => problems.push(error instanceof Error ? (error.stack ?? '') : String(error)));
  problems.push(...(stage?.judge.complaints ?? []));
  for (const { process, error } of world.failures) problems.push(`${process} threw ${String(error)}`);
  return problems.length === 0 ? undefined : { problems, log: stage?.logged.slice(-60) ?? [] };
}

/** Waits until what is there is right and stays so. @returns what is wrong at the deadline */
async function rest(stage: Stage): Promise<readonly string[]> {
  const { world, judge } = stage;
  const deadline = world.nowMs + DEADLINE_MS;
  let confirmAt = world.nowMs + CONFIRM_MS;
  let last = 'it never was right';
  let seen: string | undefined;
  let problems: readonly string[] = [];
  for (;;) {
    // What has not changed is as right as it was.
    if (stage.revisions !== seen) {
      seen = stage.revisions;
      problems = differences(stage);
    }
    if (judge.complaints.length > 0) return [];
    if (problems.length === 0) {
      const before = judge.writes.length;
      await sleep(REST_MS);
      const after = judge.writes.slice(before);
      if (after.length === 0 && differences(stage).length === 0) return [];
      last = `right, but writing went on: ${after.join('; ')}`;
    }
    if (world.nowMs > confirmAt) {
      stage.confirmPrunes();
      confirmAt = world.nowMs + CONFIRM_MS;
    }
    if (world.nowMs > deadline) return problems.length > 0 ? problems : [last];
    await sleep(POLL_MS);
  }
}

/** Returns what differs from the oracle's expectation. */
function differences(stage: Stage): readonly string[] {
  const { east, targets, judge, history } = stage;
  const all = LINKS.flatMap((name): LinkState[] => {
    const link = stage.linkOf(name);
    if (link === undefined) return [];
    const target = targets[TARGET_OF[name]];
    return [
      {
        name,
        createdAt: link.metadata.creationTimestamp ?? '',
        spec: link.spec as LinkState['spec'],
        gatewayAlive: stage.isAlive(name),
        services: target.list('v1', 'Service').filter(({ metadata }) => metadata.namespace !== 'default'),
        slices: target.list('discovery.k8s.io/v1', 'EndpointSlice'),
      },
    ];
  });
  // Which of two Links has a cluster depends on the past (E9); the status says which, and it must be one.
  const links = all.filter(({ name }) => stage.isAccepted(name as LinkName));
  const clusters = new Set(all.map(({ spec }) => spec.targetClusterName));
  const endpoints = east.list('v1', 'Endpoints');
  const slices = east.list('discovery.k8s.io/v1', 'EndpointSlice');
  const source: SourceState = {
    endpointsKind: history.endpoints,
    namespaces: new Set(
      east
        .list('v1', 'Namespace')
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => metadata.name),
    ),
    services: east.list('v1', 'Service'),
    endpoints,
    slices,
  };
  const want = expected(links, source);
  const have = found(history.endpoints, source.services, endpoints, slices, (object) => judge.isOurs(object));
  const problems = [...clusters].flatMap((cluster) => {
    const owners = links.filter(({ spec }) => spec.targetClusterName === cluster);
    return owners.length === 1 ? [] : [`cluster ${cluster} has ${owners.length} Links that are accepted (E9)`];
  });
  for (const [id, body] of want.objects) {
    if (!have.has(id)) problems.push(`${id} is missing`);
    else if (!isDeepStrictEqual(have.get(id), body)) {
      problems.push(`${id} is\n    ${JSON.stringify(have.get(id))}\n  and should be\n    ${JSON.stringify(body)}`);
    }
  }
  for (const id of have.keys()) if (!want.objects.has(id)) problems.push(`${id} should not be there`);
  for (const name of want.namespaces) {
    if (!source.namespaces.has(name)) problems.push(`Namespace ${name} is missing`);
  }
  for (const name of LINKS.filter((each) => want.counts.has(each))) {
    const { total, ready } = want.counts.get(name)!;
    const status = stage.linkOf(name)?.['status'] as { mirrors?: object } | undefined;
    const counts = { total, ready, failed: total - ready };
    if (!isDeepStrictEqual({ ...status?.mirrors }, counts)) {
      problems.push(`Link ${name} counts ${JSON.stringify(status?.mirrors)}, not ${JSON.stringify(counts)}`);
    }
  }
  return problems;
}

/** Runs the histories of `count` seeds from `seed` on. @returns the failures, by seed */
export async function runMany(
  { seed, count }: { readonly seed: number; readonly count: number },
  onDone: (seed: number, failure: Failure | undefined) => void = () => undefined,
): Promise<ReadonlyMap<number, Failure>> {
  const failures = new Map<number, Failure>();
  for (let current = seed; current < seed + count; current += 1) {
    const failure = await run(historyOf(current), current);
    if (failure !== undefined) failures.set(current, failure);
    onDone(current, failure);
  }
  return failures;
}

/** Tries to fail with ever fewer commands; a candidate has `tries` attempts, as the order of events may save it. */
export async function shrink(
  history: History,
  seed: number,
  { tries = 5, budgetMs = 60_000 }: { readonly tries?: number; readonly budgetMs?: number } = {},
): Promise<History> {
  const deadline = performance.now() + budgetMs;
  const fails = async (commands: readonly Command[]): Promise<boolean> => {
    for (let attempt = 0; attempt < tries; attempt += 1) {
      if ((await run({ ...history, commands }, seed + attempt)) !== undefined) return true;
    }
    return false;
  };
  let { commands } = history;
  for (let size = Math.ceil(commands.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < commands.length && performance.now() < deadline;) {
      const fewer = commands.toSpliced(from, size);
      if (await fails(fewer)) commands = fewer;
      else from += size;
    }
  }
  return { ...history, commands };
}

/** A failure as a person reads it: how to see it again, what is wrong, and the history. */
export const report = (seed: number, { problems, log }: Failure, history: History): string =>
  [
    `history ${seed} fails; see it again with: npm run fuzz -- --histories 1 --seed ${seed}`,
    ...problems.map((problem) => `  ${problem}`),
    `shrunk to ${history.commands.length} commands (${history.endpoints}):`,
    ...history.commands.map((command) => `  ${JSON.stringify(command)},`),
    'last log lines of the operator:',
    ...log.map(({ atMs, process, level, message, fields }) =>
      `  ${(atMs / 1000).toFixed(3)} ${process} ${level} ${message} ${JSON.stringify(fields)}`.slice(0, 300),
    ),
  ].join('\n');
