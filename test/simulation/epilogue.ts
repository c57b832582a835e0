/**
 * What follows once all is at rest and well: connections are cut, a gateway dies and comes back, and a Service is exported.
 * Nothing is in the way, so each must have reached the source cluster in the time that the rules give it, to the second.
 */
import { sleep } from '../../operator/kube/backoff.ts';
import { type Command, FORBIDDEN, LINKS, TARGET_OF, type TargetName, TARGETS } from './command.ts';
import { forbid } from './failing.ts';
import { conditionsOf } from './link-users.ts';
import { differences } from './rest.ts';
import { PROBED_MS, VERDICT_MS } from './dead-gateways.ts';
import { PROBE_THRESHOLD } from './probe-spec.ts';
import type { Step } from './parts/part.ts';
import type { Stage } from './stage.ts';

/** A connection that is cut has been made again by then, and a watch has shown that it lives. */
const CUT_MS = 12_000;
/** From when a right is taken away until everything says so. */
const FORBIDDEN_MS = 4_000;
/** The longest wait before what was forbidden is tried again, by the slowest clock, and what follows. */
const ALLOWED_MS = 30_000 * 1.04 + 4_000;
/** From an export to its mirror, with its status. */
const EXPORTED_MS = 4_000;
/**
 * In this time since nothing is broken any more, a connection that has died unnoticed is found out, and made anew: a watch
 * may be silent for 150 s.
 */
const SILENCE_MS = 200_000;

/** Whether connections may have died without either end knowing. */
const mayBeSilent = (command: Command): boolean =>
  command.do === 'silence watches' || (command.do === 'weather' && command.weather === 'lost');

/**
 * @param calmMs when all that was broken came to work again
 * @returns what was not as it must be in time
 */
export async function epilogue(stage: Stage, calmMs: number): Promise<readonly string[]> {
  const target = TARGETS[Math.floor(stage.world.users.random() * TARGETS.length)]!;
  const isProbed = LINKS.some((name) => TARGET_OF[name] === target && stage.isAccepted(name));
  const steps: readonly Step[] = [
    [
      `the gateway of ${target} died (F1, F3)`,
      () => stage.play({ do: 'kill gateway', link: target }),
      PROBE_THRESHOLD * PROBED_MS + VERDICT_MS,
    ],
    [
      `the gateway of ${target} came back (F1, F3)`,
      () => stage.play({ do: 'revive gateway', link: target }),
      PROBED_MS + VERDICT_MS,
    ],
    [
      `a Service of ${target} was exported (C1)`,
      () =>
        stage.play({
          ...{ do: 'put service', link: target, namespace: 'shop', name: 'late' },
          ...{ kind: 'clusterIP', exported: 'true', ports: 0, tag: 'a', publishNotReady: false },
        }),
      EXPORTED_MS,
    ],
    ...stage.parts.flatMap((part) => part.steps?.() ?? []),
  ];
  if (!isProbed) return [];
  const silentMs = stage.history.commands.some(mayBeSilent) ? calmMs + SILENCE_MS - stage.world.nowMs : 0;
  if (silentMs > 0) await sleep(silentMs);
  const cut = await cutConnections(stage, target);
  if (cut.length > 0) return cut;
  const forbidden = await lostRight(stage);
  if (forbidden.length > 0) return forbidden;
  for (const part of stage.parts) {
    const problems = (await part.epilogue?.()) ?? [];
    if (problems.length > 0) return problems;
  }
  for (const [what, act, withinMs] of steps) {
    await act();
    await sleep(withinMs);
    const problems = differences(stage);
    if (problems.length > 0)
      return problems.map((problem) => `${(withinMs / 1000).toFixed(1)} s after ${what}: ${problem}`);
  }
  for (const part of stage.parts) {
    const problems = await part.epilogue?.();
    if (problems !== undefined && problems.length > 0) return problems;
  }
  return [];
}

/** Every connection to a target that is well is cut, twice: nothing says that it cannot be read (E4). */
async function cutConnections({ east, targets }: Stage, target: TargetName): Promise<readonly string[]> {
  const problems: string[] = [];
  east.onOperatorWrite((_, { plural }, { object }) => {
    const found = plural === 'links' ? conditionsOf(object).find(({ type }) => type === 'TargetReachable') : undefined;
    if (found?.status === 'False') problems.push(`Link ${object.metadata.name} cannot read a target that is well (E4)`);
  });
  for (let time = 0; time < 2; time += 1) {
    targets[target].faults.dropWatches();
    await sleep(CUT_MS);
  }
  return problems;
}

/** The right to read a kind of the source cluster is taken away and given back: who looks sees it (H3, H5). */
async function lostRight(stage: Stage): Promise<readonly string[]> {
  const { operators, world, east } = stage;
  const resource = FORBIDDEN[Math.floor(world.users.random() * FORBIDDEN.length)]!;
  const allow = forbid(east, resource);
  await sleep(FORBIDDEN_MS);
  const problems = LINKS.filter((name) => stage.isAccepted(name)).flatMap((name) => {
    const [synced, ready] = ['Synced', 'Ready'].map((each) =>
      conditionsOf(stage.linkOf(name)).find(({ type }) => type === each),
    );
    const isSaid = synced?.reason === 'SourceForbidden' && ready?.status === 'False';
    return isSaid ? [] : [`Link ${name} is ${synced?.reason} and ${ready?.reason}`];
  });
  if (operators.areReady) problems.push('the operator is ready');
  allow();
  await sleep(ALLOWED_MS);
  if (problems.length > 0) return problems.map((problem) => `${problem}, though it may not read ${resource} (H3)`);
  const left = [...differences(stage), ...(operators.areReady ? [] : ['the operator is not ready'])];
  return left.map((problem) => `${problem}, after it may read ${resource} again (H3)`);
}
