import { ApiObject, App, Chart } from 'cdk8s';
import { expect, it } from 'vitest';

import { clusterTree, UnfitForGitError } from '../../synth/cluster-tree.ts';

const treeOf = (...objects: readonly { readonly kind: string; readonly namespace?: string }[]) => {
  const chart = new Chart(new App(), 'east');
  for (const [index, { kind, namespace }] of objects.entries()) {
    new ApiObject(chart, String(index), {
      apiVersion: kind === 'EndpointSlice' ? 'discovery.k8s.io/v1' : 'v1',
      kind,
      metadata: { name: 'web', ...(namespace === undefined ? {} : { namespace }) },
    });
  }
  return clusterTree(chart, 'east', 'mesh');
};

it.each(['Endpoints', 'EndpointSlice'])('%s are refused, with the reason and the way out', (kind) => {
  expect(() => treeOf({ kind, namespace: 'app' })).toThrow(UnfitForGitError);
  expect(() => treeOf({ kind, namespace: 'app' })).toThrow(
    `east: ${kind} app/web must not be in Git: Argo CD leaves ${kind} out without a word, and the mirror would have ` +
      'no endpoints (render a Link instead, and let the operator write the mirror)',
  );
});

it('an object of another namespace is called with it, so that two of one name are two files', () => {
  expect([...treeOf({ kind: 'Secret', namespace: 'mesh' }, { kind: 'Secret', namespace: 'l5d' }).keys()]).toEqual([
    'east/2-secret-web.yaml',
    'east/2-secret-web.l5d.yaml',
  ]);
});

it('two objects that would be one file are refused', () => {
  expect(() => treeOf({ kind: 'Secret' }, { kind: 'Secret', namespace: 'mesh' })).toThrow(
    'east/2-secret-web.yaml: two objects of one kind and name',
  );
});

it('what a construct refuses at synth is not written', () => {
  const chart = new Chart(new App(), 'east');
  chart.node.addValidation({ validate: () => ['is not so'] });
  expect(() => clusterTree(chart, 'east', 'mesh')).toThrow('east: is not so');
});
