/** Source code as the demo prints it. */
import type { Chart } from 'cdk8s';

/** The lines of the body of a function with braces, as they are in its file. */
export const bodyOf = (compose: (chart: Chart, ...rest: never[]) => void): readonly string[] =>
  compose
    .toString()
    .split('\n')
    .slice(1, -1)
    .map((line) => line.slice(2));
