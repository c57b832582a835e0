/**
 * What ends a command from outside while it writes: signals, and an output that nobody reads or that is full. None of them
 * ends it in the middle of its writes. After a signal it stops where it would wait for somebody else, since whatever it
 * has written by then works as it is, or is undone first, and a second run finishes. A second signal ends it at once.
 */
import { constants } from 'node:os';
import { printLine } from '../../print.ts';
import { whileWriting } from '../../writers.ts';
import { CommandError } from './command-error.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What a shell makes of a process that a signal has ended. */
const exitCodeOf = (signal: (typeof SIGNALS)[number]): number => 128 + constants.signals[signal];

let received: (typeof SIGNALS)[number] | undefined;
let unstoppable = 0;

/** Runs what writes to clusters. */
export const uninterrupted = async <T>(work: () => Promise<T>): Promise<T> => {
  const onSignal = (signal: (typeof SIGNALS)[number]): void => {
    if (received !== undefined) process.exit(exitCodeOf(signal));
    received = signal;
    printLine(`${signal}: the writes that have begun are finished; once more ends the command at once`);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    return await whileWriting(work);
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    received = undefined;
  }
};

/** Runs what must be done to its end, such as undoing a step: one signal does not stop it where it waits. */
export const toItsEnd = async <T>(work: () => Promise<T>): Promise<T> => {
  unstoppable += 1;
  try {
    return await work();
  } finally {
    unstoppable -= 1;
  }
};

/**
 * Stops a command that was asked to stop, where it may: where it would wait, or between two objects.
 * @param before what it does not do any more, as in `waiting for the token of Secret …`
 * @throws CommandError with the exit code of the signal
 */
export const stopIfAsked = (before: string): void => {
  if (received === undefined || unstoppable > 0) return;
  throw new CommandError(
    [
      {
        object: received,
        reason: `stopped before ${before}`,
        remedy: 'run the command again: it goes on from here',
      },
    ],
    exitCodeOf(received),
  );
};
