/** What a source has of a target: the Link, and the Secrets with its credentials. */
import { Annotation, CredentialsSecret, credentialsName } from '../../../crds/wire.ts';
import { type KubeObject, type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { kubectl } from '../common/command-text.ts';
import type { Problem } from '../common/command-error.ts';
import { LINKS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { ifAllowed } from '../common/readable.ts';
import { type KubeconfigRead, readKubeconfig } from '../credentials/kubeconfig.ts';
import type { ApiServer } from './api-server.ts';

/** Where the source has Links and Linkerd. */
export interface SourceNamespaces {
  readonly namespace: string;
  readonly linkerdNamespace: string;
}

export interface Held {
  readonly link: LinkObject | undefined;
  /** The other Links of the namespace. */
  readonly otherLinks: readonly LinkObject[];
  /** Name of the Link's Secret, whether it is there or not. */
  readonly secretName: string;
  readonly secret: Secret | undefined;
  /** The copy that Linkerd's destination controller reads. */
  readonly copy: Secret | undefined;
  /** All other credentials of the source: of other Links, and copies in any namespace that may be read. */
  readonly others: readonly Secret[];
}

/** The Secret that a Link reads its credentials from. */
export const secretNameOf = ({ spec }: LinkObject, fallback: string): string =>
  spec?.clusterCredentialsSecret ?? credentialsName(spec?.targetClusterName ?? fallback);

/** Reads what a source has of the target of a name. */
export const readHeld = async (
  source: Cluster,
  targetName: string,
  { namespace, linkerdNamespace }: SourceNamespaces,
): Promise<Held> => {
  const link = await source.find<LinkObject>(LINKS, { namespace, name: targetName });
  const secretName = link === undefined ? credentialsName(targetName) : secretNameOf(link, targetName);
  const copyName = credentialsName(link?.spec?.targetClusterName ?? targetName);
  const [secret, links, all] = await Promise.all([
    source.find<Secret>(SECRETS, { namespace, name: secretName }),
    source.list<LinkObject>(LINKS, { namespace }),
    credentialsOf(source, [...new Set([namespace, linkerdNamespace])]),
  ]);
  const is =
    (within: string, name: string) =>
    ({ metadata }: KubeObject): boolean =>
      metadata.namespace === within && metadata.name === name;
  const isSecret = is(namespace, secretName);
  const isCopy = linkerdNamespace === namespace ? () => false : is(linkerdNamespace, copyName);
  return {
    link,
    otherLinks: links.filter(({ metadata }) => metadata.name !== targetName),
    secretName,
    secret,
    copy: all.find(isCopy),
    others: all.filter((each) => !isSecret(each) && !isCopy(each)),
  };
};

/** The credentials that a source has: in all namespaces, as far as it may list them, and at least in those named. */
const credentialsOf = async (source: Cluster, namespaces: readonly string[]): Promise<readonly Secret[]> => {
  const fieldSelector = `type=${CredentialsSecret.type}`;
  const read = await ifAllowed(() => source.list<Secret>(SECRETS, { fieldSelector }));
  if ('found' in read) return read.found;
  const lists = namespaces.map((namespace) => source.list<Secret>(SECRETS, { namespace, fieldSelector }));
  return (await Promise.all(lists)).flat();
};

const readOf = (secret: Secret | undefined): Extract<KubeconfigRead, { readonly ok: true }> | undefined => {
  const read = secret && readKubeconfig(secret);
  return read?.ok ? read : undefined;
};

/** The Links of other names that lead to a cluster, as their credentials record it. */
export const linksTo = ({ others, otherLinks }: Held, targetUid: string | undefined): readonly LinkObject[] =>
  otherLinks.filter((link) =>
    others.some(
      ({ metadata: { namespace, name, annotations } }) =>
        targetUid !== undefined &&
        annotations?.[Annotation.targetClusterUid] === targetUid &&
        namespace === link.metadata.namespace &&
        name === secretNameOf(link, link.metadata.name),
    ),
  );

/** The tokens in these Secrets. */
export const tokensIn = (secrets: readonly (Secret | undefined)[]): ReadonlySet<string> =>
  new Set(secrets.map((each) => readOf(each)?.token).filter((token) => token !== undefined));

/** The API server that the credentials of the Link name. */
export const heldServer = ({ secret }: Held): ApiServer | undefined => readOf(secret)?.apiServer;

/** The cluster that the credentials of the Link are for, as they record it: the uid of its namespace kube-system. */
export const recordedTarget = ({ secret }: Pick<Held, 'secret'>): string | undefined =>
  secret?.metadata.annotations?.[Annotation.targetClusterUid];

/** What a rotation that was stopped has yet to do, as the credentials of the Link record it. */
export const rotationRecord = ({ secret }: Pick<Held, 'secret'>): string | undefined =>
  secret?.metadata.annotations?.[Annotation.rotation];

/** The obstacle to reading another cluster by the credentials of a name than the one that they record. */
export const otherTargetProblems = (
  source: Cluster,
  target: Cluster,
  targetUid: string | undefined,
  { secret }: Held,
): readonly Problem[] => {
  const recorded = recordedTarget({ secret });
  if (secret === undefined || recorded === undefined || targetUid === undefined || recorded === targetUid) return [];
  const { namespace = '', name } = secret.metadata;
  const forget = kubectl(source, '-n', namespace, 'annotate', 'secret', name, `${Annotation.targetClusterUid}-`);
  return [
    {
      object: source.title(SECRETS.kind, secret.metadata),
      reason: `is for another cluster than ${target.context}: that whose namespace kube-system has the uid ${recorded}`,
      remedy: `check --to-context, or name the cluster otherwise with --name; if it was made anew, run \`${forget}\``,
    },
  ];
};
