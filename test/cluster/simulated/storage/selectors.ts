/**
 * Label and field selectors, from the text of a query parameter to a predicate on objects, with the grammar and the
 * error messages of Kubernetes.
 */
import type { KubeObject } from './object.ts';
import { badRequest } from './status.ts';

/** Whether an object is selected. */
export type Predicate = (object: KubeObject) => boolean;

const KEY = String.raw`[A-Za-z0-9](?:[A-Za-z0-9_./-]*[A-Za-z0-9])?`;
const SET_BASED = new RegExp(`^(${KEY})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const EQUALITY = new RegExp(`^(${KEY})\\s*(==|=|!=)\\s*([A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?$`);
const COMPARISON = new RegExp(`^(${KEY})\\s*([<>])\\s*(-?\\d+)$`);
const EXISTENCE = new RegExp(`^(!?)\\s*(${KEY})$`);

type Labels = Readonly<Record<string, string>>;
type Requirement = (labels: Labels) => boolean;

function requirement(text: string): Requirement {
  const set = SET_BASED.exec(text);
  if (set) {
    const [, key = '', operator, list = ''] = set;
    const values = new Set(list.split(',').map((value) => value.trim()));
    return operator === 'in'
      ? (labels) => labels[key] !== undefined && values.has(labels[key])
      : (labels) => labels[key] === undefined || !values.has(labels[key]);
  }
  const equality = EQUALITY.exec(text);
  if (equality) {
    const [, key = '', operator, value = ''] = equality;
    return operator === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  const comparison = COMPARISON.exec(text);
  if (comparison) {
    const [, key = '', operator, bound] = comparison;
    return (labels) =>
      labels[key] !== undefined &&
      (operator === '<' ? Number(labels[key]) < Number(bound) : Number(labels[key]) > Number(bound));
  }
  const existence = EXISTENCE.exec(text);
  if (existence) {
    const [, negated, key = ''] = existence;
    return negated === '!' ? (labels) => labels[key] === undefined : (labels) => labels[key] !== undefined;
  }
  throw badRequest(`unable to parse requirement: ${text}`);
}

/** Splits at commas that stand outside parentheses. */
const requirementsOf = (text: string): readonly string[] => text.split(/,(?![^(]*\))/).map((part) => part.trim());

/**
 * Parses a `labelSelector` parameter.
 * @returns undefined if it selects everything
 * @throws ApiError 400 if it is not in the grammar
 */
export function parseLabelSelector(text: string | null): Predicate | undefined {
  if (text === null || text.trim() === '') return undefined;
  const requirements = requirementsOf(text).map(requirement);
  return ({ metadata }) => requirements.every((holds) => holds(metadata.labels ?? {}));
}

/** A `matchLabels`-only selector: of a Service, or of a StatefulSet. */
export const matchesLabels = (selector: Labels, labels: Labels = {}): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);

const COMMON_FIELDS = ['metadata.name', 'metadata.namespace'];
const FIELDS_OF_KIND: Readonly<Record<string, readonly string[]>> = {
  Event: [
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
      (field) => `involvedObject.${field}`,
    ),
    ...['reason', 'reportingComponent', 'source', 'type'],
  ],
  Namespace: ['status.phase'],
  Node: ['spec.unschedulable'],
  Pod: ['spec.nodeName', 'spec.restartPolicy', 'spec.serviceAccountName', 'status.phase', 'status.podIP'],
  Secret: ['type'],
  Service: ['spec.clusterIP', 'spec.type'],
};

const fieldOf = (object: KubeObject, path: string): string => {
  let value: unknown = object;
  for (const step of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[step];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};

/**
 * Parses a `fieldSelector` parameter for objects of a kind.
 * @returns undefined if it selects everything
 * @throws ApiError 400 if a field cannot be selected by
 */
export function parseFieldSelector(text: string | null, kind: string): Predicate | undefined {
  if (text === null || text.trim() === '') return undefined;
  const terms = text.split(',').map((term) => {
    const [, path = '', operator = '', value = ''] = /^(.*?)(==|!=|=)(.*)$/.exec(term) ?? [];
    if (operator === '') throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
    if (!COMMON_FIELDS.includes(path) && !FIELDS_OF_KIND[kind]?.includes(path)) {
      throw badRequest(
        FIELDS_OF_KIND[kind] === undefined
          ? `"${path}" is not a known field selector: only "metadata.name", "metadata.namespace"`
          : `field label not supported: ${path}`,
      );
    }
    return { path, value, equal: operator !== '!=' };
  });
  return (object) => terms.every(({ path, value, equal }) => (fieldOf(object, path) === value) === equal);
}
