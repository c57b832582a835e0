import { ApiObject, JsonPatch } from 'cdk8s';
import { expect, test } from 'vitest';

import { LinkCrd } from '../../../constructs/link/link-crd.ts';
import { render } from '../../../constructs/mirror/render.ts';
import { linkCrd } from '../../../crds/link/definition.ts';

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

test('what means something is kept: empty texts, lists and maps, false and zero; what is undefined is not', () => {
  const data = { text: '', list: [], map: {}, no: false, zero: 0, gone: undefined };

  expect(render((chart) => new ApiObject(chart, 'a', { ...configMap, data }))).toStrictEqual([
    { ...configMap, data: { text: '', list: [], map: {}, no: false, zero: 0 } },
  ]);
});

test('objects come after those they depend on', () => {
  const names = render((chart) => {
    const first = new ApiObject(chart, 'first', { ...configMap, metadata: { name: 'first' } });
    first.addDependency(new ApiObject(chart, 'second', { ...configMap, metadata: { name: 'second' } }));
  }).map(({ metadata }) => metadata.name);

  expect(names).toEqual(['second', 'first']);
});

test('what a node finds invalid is not rendered', () => {
  expect(() =>
    render((chart) => {
      new ApiObject(chart, 'a', configMap).node.addValidation({ validate: () => ['too long'] });
    }),
  ).toThrow('too long');
});

test('renders share nothing', () => {
  const one = () => render((chart) => new ApiObject(chart, 'a', configMap));

  expect(one()).toEqual(one());
  expect(one()).toHaveLength(1);
});

test('the CRD is rendered as it is defined, and takes patches', () => {
  expect(render((chart) => new LinkCrd(chart, 'crd'))).toEqual([linkCrd]);
  expect(
    render((chart) => {
      new LinkCrd(chart, 'crd').crd.addJsonPatch(
        JsonPatch.add('/metadata/annotations', { 'argocd.argoproj.io/sync-wave': '-1' }),
      );
    })[0]!.metadata.annotations,
  ).toEqual({ 'argocd.argoproj.io/sync-wave': '-1' });
});
