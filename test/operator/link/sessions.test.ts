import { describe, expect, it } from 'vitest';
import type { Environment } from '../../../operator/link/environment.ts';
import { type AnySession, Sessions, type SessionsOptions } from '../../../operator/link/sessions.ts';

type Links = SessionsOptions['links'];

/** Ends a session of Link `west`, and meanwhile has a Link made of that name, with what it works with. */
const endedWith = async (work: (ended: AnySession) => AnySession | undefined): Promise<AnySession | undefined> => {
  let link: { readonly work: AnySession | undefined } | undefined;
  const links = { get: () => link } as unknown as Links;
  const sessions = new Sessions({ env: {} as Environment, links, secretOf: () => undefined });
  const session = {
    link: 'west',
    stop: async () => {
      link = { work: work(session) };
    },
  } as unknown as AnySession;
  await sessions.end('west', session);
  return link?.work;
};

describe('a session that ends while its Link is made anew', () => {
  it('is not what the new Link waits for (L285)', async () => {
    expect(await endedWith((ended) => ended)).toBeUndefined();
  });

  it('takes no other session from the new Link', async () => {
    const other = {} as AnySession;
    expect(await endedWith(() => other)).toBe(other);
  });
});
