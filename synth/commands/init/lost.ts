/** What a cluster file would change of the Links that run: each field that it cannot have, or has otherwise. Pure. */
import { Testing } from 'cdk8s';
import type { ClusterSet } from '../../../constructs/index.ts';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { LINKS } from '../common/kinds.ts';
import type { Found } from './found.ts';
import type { Member } from './composition.ts';
import { isSame } from './link-settings.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Compares the Links that are rendered for each member with those that were found in its cluster, by its context. */
export const lost = (
  set: ClusterSet,
  members: readonly Member[],
  foundIn: (context: string) => Found,
): readonly string[] =>
  members.flatMap(({ name: cluster, context }) => {
    const chart = set.clusters.find(({ name }) => name === cluster)?.chart;
    const rendered = chart === undefined ? [] : (Testing.synth(chart) as readonly ApiJson[]);
    return foundIn(context).links.flatMap(({ link }) => {
      const { name } = link.metadata;
      const own = rendered.find(({ kind, metadata }) => kind === LINKS.kind && metadata.name === name);
      if (own === undefined) return [];
      const live = (link.spec ?? {}) as Fields;
      return differing(live, (own['spec'] ?? {}) as Fields).map(
        (field) =>
          `Link ${name} of ${context}: the file would change spec.${field}, which is ${JSON.stringify(live[field]) ?? 'absent'} now`,
      );
    });
  });

/** Selectors of a Link, which select nothing if they are empty, as if they were absent. */
const SELECTORS = ['selector', 'remoteDiscoverySelector', 'federatedServiceSelector'] as const;

const differing = (live: Fields, spec: Fields): readonly string[] =>
  [...new Set([...Object.keys(live), ...Object.keys(spec)])].sort().filter((field) => {
    const absent = SELECTORS.some((name) => name === field) ? {} : undefined;
    return !isSame(live[field] ?? absent, spec[field] ?? absent);
  });
