/**
 * `linkspan credentials rotate`: a new token for the account that a Link reads its target with, bound to a Secret of its
 * own, and one for Linkerd's copy. The old ones are revoked when the operator reports that it uses the new one. Whatever
 * ends the command, running it again finishes: what it needs to know is on the Secret of the Link before anything is deleted.
 */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { Annotation, CredentialsSecret } from '../../../crds/wire.ts';
import { inUseMessage } from '../../../operator/kube/access/secret-kubeconfig.ts';
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import { note, print } from '../../print.ts';
import { manifestFormat, resultFormat } from '../common/change-flags.ts';
import { compare, conflictProblems } from '../common/change-set/compare.ts';
import { execute, executeDeletions } from '../common/change-set/execute.ts';
import { changesText } from '../common/change-set/text.ts';
import { creationTrials, deletionTrials, type Trial } from '../common/change-set/trial.ts';
import type { Unwanted, Want } from '../common/change-set/want.ts';
import { refuseProblems, reportingProblems } from '../common/command-error.ts';
import { LINKS } from '../common/kinds.ts';
import { readCredentials } from '../common/credentials-secret.ts';
import type { LinkObject } from '../common/link-object.ts';
import { conditionOf } from '../common/link-status.ts';
import { manifestsText, type ResultReport, withReport } from '../common/output.ts';
import { waitFor } from '../common/wait.ts';
import { FORCE, takesOf } from '../link/access.ts';
import { recordOf as recordOfSource } from '../link/account.ts';
import { isBoundTo, peerSecret, requestToken, tokenTrial } from '../link/ending-token.ts';
import { copyTrials, writeCopy } from '../link/linkerd-copy.ts';
import { annotated } from '../link/manifests.ts';
import { withTwoClusters } from '../link/pair.ts';
import { awaitToken, tokenSecret } from '../link/token.ts';
import type { RotateFlags } from './flags.ts';
import { type CopyMetadata, recordOf, type Rotation, rotationOf } from './rotation.ts';

/** Runs the command. Sets the exit code. */
export const rotate = (link: string, flags: RotateFlags): Promise<void> =>
  reportingProblems(() =>
    withTwoClusters(flags, async (clusters) => {
      const rotation = await rotationOf(link, clusters, flags);
      // No token can be made to compare with: any other will do.
      const { written = 'none' } = rotation;
      const changes = await compare([
        ...accountWants(rotation),
        secretWant(rotation, rotation.withToken(written), flags),
      ]);
      if (!flags.apply) {
        await preview(rotation, changes, flags);
        return;
      }
      refuseProblems(conflictProblems(changes, FORCE));
      const trials = [...creationTrials(changes), ...trialsOf(rotation)];
      await withReport(resultFormat(flags), trials, (report) => carryOut(rotation, flags, report));
    }),
  );

/** The Secrets of the target that the next tokens are bound to, or in. For an account that says nothing, they say whose. */
const accountWants = ({ target, sourceUid, account, next, copy }: Rotation): readonly Want[] =>
  [peerSecret(account, next), ...(copy === undefined ? [] : [tokenSecret(account, copy.next)])].map((object) => ({
    cluster: target,
    object:
      recordOfSource(account.object) === undefined ? annotated(object, { [Annotation.tokenGiven]: sourceUid }) : object,
  }));

/** The Secret of the Link with another token, and what is to be done from then on. */
const secretWant = (rotation: Rotation, kubeconfig: string, { forceConflicts }: RotateFlags): Want => {
  const { source, secret, targetUid = secret.metadata.annotations?.[Annotation.targetClusterUid] } = rotation;
  const { namespace, name } = secret.metadata;
  const annotations = {
    ...(targetUid !== undefined && { [Annotation.targetClusterUid]: targetUid }),
    [Annotation.rotation]: recordOf(rotation),
  };
  const object = credentialsSecret({ namespace, name, annotations }, kubeconfig);
  return { cluster: source, object, ...takesOf(forceConflicts, [['data']]) };
};

const oldOf = ({ target, old }: Rotation): readonly Unwanted[] =>
  old.map((object) => ({ cluster: target, of: SECRETS, object }));

/** What is done beside the writes that were compared. */
const trialsOf = (rotation: Rotation): readonly Trial[] => {
  const { source, target, account, next, copy, written } = rotation;
  const token = written === undefined ? [tokenTrial(target, account, next)] : [];
  return [...token, ...copyTrials(source, copy?.live), ...deletionTrials(oldOf(rotation))];
};

const preview = async (
  rotation: Rotation,
  changes: Awaited<ReturnType<typeof compare>>,
  flags: RotateFlags,
): Promise<void> => {
  const { source, target, account, secret, copy, old, kept } = rotation;
  const format = manifestFormat(flags);
  if (format === undefined) {
    const gone = oldOf(rotation).map((want) => ({ want, outcome: 'deleted' as const }));
    await print(changesText([...changes, ...gone]));
  } else {
    const purpose = `the next token of ServiceAccount ${account.name}`;
    const objects = accountWants(rotation).map(({ object }) => object);
    await print(manifestsText([{ context: target.context, purpose, objects }], format));
  }
  const notes = [
    ...[secret.metadata, ...(copy ? [copy.metadata] : [])].map(
      (metadata) => `${source.title(SECRETS.kind, metadata)} would get a new token`,
    ),
    ...old.map(({ metadata }) => `${target.title(SECRETS.kind, metadata)} would be deleted`),
    ...(kept.length === 0 ? [] : [keptNote(rotation)]),
  ];
  for (const each of notes) note(each);
};

const keptNote = ({ target, account, kept }: Rotation): string =>
  `${kept.map(({ metadata }) => target.title(SECRETS.kind, metadata)).join(', ')} stays, since others may use ` +
  `account ${account.name}: delete it when none does, or use --revoke`;

const carryOut = async (rotation: Rotation, flags: RotateFlags, report: ResultReport): Promise<void> => {
  const { source, target, secret, account, next, written, lifetimeMs, kept, withToken } = rotation;
  await execute(await compare(accountWants(rotation)), report);
  const kubeconfig = withToken(written ?? (await requestToken(target, account, next, lifetimeMs)));
  await execute(await compare([secretWant(rotation, kubeconfig, flags)]), report);
  await untilUsed(rotation, flags);
  await replaceCopy(rotation, flags, report);
  await executeDeletions(oldOf(rotation), report);
  await source.patch(SECRETS, secret.metadata, { metadata: { annotations: { [Annotation.rotation]: null } } });
  if (kept.length > 0) note(keptNote(rotation));
};

/** Gives Linkerd's copy its own next token, which does not end. */
const replaceCopy = async (
  { source, target, copy, account, withToken }: Rotation,
  { timeout }: RotateFlags,
  report: ResultReport,
): Promise<void> => {
  if (copy === undefined) return;
  const { token } = await awaitToken(target, { namespace: account.namespace, name: copy.next }, timeout);
  const want = { cluster: source, object: credentialsSecret(copy.metadata, withToken(token)), takes: [['data']] };
  await writeCopy(want, copy.live, timeout, report);
};

const credentialsSecret = ({ name, namespace, labels, annotations }: CopyMetadata, kubeconfig: string): ApiJson => ({
  apiVersion: 'v1',
  kind: SECRETS.kind,
  type: CredentialsSecret.type,
  metadata: {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  },
  data: { [CredentialsSecret.key]: Buffer.from(kubeconfig).toString('base64') },
});

/** Waits until the operator reads the target with the new token, or with one that it has renewed it by since. */
const untilUsed = async (
  { source, target, link, secret, account, next }: Rotation,
  { namespace, timeout }: RotateFlags,
): Promise<void> => {
  const ref = { namespace, name: link };
  const peer = await target.find(SECRETS, { namespace: account.namespace, name: next });
  await waitFor(
    `the operator of ${source.context} to use the new token`,
    async () => {
      const [found, now] = await Promise.all([
        source.find<LinkObject>(LINKS, ref),
        source.find<Secret>(SECRETS, secret.metadata),
      ]);
      const valid = conditionOf(found, 'CredentialsValid');
      if (valid === undefined) return { pending: 'no operator has reported on the Link' };
      if (valid.status !== 'True') return { pending: `${valid.reason}: ${valid.message}` };
      const credentials = readCredentials(now);
      return credentials.ok &&
        peer !== undefined &&
        isBoundTo(peer, credentials.access.token ?? '') &&
        valid.message.startsWith(inUseMessage(credentials.access.fingerprint))
        ? { done: undefined }
        : { pending: 'it reports that it uses the old one' };
    },
    {
      timeoutMs: timeout,
      problem: (pending, waitedMs) => ({
        object: source.title(LINKS.kind, ref),
        reason: `does not use the new token after ${waitedMs / 1000} s: ${pending}`,
        remedy: 'the old token still works: see whether the operator runs, and run the command again',
      }),
    },
  );
};
