/** What the steps of a migration are made of: scaling a Deployment, waiting, and verifying what must have stayed. */
import { Annotation } from '../../../crds/wire.ts';
import { splitKey } from '../../../operator/kube/objects.ts';
import { printLine } from '../../print.ts';
import type { Cluster } from '../common/cluster.ts';
import { CommandError, type Problem } from '../common/command-error.ts';
import { DEPLOYMENTS } from '../common/kinds.ts';
import type { ResultReport } from '../common/output.ts';
import { type Look, waitFor } from '../common/wait.ts';
import { type Deployment, replicasOf } from './state.ts';

export interface StepOptions {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** How long to wait in each step. */
  readonly timeoutMs: number;
  readonly report: ResultReport;
}

/** Stops a Deployment of Linkerd's, and notes its replicas on it. */
export const stop = async (deployment: Deployment, options: StepOptions): Promise<void> => {
  const replicas = replicasOf(deployment);
  if (replicas > 0) await scale(deployment, { replicas: 0, before: String(replicas) }, options);
};

/** Starts a Deployment again with the replicas that are noted on it. */
export const startAgain = (deployment: Deployment, replicas: number, options: StepOptions): Promise<void> =>
  scale(deployment, { replicas, before: null }, options);

const scale = async (
  deployment: Deployment,
  { replicas, before }: { readonly replicas: number; readonly before: string | null },
  { cluster, report }: StepOptions,
): Promise<void> => {
  await cluster.patch(DEPLOYMENTS, deployment.metadata, {
    metadata: { annotations: { [Annotation.replicasBefore]: before } },
    spec: { replicas },
  });
  await report.add({
    context: cluster.context,
    object: { ...deployment, kind: DEPLOYMENTS.kind },
    outcome: 'configured',
  });
};

/** Reports whether a Deployment has an available replica. */
export const isAvailable = ({ status }: Deployment): boolean => (status?.availableReplicas ?? 0) > 0;

/** An object whose state is waited for. */
export interface Awaited<State> {
  readonly kind: string;
  readonly name: string;
  /** Name of the Lease that says who writes. */
  readonly lease: string;
  /** Its state now; undefined if there is no such object. */
  read(options: StepOptions): Promise<State | undefined>;
}

/**
 * Waits for an object.
 * @param what as in `waited 5 s for the operator to write for it`, without `it`
 * @param pending why it is not so yet; undefined: it is
 */
export const until = async <State>(
  awaited: Awaited<State>,
  what: string,
  pending: (state: State) => string | undefined,
  options: StepOptions,
): Promise<void> => {
  const { kind, name, lease } = awaited;
  const { cluster, namespace, timeoutMs } = options;
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
        remedy: `mend that and run the command again, which goes on; kubectl get lease ${lease} shows who writes for it`,
      }),
    },
  );
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
