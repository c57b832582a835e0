/**
 * `linkspan credentials rotate`: a new token for the account that a Link reads its target with. The old one is removed
 * when the operator reports that it uses the new one. Whatever ends the command, it can be run again: a new token that is
 * not in use yet is taken up.
 */
import type { ApiJson } from '../../../constructs/mirror/render.ts';
import {
  Annotation,
  CredentialsSecret,
  credentialsName,
  Label,
  remoteAccessName,
  TOKEN_SECRET_TYPE,
  tokenSecretName,
  Value,
} from '../../../crds/wire.ts';
import { inUseMessage } from '../../../operator/kube/access/secret-kubeconfig.ts';
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import { applyAll, deleteAll } from '../common/apply.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { CommandError, reportingProblems } from '../common/command-error.ts';
import { LINKS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { conditionOf } from '../common/link-status.ts';
import { manifestsText, type ResultReport, withReport } from '../common/output.ts';
import { waitFor } from '../common/wait.ts';
import { type Account, awaitToken, tokenIn, tokenSecretsOf } from '../link/token.ts';
import { note, print } from '../../print.ts';
import type { RotateFlags } from './flags.ts';
import { readKubeconfig, type Rotated } from './kubeconfig.ts';

/** What is rotated. */
interface Rotation {
  readonly source: Cluster;
  readonly target: Cluster;
  readonly link: string;
  readonly cluster: string;
  /** The Secrets of the source that hold a token of the account: the Link's, and the control plane's if there is one. */
  readonly secret: Secret;
  readonly copy: Secret | undefined;
  readonly withToken: (token: string) => Rotated;
  readonly account: Account;
  /** The Secrets of the target with the account's tokens, but for the next one. */
  readonly old: readonly Secret[];
  /** Name of the Secret of the target with the next one. */
  readonly next: string;
  /** Whether no other cluster uses the account. */
  readonly isOwn: boolean;
}

/** Runs the command. Sets the exit code. */
export const rotate = (link: string, flags: RotateFlags): Promise<void> =>
  reportingProblems(() =>
    withCluster(flags, (source) =>
      withCluster({ kubeconfig: flags.toKubeconfig ?? flags.kubeconfig, context: flags.toContext }, async (target) => {
        const rotation = await rotationOf(link, source, target, flags);
        if (flags.apply) await withReport(flags.output, (report) => execute(rotation, flags, report));
        else await preview(rotation, flags);
      }),
    ),
  );

const rotationOf = async (
  link: string,
  source: Cluster,
  target: Cluster,
  { namespace, linkerdNamespace, sourceName = source.context, revoke }: RotateFlags,
): Promise<Rotation> => {
  const refuse = (object: string, reason: string, remedy: string): never => {
    throw new CommandError([{ object, reason, remedy }]);
  };
  const linkRef = { namespace, name: link };
  const found = await source.find<LinkObject>(LINKS, linkRef);
  const cluster = found?.spec?.targetClusterName;
  if (found === undefined || cluster === undefined) {
    return refuse(source.title(LINKS.kind, linkRef), 'not found', 'name a Link, and its namespace with --namespace');
  }
  const ref = { namespace, name: found.spec?.clusterCredentialsSecret ?? credentialsName(cluster) };
  const title = source.title(SECRETS.kind, ref);
  const minting = `make new credentials with \`linkspan credentials mint\``;
  const secret = await source.find<Secret>(SECRETS, ref);
  if (secret === undefined) return refuse(title, 'not found', minting);
  const read = readKubeconfig(secret);
  if (!read.ok) return refuse(title, read.reason, minting);

  const accounts = await target.list<Secret>(SECRETS, { namespace, fieldSelector: `type=${TOKEN_SECRET_TYPE}` });
  const current = accounts.find((each) => tokenIn(each)?.token === read.token);
  const name = current?.metadata.annotations?.[Annotation.serviceAccountName];
  if (current === undefined || name === undefined) {
    const reason = `its token is in no Secret of namespace ${namespace} of ${target.context}`;
    return refuse(title, reason, `check --to-context, or ${minting}`);
  }
  const account = { namespace, name };
  const all = await tokenSecretsOf(target, account);
  const younger = all.slice(
    0,
    all.findIndex(({ metadata }) => metadata.name === current.metadata.name),
  );
  const next = younger[0]?.metadata.name ?? freeName(name, all);
  const copyRef = { namespace: linkerdNamespace, name: credentialsName(cluster) };
  const copy = await source.find<Secret>(SECRETS, copyRef);
  const isCopied = copy !== undefined && holdsOneOf(copy, all);
  return {
    source,
    target,
    link,
    cluster,
    secret,
    copy: isCopied ? copy : undefined,
    withToken: read.withToken,
    account,
    old: all.filter(({ metadata }) => metadata.name !== next),
    next,
    isOwn: revoke === true || name === remoteAccessName(sourceName),
  };
};

const holdsOneOf = (copy: Secret, tokens: readonly Secret[]): boolean => {
  const read = readKubeconfig(copy);
  return read.ok && tokens.some((each) => tokenIn(each)?.token === read.token);
};

/** `<account>-token`, or with a number if that is taken. */
const freeName = (account: string, all: readonly Secret[]): string => {
  const taken = new Set(all.map(({ metadata }) => metadata.name));
  const base = tokenSecretName(account);
  let name = base;
  for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`;
  return name;
};

const tokenSecret = ({ account, next }: Rotation): ApiJson => ({
  apiVersion: 'v1',
  kind: SECRETS.kind,
  type: TOKEN_SECRET_TYPE,
  metadata: {
    name: next,
    namespace: account.namespace,
    labels: { [Label.extension]: Value.extension },
    annotations: { [Annotation.serviceAccountName]: account.name },
  },
});

const preview = async (rotation: Rotation, { output }: RotateFlags): Promise<void> => {
  const { source, target, secret, copy, old, isOwn } = rotation;
  const purpose = `the next token of ServiceAccount ${rotation.account.name}`;
  await print(
    manifestsText([{ context: target.context, purpose, objects: [tokenSecret(rotation)] }], output ?? 'yaml'),
  );
  const notes = [
    ...[secret, ...(copy ? [copy] : [])].map(
      (each) => `${source.title(SECRETS.kind, each.metadata)} would get the token`,
    ),
    ...(isOwn
      ? old.map(({ metadata }) => `${target.title(SECRETS.kind, metadata)} would be deleted`)
      : [keptNote(rotation)]),
  ];
  for (const each of notes) note(each);
};

const keptNote = ({ target, account, old }: Rotation): string =>
  `${old.map(({ metadata }) => target.title(SECRETS.kind, metadata)).join(', ')} stays, since other clusters may use ` +
  `account ${account.name}: delete it when none does, or use --revoke`;

const execute = async (rotation: Rotation, flags: RotateFlags, report: ResultReport): Promise<void> => {
  const { source, target, secret, copy, account, next, old, isOwn, withToken } = rotation;
  await applyAll(target, [tokenSecret(rotation)], report);
  const { token } = await awaitToken(target, { namespace: account.namespace, name: next }, flags.timeout);
  const rotated = withToken(token);
  await applyAll(source, [credentialsSecret(secret, rotated)], report);
  await untilUsed(rotation, rotated, flags);
  if (copy !== undefined) {
    // Linkerd's destination controller notices a Secret that comes or goes, not one that changes.
    await deleteAll(source, [{ of: SECRETS, object: copy }], report);
    await createAgain(source, credentialsSecret(copy, rotated, copy.metadata), flags.timeout, report);
  }
  if (isOwn)
    await deleteAll(
      target,
      old.map((object) => ({ of: SECRETS, object })),
      report,
    );
  else note(keptNote(rotation));
};

/** Creates what was just deleted, also if the server is away for a moment: nothing else knows what was in it. */
const createAgain = (source: Cluster, secret: ApiJson, timeoutMs: number, report: ResultReport): Promise<void> => {
  const title = source.title(SECRETS.kind, secret.metadata);
  return waitFor(
    `${title} to be created again`,
    async () => {
      await applyAll(source, [secret], report);
      return { done: undefined };
    },
    {
      timeoutMs,
      problem: (pending) => ({
        object: title,
        reason: `is deleted, and was not created again: ${pending}`,
        remedy: 'run `linkspan credentials mint --apply`, which writes it',
      }),
    },
  );
};

const credentialsSecret = (
  { metadata: { name, namespace } }: Secret,
  { text }: Rotated,
  { labels, annotations }: Pick<Secret['metadata'], 'labels' | 'annotations'> = {},
): ApiJson => ({
  apiVersion: 'v1',
  kind: SECRETS.kind,
  type: CredentialsSecret.type,
  metadata: {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  },
  data: { [CredentialsSecret.key]: Buffer.from(text).toString('base64') },
});

/** Waits until the operator reads the target with the new token. */
const untilUsed = async (
  { source, link }: Rotation,
  { fingerprint }: Rotated,
  { namespace, timeout }: RotateFlags,
): Promise<void> => {
  const ref = { namespace, name: link };
  await waitFor(
    `the operator of ${source.context} to use the new token`,
    async () => {
      const found = await source.find<LinkObject>(LINKS, ref);
      const valid = conditionOf(found, 'CredentialsValid');
      if (valid === undefined) return { pending: 'no operator has reported on the Link' };
      if (valid.status !== 'True') return { pending: `${valid.reason}: ${valid.message}` };
      return valid.message === inUseMessage(fingerprint)
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
