/**
 * Values files of Linkerd's multicluster chart, read as props of Multicluster by the table of {@link CHART_VALUES}. Every
 * key is taken, ignored with a reason, or refused with the key that was meant.
 */
import { readFile } from 'node:fs/promises';
import type { MulticlusterProps } from '../../../constructs/index.ts';
import { didYouMean } from '../../../crds/did-you-mean.ts';
import { type FieldError, fieldError, fieldPath } from '../../../crds/field-error.ts';
import { parseYaml } from '../../../operator/kube/access/yaml.ts';
import { CommandError, ExitCode, type Problem } from '../common/command-error.ts';
import { CHART_KEYS } from './chart-keys.ts';
import { CHART_VALUES, type ChartValue, isAbout } from './chart-values.ts';

/** A values file as it is written: a tree of maps. */
export interface Values {
  readonly [key: string]: unknown;
}

/** What values mean here. */
export interface ReadValues {
  readonly props: MulticlusterProps;
  /** Labels of every object. */
  readonly labels: Readonly<Record<string, string>>;
  /** Keys that are ignored, each with the reason. */
  readonly warnings: readonly string[];
  readonly errors: readonly FieldError[];
  /** The path in the values file of a path in the props; undefined if the values do not set the prop. */
  readonly pathOf: (prop: string) => string | undefined;
}

/**
 * Reads values files, and merges them as Helm does: maps key by key, anything else replaced by the later file.
 * @throws CommandError for a file that cannot be read
 */
export const loadValues = async (files: readonly string[]): Promise<Values> => {
  const all: Values[] = [];
  const problems: Problem[] = [];
  for (const file of files) {
    const refuse = (reason: string, remedy: string): void =>
      void problems.push({ object: `--values ${file}`, reason, remedy });
    try {
      const values = parseYaml(await readFile(file, 'utf8')) ?? {};
      if (isMap(values)) all.push(values);
      else refuse('must be a map of values', 'as in gateway: { replicas: 3 }');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) refuse((error as Error).message, 'correct the YAML');
      else refuse(`cannot be read: ${code}`, 'name a values file');
    }
  }
  if (problems.length > 0) throw new CommandError(problems, ExitCode.usage);
  return all.reduce<Values>((before, after) => merged(before, after), {});
};

/** One key that has a value. */
interface Leaf {
  /** As in {@link CHART_KEYS}. */
  readonly key: string;
  /** With indexes, as in `controllers[0].logLevel`. */
  readonly path: string;
  readonly value: unknown;
}

/** Reads values. Pure. */
export const readValues = (values: Values): ReadValues => {
  const errors: FieldError[] = [];
  const warnings = new Map<string, string>();
  const sources: { readonly prop: string; readonly path: string }[] = [];
  let props: MulticlusterProps = {};
  let labels: Readonly<Record<string, string>> = {};
  for (const { key, path, value } of leavesOf(values, '', '', errors)) {
    const row = rowOf(key);
    const problem = row.problem?.(value);
    if (problem !== undefined) {
      errors.push(fieldError(path, value, problem));
    } else if (key === 'commonLabels') {
      labels = value as Readonly<Record<string, string>>;
      if (!isTextMap(value)) errors.push(fieldError(path, value, 'must be a map of labels'));
    } else if (row.props === undefined) {
      if (!(row.usual ?? []).some((usual) => JSON.stringify(usual) === JSON.stringify(value)))
        warnings.set(row.value, `${path} is ignored: ${plainText(row.ignored ?? row.note ?? '')}`);
    } else {
      const given = row.props(value as never);
      props = mergedProps(props, given);
      sources.push(...pathsTo(value, given).map((prop) => ({ prop, path })));
    }
  }
  const pathOf = (prop: string): string | undefined => {
    const source = sources.find((each) => prop === each.prop || /^[.[]/.test(rest(prop, each.prop) ?? ''));
    return source && `${source.path}${rest(prop, source.prop) ?? ''}`;
  };
  return { props, labels, warnings: [...warnings.values()], errors, pathOf };
};

/** Merges maps key by key; anything else is replaced, but for a part that is `false`: it stays so. */
export const mergedProps = (before: MulticlusterProps, after: MulticlusterProps): MulticlusterProps =>
  merged(before as Values, after as Values, true);

/** What of a path comes after another; undefined if it does not start with it. */
const rest = (path: string, start: string): string | undefined =>
  path.startsWith(start) ? path.slice(start.length) : undefined;

/** Keys with their values; what is empty has the chart's default, and is left out. */
const leavesOf = (values: Values, key: string, path: string, errors: FieldError[]): readonly Leaf[] =>
  Object.entries(values).flatMap(([name, value]): readonly Leaf[] => {
    const own = key === '' ? name : `${key}.${name}`;
    const at = fieldPath(path, name);
    if (own === 'controllers' && Array.isArray(value)) {
      return value.flatMap((each: unknown, index) => inner(each, 'controllers[]', `${at}[${index}]`, errors));
    }
    if (CHART_KEYS.includes(own)) return isEmpty(value) ? [] : [{ key: own, path: at, value }];
    if (CHART_KEYS.some((known) => known.startsWith(`${own}.`))) return inner(value, own, at, errors);
    errors.push(fieldError(at, undefined, "is not a value of Linkerd's multicluster chart", meant(key, name)));
    return [];
  });

const inner = (value: unknown, key: string, path: string, errors: FieldError[]): readonly Leaf[] => {
  if (isEmpty(value)) return [];
  if (isMap(value)) return leavesOf(value, key, path, errors);
  errors.push(fieldError(path, value, 'must be a map of values'));
  return [];
};

/** The key that was meant: one beside it, else one of the same name elsewhere. */
const meant = (parent: string, name: string): string => {
  const start = parent === '' ? '' : `${parent}.`;
  const beside = CHART_KEYS.flatMap((key) => rest(key, start)?.split(/\.|\[/)[0] ?? []);
  const near = didYouMean(name, [...new Set(beside)]);
  const elsewhere = CHART_KEYS.find((key) => key.endsWith(`.${name}`));
  const found = near === undefined ? elsewhere : `${start}${near}`;
  return found === undefined ? 'remove it' : `did you mean ${found}?`;
};

/** The row about a key; one that names the key wins over one about all under its parent. */
const rowOf = (key: string): ChartValue => {
  const rows = CHART_VALUES.filter(({ value }) => isAbout(value, key));
  const row = rows.find(({ value }) => value.split(', ').includes(key)) ?? rows[0];
  if (row === undefined) throw new Error(`the table of the chart's values has no row about ${key}`);
  return row;
};

/** Paths in props at which a value is, or what was made of it. */
const pathsTo = (value: unknown, props: unknown, path = ''): readonly string[] =>
  props !== value && isMap(props)
    ? Object.entries(props).flatMap(([name, each]) => pathsTo(value, each, fieldPath(path, name)))
    : [path];

const merged = <T extends Values>(before: T, after: Values, keepsFalse = false): T => {
  const all: Record<string, unknown> = { ...before };
  for (const [key, value] of Object.entries(after)) {
    const was = all[key];
    if (keepsFalse && was === false) continue;
    all[key] = isMap(was) && isMap(value) ? merged(was, value, keepsFalse) : value;
  }
  return all as T;
};

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

const isTextMap = (value: unknown): boolean =>
  isMap(value) && Object.values(value).every((each) => typeof each === 'string');

/** Helm's templates take an empty value as none. */
const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** A note of the documentation, without its marks. */
const plainText = (note: string): string => note.replaceAll('`', '');
