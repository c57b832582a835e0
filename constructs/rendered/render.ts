/**
 * Constructs to plain JSON, in memory: how the operator renders what it is about to apply.
 * An app and a chart of their own for each render, so that renders share nothing; cdk8s validates, resolves and patches.
 * One mirror with its endpoints takes about 50 µs, and is rendered several times until it is written.
 */
import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { refuseInvalid } from '../common/invalid-props.ts';
import { renderInMemory } from './mirror/static-endpoints.ts';

/** A Kubernetes object as JSON. */
export interface ApiJson {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/**
 * Renders what `compose` puts into the chart, in dependency order.
 * @throws InvalidPropsError with all invalid props, or an Error with what else the nodes' validations say
 */
export const render = (compose: (chart: Chart) => void): ApiJson[] => {
  const app = new App();
  renderInMemory(app);
  const chart = new Chart(app, 'render');
  compose(chart);
  refuseInvalid(app);
  return chart.toJson() as ApiJson[];
};

/** A construct whose props are plain JSON. */
export type JsonConstruct<P extends object> = new (scope: Construct, id: string, props: P) => Construct;

/** How many renders are remembered: more than a controller has keys under way. */
const REMEMBERED = 256;

/** Longest props of a render that is remembered, so that all of them take a few MB. */
const MAX_PROPS = 8_192;

/** By construct and props; the one that was used last comes last. */
const remembered = new Map<string, readonly ApiJson[]>();

/**
 * Renders one construct. What was rendered lately of the same props is not rendered again: the objects are shared, and
 * frozen.
 * @throws like {@link render}
 */
export function renderOf<P extends object>(of: JsonConstruct<P>, props: P): readonly ApiJson[] {
  const key = `${of.name} ${JSON.stringify(props)}`;
  const objects = remembered.get(key) ?? frozen(render((chart) => new of(chart, 'rendered', props)));
  if (key.length > MAX_PROPS) return objects;
  remembered.delete(key);
  remembered.set(key, objects);
  const { value: oldest } = remembered.keys().next();
  if (remembered.size > REMEMBERED && oldest !== undefined) remembered.delete(oldest);
  return objects;
}

/** Freezes a JSON value with all that is in it. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
