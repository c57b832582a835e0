import { describe, expect, it, test } from 'vitest';
import type { Endpoints, Service } from '../../../operator/kube/objects.ts';
import { desired } from '../../../operator/mirror/desired.ts';
import type { Manifests } from '../../../operator/mirror/manifests.ts';
import { type Claim, endpointMirrorNames } from '../../../operator/mirror/names.ts';
import { Rendered } from '../../../operator/mirror/rendered.ts';
import { shapeOf } from '../../../operator/mirror/shape.ts';
import { claimsOfLinks, decided } from './decided.ts';
import {
  endpointMirror,
  headlessService,
  NOTHING_OWNED,
  observed,
  type ObservedOptions,
  ownedEndpoints,
  ownedService,
  targetSlice,
} from './observed.ts';

const IDENTITY = 'mirror.linkerd.io/remote-gateway-identity';
const PORTS = [{ name: 'http', port: 4143, protocol: 'TCP' }];
const FORMER = [{ ip: '203.0.113.9' }];
const pods: ObservedOptions = {
  service: headlessService(),
  slices: [targetSlice([{ hostname: 'web-0' }, { hostname: 'web-1' }])],
};
const mirror = ownedService('web-west', 'None');
const owned = (services: readonly Service[], endpoints: readonly Endpoints[] = []): ObservedOptions => ({
  owned: { ...NOTHING_OWNED, services: [mirror, ...services], endpoints },
});

const find = ({ endpoints }: Manifests, name: string) =>
  endpoints.find(({ object }) => object.metadata.name === name)?.object as Endpoints | undefined;
/** The ClusterIPs that the headless mirror lists, by hostname. */
const listed = (manifests: Manifests) =>
  Object.fromEntries(
    (find(manifests, 'web-west')?.subsets ?? [])
      .flatMap(({ addresses = [] }) => addresses)
      .map(({ hostname = '', ip }) => [hostname, ip]),
  );
const services = (manifests: Manifests) => manifests.services.map(({ object }) => object.metadata.name).sort();

/** An older Service of the Link that wants names. */
const older = (name: string, ...names: readonly string[]): Claim => ({
  owner: { cluster: 'west', key: `shop/${name}` },
  names,
  since: '2020-01-01T00:00:00Z',
});

describe('the endpoints of a headless mirror', () => {
  const both = owned([endpointMirror('web-0'), endpointMirror('web-1', '10.96.0.11')]);

  it('have the identity of the gateway, in v1 Endpoints and in slices', () => {
    for (const endpointsKind of ['endpoints', 'slices'] as const) {
      const { endpoints } = decided({ ...pods, ...both, link: { endpointsKind } }).manifests;
      const own = endpoints.filter(({ object }) => object.metadata.name.startsWith('web-west'));
      expect(own.map(({ of }) => of.kind)).toEqual([endpointsKind === 'slices' ? 'EndpointSlice' : 'Endpoints']);
      expect(own[0]?.object.metadata.annotations).toMatchObject({ [IDENTITY]: 'gw.id' });
    }
  });

  it('list a pod by its former endpoint mirror until there is one of another name (A7, L120)', () => {
    const former = endpointMirror('web-0', '10.96.0.20', 'web-0-web-west');
    expect(listed(decided({ ...pods, ...owned([former]) }).manifests)).toEqual({ 'web-0': '10.96.0.20' });
    const now = owned([former, endpointMirror('web-0', '10.96.0.10')]);
    expect(listed(decided({ ...pods, ...now }).manifests)).toEqual({ 'web-0': '10.96.0.10' });
  });

  test.each(['', 'None'])('list a pod by the one of two former endpoint mirrors that has an address (L120)', (ip) => {
    const former = [endpointMirror('web-0', ip, 'web-0-a-west'), endpointMirror('web-0', '10.96.0.20', 'web-0-b-west')];
    expect(listed(decided({ ...pods, ...owned(former) }).manifests)).toEqual({ 'web-0': '10.96.0.20' });
  });
});

describe('an endpoint mirror', () => {
  it('leads where it led while the name of the gateway does not resolve (C2)', () => {
    const endpoints = [ownedEndpoints('web-0-west', [{ notReadyAddresses: FORMER, ports: PORTS }])];
    const given = { ...pods, ...owned([endpointMirror('web-0')], endpoints) };
    const { manifests } = decided({ ...given, gateway: { addresses: [], alive: false } });
    expect(find(manifests, 'web-0-west')?.subsets).toEqual([{ notReadyAddresses: FORMER, ports: PORTS }]);
  });

  it('is reported whose names all belong to others, and other pods have theirs (A7)', () => {
    const claims = claimsOfLinks();
    endpointMirrorNames('web-0', 'web', 'west').forEach((name, at) => {
      const claim = older(`other-${at}`, name);
      claims.replace(claim.owner, 'shop', [claim]);
    });
    const given = { ...pods, ...owned([endpointMirror('web-1', '10.96.0.11')]) };
    const { manifests } = decided(given, claims);
    const message = expect.stringMatching(
      /^the name of the endpoint mirror of pod web-0 .* shop\/other-2@west/,
    ) as string;
    expect(manifests.refusals).toEqual([{ reason: 'NameConflict', message }]);
    expect([services(manifests), listed(manifests)]).toEqual([['web-1-west', 'web-west'], { 'web-1': '10.96.0.11' }]);
  });

  it('is reported for which no name is valid, and other pods have theirs (A4)', () => {
    const state = observed({ ...pods, ...owned([endpointMirror('web-1')]) });
    const nameOf = (hostname?: string) =>
      hostname === 'web-0' ? undefined : { name: hostname === undefined ? 'web-west' : `${hostname}-west` };
    const manifests = desired(state, shapeOf(state), { nameOf, revision: 0 });
    expect(manifests.refusals).toMatchObject([{ reason: 'NameConflict' }]);
    expect(manifests.refusals[0]?.message).toMatch(/pod web-0 .* no name for it is a valid Service name/);
    expect(services(manifests)).toEqual(['web-1-west', 'web-west']);
  });
});

describe('what was decided of a pod does not stand (E10)', () => {
  it('once the Endpoints that prove its name are there: its Service follows (A6)', () => {
    const rendered = new Rendered();
    expect(services(decided({ ...pods, ...owned([]) }, undefined, rendered).manifests)).toEqual(['web-west']);
    const proven = owned([], [ownedEndpoints('web-0-west', [])]);
    expect(services(decided({ ...pods, ...proven }, undefined, rendered).manifests)).toEqual([
      'web-0-west',
      'web-west',
    ]);
  });

  it('once its endpoint mirror of a longer name has another address (A7)', () => {
    const [rendered, claims] = [new Rendered(), claimsOfLinks()];
    const claim = older('web-0', 'web-0-west');
    claims.replace(claim.owner, 'shop', [claim]);
    for (const ip of ['10.96.0.20', '10.96.0.21']) {
      const given = { ...pods, ...owned([endpointMirror('web-0', ip, 'web-0-web-west')]) };
      expect(listed(decided(given, claims, rendered).manifests)).toEqual({ 'web-0': ip });
    }
  });

  it('once endpoints of a pod that no construct takes are found: they stay, and follow the gateway (D6, C1)', () => {
    const rendered = new Rendered();
    const services = [endpointMirror('web-0')];
    const udp = [{ name: 'dns', port: 53, protocol: 'UDP' }];
    const given = { ...pods, slices: [{ ...targetSlice([{ hostname: 'web-0' }]), ports: udp }] };
    const { owned: before } = owned(services);
    expect(find(decided({ ...given, owned: before! }, undefined, rendered).manifests, 'web-0-west')).toBeUndefined();
    const endpoints = [ownedEndpoints('web-0-west', [{ addresses: FORMER, ports: PORTS }])];
    const { manifests } = decided({ ...given, owned: { ...before!, endpoints } }, undefined, rendered);
    const addresses = [{ ip: '203.0.113.1' }, { ip: '203.0.113.2' }];
    expect(find(manifests, 'web-0-west')?.subsets).toEqual([{ addresses, ports: PORTS }]);
  });
});
