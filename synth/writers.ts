/**
 * Whether the program writes to clusters at this moment, so that it must not be ended for what becomes of its output. The
 * command line loads this file at each start: it imports nothing.
 */
let writers = 0;

/** Reports whether something writes to clusters. */
export const isWriting = (): boolean => writers > 0;

/** Counts work as writing until it has ended. */
export const whileWriting = async <T>(work: () => Promise<T>): Promise<T> => {
  writers += 1;
  try {
    return await work();
  } finally {
    writers -= 1;
  }
};
