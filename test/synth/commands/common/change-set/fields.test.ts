/** Fields of objects: what differs, where, and who has set it. */
import { describe, expect, test } from 'vitest';
import type { FieldsV1, KubeObject } from '../../../../../operator/kube/objects.ts';
import {
  fieldChanges,
  isWithin,
  managersOf,
  pathsOf,
  valueAt,
  without,
} from '../../../../../synth/commands/common/change-set/fields.ts';

const service = {
  metadata: { name: 'gateway', labels: { 'a.b/c': 'x' } },
  spec: {
    type: 'ClusterIP',
    ports: [
      { name: 'mc-gateway', port: 4143, protocol: 'TCP' },
      { name: 'mc-probe', port: 4191, protocol: 'TCP' },
    ],
    externalIPs: ['203.0.113.1'],
  },
};

const managed = (manager: string, fieldsV1: FieldsV1, subresource?: string): KubeObject => ({
  ...service,
  metadata: { ...service.metadata, managedFields: [{ manager, fieldsV1, ...(subresource && { subresource }) }] },
});

describe('fieldChanges', () => {
  test('nothing differs between equal values', () => {
    expect(fieldChanges(service, structuredClone(service))).toEqual([]);
  });

  test.each<[string, unknown, unknown, readonly [string, unknown, unknown][]]>([
    ['a field', { a: 1, b: 2 }, { a: 1, b: 3 }, [['b', 2, 3]]],
    ['a field that comes', { a: 1 }, { a: 1, b: 2 }, [['b', undefined, 2]]],
    ['a field that goes', { a: 1, b: 2 }, { a: 1 }, [['b', 2, undefined]]],
    [
      'a whole part that comes, by its leaves',
      {},
      { a: { b: 1, c: 2 } },
      [
        ['a.b', undefined, 1],
        ['a.c', undefined, 2],
      ],
    ],
    ['an empty map that comes', {}, { a: {} }, [['a', undefined, {}]]],
    ['an empty map that is filled', { a: {} }, { a: { b: 1 } }, [['a.b', undefined, 1]]],
    ['an item by its name', { l: [{ name: 'x', p: 1 }] }, { l: [{ name: 'x', p: 2 }] }, [['l.x.p', 1, 2]]],
    ['items in another order', { l: [{ name: 'x' }, { name: 'y' }] }, { l: [{ name: 'y' }, { name: 'x' }] }, []],
    ['a list without names', { l: [1, 2] }, { l: [2, 1] }, [['l', [1, 2], [2, 1]]]],
    [
      'items of one name',
      { l: [{ name: 'x' }, { name: 'x' }] },
      { l: [] },
      [['l', [{ name: 'x' }, { name: 'x' }], []]],
    ],
    ['a value of another kind', { a: 'x' }, { a: { b: 1 } }, [['a', 'x', { b: 1 }]]],
    ['a list for a map', { a: { b: 1 } }, { a: [{ name: 'b' }] }, [['a', { b: 1 }, [{ name: 'b' }]]]],
    ['null', { a: null }, { a: 1 }, [['a', null, 1]]],
  ])('%s', (_, before, after, changes) => {
    const found = fieldChanges(before, after).map(({ path, ...each }) => [path.join('.'), each.before, each.after]);
    expect(found).toEqual(changes.length === 0 ? found.filter(([path]) => path !== 'l') : changes);
  });
});

describe('paths', () => {
  test('lead to fields and to items by their names', () => {
    expect(valueAt(service, ['spec', 'ports', 'mc-probe', 'port'])).toBe(4191);
    expect(valueAt(service, ['spec', 'ports', 'other', 'port'])).toBeUndefined();
  });

  test('are found by patterns', () => {
    expect(pathsOf(service, ['spec', 'ports', '*', 'port'])).toEqual([
      ['spec', 'ports', 'mc-gateway', 'port'],
      ['spec', 'ports', 'mc-probe', 'port'],
    ]);
    expect(pathsOf(service, ['spec', 'replicas'])).toEqual([]);
    expect(isWithin(['spec', 'ports', 'mc-probe', 'port'], ['spec', 'ports'])).toBe(true);
    expect(isWithin(['spec'], ['spec', 'ports'])).toBe(false);
  });

  test('are taken out, and nothing else is', () => {
    expect(without(service, ['spec', 'ports', 'mc-probe', 'port'])).toEqual({
      ...service,
      spec: { ...service.spec, ports: [service.spec.ports[0], { name: 'mc-probe', protocol: 'TCP' }] },
    });
    expect(without(service, ['spec', 'ports', 'mc-probe']).spec.ports).toEqual([service.spec.ports[0]]);
    expect(without(service, ['metadata', 'labels', 'a.b/c']).metadata).toEqual({ name: 'gateway', labels: {} });
    expect(without(service, ['spec', 'nothing'])).toEqual(service);
  });
});

describe('managersOf', () => {
  const port = { 'f:spec': { 'f:ports': { 'k:{"port":4143,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } } };

  test.each<[string, KubeObject, readonly string[], readonly string[]]>([
    ['a field', managed('helm', { 'f:spec': { 'f:type': {} } }), ['spec', 'type'], ['helm']],
    [
      'a key with dots',
      managed('helm', { 'f:metadata': { 'f:labels': { 'f:a.b/c': {} } } }),
      ['metadata', 'labels', 'a.b/c'],
      ['helm'],
    ],
    ['an item by its keys', managed('helm', port), ['spec', 'ports', 'mc-gateway', 'port'], ['helm']],
    ['the item of other keys', managed('helm', port), ['spec', 'ports', 'mc-probe', 'port'], []],
    [
      'a field that the item has, and somebody else has set',
      managed('helm', port),
      ['spec', 'ports', 'mc-gateway', 'name'],
      [],
    ],
    ['a part, by what is set in it', managed('helm', port), ['spec', 'ports'], ['helm']],
    ['a field of what was set as a whole', managed('helm', { 'f:spec': {} }), ['spec', 'type'], ['helm']],
    ['another field', managed('helm', { 'f:spec': { 'f:type': {} } }), ['spec', 'externalIPs'], []],
    ['what one has set oneself', managed('us', { 'f:spec': { 'f:type': {} } }), ['spec', 'type'], []],
    ['what is set by scaling', managed('hpa', { 'f:spec': { 'f:type': {} } }, 'scale'), ['spec', 'type'], ['hpa']],
    ['a status', managed('kubelet', { 'f:spec': { 'f:type': {} } }, 'status'), ['spec', 'type'], []],
  ])('%s', (_, object, path, managers) => {
    expect(managersOf(object, path, 'us')).toEqual(managers);
  });
});
