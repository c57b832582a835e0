import { describe, expect, it } from 'vitest';

import {
  federatedName,
  gatewayIdentity,
  isProbeName,
  linkOfWriteLease,
  memberName,
  peerSecretName,
  probeName,
  remoteAccessName,
  writeLeaseName,
} from '../../crds/wire.ts';

describe('wire names', () => {
  it('of the Lease of a Link lead back to the Link', () => {
    expect(linkOfWriteLease(writeLeaseName('west'))).toBe('west');
    expect(linkOfWriteLease('linkspan-operator')).toBeUndefined();
  });

  it('of probe Services are told from others', () => {
    expect(isProbeName(probeName('west'))).toBe(true);
    expect(isProbeName('web-west')).toBe(false);
  });

  it('of a federated Service lead back to its members', () => {
    expect(memberName(federatedName('web'))).toBe('web');
    expect([memberName('web'), memberName('federated'), memberName('-federated')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('of the Secrets that tokens are bound to name the source cluster, or else the account', () => {
    expect(peerSecretName(remoteAccessName('east'))).toBe('linkspan-peer-east');
    expect(peerSecretName('mirror')).toBe('linkspan-peer-mirror');
  });

  it('of a gateway are the identity that Linkerd gives its ServiceAccount', () => {
    expect(gatewayIdentity('linkerd', 'cluster.local')).toBe(
      'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local',
    );
    expect(gatewayIdentity('l5d', 'west.example.com', 'mesh')).toBe(
      'linkerd-gateway.mesh.serviceaccount.identity.l5d.west.example.com',
    );
  });
});
