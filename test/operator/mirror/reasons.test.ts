/** What the status says of a Service that is not mirrored: it names what is in the way. */
import { expect, test } from 'vitest';
import type { Claim } from '../../../operator/mirror/names.ts';
import { foreignObject, lostName } from '../../../operator/mirror/reasons.ts';
import { observed } from './observed.ts';

const winner = (hostname?: string): { readonly lostTo: Claim } => ({
  lostTo: {
    owner: { cluster: 'bar-west', key: 'shop/db' },
    names: ['web-west'],
    since: '2026-01-01T00:00:00Z',
    ...(hostname === undefined ? {} : { hostname }),
  },
});

test.each<[string, string | undefined, { readonly lostTo: Claim } | undefined, readonly string[], readonly string[]]>([
  ['Service, and to which', undefined, winner(), ['the mirror would be web-west', 'shop/db@bar-west has it'], ['pod']],
  [
    'pod, and to which pod',
    'web-0',
    winner('db-0'),
    ['endpoint mirror of pod web-0 would be web-0-west', 'shop/db@bar-west#db-0 has it'],
    [],
  ],
  [
    'pod that no name is valid for',
    'web-0',
    undefined,
    ['pod web-0', 'no name for it is a valid Service name'],
    ['has it'],
  ],
])('the status names who has lost a name: a %s (A7)', (_, hostname, resolved, said, unsaid) => {
  const { reason, message } = lostName(observed(), resolved, hostname);
  expect(reason).toBe('NameConflict');
  for (const each of said) expect(message).toContain(each);
  for (const each of unsaid) expect(message).not.toContain(each);
});

test('the status names the foreign object, and the Service that Endpoints may belong to (A6)', () => {
  expect(foreignObject('Service', 'shop/web-west').message).toMatch(/^Service shop\/web-west exists/);
  expect(foreignObject('EndpointSlice', 'shop/web-west-ipv4').message).toMatch(/^EndpointSlice shop\/web-west-ipv4/);
  expect(foreignObject('Endpoints', 'shop/web-west').message).toMatch(
    /^a Service shop\/web-west, or Endpoints without/,
  );
});
