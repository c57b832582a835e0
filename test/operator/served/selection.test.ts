import { expect, it, test } from 'vitest';
import { isReadAlike, type Selection, selectorsOf, selectsNothing } from '../../../operator/served/selection.ts';
import { selectorOf } from '../../support/builders.ts';

const [a, b] = [selectorOf({ team: 'a' }), selectorOf({ team: 'b' })];
const gateway = { addresses: ['203.0.113.1'], port: 4143 };

test.each<readonly [string, Selection, boolean]>([
  ['no selector', {}, true],
  ['namespaces alone', { targetNamespaces: ['shop'] }, true],
  ['a selector of gateway mode', { selector: a }, false],
  ['a selector of flat mode', { remoteDiscoverySelector: a }, false],
  ['a selector of members (I1)', { federatedServiceSelector: a }, false],
])('a Link with %s selects nothing, or something (A1)', (_, selection, isNothing) => {
  expect(selectsNothing(selection)).toBe(isNothing);
});

test.each<readonly [string, Selection, Selection, boolean]>([
  ['equal selectors', { selector: selectorOf({ team: 'a' }) }, { selector: a }, true],
  ['another selector of gateway mode (A2)', { selector: a }, { selector: b }, false],
  ['another selector of flat mode (A2)', { remoteDiscoverySelector: a }, { remoteDiscoverySelector: b }, false],
  ['another selector of members (E5)', { federatedServiceSelector: a }, { federatedServiceSelector: b }, false],
  ['other namespaces (E5)', { selector: a, targetNamespaces: ['shop'] }, { selector: a }, false],
  ['equal namespaces', { targetNamespaces: ['shop'] }, { targetNamespaces: ['shop'] }, true],
  [
    'a gateway that members may need (I5)',
    { federatedServiceSelector: a, gateway },
    { federatedServiceSelector: a },
    false,
  ],
  ['a gateway that nothing needs the slices for', { selector: a, gateway }, { selector: a }, true],
])('with %s, a target is read alike or not', (_, one, two, isAlike) => {
  expect([isReadAlike(one, two), isReadAlike(two, one)]).toEqual([isAlike, isAlike]);
});

it('reads the slices of members where there is a gateway (I5)', () => {
  const members = { federatedServiceSelector: a };
  expect(selectorsOf(members)).toMatchObject({ members: a, readsMemberSlices: false });
  expect(selectorsOf({ ...members, gateway }).readsMemberSlices).toBe(true);
});
