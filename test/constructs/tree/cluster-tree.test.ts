import { ApiObject, App, type Chart } from 'cdk8s';
import { expect, it } from 'vitest';
import { ClusterSet, MirrorService } from '../../../constructs/index.ts';
import { clusterSetTree } from '../../../constructs/tree/cluster-tree.ts';

/** The paths of what a program adds to the chart of a cluster, whose namespace is `mesh`. */
const pathsOf = (add: (chart: Chart) => void): readonly string[] => {
  const set = (scope: App) =>
    new ClusterSet(scope, 'set', { members: [{ name: 'east' }], operator: { image: 'a/b:1' }, namespace: 'mesh' });
  const bare = new Set(clusterSetTree(set(new App())).keys());
  const clusterSet = set(new App());
  for (const { chart } of clusterSet.clusters) add(chart);
  return [...clusterSetTree(clusterSet).keys()].filter((path) => !bare.has(path));
};

const secret = (namespace?: string) => (chart: Chart) => {
  new ApiObject(chart, namespace ?? 'none', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'web', ...(namespace === undefined ? {} : { namespace }) },
  });
};

it('an object of another namespace is called with it, so that two of one name are two files', () => {
  const both = pathsOf((chart) => {
    secret('mesh')(chart);
    secret('l5d')(chart);
  });
  expect(both).toEqual(['east/2-secret-web.yaml', 'east/2-secret-web.l5d.yaml']);
});

it('two objects that would be one file are refused', () => {
  const same = (chart: Chart) => {
    secret()(chart);
    secret('mesh')(chart);
  };
  expect(() => pathsOf(same)).toThrow('east/2-secret-web.yaml: two objects have the same kind and name');
});

it('what a construct refuses at synth is not written, wherever in the app it is', () => {
  const refuse = (of: (chart: Chart) => { readonly node: Chart['node'] }) => (chart: Chart) =>
    of(chart).node.addValidation({ validate: () => ['is not so'] });
  expect(() => pathsOf(refuse((chart) => chart))).toThrow(
    'Validation failed with the following errors:\n  [set/east] is not so',
  );
  expect(() => pathsOf(refuse((chart) => chart.node.root))).toThrow('[] is not so');
});

it('props that the set refuses are not written', () => {
  const clusterSet = new ClusterSet(new App(), 'set', { members: [{ name: 'East' }], operator: { image: 'a/b:1' } });
  expect(() => clusterSetTree(clusterSet)).toThrow(/\[set\] ClusterSet set: members\[0\]\.name: "East" must be/);
});

it('the endpoints of a mirror are not written, unless it is static', () => {
  const mirror = (props: { readonly static?: boolean } = {}) =>
    pathsOf((chart) => {
      const target = { service: 'web', namespace: 'shop', targetCluster: 'west', ports: [{ port: 80 }] };
      new MirrorService(chart, 'web', { ...target, endpoints: { addresses: ['203.0.113.10'], port: 4143 }, ...props });
    });
  expect(() => mirror()).toThrow('Endpoints shop/web-west must not be in Git');
  expect(mirror({ static: true })).toEqual([
    'east/2-service-web-west.shop.yaml',
    'east/2-endpoints-web-west.shop.yaml',
  ]);
});
