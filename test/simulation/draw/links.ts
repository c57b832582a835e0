/** Draws what happens to gateways, Links and their credentials. */
import fc from 'fast-check';
import { CLUSTER_OF, type CredentialsKind, GATEWAY_NAME, type LinkEdit, OTHER_CLUSTER } from '../command.ts';
import { NO_GATEWAY } from '../link-state.ts';
import { doing, link, targetName } from './fields.ts';
import type { Weighted } from './weighted.ts';

const edit = fc.oneof(
  fc.record({
    field: fc.constant('gatewayAddress' as const),
    value: fc.constantFrom('203.0.113.10', '203.0.113.11', '203.0.113.11,203.0.113.10', GATEWAY_NAME, NO_GATEWAY),
  }),
  fc.record({ field: fc.constant('gatewayPort' as const), value: fc.constantFrom('4143', '30143') }),
  fc.record({
    field: fc.constant('gatewayIdentity' as const),
    value: fc.constantFrom('gateway.one', 'gateway.two', ''),
  }),
  fc.record({ field: fc.constant('selector' as const), value: fc.constantFrom('value', 'exists', 'empty') }),
  fc.record({ field: fc.constant('remoteDiscoverySelector' as const), value: fc.constantFrom('value', 'empty') }),
  fc.record({ field: fc.constant('enableHeadlessServices' as const), value: fc.boolean() }),
  fc.record({ field: fc.constant('enableNamespaceCreation' as const), value: fc.boolean() }),
  fc.record({ field: fc.constant('probe' as const), value: fc.boolean() }),
  fc.record({ field: fc.constant('excluded' as const), value: fc.boolean() }),
  fc.record({ field: fc.constant('period' as const), value: fc.constantFrom('0s', '3s') }),
) as fc.Arbitrary<LinkEdit>;

export const links: Weighted = [
  [6, fc.record({ do: fc.constantFrom('kill gateway', 'kill gateway', 'revive gateway'), link: targetName })],
  [6, fc.record({ ...doing('edit link'), link, edit })],
  [
    2,
    fc.record({
      ...doing('edit link'),
      link: fc.constant('bar' as const),
      edit: fc.record({
        field: fc.constant('targetClusterName' as const),
        value: fc.constantFrom(CLUSTER_OF.bar, OTHER_CLUSTER, OTHER_CLUSTER, CLUSTER_OF.west),
      }),
    }),
  ],
  [2, fc.record({ ...doing('remove link'), link })],
  [4, fc.record({ ...doing('put link'), link, invalid: fc.constantFrom(false, false, false, true) })],
  [
    3,
    fc.record({
      ...doing('linkerd'),
      link,
      act: fc.constantFrom<'start' | 'release' | 'kill'>('start', 'start', 'release', 'kill'),
    }),
  ],
  [4, fc.record({ ...doing('rename link'), first: fc.constantFrom('put' as const, 'remove' as const) })],
  [
    4,
    fc.record({
      ...doing('put secret'),
      link,
      as: fc.constantFrom<CredentialsKind>(
        ...(['good', 'renewed', 'renewed', 'garbage', 'unauthorized', 'absent'] as const),
        ...(['without watch', 'without slices', 'early'] as const),
      ),
    }),
  ],
  [
    2,
    fc.record({
      ...doing('move target'),
      services: fc.constantFrom<'all' | 'half' | 'none'>('all', 'half', 'none'),
    }),
  ],
];
