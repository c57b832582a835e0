/**
 * `linkspan unlink`: removes a Link and everything that was made for it. The Link goes first; when the operator has
 * removed the mirrors, the credentials follow, and last the account in the target. Safe to run again: what is gone is
 * passed over. Without `--apply` nothing is deleted, and the objects are printed.
 */
import {
  Annotation,
  CredentialsSecret,
  credentialsName,
  Label,
  remoteAccessName,
  Value,
  writeLeaseName,
} from '../../../crds/wire.ts';
import {
  type KubeObject,
  LEASES,
  type Resource,
  type Secret,
  SECRETS,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import { deleteAll, type Found, refOf } from '../common/apply.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { ExitCode, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, LINKS, SERVICE_ACCOUNTS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { type ClusterObjects, manifestsText, withReport } from '../common/output.ts';
import { waitFor } from '../common/wait.ts';
import { note, print, printLine } from '../../print.ts';
import type { UnlinkFlags } from './flags.ts';
import { clusterNameProblems, withPair } from './pair.ts';
import { tokenSecretsOf } from './token.ts';

/** Everything of one Link, in the order in which it goes. */
interface Traces {
  readonly link: Found | undefined;
  readonly mirrors: readonly KubeObject[];
  readonly credentials: readonly Found[];
  readonly access: readonly Found[];
}

/** Runs the command. Sets the exit code. */
export const unlink = (flags: UnlinkFlags): Promise<void> =>
  reportingProblems(async () => {
    const { toContext } = flags;
    if (toContext !== undefined) {
      await withPair({ ...flags, toContext }, ({ source, target, ...names }) =>
        unlinkPair(source, target, names, flags),
      );
      return;
    }
    const { name } = flags;
    if (name === undefined) {
      refuseProblems(
        [{ object: '--name', reason: 'is required without --to-context', remedy: 'name the Link' }],
        ExitCode.usage,
      );
      return;
    }
    refuseProblems(clusterNameProblems('--name', name, ''), ExitCode.usage);
    await withCluster(flags, (source) =>
      unlinkPair(source, undefined, { sourceName: source.context, targetName: name }, flags),
    );
  });

interface Names {
  readonly sourceName: string;
  readonly targetName: string;
}

const unlinkPair = async (
  source: Cluster,
  target: Cluster | undefined,
  names: Names,
  flags: UnlinkFlags,
): Promise<void> => {
  const traces = await tracesOf(source, target, names, flags);
  refuseForeign(traces, source, names.targetName);
  const { link, credentials, access, mirrors } = traces;
  const gone = [...(link ? [link] : []), ...credentials];
  if (gone.length + access.length + mirrors.length === 0) {
    printLine(`nothing is left of a Link to ${names.targetName} in ${source.context}`);
  }
  if (!flags.apply) {
    const purpose = (what: string): string => `${what} that would be deleted`;
    const lists: readonly ClusterObjects[] = [
      { context: source.context, purpose: purpose('objects'), objects: gone.map(refOf) },
      ...(target === undefined
        ? []
        : [{ context: target.context, purpose: purpose('objects'), objects: access.map(refOf) }]),
    ];
    const filled = lists.filter(({ objects }) => objects.length > 0);
    await print(manifestsText(filled, flags.output ?? 'yaml'));
    if (mirrors.length > 0) {
      note(`the operator would remove ${mirrors.length} mirrors from ${source.context}`);
    }
    return;
  }
  await withReport(flags.output, async (report) => {
    if (link !== undefined) await deleteAll(source, [link], report);
    await untilRemoved(source, names.targetName, flags);
    await deleteAll(source, credentials, report);
    if (target !== undefined) await deleteAll(target, access, report);
  });
};

/** The Link of this name must be the one to this cluster. */
const refuseForeign = ({ link }: Traces, source: Cluster, cluster: string): void => {
  const target = (link?.object as LinkObject | undefined)?.spec?.targetClusterName;
  if (link === undefined || target === cluster) return;
  const object = source.title('Link', link.object.metadata);
  refuseProblems([
    { object, reason: `is to cluster ${target ?? ''}`, remedy: 'name the cluster of the Link to remove with --name' },
  ]);
};

/** Reads everything that is left. Only what this command line or Linkerd's makes for a Link counts. */
const tracesOf = async (
  source: Cluster,
  target: Cluster | undefined,
  { sourceName, targetName }: Names,
  flags: UnlinkFlags,
): Promise<Traces> => {
  const { namespace, linkerdNamespace } = flags;
  const link = await source.find<LinkObject>(LINKS, { namespace, name: targetName });
  const secret = link?.spec?.clusterCredentialsSecret ?? credentialsName(targetName);
  const others = (await source.list<LinkObject>(LINKS, { namespace })).filter(
    ({ metadata, spec }) => metadata.name !== targetName && spec?.clusterCredentialsSecret === secret,
  );
  const found = async <T extends KubeObject>(
    cluster: Cluster,
    of: Resource,
    ref: { readonly namespace?: string; readonly name: string },
    isOurs: (object: T) => boolean,
  ): Promise<readonly Found[]> => {
    const object = await cluster.find<T>(of, ref);
    return object !== undefined && isOurs(object) ? [{ of, object }] : [];
  };
  const isKubeconfig = ({ type }: Secret): boolean => type === CredentialsSecret.type;
  const isExtension = ({ metadata }: KubeObject): boolean => metadata.labels?.[Label.extension] === Value.extension;
  const name = remoteAccessName(sourceName);
  return {
    link: link && { of: LINKS, object: link },
    mirrors: await mirrorsOf(source, targetName),
    credentials: [
      ...(others.length > 0 ? [] : await found(source, SECRETS, { namespace, name: secret }, isKubeconfig)),
      ...(await found(
        source,
        SECRETS,
        { namespace: linkerdNamespace, name: credentialsName(targetName) },
        isKubeconfig,
      )),
    ],
    access:
      target === undefined
        ? []
        : [
            ...(await tokenSecretsOf(target, { namespace, name })).map((object) => ({ of: SECRETS, object })),
            ...(await found(target, CLUSTER_ROLE_BINDINGS, { name }, isExtension)),
            ...(await found(target, CLUSTER_ROLES, { name }, isExtension)),
            ...(await found(target, SERVICE_ACCOUNTS, { namespace, name }, isExtension)),
          ],
  };
};

/** The mirrors of a cluster, those of its gateway's probe among them. */
const mirrorsOf = (source: Cluster, cluster: string): Promise<readonly KubeObject[]> =>
  source.list(SERVICES, { labelSelector: `${Label.clusterName}=${cluster}` });

/**
 * Waits until the operator has removed the mirrors, and then the Lease that records them. Linkerd's controller leaves its
 * Lease, which has no such record.
 */
const untilRemoved = async (source: Cluster, cluster: string, flags: UnlinkFlags): Promise<void> => {
  const lease = { namespace: flags.namespace, name: writeLeaseName(cluster) };
  await waitFor(
    `the operator to remove the mirrors of ${cluster}`,
    async () => {
      const { length } = await mirrorsOf(source, cluster);
      if (length > 0) return { pending: `${length} are left` };
      const record = (await source.find(LEASES, lease))?.metadata.annotations?.[Annotation.targetCluster];
      return record === cluster ? { pending: 'its Lease is left' } : { done: undefined };
    },
    {
      timeoutMs: flags.timeout,
      problem: (pending, waitedMs) => ({
        object: `mirrors of ${cluster} in ${source.context}`,
        reason: `${pending} after ${waitedMs / 1000} s`,
        remedy: 'see whether the operator runs, and run the command again',
      }),
    },
  );
};
