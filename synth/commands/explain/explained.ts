/** An explanation as it is printed: a title, a line for each step, and one that says where they end. Pure. */
import type { State, Step } from './step.ts';
import type { Explanation } from './steps.ts';

/** What is explained. */
export interface Explained {
  readonly title: string;
  /** What it is about, for programs. */
  readonly value: object;
  readonly explanation: { readonly steps: readonly Step[] };
  /** Whether clients reach it, and all that this depends on was looked at. */
  readonly isWell: boolean;
  /** Last line, which says so. */
  readonly end: string;
}

/** What ends at addresses. */
export const toAddresses = (explanation: Explanation): Pick<Explained, 'explanation' | 'isWell' | 'end'> => ({
  explanation,
  isWell: isReached(explanation),
  end: endOf(explanation),
});

/** Reports whether clients reach something, and all that this depends on was looked at. */
const isReached = ({ reached, steps }: Explanation): boolean =>
  reached.length > 0 && steps.every(({ state }) => state !== 'unknown');

const SIGNS: Readonly<Record<State, string>> = { ok: '√', warning: '‼', unknown: '?', stop: '×' };

/** All of it, as a person reads it. */
export const textOf = ({ title, explanation: { steps }, end }: Explained): string => {
  const width = Math.max(...steps.map(({ step }) => step.length));
  const lines = steps.flatMap(({ step, state, message, remedy }) => [
    `${SIGNS[state]} ${step.padEnd(width)}  ${message}`,
    ...(remedy === undefined ? [] : [`  ${''.padEnd(width)}  ${remedy}`]),
  ]);
  return [title, ...lines, end, ''].join('\n');
};

const endOf = ({ steps, reached }: Explanation): string => {
  const open = steps.filter(({ state }) => state === 'unknown').map(({ step }) => step);
  const asFarAs = open.length === 0 ? '' : `, as far as is known: not of ${[...new Set(open)].join(', ')}`;
  return reached.length > 0
    ? `clients reach ${reached.join(', ')}${asFarAs}`
    : `clients reach nothing: it stops at ${steps.findLast(({ state }) => state !== 'ok')?.step ?? 'nothing'}`;
};
