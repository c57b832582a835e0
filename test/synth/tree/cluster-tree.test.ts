import { ApiObject, App, Chart } from 'cdk8s';
import { expect, it } from 'vitest';

import { MirrorService } from '../../../constructs/index.ts';
import { clusterTree } from '../../../synth/tree/cluster-tree.ts';

const treeOf = (...objects: readonly { readonly kind: string; readonly namespace?: string }[]) => {
  const chart = new Chart(new App(), 'east');
  for (const [index, { kind, namespace }] of objects.entries()) {
    new ApiObject(chart, String(index), {
      apiVersion: 'v1',
      kind,
      metadata: { name: 'web', ...(namespace === undefined ? {} : { namespace }) },
    });
  }
  return clusterTree(chart, 'east', 'mesh');
};

it('an object of another namespace is called with it, so that two of one name are two files', () => {
  expect([...treeOf({ kind: 'Secret', namespace: 'mesh' }, { kind: 'Secret', namespace: 'l5d' }).keys()]).toEqual([
    'east/2-secret-web.yaml',
    'east/2-secret-web.l5d.yaml',
  ]);
});

it('two objects that would be one file are refused', () => {
  expect(() => treeOf({ kind: 'Secret' }, { kind: 'Secret', namespace: 'mesh' })).toThrow(
    'east/2-secret-web.yaml: two objects have the same kind and name',
  );
});

it('what a construct refuses at synth is not written', () => {
  const chart = new Chart(new App(), 'east');
  chart.node.addValidation({ validate: () => ['is not so'] });
  expect(() => clusterTree(chart, 'east', 'mesh')).toThrow('east: is not so');
});

it('the endpoints of a mirror are not written, unless it is static', () => {
  const mirror = (props: { readonly static?: boolean } = {}) => {
    const chart = new Chart(new App(), 'east');
    const target = { service: 'web', namespace: 'shop', targetCluster: 'west', ports: [{ port: 80 }] };
    new MirrorService(chart, 'web', { ...target, endpoints: { addresses: ['203.0.113.10'], port: 4143 }, ...props });
    return [...clusterTree(chart, 'east', 'mesh').keys()];
  };
  expect(() => mirror()).toThrow('east/web/Endpoints: Endpoints shop/web-west must not be in Git');
  expect(mirror({ static: true })).toEqual([
    'east/2-service-web-west.shop.yaml',
    'east/2-endpoints-web-west.shop.yaml',
  ]);
});
