/**
 * Runs histories: plays one, lets everything recover, and waits until writes end; then the state must be what the
 * oracle expects, and stay so without a write. All of that is in virtual time. A history that fails is shrunk to the
 * fewest commands that still fail.
 */
import { sleep } from '../../operator/kube/backoff.ts';
import type { Command } from './command.ts';
import type { LogRecord } from './operators.ts';
import { epilogue } from './epilogue.ts';
import type { History } from './history.ts';
import { rest } from './rest.ts';
import { Stage } from './stage.ts';
import { World } from './world/world.ts';

export interface Failure {
  readonly problems: readonly string[];
  /** What the operator logged, the last lines. */
  readonly log: readonly LogRecord[];
}

/**
 * Plays one history.
 * @param onMessage told of every request and answer: its virtual time, who asks, and whom
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
        onMessage?.(`${world.nowMs} ${JSON.stringify(command)}`);
        await stage.play(command);
        // What has been asked of servers gets on its way before the next thing happens.
        await sleep(1);
      }
      stage.calm();
      const calmMs = world.nowMs;
      problems.push(...(await rest(stage)));
      if (problems.length + stage.judge.complaints.length === 0) problems.push(...(await epilogue(stage, calmMs)));
      await stage.stop();
    })
    .catch((error: unknown) => problems.push(error instanceof Error ? (error.stack ?? '') : String(error)));
  problems.push(...(stage?.judge.complaints ?? []));
  for (const { process, error } of world.failures) problems.push(`${process} threw ${String(error)}`);
  return problems.length === 0 ? undefined : { problems, log: stage?.operators.logged.slice(-60) ?? [] };
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
