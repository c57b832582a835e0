/** What a run has made of two clusters, in the words of the table. */
import { TOKEN_SECRET_TYPE } from '../../../crds/wire.ts';
import { fieldChanges } from '../../../synth/commands/common/change-set/fields.ts';
import type { GatedRun } from '../stops/stage.ts';

type Fields = Readonly<Record<string, unknown>>;
type State = Readonly<Record<string, Fields>>;

/** Most fields that a cell names of one object. */
const NAMED = 6;

/** Cuts what is different in each run, and what the remedy adds, from the first obstacle. */
const obstacle = (stderr: string): string => {
  const errors = stderr.split('\n').filter((line) => line.startsWith('error: '));
  const first = (errors[0] ?? stderr)
    .replace(/^error: /, '')
    .replace(/https:\/\/127\.0\.0\.1:\d+/g, 'URL')
    .replace(/ \([^()]*(\([^()]*\)[^()]*)*\)$/, '');
  return `refused: ${first}${errors.length > 1 ? `, and ${errors.length - 1} more` : ''}`;
};

/** What the operator makes of a Link comes and goes in its own time. */
const isDerived = (name: string, object: Fields | undefined): boolean => {
  const { labels = {} } = (object?.['metadata'] ?? {}) as { readonly labels?: Fields };
  return /^(Service|Endpoints|EndpointSlice) /.test(name) && 'mirror.linkerd.io/cluster-name' in labels;
};

/** The Secrets for tokens that do not end. */
export const tokenSecretsIn = (state: State): readonly string[] =>
  Object.keys(state).filter((name) => state[name]?.['type'] === TOKEN_SECRET_TYPE);

/** Whether Kubernetes has put a token into each Secret that is to hold one, which takes a moment. */
export const hasTokens = (state: State): boolean =>
  Object.values(state).every(({ type, data }) => type !== TOKEN_SECRET_TYPE || 'token' in ((data ?? {}) as Fields));

const inCluster = (before: State, after: State): readonly string[] => {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    // Kinds outlast a test in the clusters that tests share; the API server makes its own Service when it comes to it.
    (name) =>
      !/^CustomResourceDefinition | default\/kubernetes$/.test(name) &&
      !isDerived(name, before[name]) &&
      !isDerived(name, after[name]),
  );
  const created = names.filter((name) => !(name in before));
  const deleted = names.filter((name) => !(name in after));
  const changed = names
    .filter((name) => name in before && name in after)
    .flatMap((name) => {
      const paths = fieldChanges(before[name], after[name]).map(({ path }) => path.join('.'));
      if (paths.length === 0) return [];
      const more = paths.length > NAMED ? `, and ${paths.length - NAMED} more` : '';
      return [`changes ${name}: ${paths.slice(0, NAMED).join(', ')}${more}`];
    });
  const count = (verb: string, all: readonly string[]): readonly string[] =>
    all.length === 0
      ? []
      : [`${verb} ${all.length}: ${all.slice(0, NAMED).join(', ')}${all.length > NAMED ? ', …' : ''}`];
  return [...count('creates', created), ...changed, ...count('deletes', deleted)];
};

/** A cell of the table. */
export const cell = (
  { code, stderr }: GatedRun,
  before: { readonly east: State; readonly west: State },
  after: { readonly east: State; readonly west: State },
): string => {
  const done = (['east', 'west'] as const).flatMap((name) =>
    inCluster(before[name], after[name]).map((each) => `${name}: ${each}`),
  );
  const parts = code === 0 ? (done.length === 0 ? ['no change'] : done) : [obstacle(stderr), ...done];
  return parts.join('<br>').replaceAll('|', String.raw`\|`);
};
