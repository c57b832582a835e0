import { describe, expect, it } from 'vitest';

import { gatewayIdentity, isProbeName, linkOfWriteLease, probeName, writeLeaseName } from '../../crds/wire.ts';

describe('wire names', () => {
  it('of the Lease of a Link lead back to the Link', () => {
    expect(linkOfWriteLease(writeLeaseName('west'))).toBe('west');
    expect(linkOfWriteLease('linkspan-operator')).toBeUndefined();
  });

  it('of probe Services are told from others', () => {
    expect(isProbeName(probeName('west'))).toBe(true);
    expect(isProbeName('web-west')).toBe(false);
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
