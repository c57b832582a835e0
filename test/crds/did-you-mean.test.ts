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
