import { expect, it } from 'vitest';
import type { Environment } from '../../../operator/link/environment.ts';
import { SessionParty, type SessionPartyOptions } from '../../../operator/federation/session-party.ts';
import { ALWAYS_GONE } from '../../../operator/target/aspect.ts';
import { RecordedReport } from '../link/recorded.ts';

/** A Link that takes part, of whose target nothing is read but whether it is known. */
const partyOf = (isKnown: boolean, isHeld: boolean): SessionParty =>
  new SessionParty({
    cluster: 'west',
    env: {} as Environment,
    report: new RecordedReport(),
    lease: { isHeld, mayWrite: isHeld, heldBy: undefined },
    budget: {} as unknown as SessionPartyOptions['budget'],
    target: {
      members: { ...ALWAYS_GONE, keys: () => new Set(), decides: () => isKnown },
      observeMember: () => ({
        service: undefined,
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
