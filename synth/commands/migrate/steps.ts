/** A Link handed from Linkerd's controller to the operator, and back. Each step is safe to repeat. */
import { Annotation, Value, writeLeaseName } from '../../../crds/wire.ts';
import type { Cluster } from '../common/cluster.ts';
import { CommandError, type Problem } from '../common/command-error.ts';
import { DEPLOYMENTS, LINKS } from '../common/kinds.ts';
import { conditionOf } from '../common/link-status.ts';
import type { ResultReport } from '../common/output.ts';
import { liveReader } from '../common/reader.ts';
import { type Look, waitFor } from '../common/wait.ts';
import { printLine } from '../../print.ts';
import { type Deployment, type LinkState, readState, replicasBefore, replicasOf } from './state.ts';

export interface StepOptions {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** How long to wait in each step. */
  readonly timeoutMs: number;
  readonly report: ResultReport;
}

/** Stops Linkerd's controller of a Link, and waits until the operator writes for it, and the Link is Ready. */
export const migrateLink = async (before: LinkState, options: StepOptions): Promise<void> => {
  const { name } = before;
  if (before.isSuspended) await suspend(before, null, options);
  for (const controller of before.controllers) {
    const replicas = replicasOf(controller);
    if (replicas > 0) await scale(controller, { replicas: 0, before: String(replicas) }, options);
  }
  await until(
    name,
    'the operator to write for',
    ({ writer, holder, link }) => {
      if (writer !== 'operator') return holder === undefined ? 'nobody does' : `${holder} holds its Lease`;
      const ready = conditionOf(link, 'Ready');
      return ready?.status === 'True' ? undefined : `Ready: ${ready?.reason ?? 'unknown'}: ${ready?.message ?? ''}`;
    },
    options,
  );
  await verify(before, options);
};

/** Starts Linkerd's controller of a Link again, and has the operator leave the Link to it. */
export const handBackLink = async (before: LinkState, options: StepOptions): Promise<void> => {
  const { name } = before;
  for (const controller of before.controllers) {
    const replicas = replicasBefore(controller);
    if (replicas !== undefined) await scale(controller, { replicas, before: null }, options);
  }
  // Only then is the Link given up: what stands by takes over at once.
  await until(
    name,
    "Linkerd's controller to be available for",
    ({ controllers }) => {
      const waited = controllers.filter((each) => replicasOf(each) > 0);
      if (waited.length === 0) return 'none is installed, or it has no replicas';
      const missing = waited.find(({ status }) => (status?.availableReplicas ?? 0) === 0);
      return missing && `Deployment ${missing.metadata.name} has no available replica`;
    },
    options,
  );
  if (!before.isSuspended) await suspend(before, Value.true, options);
  await until(
    name,
    "Linkerd's controller to write for",
    ({ writer, holder }) =>
      writer === 'another' ? undefined : writer === 'nobody' ? 'nobody does' : `${holder ?? ''} holds its Lease`,
    options,
  );
  await verify(before, options);
};

const suspend = async ({ name, link }: LinkState, value: string | null, options: StepOptions): Promise<void> => {
  const { cluster, namespace, report } = options;
  await cluster.patch(LINKS, { namespace, name }, { metadata: { annotations: { [Annotation.suspended]: value } } });
  await report.add({ context: cluster.context, object: { ...link, kind: LINKS.kind }, outcome: 'configured' });
};

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

/** @param pending why it is not so yet; undefined: it is */
const until = (
  name: string,
  what: string,
  pending: (state: LinkState) => string | undefined,
  { cluster, namespace, timeoutMs }: StepOptions,
): Promise<void> =>
  waitFor(
    `${what} Link ${name}`,
    async (): Promise<Look<void>> => {
      const state = await readState(liveReader(cluster), namespace, name);
      const why = state === undefined ? 'there is no such Link' : pending(state);
      return why === undefined ? { done: undefined } : { pending: why };
    },
    {
      timeoutMs,
      problem: (why, waitedMs) => timeout(what, why, waitedMs, cluster.title(LINKS.kind, { namespace, name }), name),
    },
  );

const timeout = (what: string, why: string, waitedMs: number, object: string, name: string): Problem => ({
  object,
  reason: `waited ${waitedMs / 1000} s for ${what} it: ${why}`,
  remedy: `mend that and run the command again, which goes on; kubectl get lease ${writeLeaseName(name)} shows who writes for it`,
});

/** @throws CommandError if a mirror is gone or was made anew */
const verify = async ({ name, mirrors }: LinkState, { cluster, namespace }: StepOptions): Promise<void> => {
  const now = (await readState(liveReader(cluster), namespace, name))?.mirrors;
  const problems = [...mirrors].flatMap(([key, identity]): readonly Problem[] => {
    const is = now?.get(key);
    if (is === identity) return [];
    const reason = is === undefined ? 'is gone since' : `was ${identity} (uid, ClusterIP) and is ${is}`;
    const remedy = 'see the log of the operator; if the target has just lost the Service, run the command again';
    return [{ object: cluster.title('Service', splitName(key)), reason, remedy }];
  });
  if (problems.length > 0) throw new CommandError(problems);
  printLine(`Link ${name}: ${mirrors.size} mirrors have kept uid and ClusterIP`);
};

const splitName = (key: string): { readonly namespace: string; readonly name: string } => {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
};
