/**
 * The Services of a target that a person has approved, where the policy of a Link asks for that (rule N2): a list of the
 * Link, so that what is admitted follows from the Link and the target alone.
 */
import { fieldError, type Report } from '../field-error.ts';
import type { ImportPolicySpec } from './types.gen.ts';
import { matches } from './pattern.ts';

/** What is approved. */
export interface Approvals {
  /** `namespace/name` of Services. */
  readonly services: ReadonlySet<string>;
  /** The same with `*` for any characters. */
  readonly patterns: readonly (readonly [namespace: string, name: string])[];
}

/** Entries of the list: a Link must fit into etcd, with the names of who has set each. */
export const MAX_APPROVED = 1_000;
/** Entries with `*`: each Service is compared with all of them. */
const MAX_PATTERNS = 100;
const PATH = 'spec.importPolicy.approved';
const ENTRY = /^[-a-z0-9*]{1,63}\/[-a-z0-9*]{1,63}$/;

/** Whether a text names a Service to approve, or a pattern of some: `shop/web`, `shop/*`. */
export const isApprovable = (text: string): boolean => ENTRY.test(text);

/**
 * Reads what is approved; undefined if no approval is required.
 * @param link name of the Link
 */
export const readApprovals = (
  { approval, approved }: ImportPolicySpec,
  link: string,
  report: Report,
): Approvals | undefined => {
  const entries: unknown = approved;
  if (!Array.isArray(entries)) {
    if (approval === 'required' && (approved ?? undefined) === undefined) {
      const remedy = `run \`linkspan approve --existing --from ${link}\`, or write [] if nothing is approved yet`;
      report(fieldError(PATH, undefined, 'is required, since spec.importPolicy.approval is "required"', remedy));
    }
    // What is no list approves nothing.
    return approval === 'required' ? { services: new Set(), patterns: [] } : undefined;
  }
  const all = entries.map(String);
  const [patterns, services] = [all.filter((each) => each.includes('*')), all.filter((each) => !each.includes('*'))];
  tooMany(all.length, MAX_APPROVED, 'entries', report);
  tooMany(patterns.length, MAX_PATTERNS, 'entries with *', report);
  const seen = new Set<string>();
  for (const [index, entry] of all.entries()) {
    const path = `${PATH}[${index}]`;
    // The list is a set to the API server.
    if (seen.has(entry)) report(fieldError(path, entry, 'must be unique', 'remove it'));
    seen.add(entry);
    if (isApprovable(entry)) continue;
    const remedy = 'write lower-case letters, digits and -, and * for any characters';
    report(fieldError(path, entry, 'must be the namespace and the name of a Service, as shop/web', remedy));
  }
  if (approval !== 'required') return undefined;
  const parts = patterns.map((each) => each.split('/') as [string, string]);
  return { services: new Set(services), patterns: parts };
};

/** Whether a Service is approved. */
export const isApproved = (
  { services, patterns }: Approvals,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): boolean =>
  services.has(`${namespace}/${name}`) ||
  patterns.some(([namespaces, names]) => matches(namespaces, namespace) && matches(names, name));

const tooMany = (count: number, most: number, what: string, report: Report): void => {
  if (count <= most) return;
  report(fieldError(PATH, count, `must have at most ${most} ${what}`, 'use patterns with *, such as shop/*'));
};
