/** What a report can do without: read, or the obstacle in its place. */
import { isForbidden } from '../../../operator/kube/errors.ts';
import { CommandError } from './command-error.ts';

/** What was found, or why it cannot be read. */
export type Readable<T> = { readonly found: T } | { readonly obstacle: string };

const unless = async <T>(
  find: () => Promise<T>,
  isObstacle: (error: CommandError) => boolean,
): Promise<Readable<T>> => {
  try {
    return { found: await find() };
  } catch (error) {
    if (error instanceof CommandError && isObstacle(error)) return { obstacle: error.message };
    throw error;
  }
};

/** Reads, whatever stands in the way. */
export const readable = <T>(find: () => Promise<T>): Promise<Readable<T>> => unless(find, () => true);

/**
 * Reads, unless the user may not.
 * @throws CommandError for any other obstacle
 */
export const ifAllowed = <T>(find: () => Promise<T>): Promise<Readable<T>> =>
  unless(find, ({ cause }) => isForbidden(cause));
