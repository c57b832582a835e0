/** Output of commands. */

/** Writes to standard output; resolves once all of it is written, so that a pipe gets every byte. */
export const print = async (text: string): Promise<void> => {
  const { promise: written, resolve } = Promise.withResolvers<void>();
  process.stdout.write(text, () => resolve());
  await written;
};
