/**
 * Accounts with which other clusters read this one, however they were made: by `linkspan link`, `allow` or `mint`, applied by
 * it or by kubectl, from Git, or by Linkerd's chart and command line. Those that pods of this cluster run as are not among
 * them.
 */
import { Annotation, Default, Label, OPERATOR_NAME, TOKEN_SECRET_TYPE, Value } from '../../../crds/wire.ts';
import { type KubeObject, type Resource, SECRETS } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import type { Problem } from '../common/command-error.ts';
import { kubectl } from '../common/command-text.ts';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  DEPLOYMENTS,
  PODS,
  ROLE_BINDINGS,
  ROLES,
  SERVICE_ACCOUNTS,
} from '../common/kinds.ts';
import { ifAllowed } from '../common/readable.ts';

interface Role extends KubeObject {
  /** Null of a role without rules, as of an aggregated one that selects nothing. */
  readonly rules?:
    | readonly {
        readonly apiGroups?: readonly string[];
        readonly resources?: readonly string[];
        readonly verbs?: readonly string[];
      }[]
    | null;
}

interface Binding extends KubeObject {
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly namespace?: string; readonly name: string }[];
}

interface Deployment extends KubeObject {
  readonly spec?: { readonly template?: { readonly spec?: { readonly serviceAccountName?: string } } };
}

interface Pod extends KubeObject {
  readonly spec?: { readonly serviceAccountName?: string };
}

/** An account of other clusters. */
export interface Reader {
  readonly account: KubeObject;
  /** What goes with it: its tokens, its bindings, and the roles that nothing else is bound to. */
  readonly belongings: readonly { readonly of: Resource; readonly object: KubeObject }[];
}

/** Reports whether Linkerd's chart or command line, or Helm, has made an account. */
export const isOfLinkerd = ({ account: { metadata } }: Reader): boolean =>
  [Annotation.createdBy, Annotation.helmRelease].some((name) => name in (metadata.annotations ?? {}));

/** The accounts of other clusters in a namespace. */
export const readersOf = async (cluster: Cluster, namespace: string): Promise<readonly Reader[]> => {
  const [accounts, deployments, pods, secrets, labelled, ...rights] = await Promise.all([
    cluster.list(SERVICE_ACCOUNTS, { namespace }),
    cluster.list<Deployment>(DEPLOYMENTS, { namespace }),
    allowed<Pod>(cluster, PODS, { namespace }),
    allowed(cluster, SECRETS, { namespace, fieldSelector: `type=${TOKEN_SECRET_TYPE}` }),
    allowed(cluster, SECRETS, { namespace, labelSelector: `${Label.extension}=${Value.extension}` }),
    cluster.list<Binding>(CLUSTER_ROLE_BINDINGS, {}),
    cluster.list<Role>(CLUSTER_ROLES, {}),
    allowed<Binding>(cluster, ROLE_BINDINGS, {}),
    allowed<Role>(cluster, ROLES, {}),
  ]);
  const [clusterBindings, clusterRoles, bindings, roles] = rights as [Binding[], Role[], Binding[], Role[]];
  const allBindings = [
    ...clusterBindings.map((object) => ({ of: CLUSTER_ROLE_BINDINGS, object })),
    ...bindings.map((object) => ({ of: ROLE_BINDINGS, object })),
  ];
  const allRoles = [
    ...clusterRoles.map((object) => ({ of: CLUSTER_ROLES, object })),
    ...roles.map((object) => ({ of: ROLES, object })),
  ];
  const users = new Set([
    ...deployments.map(({ spec }) => spec?.template?.spec?.serviceAccountName),
    ...pods.map(({ spec }) => spec?.serviceAccountName),
  ]);
  return accounts.flatMap((account): readonly Reader[] => {
    const { name, labels = {} } = account.metadata;
    if (OWN.has(name) || users.has(name)) return [];
    const tokens = [
      ...secrets.filter(({ metadata }) => metadata.annotations?.[Annotation.serviceAccountName] === name),
      // What the tokens that end are bound to.
      ...labelled.filter(({ metadata }) => metadata.annotations?.[Annotation.serviceAccount] === name),
    ].map((object) => ({ of: SECRETS, object }));
    const bound = allBindings.filter(({ object }) => isTo(object, namespace, name));
    const granted = allRoles.filter((role) => bound.some(({ object }) => isBy(object, role)));
    const isReader =
      labels[Label.extension] === Value.extension ||
      tokens.length > 0 ||
      granted.some(({ object }) => listsServices(object));
    if (!isReader) return [];
    const ownBindings = bound.filter(({ object }) => object.subjects?.length === 1);
    const ownRoles = granted.filter(
      (role) =>
        role.object.metadata.labels?.[Label.extension] === Value.extension &&
        allBindings.every((each) => !isBy(each.object, role) || ownBindings.includes(each)),
    );
    return [{ account, belongings: [...tokens, ...ownBindings, ...ownRoles] }];
  });
};

/** Accounts of the installation, and the one that every namespace has. */
const OWN: ReadonlySet<string> = new Set([OPERATOR_NAME, Default.gatewayName, 'default']);

/** What may be listed; none if the user may not: the other marks of an account are enough. */
const allowed = async <T extends KubeObject>(
  cluster: Cluster,
  of: Resource,
  where: Parameters<Cluster['list']>[1],
): Promise<readonly T[]> => {
  const read = await ifAllowed(() => cluster.list<T>(of, where));
  return 'found' in read ? read.found : [];
};

const isTo = ({ subjects = [] }: Binding, namespace: string, name: string): boolean =>
  subjects.some((each) => each.kind === SERVICE_ACCOUNTS.kind && each.namespace === namespace && each.name === name);

const isBy = (
  { roleRef, metadata }: Binding,
  { of, object }: { readonly of: Resource; readonly object: KubeObject },
): boolean =>
  roleRef?.kind === of.kind &&
  roleRef.name === object.metadata.name &&
  (of !== ROLES || object.metadata.namespace === metadata.namespace);

const has = (all: readonly string[] | undefined, one: string): boolean =>
  all !== undefined && (all.includes(one) || all.includes('*'));

const listsServices = ({ rules }: Role): boolean =>
  (rules ?? []).some((rule) => has(rule.apiGroups, '') && has(rule.resources, 'services') && has(rule.verbs, 'list'));

/** The accounts as obstacles: each with the command that revokes it. */
export const readerProblems = (cluster: Cluster, namespace: string, readers: readonly Reader[]): readonly Problem[] =>
  readers.map(({ account, belongings }) => {
    const { name } = account.metadata;
    const word = (kind: string, object: KubeObject): string => `${kind.toLowerCase()}/${object.metadata.name}`;
    const within = (where: string | undefined): readonly string[] =>
      belongings
        .filter(({ of, object }) => (of.namespaced ? object.metadata.namespace : undefined) === where)
        .map(({ of, object }) => word(of.kind, object));
    const elsewhere = new Set(
      belongings.flatMap(({ of, object }) => (of.namespaced ? (object.metadata.namespace ?? []) : [])),
    );
    const commands = [
      kubectl(cluster, '--namespace', namespace, 'delete', `serviceaccount/${name}`, ...within(namespace)),
      ...[...elsewhere]
        .filter((other) => other !== namespace)
        .map((other) => kubectl(cluster, '--namespace', other, 'delete', ...within(other))),
      ...(within(undefined).length > 0 ? [kubectl(cluster, 'delete', ...within(undefined))] : []),
    ];
    return {
      object: cluster.title(SERVICE_ACCOUNTS.kind, { namespace, name }),
      reason: 'another cluster reads this one with it',
      remedy: `unlink it from that cluster, or revoke it: ${commands.map((command) => `\`${command}\``).join(' and ')}`,
    };
  });
