/**
 * Constructs to plain JSON, in memory: how the operator renders what it is about to apply.
 * An app and a chart of their own for each call, so that renders share nothing; cdk8s validates, resolves and patches.
 * One mirror with its endpoints takes about 50 µs.
 */
import { App, Chart } from 'cdk8s';
import { renderInMemory } from './static-endpoints.ts';

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
 * @throws InvalidPropsError from a construct's constructor, or an Error with what the nodes' validations say
 */
export const render = (compose: (chart: Chart) => void): ApiJson[] => {
  const app = new App();
  renderInMemory(app);
  const chart = new Chart(app, 'render');
  compose(chart);
  return chart.toJson() as ApiJson[];
};
