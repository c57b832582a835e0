/**
 * What a Link takes of what its target offers (rules N1, N2, N4): patterns of namespaces and names, ports and types of
 * Services, and whether a person approves each. What it does not admit is as if the target did not export it.
 */
import { fieldError, type Report } from '../field-error.ts';
import { type Approvals, isApproved, readApprovals } from './approvals.ts';
import { matches } from './pattern.ts';
import type { ImportPolicySpec, LinkSpec } from './types.gen.ts';

/** A policy, read. What is absent admits everything. */
export interface ImportPolicy {
  /** Patterns, in which `*` stands for any characters. */
  readonly namespaces?: readonly string[];
  readonly names?: readonly string[];
  /** Ranges of ports, both ends included. */
  readonly ports?: readonly PortRange[];
  readonly types?: readonly OfferedType[];
  /** What a person has approved, if that is required: nothing else is admitted. */
  readonly approvals?: Approvals;
}

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Types of Services that a policy can name; one without a ClusterIP is `Headless`, whatever else it says. */
export const OFFERED_TYPES = ['ClusterIP', 'Headless', 'NodePort', 'LoadBalancer'] as const;
export type OfferedType = (typeof OFFERED_TYPES)[number];

/** What a policy looks at of a Service. */
export interface Offered {
  readonly namespace: string;
  readonly name: string;
  readonly ports: readonly number[];
  readonly type: string;
}

/** Patterns and ranges of one list: each Service is compared with all of them. */
const MAX_ENTRIES = 100;
/** Characters of a pattern: names have no more. */
const MAX_PATTERN = 63;

/**
 * Reads the policy of a Link; undefined if it has none.
 * @param link name of the Link
 */
export const readImportPolicy = (
  { importPolicy }: LinkSpec,
  link: string,
  report: Report,
): ImportPolicy | undefined => {
  if (importPolicy === undefined || importPolicy === null) return undefined;
  const namespaces = listOf(importPolicy, 'namespaces', patternProblem, report);
  const names = listOf(importPolicy, 'names', patternProblem, report);
  const ports = listOf(importPolicy, 'ports', portProblem, report);
  const types = listOf(importPolicy, 'types', () => undefined, report);
  const approvals = readApprovals(importPolicy, link, report);
  return {
    ...(namespaces && { namespaces }),
    ...(names && { names }),
    ...(ports && { ports: ports.flatMap((each) => rangeOf(each) ?? []) }),
    ...(types && { types: types as readonly OfferedType[] }),
    ...(approvals && { approvals }),
  };
};

/** Why a policy does not admit a Service. */
export interface Obstacle {
  /** Whether the policy excludes it, or a person has still to approve it. */
  readonly reason: 'NotAdmitted' | 'WaitingForApproval';
  /** What of it is in the way, such as `port 22`. */
  readonly what: string;
}

/** Why a policy does not admit a Service; undefined if it does. */
export const notAdmittedBy = (policy: ImportPolicy, offered: Offered): Obstacle | undefined => {
  const excluded = excludedBy(policy, offered);
  if (excluded !== undefined) return { reason: 'NotAdmitted', what: excluded };
  const { approvals } = policy;
  if (approvals === undefined || isApproved(approvals, offered)) return undefined;
  return { reason: 'WaitingForApproval', what: `${offered.namespace}/${offered.name}` };
};

const excludedBy = (policy: ImportPolicy, { namespace, name, ports, type }: Offered): string | undefined => {
  const { namespaces, names, ports: ranges, types } = policy;
  if (namespaces?.some((pattern) => matches(pattern, namespace)) === false) return `namespace ${namespace}`;
  if (names?.some((pattern) => matches(pattern, name)) === false) return `name ${name}`;
  if (types?.some((each) => each === type) === false) return `type ${type}`;
  const closed = ports.find((port) => !admitsPort(ranges, port));
  return closed === undefined ? undefined : `port ${closed}`;
};

/** Whether a port is in one of the ranges; undefined ranges admit all. */
export const admitsPort = (ranges: ImportPolicy['ports'], port: number): boolean =>
  ranges?.some(({ first, last }) => first <= port && port <= last) ?? true;

type Problem = { readonly reason: string; readonly remedy: string };

const listOf = (
  policy: ImportPolicySpec,
  field: 'namespaces' | 'names' | 'ports' | 'types',
  problemOf: (value: string) => Problem | undefined,
  report: Report,
): readonly string[] | undefined => {
  const values: unknown = policy[field];
  if (!Array.isArray(values)) return undefined;
  const path = `spec.importPolicy.${field}`;
  if (values.length === 0) {
    report(fieldError(path, values, 'must not be empty', 'name what is admitted, or leave it out to admit all'));
  }
  if (values.length > MAX_ENTRIES) {
    report(fieldError(path, values.length, `must have at most ${MAX_ENTRIES} entries`, 'use patterns with *'));
    return undefined;
  }
  for (const [index, value] of values.entries()) {
    const problem = problemOf(String(value));
    if (problem !== undefined) report(fieldError(`${path}[${index}]`, value, problem.reason, problem.remedy));
  }
  return values.map(String);
};

const patternProblem = (pattern: string): Problem | undefined =>
  pattern.length <= MAX_PATTERN && /^[-a-z0-9*]+$/.test(pattern)
    ? undefined
    : {
        reason: 'must be a name, or a pattern with *',
        remedy: `write at most ${MAX_PATTERN} lower-case letters, digits, - and *`,
      };

const portProblem = (text: string): Problem | undefined =>
  rangeOf(text) === undefined
    ? { reason: 'must be a port, or a range of ports', remedy: 'write 8080, or 8000-8999, as a string' }
    : undefined;

const rangeOf = (text: string): PortRange | undefined => {
  const [, from = '', to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const [first, last] = [Number(from), Number(to)];
  return first >= 1 && first <= last && last <= 65_535 ? { first, last } : undefined;
};
