/** What a Link takes of its target by its import policy (rules N1, N2), restated: it shares no code with the operator. */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';

/** Policies that users give Links, by name. */
export const POLICIES = {
  none: undefined,
  names: { names: ['web', 'many-*'] },
  // Pods of headless Services are reached by the ports of their slices.
  ports: { ports: ['80', '8000-8080'] },
  types: { namespaces: ['sho*'], types: ['ClusterIP'] },
  approved: { approval: 'required', approved: ['shop/web', '*/many-1*'] },
  nothing: { approval: 'required', approved: [] },
} as const;
export type PolicyName = keyof typeof POLICIES;

interface Policy {
  readonly namespaces?: readonly string[];
  readonly names?: readonly string[];
  readonly ports?: readonly string[];
  readonly types?: readonly string[];
  readonly approval?: string;
  readonly approved?: readonly string[];
}

/** A spec of a Link, as far as it has a policy. */
export interface Choosy {
  readonly importPolicy?: Policy;
}

type Port = { readonly port?: number };

export interface Verdict {
  readonly isAdmitted: boolean;
  /** Whether all that is missing is that a person approves it. */
  readonly isWaiting: boolean;
}

/** What the policy of a Link says of a Service. */
export function verdictOn({ importPolicy: policy = {} }: Choosy, { metadata, spec }: KubeObject): Verdict {
  const { namespace = '', name } = metadata;
  const {
    type = 'ClusterIP',
    clusterIP,
    ports = [],
  } = (spec ?? {}) as {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly ports?: readonly Port[];
  };
  const isWanted =
    isLike(policy.namespaces, namespace) &&
    isLike(policy.names, name) &&
    isLike(policy.types, clusterIP === 'None' ? 'Headless' : type) &&
    ports.every((port) => isOpen(policy, port));
  const isApproved = policy.approval !== 'required' || isLike(policy.approved, `${namespace}/${name}`);
  return { isAdmitted: isWanted && isApproved, isWaiting: isWanted && !isApproved };
}

/** A slice of a Service without a ClusterIP has the ports that are admitted, and without any lists nobody. */
export function admittedSlice(
  { importPolicy }: Choosy,
  slice: KubeObject,
  service: KubeObject | undefined,
): KubeObject {
  const { clusterIP } = (service?.spec ?? {}) as { readonly clusterIP?: string };
  const ports: unknown = slice['ports'];
  if (importPolicy?.ports === undefined || clusterIP !== 'None') return slice;
  const open = ((ports ?? []) as readonly Port[]).filter((port) => isOpen(importPolicy, port));
  return { ...slice, ports: open, ...(open.length === 0 && { endpoints: [] }) };
}

const isLike = (patterns: readonly string[] | undefined, text: string): boolean =>
  patterns?.some((each) => new RegExp(`^${each.replaceAll('*', '.*')}$`).test(text)) ?? true;

const isOpen = ({ ports }: Policy, { port = 0 }: Port): boolean =>
  ports?.some((each) => {
    const [first = '', last = first] = each.split('-');
    return Number(first) <= port && port <= Number(last);
  }) ?? true;
