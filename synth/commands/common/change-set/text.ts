/** A change set as a person reads it: for each cluster what would be created, changed and deleted, field by field. Pure. */
import type { Cluster } from '../cluster.ts';
import type { Named } from '../output.ts';
import { type Change, type Deletion, type OwnedChange, shown } from './compare.ts';

type Each = Change | Deletion;

const SIGN = { created: '+', configured: '~', deleted: '-' } as const;

const nameOf = ({ kind, metadata: { namespace, name } }: Named): string =>
  `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;

const namedOf = (each: Each): Named =>
  each.outcome === 'deleted' ? { kind: each.want.of.kind, metadata: each.want.object.metadata } : each.want.object;

const fieldLine = (kind: string, { path, before, after, owners }: OwnedChange): string => {
  const by = owners.length === 0 ? '' : `  (set by ${owners.join(', ')})`;
  return `    ${path.join('.')}: ${shown(kind, before)} → ${shown(kind, after)}${by}\n`;
};

const keptLine = (kind: string, { path, before, after, owners }: OwnedChange): string =>
  `    ${path.join('.')} stays ${shown(kind, before)}, not ${shown(kind, after)}  (set by ${owners.join(', ')})\n`;

const textOf = (each: Each): string => {
  const named = namedOf(each);
  if (each.outcome === 'deleted') return `${SIGN.deleted} ${nameOf(named)}\n`;
  if (each.outcome === 'unchanged' && each.kept.length === 0) return '';
  const sign = each.outcome === 'unchanged' ? ' ' : SIGN[each.outcome];
  const lines = [
    ...each.fields.map((field) => fieldLine(named.kind, field)),
    ...each.kept.map((field) => keptLine(named.kind, field)),
  ];
  return `${sign} ${nameOf(named)}\n${lines.join('')}`;
};

/** Values by cluster, as its context calls it. Contexts of one name are of two kubeconfigs, which then tell them apart. */
export const byCluster = <T>(all: readonly T[], clusterOf: (each: T) => Cluster): ReadonlyMap<string, readonly T[]> => {
  const groups = Map.groupBy(all, clusterOf);
  const contexts = [...groups.keys()].map(({ context }) => context);
  const titleOf = ({ context, kubeconfig }: Cluster): string =>
    contexts.indexOf(context) === contexts.lastIndexOf(context)
      ? context
      : `${context} (${kubeconfig ?? 'the kubeconfig that kubectl finds'})`;
  return new Map([...groups].map(([cluster, each]) => [titleOf(cluster), each]));
};

/** What would become of the objects of each cluster, and how many would not change. */
export const changesText = (changes: readonly Each[]): string =>
  [...byCluster(changes, ({ want }) => want.cluster)]
    .map(([title, all]) => {
      const unchanged = all.filter(({ outcome }) => outcome === 'unchanged').length;
      const rest = unchanged === 0 ? '' : `  ${unchanged} ${unchanged === 1 ? 'object' : 'objects'} would not change\n`;
      return `${JSON.stringify(title).slice(1, -1)}:\n${all.map(textOf).join('')}${rest}`;
    })
    .join('\n');

/** The same as `-o json` and `-o yaml` have it. */
export const changesReport = (changes: readonly Each[]): readonly object[] =>
  changes.map((each) => {
    const { kind, metadata } = namedOf(each);
    const { namespace, name } = metadata;
    const head = { context: each.want.cluster.context, kind, ...(namespace !== undefined && { namespace }), name };
    if (each.outcome === 'deleted') return { ...head, outcome: each.outcome };
    const field = ({ path, before, after, owners }: OwnedChange): object => ({
      path: path.join('.'),
      ...(kind === 'Secret' ? {} : { before, after }),
      owners,
    });
    return {
      ...head,
      outcome: each.outcome,
      ...(each.fields.length > 0 && { fields: each.fields.map(field) }),
      ...(each.kept.length > 0 && { kept: each.kept.map(field) }),
    };
  });
