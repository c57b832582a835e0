import { expect, test } from 'vitest';
import { didYouMean } from '../../crds/did-you-mean.ts';

const KNOWN = ['gateway', 'gatewayAddresses', 'gatewayPort', 'replicas', 'image', 'repoUrl'];

test.each([
  ['gatewayAdresses', 'gatewayAddresses'],
  ['gatewayAddress', 'gatewayAddresses'],
  ['replcias', 'replicas'],
  ['replica', 'replicas'],
  ['repoURL', 'repoUrl'],
  ['images', 'image'],
  ['labels', undefined],
  ['x', undefined],
  ['gateway'.repeat(20), undefined],
])('%s is meant for %s', (word, meant) => expect(didYouMean(word, KNOWN)).toBe(meant));

test.each<[string, string, boolean]>([
  ['two letters that have changed places, as one edit', 'abdc', true],
  ['them at the very beginning', 'bacd', true],
  ['two of these, as two', 'badc', false],
  ['one letter in two places, as two', 'xbcy', false],
  ['a letter more', 'abcde', true],
  ['a letter less', 'bcd', true],
])('a word is near with %s', (_, word, isNear) => {
  expect(didYouMean(word, ['abcd'])).toBe(isNear ? 'abcd' : undefined);
});

test('a word is near with two edits of five letters, or one edit of two', () => {
  expect([didYouMean('xbcdy', ['abcde']), didYouMean('xbydz', ['abcde'])]).toEqual(['abcde', undefined]);
  expect([didYouMean('ba', ['ab']), didYouMean('xy', ['ab'])]).toEqual(['ab', undefined]);
});

test('a word is near that is part of another, or the other of it, from four letters on', () => {
  expect([didYouMean('port', ['gatewayPort']), didYouMean('por', ['gatewayPort'])]).toEqual(['gatewayPort', undefined]);
  expect(didYouMean('linkerdGatewayPortNumber', ['gatewayPort'])).toBe('gatewayPort');
});

test('a word of up to 64 letters is compared', () => {
  expect(didYouMean('a'.repeat(64), ['a'.repeat(64)])).toBe('a'.repeat(64));
  expect(didYouMean('a'.repeat(65), ['a'.repeat(65)])).toBeUndefined();
});
