/**
 * Objects of one kind and name, made by two constructs of a chart: the API server would have the one that is applied last,
 * and neither construct could tell. Reported when cdk8s validates the tree, for objects of ours.
 */
import { ApiObject, Chart } from 'cdk8s';
import type { IConstruct } from 'constructs';
import { invalidIn } from './invalid-props.ts';

const ours = new WeakSet<IConstruct>();
const watched = new WeakSet<Chart>();

/** Has the names of what a construct makes compared with those of all other objects of its chart. */
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
    return [`${title} is made twice, by ${one} and by ${two} (make it once, or give one of them another name)`];
  });
};

const isOurs = ({ node }: ApiObject): boolean => node.scopes.some((scope) => ours.has(scope));
