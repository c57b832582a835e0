/** Commands in remedies: a shell that runs them reaches the same cluster, whatever its names are. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { kubectl, linkspan, linkspanPair, shellWord } from '../../../../synth/commands/common/command-text.ts';

/** The words that a shell makes of a command. */
const wordsOf = (command: string): readonly string[] =>
  execFileSync('bash', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

const HOSTILE = [
  'east',
  'arn:aws:eks:eu-west-1:111122223333:cluster/prod',
  'kubernetes-admin@kubernetes',
  'with space',
  "it's",
  '$(touch PWNED)',
  '`id`',
  'a;b|c&d',
  'line\nbreak',
  '*',
  '',
  '~',
  '"',
  '\\',
];

test.each(HOSTILE)('a shell reads the word %j back as it is', (word) => {
  expect(wordsOf(shellWord(word))).toEqual([word]);
});

test.each(HOSTILE)('a context named %j stays one word of kubectl and linkspan', (context) => {
  const cluster = { kubeconfig: '/home/me/my configs/east', context };
  expect(wordsOf(kubectl(cluster, 'get', 'links'))).toEqual([
    'kubectl',
    '--kubeconfig',
    '/home/me/my configs/east',
    '--context',
    context,
    'get',
    'links',
  ]);
  expect(wordsOf(linkspan(cluster, 'check'))).toEqual([
    'linkspan',
    'check',
    '--kubeconfig',
    '/home/me/my configs/east',
    '--context',
    context,
  ]);
});

test('no kubeconfig is named where none was given', () => {
  expect(kubectl({ context: 'east' }, 'get', 'links')).toBe('kubectl --context east get links');
});

test('the kubeconfig of the target is named where it is another', () => {
  const east = { kubeconfig: 'a', context: 'east' };
  expect(linkspanPair(east, { kubeconfig: 'b', context: 'west' }, 'link', '--apply')).toBe(
    'linkspan link --apply --kubeconfig a --context east --to-kubeconfig b --to-context west',
  );
  expect(linkspanPair(east, { kubeconfig: 'a', context: 'west' }, 'link')).toBe(
    'linkspan link --kubeconfig a --context east --to-context west',
  );
});
