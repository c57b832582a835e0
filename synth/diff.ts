/** Diffs of files, in the unified format of `patch`. */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

/** The diff of a file; `undefined` stands for a file that does not exist. Empty if both are the same. */
export const unifiedDiff = (path: string, before: string | undefined, after: string | undefined): string =>
  before === after
    ? ''
    : createTwoFilesPatch(
        before === undefined ? '/dev/null' : `a/${path}`,
        after === undefined ? '/dev/null' : `b/${path}`,
        before ?? '',
        after ?? '',
        undefined,
        undefined,
        { context: 3, headerOptions: FILE_HEADERS_ONLY },
      );
