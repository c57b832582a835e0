import { expect, test } from 'vitest';
import { podsWithin } from '../../../operator/mirror/pod-limit.ts';

const PODS = ['web-3', 'web-1', 'web-4', 'web-0', 'web-2'];

test.each<[string, readonly string[], number, readonly string[]]>([
  ['all of them, where there are no more', [], 5, [...PODS].sort()],
  ['the first by hostname, where none has an endpoint mirror', [], 2, ['web-0', 'web-1']],
  ['those that have one, then the first by hostname', ['web-4'], 3, ['web-0', 'web-1', 'web-4']],
  ['those that have one, also beyond the limit', ['web-2', 'web-3', 'web-4'], 2, ['web-2', 'web-3', 'web-4']],
  ['those that have one, be it all', PODS, 1, [...PODS].sort()],
  ['nobody else, where none may be', [], 0, []],
])('the pods that have an endpoint mirror within a limit are %s (E10)', (_, mirrored, most, expected) => {
  const within = podsWithin(new Map(PODS.map((each) => [each, each])), (each) => mirrored.includes(each), most);
  expect([...within.keys()].sort()).toEqual(expected);
});
