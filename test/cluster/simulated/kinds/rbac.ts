/**
 * Authorization by the Role and ClusterRole objects in the cluster, and by nothing else: a request is allowed if a
 * rule bound to its user, or to a group of it, matches; members of `system:masters` may do everything.
 */
import type { KubeObject } from '../storage/object.ts';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, idOf, ROLE_BINDINGS, ROLES } from './resources.ts';
import { keyOf, type Storage } from '../storage/storage.ts';

/** An authenticated user. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  /** Of a ServiceAccount. */
  readonly uid?: string;
}

/** What is asked to be allowed. */
export interface Attributes {
  readonly verb: string;
  readonly group: string;
  /** The plural resource; empty for a path that is not a resource. */
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly path?: string;
}

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

/** Paths that any authenticated user may read. */
const DISCOVERY = /^\/(api|apis|openapi|version|healthz|livez|readyz)(\/|$)/;

/** What any authenticated user may ask about itself. */
const SELF_REVIEWS: ReadonlySet<string> = new Set(['selfsubjectaccessreviews', 'selfsubjectreviews']);

const matchesAny = (listed: readonly string[], value: string): boolean =>
  listed.includes('*') || listed.includes(value);

function allows(rule: Rule, { verb, group, resource, subresource, name, path }: Attributes): boolean {
  if (!matchesAny(rule.verbs, verb)) return false;
  if (resource === '') {
    return (rule.nonResourceURLs ?? []).some(
      (url) => url === path || (url.endsWith('*') && path?.startsWith(url.slice(0, -1))),
    );
  }
  const asked = subresource === undefined ? resource : `${resource}/${subresource}`;
  const resources = rule.resources ?? [];
  return (
    matchesAny(rule.apiGroups ?? [], group) &&
    (matchesAny(resources, asked) || (subresource !== undefined && resources.includes(`*/${subresource}`))) &&
    ((rule.resourceNames ?? []).length === 0 || (name !== undefined && rule.resourceNames!.includes(name)))
  );
}

const isBound = (binding: KubeObject, user: User): boolean =>
  ((binding.subjects ?? []) as readonly Subject[]).some(({ kind, name, namespace }) => {
    if (kind === 'User') return name === user.name;
    if (kind === 'Group') return user.groups.includes(name);
    return user.name === `system:serviceaccount:${namespace ?? binding.metadata.namespace ?? ''}:${name}`;
  });

/** Decides over the roles and bindings of one cluster. */
export class Authorizer {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Whether a user may do something. */
  allows(user: User, asked: Attributes): boolean {
    if (user.groups.includes('system:masters')) return true;
    if (asked.resource === '' && DISCOVERY.test(asked.path ?? '')) return true;
    if (SELF_REVIEWS.has(asked.resource)) return true;
    return (
      this.#boundRules(idOf(CLUSTER_ROLE_BINDINGS), undefined, user).some((rule) => allows(rule, asked)) ||
      (asked.namespace !== undefined &&
        this.#boundRules(idOf(ROLE_BINDINGS), asked.namespace, user).some((rule) => allows(rule, asked)))
    );
  }

  #boundRules(bindings: string, namespace: string | undefined, user: User): readonly Rule[] {
    return this.#storage
      .collection(bindings)
      .entries()
      .filter(([, { metadata }]) => metadata.namespace === namespace)
      .filter(([, binding]) => isBound(binding, user))
      .flatMap(([, binding]) => {
        const { kind, name } = binding.roleRef as RoleRef;
        const role =
          kind === 'ClusterRole'
            ? this.#storage.collection(idOf(CLUSTER_ROLES)).get(name)
            : this.#storage.collection(idOf(ROLES)).get(keyOf(namespace, name));
        return (role?.rules ?? []) as readonly Rule[];
      });
  }
}

/** How the real server words a refusal. */
export function refusal(user: User, { verb, group, resource, subresource, namespace, path }: Attributes): string {
  if (resource === '') return `User "${user.name}" cannot ${verb} path "${path ?? ''}"`;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return `User "${user.name}" cannot ${verb} resource "${what}" in API group "${group}" ${where}`;
}
