/**
 * What a Link takes of what its target offers (rules N1, N4): patterns of namespaces and names, ports and types of Services.
 * What it does not admit is as if the target did not export it.
 */
import { fieldError, type Report } from '../field-error.ts';
import type { ImportPolicySpec, LinkSpec } from './types.gen.ts';

/** A policy, read. What is absent admits everything. */
export interface ImportPolicy {
  /** Patterns, in which `*` stands for any characters. */
  readonly namespaces?: readonly string[];
  readonly names?: readonly string[];
  /** Ranges of ports, both ends included. */
  readonly ports?: readonly PortRange[];
  readonly types?: readonly OfferedType[];
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

/** Reads the policy of a Link; undefined if it has none. */
export const readImportPolicy = ({ importPolicy }: LinkSpec, report: Report): ImportPolicy | undefined => {
  if (importPolicy === undefined || importPolicy === null) return undefined;
  const namespaces = listOf(importPolicy, 'namespaces', patternProblem, report);
  const names = listOf(importPolicy, 'names', patternProblem, report);
  const ports = listOf(importPolicy, 'ports', portProblem, report);
  const types = listOf(importPolicy, 'types', () => undefined, report);
  return {
    ...(namespaces && { namespaces }),
    ...(names && { names }),
    ...(ports && { ports: ports.flatMap((each) => rangeOf(each) ?? []) }),
    ...(types && { types: types as readonly OfferedType[] }),
  };
};

/** Why a policy does not admit a Service, in words that follow its name; undefined if it does. */
export const notAdmittedBy = (policy: ImportPolicy, { namespace, name, ports, type }: Offered): string | undefined => {
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

/** Whether a text is what a pattern says, in which `*` stands for any characters. Takes time in proportion to both. */
export const matches = (pattern: string, text: string): boolean => {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
};

type Problem = { readonly reason: string; readonly remedy: string };

const listOf = (
  policy: ImportPolicySpec,
  field: keyof ImportPolicySpec,
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
