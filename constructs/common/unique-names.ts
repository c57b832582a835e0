/**
 * Two constructs of a chart that render objects of the same kind and name: the API server would keep the one that is
 * applied last. Our objects are checked when cdk8s validates the tree.
 */
import { ApiObject, Chart } from 'cdk8s';
import type { IConstruct } from 'constructs';
import { invalidIn } from './invalid-props.ts';

const ours = new WeakSet<IConstruct>();
const watched = new WeakSet<Chart>();

/** Checks the names of the objects of a construct against all other objects of its chart, at validation. */
export const watchNames = (construct: IConstruct): void => {
  ours.add(construct);
  const chart = construct.node.scopes.findLast((scope) => Chart.isChart(scope));
  if (chart === undefined || watched.has(chart)) return;
  watched.add(chart);
  chart.node.addValidation({ validate: () => (invalidIn(chart.node.root).length > 0 ? [] : sameNames(chart)) });
};

const sameNames = (chart: Chart): string[] => {
  const first = new Map<string, ApiObject>();
  return chart.node.findAll().flatMap((object) => {
    if (!ApiObject.isApiObject(object) || Chart.of(object) !== chart) return [];
    const { kind, apiGroup, name, metadata } = object;
    const title = `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${name}`;
    const key = `${apiGroup} ${title}`;
    const other = first.get(key);
    if (other === undefined) first.set(key, object);
    if (other === undefined || ![object, other].some(isOurs)) return [];
    const [one, two] = [other, object].map(({ node }) => node.scope?.node.path ?? node.path);
    return [`${title} is rendered twice, by ${one} and by ${two} (render it once, or rename one of them)`];
  });
};

const isOurs = ({ node }: ApiObject): boolean => node.scopes.some((scope) => ours.has(scope));
