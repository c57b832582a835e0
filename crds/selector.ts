/**
 * Label selectors, with the semantics of Kubernetes: the text for a `labelSelector` query, and the same decision made
 * here. Whatever the API server would refuse in a selector is refused with field and reason.
 */
import { isLabelKey, isLabelValue } from './names.ts';
import { type Checked, type FieldError, fieldError, fieldPath } from './field-error.ts';

/** Labels of an object; absent means none. */
export type Labels = Readonly<Record<string, string>> | undefined;

/** A selector that selects something. */
export interface Selector {
  /** Value of the `labelSelector` query parameter; equal for selectors with the same requirements in any order. */
  readonly query: string;
  /** Whether an object with these labels is selected. */
  readonly matches: (labels: Labels) => boolean;
}

interface Requirement {
  readonly query: string;
  readonly matches: (labels: Labels) => boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const KEY_REMEDY = 'write a label key such as example.com/name: a name of at most 63 letters, digits, - _ .';
const VALUE_REMEDY = 'write at most 63 letters, digits, - _ . that start and end with a letter or digit';

/**
 * Reads a LabelSelector. An absent or empty one gives `undefined`: it selects nothing (rule A1), unlike in Kubernetes.
 * @param path of the selector, for errors: `spec.selector`
 */
export const parseSelector = (value: unknown, path: string): Checked<Selector | undefined> => {
  if (value === undefined || value === null) return { ok: true, value: undefined };
  if (!isFields(value)) return { ok: false, errors: [fieldError(path, value, 'must be an object')] };

  const errors: FieldError[] = [];
  const requirements = [
    ...parseLabels(value.matchLabels, fieldPath(path, 'matchLabels'), errors),
    ...parseExpressions(value.matchExpressions, fieldPath(path, 'matchExpressions'), errors),
  ];
  if (errors.length > 0) return { ok: false, errors };
  if (requirements.length === 0) return { ok: true, value: undefined };
  return {
    ok: true,
    value: {
      query: [...new Set(requirements.map(({ query }) => query))].sort().join(','),
      matches: (labels) => requirements.every((requirement) => requirement.matches(labels)),
    },
  };
};

/** One requirement of a selector as text; values of a set may have spaces and be empty. */
const REQUIREMENT =
  /^\s*(?:!\s*(?<absent>[^\s=!,()]+)|(?<key>[^\s=!,()]+)(?:\s*(?<operator>==?|!=)\s*(?<value>[^\s=!,()]*)|\s+(?<set>in|notin)\s*\((?<values>[^()]*)\))?)\s*$/;

/**
 * Reads a selector as `kubectl --selector` takes it: `a=b,c!=d,e in (f,g),h notin (i),j,!k`. An empty one gives
 * `undefined`: it selects nothing, unlike in Kubernetes.
 */
export const parseSelectorText = (text: string): Checked<Selector | undefined> => {
  const read = readRequirements(text);
  if (!read.ok) return { ok: false, errors: [fieldError('selector', text, 'must be a valid label selector')] };
  return parseSelector({ matchExpressions: read.value }, 'selector');
};

/** A requirement of a LabelSelector; keys and values have yet to be checked. */
export interface LabelExpression {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /** Absent with `Exists` and `DoesNotExist`. */
  readonly values?: readonly string[];
}

/** The requirements of a text, or the first part of it that is none. */
export type RequirementsRead =
  { readonly ok: true; readonly value: readonly LabelExpression[] } | { readonly ok: false; readonly part: string };

/** Reads the requirements of a selector as `kubectl --selector` takes it. */
export function readRequirements(text: string): RequirementsRead {
  const parts = text.trim() === '' ? [] : text.split(/,(?![^()]*\))/);
  const value: LabelExpression[] = [];
  for (const part of parts) {
    const expression = expressionOf(REQUIREMENT.exec(part)?.groups);
    if (expression === undefined) return { ok: false, part: part.trim() };
    value.push(expression);
  }
  return { ok: true, value };
}

function expressionOf(parts: Readonly<Record<string, string | undefined>> | undefined): LabelExpression | undefined {
  const { absent, key = absent, operator, value, set, values = value } = parts ?? {};
  if (key === undefined) return undefined;
  if (values === undefined) return { key, operator: absent === undefined ? 'Exists' : 'DoesNotExist' };
  return {
    key,
    operator: operator === '!=' || set === 'notin' ? 'NotIn' : 'In',
    values: values.split(',').map((each) => each.trim()),
  };
}

const parseLabels = (value: unknown, path: string, errors: FieldError[]): readonly Requirement[] => {
  if (value === undefined || value === null) return [];
  if (!isFields(value)) {
    errors.push(fieldError(path, value, 'must be an object'));
    return [];
  }
  return Object.entries(value).map(([key, wanted]) => {
    const at = fieldPath(path, key);
    if (!isLabelKey(key)) errors.push(fieldError(at, wanted, 'must have a valid label key', KEY_REMEDY));
    else checkValue(wanted, at, errors);
    return isIn(key, [String(wanted)]);
  });
};

const parseExpressions = (value: unknown, path: string, errors: FieldError[]): readonly Requirement[] => {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    errors.push(fieldError(path, value, 'must be an array'));
    return [];
  }
  return value.flatMap(
    (expression: unknown, index) => parseExpression(expression, fieldPath(path, index), errors) ?? [],
  );
};

const parseExpression = (value: unknown, path: string, errors: FieldError[]): Requirement | undefined => {
  if (!isFields(value)) {
    errors.push(fieldError(path, value, 'must be an object'));
    return undefined;
  }
  const { key, operator } = value;
  if (typeof key !== 'string' || !isLabelKey(key)) {
    errors.push(
      fieldError(
        fieldPath(path, 'key'),
        key,
        key === undefined ? 'is required' : 'must be a valid label key',
        KEY_REMEDY,
      ),
    );
  }
  const values = parseValues(value.values, fieldPath(path, 'values'), errors);
  const label = String(key);
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) {
        errors.push(
          fieldError(
            fieldPath(path, 'values'),
            value.values,
            `must not be empty for ${operator}`,
            'name at least one value',
          ),
        );
      }
      return operator === 'In' ? isIn(label, values) : isNotIn(label, values);
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        errors.push(
          fieldError(fieldPath(path, 'values'), value.values, `must be empty for ${operator}`, 'leave it out'),
        );
      }
      return operator === 'Exists' ? exists(label) : existsNot(label);
    default:
      errors.push(
        operator === undefined
          ? fieldError(fieldPath(path, 'operator'), undefined, 'is required')
          : fieldError(fieldPath(path, 'operator'), operator, 'must be one of In, NotIn, Exists, DoesNotExist'),
      );
      return undefined;
  }
};

const parseValues = (value: unknown, path: string, errors: FieldError[]): readonly string[] => {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    errors.push(fieldError(path, value, 'must be an array'));
    return [];
  }
  return value.map((item: unknown, index) => {
    checkValue(item, fieldPath(path, index), errors);
    return String(item);
  });
};

const checkValue = (value: unknown, path: string, errors: FieldError[]): void => {
  if (typeof value !== 'string') {
    errors.push(fieldError(path, value, 'must be a string', `put it in quotes: ${JSON.stringify(String(value))}`));
  } else if (!isLabelValue(value)) {
    errors.push(fieldError(path, value, 'must be a valid label value', VALUE_REMEDY));
  }
};

const labelOf = (labels: Labels, key: string): string | undefined =>
  labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;

/** One value is written with `=`, since an empty value in `in ()` reads as no value at all. */
const operand = (values: readonly string[], one: string, many: string): string => {
  const sorted = [...new Set(values)].sort();
  return sorted.length === 1 ? `${one}${String(sorted[0])}` : ` ${many} (${sorted.join(',')})`;
};

const isIn = (key: string, values: readonly string[]): Requirement => ({
  query: key + operand(values, '=', 'in'),
  matches: (labels) => {
    const value = labelOf(labels, key);
    return value !== undefined && values.includes(value);
  },
});

const isNotIn = (key: string, values: readonly string[]): Requirement => ({
  query: key + operand(values, '!=', 'notin'),
  matches: (labels) => {
    const value = labelOf(labels, key);
    return value === undefined || !values.includes(value);
  },
});

const exists = (key: string): Requirement => ({
  query: key,
  matches: (labels) => labelOf(labels, key) !== undefined,
});

const existsNot = (key: string): Requirement => ({
  query: `!${key}`,
  matches: (labels) => labelOf(labels, key) === undefined,
});

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
