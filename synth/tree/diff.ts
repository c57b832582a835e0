/** What would change in a file, in the unified format that people and `patch` read: one hunk, from first to last change. */

const CONTEXT = 3;

/** The diff of a file; `undefined` stands for a file that is not there. Empty if both are the same. */
export const unifiedDiff = (path: string, before: string | undefined, after: string | undefined): string => {
  if (before === after) return '';
  const old = lines(before);
  const now = lines(after);
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head += 1;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;

  const from = Math.max(0, head - CONTEXT);
  const below = Math.min(tail, CONTEXT);
  const range = (all: readonly string[]): string => {
    const count = all.length - tail + below - from;
    return `${count === 0 ? 0 : from + 1},${count}`;
  };
  return [
    `--- ${before === undefined ? '/dev/null' : `a/${path}`}`,
    `+++ ${after === undefined ? '/dev/null' : `b/${path}`}`,
    `@@ -${range(old)} +${range(now)} @@`,
    ...old.slice(from, head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+${line}`),
    ...old.slice(old.length - tail, old.length - tail + below).map((line) => ` ${line}`),
    '',
  ].join('\n');
};

const lines = (text: string | undefined): readonly string[] =>
  text === undefined || text === '' ? [] : text.replace(/\n$/, '').split('\n');
