/**
 * Why a command that reads or writes clusters ends without having done what it was asked for, and the exit code that it
 * ends with: 0 if it is done, 1 if a cluster or what is in it stands in the way, 2 if the command line is wrong.
 */
import { type FieldError, formatFieldErrors } from '../../../crds/field-error.ts';
import { InvalidPropsError } from '../../../constructs/common/invalid-props.ts';
import {
  ConnectionError,
  isForbidden,
  isInvalid,
  isUnavailable,
  LOGIN_FAILED,
  TerminalError,
} from '../../../operator/kube/errors.ts';
import { printLine } from '../../print.ts';

/** Exit codes of the commands that read or write clusters. */
export const ExitCode = { failed: 1, usage: 2 } as const;

/** One obstacle. */
export interface Problem {
  /** What is wrong: a flag, or an object and its cluster, as in `Service linkerd-multicluster/linkerd-gateway of west`. */
  readonly object: string;
  /** Completes "`object`: …". */
  readonly reason: string;
  /** What the user can do. */
  readonly remedy: string;
}

/** An invalid value as an obstacle, under the name that the user has given it by. */
export const fieldProblem = (object: string, { remedy = 'correct it', ...error }: FieldError): Problem => ({
  object,
  reason: formatFieldErrors([{ ...error, path: '' }]),
  remedy,
});

/** Carries every obstacle that was found, not just the first. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly problems: readonly Problem[];
  /** Exit code of the command. */
  readonly code: number;

  /** @param cause what a cluster has answered, or that it has not */
  constructor(problems: readonly Problem[], code: number = ExitCode.failed, cause?: unknown) {
    super(problems.map(formatProblem).join('; '), { cause });
    this.problems = problems;
    this.code = code;
  }

  /** Reports whether the same may succeed in a moment: the server was away, or too busy. */
  get isPassing(): boolean {
    const { cause } = this;
    return cause instanceof ConnectionError || isUnavailable(cause);
  }
}

/** `Service a/b of west: not found (write …)` */
const formatProblem = ({ object, reason, remedy }: Problem): string => `${object}: ${reason} (${remedy})`;

/** @throws CommandError if there is any problem */
export const refuseProblems = (problems: readonly Problem[], code: 1 | 2 = ExitCode.failed): void => {
  if (problems.length > 0) throw new CommandError(problems, code);
};

/**
 * What all of them come to.
 * @throws CommandError with every refusal of an API server, not with the first alone; else what the first has thrown
 */
export const withEveryObstacle = async <T>(all: readonly Promise<T>[]): Promise<readonly T[]> => {
  const settled = await Promise.allSettled(all);
  const errors = settled.flatMap((each): unknown[] => (each.status === 'rejected' ? [each.reason] : []));
  if (errors.length < 2 || !errors.every(isRefusal)) return Promise.all(all);
  const problems = errors.flatMap((each) => each.problems);
  throw new CommandError(problems, errors[0]?.code, errors[0]?.cause);
};

/** Of a server that is away, or knows nobody, each says the same. */
const isRefusal = (error: unknown): error is CommandError =>
  error instanceof CommandError && (isForbidden(error.cause) || isInvalid(error.cause));

/**
 * Runs a command, and reports what stands in its way: on stderr, one line for each obstacle, and by the exit code.
 * @param flags the flags of the command by the props that are made of them, so that an invalid prop is reported by its flag
 */
export const reportingProblems = async (
  command: () => Promise<void>,
  flags: Readonly<Record<string, string>> = {},
): Promise<void> => {
  try {
    await command();
  } catch (error) {
    const { lines, code } = reported(error, flags);
    for (const line of lines) printLine(`error: ${line}`);
    process.exitCode = code;
  }
};

const reported = (
  error: unknown,
  flags: Readonly<Record<string, string>>,
): { readonly lines: readonly string[]; readonly code: number } => {
  if (error instanceof CommandError) return { lines: error.problems.map(formatProblem), code: error.code };
  // A kubeconfig or a context that is not there or cannot be used, unless it is just that nobody is logged in.
  if (error instanceof TerminalError) {
    return { lines: [error.message], code: error.reason === LOGIN_FAILED ? ExitCode.failed : ExitCode.usage };
  }
  if (error instanceof InvalidPropsError) {
    const lines = error.errors.map((each) =>
      formatFieldErrors([{ ...each, path: each.path.replace(/^\w+/, (prop) => flags[prop] ?? prop) }]),
    );
    return { lines: [...new Set(lines)], code: ExitCode.usage };
  }
  throw error;
};
