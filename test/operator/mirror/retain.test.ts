import { describe, expect, test } from 'vitest';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  type KubeObject,
  type Resource,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import { retained } from '../../../operator/mirror/retain.ts';
import { shapeOf } from '../../../operator/mirror/shape.ts';
import {
  headlessService,
  NOTHING_OWNED,
  observed,
  type ObservedOptions,
  ownedEndpoints,
  ownedService,
  ownedSlice,
  targetService,
  targetSlice,
} from './observed.ts';

/** All that a mirror may have, by what it is. */
const OBJECTS: Readonly<Record<string, readonly [Resource, KubeObject]>> = {
  mirror: [SERVICES, ownedService('web-west')],
  endpoints: [ENDPOINTS, ownedEndpoints('web-west', [])],
  slice: [ENDPOINT_SLICES, ownedSlice('web-west-ipv4', 'web-west', undefined)],
  'endpoint mirror': [SERVICES, ownedService('web-0-west')],
  'its endpoints': [ENDPOINTS, ownedEndpoints('web-0-west', [])],
  'its slice': [ENDPOINT_SLICES, ownedSlice('web-0-west-ipv4', 'web-0-west', undefined)],
};
const EVERYTHING = Object.keys(OBJECTS);

const kept = (options: ObservedOptions): readonly string[] => {
  const state = observed(options);
  const retain = retained(state, shapeOf(state));
  return EVERYTHING.filter((name) => retain(...OBJECTS[name]!));
};

const mirror = (clusterIP: string): ObservedOptions => ({
  owned: { ...NOTHING_OWNED, services: [ownedService('web-west', clusterIP)] },
});

describe('although it is not desired, is kept', () => {
  test.each<[string, ObservedOptions, readonly string[]]>([
    ['everything, of what cannot be decided (E4, E6)', { decidable: false }, EVERYTHING],
    [
      'everything, of what cannot be decided and is not there any more (E6)',
      { decidable: false, service: null },
      EVERYTHING,
    ],
    ['everything, where nothing may be written (E8)', { namespaceState: 'forbidden' }, EVERYTHING],
    [
      'everything, where nothing may be written, of what is not exported (E8)',
      { namespaceState: 'forbidden', service: null, ...mirror('10.96.0.1') },
      EVERYTHING,
    ],
    ['everything, where nothing can be read', { namespaceState: 'unreadable' }, EVERYTHING],
    ['everything, while the Link has no gateway', { gateway: null }, EVERYTHING],
    [
      'the endpoints of a ClusterIP mirror, while those of the target are not known (L7)',
      { slices: undefined, ...mirror('10.96.0.1') },
      ['endpoints', 'slice'],
    ],
    [
      'everything of a headless mirror, while the endpoints of the target are not known (L7)',
      { service: headlessService(), slices: undefined, ...mirror('None') },
      EVERYTHING,
    ],
    ['nothing of what is not exported (A2)', { service: null }, []],
    ['nothing of what is refused (A4)', { service: targetService({ ports: [] }) }, []],
    ['everything in a namespace that is gone (A3)', { namespaceState: 'missing' }, EVERYTHING],
    [
      'nothing of a flat mirror, whose endpoints are not asked for',
      { mode: 'remote-discovery', slices: undefined },
      [],
    ],
    ['nothing of a ClusterIP mirror whose endpoints are known', mirror('10.96.0.1'), []],
    [
      'nothing of a headless mirror whose endpoints are known (D4)',
      { service: headlessService(), slices: [targetSlice([{ hostname: 'web-1' }])], ...mirror('None') },
      [],
    ],
  ])('%s', (_, options, expected) => {
    expect(kept(options)).toEqual(expected);
  });
});
