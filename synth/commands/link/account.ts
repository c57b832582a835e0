/**
 * The account with which a source reads a target, as it is in the target: whose it is, what it may do, and its tokens. An
 * account records which source cluster it is for, since two of them may have contexts of one name.
 */
import { Annotation, Label, remoteAccessName, SHARED_ACCOUNT, Value } from '../../../crds/wire.ts';
import type { KubeObject, Resource, Secret } from '../../../operator/kube/objects.ts';
import { readAccountToken } from '../../../operator/kube/account-token.ts';
import type { Found } from '../common/apply.ts';
import type { Cluster } from '../common/cluster.ts';
import { kubectl } from '../common/command-text.ts';
import type { Problem } from '../common/command-error.ts';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES, SERVICE_ACCOUNTS } from '../common/kinds.ts';
import { ifAllowed } from '../common/readable.ts';
import { acceptedTokens, isBoundTo, isTokenOf, type Peers, peerSecretsOf } from './ending-token.ts';
import { type Account, allTokenSecrets, isDead, secretsOfAccount, tokenIn } from './token.ts';

/** An account as it was read. */
export interface AccountRead extends Account, Peers {
  /** The ServiceAccount; undefined if there is none. */
  readonly object: KubeObject | undefined;
  /** The Secrets of its tokens that do not end, or that Kubernetes has yet to fill, the youngest first. */
  readonly tokens: readonly Secret[];
  /** The Secrets of tokens of an account of this name that is gone. */
  readonly dead: readonly Secret[];
  /** Of the tokens that end and that it was read with, those that the target accepts as of this account. */
  readonly accepted: ReadonlySet<string>;
  /** Its roles and their bindings, those in namespaces among them. */
  readonly rights: readonly Found[];
  /** Roles and bindings of its name that are those of other accounts. */
  readonly otherRights: readonly Found[];
  /** Whether all of these could be read. */
  readonly areRightsKnown: boolean;
}

interface Binding extends KubeObject {
  readonly subjects?: readonly { readonly kind?: string; readonly name?: string; readonly namespace?: string }[];
}

interface Role extends KubeObject {
  readonly rules?: readonly { readonly resources?: readonly string[] }[] | null;
}

/**
 * Reads an account.
 * @param held the tokens that a source has, of which those of this account are tried
 */
export const readAccount = async (
  target: Cluster,
  account: Account,
  held: ReadonlySet<string> = new Set(),
): Promise<AccountRead> => {
  const { name } = account;
  const [object, peers, secrets, rights] = await Promise.all([
    target.find(SERVICE_ACCOUNTS, account),
    peerSecretsOf(target, account),
    allTokenSecrets(target, account.namespace),
    rightsOf(target, account),
  ]);
  const all = secretsOfAccount(secrets, name);
  return {
    ...account,
    object,
    ...peers,
    tokens: all.filter((each) => !isDead(each, object)),
    dead: all.filter((each) => isDead(each, object)),
    accepted: new Set(await acceptedTokens(target, account, object, held)),
    ...rights,
  };
};

const isExtension = ({ metadata }: KubeObject): boolean => metadata.labels?.[Label.extension] === Value.extension;

/**
 * The roles of the name of an account, and their bindings: bindings first, as they go. What binds only accounts of other
 * namespaces, and the role beside it, is theirs.
 */
const rightsOf = async (
  target: Cluster,
  { namespace, name }: Account,
): Promise<Pick<AccountRead, 'rights' | 'otherRights' | 'areRightsKnown'>> => {
  let areRightsKnown = true;
  const ofCluster = async (of: Resource): Promise<readonly Found[]> => {
    const object = await target.find(of, { name });
    return object !== undefined && isExtension(object) ? [{ of, object }] : [];
  };
  const ofNamespaces = async (of: Resource): Promise<readonly Found[]> => {
    const labelSelector = `${Label.extension}=${Value.extension}`;
    const everywhere = await ifAllowed(() => target.list(of, { labelSelector }));
    const read =
      'found' in everywhere ? everywhere : await ifAllowed(() => target.list(of, { namespace, labelSelector }));
    areRightsKnown &&= 'found' in everywhere;
    const all = 'found' in read ? read.found : [];
    return all.filter(({ metadata }) => metadata.name === name).map((object) => ({ of, object }));
  };
  const [bindings, clusterBindings, roles, clusterRoles] = await Promise.all([
    ofNamespaces(ROLE_BINDINGS),
    ofCluster(CLUSTER_ROLE_BINDINGS),
    ofNamespaces(ROLES),
    ofCluster(CLUSTER_ROLES),
  ]);
  const all = [...bindings, ...clusterBindings, ...roles, ...clusterRoles];
  const ofOthers = new Set(
    [...bindings, ...clusterBindings]
      .filter(({ object }) => !binds(object, { namespace, name }))
      .map(({ object }) => object.metadata.namespace),
  );
  const isOthers = ({ object }: Found): boolean => ofOthers.has(object.metadata.namespace);
  return { rights: all.filter((each) => !isOthers(each)), otherRights: all.filter(isOthers), areRightsKnown };
};

/** Reports whether a binding is to an account, or to nobody yet. */
const binds = ({ subjects = [] }: Binding, { namespace, name }: Account): boolean =>
  subjects.length === 0 ||
  subjects.some((each) => each.kind === SERVICE_ACCOUNTS.kind && each.name === name && each.namespace === namespace);

/** The obstacle to giving an account rights: those of its name are another account's. */
export const otherRightsProblems = (
  target: Cluster,
  { otherRights, namespace, name }: AccountRead,
  remedy: string,
): readonly Problem[] =>
  otherRights
    .filter(({ of }) => of === CLUSTER_ROLE_BINDINGS || of === ROLE_BINDINGS)
    .map(({ of, object }) => ({
      object: target.title(of.kind, object.metadata),
      reason: `is of another account than ${name} of namespace ${namespace}, which would take its rights`,
      remedy,
    }));

/** Reports whether Linkerd may read the target with an account, as a flat network needs. */
export const isFlat = ({ rights }: AccountRead): boolean =>
  rights.some(({ of, object }) => of === CLUSTER_ROLES && grants(object, 'pods'));

/** Reports whether an account reads the whole cluster without the rights of Linkerd's own controller, as one of Git may. */
export const lacksController = ({ rights }: AccountRead): boolean =>
  rights.some(({ of, object }) => of === CLUSTER_ROLES && !grants(object, 'endpoints'));

const grants = (role: Role, resource: string): boolean =>
  (role.rules ?? []).some(({ resources }) => resources?.includes(resource));

/** Reports whether an account reads the whole cluster. */
export const readsAll = ({ rights }: AccountRead): boolean => rights.some(({ of }) => of === CLUSTER_ROLES);

/** The only namespaces that an account may read; undefined if it may read all, or if not all of its rights are known. */
export const limitsOf = ({ rights, areRightsKnown }: AccountRead): readonly string[] | undefined => {
  const limits = rights.flatMap(({ of, object }) =>
    of === ROLES && grants(object, 'services') ? [object.metadata.namespace ?? ''] : [],
  );
  return limits.length === 0 || !areRightsKnown ? undefined : limits;
};

/**
 * The obstacle to giving an account rights: it may be limited by Roles that cannot be listed.
 * @param limits as a flag or the Link says them; empty to lift them
 */
export const unknownLimitProblems = (
  target: Cluster,
  account: AccountRead,
  limits: readonly string[] | undefined,
): readonly Problem[] =>
  limits !== undefined || account.object === undefined || account.areRightsKnown || readsAll(account)
    ? []
    : [
        {
          object: target.title(SERVICE_ACCOUNTS.kind, account),
          reason: 'may be limited to some namespaces: its Roles cannot be listed in all of them',
          remedy: 'name these with --export-namespaces, or give it empty to let the account read all',
        },
      ];

/** Reports whether an account has rights that are known, and may not renew a token of its own by them. */
export const mayNotRenew = (account: AccountRead): boolean =>
  account.areRightsKnown && account.rights.length > 0 && !mayRenew(account);

/** Reports whether an account may renew a token of its own. */
export const mayRenew = ({ rights }: AccountRead): boolean =>
  rights.some(({ of, object }) => of === ROLES && grants(object, 'serviceaccounts/token'));

/** Reports whether one of an account's tokens is among those that a source has. */
export const isProven = ({ accepted, tokens, dead }: AccountRead, held: ReadonlySet<string>): boolean =>
  [...held].some((token) => accepted.has(token)) || [...tokens, ...dead].some((secret) => isBehind(secret, held));

/** Reports whether a token is one of an account, as it says itself, or a Secret of the target does. */
export const isOneOf = (account: AccountRead, token: string): boolean => {
  const read = readAccountToken(token);
  return (
    account.tokens.some((secret) => tokenIn(secret)?.token === token) ||
    (read !== undefined && isTokenOf(account, account.object, read))
  );
};

/** Reports whether the target accepts a token as one of an account. */
export const isValid = ({ accepted, tokens }: AccountRead, token: string): boolean =>
  accepted.has(token) || tokens.some((secret) => tokenIn(secret)?.token === token);

/** Reports whether a Secret of an account holds one of these tokens, or they are bound to it. */
export const isBehind = (secret: Secret, tokens: ReadonlySet<string>): boolean =>
  tokens.has(tokenIn(secret)?.token ?? '') || [...tokens].some((token) => isBoundTo(secret, token));

/**
 * Whose an account is: that of the source, that of another source, or one that says nothing and that others may use. One
 * that says nothing, as those that Git or `linkspan allow` make, is the source's if it has its name, and the source has
 * its token; but for that of Linkerd's chart, which any number of sources share.
 */
export const ownerOf = (
  account: AccountRead,
  { sourceUid, sourceName, held }: Claim,
): 'source' | 'another' | 'unknown' => {
  const { name, object } = account;
  const recorded = recordOf(object);
  if (recorded !== undefined && sourceUid !== undefined) return recorded === sourceUid ? 'source' : 'another';
  const isOwn = name === remoteAccessName(sourceName) && name !== SHARED_ACCOUNT && isProven(account, held);
  return isOwn ? 'source' : 'unknown';
};

/** What a source has to show for an account. */
export interface Claim {
  readonly sourceUid: string | undefined;
  readonly sourceName: string;
  /** The tokens that it has. */
  readonly held: ReadonlySet<string>;
}

/** The source cluster that an account records. */
export const recordOf = (object: KubeObject | undefined): string | undefined =>
  object?.metadata.annotations?.[Annotation.sourceClusterUid];

/** Kubernetes', on a token Secret: the day on which the token was last used. */
const LAST_USED = 'kubernetes.io/legacy-token-last-used';

/**
 * The obstacle to giving an account to a source: it is that of another cluster, or may be. One that no token of has ever
 * been used, or given to anybody else, is nobody's yet.
 */
export const accountProblems = (target: Cluster, read: AccountRead, claim: Claim): readonly Problem[] => {
  const { object, name, namespace, tokens, peers } = read;
  const { sourceUid } = claim;
  const owner = ownerOf(read, claim);
  if (object === undefined || owner === 'source') return [];
  const isGiven = ({ metadata }: Secret): boolean =>
    ![undefined, sourceUid].includes(metadata.annotations?.[Annotation.tokenGiven]);
  const isUsed =
    tokens.some(({ metadata }) => metadata.labels?.[LAST_USED] !== undefined) || [...tokens, ...peers].some(isGiven);
  if (owner === 'unknown' && name !== SHARED_ACCOUNT && !isUsed) return [];
  const another = 'name this source otherwise with --source-name';
  const annotate = (record: string): string =>
    kubectl(target, '-n', namespace, 'annotate', 'serviceaccount', name, record);
  const adopt =
    sourceUid === undefined
      ? 'have somebody run the command who may get namespace kube-system of the source'
      : `if it is for this one alone, run \`${annotate(`${Annotation.sourceClusterUid}=${sourceUid}`)}\``;
  return [
    owner === 'another'
      ? {
          object: target.title(SERVICE_ACCOUNTS.kind, read),
          reason: `another source cluster reads with it, that whose namespace kube-system has the uid ${recordOf(object)}`,
          remedy: another,
        }
      : {
          object: target.title(SERVICE_ACCOUNTS.kind, read),
          reason: 'does not say which source cluster it is for, and another may read with it',
          remedy: `${another}, or ${adopt}`,
        },
  ];
};

/** The Secrets of an account, by which its tokens are valid. */
export const secretsOf = ({ peers, tokens, dead }: AccountRead): readonly Secret[] => [...tokens, ...dead, ...peers];

/** The commands that remove an account, by name. */
export const removalCommands = (target: Cluster, account: AccountRead): string => {
  const { name, namespace, rights } = account;
  const secrets = secretsOf(account).map(({ metadata }) => `secret/${metadata.name}`);
  const ofCluster = rights.filter(({ object }) => object.metadata.namespace === undefined);
  const within = Map.groupBy(
    rights.filter(({ object }) => object.metadata.namespace !== undefined),
    ({ object }) => object.metadata.namespace ?? '',
  );
  const ref = ({ of }: Found): string => `${of.plural}/${name}`;
  return [
    kubectl(target, '-n', namespace, 'delete', `serviceaccount/${name}`, ...secrets),
    ...(ofCluster.length === 0 ? [] : [kubectl(target, 'delete', ...ofCluster.map(ref))]),
    ...[...within].map(([each, all]) => kubectl(target, '-n', each, 'delete', ...all.map(ref))),
  ]
    .map((command) => `\`${command}\``)
    .join(' and ');
};
