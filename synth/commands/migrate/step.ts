/** What the steps of a migration are made of: scaling a Deployment, waiting, and verifying what must have stayed. */
import { Annotation } from '../../../crds/wire.ts';
import { type KubeObject, type Resource, splitKey } from '../../../operator/kube/objects.ts';
import { printLine } from '../../print.ts';
import { isChangedMeanwhile } from '../common/change-set/compare.ts';
import type { Cluster } from '../common/cluster.ts';
import { CommandError, type Problem } from '../common/command-error.ts';
import { kubectl } from '../common/command-text.ts';
import { DEPLOYMENTS } from '../common/kinds.ts';
import { toItsEnd } from '../common/interruption.ts';
import type { ResultReport } from '../common/output.ts';
import { type Look, waitFor } from '../common/wait.ts';
import { type Deployment, replicasBefore, replicasOf } from './state.ts';

export interface StepOptions {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** How long to wait in each step. */
  readonly timeoutMs: number;
  readonly report: ResultReport;
}

/** How often an object that others write at the same time is read again. */
const ATTEMPTS = 10;

/** Stops a Deployment of Linkerd's, and notes its replicas on it. */
export const stop = (deployment: Deployment, options: StepOptions): Promise<boolean> =>
  scale(
    deployment,
    (live) => {
      const replicas = replicasOf(live);
      return replicas > 0 ? { replicas: 0, before: String(replicas) } : undefined;
    },
    options,
  );

/** Starts a Deployment again with the replicas that are noted on it. Returns whether any were. */
export const startAgain = (deployment: Deployment, options: StepOptions): Promise<boolean> =>
  scale(
    deployment,
    (live) => {
      const replicas = replicasBefore(live);
      return replicas === undefined ? undefined : { replicas, before: null };
    },
    options,
  );

interface Scale {
  readonly replicas: number;
  readonly before: string | null;
}

const scale = (
  deployment: Deployment,
  scaleOf: (live: Deployment) => Scale | undefined,
  options: StepOptions,
): Promise<boolean> =>
  patchAsItIs<Deployment>(
    DEPLOYMENTS,
    deployment,
    (live) => {
      const to = scaleOf(live);
      return (
        to && {
          metadata: { annotations: { [Annotation.replicasBefore]: to.before } },
          spec: { replicas: to.replicas },
        }
      );
    },
    options,
  );

/** A merge patch. */
interface Patch {
  readonly metadata: object;
  readonly spec?: object;
}

/**
 * Patches an object as it is now: the API server refuses the patch if anybody has written in between, and then it is read
 * again. Returns whether there was something to patch.
 * @param known the object that was looked at; one that was made anew since is another
 */
export const patchAsItIs = async <T extends KubeObject>(
  of: Resource,
  known: KubeObject,
  patchOf: (live: T) => Patch | undefined,
  { cluster, report }: StepOptions,
): Promise<boolean> => {
  for (let attempt = 1; ; attempt += 1) {
    const live = await cluster.find<T>(of, known.metadata);
    if (live === undefined || live.metadata.uid !== known.metadata.uid) {
      const object = cluster.title(of.kind, known.metadata);
      const reason = live === undefined ? 'was deleted while it was migrated' : 'was made anew while it was migrated';
      throw new CommandError([{ object, reason, remedy: 'run the command again, which goes on' }]);
    }
    const patch = patchOf(live);
    if (patch === undefined) return false;
    const { uid, resourceVersion } = live.metadata;
    try {
      await cluster.patch(of, known.metadata, { ...patch, metadata: { ...patch.metadata, uid, resourceVersion } });
    } catch (error) {
      if (!isChangedMeanwhile(error) || attempt === ATTEMPTS) throw error;
      continue;
    }
    await report.add({ context: cluster.context, object: { ...live, kind: of.kind }, outcome: 'configured' });
    return true;
  }
};

/** Reports whether a Deployment has an available replica. */
export const isAvailable = ({ status }: Deployment): boolean => (status?.availableReplicas ?? 0) > 0;

/** An object whose state is waited for. */
export interface Awaited<State> {
  readonly kind: string;
  readonly name: string;
  /** Name of the Lease that says who writes. */
  readonly lease: string;
  /** Its state now; undefined if it does not exist. */
  read(options: StepOptions): Promise<State | undefined>;
}

/**
 * Waits for an object.
 * @param what as in `waited 5 s for the operator to write for it`, without `it`
 * @param pending why it is not so yet; undefined if it is
 */
export const until = async <State>(
  awaited: Awaited<State>,
  what: string,
  pending: (state: State) => string | undefined,
  options: StepOptions,
): Promise<void> => {
  const { kind, name, lease } = awaited;
  const { cluster, namespace, timeoutMs } = options;
  const shows = kubectl(cluster, 'get', 'lease', lease, `--namespace=${namespace}`);
  await waitFor(
    `${what} ${kind} ${name}`,
    async (): Promise<Look<void>> => {
      const state = await awaited.read(options);
      const why = state === undefined ? `there is no such ${kind}` : pending(state);
      return why === undefined ? { done: undefined } : { pending: why };
    },
    {
      timeoutMs,
      problem: (why, waitedMs) => ({
        object: cluster.title(kind, { namespace, name }),
        reason: `waited ${waitedMs / 1000} s for ${what} it: ${why}`,
        remedy: `mend that and run the command again, which goes on; \`${shows}\` shows who writes for it`,
      }),
    },
  );
};

/**
 * Does a step, and undoes it if it fails or a signal stops it, so that an object is never left without a writer.
 * @param undo gives it back to who wrote before; returns a line about that, or undefined if there was nothing to give back
 * @param remedy the command that does the same
 * @throws CommandError why the step has failed, and why it could not be undone
 */
export const orUndo = async (
  step: () => Promise<void>,
  undo: () => Promise<string | undefined>,
  remedy: string,
): Promise<void> => {
  try {
    await step();
  } catch (error) {
    const failed = error instanceof CommandError ? error.problems : [];
    try {
      const done = await toItsEnd(undo);
      if (done !== undefined) printLine(done);
    } catch (other) {
      if (!(other instanceof CommandError)) throw other;
      const left = other.problems.map(({ reason, ...rest }) => ({
        ...rest,
        reason: `could not be undone: ${reason}`,
        remedy: `\`${remedy}\``,
      }));
      throw new CommandError([...failed, ...left]);
    }
    throw error;
  }
};

/**
 * Verifies that Services are those that were there before.
 * @param before what they were known by, by `namespace/name`
 * @param what as in `Link west: 3 mirrors have kept uid and ClusterIP`
 * @throws CommandError if one is gone or was made anew
 */
export const verifyKept = (
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string> | undefined,
  what: string,
  { cluster }: StepOptions,
): void => {
  const problems = [...before].flatMap(([key, identity]): readonly Problem[] => {
    const is = now?.get(key);
    if (is === identity) return [];
    const reason = is === undefined ? 'is gone since' : `was ${identity} (uid, ClusterIP) and is ${is}`;
    const remedy = 'see the log of the operator; if the target has just lost the Service, run the command again';
    return [{ object: cluster.title('Service', splitKey(key)), reason, remedy }];
  });
  if (problems.length > 0) throw new CommandError(problems);
  printLine(`${what} have kept uid and ClusterIP`);
};
