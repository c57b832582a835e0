/** The conditions of Links, as metrics. */
import { type Instruments, TARGET } from './instruments.ts';

const STATUSES = ['True', 'False', 'Unknown'] as const;

/** The part of a condition that is measured. */
type ConditionStatus = { readonly type: string; readonly status: (typeof STATUSES)[number] };

export function linkMetrics({ gauge }: Instruments) {
  const linkCondition = gauge(
    'linkspan_link_condition',
    'Conditions of the Link: 1 for the status that a condition has, 0 for the other two; a suspended Link has none of type Ready',
    'link',
    TARGET,
    'type',
    'status',
  );
  /** By Link, the series that it has. */
  const reported = new Map<string, readonly Record<'link' | typeof TARGET | 'type' | 'status', string>[]>();
  const forgetLink = (link: string): void => {
    for (const labels of reported.get(link) ?? []) linkCondition.remove(labels);
    reported.delete(link);
  };

  return {
    /** Sets the conditions of a Link, in place of those that it had; the cluster is empty where it is not known. */
    setConditions: (link: string, cluster: string, conditions: readonly ConditionStatus[]): void => {
      forgetLink(link);
      const series = conditions.flatMap(({ type, status }) =>
        STATUSES.map((each) => ({ labels: { link, [TARGET]: cluster, type, status: each }, isSo: each === status })),
      );
      for (const { labels, isSo } of series) linkCondition.set(labels, isSo ? 1 : 0);
      reported.set(
        link,
        series.map(({ labels }) => labels),
      );
    },
    /** Removes the conditions of a Link that is gone. */
    forgetLink,
  };
}
