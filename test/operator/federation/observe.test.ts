import { expect, it } from 'vitest';

import { observeMember } from '../../../operator/federation/observe.ts';
import { member } from './observed.ts';

type Arguments = Parameters<typeof observeMember>;

/** A member in a namespace that is not there, or is, with a Link that creates namespaces, or does not. */
const admitted = (createNamespaces: boolean, state: 'exists' | 'missing', isWithin: boolean): boolean | undefined => {
  const asked: string[] = [];
  const around = {
    config: { namespace: 'linkerd-multicluster', controlPlaneNamespace: 'linkerd' },
    source: { namespaces: { stateOf: () => state } },
    budget: { admits: (namespace: string) => (asked.push(namespace), isWithin) },
  } as unknown as Arguments[3];
  const observed = { service: member('west'), isKnown: true, isAdmitted: true, anyReady: true } as Arguments[1];
  const link = {
    settings: { cluster: 'west', federation: 'gateway', createdAt: '', name: 'west' },
    view: { cluster: 'west', createNamespaces },
    gateway: undefined,
  } as unknown as Arguments[2];
  const party = observeMember('shop/web', observed, link, around);
  expect(party.link.createNamespaces).toBe(createNamespaces);
  expect(asked).toEqual(createNamespaces && state === 'missing' ? ['shop'] : []);
  return party.isNamespaceAdmitted;
};

it('a member is beyond the limit on namespaces only where one would be created for it (E10)', () => {
  expect(admitted(true, 'missing', false)).toBe(false);
  expect(admitted(true, 'missing', true)).toBe(true);
  expect(admitted(true, 'exists', false)).toBe(true);
  expect(admitted(false, 'missing', false)).toBe(true);
});
