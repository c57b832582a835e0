import { expect, it, test } from 'vitest';
import { type LinkSettings, readLink } from '../../../crds/index.ts';
import {
  digestOfAsked,
  isApplied,
  isReadAlike,
  type Selection,
  selectorsOf,
  selectsNothing,
} from '../../../operator/served/selection.ts';
import { link, selectorOf } from '../../support/builders.ts';

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

const SPEC = {
  selector: { matchLabels: { team: 'a' } },
  targetNamespaces: ['shop'],
  importPolicy: { approval: 'required', approved: ['shop/web', 'shop/api'], names: ['w*'] },
};

const settingsOf = (spec: object, metadata: object = {}): LinkSettings => {
  const read = readLink(link('west', { ...SPEC, ...spec }, metadata));
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  return read.value;
};

const policy = (of: object) => ({ importPolicy: { ...SPEC.importPolicy, ...of } });

/** Changes of a spec, and whether they can take away what a target exports (E6). */
const CHANGES: readonly (readonly [string, object, boolean])[] = [
  ['another selector', { selector: { matchLabels: { team: 'b' } } }, true],
  ['no selector', { selector: undefined }, true],
  ['a selector of flat mode', { remoteDiscoverySelector: { matchLabels: { team: 'b' } } }, true],
  ['a selector of members', { federatedServiceSelector: { matchLabels: { team: 'b' } } }, true],
  ['other namespaces', { targetNamespaces: ['bank'] }, true],
  ['no ServiceExports', { serviceExports: false }, true],
  ['other credentials', { clusterCredentialsSecret: 'another' }, true],
  ['no policy', { importPolicy: undefined }, true],
  ['other approvals by name', policy({ approved: ['shop/web'] }), true],
  ['other approvals by pattern', policy({ approved: ['shop/web', 'shop/api', 'bank/*'] }), true],
  ['approvals in another order', policy({ approved: ['shop/api', 'shop/web'] }), false],
  ['other names', policy({ names: ['a*'] }), true],
  ['other ports', policy({ ports: ['80'] }), true],
  ['other types', policy({ types: ['ClusterIP'] }), true],
  ['another address of the gateway', { gatewayAddress: '203.0.113.9' }, false],
  ['another probe', { probeSpec: undefined }, false],
  ['labels that are not copied', { excludedLabels: ['team'] }, false],
];

test.each(CHANGES)('with %s, a Link asks for something else, or not (L295)', (_, spec, isOther) => {
  const [one, two] = [settingsOf({}), settingsOf(spec)];
  expect(digestOfAsked(one, true) !== digestOfAsked(two, true)).toBe(isOther);
  expect(digestOfAsked(two, false)).not.toBe(digestOfAsked(two, true));
});

test.each(CHANGES.filter(([name]) => !name.includes('order')))(
  'with %s, settings are to be applied, though the generation is the same (E5, L297)',
  (_, spec) => {
    expect(isApplied(settingsOf(spec), settingsOf({}))).toBe(false);
    const confirmed = { annotations: { 'linkspan.dev/confirm-prune': '12-a1b2c3d4' } };
    expect(isApplied(settingsOf(spec, confirmed), settingsOf(spec))).toBe(true);
  },
);
