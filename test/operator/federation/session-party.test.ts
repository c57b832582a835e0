import { expect, it } from 'vitest';
import type { Service } from '../../../operator/kube/objects.ts';
import type { Environment } from '../../../operator/link/environment.ts';
import { SessionParty, type SessionPartyOptions } from '../../../operator/federation/session-party.ts';
import { ALWAYS_GONE } from '../../../operator/target/aspect.ts';
import { RecordedReport } from '../link/recorded.ts';

/** A Link that takes part, of whose target nothing is read but whether it is known, and which Services it shows. */
const partyOf = (
  isKnown: boolean,
  isHeld: boolean,
  shown = new Map<string, Service>(),
  env: object = {},
): SessionParty =>
  new SessionParty({
    cluster: 'west',
    env: env as Environment,
    report: new RecordedReport(),
    lease: { isHeld, mayWrite: isHeld, heldBy: undefined },
    budget: {} as unknown as SessionPartyOptions['budget'],
    target: {
      members: { ...ALWAYS_GONE, keys: () => new Set(shown.keys()), decides: () => isKnown },
      observeMember: (key) => ({
        service: shown.get(key),
        isKnown,
        isAdmitted: true,
        isWithinBytes: true,
        anyReady: undefined,
      }),
    },
    link: () => ({
      settings: { name: 'west', createdAt: '2026-01-01T00:00:00Z' } as ReturnType<
        SessionPartyOptions['link']
      >['settings'],
      view: {} as ReturnType<SessionPartyOptions['link']>['view'],
      gateway: undefined,
    }),
  });

it('says whether it is known, and its own to say, that it has no member (I6, I7, E6)', () => {
  const knowledge = (isKnown: boolean, isHeld: boolean) => partyOf(isKnown, isHeld).observe('shop/web').knowledge;
  expect([knowledge(true, true), knowledge(false, true), knowledge(false, false), knowledge(true, false)]).toEqual([
    'known',
    'unknown',
    'anothers',
    'anothers',
  ]);
});

it('has a federated Service looked at again for a Service that no list shows any more, whoever holds the Lease (I9, L182)', () => {
  const key = 'shop/web';
  const web = { metadata: { namespace: 'shop', name: 'web' }, spec: { ports: [] } } as unknown as Service;
  const shown = new Map([[key, web]]);
  const added: string[] = [];
  const env = {
    source: { membershipsOf: () => [], federation: () => ({ slices: [] }) },
    federations: { add: (each: string) => added.push(each) },
  };
  const party = partyOf(false, false, shown, env);
  expect(party.observe(key).service).toBe(web);
  shown.clear();
  party.listed();
  expect(added).toEqual([key]);
  expect(party.observe(key).service).toBeUndefined();
  party.listed();
  expect(added).toEqual([key]);
});
