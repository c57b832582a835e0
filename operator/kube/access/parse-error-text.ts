/** Why a kubeconfig or another YAML file cannot be read, without a word of what is in it. */
import { cut, describe } from '../errors.ts';

/** The error of a parser as a clause, without the excerpt that it carries: that may hold a token. */
export function parseErrorText(error: unknown): string {
  if (!(error instanceof Error)) return 'it is not valid';
  if (error.name !== 'YAMLException') return describe(error);
  const { reason, mark } = error as { reason?: unknown; mark?: { line?: unknown } };
  const line = typeof mark?.line === 'number' ? ` (line ${mark.line + 1})` : '';
  return `it is not valid YAML: ${typeof reason === 'string' ? cut(reason, 80) : 'syntax error'}${line}`;
}
