/** Many requests, some at a time: how a test sets up hundreds of objects without opening hundreds of connections. */

/** Calls `work` for each item, `limit` of them at once; rejects with the first failure. */
export const concurrently = async <T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> => {
  const iterator = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: limit }, worker));
};
