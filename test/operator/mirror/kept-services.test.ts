import { describe, expect, it, test } from 'vitest';
import type { Service, ServicePort } from '../../../operator/kube/objects.ts';
import { kept } from '../../../operator/mirror/kept.ts';
import { keptServices } from '../../../operator/mirror/kept-services.ts';
import { Rendered } from '../../../operator/mirror/rendered.ts';
import { NOTHING_OWNED, observed, ownedEndpoints, ownedService } from './observed.ts';

const PORT: ServicePort = {
  name: 'http',
  port: 80,
  targetPort: 8080,
  protocol: 'TCP',
  appProtocol: 'kubernetes.io/h2c',
};
const mirror = (spec: Service['spec'], name = 'web-west'): Service => ({
  metadata: ownedService(name).metadata,
  spec: { type: 'ClusterIP', clusterIP: '10.96.0.1', ports: [PORT], ...spec },
});
const freed = (live: Service, options: Parameters<typeof observed>[0] = {}) =>
  keptServices(observed(options), [live]).map(({ object }) => (object as Service).spec);

describe('a mirror that is kept (C3)', () => {
  test.each<[string, Service['spec']]>([
    ['a selector', { selector: { app: 'own' } }],
    ['another type', { type: 'NodePort' }],
    ['an external name', { externalName: 'example.com' }],
    ['external addresses', { externalIPs: ['192.0.2.1'] }],
    ['pods of the own node alone', { internalTrafficPolicy: 'Local' }],
    ['session affinity', { sessionAffinity: 'ClientIP' }],
    ['pods that are not ready', { publishNotReadyAddresses: true }],
  ])('is freed from what others have added, be it alone: %s', (_, added) => {
    expect(freed(mirror(added))).toEqual([{ type: 'ClusterIP', ports: [PORT] }]);
    expect(freed(mirror({ ...added, clusterIP: 'None' }))).toEqual([
      { type: 'ClusterIP', clusterIP: 'None', ports: [PORT] },
    ]);
  });

  test.each<[string, Service['spec']]>([
    ['as a mirror is', {}],
    ['headless', { clusterIP: 'None' }],
    [
      'with what the API server fills in',
      { internalTrafficPolicy: 'Cluster', sessionAffinity: 'None', publishNotReadyAddresses: false, externalIPs: [] },
    ],
    ['without ports, so that it could not be written', { ports: [], selector: { app: 'own' } }],
  ])('is left alone as it is: %s', (_, spec) => {
    expect(freed(mirror(spec))).toEqual([]);
  });

  it('keeps its ports as they are, but for node ports, and names nothing of them that they do not have', () => {
    const ports = [
      { ...PORT, nodePort: 30_080 },
      { port: 9090, nodePort: 30_090 },
    ];
    const [spec] = freed(mirror({ type: 'NodePort', ports }));
    expect(spec?.ports).toStrictEqual([PORT, { port: 9090 }]);
  });

  it.each(['forbidden', 'unreadable'] as const)('is left alone in a namespace that is %s (A3)', (namespaceState) => {
    expect(freed(mirror({ selector: { app: 'own' } }), { namespaceState })).toEqual([]);
  });
});

describe('an endpoint mirror of a pod that no construct takes (C1, D6)', () => {
  const ports = [{ name: 'http', port: 4143, protocol: 'TCP' }];
  const live = mirror({}, 'web-0-west');
  const beside = mirror({ selector: { app: 'own' } }, 'web-1-west');
  const keptOf = (services: readonly Service[], name = 'web-0-west') => {
    const endpoints = ['web-0-west', 'web-1-west'].map((each) =>
      ownedEndpoints(each, [{ addresses: [{ ip: '203.0.113.9' }], ports }]),
    );
    const state = observed({ owned: { ...NOTHING_OWNED, services, endpoints }, gateway: { alive: false } });
    const manifests = kept(state, name, new Rendered().staying('shop/web'));
    return {
      services: manifests.services.map(({ object }) => object),
      endpoints: manifests.endpoints.map(({ object }) => object.metadata.name),
    };
  };

  it('stays as it is, and its endpoints follow the gateway; nothing is decided about others', () => {
    expect(keptOf([live, beside])).toEqual({ services: [live], endpoints: ['web-0-west'] });
  });

  it('is freed from what others have added to it', () => {
    const { services } = keptOf([{ ...live, spec: { ...live.spec, externalIPs: ['192.0.2.1'] } }, beside]);
    expect(services).toMatchObject([{ metadata: { name: 'web-0-west' }, spec: { type: 'ClusterIP', ports: [PORT] } }]);
    expect(services[0]).not.toHaveProperty('spec.externalIPs');
  });

  it('is nothing to write where there is none', () => {
    expect(keptOf([beside])).toEqual({ services: [], endpoints: [] });
  });
});
