/**
 * The copy of the credentials that Linkerd's destination controller reads. It notices a Secret that comes or goes, not one that
 * changes; and with two Secrets for one cluster it forgets the cluster when either goes. So one that is to change is made anew.
 */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import { compareOne, isChangedMeanwhile } from '../common/change-set/compare.ts';
import { execute, executeDeletions } from '../common/change-set/execute.ts';
import { deletionTrials, type Trial } from '../common/change-set/trial.ts';
import type { Want } from '../common/change-set/want.ts';
import type { Cluster } from '../common/cluster.ts';
import type { ResultReport } from '../common/output.ts';
import { waitFor } from '../common/wait.ts';

/**
 * Writes it. Labels and annotations that others have given the one in its place stay.
 * @param live the one in its place; undefined if a run that was stopped has deleted it, or there was none
 */
export const writeCopy = async (
  want: Want,
  live: Secret | undefined,
  timeoutMs: number,
  report: ResultReport,
): Promise<void> => {
  const { cluster, object } = want;
  if (live !== undefined && (await compareOne(want)).outcome !== 'unchanged') {
    await executeDeletions([{ cluster, of: SECRETS, object: live }], report);
  }
  const { labels, annotations } = { ...live?.metadata };
  const metadata = {
    ...object.metadata,
    ...(labels && { labels: { ...labels, ...object.metadata.labels } }),
    ...(annotations && { annotations: { ...annotations, ...object.metadata.annotations } }),
  };
  await createAgain(want, { ...object, metadata }, timeoutMs, report);
};

/** Creates what was just deleted, also if the server is away for a moment. */
const createAgain = (want: Want, whole: ApiJson, timeoutMs: number, report: ResultReport): Promise<void> => {
  const { cluster } = want;
  const title = cluster.title(SECRETS.kind, whole.metadata);
  return waitFor(
    `${title} to be created again`,
    async () => {
      const change = await compareOne(want);
      if (change.live === undefined) {
        await cluster.post(whole);
        await report.add({ context: cluster.context, object: whole, outcome: 'created' });
      } else await execute([change], report);
      return { done: undefined };
    },
    {
      timeoutMs,
      problem: (pending) => ({
        object: title,
        reason: `is deleted, and was not created again: ${pending}`,
        remedy: 'run the command again, which creates it',
      }),
    },
  );
};

/** Tries to delete it, and to create one of its name. That there is one is answered only to who may. */
export const copyTrials = (cluster: Cluster, live: Secret | undefined): readonly Trial[] => {
  if (live === undefined) return [];
  const { namespace = '', name } = live.metadata;
  const { version: apiVersion, kind } = SECRETS;
  const another = { apiVersion, kind, type: live.type, data: live.data, metadata: { namespace, name } };
  const create = async (): Promise<void> => {
    try {
      await cluster.trial().post(another);
    } catch (error) {
      if (!isChangedMeanwhile(error)) throw error;
    }
  };
  return [...deletionTrials([{ cluster, of: SECRETS, object: live }]), create];
};
